//! Exports: targets outside the installation that receive records as they are written.

use jiff::Timestamp;
use phigate_types::{ExportOnly, ExportRecord};
use serde::{Deserialize, Serialize};

/// Configuration of a target, without its name and its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportConfig {
    /// Address; its scheme is the kind of the target.
    pub to: String,
    /// Chosen kinds of records.
    pub records: Vec<ExportRecord>,
    /// A further choice among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<ExportOnly>,
    /// Whether checkpoints are sent as well.
    #[serde(default)]
    pub checkpoints: bool,
    /// Hours for which objects are locked (S3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock_hours: Option<u32>,
    /// Region of the bucket (S3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Root of the service, if it is not the cloud's (S3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
}

/// A target as listed.
#[derive(Debug, Clone)]
pub struct ExportInfo {
    /// Id of the account.
    pub account_id: String,
    /// Name of the target.
    pub name: String,
    /// Configuration.
    pub config: ExportConfig,
    /// Whether an owner paused it.
    pub is_paused: bool,
    /// Grows with every change of the target.
    pub version: i64,
}

/// Progress of an export.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportState {
    /// Records that the target does not have yet.
    pub lag_records: u64,
    /// Age of the oldest of them in seconds.
    pub lag_s: u64,
    /// Reason for the latest failure, while it fails.
    pub problem: Option<String>,
    /// Records that the receiver refused for good.
    pub rejected: u64,
}

/// A line for a target.
#[derive(Debug, Clone)]
pub struct ExportedLine {
    /// The line, without its end.
    pub json: String,
    /// Kind of record.
    pub kind: &'static str,
    /// Time of the record.
    pub time: Timestamp,
}

/// Lines that are delivered together, and the places that they reach.
#[derive(Debug, Clone, Default)]
pub struct ExportBatch {
    /// The lines, in the order of each chain.
    pub lines: Vec<ExportedLine>,
    /// Place of each chain after them.
    pub(crate) places: Vec<(i64, i64)>,
}
