//! Accounts and their settings, providers and API keys.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use phigate_types::{Approvals, Depth, Documents, KeyLimit, Mode, Policy, Replies};
use serde::{Deserialize, Serialize};

use crate::SecretString;
use crate::model::{AllowedValues, Provider, Rosters, StoredRecognizer};

/// A consistent snapshot of one account, as requests use it.
#[derive(Debug, Clone)]
pub struct Account {
    /// Stable id, used by rows and records.
    pub id: String,
    /// Display name.
    pub name: String,
    /// The mode in force.
    pub mode: Mode,
    /// The policy for callers without a key.
    pub policy: Policy,
    /// All other settings.
    pub settings: Settings,
    /// Values that are not counted as PHI.
    pub allowed: AllowedValues,
    /// Kinds that the account defines, by code.
    pub recognizers: Arc<[StoredRecognizer]>,
    /// The account's patients, as keyed codes.
    pub rosters: Rosters,
    /// Providers by name.
    pub providers: BTreeMap<String, Provider>,
    /// Model aliases, from the requested id to another.
    pub aliases: BTreeMap<String, String>,
    /// Fallbacks when the providers of a model fail: models, or `NAME/model`, in order.
    pub fallbacks: BTreeMap<String, Vec<String>>,
    /// Grows with every change anywhere in the store's settings.
    pub version: u64,
}

/// An admitted caller.
#[derive(Debug, Clone)]
pub struct Admission {
    /// Public id of the API key, twelve characters.
    pub key_id: String,
    /// The state of the account at or after the start of the call.
    pub account: Arc<Account>,
    /// The policy of account, group and key.
    pub policy: Policy,
    /// Subject of the token that acts as the key; `None` if the caller has the key itself.
    pub subject: Option<String>,
}

impl Admission {
    /// Admits a caller without a key, recorded by this name.
    pub fn without_key(name: &str, account: Arc<Account>) -> Self {
        Self {
            key_id: name.to_owned(),
            policy: account.policy.clone(),
            subject: None,
            account,
        }
    }
}

/// Settings of an account. Missing fields have their defaults.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Forward images, audio and files that cannot be scanned, also outside flag mode.
    pub allow_unscannable: bool,
    /// Handling of documents inside requests.
    pub documents: Documents,
    /// Detection settings.
    #[serde(flatten)]
    pub detection: Detection,
    /// Limits that override the configuration, by their names there.
    pub limits: BTreeMap<KeyLimit, u64>,
    /// Retention of records.
    pub retention: Retention,
    /// Whether to restore masked values in replies.
    pub restore: bool,
    /// Tools whose arguments get restored values; names, `*` for any characters. Empty: every tool.
    pub restore_tools: Vec<String>,
    /// Handling of PHI that a model produced.
    pub replies: Replies,
    /// Whether callers may tighten the policy of a request by its header.
    pub request_header: bool,
    /// Whether every user of the dashboard must have a second factor.
    pub require_second_factor: bool,
    /// Number of people that a look at content takes.
    #[serde(skip_serializing_if = "is_one")]
    pub reveal_approvals: Approvals,
    /// Head of printed reports: lines, separated by `;`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub letterhead: String,
}

/// Whether one person is enough, as in settings of older versions.
fn is_one(approvals: &Approvals) -> bool {
    *approvals == Approvals::One
}

/// Detection settings. Accounts with equal settings have equal findings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Detection {
    /// Kinds of PHI that are looked for although they are off by default. A threshold of such a kind switches it on too.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub kinds: BTreeSet<String>,
    /// Kinds of PHI whose values become coarser in mask mode, instead of placeholders.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub generalized: BTreeSet<String>,
    /// Minimum score of a finding, by kind of PHI.
    pub thresholds: BTreeMap<String, f64>,
    /// Formats of medical record numbers at this site.
    pub mrn_formats: Vec<String>,
    /// Extent of scans.
    pub depth: Depth,
}

/// Retention of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Retention {
    /// Days for which sealed content is kept.
    pub content_days: u32,
    /// Days for which records themselves are kept.
    pub metadata_days: u32,
    /// A legal hold: while set, nothing is deleted.
    pub legal_hold: bool,
}

impl Default for Retention {
    fn default() -> Self {
        // Six years, leap days included: 45 CFR 164.316(b)(2)(i).
        Self {
            content_days: 2192,
            metadata_days: 2192,
            legal_hold: false,
        }
    }
}

/// An account in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccountInfo {
    /// Stable id.
    pub id: String,
    /// Name.
    pub name: String,
    /// Time of creation.
    pub created: Timestamp,
}

/// An API key in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApiKeyInfo {
    /// Public id, twelve characters.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Time of creation.
    pub created: Timestamp,
    /// The actor who created the key.
    pub created_by: String,
    /// Time of expiry.
    pub expires: Option<Timestamp>,
    /// Time of revocation.
    pub revoked: Option<Timestamp>,
    /// Time of last use, accurate to about ten seconds.
    pub last_used: Option<Timestamp>,
    /// The replacement, if the key was rotated.
    pub rotated_to: Option<String>,
    /// Group of keys that share words of the policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// A new key: its text exists only here.
#[derive(Debug)]
pub struct NewApiKey {
    /// Public id.
    pub id: String,
    /// The full key, to be shown once.
    pub key: SecretString,
    /// Time of expiry.
    pub expires: Option<Timestamp>,
}

/// The mode in force and its last change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModeState {
    /// The mode in force.
    pub mode: Mode,
    /// The mode before, if it was ever changed.
    pub previous: Option<Mode>,
    /// The actor of the last change.
    pub changed_by: Option<String>,
    /// Time of the last change.
    pub changed: Option<Timestamp>,
}
