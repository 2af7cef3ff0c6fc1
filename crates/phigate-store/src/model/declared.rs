//! State of an account as a file of settings says it.

use std::collections::BTreeMap;

use phigate_types::Mode;
use smol_str::SmolStr;

use crate::SecretString;
use crate::model::{Detection, PolicyWords, ProviderConfig, Settings, StoredRecognizer};

/// Everything about an account that a file can say: no person, no key and no secret.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// The PHI handling mode.
    pub mode: Mode,
    /// The other settings.
    pub settings: Settings,
    /// Words of account, groups and keys, with the group of each key.
    pub words: PolicyWords,
    /// Fallbacks by model.
    pub fallbacks: BTreeMap<String, Vec<String>>,
    /// Definitions of recognizers by code.
    pub recognizers: BTreeMap<SmolStr, SecretString>,
    /// Configuration of providers by name.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// Kinds of allowed values, by the hash of the value.
    pub allowed: BTreeMap<String, SmolStr>,
}

impl Declared {
    /// Settings of detection.
    pub fn detection(&self) -> &Detection {
        &self.settings.detection
    }

    /// The recognizers as stored.
    pub fn stored_recognizers(&self) -> Vec<StoredRecognizer> {
        let stored = self.recognizers.iter();
        let stored = stored.map(|(code, definition)| StoredRecognizer {
            code: code.clone(),
            definition: definition.clone(),
        });
        stored.collect()
    }
}
