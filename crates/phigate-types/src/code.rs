//! Codes: the text of a noun in settings, records and on the command line.

use std::fmt;

/// A code that this version does not know: stored by a newer version, or changed by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownCode {
    /// Expected noun, such as `mode`.
    pub noun: &'static str,
}

impl fmt::Display for UnknownCode {
    /// Omits the code itself, which may come from a caller or a changed row.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "unknown {}", self.noun)
    }
}

impl std::error::Error for UnknownCode {}

/// Implements the common parts of all coded nouns, given `code(self)` and `all()`.
macro_rules! coded {
    ($type:ty, $noun:literal) => {
        impl $type {
            /// Noun in messages.
            pub const NOUN: &'static str = $noun;
        }

        impl std::str::FromStr for $type {
            type Err = crate::UnknownCode;

            fn from_str(code: &str) -> Result<Self, Self::Err> {
                Self::all()
                    .find(|known| known.code() == code)
                    .ok_or(crate::UnknownCode { noun: $noun })
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.code())
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.code())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let code = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                code.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use coded;
