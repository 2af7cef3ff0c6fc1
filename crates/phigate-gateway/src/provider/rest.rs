//! Providers that keep failing are skipped for a while, if another one can serve the request.
//!
//! The state is local to this process and lost with it, which costs one extra call at worst.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Consecutive failures after which a provider rests.
const FAILURES_MAX: u32 = 3;

/// The first rest; each further failure doubles it.
const REST_FIRST: Duration = Duration::from_secs(10);

/// The longest rest.
const REST_MAX: Duration = Duration::from_secs(160);

/// Limit of remembered providers; at the limit those no longer resting are evicted.
const REMEMBERED_MAX: usize = 10_000;

/// Recent failures of an account's provider.
#[derive(Debug, Clone, Copy)]
struct RecentFailures {
    failures: u32,
    rests_until: Instant,
}

/// The resting providers, by account and name.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    recent: Mutex<HashMap<(String, String), RecentFailures>>,
}

impl Rest {
    /// Records the result of a call.
    pub(crate) fn note(&self, account: &str, provider: &str, has_failed: bool, now: Instant) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        // Fast path: providers rarely fail.
        if !has_failed && recent.is_empty() {
            return;
        }
        let key = (account.to_owned(), provider.to_owned());
        if !has_failed {
            recent.remove(&key);
            return;
        }
        if recent.len() >= REMEMBERED_MAX {
            recent.retain(|_, failed| failed.rests_until > now);
        }
        let failed = recent.entry(key).or_insert(RecentFailures {
            failures: 0,
            rests_until: now,
        });
        failed.failures = failed.failures.saturating_add(1);
        if let Some(beyond) = failed.failures.checked_sub(FAILURES_MAX) {
            let rest = REST_FIRST.saturating_mul(2u32.saturating_pow(beyond.min(8)));
            failed.rests_until = now + rest.min(REST_MAX);
        }
    }

    /// Whether a provider should be skipped. When its rest is over, one caller gets `false` and tries it; other callers
    /// skip it for another `REST_FIRST`, or until that call has succeeded.
    pub(crate) fn is_resting(&self, account: &str, provider: &str, now: Instant) -> bool {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.is_empty() {
            return false;
        }
        let key = (account.to_owned(), provider.to_owned());
        let Some(failed) = recent.get_mut(&key) else {
            return false;
        };
        if failed.failures < FAILURES_MAX {
            return false;
        }
        let is_resting = now < failed.rests_until;
        if !is_resting {
            failed.rests_until = now + REST_FIRST;
        }
        is_resting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_failures_lengthen_the_rest() {
        let (rest, start) = (Rest::default(), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        for _ in 0..2 {
            rest.note("a", "p", true, start);
        }
        assert!(!rest.is_resting("a", "p", start));
        rest.note("a", "p", true, start);
        assert!(rest.is_resting("a", "p", start));
        assert!(!rest.is_resting("b", "p", start) && !rest.is_resting("a", "q", start));
        assert!(rest.is_resting("a", "p", after(9)));
        assert!(!rest.is_resting("a", "p", after(11)), "one may try");
        assert!(rest.is_resting("a", "p", after(11)), "the others wait");
        rest.note("a", "p", true, after(12));
        assert!(rest.is_resting("a", "p", after(30)), "twice as long");
        assert!(!rest.is_resting("a", "p", after(33)));
        rest.note("a", "p", false, after(34));
        assert!(!rest.is_resting("a", "p", after(34)));
        rest.note("a", "p", true, after(35));
        assert!(!rest.is_resting("a", "p", after(35)), "it starts anew");
    }
}
