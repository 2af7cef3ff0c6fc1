//! Searching the trail.

use jiff::Timestamp;
use phigate_types::{Act, Action, Mode, ProviderKind};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::{Decision, Outcome};

/// The kinds of record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordKind {
    /// Decisions.
    Decision,
    /// Further attempts.
    Attempt,
    /// Outcomes.
    Outcome,
    /// Admin acts.
    Admin,
}

impl RecordKind {
    /// The number stored in the `kind` column.
    pub(crate) fn code(self) -> i16 {
        match self {
            Self::Decision => 1,
            Self::Outcome => 2,
            Self::Admin => 3,
            Self::Attempt => 4,
        }
    }
}

/// Which records to return. Empty means all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Not before.
    pub since: Option<Timestamp>,
    /// Before.
    pub until: Option<Timestamp>,
    /// Kind of record.
    pub record: Option<RecordKind>,
    /// Decisions with this kind of PHI.
    pub phi_type: Option<String>,
    /// Decisions with this action.
    pub action: Option<Action>,
    /// Decisions under this mode.
    pub mode: Option<Mode>,
    /// Decisions for this API key.
    pub key_id: Option<String>,
    /// Decisions for this model.
    pub model: Option<String>,
    /// Decisions about requests at this door.
    pub door: Option<String>,
    /// Records of this request.
    pub request_id: Option<Uuid>,
    /// Acts of this kind.
    pub act: Option<Act>,
    /// Only decisions with (or without) PHI.
    pub phi_detected: Option<bool>,
}

/// Where a page ended; opaque outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub(crate) time_us: i64,
    pub(crate) id: Uuid,
}

impl Cursor {
    /// As text for a URL.
    pub fn encode(&self) -> String {
        format!("{:x}.{}", self.time_us, self.id.simple())
    }

    /// From such text; none when it is not one.
    pub fn decode(text: &str) -> Option<Self> {
        let (time, id) = text.split_once('.')?;
        Some(Self {
            time_us: i64::from_str_radix(time, 16).ok()?,
            id: Uuid::try_parse(id).ok()?,
        })
    }
}

/// Some results and where to go on.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// Newest first.
    pub items: Vec<T>,
    /// Where the next page starts; none at the end.
    pub next: Option<Cursor>,
}

/// A request as a list shows it: its decision, and its outcome once there is one.
#[derive(Debug, Clone)]
pub struct RequestRow {
    /// The decision.
    pub decision: Decision,
    /// The outcome.
    pub outcome: Option<Outcome>,
}

/// One request in which an identifier occurred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Disclosure {
    /// The request.
    pub request_id: Uuid,
    /// When.
    pub time: Timestamp,
    /// What was done: only `forwarded` means the identifier itself was sent.
    pub action: Option<Action>,
    /// To whom.
    pub family: Option<ProviderKind>,
    /// Which model was asked.
    pub model: Option<String>,
    /// With which API key.
    pub key_id: Option<String>,
    /// Status of the provider, when it answered.
    pub provider_status: Option<u16>,
}
