//! Signature Version 4 of one call.
//!
//! Both sides write the call in one canonical form and sign the hash of that text. AWS's own signer is not used,
//! because it derives the key of the day for every call and takes twice the allowed time; tests compare with it.

use std::fmt::Write as _;

use aws_lc_rs::{digest, hmac};
use http::{HeaderName, HeaderValue};
use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::Keys;
use crate::call::ToSign;
use crate::error::{AuthError, Reason};

/// Name of a service in signatures, and the form of a path there.
#[derive(Clone, Copy)]
pub(super) struct Service {
    pub(super) name: &'static str,
    /// Whether a path is escaped once more before it is signed: every service but S3 requires this.
    escapes_twice: bool,
}

const OF_BEDROCK: Service = Service {
    name: "bedrock",
    escapes_twice: true,
};

pub(super) const OF_S3: Service = Service {
    name: "s3",
    escapes_twice: false,
};

/// Characters that are escaped in a path before it is signed: all but letters, digits, `-._~` and slashes. An address
/// is escaped already, so `%` becomes `%25`.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'/')
    .remove(b'_')
    .remove(b'~');

/// Headers that sign a call.
pub(crate) fn sign(
    call: &ToSign<'_>,
    keys: &Keys,
    region: &str,
    now: Timestamp,
) -> Result<Vec<(HeaderName, HeaderValue)>, AuthError> {
    sign_for(OF_BEDROCK, call, keys, region, now)
}

pub(super) fn sign_for(
    service: Service,
    call: &ToSign<'_>,
    keys: &Keys,
    region: &str,
    now: Timestamp,
) -> Result<Vec<(HeaderName, HeaderValue)>, AuthError> {
    let stamp = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    let (day, _) = stamp.split_once('T').unwrap_or_default();
    let scope = format!("{day}/{region}/{}/aws4_request", service.name);
    let token = keys
        .session_token()
        .map(|token| ("x-amz-security-token", token));
    let host = host_of(call).ok_or(AuthError::Refused(Reason::BadSecret))?;
    let mut covered: Vec<(&str, &str)> = call.headers.to_vec();
    covered.extend([("host", host.as_str()), ("x-amz-date", &stamp)]);
    covered.extend(token);
    covered.sort_unstable();
    let names: Vec<&str> = covered.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let written = hash(canonical(service, call, &covered, &names).as_bytes());
    let text = format!("AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{written}");
    let signature = hex(hmac::sign(&keys.signing_key(&scope), text.as_bytes()).as_ref());
    let authorization = format!(
        "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
        keys.id()
    );
    let shown = [
        ("x-amz-date", stamp.as_str()),
        ("authorization", &authorization),
    ];
    shown.into_iter().chain(token).map(header).collect()
}

fn header((name, value): (&'static str, &str)) -> Result<(HeaderName, HeaderValue), AuthError> {
    let unsendable = |_| AuthError::Refused(Reason::BadSecret);
    let mut value = HeaderValue::from_str(value).map_err(unsendable)?;
    value.set_sensitive(true);
    Ok((HeaderName::from_static(name), value))
}

/// Canonical form of the call.
fn canonical(service: Service, call: &ToSign<'_>, headers: &[(&str, &str)], names: &str) -> String {
    let mut text = format!("{}\n", call.method);
    match service.escapes_twice {
        true => text.extend(utf8_percent_encode(call.uri.path(), ESCAPED)),
        false => text.push_str(call.uri.path()),
    }
    text.push('\n');
    push_query(&mut text, call.uri.query().unwrap_or_default());
    text.push('\n');
    for (name, value) in headers {
        text.push_str(name);
        text.push(':');
        // Spaces around a value are removed, and several inside become one.
        let words = value.split(' ').filter(|word| !word.is_empty());
        for (number, word) in words.enumerate() {
            if number > 0 {
                text.push(' ');
            }
            text.push_str(word);
        }
        text.push('\n');
    }
    let body = hash(call.body);
    let _ = write!(text, "\n{names}\n{body}");
    text
}

/// Appends the query, sorted. Its values were escaped when the address was made.
fn push_query(text: &mut String, query: &str) {
    let mut pairs: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
    pairs.sort_unstable();
    for (number, pair) in pairs.into_iter().enumerate() {
        if number > 0 {
            text.push('&');
        }
        text.push_str(pair);
        if !pair.contains('=') {
            text.push('=');
        }
    }
}

/// Host as the client sends it: with its port, unless it is the scheme's default.
fn host_of(call: &ToSign<'_>) -> Option<String> {
    let host = call.uri.host()?;
    let own = match call.uri.scheme_str() {
        Some("https") => 443,
        _ => 80,
    };
    Some(match call.uri.port_u16().filter(|port| *port != own) {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

pub(super) fn hash(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

#[cfg(test)]
mod tests;
