//! Webhooks: a POST of JSON lines, signed with a shared secret over time and body.

use async_trait::async_trait;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Method, Uri};
use jiff::Timestamp;
use phigate_auth::webhook_signature;
use phigate_store::{ExportConfig, ExportedLine, SecretString};

use super::address::over_tls;
use super::http::{Call, Way};
use super::sink::{Problem, Sink, joined};
use super::target::{SecretForm, TargetKind};

/// Fewest characters of a secret.
const SECRET_CHARS_MIN: usize = 16;

/// Header with the signature.
const SIGNATURE: HeaderName = HeaderName::from_static("x-phigate-signature");

pub(super) static KIND: TargetKind = TargetKind {
    secret: Some(SecretForm {
        words: "the secret that signs its deliveries",
        check: check_secret,
    }),
    ..TargetKind::new(
        "https://",
        |config, allow_private| uri(config, allow_private).map(drop),
        open,
    )
};

struct Webhook {
    uri: Uri,
    secret: SecretString,
    way: Way,
}

fn check_secret(secret: &str) -> Result<(), String> {
    let length = secret.chars().count();
    if length < SECRET_CHARS_MIN {
        return Err(format!(
            "the secret on standard input has {length} characters: a webhook's has at least {SECRET_CHARS_MIN}"
        ));
    }
    Ok(())
}

fn uri(config: &ExportConfig, allow_private: bool) -> Result<Uri, String> {
    over_tls(KIND.rest(&config.to), allow_private)
}

fn open(
    config: &ExportConfig,
    secret: Option<SecretString>,
    way: &Way,
) -> Result<Box<dyn Sink>, Problem> {
    Ok(Box::new(Webhook {
        uri: uri(config, way.allow_private).map_err(Problem::new)?,
        secret: secret.ok_or_else(|| Problem::new("the target has no secret"))?,
        way: way.clone(),
    }))
}

#[async_trait]
impl Sink for Webhook {
    async fn deliver(&mut self, lines: &[ExportedLine]) -> Result<u64, Problem> {
        let body = joined(lines);
        // Signed at every try, so that a receiver can refuse old deliveries.
        let now = Timestamp::now().as_second();
        let signature = webhook_signature(self.secret.expose(), now, &body);
        let signature = HeaderValue::try_from(signature)
            .map_err(|_| Problem::new("the signature cannot be sent"))?;
        let kind = HeaderValue::from_static("application/x-ndjson");
        let call = Call {
            method: Method::POST,
            uri: &self.uri,
            headers: vec![(CONTENT_TYPE, kind), (SIGNATURE, signature)],
            body: Bytes::from(body),
        };
        self.way.call(call).await?;
        Ok(0)
    }
}
