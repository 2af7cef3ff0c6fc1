//! What the edge refuses before a handler has a say, one row each.

use axum::response::{IntoResponse, Response};
use http::header::ALLOW;
use http::{HeaderValue, StatusCode};

use super::envelope::ErrorBody;

const CALLER: &str = "invalid_request_error";
const RATE: &str = "rate_limit_error";
const US: &str = "gateway_error";

/// Why the edge refused. The connection closes after the ones about HTTP itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EdgeError {
    Framing,
    RepeatedHeader,
    MalformedHead,
    MissingHost,
    TwoHosts,
    TargetForm,
    Upgrade,
    MethodRefused,
    UriTooLong,
    HeadersTooLarge,
    VersionRefused,
    Expectation,
    ContentEncoding,
    HeadTimeout,
    BodyTimeout,
    BodyBroken,
    BodyTooLarge,
    BodyUnproven,
    BodiesInFlight,
    TooManyRequests,
    Draining,
    NotFound,
    MethodNotAllowed,
    Panicked,
}

type Row = (EdgeError, u16, &'static str, &'static str, &'static str);

#[rustfmt::skip] // one row a line
const ROWS: &[Row] = &[
    // In the order of the enum, so that a refusal can travel as its number.
    (EdgeError::Framing, 400, CALLER, "invalid_http", "the length of the request is ambiguous: send Content-Length or Transfer-Encoding: chunked, once"),
    (EdgeError::RepeatedHeader, 400, CALLER, "invalid_http", "a header that may stand only once is repeated"),
    (EdgeError::MalformedHead, 400, CALLER, "invalid_http", "the request line or a header is malformed"),
    (EdgeError::MissingHost, 400, CALLER, "invalid_http", "the Host header is missing"),
    (EdgeError::TwoHosts, 400, CALLER, "invalid_http", "the Host header and the request target name different hosts"),
    (EdgeError::TargetForm, 400, CALLER, "invalid_http", "the request target must be a path: this is no proxy"),
    (EdgeError::Upgrade, 400, CALLER, "invalid_http", "protocol upgrades are not offered"),
    (EdgeError::MethodRefused, 405, CALLER, "method_not_allowed", "this method is not served"),
    (EdgeError::UriTooLong, 414, CALLER, "uri_too_long", "the request target is too long"),
    (EdgeError::HeadersTooLarge, 431, CALLER, "headers_too_large", "the request has too many or too large headers"),
    (EdgeError::VersionRefused, 505, CALLER, "invalid_http", "this version of HTTP is not served"),
    (EdgeError::Expectation, 417, CALLER, "invalid_http", "only Expect: 100-continue is understood"),
    (EdgeError::ContentEncoding, 415, CALLER, "unsupported_media_type", "send the body without Content-Encoding: compressed requests are not accepted"),
    (EdgeError::HeadTimeout, 408, CALLER, "request_timeout", "the headers of the request did not arrive in time"),
    (EdgeError::BodyTimeout, 408, CALLER, "request_timeout", "the body of the request did not arrive in time"),
    (EdgeError::BodyBroken, 400, CALLER, "invalid_http", "the body of the request ended early or is framed wrongly"),
    (EdgeError::BodyTooLarge, 413, CALLER, "request_too_large", "the body of the request is too large"),
    (EdgeError::BodyUnproven, 400, CALLER, "invalid_http", "a body of this size needs its form token in front"),
    (EdgeError::BodiesInFlight, 429, RATE, "rate_limit_exceeded", "too much is being received at the moment: try again shortly"),
    (EdgeError::TooManyRequests, 429, RATE, "rate_limit_exceeded", "too many requests at the moment: try again shortly"),
    (EdgeError::Draining, 503, US, "shutting_down", "the gateway is shutting down: try again shortly"),
    (EdgeError::NotFound, 404, CALLER, "not_found", "there is nothing at this path"),
    (EdgeError::MethodNotAllowed, 405, CALLER, "method_not_allowed", "this path does not answer to this method"),
    (EdgeError::Panicked, 500, US, "internal_error", "the gateway failed while answering: quote the request id when reporting it"),
];

impl EdgeError {
    /// The envelope of this refusal.
    pub(crate) fn body(self) -> ErrorBody {
        let (_, status, kind, code, message) = ROWS[self as usize];
        let status = StatusCode::from_u16(status).expect("the table holds real statuses");
        let mut body = ErrorBody::new(status, kind, code, message);
        body.retry_after_s = match self {
            Self::BodiesInFlight | Self::TooManyRequests => Some(1),
            Self::Draining => Some(5),
            _ => None,
        };
        body
    }

    /// Its number in the table, for the way from the connection to the service.
    pub(super) fn number(self) -> usize {
        self as usize
    }

    pub(super) fn from_number(number: usize) -> Option<Self> {
        ROWS.get(number).map(|row| row.0)
    }
}

impl IntoResponse for EdgeError {
    fn into_response(self) -> Response {
        let mut response = self.body().into_response();
        if self == Self::MethodRefused {
            response
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static("GET, HEAD, POST"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_stands_at_its_own_number() {
        for (number, row) in ROWS.iter().enumerate() {
            assert_eq!(row.0.number(), number, "{:?}", row.0);
            assert_eq!(EdgeError::from_number(number), Some(row.0));
        }
    }
}
