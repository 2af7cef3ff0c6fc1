//! Results of a verification.

use uuid::Uuid;

/// Result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Report {
    /// Records read and valid.
    pub records: u64,
    /// Chains followed.
    pub chains: u64,
    /// Records deleted by retention, as recorded.
    pub deleted: u64,
    /// Records a filter left out of an export.
    pub left_out: u64,
    /// Records before the first line of a part of the trail.
    pub earlier: u64,
    /// Signatures checked.
    pub signatures: u64,
    /// Checkpoints from elsewhere that were compared. Without one, a trail that was cut at the end or replaced by an
    /// older copy looks complete.
    pub outside_checkpoints: u64,
    /// First fault.
    pub fault: Option<Fault>,
}

impl Report {
    /// Whether there is no fault.
    pub fn is_intact(&self) -> bool {
        self.fault.is_none()
    }
}

/// A fault in the trail.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Fault {
    /// Kind of fault.
    pub kind: FaultKind,
    /// Id of the account.
    pub account: String,
    /// Lane of the chain.
    pub lane: i64,
    /// Place in the chain.
    pub seq: i64,
    /// Place up to which a signature proves the chain.
    pub proven_to: i64,
    /// Record at that place, if known.
    pub record: Option<Uuid>,
    /// The request it belongs to, if known.
    pub request_id: Option<Uuid>,
    /// A faulty row that is not a record, such as `user abc`, an act, or figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
}

impl Fault {
    /// A fault beside the chains of an account.
    pub fn beside(kind: FaultKind, account: &str, row: String) -> Self {
        Self {
            kind,
            account: account.to_owned(),
            lane: 0,
            seq: 0,
            proven_to: 0,
            record: None,
            request_id: None,
            row: Some(row),
        }
    }
}

/// The kinds of tampering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FaultKind {
    /// A record, its content or its search columns differ from what was written.
    Changed,
    /// A record is gone.
    Missing,
    /// A record is in another's place.
    Reordered,
    /// A record was added that the gateway did not write.
    Inserted,
    /// The chain ends too early.
    Truncated,
    /// Rows were replaced by older versions.
    RolledBack,
}

impl FaultKind {
    /// Description of the fault for a record or a row.
    pub fn words(self) -> &'static str {
        match self {
            Self::Changed => "was changed",
            Self::Missing => "is missing",
            Self::Reordered => "is out of order",
            Self::Inserted => "was inserted",
            Self::Truncated => "and what followed it are gone: the trail was cut",
            Self::RolledBack => "was replaced by an older version",
        }
    }
}

/// The place in the words of messages.
impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = self.kind.words();
        if let Some(row) = &self.row {
            return write!(f, "{row} {what}");
        }
        write!(f, "record {} of chain {} {what}", self.seq, self.lane)?;
        if let Some(record) = self.record {
            write!(f, " (record {record}")?;
            if let Some(request) = self.request_id {
                write!(f, ", request {request}")?;
            }
            write!(f, ")")?;
        }
        write!(f, "; the chain is proven up to record {}", self.proven_to)
    }
}
