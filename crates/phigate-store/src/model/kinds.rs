//! Kinds of PHI that an account looks for, and their handling.

use phigate_types::{Act, Word, Words};

use crate::model::Detection;

/// Everything in an account that says which kinds are looked for, and how.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KindSettings {
    /// Settings of detection.
    pub detection: Detection,
    /// Words of the account's policy, of which `off` switches a kind off.
    pub words: Words<Word>,
}

/// Change of kinds, for the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindsAct {
    /// The act.
    pub act: Act,
    /// Code of the kind; `None` for all kinds.
    pub kind: Option<&'static str>,
    /// The state before.
    pub from: String,
    /// The state after.
    pub to: String,
    /// Codes of the kinds that the act switches on.
    pub on: Vec<&'static str>,
    /// Codes of the kinds that the act switches off.
    pub off: Vec<&'static str>,
    /// Whether less PHI is found than before.
    pub is_weaker: bool,
}
