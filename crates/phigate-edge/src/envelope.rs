//! Error bodies in the format of each door.

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, StatusCode};
use phigate_types::{Blame, ErrorCode, ErrorFormat};
use serde::Serialize;
use serde_json::{Map, Value};

/// Header on every response; its value is also the key of the audit record.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-gateway-request-id");

/// Error for a caller. Messages are fixed texts and never quote the request.
#[derive(Debug, Clone)]
pub struct ErrorBody {
    /// The status of the answer.
    pub status: StatusCode,
    /// `error.code`; `error.type` follows from it.
    pub code: ErrorCode,
    /// `error.param`: the place in the request, such as `messages[2].role`.
    pub param: Option<String>,
    /// `error.message`.
    pub message: Cow<'static, str>,
    /// Further fields of `error`, such as `phi_types`.
    pub extra: Map<String, Value>,
    /// Seconds for `Retry-After`.
    pub retry_after_s: Option<u64>,
    /// Body in OpenAI's format, serialised in advance, because refusals are frequent under load.
    pub written: Option<Bytes>,
}

impl ErrorBody {
    /// An error without `param` and without further fields.
    pub fn new(status: StatusCode, code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            status,
            code,
            param: None,
            message: message.into(),
            extra: Map::new(),
            retry_after_s: None,
            written: None,
        }
    }

    /// Body of the answer. Anthropic's format repeats the request id.
    pub fn to_json(&self, format: ErrorFormat, request_id: Option<&str>) -> Bytes {
        match format {
            ErrorFormat::OpenAi | ErrorFormat::Responses => json(&Envelope {
                error: self.inner(),
            }),
            ErrorFormat::Anthropic => json(&AnthropicEnvelope {
                kind: "error",
                error: AnthropicInner {
                    kind: self.anthropic_type(),
                    message: &self.message,
                    code: self.code.code(),
                    extra: &self.extra,
                },
                request_id,
            }),
        }
    }

    /// Body of the answer, from the serialised one if there is one.
    pub(crate) fn to_answer(&self, format: ErrorFormat, request_id: &str) -> Bytes {
        match &self.written {
            Some(written) if format == ErrorFormat::OpenAi => written.clone(),
            _ => self.to_json(format, Some(request_id)),
        }
    }

    /// Event of an error inside a stream, numbered if the format numbers events. The regular end of the stream must not
    /// follow it.
    pub fn to_event(&self, format: ErrorFormat, number: Option<u64>) -> Vec<u8> {
        let (head, data) = match format {
            ErrorFormat::OpenAi => ("data: ", self.to_json(format, None)),
            ErrorFormat::Anthropic => ("event: error\ndata: ", self.to_json(format, None)),
            ErrorFormat::Responses => {
                let event = ErrorEvent {
                    kind: "error",
                    inner: Inner {
                        kind: None,
                        ..self.inner()
                    },
                    sequence_number: number.unwrap_or_default(),
                };
                ("event: error\ndata: ", json(&event))
            }
        };
        [head.as_bytes(), data.as_ref(), b"\n\n"].concat()
    }

    fn inner(&self) -> Inner<'_> {
        Inner {
            message: &self.message,
            kind: Some(self.code.blame().word()),
            param: self.param.as_deref(),
            code: self.code.code(),
            extra: &self.extra,
        }
    }

    /// Anthropic's error type for the status.
    fn anthropic_type(&self) -> &'static str {
        match self.status.as_u16() {
            _ if self.code.blame() == Blame::Phi => Blame::Phi.word(),
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            503 => "overloaded_error",
            504 => "timeout_error",
            400..=499 => "invalid_request_error",
            _ => "api_error",
        }
    }
}

/// Rewrites an error into the format of its door. Other responses stay unchanged.
pub(crate) fn in_format(response: Response, format: ErrorFormat, request_id: &str) -> Response {
    let (mut parts, body) = response.into_parts();
    match parts.extensions.remove::<ErrorBody>() {
        Some(error) if format != ErrorFormat::OpenAi => {
            let body = error.to_json(format, Some(request_id));
            // The length was that of the other format.
            parts.headers.remove(CONTENT_LENGTH);
            Response::from_parts(parts, axum::body::Body::from(body))
        }
        _ => Response::from_parts(parts, body),
    }
}

fn json(value: &impl Serialize) -> Bytes {
    Bytes::from(serde_json::to_vec(value).expect("strings and JSON values always serialise"))
}

/// OpenAI's format; the edge rewrites it for doors with another.
impl IntoResponse for ErrorBody {
    fn into_response(self) -> Response {
        let written = self.written.clone();
        let body = written.unwrap_or_else(|| self.to_json(ErrorFormat::OpenAi, None));
        let mut response = Response::new(axum::body::Body::from(body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry_after_s {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(self);
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
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    param: Option<&'a str>,
    code: &'a str,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
}

/// Error event in a stream of the Responses API.
#[derive(Serialize)]
struct ErrorEvent<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(flatten)]
    inner: Inner<'a>,
    sequence_number: u64,
}

#[derive(Serialize)]
struct AnthropicEnvelope<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    error: AnthropicInner<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
}

#[derive(Serialize)]
struct AnthropicInner<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    message: &'a str,
    code: &'a str,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocked() -> ErrorBody {
        let mut error = ErrorBody::new(StatusCode::FORBIDDEN, ErrorCode::PhiBlocked, "blocked");
        error
            .extra
            .insert("phi_types".to_owned(), serde_json::json!(["ssn"]));
        error
    }

    const OPENAI: &str = r#"{"error":{"message":"blocked","type":"phi_error","param":null,"code":"phi_blocked","phi_types":["ssn"]}}"#;

    #[test]
    fn errors_have_the_format_of_their_door() {
        let anthropic = r#"{"type":"error","error":{"type":"phi_error","message":"blocked","code":"phi_blocked","phi_types":["ssn"]},"request_id":"r"}"#;
        for (format, body) in [
            (ErrorFormat::OpenAi, OPENAI),
            (ErrorFormat::Responses, OPENAI),
            (ErrorFormat::Anthropic, anthropic),
        ] {
            assert_eq!(blocked().to_json(format, Some("r")), body);
        }
    }

    #[test]
    fn error_events_have_the_doors_format() {
        let responses = r#"{"type":"error","message":"blocked","param":null,"code":"phi_blocked","phi_types":["ssn"],"sequence_number":7}"#;
        let anthropic = r#"{"type":"error","error":{"type":"phi_error","message":"blocked","code":"phi_blocked","phi_types":["ssn"]}}"#;
        for (format, event) in [
            (ErrorFormat::OpenAi, format!("data: {OPENAI}\n\n")),
            (
                ErrorFormat::Responses,
                format!("event: error\ndata: {responses}\n\n"),
            ),
            (
                ErrorFormat::Anthropic,
                format!("event: error\ndata: {anthropic}\n\n"),
            ),
        ] {
            assert_eq!(blocked().to_event(format, Some(7)), event.into_bytes());
        }
    }

    #[test]
    fn anthropic_errors_have_anthropics_types() {
        for (status, code, word) in [
            (400, ErrorCode::InvalidJson, "invalid_request_error"),
            (401, ErrorCode::MissingApiKey, "authentication_error"),
            (403, ErrorCode::PhiInReply, "phi_error"),
            (404, ErrorCode::ModelNotFound, "not_found_error"),
            (405, ErrorCode::MethodNotAllowed, "invalid_request_error"),
            (413, ErrorCode::RequestTooLarge, "request_too_large"),
            (429, ErrorCode::ProviderRateLimited, "rate_limit_error"),
            (500, ErrorCode::InternalError, "api_error"),
            (502, ErrorCode::ProviderError, "api_error"),
            (503, ErrorCode::ShuttingDown, "overloaded_error"),
            (504, ErrorCode::ProviderTimeout, "timeout_error"),
        ] {
            let status = StatusCode::from_u16(status).expect("it is a status");
            let error = ErrorBody::new(status, code, "x");
            assert_eq!(error.anthropic_type(), word, "{status}");
        }
    }
}
