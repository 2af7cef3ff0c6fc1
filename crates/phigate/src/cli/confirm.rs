//! The question before protection is weakened. A person at a terminal is asked for a reason; a script gives one with
//! `--reason`.

use std::io::{IsTerminal, stderr, stdin};

use anyhow::bail;
use phigate_gateway::Weaker;

use super::store::{Session, given_reason};

/// Error: a call of the admin API weakens protection and gives no reason.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0} That needs a reason, which the audit trail keeps: give it as reason; nothing was changed"
)]
pub(crate) struct NeedsReason(String);

/// Returns the reason for the trail, which is required if protection becomes weaker.
pub(super) fn reason_for(
    session: &Session,
    subject: &str,
    weaker: &[Weaker],
    given: Option<&str>,
) -> anyhow::Result<Option<String>> {
    let words: Vec<String> = weaker.iter().map(Weaker::words).collect();
    reason_to(session, subject, &words, given)
}

/// The reason for changes that need one, each in a sentence.
pub(super) fn reason_to(
    session: &Session,
    subject: &str,
    changes: &[String],
    given: Option<&str>,
) -> anyhow::Result<Option<String>> {
    if given.is_some() || changes.is_empty() {
        return Ok(given.map(str::to_owned));
    }
    let words = changes.join(" ");
    if session.is_remote() {
        return Err(NeedsReason(words).into());
    }
    if !stdin().is_terminal() || !stderr().is_terminal() {
        bail!(
            "{subject}: {words} That needs a reason, which the audit trail keeps: give it with --reason TEXT; nothing was changed"
        );
    }
    eprintln!("{subject}: {words}");
    eprint!("Reason, for the audit trail (empty to leave things as they are): ");
    let mut line = String::new();
    stdin().read_line(&mut line)?;
    match line.trim() {
        "" => bail!("nothing was changed"),
        reason => given_reason(reason).map(Some),
    }
}
