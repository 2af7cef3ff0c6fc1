//! The parts of a call that a signature covers.

use http::Uri;

/// A call to sign.
pub struct ToSign<'a> {
    /// Method.
    pub method: &'a str,
    /// Complete address, as sent.
    pub uri: &'a Uri,
    /// Headers that the signature covers, besides the host.
    pub headers: &'a [(&'a str, &'a str)],
    /// Body.
    pub body: &'a [u8],
}
