//! Search in the trail.

use std::ops::Range;

use jiff::Timestamp;
use phigate_types::{Act, Action, ErrorCode, Mode, ProviderKind};
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
    /// Alerts.
    Alert,
}

impl RecordKind {
    /// The number stored in the `kind` column.
    pub(crate) fn code(self) -> i16 {
        match self {
            Self::Decision => 1,
            Self::Outcome => 2,
            Self::Admin => 3,
            Self::Attempt => 4,
            Self::Alert => 5,
        }
    }
}

/// Conditions of a search. An empty filter matches every record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Earliest time, inclusive.
    pub since: Option<Timestamp>,
    /// Latest time, exclusive.
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
    /// Decisions for models whose names have this prefix.
    pub model_prefix: Option<String>,
    /// Decisions about requests for this provider, the first or a further one.
    pub provider: Option<String>,
    /// Decisions about requests that ended with this error.
    pub error: Option<ErrorCode>,
    /// Requests that ended with a status of this class: 5 for 5xx.
    pub status_class: Option<u16>,
    /// Decisions about requests at this door.
    pub door: Option<String>,
    /// Records of this request.
    pub request_id: Option<Uuid>,
    /// Acts of this kind.
    pub act: Option<Act>,
    /// Acts of this actor: an e-mail address, or the full name under which the command line is recorded. The word
    /// before a colon matches all who share it: `cli` matches every user of the command line, `cli: jroe@ward-7` one of
    /// them.
    pub actor: Option<String>,
    /// Only decisions with (or without) PHI.
    pub phi_detected: Option<bool>,
    /// Only requests, without acts: an export then includes their attempts and outcomes.
    pub requests: bool,
}

impl Filter {
    /// Whether the filter selects requests, by their decision or outcome.
    pub(crate) fn is_about_requests(&self) -> bool {
        let texts = [
            &self.phi_type,
            &self.key_id,
            &self.model,
            &self.model_prefix,
            &self.provider,
            &self.door,
        ];
        self.requests
            || texts.iter().any(|text| text.is_some())
            || self.action.is_some()
            || self.mode.is_some()
            || self.phi_detected.is_some()
            || self.is_about_outcomes()
    }

    /// The filter, restricted to this range of time.
    pub(crate) fn within(&self, times_us: &Range<i64>) -> Self {
        let time = |time_us: i64| Timestamp::from_microsecond(time_us).ok();
        Self {
            since: self.since.max(time(times_us.start)),
            until: match (self.until, time(times_us.end)) {
                (Some(until), Some(end)) => Some(until.min(end)),
                (until, end) => until.or(end),
            },
            ..self.clone()
        }
    }

    /// The conditions in terms of the export's fields; empty for an empty filter.
    pub fn described(&self) -> String {
        let text = |value: Option<&str>| value.map(str::to_owned);
        let phi = self.phi_detected.map(|phi| phi.to_string());
        let class = self.status_class.map(|class| format!("{class}xx"));
        let parts = [
            ("since", self.since.map(|time| time.to_string())),
            ("until", self.until.map(|time| time.to_string())),
            ("request_id", self.request_id.map(|id| id.to_string())),
            ("type", self.phi_type.clone()),
            ("phi_detected", phi),
            ("action", text(self.action.map(Action::code))),
            ("mode", text(self.mode.map(Mode::code))),
            ("key_id", self.key_id.clone()),
            ("model", self.model.clone()),
            ("model_prefix", self.model_prefix.clone()),
            ("provider", self.provider.clone()),
            ("door", self.door.clone()),
            ("error_code", text(self.error.map(ErrorCode::code))),
            ("status", class),
            ("act", text(self.act.map(Act::code))),
            ("actor", self.actor.clone()),
        ];
        let parts = parts.into_iter();
        let mut parts: Vec<String> = parts
            .filter_map(|(name, value)| value.map(|value| format!("{name}={value}")))
            .collect();
        if self.record == Some(RecordKind::Admin) {
            parts.insert(0, "acts".to_owned());
        } else if self.requests {
            parts.insert(0, "requests".to_owned());
        }
        parts.join(" ")
    }

    /// The actor in JSON, without quotes, as in the text of a record.
    pub(crate) fn actor_written(&self) -> Option<String> {
        let actor = self.actor.as_deref()?;
        let quoted = serde_json::to_string(actor).ok()?;
        let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
        Some(inner.to_owned())
    }

    /// Whether acts of this actor match.
    pub(crate) fn takes_actor(&self, found: &str) -> bool {
        let rest = self
            .actor
            .as_deref()
            .map(|wanted| found.strip_prefix(wanted));
        rest.is_none_or(|rest| rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(": ")))
    }

    /// Whether the filter selects requests by their outcome.
    pub(crate) fn is_about_outcomes(&self) -> bool {
        self.error.is_some() || self.status_class.is_some()
    }

    /// Whether a request with this outcome matches.
    pub(crate) fn takes(&self, outcome: &Outcome) -> bool {
        let class = outcome.status.map(|status| status / 100);
        (self.error.is_none() || self.error == outcome.error_code)
            && (self.status_class.is_none() || self.status_class == class)
    }
}

/// Position after a page; opaque to callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub(crate) time_us: i64,
    pub(crate) id: Uuid,
}

impl Cursor {
    /// The position before all records from this time on.
    pub(crate) fn before(time_us: i64) -> Self {
        let id = Uuid::nil();
        Self { time_us, id }
    }

    /// Encodes the cursor as text for a URL.
    pub fn encode(&self) -> String {
        format!("{:x}.{}", self.time_us, self.id.simple())
    }

    /// Reads the text form; `None` if it is malformed.
    pub fn decode(text: &str) -> Option<Self> {
        let (time, id) = text.split_once('.')?;
        Some(Self {
            time_us: i64::from_str_radix(time, 16).ok()?,
            id: Uuid::try_parse(id).ok()?,
        })
    }
}

/// One page of results.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// Newest first.
    pub items: Vec<T>,
    /// Position of the next page; `None` at the end.
    pub next: Option<Cursor>,
    /// The earliest time searched, if the search stopped before the page was full; there may be earlier results.
    pub looked_back_to: Option<Timestamp>,
}

/// Number of matching records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// Number counted.
    pub number: u64,
    /// Whether there may be more.
    pub is_least: bool,
}

/// A request as a list shows it: its decision, and its outcome once there is one.
#[derive(Debug, Clone)]
pub struct RequestRow {
    /// The decision.
    pub decision: Decision,
    /// The outcome.
    pub outcome: Option<Outcome>,
}

/// A request that contained an identifier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Disclosure {
    /// The request.
    pub request_id: Uuid,
    /// Time of the decision.
    pub time: Timestamp,
    /// The kinds that it was found as.
    pub found_as: Vec<String>,
    /// Action on the request, the strongest on any finding.
    pub action: Option<Action>,
    /// Whether the identifier itself was sent, neither masked nor redacted.
    pub is_left: bool,
    /// The family of the provider it was for.
    pub family: Option<ProviderKind>,
    /// Name of the provider it was sent to; `None` when it was not sent.
    pub provider: Option<String>,
    /// Model that was asked for.
    pub model: Option<String>,
    /// The API key.
    pub key_id: Option<String>,
    /// Status of the provider, if it answered; after further attempts, of the last.
    pub provider_status: Option<u16>,
    /// Further providers that received the request after the first failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<FurtherDisclosure>,
}

/// Another provider that a request was sent to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FurtherDisclosure {
    /// The provider, by its name.
    pub provider: String,
    /// The model requested from this provider.
    pub model: Option<String>,
    /// The action for this provider, the strongest on any finding.
    pub action: Action,
    /// Whether the identifier itself was sent to this provider.
    pub is_left: bool,
}
