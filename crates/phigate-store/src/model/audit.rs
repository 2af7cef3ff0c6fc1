//! Audit records. Field names are those of the export and bind.

use std::collections::BTreeMap;

use jiff::Timestamp;
use phigate_types::{
    Act, Action, ErrorCode, Finding, Mode, PhiAgreement, ProviderKind, Unscannable,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{SecretBytes, SecretString};

/// One record of the trail, as exported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "lowercase")]
pub enum Record {
    /// What was decided about a request, before it was forwarded or refused.
    Decision(Decision),
    /// That it goes to another provider, after one failed.
    Attempt(Attempt),
    /// What came of it.
    Outcome(Outcome),
    /// What a person, the command line or the system itself did.
    Admin(AdminAct),
}

impl Record {
    /// The request this record belongs to, if any.
    pub fn request_id(&self) -> Option<Uuid> {
        match self {
            Self::Decision(decision) => Some(decision.request_id),
            Self::Attempt(attempt) => Some(attempt.request_id),
            Self::Outcome(outcome) => Some(outcome.request_id),
            Self::Admin(act) => act.request_id,
        }
    }

    /// When it happened.
    pub fn time(&self) -> Timestamp {
        match self {
            Self::Decision(decision) => decision.time,
            Self::Attempt(attempt) => attempt.time,
            Self::Outcome(outcome) => outcome.time,
            Self::Admin(act) => act.time,
        }
    }
}

/// What was decided about a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The request's id, also in its `X-Gateway-Request-Id`.
    pub request_id: Uuid,
    /// When it was decided.
    pub time: Timestamp,
    /// Name of the account.
    pub account: String,
    /// Public id of the API key.
    pub key_id: String,
    /// Mode in force.
    pub mode: Mode,
    /// What was done with it.
    pub action: Action,
    /// The door at which it arrived; none in records from before there were several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub door: Option<String>,
    /// Model asked for, when the request could be read that far.
    pub model: Option<String>,
    /// Provider family, when known.
    pub family: Option<ProviderKind>,
    /// Name of the provider, when one was picked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// What the provider might have of requests with PHI, and the agreement with its operator.
    #[serde(flatten)]
    pub terms: ProviderTerms,
    /// Whether a stream was asked for.
    pub stream: bool,
    /// Whether any PHI was found.
    pub phi_detected: bool,
    /// Kind of PHI → number of findings.
    pub types: BTreeMap<String, u32>,
    /// Each finding, without its text.
    pub findings: Vec<Finding>,
    /// Parts that could not be scanned.
    pub unscannable: Vec<Unscannable>,
    /// Sizes in bytes.
    pub sizes: Sizes,
    /// Version of the detector that decided.
    pub detector_version: String,
    /// The conversation, where values were masked by tokens: a keyed hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Why, for a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<ErrorCode>,
    /// Digests of the sealed content; filled by the vault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<SealedDigests>,
}

impl Decision {
    /// Whether its text was looked at. A request that was refused before is not one without PHI.
    pub fn was_scanned(&self) -> bool {
        self.action != Action::REFUSED || self.sizes.text > 0
    }
}

/// What was in force between the account and a provider. Both are absent in records from before, and `agreement` where
/// the owner named none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProviderTerms {
    /// What the provider might have of requests with PHI.
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
    /// Body as sent to the provider; absent when nothing was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<u64>,
}

/// Digests of sealed (encrypted) content, which tie it to its record.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SealedDigests {
    /// Of the sealed original.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<String>,
    /// Of the sealed sent content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<String>,
    /// Of the keyed hashes of its identifiers, so that a disclosure cannot be made to disappear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identifiers: Option<String>,
}

/// A decision with what must be sealed beside it.
#[derive(Debug, Clone)]
pub struct NewDecision {
    /// Account the request belongs to.
    pub account_id: String,
    /// The record.
    pub decision: Decision,
    /// The body as received; none for a clean request.
    pub original: Option<SecretBytes>,
    /// The body as sent; none when it equals the original or nothing was sent.
    pub sent: Option<SecretBytes>,
    /// Normalised identifiers found, for disclosure lookup; stored as keyed hashes only.
    pub identifiers: Vec<Identifier>,
    /// The names of the tokens that stand for values in what was sent, by which it can be looked up as well.
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
    /// When it was decided.
    pub time: Timestamp,
    /// Name of the account.
    pub account: String,
    /// Public id of the API key.
    pub key_id: String,
    /// Which attempt it is; the decision is about the first.
    pub number: u32,
    /// What was done with the request for this provider.
    pub action: Action,
    /// The model asked for there.
    pub model: Option<String>,
    /// Family of the provider.
    pub family: Option<ProviderKind>,
    /// Name of the provider.
    pub provider: String,
    /// What the provider might have of requests with PHI, and the agreement with its operator.
    #[serde(flatten)]
    pub terms: ProviderTerms,
    /// Sizes in bytes.
    pub sizes: Sizes,
    /// Digests of the sealed content; filled by the vault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<SealedDigests>,
}

/// An attempt with what must be sealed beside it.
#[derive(Debug, Clone)]
pub struct NewAttempt {
    /// Account the request belongs to.
    pub account_id: String,
    /// The record.
    pub attempt: Attempt,
    /// The body as sent; none for a clean request.
    pub sent: Option<SecretBytes>,
}

/// How one attempt at a request ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptEnd {
    /// Name of the provider.
    pub provider: String,
    /// The model asked for there.
    pub model: Option<String>,
    /// Status of the provider; none when it did not answer.
    pub status: Option<u16>,
    /// Our error code, when it failed.
    pub error_code: Option<ErrorCode>,
    /// Milliseconds it took.
    pub ms: u64,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The request.
    pub request_id: Uuid,
    /// When it ended.
    pub time: Timestamp,
    /// Name of the account.
    pub account: String,
    /// Public id of the API key, by which tokens are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
    /// Status the caller got; none when it was never known.
    pub status: Option<u16>,
    /// Status of the provider.
    pub provider_status: Option<u16>,
    /// Model that answered.
    pub served_model: Option<String>,
    /// Why the answer ended.
    pub finish_reason: Option<String>,
    /// Tokens.
    pub usage: Option<Usage>,
    /// Our error code, or `interrupted` when the process died in between.
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
    /// What was found and done in the reply.
    #[serde(flatten)]
    pub reply: ReplyFacts,
    /// Digest of the sealed reply; filled by the vault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<SealedDigests>,
}

/// What was found and done in a reply. All fields are absent where nobody looked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReplyFacts {
    /// Tokens that were replaced by their values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<u64>,
    /// New PHI, kind → number of findings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_types: Option<BTreeMap<String, u64>>,
    /// Values of the request that came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_echoes: Option<u64>,
    /// What was done with new PHI, when there was any: `flagged`, `masked`, `redacted` or `blocked`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_action: Option<String>,
}

/// Tokens as the provider counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Of the prompt.
    pub prompt_tokens: u64,
    /// Of the answer.
    pub completion_tokens: u64,
    /// Together.
    pub total_tokens: u64,
}

/// Who does something, and why, where they were asked.
#[derive(Debug, Clone, Copy)]
pub struct By<'a> {
    /// `cli: …`, a user's e-mail, or `system`.
    pub actor: &'a str,
    /// Why, as given.
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
    /// An act of theirs.
    pub(crate) fn act(&self, time: Timestamp, account: &str, act: Act) -> AdminAct {
        AdminAct {
            reason: self.reason.map(str::to_owned),
            ..AdminAct::new(time, account, self.actor, act)
        }
    }
}

/// What a person, the command line or the system itself did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdminAct {
    /// When.
    pub time: Timestamp,
    /// Name of the account; empty for acts on the installation itself.
    pub account: String,
    /// `cli`, a user's e-mail, or `system`.
    pub actor: String,
    /// What was done.
    pub act: Act,
    /// What it was done to: a key id, an e-mail, a family.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The request concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<Uuid>,
    /// Value before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Value after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Why, as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Which of the acts that changed who may do what in the account this is, from 1 on; none may be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// Anything more, such as an address or a count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, String>,
}

impl AdminAct {
    /// An act by somebody, now to be completed with `..`.
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

    /// What it was done to.
    pub fn target(mut self, target: &str) -> Self {
        self.target = Some(target.to_owned());
        self
    }

    /// The value before and after.
    pub fn change(mut self, from: &str, to: &str) -> Self {
        self.from = Some(from.to_owned());
        self.to = Some(to.to_owned());
        self
    }

    /// One more detail.
    pub fn detail(mut self, name: &str, value: &(impl ToString + ?Sized)) -> Self {
        self.details.insert(name.to_owned(), value.to_string());
        self
    }
}

/// Content of a request, unsealed.
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
    /// What the provider said, when it held new PHI.
    pub reply: Option<SecretBytes>,
}
