//! The line that every request leaves in the log: ids, counts and times, never content.
//!
//! Failures that the operator or a provider has to fix are warnings; mistakes of the caller and decisions of the mode
//! are not.

use http::StatusCode;
use phigate_types::{Blame, ErrorCode};
use uuid::Uuid;

use crate::facts::RequestFacts;
use crate::provider::ProviderError;
use crate::refusals::Refused;

/// Log line of an ended request.
pub(crate) struct RequestLine<'a> {
    pub(crate) request_id: Uuid,
    pub(crate) key_id: &'a str,
    pub(crate) door: Option<&'static str>,
    pub(crate) mode: &'static str,
    pub(crate) action: &'static str,
    pub(crate) facts: &'a RequestFacts,
    pub(crate) status: StatusCode,
    pub(crate) provider_status: Option<u16>,
    pub(crate) error: Option<ErrorCode>,
    pub(crate) cause: Option<ProviderError>,
    pub(crate) attempts: usize,
    pub(crate) first_byte_ms: Option<u64>,
    pub(crate) total_ms: u64,
}

/// Writes one line at a level known at compile time. Empty fields are left out.
macro_rules! say {
    ($level:ident, $line:expr, $words:literal) => {{
        let line = $line;
        tracing::$level!(
            request.id = %line.request_id,
            key.id = line.key_id,
            door = line.door,
            model = line.facts.model_name(),
            provider = line.facts.provider(),
            status = line.status.as_u16(),
            action = line.action,
            error = line.error.map(ErrorCode::code),
            cause = line.cause.map(tracing::field::display),
            provider.status = line.provider_status,
            mode = line.mode,
            findings = line.facts.findings_count(),
            unscannable = line.facts.unscannable().len(),
            bytes = line.facts.body_bytes(),
            stream = line.facts.is_stream(),
            attempts = line.attempts,
            first_byte_ms = line.first_byte_ms,
            total_ms = line.total_ms,
            $words
        )
    }};
}

impl RequestLine<'_> {
    /// Writes it.
    pub(crate) fn write(&self) {
        match self.error {
            Some(code) if needs_mending(code) => say!(warn, self, "request failed"),
            Some(_) => say!(info, self, "request refused"),
            None => say!(info, self, "request answered"),
        }
    }
}

/// Logs a refused request, whose body was not read.
pub(crate) fn not_let_in(request_id: Uuid, who: Refused<'_>, code: ErrorCode) {
    tracing::info!(
        request.id = %request_id,
        key.id = who.key_id,
        client.address = who.client.map(tracing::field::display),
        status = code.status(),
        error = code.code(),
        "request not let in"
    );
}

/// Whether the operator or the account's owner has to act.
fn needs_mending(code: ErrorCode) -> bool {
    match code.blame() {
        Blame::Provider | Blame::Gateway => true,
        Blame::Request | Blame::Phi => false,
        // The caller's own limit is the caller's affair; the provider's is the account's.
        Blame::Rate => code == ErrorCode::ProviderRateLimited,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_needing_operator_are_warnings() {
        for (code, warns) in [
            (ErrorCode::ProviderUnreachable, true),
            (ErrorCode::ProviderAuthFailed, true),
            (ErrorCode::ProviderRateLimited, true),
            (ErrorCode::AuditUnavailable, true),
            (ErrorCode::RateLimitExceeded, false),
            (ErrorCode::PhiBlocked, false),
            (ErrorCode::InvalidJson, false),
            (ErrorCode::ClientDisconnected, false),
        ] {
            assert_eq!(needs_mending(code), warns, "{code}");
        }
    }
}
