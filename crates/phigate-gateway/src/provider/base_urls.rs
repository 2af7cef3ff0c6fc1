//! A cache of parsed base URLs, because a provider uses the same URL in every request.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::{BaseUrl, BaseUrlError};

/// Limit of cached base URLs. At the limit the cache is cleared.
const KNOWN_MAX: usize = 1024;

/// Parses base URLs by the operator's rules.
pub(crate) struct BaseUrls {
    allow_private: bool,
    known: Mutex<HashMap<String, BaseUrl>>,
}

impl BaseUrls {
    /// `allow_private` is as for [`BaseUrl::parse`].
    pub(crate) fn new(allow_private: bool) -> Self {
        Self {
            allow_private,
            known: Mutex::default(),
        }
    }

    /// Parses a base URL like [`BaseUrl::parse`]. Only valid ones are cached.
    pub(crate) fn read(&self, text: &str) -> Result<BaseUrl, BaseUrlError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(base) = known.get(text) {
            return Ok(base.clone());
        }
        let base = BaseUrl::parse(text, self.allow_private)?;
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(text.to_owned(), base.clone());
        Ok(base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_base_url_equals_a_parsed_one() {
        let urls = BaseUrls::new(false);
        for text in ["https://api.example.com/v1", "http://api.example.com"] {
            let fresh = BaseUrl::parse(text, false);
            assert!(
                urls.read(text) == fresh && urls.read(text) == fresh,
                "{text}"
            );
        }
        assert!(BaseUrls::new(true).read("http://api.example.com").is_ok());
    }

    #[test]
    fn cache_is_bounded() {
        let urls = BaseUrls::new(false);
        for number in 0..2 * KNOWN_MAX {
            urls.read(&format!("https://{number}.example.com")).unwrap();
        }
        assert!(urls.known.lock().unwrap().len() <= KNOWN_MAX);
    }
}
