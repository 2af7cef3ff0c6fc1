//! Recognizers of an account: kinds of PHI that its owner defines.

use jiff::Timestamp;
use smol_str::SmolStr;

use crate::SecretString;

/// A recognizer as stored. The definition may hold examples of what it finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecognizer {
    /// Code of the kind.
    pub code: SmolStr,
    /// The definition.
    pub definition: SecretString,
}

/// A recognizer in a list.
#[derive(Debug, Clone)]
pub struct RecognizerInfo {
    /// The recognizer.
    pub recognizer: StoredRecognizer,
    /// Time of the last change.
    pub set: Timestamp,
    /// The actor of the last change.
    pub set_by: String,
}
