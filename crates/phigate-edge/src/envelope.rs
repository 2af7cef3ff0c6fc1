//! The OpenAI error envelope, as every refusal of the service is written.

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use phigate_types::ErrorCode;
use serde::Serialize;
use serde_json::{Map, Value};

/// One error as a caller sees it. Messages are ours: they never quote what the caller sent.
#[derive(Debug, Clone)]
pub struct ErrorBody {
    /// The status of the answer.
    pub status: StatusCode,
    /// `error.code`; who is to blame, `error.type`, follows from it.
    pub code: ErrorCode,
    /// `error.param`: the place in the request, such as `messages[2].role`.
    pub param: Option<String>,
    /// `error.message`.
    pub message: Cow<'static, str>,
    /// Further fields of `error`, such as `phi_types`.
    pub extra: Map<String, Value>,
    /// Seconds for `Retry-After`.
    pub retry_after_s: Option<u64>,
}

impl ErrorBody {
    /// An error without a place and without further fields.
    pub fn new(status: StatusCode, code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            status,
            code,
            param: None,
            message: message.into(),
            extra: Map::new(),
            retry_after_s: None,
        }
    }

    /// The envelope's bytes, for a body or for an error event of a stream.
    pub fn to_json(&self) -> Bytes {
        let envelope = Envelope {
            error: Inner {
                message: &self.message,
                kind: self.code.blame().word(),
                param: self.param.as_deref(),
                code: self.code.code(),
                extra: &self.extra,
            },
        };
        Bytes::from(
            serde_json::to_vec(&envelope).expect("strings and JSON values always serialise"),
        )
    }
}

impl IntoResponse for ErrorBody {
    fn into_response(self) -> Response {
        let mut response = Response::new(axum::body::Body::from(self.to_json()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry_after_s {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

#[derive(Serialize)]
struct Envelope<'a> {
    error: Inner<'a>,
}

#[derive(Serialize)]
struct Inner<'a> {
    message: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    param: Option<&'a str>,
    code: &'a str,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_envelope_has_openais_four_fields_and_ours_after_them() {
        let mut error = ErrorBody::new(StatusCode::FORBIDDEN, ErrorCode::PhiBlocked, "blocked");
        error
            .extra
            .insert("phi_types".to_owned(), serde_json::json!(["ssn"]));
        assert_eq!(
            error.to_json(),
            r#"{"error":{"message":"blocked","type":"phi_error","param":null,"code":"phi_blocked","phi_types":["ssn"]}}"#
        );
    }
}
