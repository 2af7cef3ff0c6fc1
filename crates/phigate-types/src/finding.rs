//! What a scan found, as the gateway decides by it and the audit trail keeps it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// Where PHI was found in a request; never what it said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The code of the kind of PHI.
    #[serde(rename = "type")]
    pub kind: Cow<'static, str>,
    /// Where it stands, such as `messages[0].content`. The findings of a text share it.
    pub path: SmolStr,
    /// First character, counted in code points of the decoded string.
    pub start: u64,
    /// The character after the last.
    pub end: u64,
    /// Confidence, 0 to 1, in thousandths.
    pub score: f64,
    /// The rule that found it.
    pub rule: Cow<'static, str>,
}

/// A part of a request that was not scanned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unscannable {
    /// Where it stands.
    pub path: String,
    /// What it is, such as `image_url`; `unknown` where the caller named something we do not know.
    pub kind: Cow<'static, str>,
}
