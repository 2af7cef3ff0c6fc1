//! Names of providers and of models, and the list of models that a provider serves.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Longest name of a provider.
const NAME_BYTES_MAX: usize = 32;

/// Longest id of a model.
const ID_BYTES_MAX: usize = 256;

/// Largest number of entries of a list.
const ENTRIES_MAX: usize = 1_000;

/// Whether a text can be a provider's name: `[a-z0-9][a-z0-9-]{0,31}`.
pub fn is_provider_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=NAME_BYTES_MAX).contains(&text.len())
        && !text.starts_with('-')
        && text.bytes().all(is_plain)
}

/// Whether a text can be a model's id: `[A-Za-z0-9._:/@-]{1,256}`.
pub fn is_model_id(text: &str) -> bool {
    (1..=ID_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_id_byte)
}

fn is_id_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._:/@-".contains(&byte)
}

/// One model that a provider serves, or a pattern of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelEntry {
    /// Id that callers use; a pattern if it contains `*`.
    id: String,
    /// Id at the provider, if different.
    upstream: Option<String>,
}

impl ModelEntry {
    /// Id that callers use; a pattern if it contains `*`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Id at the provider, if different.
    pub fn upstream(&self) -> Option<&str> {
        self.upstream.as_deref()
    }

    /// Whether the id is a pattern.
    pub fn is_pattern(&self) -> bool {
        self.id.contains('*')
    }

    /// Whether the entry covers a model.
    pub fn matches(&self, model: &str) -> bool {
        let mut pieces = self.id.split('*');
        let Some(mut rest) = pieces.next().and_then(|first| model.strip_prefix(first)) else {
            return false;
        };
        let Some(last) = pieces.next_back() else {
            return rest.is_empty();
        };
        for piece in pieces {
            // The earliest match leaves the most text for the rest of the pattern.
            match rest.find(piece) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

/// Reason why a list of models is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelListError {
    /// The list or an entry is empty.
    Empty,
    /// An entry is not `ID`, `ID=UPSTREAM` or a pattern.
    Malformed,
    /// An id occurs twice.
    Twice,
    /// Too many entries.
    TooMany,
}

impl fmt::Display for ModelListError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Empty => "the list has an empty entry: write ID, ID=UPSTREAM or a pattern with *, separated by commas",
            Self::Malformed => "an entry is ID, ID=UPSTREAM or a pattern with *; ids have 1 to 256 letters, digits and . _ : / @ -",
            Self::Twice => "a model is listed twice",
            Self::TooMany => "too many models: use patterns with *",
        })
    }
}

impl std::error::Error for ModelListError {}

impl FromStr for ModelEntry {
    type Err = ModelListError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Err(ModelListError::Empty);
        }
        let (id, upstream) = match text.split_once('=') {
            Some((id, upstream)) => (id, Some(upstream)),
            None => (text, None),
        };
        // A path segment of only dots would be resolved away.
        let is_id = |text: &str| is_model_id(text) && text.bytes().any(|byte| byte != b'.');
        let is_pattern = upstream.is_none()
            && id.len() <= ID_BYTES_MAX
            && id.bytes().all(|byte| byte == b'*' || is_id_byte(byte));
        if !(is_id(id) || is_pattern && id.contains('*')) || !upstream.is_none_or(is_id) {
            return Err(ModelListError::Malformed);
        }
        Ok(Self {
            id: id.to_owned(),
            upstream: upstream.map(str::to_owned),
        })
    }
}

impl fmt::Display for ModelEntry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.upstream {
            Some(upstream) => write!(formatter, "{}={upstream}", self.id),
            None => formatter.write_str(&self.id),
        }
    }
}

impl Serialize for ModelEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ModelEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Reads a comma-separated list from the command line.
pub fn read_models(text: &str) -> Result<Vec<ModelEntry>, ModelListError> {
    let entries = text.split(',').map(|entry| entry.trim().parse());
    let entries: Vec<ModelEntry> = entries.collect::<Result<_, _>>()?;
    let has_twice = entries
        .iter()
        .enumerate()
        .any(|(at, entry)| entries[..at].iter().any(|earlier| earlier.id == entry.id));
    match entries.len() {
        _ if has_twice => Err(ModelListError::Twice),
        ..=ENTRIES_MAX => Ok(entries),
        _ => Err(ModelListError::TooMany),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_lists_are_read_or_refused() {
        use ModelListError::{Empty, Malformed, Twice};
        let long = "m".repeat(257);
        for (text, read) in [
            ("gpt-4o", Ok("gpt-4o")),
            (" a, b=c ,d-* ", Ok("a,b=c,d-*")),
            (
                "meta-llama/llama-3.3-70b:free",
                Ok("meta-llama/llama-3.3-70b:free"),
            ),
            (
                "m=arn:aws:bedrock:us-east-1:1:inference-profile/x",
                Ok("m=arn:aws:bedrock:us-east-1:1:inference-profile/x"),
            ),
            ("", Err(Empty)),
            ("a,,b", Err(Empty)),
            ("gpt 4", Err(Malformed)),
            ("a=b=c", Err(Malformed)),
            ("=b", Err(Malformed)),
            ("a=", Err(Malformed)),
            ("a?b", Err(Malformed)),
            ("a=..", Err(Malformed)),
            ("a*=b", Err(Malformed)),
            ("a=b*", Err(Malformed)),
            (&long, Err(Malformed)),
            ("a,a=b", Err(Twice)),
        ] {
            let entries = read_models(text).map(|entries| {
                let texts: Vec<String> = entries.iter().map(ModelEntry::to_string).collect();
                texts.join(",")
            });
            assert_eq!(entries.as_deref(), read.as_deref(), "{text}");
        }
    }

    #[test]
    fn only_stars_are_wildcards() {
        for (pattern, model, is_match) in [
            ("*", "org/thing:7b@x", true),
            ("gpt-*", "gpt-5.2", true),
            ("gpt-*", "agpt-5.2", false),
            ("mistral-*-latest", "mistral-large-latest", true),
            ("mistral-*-latest", "mistral-latest", false),
            ("mistral-*-latest", "mistral-large-latest-2", false),
            ("a.c*", "abcd", false),
            ("*a*a", "aa", true),
            ("*a*a", "a", false),
            ("a*b*c", "a-b-b-c", true),
            ("plain", "plain", true),
            ("plain", "plainly", false),
        ] {
            let entry: ModelEntry = pattern.parse().unwrap();
            assert_eq!(entry.matches(model), is_match, "{pattern} {model}");
        }
    }

    #[test]
    fn names_are_short_and_plain() {
        for name in ["a", "9-lives", "a--b-", &"a".repeat(32)] {
            assert!(is_provider_name(name), "{name}");
        }
        for name in [
            "",
            "-a",
            "Main",
            "a_b",
            "a/b",
            "a.b",
            "a b",
            &"a".repeat(33),
        ] {
            assert!(!is_provider_name(name), "{name}");
        }
    }
}
