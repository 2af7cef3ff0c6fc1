//! A call as far as a signature covers it.

use http::Uri;

/// What is signed.
pub struct ToSign<'a> {
    /// Its method.
    pub method: &'a str,
    /// Its whole address, as it is sent.
    pub uri: &'a Uri,
    /// Headers that the signature covers, besides the host.
    pub headers: &'a [(&'a str, &'a str)],
    /// Its body.
    pub body: &'a [u8],
}
