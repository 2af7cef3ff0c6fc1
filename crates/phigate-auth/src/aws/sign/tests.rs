//! Signatures compared with AWS's published ones, its Python library's, and its own signer's.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings};
use aws_sigv4::sign::v4::SigningParams;
use proptest::prelude::*;

use super::*;

const ID: &str = "AKIDEXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

/// 2015-08-30T12:36:00Z, the time in AWS's examples.
const MOMENT_S: i64 = 1_440_938_160;

/// The service of AWS's examples.
const PLAIN: Service = Service {
    name: "service",
    escapes_twice: true,
};

fn keys(session_token: Option<&str>) -> Keys {
    Keys::new(ID.to_owned(), SECRET.into(), session_token.map(Into::into))
}

/// Headers of a call, by name.
fn signed(
    (service, keys, moment_s): (Service, &Keys, i64),
    (method, uri): (&str, &str),
    headers: &[(&str, &str)],
    body: &str,
) -> Vec<(String, String)> {
    let call = ToSign {
        method,
        uri: &uri.parse().expect("the address is one"),
        headers,
        body: body.as_bytes(),
    };
    let now = Timestamp::from_second(moment_s).expect("it is a time");
    let headers = sign_for(service, &call, keys, "us-east-1", now).expect("it can be signed");
    let text = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
    headers
        .iter()
        .map(|(name, value)| (name.to_string(), text(value)))
        .collect()
}

fn named<'a>(headers: &'a [(String, String)], name: &str) -> &'a str {
    let header = headers.iter().find(|(known, _)| known == name);
    header.map(|(_, value)| value.as_str()).unwrap_or_default()
}

const TOKEN: &str = "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";

/// The published suite, without calls that the gateway never makes.
#[rustfmt::skip]
static PUBLISHED: &[Published] = &[
    // Name, method, path and query, headers, body, session token, signature.
    ("get-vanilla", "GET", "/", &[], "", None, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    ("post-vanilla", "POST", "/", &[], "", None, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    ("get-vanilla-query-order-key-case", "GET", "/?Param2=value2&Param1=value1", &[], "", None, "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
    ("post-header-key-sort", "POST", "/", &[("my-header1", "value1")], "", None, "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"),
    ("get-header-value-trim", "GET", "/", &[("my-header2", " \"a   b   c\""), ("my-header1", " value1")], "", None, "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"),
    ("post-x-www-form-urlencoded", "POST", "/", &[("content-type", "application/x-www-form-urlencoded")], "Param1=value1", None, "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
    ("post-sts-header-before", "POST", "/", &[], "", Some(TOKEN), "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"),
];

type Published = (
    &'static str,
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
    Option<&'static str>,
    &'static str,
);

#[test]
fn signatures_match_published_test_vectors() {
    for (name, method, target, headers, body, token, signature) in PUBLISHED {
        let uri = format!("https://example.amazonaws.com{target}");
        let how = (PLAIN, &keys(*token), MOMENT_S);
        let got = signed(how, (method, &uri), headers, body);
        let authorization = named(&got, "authorization");
        assert!(
            authorization.ends_with(&format!("Signature={signature}")),
            "{name}: {authorization}"
        );
        assert!(
            authorization
                .contains("Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request")
        );
        assert_eq!(named(&got, "x-amz-date"), "20150830T123600Z");
        assert_eq!(
            named(&got, "x-amz-security-token"),
            token.unwrap_or_default()
        );
    }
}

/// Computed with the signer of AWS's own Python library.
#[rustfmt::skip]
static BEDROCK: &[(&str, &str, Option<&str>, &str)] = &[
    // Address, body, session token, signature.
    ("https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-pro-v1:0/converse",
        "{\"messages\":[]}", None, "27b1add7bd20023ce8bf881e96b0f12beb82296fabff7ab0263d1adc70dc87e6"),
    ("https://bedrock-runtime.us-east-1.amazonaws.com/model/arn:aws:bedrock:us-east-1:123456789012:inference-profile%2Fus.anthropic.claude-sonnet-4-5-20250929-v1:0/converse-stream",
        "{\"messages\":[{\"role\":\"user\",\"content\":[{\"text\":\"Grüße\"}]}]}", None, "572a86bb9503846994c66bbe73391810b80a1565b77c84d448f1a9f1725ba735"),
    ("http://127.0.0.1:8443/proxy/model/meta.llama3-70b-instruct-v1:0/converse",
        "", Some("IQoJb3JpZ2luX2VjE+/A=="), "204ee55e35010d1f308236f2a629bd7426a7af6a6938171e9190646067e0f00e"),
];

#[test]
fn bedrock_signatures_equal_its_librarys() {
    for (uri, body, token, signature) in BEDROCK {
        let headers = [("content-type", "application/json")];
        let how = (OF_BEDROCK, &keys(*token), MOMENT_S);
        let got = signed(how, ("POST", uri), &headers, body);
        let authorization = named(&got, "authorization");
        assert!(authorization.ends_with(signature), "{uri}: {authorization}");
    }
}

/// Signature of the same call by AWS's own signer.
fn official(
    uri: &str,
    headers: &[(&str, &str)],
    (body, token): (&str, Option<&str>),
    moment_s: i64,
) -> Vec<(String, String)> {
    let token = token.map(str::to_owned);
    let identity = Credentials::new(ID, SECRET, token, None, "test").into();
    let now = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(moment_s.unsigned_abs());
    let params = SigningParams::builder()
        .identity(&identity)
        .region("us-east-1")
        .name(OF_BEDROCK.name)
        .time(now)
        .settings(SigningSettings::default())
        .build()
        .expect("nothing is missing")
        .into();
    let headers = headers.iter().copied();
    let body = SignableBody::Bytes(body.as_bytes());
    let request = SignableRequest::new("POST", uri, headers, body).expect("it can be signed");
    let output = aws_sigv4::http_request::sign(request, &params).expect("it can be signed");
    let (headers, _) = output.into_parts().0.into_parts();
    headers
        .iter()
        .map(|header| (header.name().to_owned(), header.value().to_owned()))
        .collect()
}

proptest! {
    /// Model ids as owners may write them, escaped as sent, with any body, token and day.
    #[test]
    fn signatures_equal_those_of_aws_sigv4(
        model in "[A-Za-z0-9._:/@-]{1,60}",
        proxy in "(/[a-z0-9~]{1,8}){0,2}",
        port in proptest::option::of(1u16..),
        body in ".{0,200}",
        token in proptest::option::of("[A-Za-z0-9+/=]{1,80}"),
        days in 0i64..40_000,
        second in 0i64..86_400,
    ) {
        // The client omits the scheme's default port, and so does `sign`; the other signer does not.
        prop_assume!(port != Some(443));
        // Addresses with a segment of dots are never made.
        prop_assume!(!model.chars().all(|letter| letter == '.'));
        let escaped = model.replace(':', "%3A").replace('/', "%2F").replace('@', "%40");
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        for model in [escaped, model.replace('/', "%2F")] {
            let uri = format!("https://bedrock-runtime.us-east-1.amazonaws.com{port}{proxy}/model/{model}/converse");
            let headers = [("content-type", "application/json")];
            let moment_s = days * 86_400 + second;
            let keys = keys(token.as_deref());
            let mut ours = signed((OF_BEDROCK, &keys, moment_s), ("POST", &uri), &headers, &body);
            let mut theirs = official(&uri, &headers, (&body, token.as_deref()), moment_s);
            ours.sort();
            theirs.sort();
            prop_assert_eq!(ours, theirs);
        }
    }
}
