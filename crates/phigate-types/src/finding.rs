//! Findings of a scan, for decisions and the audit trail.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::Mode;

/// Place of PHI in a request; never the text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The code of the kind of PHI.
    #[serde(rename = "type")]
    pub kind: Cow<'static, str>,
    /// Path, such as `messages[0].content`, shared by the findings of a text.
    pub path: SmolStr,
    /// First character, counted in code points of the decoded string.
    pub start: u64,
    /// End, exclusive.
    pub end: u64,
    /// Confidence, 0 to 1, in thousandths.
    pub score: f64,
    /// The rule that found it.
    pub rule: Cow<'static, str>,
    /// Treatment by the policy; `None` in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Mode>,
    /// Level of the policy that says so: `account`, `group:NAME`, `key:ID`, `provider:NAME` or `request`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<SmolStr>,
}

/// A part of a request that was not scanned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unscannable {
    /// Path.
    pub path: String,
    /// Kind of part, such as `image_url`; `unknown` for an unknown name from the caller.
    pub kind: Cow<'static, str>,
}
