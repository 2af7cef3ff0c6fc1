//! The limits of an API key that an account may set for itself.

use crate::code::coded;

/// A limit by its name in the configuration and in an account's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyLimit {
    /// Requests that may be answered at the same time.
    Concurrency,
    /// Requests per minute.
    RequestsPerMinute,
}

impl KeyLimit {
    /// Every limit.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        [Self::Concurrency, Self::RequestsPerMinute].into_iter()
    }

    /// Its name in the configuration.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Concurrency => "key_concurrency",
            Self::RequestsPerMinute => "key_requests_per_minute",
        }
    }

    /// The name people read.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Concurrency => "Concurrent requests per key",
            Self::RequestsPerMinute => "Requests per minute and key",
        }
    }
}

coded!(KeyLimit, "limit");
