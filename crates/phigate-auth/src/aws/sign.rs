//! Signature Version 4 of one call.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_lc_rs::digest;
use aws_sigv4::http_request::{
    SignableBody, SignableRequest, SigningSettings, sign as sign_request,
};
use aws_sigv4::sign::v4;
use http::{HeaderName, HeaderValue};

use crate::call::ToSign;
use crate::error::{AuthError, Reason};

/// The name of Bedrock in signatures.
const SERVICE: &str = "bedrock";

/// The headers that sign a call.
///
/// The body's hash is made here: the signer's log lines could otherwise hold the body.
pub(crate) fn sign(
    call: &ToSign<'_>,
    credentials: &Credentials,
    region: &str,
    now: SystemTime,
) -> Result<Vec<(HeaderName, HeaderValue)>, AuthError> {
    let unsignable = || AuthError::Refused(Reason::BadSecret);
    let identity = credentials.clone().into();
    let params = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name(SERVICE)
        .time(now)
        .settings(SigningSettings::default())
        .build()
        .map_err(|_| unsignable())?
        .into();
    let body = SignableBody::Precomputed(hex(digest::digest(&digest::SHA256, call.body).as_ref()));
    let headers = call.headers.iter().copied();
    let request = SignableRequest::new(call.method, call.uri.to_string(), headers, body)
        .map_err(|_| unsignable())?;
    let output = sign_request(request, &params).map_err(|_| unsignable())?;
    let (headers, _) = output.into_parts().0.into_parts();
    headers
        .iter()
        .map(|header| {
            let mut value = HeaderValue::from_str(header.value()).map_err(|_| unsignable())?;
            value.set_sensitive(true);
            Ok((HeaderName::from_static(header.name()), value))
        })
        .collect()
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
    use std::time::Duration;

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
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_440_938_160);
        let headers = sign(&call, &credentials, "us-east-1", now).expect("it can be signed");
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
