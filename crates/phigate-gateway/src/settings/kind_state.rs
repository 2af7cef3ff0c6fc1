//! Kinds of PHI of an account: which are on, from which score they count, and what replaces them.
//!
//! The state of a kind is stored in two places. A kind that is on by default is off by the word `off` of the account's
//! policy; every other kind is on by its name, or by a threshold, in the settings of detection.

use std::fmt;

use phi_detect::PhiKind;
use phigate_core::protect::depth_of;
use phigate_store::{Account, Detection, KindSettings};
use phigate_types::{Replace, Word};
use serde_json::{Value, json};

/// State of a kind in an account.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KindState {
    /// The kind.
    pub kind: PhiKind,
    /// Whether it is looked for.
    pub is_on: bool,
    /// The score from which a finding counts.
    pub threshold: f64,
    /// Replacement in mask mode.
    pub replace: Replace,
}

impl KindState {
    /// The state as JSON.
    pub fn json(&self) -> Value {
        json!({
            "code": self.kind.code(),
            "on": self.is_on,
            "threshold": self.threshold,
            "replace": self.replace.code(),
        })
    }

    pub(super) fn of(settings: &KindSettings, kind: PhiKind) -> Self {
        let code = kind.code();
        let detection = &settings.detection;
        let chosen = detection.thresholds.get(code).copied();
        let is_generalized = detection.generalized.contains(code) && kind.can_generalize();
        Self {
            kind,
            is_on: is_on(settings, kind),
            threshold: chosen.unwrap_or_else(|| default_threshold(detection, kind)),
            replace: match is_generalized {
                true => Replace::Generalize,
                false => Replace::Placeholder,
            },
        }
    }
}

impl fmt::Display for KindState {
    /// The form in records.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_on {
            true => write!(out, "on, threshold {}, {}", self.threshold, self.replace),
            false => out.write_str("off"),
        }
    }
}

/// The threshold of a kind without a choice of the account.
fn default_threshold(detection: &Detection, kind: PhiKind) -> f64 {
    let threshold = kind.default_threshold(depth_of(detection.depth));
    // By its shortest text: a conversion keeps the error of the smaller type.
    threshold.to_string().parse().unwrap_or_default()
}

/// Whether the settings of detection look for a kind. The account's policy may still say `off`.
pub(super) fn is_looked_for(detection: &Detection, kind: PhiKind) -> bool {
    let (is_named, has_threshold) = (
        detection.kinds.contains(kind.code()),
        detection.thresholds.contains_key(kind.code()),
    );
    kind.is_own() || kind.is_core() || is_named || has_threshold
}

/// Whether a kind is on.
pub(super) fn is_on(settings: &KindSettings, kind: PhiKind) -> bool {
    let is_off = settings.words.get(kind.code()) == Some(&Word::Off);
    is_looked_for(&settings.detection, kind) && !is_off
}

/// The settings of an account that say which kinds are on.
pub fn kinds_of(account: &Account) -> KindSettings {
    KindSettings {
        detection: account.settings.detection.clone(),
        words: account.policy.levels().account.clone(),
    }
}

/// The state of every kind, in table order.
pub fn kind_states(settings: &KindSettings) -> Vec<KindState> {
    let state = |kind| KindState::of(settings, kind);
    PhiKind::all().map(state).collect()
}
