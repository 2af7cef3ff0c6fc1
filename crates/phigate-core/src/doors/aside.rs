//! Forwarding of a caller's headers: only those that belong to the format.

use phigate_types::ErrorCode;

use crate::request::{Aside, RequestError};

use super::Door;

/// A header that belongs to a format.
pub struct PassedHeader {
    /// Name of the header.
    pub name: &'static str,
    /// Whether a value is a word of the protocol.
    pub(crate) is_valid: fn(&str) -> bool,
}

/// The longest value of a header that is passed on.
const VALUE_BYTES_MAX: usize = 2048;

impl Door {
    /// Selects the headers to forward. `header` gives the values of a header in order; `is_clean` says whether a text
    /// holds no PHI. A header that is not a word of the protocol, or that holds PHI, is refused: it can neither be
    /// masked nor left out.
    pub fn aside<'h>(
        &self,
        header: impl Fn(&'static str) -> Vec<&'h [u8]>,
        query: Option<&str>,
        is_clean: impl Fn(&str) -> bool,
    ) -> Result<Aside, RequestError> {
        let mut aside = Aside {
            headers: Vec::new(),
            query: self.query(query),
        };
        for passed in self.headers {
            let values = header(passed.name);
            if values.is_empty() {
                continue;
            }
            let joined = values.join(&b","[..]);
            let text = String::from_utf8(joined).unwrap_or_default();
            let is_taken = text.len() <= VALUE_BYTES_MAX && (passed.is_valid)(&text);
            if !is_taken || !is_clean(&text) {
                let message = format!("the header {} has a value that is not allowed", passed.name);
                return Err(RequestError::field(
                    ErrorCode::InvalidValue,
                    passed.name,
                    message,
                ));
            }
            aside.headers.push((passed.name, text));
        }
        Ok(aside)
    }

    /// The one query that has a meaning here.
    fn query(&self, query: Option<&str>) -> Option<&'static str> {
        let pieces = || query.unwrap_or_default().split('&');
        let known = self.queries.iter().copied();
        known
            .into_iter()
            .find(|known| pieces().any(|piece| piece == *known))
    }
}
