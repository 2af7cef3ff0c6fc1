//! Operators of `/anonymize`: the replacements for an entity.

use phigate_types::ErrorCode;

use crate::json::{Kind, Value};
use crate::request::RequestError;
use crate::service::fields::{given, of_kind, wrong_type, wrong_value};

/// The supported hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashKind {
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
}

/// Hashes a text followed by its salt, in hexadecimal. Without a salt a random one is used, because the hash of a bare
/// number can be guessed.
pub type Hash = fn(HashKind, &str, Option<&str>) -> String;

/// A parsed operator.
#[derive(Debug)]
pub(super) enum Operator {
    Replace(Option<String>),
    Redact,
    Keep,
    Mask {
        character: String,
        count: usize,
        from_end: bool,
    },
    Hash {
        kind: HashKind,
        salt: Option<String>,
    },
}

/// The shortest salt that Presidio accepts.
const SALT_BYTES_MIN: usize = 16;

impl Operator {
    /// Reads `{"type": …}` with its parameters; `at` is its path.
    pub(super) fn read(config: &Value<'_>, at: &str) -> Result<Self, RequestError> {
        let kind = kind_of(config, at)?;
        match kind.as_str() {
            "replace" => Ok(Self::Replace(new_value(config, at)?)),
            "redact" => Ok(Self::Redact),
            "keep" => Ok(Self::Keep),
            "mask" => mask(config, at),
            "hash" => hash(config, at),
            _ => {
                let words = "must be one of hash, keep, mask, redact, replace";
                Err(wrong_value(format_args!("{at}.type"), words))
            }
        }
    }

    /// The operator's name in Presidio.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Replace(_) => "replace",
            Self::Redact => "redact",
            Self::Keep => "keep",
            Self::Mask { .. } => "mask",
            Self::Hash { .. } => "hash",
        }
    }

    /// The replacement for an entity's text.
    pub(super) fn apply(&self, entity: &str, text: &str, hash: Hash) -> String {
        match self {
            Self::Replace(Some(value)) => value.clone(),
            Self::Replace(None) => format!("<{entity}>"),
            Self::Redact => String::new(),
            Self::Keep => text.to_owned(),
            Self::Mask {
                character,
                count,
                from_end,
            } => masked(text, character, *count, *from_end),
            Self::Hash { kind, salt } => hash(*kind, text, salt.as_deref()),
        }
    }
}

/// The type of an operator. The type that runs code of the caller is always refused.
pub(super) fn kind_of(config: &Value<'_>, at: &str) -> Result<String, RequestError> {
    of_kind(config, Kind::Object, at, "an object")?;
    let kind = given(config, "type").and_then(|kind| kind.string());
    match kind.as_deref() {
        None | Some("") => {
            let message = format!("{at}.type is required");
            let code = ErrorCode::MissingRequiredParameter;
            Err(RequestError::field(code, format!("{at}.type"), message))
        }
        Some("custom") => {
            let words = "cannot be custom: it is not supported over HTTP";
            Err(wrong_value(format_args!("{at}.type"), words))
        }
        Some(kind) => Ok(kind.to_owned()),
    }
}

fn new_value(config: &Value<'_>, at: &str) -> Result<Option<String>, RequestError> {
    let Some(value) = given(config, "new_value") else {
        return Ok(None);
    };
    of_kind(
        &value,
        Kind::String,
        format_args!("{at}.new_value"),
        "a string",
    )?;
    let value = value.string().unwrap_or_default().into_owned();
    Ok(Some(value).filter(|value| !value.is_empty()))
}

fn mask(config: &Value<'_>, at: &str) -> Result<Operator, RequestError> {
    let character = given(config, "masking_char").and_then(|value| value.string());
    let character = character.filter(|text| text.chars().count() <= 1);
    let count = given(config, "chars_to_mask").and_then(|value| value.number());
    let count = count.filter(|count| count.fract() == 0.0);
    let from_end = given(config, "from_end").and_then(|value| value.bool());
    let wrong = |name: &str, words: &str| wrong_type(format_args!("{at}.{name}"), words);
    Ok(Operator::Mask {
        character: character
            .ok_or_else(|| wrong("masking_char", "one character"))?
            .into_owned(),
        // A negative count masks nothing; a count beyond the text masks all of it.
        count: count.ok_or_else(|| wrong("chars_to_mask", "a whole number"))? as usize,
        from_end: from_end.ok_or_else(|| wrong("from_end", "a boolean"))?,
    })
}

fn hash(config: &Value<'_>, at: &str) -> Result<Operator, RequestError> {
    let kind = given(config, "hash_type").map(|kind| kind.string());
    let kind = match kind.as_ref().map(Option::as_deref) {
        None | Some(Some("sha256")) => HashKind::Sha256,
        Some(Some("sha512")) => HashKind::Sha512,
        Some(_) => {
            let place = format_args!("{at}.hash_type");
            return Err(wrong_value(place, "must be sha256 or sha512"));
        }
    };
    let salt = match given(config, "salt") {
        None => None,
        Some(salt) => {
            let place = format_args!("{at}.salt");
            of_kind(&salt, Kind::String, place, "a string")?;
            let salt = salt.string().unwrap_or_default().into_owned();
            if salt.len() < SALT_BYTES_MIN {
                return Err(wrong_value(place, "must be at least 16 bytes long"));
            }
            Some(salt)
        }
    };
    Ok(Operator::Hash { kind, salt })
}

fn masked(text: &str, character: &str, count: usize, from_end: bool) -> String {
    let length = text.chars().count();
    let count = count.min(length);
    let first = if from_end { length - count } else { 0 };
    let mut out = String::with_capacity(text.len());
    for (index, letter) in text.chars().enumerate() {
        if (first..first + count).contains(&index) {
            out.push_str(character);
        } else {
            out.push(letter);
        }
    }
    out
}
