//! API keys as the store keeps them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::KeyWords;

/// A key as stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct KeyBody {
    pub(crate) name: String,
    pub(crate) hash: String,
    pub(crate) created: Timestamp,
    pub(crate) created_by: String,
    pub(crate) expires: Option<Timestamp>,
    pub(crate) revoked: Option<Timestamp>,
    pub(crate) rotated_to: Option<String>,
    #[serde(flatten)]
    pub(crate) words: KeyWords,
}

impl KeyBody {
    /// The stored hash; empty, hence matching nothing, when it is damaged.
    pub(crate) fn hash_bytes(&self) -> Vec<u8> {
        STANDARD.decode(&self.hash).unwrap_or_default()
    }
}
