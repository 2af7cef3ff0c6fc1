//! Issuers whose tokens act as API keys.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Settings of an issuer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssuerConfig {
    /// Address of the issuer, as its tokens write it.
    pub issuer: String,
    /// Audience of the tokens.
    pub audience: String,
    /// Further claims that the tokens must have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub claims: BTreeMap<String, String>,
    /// Public id of the API key as which the tokens act.
    pub key_id: String,
}

/// An issuer in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IssuerInfo {
    /// The name.
    pub name: String,
    /// The settings.
    #[serde(flatten)]
    pub config: IssuerConfig,
    /// Time of the last change.
    pub updated: Timestamp,
    /// The actor of the last change.
    pub updated_by: String,
}

/// The issuer of a token, and the account whose key it acts as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRule {
    /// The account.
    pub account_id: String,
    /// The settings.
    pub config: IssuerConfig,
}
