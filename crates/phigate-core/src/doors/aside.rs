//! Forwarding of a caller's headers: only those that belong to the format.

use phi_detect::{Finding, Findings};
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
    /// Selects the headers to forward. `header` gives the values of a header in order; `find` finds PHI in a
    /// text. A header that is not a word of the protocol, or that holds PHI, is refused: it can neither be
    /// masked nor left out.
    pub fn aside<'h>(
        &self,
        header: impl Fn(&'static str) -> Vec<&'h [u8]>,
        query: Option<&str>,
        find: impl Fn(&str) -> Findings,
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
            let is_version = |found: &Finding| is_version(found, &text);
            if !is_taken || !find(&text).iter().all(is_version) {
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

/// Year of the first version that a header of a protocol names.
const FIRST_VERSION: &str = "2023";

/// Whether a finding is the date of a version (`2023-06-01`), which concerns no person. A date of birth is not.
fn is_version(found: &Finding, text: &str) -> bool {
    let value = text.get(found.span.clone()).unwrap_or_default();
    let mut parts = value.split('-');
    let is_figures = |part: Option<&str>, length: usize| {
        part.is_some_and(|part| {
            part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let is_date = [4, 2, 2].map(|length| is_figures(parts.next(), length)) == [true; 3];
    !found.kind.is_core() && is_date && parts.next().is_none() && value >= FIRST_VERSION
}

#[cfg(test)]
mod tests {
    use phi_detect::{Detector, Profile};

    use crate::doors::MESSAGES;

    #[test]
    fn version_of_the_protocol_is_no_finding() {
        let detector = Detector::default().with_profile(Profile::SafeHarbor);
        let passes = |version: &str| {
            let values = |name| match name {
                "anthropic-version" => vec![version.as_bytes()],
                _ => Vec::new(),
            };
            let find = |text: &str| detector.scan_field("visit date", text);
            MESSAGES.aside(values, None, find).is_ok()
        };
        assert!(!detector.scan_field("visit date", "2023-06-01").is_empty());
        assert!(passes("2023-06-01") && passes("2024-11-30"));
        assert!(!passes("1961-06-01"));
    }
}
