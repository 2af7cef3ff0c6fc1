//! Abilities of a kind of target, and its failures.

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use phigate_store::ExportedLine;

use crate::provider::connect::ConnectError;

/// Reason for a failed delivery, in words that hold neither an address nor a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) words: Cow<'static, str>,
    /// Status of the receiver's answer, over HTTP.
    pub(super) status: Option<u16>,
    /// Time for which the receiver asked.
    pub(super) retry_after: Option<Duration>,
}

impl Problem {
    pub(super) fn new(words: impl Into<Cow<'static, str>>) -> Self {
        Self {
            words: words.into(),
            status: None,
            retry_after: None,
        }
    }

    /// A failure of a file or a stream: its kind alone.
    pub(super) fn of_io(what: &str, error: &std::io::Error) -> Self {
        Self::new(format!("{what}: {}", error.kind()))
    }
}

impl From<ConnectError> for Problem {
    fn from(error: ConnectError) -> Self {
        Self::new(match error {
            ConnectError::Resolve => "cannot resolve the target's name",
            ConnectError::Forbidden => "the target's address is not allowed",
            ConnectError::Refused => "cannot connect to the target",
            ConnectError::Tls => {
                "cannot agree on TLS with the target: its certificate must prove its name"
            }
            ConnectError::Timeout => "connecting to the target took too long",
        })
    }
}

/// An open target.
#[async_trait]
pub(super) trait Sink: Send + Sync {
    /// Prepares a delivery. True if the place is empty: the next lines must then say where they begin.
    async fn begin(&mut self) -> Result<bool, Problem> {
        Ok(false)
    }

    /// Delivers lines, all or none as far as the target says. Returns how many it refused for good.
    async fn deliver(&mut self, lines: &[ExportedLine]) -> Result<u64, Problem>;

    /// Whether what was written has not been lost with a connection since.
    async fn is_open(&mut self) -> bool {
        true
    }

    /// Tries the target without a record.
    async fn test(&mut self, line: &ExportedLine) -> Result<(), Problem> {
        self.begin().await?;
        let rejected = self.deliver(std::slice::from_ref(line)).await?;
        match rejected {
            0 => Ok(()),
            _ => Err(Problem::new("the receiver rejected the line")),
        }
    }

    /// Ends a connection in order. True if everything written was taken.
    async fn finish(&mut self) -> bool {
        true
    }
}

/// Lines with their ends, as a file has them.
pub(super) fn joined(lines: &[ExportedLine]) -> Vec<u8> {
    let mut text = Vec::with_capacity(lines.iter().map(|line| line.json.len() + 1).sum());
    for line in lines {
        text.extend_from_slice(line.json.as_bytes());
        text.push(b'\n');
    }
    text
}
