//! Error codes: every `error.code` that a caller can receive.
//!
//! One vocabulary for the edge, the request reader, the gateway and providers' failures. Clients match on these words,
//! so a code is never changed.

use crate::code::coded;

/// Party to blame, by which `error.type` is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The caller.
    Request,
    /// PHI in a forbidden place.
    Phi,
    /// A rate limit.
    Rate,
    /// The provider.
    Provider,
    /// phigate itself.
    Gateway,
}

impl Blame {
    /// Every party.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        [
            Self::Request,
            Self::Phi,
            Self::Rate,
            Self::Provider,
            Self::Gateway,
        ]
        .into_iter()
    }

    /// Text of `error.type`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Request => "invalid_request_error",
            Self::Phi => "phi_error",
            Self::Rate => "rate_limit_error",
            Self::Provider => "provider_error",
            Self::Gateway => "gateway_error",
        }
    }
}

macro_rules! error_codes {
    ($($name:ident $code:literal $blame:ident $status:literal $words:literal;)*) => {
        /// Reason why a request failed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ErrorCode {
            $(#[doc = $words] $name,)*
        }

        const ROWS: &[(ErrorCode, &str, Blame, u16, &str)] = &[
            $((ErrorCode::$name, $code, Blame::$blame, $status, $words),)*
        ];
    };
}

error_codes! {
    // Alphabetical by code: variant, code, blame, usual status, meaning.
    AuditUnavailable "audit_unavailable" Gateway 503 "The audit record could not be written, so nothing was forwarded.";
    ClientDisconnected "client_disconnected" Request 499 "The caller left before the answer was complete.";
    ContentFilter "content_filter" Request 400 "The provider's content filter refused the request.";
    DetectorUnavailable "detector_unavailable" Gateway 503 "The request could not be scanned, so nothing was forwarded.";
    DuplicateKey "duplicate_key" Request 400 "An object in the body has the same key twice.";
    HeadersTooLarge "headers_too_large" Request 431 "Too many headers, or headers too large.";
    InternalError "internal_error" Gateway 500 "The gateway failed while answering.";
    Interrupted "interrupted" Gateway 500 "The gateway stopped before the outcome was known.";
    InvalidApiKey "invalid_api_key" Request 401 "The API key is malformed, unknown, revoked or expired.";
    InvalidHttp "invalid_http" Request 400 "The HTTP request is ambiguous, malformed or of a kind that is not served.";
    InvalidJson "invalid_json" Request 400 "The body is not JSON.";
    InvalidType "invalid_type" Request 400 "A field has a value of the wrong type.";
    InvalidValue "invalid_value" Request 400 "A field has a value that is not allowed.";
    MethodNotAllowed "method_not_allowed" Request 405 "The path does not support this method.";
    MissingApiKey "missing_api_key" Request 401 "There is no API key: send it in Authorization or in x-api-key.";
    MissingRequiredParameter "missing_required_parameter" Request 400 "A required field is missing.";
    ModelNotFound "model_not_found" Request 404 "No provider serves the model.";
    NotFound "not_found" Request 404 "There is nothing at this path.";
    PermissionDenied "permission_denied" Request 403 "The role of the admin key does not allow this.";
    PhiBlocked "phi_blocked" Phi 403 "PHI was found and the caller's policy blocks it.";
    PhiInReply "phi_in_reply" Phi 403 "The reply holds PHI that was not in the request, and the account withholds such replies.";
    PhiNotRewritable "phi_not_rewritable" Request 400 "PHI is in a place where it cannot be replaced without breaking the document.";
    PolicyUnavailable "policy_unavailable" Gateway 503 "A stored level of the account's policy cannot be read, so nothing was forwarded.";
    PreconditionFailed "precondition_failed" Request 412 "The entry is not as If-Match or If-None-Match says.";
    ProviderAuthFailed "provider_auth_failed" Provider 502 "The provider refused the account's key.";
    ProviderError "provider_error" Provider 502 "The provider failed or gave an answer that cannot be read.";
    ProviderNotConfigured "provider_not_configured" Request 400 "The model's provider has no key yet.";
    ProviderNotCovered "provider_not_covered" Phi 403 "PHI was found, and no provider of the model may have it under its agreement.";
    ProviderOverloaded "provider_overloaded" Provider 503 "The provider is overloaded.";
    ProviderRateLimited "provider_rate_limited" Rate 429 "The provider's rate limit is reached.";
    ProviderRejected "provider_rejected" Request 400 "The provider rejected the request.";
    ProviderTimeout "provider_timeout" Provider 504 "The provider did not answer in time.";
    ProviderUnreachable "provider_unreachable" Provider 502 "The provider cannot be reached.";
    RateLimitExceeded "rate_limit_exceeded" Rate 429 "Too many requests.";
    RequestTimeout "request_timeout" Request 408 "The request did not arrive in time.";
    RequestTooLarge "request_too_large" Request 413 "The body is too large.";
    ShuttingDown "shutting_down" Gateway 503 "The gateway is shutting down.";
    UnscannableContent "unscannable_content" Request 400 "A part cannot be scanned and the account does not allow such parts.";
    UnsupportedMediaType "unsupported_media_type" Request 415 "The body must be uncompressed application/json.";
    UriTooLong "uri_too_long" Request 414 "The request target is too long.";
}

impl ErrorCode {
    /// Every code.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        ROWS.iter().map(|row| row.0)
    }

    /// Text of `error.code` and of records.
    pub const fn code(self) -> &'static str {
        ROWS[self as usize].1
    }

    /// Party to blame.
    pub const fn blame(self) -> Blame {
        ROWS[self as usize].2
    }

    /// Usual status.
    pub const fn status(self) -> u16 {
        ROWS[self as usize].3
    }

    /// Whether a caller can receive it. The other codes are in records only.
    pub const fn is_told(self) -> bool {
        !matches!(self, Self::ClientDisconnected | Self::Interrupted)
    }

    /// Meaning, in a sentence.
    pub const fn words(self) -> &'static str {
        ROWS[self as usize].4
    }
}

coded!(ErrorCode, "error code");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_codes_are_ordered_and_parse_back() {
        assert!(ROWS.is_sorted_by_key(|row| row.1));
        for (number, code) in ErrorCode::all().enumerate() {
            assert_eq!(code as usize, number);
            assert_eq!(code.code().parse(), Ok(code));
            assert!(code.words().ends_with('.'));
        }
    }
}
