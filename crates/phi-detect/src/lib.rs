//! Finds protected health information (PHI) in text.
//!
//! Text in, findings out: no I/O, no clock, no randomness. The same text gives
//! the same findings on every machine.

mod finding;
mod kind;

pub use finding::{Finding, Findings};
pub use kind::PhiKind;

/// Changes whenever the findings for some text may change; written into every audit record.
pub const VERSION: &str = concat!("phi-detect ", env!("CARGO_PKG_VERSION"));

/// What an account may set about detection. The default suits most sites.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// Score below which findings of a kind are dropped, by code (`"name"`); kinds not named keep their default.
    pub thresholds: Vec<(PhiKind, f32)>,
    /// Site formats of medical record numbers: `9` a digit, `A` a letter, `X` either, anything else itself.
    pub mrn_formats: Vec<String>,
}

/// Scans text. Build one per account settings and share it.
#[derive(Debug, Clone, Default)]
pub struct Detector {
    _settings: Settings,
}

impl Detector {
    /// A detector with these settings; wrong settings are refused with a message for the owner.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        Ok(Self {
            _settings: settings,
        })
    }

    /// Finds PHI in a text that stands alone: a message, a note, a document.
    pub fn scan(&self, _text: &str) -> Findings {
        Findings::default()
    }

    /// Finds PHI in the value of a named field, where the name may give meaning: `("birthDate", "1970-01-02")`.
    pub fn scan_field(&self, _name: &str, text: &str) -> Findings {
        self.scan(text)
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
