//! Requests to reveal content, where it takes two people.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Content that a person asks to see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RevealSubject {
    /// Content of a request.
    #[serde(rename = "request_id")]
    Request(Uuid),
    /// Value of a token, without its brackets.
    #[serde(rename = "token")]
    Token(String),
}

/// A request to reveal content, waiting or approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RevealRequest {
    /// Id of the request to reveal.
    pub id: String,
    /// Content that it is about.
    #[serde(flatten)]
    pub subject: RevealSubject,
    /// The actor who asked, and alone may use the approval.
    pub actor: String,
    /// Reason that was given.
    pub reason: String,
    /// Time at which it was asked.
    pub asked: Timestamp,
    /// The actor who approved it.
    pub approved_by: Option<String>,
    /// Time of the approval.
    pub approved: Option<Timestamp>,
    /// End of the time in which it can be approved, or once approved, used.
    pub expires: Timestamp,
}

impl RevealRequest {
    /// Whether a second person approved it.
    pub fn is_approved(&self) -> bool {
        self.approved_by.is_some()
    }
}
