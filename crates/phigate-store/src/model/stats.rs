//! Figures for the dashboard, from counters stored with the records.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

/// Time span and resolution of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// The last hour, by five minutes.
    Hour,
    /// The last 24 hours, by hour.
    Day,
    /// The last 7 days, by six hours.
    Week,
    /// The last 30 days, by day.
    Month,
}

impl Window {
    /// Number of buckets, and the width of a bucket in seconds.
    pub(crate) fn buckets(self) -> (i64, i64) {
        const MINUTE: i64 = 60;
        const HOUR: i64 = 60 * MINUTE;
        match self {
            Self::Hour => (12, 5 * MINUTE),
            Self::Day => (24, HOUR),
            Self::Week => (28, 6 * HOUR),
            Self::Month => (30, 24 * HOUR),
        }
    }
}

/// Figures of one account.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Stats {
    /// Number of requests.
    pub requests: u64,
    /// Requests with PHI.
    pub with_phi: u64,
    /// Requests by action.
    pub by_action: BTreeMap<String, u64>,
    /// Requests with PHI, by action. Not counted by earlier versions.
    pub phi_by_action: BTreeMap<String, u64>,
    /// Number of requests with each kind of PHI.
    pub by_type: BTreeMap<String, u64>,
    /// Requests by mode.
    pub by_mode: BTreeMap<String, u64>,
    /// Requests by family.
    pub by_family: BTreeMap<String, u64>,
    /// Answers by class of status: `2xx`, `4xx`, `5xx`, `none`.
    pub by_status: BTreeMap<String, u64>,
    /// Answers by error code.
    pub by_error: BTreeMap<String, u64>,
    /// Requests by API key. Not counted by earlier versions.
    pub by_key: BTreeMap<String, Use>,
    /// Requests by requested model. Not counted by earlier versions.
    pub by_model: BTreeMap<String, Use>,
    /// Tokens of prompts and answers.
    pub tokens: u64,
    /// Percentiles 50, 95 and 99 of the milliseconds to the last byte.
    pub total_ms: [Option<u64>; 3],
    /// Percentiles 50, 95 and 99 of the milliseconds to the first byte.
    pub first_byte_ms: [Option<u64>; 3],
    /// Figures over time, oldest first, empty buckets included.
    pub buckets: Vec<Bucket>,
    /// Number of the newest requests that these figures cover, if there were too many to read.
    pub newest: Option<u64>,
}

/// Use of one key or of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Use {
    /// Number of requests.
    pub requests: u64,
    /// Requests with PHI.
    pub with_phi: u64,
    /// Tokens of prompts and answers; only by key.
    pub tokens: u64,
}

/// Recent health of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ProviderHealth {
    /// Number of requests.
    pub requests: u64,
    /// Requests that failed or got an unusable answer.
    pub failures: u64,
    /// Median milliseconds of the successful requests.
    pub p50_ms: Option<u64>,
    /// 95th percentile of the milliseconds.
    pub p95_ms: Option<u64>,
}

/// Figures of one bucket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Bucket {
    /// Start of the bucket.
    pub start: Timestamp,
    /// Number of requests.
    pub requests: u64,
    /// Requests with PHI.
    pub with_phi: u64,
    /// Requests by action.
    pub by_action: BTreeMap<String, u64>,
    /// Requests with PHI, by action. Not counted by earlier versions.
    pub phi_by_action: BTreeMap<String, u64>,
}
