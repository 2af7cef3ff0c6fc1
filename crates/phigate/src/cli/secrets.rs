//! Secrets for a command: read from standard input, never from arguments, which every user of the machine can read.

use std::io::{IsTerminal, Read, Stdin};

use anyhow::{Context, bail};
use phigate_store::SecretString;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

/// A secret from standard input, without the shell's line break. At a terminal the user is prompted, and the input is
/// not echoed.
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

/// Reads one line. Otherwise a user would have to know the key that ends the input.
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
