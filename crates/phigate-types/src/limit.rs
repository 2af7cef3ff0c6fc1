//! Limits of an API key that an account may set.

use crate::code::coded;

/// A limit, by its name in the configuration and in an account's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyLimit {
    /// Requests in progress at the same time.
    Concurrency,
    /// Requests per minute.
    RequestsPerMinute,
}

impl KeyLimit {
    /// Every limit.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        [Self::Concurrency, Self::RequestsPerMinute].into_iter()
    }

    /// Name in the configuration.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Concurrency => "key_concurrency",
            Self::RequestsPerMinute => "key_requests_per_minute",
        }
    }

    /// Name for people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Concurrency => "Concurrent requests per key",
            Self::RequestsPerMinute => "Requests per minute and key",
        }
    }
}

coded!(KeyLimit, "limit");
