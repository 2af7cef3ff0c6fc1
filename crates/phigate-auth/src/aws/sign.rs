//! Signature Version 4 of one call.
//!
//! A call of ours is simple: POST, no query, a handful of headers. So the text to sign is written here, and the key of
//! the day, which takes longer than the rest, is kept.

use std::sync::{Mutex, PoisonError};

use aws_credential_types::Credentials;
use aws_lc_rs::{digest, hmac};
use http::{HeaderName, HeaderValue};
use jiff::Timestamp;

use crate::call::ToSign;
use crate::error::{AuthError, Reason};

/// The name of Bedrock in signatures.
const SERVICE: &str = "bedrock";

/// The key that signatures of one day are made with.
#[derive(Default)]
pub(crate) struct DayKey(Mutex<Option<(String, String, hmac::Key)>>);

impl DayKey {
    /// The key of a day for these credentials and this region.
    fn get(&self, credentials: &Credentials, region: &str, day: &str) -> hmac::Key {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((id, of_day, key)) = kept.as_ref()
            && id == credentials.access_key_id()
            && of_day == day
        {
            return key.clone();
        }
        let secret = zeroize::Zeroizing::new(format!("AWS4{}", credentials.secret_access_key()));
        let mut key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        for part in [day, region, SERVICE, "aws4_request"] {
            key = hmac::Key::new(
                hmac::HMAC_SHA256,
                hmac::sign(&key, part.as_bytes()).as_ref(),
            );
        }
        let id = credentials.access_key_id().to_owned();
        *kept = Some((id, day.to_owned(), key.clone()));
        key
    }
}

/// The headers that sign a call.
pub(crate) fn sign(
    call: &ToSign<'_>,
    credentials: &Credentials,
    region: &str,
    key: &DayKey,
    now: Timestamp,
) -> Result<Vec<(HeaderName, HeaderValue)>, AuthError> {
    let stamp = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    let day = &stamp[..8];
    let host = host_of(call).ok_or(AuthError::Refused(Reason::BadSecret))?;
    let mut headers: Vec<(&str, &str)> = call.headers.to_vec();
    headers.push(("host", &host));
    headers.push(("x-amz-date", &stamp));
    headers.extend(
        credentials
            .session_token()
            .map(|token| ("x-amz-security-token", token)),
    );
    headers.sort_unstable();
    let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let canonical = canonical(call, &headers, &names);
    let scope = format!("{day}/{region}/{SERVICE}/aws4_request");
    let to_sign = format!(
        "AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{}",
        hash(canonical.as_bytes())
    );
    let key = key.get(credentials, region, day);
    let signature = hex(hmac::sign(&key, to_sign.as_bytes()).as_ref());
    let id = credentials.access_key_id();
    let authorization = format!(
        "AWS4-HMAC-SHA256 Credential={id}/{scope}, SignedHeaders={names}, Signature={signature}"
    );
    let mut signed = vec![
        ("x-amz-date", stamp.as_str()),
        ("authorization", &authorization),
    ];
    signed.extend(
        credentials
            .session_token()
            .map(|token| ("x-amz-security-token", token)),
    );
    signed.into_iter().map(header).collect()
}

fn header((name, value): (&'static str, &str)) -> Result<(HeaderName, HeaderValue), AuthError> {
    let unsendable = |_| AuthError::Refused(Reason::BadSecret);
    let mut value = HeaderValue::from_str(value).map_err(unsendable)?;
    value.set_sensitive(true);
    Ok((HeaderName::from_static(name), value))
}

/// The call as both sides write it down. The path is escaped once more: that is the rule for all services but S3.
fn canonical(call: &ToSign<'_>, headers: &[(&str, &str)], names: &str) -> String {
    let mut text = format!("{}\n", call.method);
    for (number, segment) in call.uri.path().split('/').enumerate() {
        if number > 0 {
            text.push('/');
        }
        text.push_str(&crate::fetch::escaped(segment));
    }
    text.push_str("\n\n");
    for (name, value) in headers {
        text.push_str(name);
        text.push(':');
        text.push_str(value.trim());
        text.push('\n');
    }
    text.push('\n');
    text.push_str(names);
    text.push('\n');
    text.push_str(&hash(call.body));
    text
}

/// The host as the client sends it: with its port, unless that is the scheme's own.
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

fn hash(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    let digits = bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    digits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authorization(uri: &str, body: &[u8], session: Option<&str>) -> Vec<(String, String)> {
        let credentials = Credentials::new(
            "AKIDEXAMPLE",
            "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            session.map(str::to_owned),
            None,
            "test",
        );
        let call = ToSign {
            method: "POST",
            uri: &uri.parse().expect("the address is one"),
            headers: &[("content-type", "application/json")],
            body,
        };
        // 2015-08-30T12:36:00Z, the day of AWS's own examples.
        let now = Timestamp::from_second(1_440_938_160).expect("it is a time");
        let headers = sign(&call, &credentials, "us-east-1", &DayKey::default(), now)
            .expect("it can be signed");
        let text = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
        headers
            .iter()
            .map(|(name, value)| (name.to_string(), text(value)))
            .collect()
    }

    /// Worked out apart from this program, with the signer of AWS's own Python library.
    #[test]
    fn signatures_are_the_known_ones() {
        for (uri, body, session, signature) in KNOWN {
            let headers = authorization(uri, body.as_bytes(), *session);
            let named = |name: &str| {
                let header = headers.iter().find(|(known, _)| known == name);
                header.map(|(_, value)| value.as_str()).unwrap_or_default()
            };
            assert_eq!(named("x-amz-date"), "20150830T123600Z");
            assert_eq!(named("x-amz-security-token"), session.unwrap_or_default());
            let signed = named("authorization");
            assert!(
                signed.ends_with(&format!("Signature={signature}")),
                "{uri}: {signed}"
            );
            assert!(
                signed.contains("Credential=AKIDEXAMPLE/20150830/us-east-1/bedrock/aws4_request")
            );
        }
    }

    static KNOWN: &[(&str, &str, Option<&str>, &str)] = &[
        // Address, body, session token, signature.
        (
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-pro-v1:0/converse",
            "{\"messages\":[]}",
            None,
            "27b1add7bd20023ce8bf881e96b0f12beb82296fabff7ab0263d1adc70dc87e6",
        ),
        (
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/arn:aws:bedrock:us-east-1:123456789012:inference-profile%2Fus.anthropic.claude-sonnet-4-5-20250929-v1:0/converse-stream",
            "{\"messages\":[{\"role\":\"user\",\"content\":[{\"text\":\"Grüße\"}]}]}",
            None,
            "572a86bb9503846994c66bbe73391810b80a1565b77c84d448f1a9f1725ba735",
        ),
        (
            "http://127.0.0.1:8443/proxy/model/meta.llama3-70b-instruct-v1:0/converse",
            "",
            Some("IQoJb3JpZ2luX2VjE+/A=="),
            "204ee55e35010d1f308236f2a629bd7426a7af6a6938171e9190646067e0f00e",
        ),
    ];
}
