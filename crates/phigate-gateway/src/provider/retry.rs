//! Retries of calls.

use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};

use super::ProviderError;
use phigate_types::Limits;

/// Statuses of providers that did not act on a request and may be asked again.
const COME_AGAIN: &[u16] = &[429, 503, 529];

const FIRST_WAIT: Duration = Duration::from_millis(200);

/// Longest total time of attempts before a retry: the caller has waited long enough.
const PATIENCE: Duration = Duration::from_secs(4);

/// The end of an attempt.
pub(super) type Ended<'a> = Result<(StatusCode, &'a HeaderMap), ProviderError>;

/// The delay before the next attempt; `None` if there is no further attempt.
pub(super) fn wait(
    limits: &Limits,
    attempt: u32,
    elapsed: Duration,
    ended: Ended<'_>,
) -> Option<Duration> {
    if u64::from(attempt) >= limits.provider_retries || elapsed > PATIENCE {
        return None;
    }
    let wait = match ended {
        Err(ProviderError::Unreachable) => FIRST_WAIT * 2u32.saturating_pow(attempt),
        // Without `Retry-After` the cause may be a spent quota, and Google names its delay in the body; guessing a
        // delay would only add load. The caller gets the error and decides.
        Ok((status, headers)) if COME_AGAIN.contains(&status.as_u16()) => {
            let asked = headers.get(RETRY_AFTER)?.to_str().ok()?;
            Duration::from_secs(asked.trim().parse().ok()?)
        }
        _ => return None,
    };
    // For a longer delay, the caller gets the provider's answer.
    (wait <= Duration::from_millis(limits.provider_retry_wait_ms)).then_some(wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(status: u16, retry_after: Option<&'static str>) -> Option<u128> {
        let mut headers = HeaderMap::new();
        if let Some(text) = retry_after {
            headers.insert(RETRY_AFTER, http::HeaderValue::from_static(text));
        }
        let ended = Ok((StatusCode::from_u16(status).unwrap(), &headers));
        wait(&Limits::default(), 0, Duration::ZERO, ended).map(|wait| wait.as_millis())
    }

    #[test]
    fn only_retryable_answers_are_retried() {
        for (status, retry_after, wait_ms) in [
            (200, None, None),
            (400, None, None),
            (500, None, None),
            (502, None, None),
            (429, None, None),
            (503, None, None),
            (503, Some("0"), Some(0)),
            (529, Some("1"), Some(1000)),
            (429, Some("17"), None),
            (429, Some("Wed, 21 Oct 2026 07:28:00 GMT"), None),
        ] {
            assert_eq!(
                after(status, retry_after),
                wait_ms,
                "{status} {retry_after:?}"
            );
        }
    }

    #[test]
    fn only_connect_failures_are_retried() {
        let limits = Limits::default();
        let repeated = |attempt, seconds, error| {
            wait(&limits, attempt, Duration::from_secs(seconds), Err(error)).is_some()
        };
        assert!(repeated(0, 0, ProviderError::Unreachable));
        assert!(repeated(1, 0, ProviderError::Unreachable));
        assert!(!repeated(2, 0, ProviderError::Unreachable));
        assert!(!repeated(0, 5, ProviderError::Unreachable));
        assert!(!repeated(0, 0, ProviderError::Timeout));
        assert!(!repeated(0, 0, ProviderError::Broken));
    }
}
