//! Rows of the trail as engines see them, and the batch of one transaction.

use std::ops::Range;
use std::sync::Arc;

use uuid::Uuid;

use crate::item::Change;
use crate::model::Cursor;

/// A record's place in its chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Number of the account's chain.
    pub lane: i64,
    /// Place in it, from 1.
    pub seq: i64,
    /// Digest of the record alone.
    pub leaf: [u8; 32],
    /// Digest of everything up to here.
    pub digest: [u8; 32],
    /// Keyed hash of the digest.
    pub mac: [u8; 16],
    /// Signature of the digest; on the last record of every group.
    pub signature: Option<Vec<u8>>,
}

/// A record as a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// Account.
    pub account: String,
    /// The row's own id.
    pub id: Uuid,
    /// Microseconds since 1970.
    pub time_us: i64,
    /// 1 decision, 2 outcome, 3 admin, 4 attempt.
    pub kind: i16,
    /// The request it belongs to.
    pub request: Option<Uuid>,
    /// API key id, for search.
    pub key_id: Option<String>,
    /// Mode, for search.
    pub mode: Option<String>,
    /// Action, for search.
    pub action: Option<String>,
    /// Model, for search.
    pub model: Option<String>,
    /// Kinds of PHI as `,a,b,`, for search; `None` if clean.
    pub types: Option<String>,
    /// Admin act, for search.
    pub act: Option<String>,
    /// The record as JSON, exactly as digested.
    pub body: String,
}

impl AuditRow {
    /// Position of the record in a list.
    pub(crate) fn cursor(&self) -> Cursor {
        Cursor {
            time_us: self.time_us,
            id: self.id,
        }
    }
}

/// A record's chain entry, and the record unless it was deleted.
#[derive(Debug, Clone)]
pub struct ChainRow {
    /// Id of the record.
    pub record: Uuid,
    /// Time of the record.
    pub time_us: i64,
    /// Chain entry of the record.
    pub link: Link,
    /// The record itself.
    pub row: Option<AuditRow>,
}

/// The end of one chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Account.
    pub account: String,
    /// Lane.
    pub lane: i64,
    /// Last place.
    pub seq: i64,
    /// Digest there.
    pub digest: [u8; 32],
    /// Signature there.
    pub signature: Option<Vec<u8>>,
}

/// The end of a chain that a batch extends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainEnd {
    /// Account.
    pub account: String,
    /// Lane.
    pub lane: i64,
    /// Last place.
    pub seq: i64,
    /// Digest there.
    pub digest: [u8; 32],
}

/// Sealed content of a decision; may be empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// The body as received.
    pub original: Option<Arc<[u8]>>,
    /// The body as sent.
    pub sent: Option<Arc<[u8]>>,
}

impl Contents {
    /// Whether all fields are absent.
    pub fn is_empty(&self) -> bool {
        self.original.is_none() && self.sent.is_none()
    }

    /// Content fields that are present, with their names.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, &Arc<[u8]>)> {
        let named = [("original", &self.original), ("sent", &self.sent)];
        named
            .into_iter()
            .filter_map(|(name, sealed)| Some((name, sealed.as_ref()?)))
    }
}

/// A record to be written: its row, its place in the chain, its sealed content.
#[derive(Debug, Clone)]
pub struct NewRecord {
    /// The row.
    pub row: Arc<AuditRow>,
    /// Chain entry of the record.
    pub link: Link,
    /// Content of the record.
    pub contents: Contents,
}

/// Lookup codes of a request, from the identifiers that occurred in it.
#[derive(Debug, Clone)]
pub struct LookupRow {
    /// Account.
    pub account: String,
    /// The request.
    pub request: Uuid,
    /// Time of the decision.
    pub time_us: i64,
    /// Codes of its identifiers.
    pub codes: Vec<LookupCode>,
}

/// Keyed hash of an identifier, or of a token that masks it.
pub(crate) type LookupCode = [u8; 16];

/// Name of a counter, or a range of names with a common prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// The first in order.
    pub first: String,
    /// The last.
    pub last: String,
}

impl Names {
    /// One name.
    pub(crate) fn one(name: impl Into<String>) -> Self {
        let first = name.into();
        let last = first.clone();
        Self { first, last }
    }

    /// All that begin like this.
    pub(crate) fn beginning(first: impl Into<String>) -> Self {
        let first = first.into();
        let last = format!("{first}{}", char::MAX);
        Self { first, last }
    }
}

/// An amount to add to an hourly counter.
#[derive(Debug, Clone)]
pub struct CounterRow {
    /// Account.
    pub account: String,
    /// Hours since 1970.
    pub hour: i64,
    /// Row among those that add up to the counter; each writer has its row, so that writers do not wait for each other.
    pub lane: i64,
    /// Name of the counter.
    pub name: String,
    /// Amount to add.
    pub count: i64,
}

/// A request that has a decision and no outcome yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRow {
    /// Account.
    pub account: String,
    /// The request.
    pub request: Uuid,
    /// Time of the decision.
    pub time_us: i64,
    /// Process that decided.
    pub instance: Uuid,
}

/// Names a record, for its content and for deletion by retention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowKey {
    /// Id of the record.
    pub record: Uuid,
    /// Time of the record.
    pub time_us: i64,
    /// Lane of the record.
    pub lane: i64,
    /// Position in the lane.
    pub seq: i64,
}

/// Everything one transaction writes.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Item changes, in order.
    pub changes: Vec<Change>,
    /// Whether to announce changed settings to all processes.
    pub bump: bool,
    /// Records, each with its place and its content.
    pub records: Vec<NewRecord>,
    /// Ends of chains that the records extend. They must exist when the batch is committed.
    pub extends: Vec<ChainEnd>,
    /// Places of records that were deleted: account, record, time. Only an import writes these.
    pub bare_links: Vec<(String, Uuid, i64, Link)>,
    /// Lookup codes of requests.
    pub lookups: Vec<LookupRow>,
    /// Counters, sorted by key.
    pub counters: Vec<CounterRow>,
    /// Requests that now wait for their outcome.
    pub opened: Vec<OpenRow>,
    /// Requests that must be open and now have their outcome: account and request.
    pub closed: Vec<(String, Uuid)>,
    /// Content to delete: account and rows.
    pub drop_contents: Option<(String, Vec<RowKey>)>,
    /// Records to delete, their content included: account and rows.
    pub drop_records: Option<(String, Vec<RowKey>)>,
    /// Counters to delete: account, beginning of their names, the hours from and before.
    pub drop_counters: Option<(String, &'static str, Range<i64>)>,
}
