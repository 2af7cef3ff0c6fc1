//! Settings of an account for detection.

use crate::depth::Depth;
use crate::kinds::PhiKind;

/// Settings of an account for detection. The default suits most sites.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// Score below which findings of a kind are dropped; kinds not named keep their default. Naming a kind that is
    /// off by default switches it on.
    pub thresholds: Vec<(PhiKind, f32)>,
    /// Kinds whose findings have the extent that generalizing needs: a place takes the comma before its state with it.
    pub generalized: Vec<PhiKind>,
    /// Kinds that are not reported. They are still read as context: a name beside a number helps to find the number.
    pub off: Vec<PhiKind>,
    /// Site formats of medical record numbers: `9` a digit, `A` a letter, `X` either, anything else itself.
    pub mrn_formats: Vec<String>,
}

impl Settings {
    /// Whether the settings make sense; if not, a message for the owner.
    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        for &(kind, threshold) in &self.thresholds {
            if !(0.0..=1.0).contains(&threshold) {
                let message = format!("the threshold of {} must lie between 0 and 1", kind.code());
                return Err(SettingsError(message));
            }
        }
        for format in &self.mrn_formats {
            let digits = format
                .bytes()
                .filter(|byte| matches!(byte, b'9' | b'X'))
                .count();
            if digits < 4 || format.len() > 32 || !format.is_ascii() {
                let message = format!(
                    "the record number format {format:?} needs at least 4 of 9 or X, in at most 32 plain characters"
                );
                return Err(SettingsError(message));
            }
        }
        Ok(())
    }

    /// Whether findings of this kind are wanted.
    pub(crate) fn looks_for(&self, kind: PhiKind) -> bool {
        kind.rule().is_on_by_default || self.thresholds.iter().any(|(one, _)| *one == kind)
    }

    /// Whether a kind beyond the eight of the specification is looked for.
    pub(crate) fn looks_beyond(&self) -> bool {
        self.thresholds.iter().any(|(kind, _)| !kind.is_core())
    }

    /// Whether findings of this kind are reported.
    pub(crate) fn reports(&self, kind: PhiKind) -> bool {
        !self.off.contains(&kind)
    }

    /// The least score of a finding that the fitted decision accepts.
    pub(crate) fn cut(&self, kind: PhiKind) -> f32 {
        self.own_threshold(kind)
            .unwrap_or(kind.default_threshold(Depth::Careful))
    }

    fn own_threshold(&self, kind: PhiKind) -> Option<f32> {
        let own = self.thresholds.iter().find(|(one, _)| *one == kind);
        own.map(|(_, threshold)| *threshold)
    }

    /// The least score of a finding of the fast passes.
    pub(crate) fn threshold(&self, kind: PhiKind) -> f32 {
        self.own_threshold(kind)
            .unwrap_or(kind.default_threshold(Depth::Fast))
    }
}

/// Why settings were refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError(pub String);

impl std::fmt::Display for SettingsError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}
