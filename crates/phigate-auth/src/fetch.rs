//! What is asked of whoever has connections.

use async_trait::async_trait;

use crate::secret::Secret;

/// The most that is read of an answer. Tokens are a few thousand bytes.
pub(crate) const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// A small request for a token or for credentials.
#[derive(Debug)]
pub struct Ask {
    /// GET, POST or PUT.
    pub method: Method,
    /// The whole address.
    pub url: String,
    /// Whose address that is.
    pub place: Place,
    /// Headers beside those of HTTP itself.
    pub headers: Vec<(&'static str, Secret)>,
    /// A form to post.
    pub form: Option<Secret>,
    /// The most bytes to read of the answer; a longer one is unreadable.
    pub answer_bytes_max: usize,
}

/// A request's method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// GET
    Get,
    /// POST
    Post,
    /// PUT
    Put,
}

/// Whose address is asked: rules about private addresses differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A token endpoint: the same rules as for providers.
    Endpoint,
    /// A service of the machine itself, named by its operator's variables or known by its fixed address. These are
    /// private by nature and speak plain HTTP.
    Machine,
}

/// What came back.
#[derive(Clone)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The endpoint's own time, as its `Date` header says.
    pub date: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

/// Bodies hold tokens: only their length shows.
impl std::fmt::Debug for Answer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Answer({}, {} bytes)", self.status, self.body.len())
    }
}

/// Why nothing came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// No connection, or none that is allowed.
    #[error("cannot be reached")]
    Unreachable,
    /// Not in time.
    #[error("took too long")]
    Timeout,
    /// Too long, a redirect, or broken off.
    #[error("cannot be read")]
    Unreadable,
}

/// Whoever has connections: checks addresses, follows no redirect, and bounds time and size.
#[async_trait]
pub trait Fetch: Send + Sync {
    /// Asks.
    async fn fetch(&self, ask: Ask) -> Result<Answer, FetchError>;
}

impl Ask {
    /// A GET.
    pub(crate) fn get(place: Place, url: impl Into<String>) -> Self {
        Self {
            method: Method::Get,
            url: url.into(),
            place,
            headers: Vec::new(),
            form: None,
            answer_bytes_max: ANSWER_BYTES_MAX,
        }
    }

    /// A form, posted.
    pub(crate) fn form(url: impl Into<String>, fields: &[(&str, &str)]) -> Self {
        Self {
            method: Method::Post,
            form: Some(encode_form(fields)),
            ..Self::get(Place::Endpoint, url)
        }
    }

    /// With a header more.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Secret>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// Fields as `application/x-www-form-urlencoded`.
fn encode_form(fields: &[(&str, &str)]) -> Secret {
    let pairs: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{name}={}", escaped(value)))
        .collect();
    Secret::new(pairs.join("&"))
}

/// A value as it stands in a form or a query.
pub(crate) fn escaped(value: &str) -> String {
    percent_encoding::utf8_percent_encode(value, ESCAPED).to_string()
}

const ESCAPED: &percent_encoding::AsciiSet = &percent_encoding::NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
