//! Figures for the dashboard, from counters kept with the records.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

/// How far back, and how fine.
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
    /// How many buckets it has, and the width of one in seconds.
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
    /// Requests decided.
    pub requests: u64,
    /// Of these, with PHI.
    pub with_phi: u64,
    /// By action.
    pub by_action: BTreeMap<String, u64>,
    /// Those with PHI, by action. Stores of earlier versions did not count this.
    pub phi_by_action: BTreeMap<String, u64>,
    /// Requests in which a kind of PHI was found.
    pub by_type: BTreeMap<String, u64>,
    /// By mode in force.
    pub by_mode: BTreeMap<String, u64>,
    /// By family.
    pub by_family: BTreeMap<String, u64>,
    /// Answers by class of status: `2xx`, `4xx`, `5xx`, `none`.
    pub by_status: BTreeMap<String, u64>,
    /// Answers by error code.
    pub by_error: BTreeMap<String, u64>,
    /// By API key. Stores of earlier versions did not count this.
    pub by_key: BTreeMap<String, Use>,
    /// By model asked for. Stores of earlier versions did not count this.
    pub by_model: BTreeMap<String, Use>,
    /// Tokens of prompts and answers.
    pub tokens: u64,
    /// Milliseconds to the last byte below which half, 95 % and 99 % of the answers were.
    pub total_ms: [Option<u64>; 3],
    /// Likewise to the first byte.
    pub first_byte_ms: [Option<u64>; 3],
    /// By hour or day, oldest first, empty ones included.
    pub buckets: Vec<Bucket>,
    /// There were more requests than are looked at one by one: these figures are of the newest so many.
    pub newest: Option<u64>,
}

/// What came with one key, or was asked of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Use {
    /// Requests decided.
    pub requests: u64,
    /// Of these, with PHI.
    pub with_phi: u64,
    /// Tokens of prompts and answers, by key alone.
    pub tokens: u64,
}

/// How a provider fared lately.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ProviderHealth {
    /// How often it was asked.
    pub requests: u64,
    /// Of these, how often it failed or its answer was not what was asked for.
    pub failures: u64,
    /// Milliseconds within which half of the others were answered.
    pub p50_ms: Option<u64>,
    /// Likewise 95 %.
    pub p95_ms: Option<u64>,
}

/// Figures of one hour or day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Bucket {
    /// Its start.
    pub start: Timestamp,
    /// Requests decided.
    pub requests: u64,
    /// Of these, with PHI.
    pub with_phi: u64,
    /// By action.
    pub by_action: BTreeMap<String, u64>,
    /// Those with PHI, by action. Stores of earlier versions did not count this.
    pub phi_by_action: BTreeMap<String, u64>,
}
