//! Audit records. Field names are those of the export and bind.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use phigate_types::{
    Act, Action, ErrorCode, Finding, Mode, PhiAgreement, ProviderKind, Unscannable,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::Alert;
use crate::{SecretBytes, SecretString};

/// One record of the trail, as exported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "lowercase")]
pub enum Record {
    /// The decision about a request, before it was forwarded or refused.
    Decision(Decision),
    /// Forwarding to another provider, after one failed.
    Attempt(Attempt),
    /// The outcome of a request.
    Outcome(Outcome),
    /// An act of a person, of the command line or of the system.
    Admin(AdminAct),
    /// Something that a person should look at.
    Alert(Alert),
}

impl Record {
    /// The request this record belongs to, if any.
    pub fn request_id(&self) -> Option<Uuid> {
        match self {
            Self::Decision(decision) => Some(decision.request_id),
            Self::Attempt(attempt) => Some(attempt.request_id),
            Self::Outcome(outcome) => Some(outcome.request_id),
            Self::Admin(act) => act.request_id,
            Self::Alert(_) => None,
        }
    }

    /// Time of the record.
    pub fn time(&self) -> Timestamp {
        match self {
            Self::Decision(decision) => decision.time,
            Self::Attempt(attempt) => attempt.time,
            Self::Outcome(outcome) => outcome.time,
            Self::Admin(act) => act.time,
            Self::Alert(alert) => alert.time,
        }
    }
}

/// The decision about a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The request's id, also in its `X-Gateway-Request-Id`.
    pub request_id: Uuid,
    /// Time of the decision.
    pub time: Timestamp,
    /// Name of the account.
    pub account: String,
    /// Public id of the API key.
    pub key_id: String,
    /// Subject of the token that acted as the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The mode in force.
    pub mode: Mode,
    /// The action.
    pub action: Action,
    /// The door of the request; `None` in records from before there were several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub door: Option<String>,
    /// The requested model, if the request could be read that far.
    pub model: Option<String>,
    /// Provider family, if known.
    pub family: Option<ProviderKind>,
    /// Name of the provider, if one was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Whether a stream was asked for.
    pub stream: bool,
    /// Whether PHI was found.
    pub phi_detected: bool,
    /// Terms of the provider: its permission for PHI, and the agreement with its operator.
    #[serde(flatten)]
    pub terms: ProviderTerms,
    /// Kind of PHI → number of findings.
    pub types: BTreeMap<String, u32>,
    /// Kind of PHI → number of values that the account does not count as PHI.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub allowed: BTreeMap<String, u32>,
    /// Each finding, without its text.
    pub findings: Vec<Finding>,
    /// Parts that could not be scanned.
    pub unscannable: Vec<Unscannable>,
    /// Sizes in bytes.
    pub sizes: Sizes,
    /// Version of the detector.
    pub detector_version: String,
    /// Name of the policy's words, which the record of their change spells out; `None` without words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// A keyed hash of the conversation, if values were masked by tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The error code of a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<ErrorCode>,
    /// Digests of the sealed content; filled by the vault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<SealedDigests>,
}

impl Decision {
    /// Whether the request was scanned. A request that was refused earlier does not count as one without PHI.
    pub fn was_scanned(&self) -> bool {
        self.action != Action::REFUSED || self.sizes.text > 0
    }

    /// Kinds of PHI that were in the request as it was sent. The action is the strongest on any finding, so a request that
    /// was masked may contain findings of kinds that the policy only flags.
    pub fn kinds_left(&self) -> BTreeSet<&str> {
        if self.sizes.sent.is_none() {
            return BTreeSet::new();
        }
        if self.action == Action::FORWARDED {
            return self.types.keys().map(String::as_str).collect();
        }
        let is_left = |finding: &&Finding| finding.action == Some(Mode::FLAG);
        let left = self.findings.iter().filter(is_left);
        left.map(|finding| &*finding.kind).collect()
    }
}

/// Terms between the account and a provider. Both are absent in records of earlier versions; `agreement` is also absent
/// if the owner named none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProviderTerms {
    /// Permission of the provider for requests with PHI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phi: Option<PhiAgreement>,
    /// The agreement with its operator, in the owner's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<String>,
}

/// Sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sizes {
    /// Body as received.
    pub body: u64,
    /// Text that was scanned.
    pub text: u64,
    /// Body as sent to the provider; absent if nothing was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<u64>,
}

/// Digests of sealed (encrypted) content, which tie it to its record.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SealedDigests {
    /// Digest of the sealed original.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<String>,
    /// Digest of the sealed sent content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<String>,
    /// Digest of the keyed hashes of the identifiers, so that a disclosure cannot be removed unnoticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identifiers: Option<String>,
}

/// A decision with the content to seal.
#[derive(Debug, Clone)]
pub struct NewDecision {
    /// Account the request belongs to.
    pub account_id: String,
    /// The record.
    pub decision: Decision,
    /// The body as received; `None` for a clean request.
    pub original: Option<SecretBytes>,
    /// The body as sent; `None` if it equals the original or nothing was sent.
    pub sent: Option<SecretBytes>,
    /// Normalised identifiers found, for disclosure lookup; stored as keyed hashes only.
    pub identifiers: Vec<Identifier>,
    /// Names of the tokens in the sent content, for lookup.
    pub tokens: Vec<String>,
}

/// One identifier found, normalised, such as an SSN without its hyphens.
#[derive(Debug, Clone)]
pub struct Identifier {
    /// Kind of PHI.
    pub kind: &'static str,
    /// Normalised value.
    pub value: SecretString,
}

/// A further attempt at a request, recorded before it leaves for another provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The request.
    pub request_id: Uuid,
    /// Time of the decision.
    pub time: Timestamp,
    /// Name of the account.
    pub account: String,
    /// Public id of the API key.
    pub key_id: String,
    /// Number of the attempt; the decision covers the first.
    pub number: u32,
    /// The action for this provider.
    pub action: Action,
    /// The model requested from this provider.
    pub model: Option<String>,
    /// Family of the provider.
    pub family: Option<ProviderKind>,
    /// Name of the provider.
    pub provider: String,
    /// Terms of the provider: its permission for PHI, and the agreement with its operator.
    #[serde(flatten)]
    pub terms: ProviderTerms,
    /// Sizes in bytes.
    pub sizes: Sizes,
    /// Digests of the sealed content; filled by the vault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<SealedDigests>,
}

/// An attempt with the content to seal.
#[derive(Debug, Clone)]
pub struct NewAttempt {
    /// Account the request belongs to.
    pub account_id: String,
    /// The record.
    pub attempt: Attempt,
    /// The body as sent; `None` for a clean request.
    pub sent: Option<SecretBytes>,
}

/// The end of one attempt at a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptEnd {
    /// Name of the provider.
    pub provider: String,
    /// The model requested from this provider.
    pub model: Option<String>,
    /// Status of the provider; `None` if it did not answer.
    pub status: Option<u16>,
    /// The gateway's error code, if the attempt failed.
    pub error_code: Option<ErrorCode>,
    /// Duration in milliseconds.
    pub ms: u64,
}

/// Outcome of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The request.
    pub request_id: Uuid,
    /// Time of the end.
    pub time: Timestamp,
    /// Name of the account.
    pub account: String,
    /// Public id of the API key, for token counts per key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
    /// Status that the caller got; `None` if it is unknown.
    pub status: Option<u16>,
    /// Status of the provider.
    pub provider_status: Option<u16>,
    /// Model that answered.
    pub served_model: Option<String>,
    /// The finish reason.
    pub finish_reason: Option<String>,
    /// Token usage.
    pub usage: Option<Usage>,
    /// The gateway's error code, or `interrupted` if the process died before the end.
    pub error_code: Option<ErrorCode>,
    /// Milliseconds to the first byte of the answer.
    pub first_byte_ms: Option<u64>,
    /// Milliseconds to the last byte.
    pub total_ms: Option<u64>,
    /// Milliseconds of them that phigate took, without waiting for providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_ms: Option<f64>,
    /// The providers it went to, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<AttemptEnd>,
    /// Findings and actions in the reply.
    #[serde(flatten)]
    pub reply: ReplyFacts,
    /// Digest of the sealed reply; filled by the vault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<SealedDigests>,
}

/// Findings and actions in a reply. All fields are absent if the reply was not scanned.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReplyFacts {
    /// Tokens that were replaced by their values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<u64>,
    /// New PHI: kind → number of findings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_types: Option<BTreeMap<String, u64>>,
    /// Number of values of the request that the reply repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_echoes: Option<u64>,
    /// The action on new PHI, if there was any: `flagged`, `masked`, `redacted` or `blocked`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_action: Option<String>,
}

/// Tokens as counted by the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: u64,
    /// Tokens of the answer.
    pub completion_tokens: u64,
    /// Sum of both.
    pub total_tokens: u64,
}

/// The actor of a change, and the stated reason if one was required.
#[derive(Debug, Clone, Copy)]
pub struct By<'a> {
    /// `cli: …`, a user's e-mail, or `system`.
    pub actor: &'a str,
    /// The stated reason.
    pub reason: Option<&'a str>,
}

impl<'a> From<&'a str> for By<'a> {
    fn from(actor: &'a str) -> Self {
        Self {
            actor,
            reason: None,
        }
    }
}

impl By<'_> {
    /// An act of this actor.
    pub(crate) fn act(&self, time: Timestamp, account: &str, act: Act) -> AdminAct {
        AdminAct {
            reason: self.reason.map(str::to_owned),
            ..AdminAct::new(time, account, self.actor, act)
        }
    }
}

/// An act of a person, of the command line or of the system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdminAct {
    /// Time of the act.
    pub time: Timestamp,
    /// Name of the account; empty for acts on the installation itself.
    pub account: String,
    /// `cli`, a user's e-mail, or `system`.
    pub actor: String,
    /// The act.
    pub act: Act,
    /// The target of the act: a key id, an e-mail, a family.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The affected request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<Uuid>,
    /// Previous value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// New value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The stated reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Sequence number, from 1, among the account's acts that changed access rights; a gap shows a missing record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// Further details, such as an address or a count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, String>,
}

impl AdminAct {
    /// An act without details, which the caller adds.
    pub fn new(time: Timestamp, account: &str, actor: &str, act: Act) -> Self {
        Self {
            time,
            account: account.to_owned(),
            actor: actor.to_owned(),
            act,
            target: None,
            request_id: None,
            from: None,
            to: None,
            reason: None,
            number: None,
            details: BTreeMap::new(),
        }
    }

    /// Sets the target.
    pub fn target(mut self, target: &str) -> Self {
        self.target = Some(target.to_owned());
        self
    }

    /// Sets the values before and after.
    pub fn change(mut self, from: &str, to: &str) -> Self {
        self.from = Some(from.to_owned());
        self.to = Some(to.to_owned());
        self
    }

    /// Adds a detail.
    pub fn detail(mut self, name: &str, value: &(impl ToString + ?Sized)) -> Self {
        self.details.insert(name.to_owned(), value.to_string());
        self
    }
}

/// Unsealed content of a request.
#[derive(Debug)]
pub struct Revealed {
    /// The request.
    pub request_id: Uuid,
    /// The body as received.
    pub original: Option<SecretBytes>,
    /// The body as sent to the provider.
    pub sent: Option<SecretBytes>,
    /// The bodies as sent to further providers, by their names, in order.
    pub attempts: Vec<(String, SecretBytes)>,
    /// The provider's reply, if it held new PHI.
    pub reply: Option<SecretBytes>,
}
