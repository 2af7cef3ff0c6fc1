//! Alerts: records of what a person should look at.

use std::collections::BTreeMap;

use jiff::Timestamp;
use phigate_types::AlertCode;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Something that a person should look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alert {
    /// Time at which it was noticed.
    pub time: Timestamp,
    /// Name of the account; empty for the installation itself.
    pub account: String,
    /// The cause.
    pub alert: AlertCode,
    /// The part of the account that it concerns, such as a chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The requests that it concerns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Uuid>,
    /// Further details, such as counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, String>,
}

impl Alert {
    /// An alert without details, which the caller adds.
    pub fn new(time: Timestamp, account: &str, alert: AlertCode) -> Self {
        Self {
            time,
            account: account.to_owned(),
            alert,
            subject: None,
            requests: Vec::new(),
            details: BTreeMap::new(),
        }
    }

    /// Sets the subject.
    pub fn subject(mut self, subject: &str) -> Self {
        self.subject = Some(subject.to_owned());
        self
    }

    /// Sets the requests.
    pub fn requests(mut self, requests: &[Uuid]) -> Self {
        self.requests = requests.to_vec();
        self
    }

    /// Adds a detail.
    pub fn detail(mut self, name: &str, value: &(impl ToString + ?Sized)) -> Self {
        self.details.insert(name.to_owned(), value.to_string());
        self
    }
}

impl Alert {
    /// The details in words, in one line.
    pub fn details_in_words(&self) -> String {
        let details = self.details.iter();
        let words = details.map(|(name, value)| format!("{} {value}", name.replace('_', " ")));
        words.collect::<Vec<_>>().join(", ")
    }
}

/// The latest alert of a cause and subject, and whether a person looked at it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlertState {
    /// The alert.
    #[serde(flatten)]
    pub alert: Alert,
    /// Person who acknowledged it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<Acknowledged>,
}

/// The acknowledgement of an alert.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acknowledged {
    /// Actor.
    pub by: String,
    /// Time.
    pub time: Timestamp,
    /// The stated reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
