//! Slows down guessing: after some failures the wait doubles with each further one.
//!
//! Kept in memory per e-mail address and per origin. A restart forgets it; that costs an attacker
//! a restart they cannot cause, and keeps failed logins from writing to the store.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Failures that cost nothing.
const FREE: u32 = 5;
const WAIT_MAX: Duration = Duration::from_secs(15 * 60);
/// Failures older than this are forgotten.
const MEMORY: Duration = Duration::from_secs(60 * 60);
/// Names remembered at most; the oldest go first.
const NAMES_MAX: usize = 10_000;

/// Counts failures.
#[derive(Default)]
pub(crate) struct Throttle {
    failures: Mutex<HashMap<String, Failures>>,
}

#[derive(Clone, Copy)]
struct Failures {
    count: u32,
    last: Instant,
}

impl Throttle {
    /// Seconds to wait before another attempt, if any.
    pub(crate) fn wait_s(&self, email: &str, origin: &str) -> Option<u64> {
        let failures = self.lock();
        let waits = names(email, origin).into_iter().filter_map(|name| {
            let known = failures.get(&name)?;
            pause(known.count).checked_sub(known.last.elapsed())
        });
        waits
            .max()
            .filter(|wait| !wait.is_zero())
            .map(|wait| wait.as_secs() + 1)
    }

    /// One more wrong attempt.
    pub(crate) fn failed(&self, email: &str, origin: &str) {
        let mut failures = self.lock();
        if failures.len() >= NAMES_MAX {
            failures.retain(|_, known| known.last.elapsed() < MEMORY);
        }
        if failures.len() >= NAMES_MAX {
            let oldest = failures
                .iter()
                .min_by_key(|(_, known)| known.last)
                .map(|(name, _)| name.clone());
            oldest.and_then(|name| failures.remove(&name));
        }
        for name in names(email, origin) {
            let known = failures.entry(name).or_insert(Failures {
                count: 0,
                last: Instant::now(),
            });
            let is_stale = known.last.elapsed() > MEMORY;
            known.count = if is_stale {
                1
            } else {
                known.count.saturating_add(1)
            };
            known.last = Instant::now();
        }
    }

    /// A right attempt clears the address. The origin keeps its count: it may be guessing others.
    pub(crate) fn succeeded(&self, email: &str, _origin: &str) {
        self.lock().remove(&format!("email {email}"));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Failures>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn names(email: &str, origin: &str) -> [String; 2] {
    [format!("email {email}"), format!("origin {origin}")]
}

fn pause(count: u32) -> Duration {
    match count.checked_sub(FREE) {
        None => Duration::ZERO,
        Some(extra) => Duration::from_secs(1 << extra.min(16)).min(WAIT_MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_failures_are_free_and_then_the_wait_doubles() {
        let throttle = Throttle::default();
        for _ in 0..4 {
            throttle.failed("jane@example.org", "192.0.2.1");
        }
        assert_eq!(throttle.wait_s("jane@example.org", "192.0.2.1"), None);
        throttle.failed("jane@example.org", "192.0.2.1");
        assert!(
            throttle.wait_s("jane@example.org", "192.0.2.9").is_some(),
            "the address is slowed down everywhere"
        );
        assert!(
            throttle.wait_s("john@example.org", "192.0.2.1").is_some(),
            "the origin is slowed down for everybody"
        );
        assert_eq!(throttle.wait_s("john@example.org", "192.0.2.9"), None);
        assert_eq!(pause(6), Duration::from_secs(2));
        assert_eq!(pause(60), WAIT_MAX);
    }

    #[test]
    fn memory_stays_bounded() {
        let throttle = Throttle::default();
        for number in 0..NAMES_MAX {
            throttle.failed(&format!("{number}@example.org"), "192.0.2.1");
        }
        throttle.failed("last@example.org", "192.0.2.1");
        assert!(throttle.lock().len() <= NAMES_MAX + 1);
    }
}
