//! `[checkpoint]`: copies of the audit trail's signed checkpoints outside the store.
//!
//! A truncation or rollback of the store is only visible in a checkpoint kept elsewhere.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::ConfigError;

/// `[checkpoint]` as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCheckpoint {
    files: Option<Vec<PathBuf>>,
    command: Option<String>,
    every_s: Option<u64>,
    every_records: Option<u64>,
}

/// The interval between checkpoints, and the targets of copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckpointSettings {
    /// Append-only files, best on another volume.
    pub(crate) files: Vec<PathBuf>,
    /// A program started for each checkpoint, with the checkpoint on stdin.
    pub(crate) command: Option<String>,
    /// Longest time between two checkpoints if there are new records.
    pub(crate) every: Duration,
    /// Most records between two checkpoints.
    pub(crate) every_records: u64,
}

impl RawCheckpoint {
    pub(super) fn check(self) -> Result<CheckpointSettings, ConfigError> {
        let every_s = self.every_s.unwrap_or(60);
        let every_records = self.every_records.unwrap_or(1000);
        for (key, value) in [
            ("checkpoint.every_s", every_s),
            ("checkpoint.every_records", every_records),
        ] {
            if value == 0 {
                return Err(ConfigError::Value {
                    key: key.to_owned(),
                    expected: "a number from 1".to_owned(),
                });
            }
        }
        Ok(CheckpointSettings {
            files: self.files.unwrap_or_default(),
            command: self.command,
            every: Duration::from_secs(every_s),
            every_records,
        })
    }
}
