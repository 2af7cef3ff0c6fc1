//! Accounts and what belongs to them: settings, providers, API keys.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use phigate_types::{KeyLimit, Mode, Replies};
use serde::{Deserialize, Serialize};

use crate::SecretString;
use crate::model::Provider;

/// A consistent picture of one account, as requests use it.
#[derive(Debug, Clone)]
pub struct Account {
    /// Stable id; rows and records hang on it.
    pub id: String,
    /// The name people use.
    pub name: String,
    /// The mode in force.
    pub mode: Mode,
    /// Everything else the owner can set.
    pub settings: Settings,
    /// Providers by name.
    pub providers: BTreeMap<String, Provider>,
    /// Model ids the owner maps to others.
    pub aliases: BTreeMap<String, String>,
    /// What is asked instead when the providers of a model fail: models, or `NAME/model`, in order.
    pub fallbacks: BTreeMap<String, Vec<String>>,
    /// Grows with every change anywhere in the store's settings.
    pub version: u64,
}

/// A caller that may proceed.
#[derive(Debug, Clone)]
pub struct Admission {
    /// Public id of the API key, twelve characters.
    pub key_id: String,
    /// The account as it stood at or after the start of the call.
    pub account: Arc<Account>,
}

/// What an owner can set for an account. Missing fields take their defaults.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Forward images, audio and files that cannot be scanned, also outside flag mode.
    pub allow_unscannable: bool,
    /// What is found.
    #[serde(flatten)]
    pub detection: Detection,
    /// Limits that differ from the configuration, by their names there.
    pub limits: BTreeMap<KeyLimit, u64>,
    /// How long records are kept.
    pub retention: Retention,
    /// Give masked values back in replies.
    pub restore: bool,
    /// The tools whose arguments get values back; names, `*` for any characters. None: every tool.
    pub restore_tools: Vec<String>,
    /// What is done with PHI that a model produced.
    pub replies: Replies,
    /// Nobody uses the dashboard without a second factor.
    pub require_second_factor: bool,
}

/// What an owner can set about detection. Accounts with equal ones find the same.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Detection {
    /// Score from which a finding counts, by kind of PHI.
    pub thresholds: BTreeMap<String, f64>,
    /// Formats of medical record numbers at this site.
    pub mrn_formats: Vec<String>,
}

/// How long records are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Retention {
    /// Days for which sealed content is kept.
    pub content_days: u32,
    /// Days for which records themselves are kept.
    pub metadata_days: u32,
    /// While set, nothing is deleted.
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
    /// When it was made.
    pub created: Timestamp,
}

/// An API key in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApiKeyInfo {
    /// Public id, twelve characters.
    pub id: String,
    /// Name the owner gave.
    pub name: String,
    /// When it was made.
    pub created: Timestamp,
    /// Who made it.
    pub created_by: String,
    /// When it stops working.
    pub expires: Option<Timestamp>,
    /// When it was revoked.
    pub revoked: Option<Timestamp>,
    /// When it was last used, to about ten seconds.
    pub last_used: Option<Timestamp>,
    /// The key that replaces it, when it was rotated.
    pub rotated_to: Option<String>,
}

/// A key just made: the only moment its text exists.
#[derive(Debug)]
pub struct NewApiKey {
    /// Public id.
    pub id: String,
    /// The full key, to be shown once.
    pub key: SecretString,
    /// When it stops working.
    pub expires: Option<Timestamp>,
}

/// The mode in force and its last change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModeState {
    /// The mode in force.
    pub mode: Mode,
    /// The mode before, when it was ever changed.
    pub previous: Option<Mode>,
    /// Who changed it last.
    pub changed_by: Option<String>,
    /// When.
    pub changed: Option<Timestamp>,
}
