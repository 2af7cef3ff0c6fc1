//! Refusals of the edge, one row each.

use axum::response::{IntoResponse, Response};
use http::header::ALLOW;
use http::{HeaderValue, StatusCode};
use phigate_types::ErrorCode;

use crate::envelope::ErrorBody;

/// Declares the enum and its table from one list, so that a refusal can be passed on as its number.
macro_rules! edge_errors {
    ($($name:ident $status:literal $code:ident $message:literal;)*) => {
        /// Reason of a refusal. Refusals for malformed HTTP close the connection.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum EdgeError {
            $(#[doc = $message] $name,)*
        }

        const ROWS: &[(EdgeError, u16, ErrorCode, &str)] = &[
            $((EdgeError::$name, $status, ErrorCode::$code, $message),)*
        ];
    };
}

edge_errors! {
    // Variant, status, code, message.
    Framing 400 InvalidHttp "the length of the request is ambiguous: send Content-Length or Transfer-Encoding: chunked, once";
    RepeatedHeader 400 InvalidHttp "a header that may appear only once is repeated";
    MalformedHead 400 InvalidHttp "the request line or a header is malformed";
    MissingHost 400 InvalidHttp "the Host header is missing";
    TwoHosts 400 InvalidHttp "the Host header and the request target name different hosts";
    TargetForm 400 InvalidHttp "the request target must be a path: absolute-form targets are not accepted";
    Upgrade 400 InvalidHttp "protocol upgrades are not offered";
    MethodRefused 405 MethodNotAllowed "this method is not served";
    UriTooLong 414 UriTooLong "the request target is too long";
    HeadersTooLarge 431 HeadersTooLarge "the request has too many headers, or they are too large";
    VersionRefused 505 InvalidHttp "this version of HTTP is not served";
    Expectation 417 InvalidHttp "only Expect: 100-continue is understood";
    ContentEncoding 415 UnsupportedMediaType "send the body without Content-Encoding: compressed requests are not accepted";
    HeadTimeout 408 RequestTimeout "the headers of the request did not arrive in time";
    BodyTimeout 408 RequestTimeout "the body of the request did not arrive in time";
    BodyBroken 400 InvalidHttp "the body of the request ended early or is framed wrongly";
    BodyTooLarge 413 RequestTooLarge "the body of the request is too large";
    BodyUnproven 400 InvalidHttp "a body of this size needs its form token in front";
    BodiesInFlight 429 RateLimitExceeded "too much is being received at the moment: try again shortly";
    TooManyRequests 429 RateLimitExceeded "too many requests at the moment: try again shortly";
    Draining 503 ShuttingDown "the gateway is shutting down: try again shortly";
    NotFound 404 NotFound "there is nothing at this path";
    MethodNotAllowed 405 MethodNotAllowed "this path does not support this method";
    Panicked 500 InternalError "the gateway failed while answering: quote the request id when reporting it";
}

impl EdgeError {
    /// Status of the answer.
    pub fn status(self) -> StatusCode {
        StatusCode::from_u16(ROWS[self as usize].1).expect("the table holds real statuses")
    }

    /// Error code.
    pub fn code(self) -> ErrorCode {
        ROWS[self as usize].2
    }

    /// Message for the caller.
    pub(crate) fn message(self) -> &'static str {
        ROWS[self as usize].3
    }

    /// Error body of this refusal.
    pub fn body(self) -> ErrorBody {
        let mut body = ErrorBody::new(self.status(), self.code(), self.message());
        body.retry_after_s = match self {
            Self::BodiesInFlight | Self::TooManyRequests => Some(1),
            Self::Draining => Some(5),
            _ => None,
        };
        body
    }

    /// Row number, by which the guard passes the refusal to the service.
    pub(crate) fn number(self) -> usize {
        self as usize
    }

    pub(crate) fn from_number(number: usize) -> Option<Self> {
        ROWS.get(number).map(|row| row.0)
    }
}

impl IntoResponse for EdgeError {
    fn into_response(self) -> Response {
        let mut response = self.body().into_response();
        // For the log: answers of handlers have their own line.
        response.extensions_mut().insert(self);
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
    fn every_error_has_its_row_number() {
        for (number, row) in ROWS.iter().enumerate() {
            assert_eq!(row.0.number(), number, "{:?}", row.0);
            assert_eq!(EdgeError::from_number(number), Some(row.0));
        }
    }
}
