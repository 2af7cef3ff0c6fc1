//! Requests for tokens, and the trait that sends them.

use async_trait::async_trait;

use crate::secret::Secret;

/// Largest answer that is read. Tokens are a few thousand bytes.
pub(crate) const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Small request for a token or for credentials.
#[derive(Debug)]
pub struct Ask {
    /// GET, POST or PUT.
    pub method: Method,
    /// Complete address.
    pub url: String,
    /// Owner of the address.
    pub place: Place,
    /// Headers besides those of HTTP itself.
    pub headers: Vec<(&'static str, Secret)>,
    /// Form to post.
    pub form: Option<Secret>,
    /// Largest answer in bytes; a longer one is unreadable.
    pub answer_bytes_max: usize,
}

/// Method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// GET
    Get,
    /// POST
    Post,
    /// PUT
    Put,
}

/// Owner of an address: rules about private addresses differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A token endpoint, with the rules of providers.
    Endpoint,
    /// A service of the machine itself, named by its operator's variables or known by its fixed address. It is private
    /// by nature and speaks plain HTTP.
    Machine,
}

/// Answer of an endpoint.
#[derive(Clone)]
pub struct Answer {
    /// Status.
    pub status: u16,
    /// The endpoint's time, from its `Date` header.
    pub date: Option<String>,
    /// Body.
    pub body: Vec<u8>,
}

/// Shows only the body's length, because bodies contain tokens.
impl std::fmt::Debug for Answer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Answer({}, {} bytes)", self.status, self.body.len())
    }
}

/// Reason why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// No connection, or none that is allowed.
    #[error("cannot be reached")]
    Unreachable,
    /// Timeout.
    #[error("took too long")]
    Timeout,
    /// Too long, a redirect, or broken off.
    #[error("cannot be read")]
    Unreadable,
}

/// HTTP client of the gateway: checks addresses, follows no redirect, and bounds time and size.
#[async_trait]
pub trait Fetch: Send + Sync {
    /// Sends the request.
    async fn fetch(&self, ask: Ask) -> Result<Answer, FetchError>;
}

impl Ask {
    /// A GET request.
    pub fn get(place: Place, url: impl Into<String>) -> Self {
        Self {
            method: Method::Get,
            url: url.into(),
            place,
            headers: Vec::new(),
            form: None,
            answer_bytes_max: ANSWER_BYTES_MAX,
        }
    }

    /// A POST request with a form.
    pub fn form(url: impl Into<String>, fields: &[(&str, &str)]) -> Self {
        Self {
            method: Method::Post,
            form: Some(encode_form(fields)),
            ..Self::get(Place::Endpoint, url)
        }
    }

    /// Adds a header.
    pub fn with(mut self, name: &'static str, value: impl Into<Secret>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// Encodes fields as `application/x-www-form-urlencoded`.
fn encode_form(fields: &[(&str, &str)]) -> Secret {
    let pairs: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{name}={}", escaped(value)))
        .collect();
    Secret::new(pairs.join("&"))
}

/// Escapes a value for a form or a query.
pub fn escaped(value: &str) -> String {
    percent_encoding::utf8_percent_encode(value, ESCAPED).to_string()
}

const ESCAPED: &percent_encoding::AsciiSet = &percent_encoding::NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
