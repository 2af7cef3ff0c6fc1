//! Secrets handed to a command: on standard input, never as arguments, which every user of the machine can read.

use std::io::{IsTerminal, Read, Stdin};

use anyhow::{Context, bail};
use phigate_store::SecretString;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

/// A secret from standard input, without the line break that a shell adds. A person is asked for it, and what they
/// type is not shown.
pub(super) fn secret_from_stdin(what: &str) -> anyhow::Result<SecretString> {
    let stdin = std::io::stdin();
    let read = if stdin.is_terminal() {
        typed(&stdin, what)
    } else {
        let mut text = String::new();
        stdin.lock().read_to_string(&mut text).map(|_| text)
    };
    let text = read.with_context(|| format!("cannot read the {what} from standard input"))?;
    let trimmed = text.trim_end_matches(['\r', '\n']);
    if trimmed.is_empty() {
        bail!("the {what} on standard input is empty");
    }
    Ok(SecretString::from(trimmed))
}

/// One line. Reading until the end of input would wait for a key that few people know.
fn typed(stdin: &Stdin, what: &str) -> std::io::Result<String> {
    eprint!("{what} (not shown): ");
    let usual = tcgetattr(stdin)?;
    let mut silent = usual.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    tcsetattr(stdin, OptionalActions::Flush, &silent)?;
    let mut line = String::new();
    let read = stdin.read_line(&mut line);
    tcsetattr(stdin, OptionalActions::Flush, &usual)?;
    eprintln!();
    read.map(|_| line)
}
