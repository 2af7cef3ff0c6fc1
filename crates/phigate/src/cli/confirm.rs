//! The question before protection is weakened. A person at a terminal is asked for a reason; a script gives one with
//! `--reason`, or its act is recorded without.

use std::io::{IsTerminal, stderr, stdin};

use anyhow::bail;

use super::store::given_reason;

/// The reason that goes into the trail, from whoever is there to give one. `what` says what will be so.
pub(super) fn reason_for(what: &str, given: Option<&str>) -> anyhow::Result<Option<String>> {
    if let Some(reason) = given {
        return Ok(Some(reason.to_owned()));
    }
    if !stdin().is_terminal() || !stderr().is_terminal() {
        return Ok(None);
    }
    eprintln!("{what}");
    eprint!("Reason, for the audit trail (empty to leave things as they are): ");
    let mut line = String::new();
    stdin().read_line(&mut line)?;
    match line.trim() {
        "" => bail!("nothing was changed"),
        reason => given_reason(reason).map(Some),
    }
}
