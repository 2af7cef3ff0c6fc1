//! Activity of a connection: idle callers, and callers that do not read.
//!
//! On HTTP/1 the guard notices a caller that does not read. On HTTP/2, one socket carries many requests, so a caller
//! can keep the socket alive and stall a single stream.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Result of a check of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Fine,
    /// No request arrived within the idle timeout.
    Idle,
    /// The caller does not read an answer.
    Stalled,
}

/// Requests and answers of one connection.
#[derive(Debug)]
pub(crate) struct Activity {
    started: Instant,
    /// End of the last answer, in milliseconds since the start.
    last_ms: AtomicU64,
    /// Number of requests received.
    begun: AtomicU64,
    /// Offer times of the answers that are being sent.
    answers: Mutex<Vec<Arc<AtomicU64>>>,
}

/// An answer that is being sent.
#[derive(Debug)]
pub(crate) struct Ongoing {
    activity: Arc<Activity>,
    /// Time since which a chunk waits for the caller, in milliseconds since the start; zero if none waits.
    offered_ms: Arc<AtomicU64>,
    shares_socket: bool,
}

impl Activity {
    pub(crate) fn new(now: Instant) -> Arc<Self> {
        Arc::new(Self {
            started: now,
            last_ms: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            answers: Mutex::default(),
        })
    }

    /// Counts a request; the returned value travels with its answer. Stalls are tracked only if requests share the
    /// socket, because the guard sees the others.
    pub(crate) fn begin(self: &Arc<Self>, shares_socket: bool) -> Ongoing {
        let offered_ms = Arc::new(AtomicU64::new(0));
        self.begun.fetch_add(1, Ordering::Relaxed);
        self.answers().push(Arc::clone(&offered_ms));
        Ongoing {
            activity: Arc::clone(self),
            offered_ms,
            shares_socket,
        }
    }

    /// Checks the connection against both timeouts.
    pub(crate) fn look(&self, now: Instant, idle: Duration, stall: Duration) -> Verdict {
        let now_ms = self.since_start(now);
        let answers = self.answers();
        let waits_too_long = |answer: &Arc<AtomicU64>| {
            let offered = answer.load(Ordering::Relaxed);
            offered > 0 && Duration::from_millis(now_ms - offered.min(now_ms)) > stall
        };
        if answers.iter().any(waits_too_long) {
            return Verdict::Stalled;
        }
        let quiet_ms = now_ms.saturating_sub(self.last_ms.load(Ordering::Relaxed));
        if answers.is_empty() && Duration::from_millis(quiet_ms) > idle {
            Verdict::Idle
        } else {
            Verdict::Fine
        }
    }

    /// Whether the last request is at least this long ago.
    pub(crate) fn is_quiet(&self, now: Instant, at_least: Duration) -> bool {
        let quiet = now.saturating_duration_since(self.last());
        self.answers().is_empty() && quiet >= at_least
    }

    /// Whether `requests` requests have arrived and all their answers were sent.
    pub(crate) fn has_answered(&self, requests: u64) -> bool {
        self.begun.load(Ordering::Relaxed) == requests && self.answers().is_empty()
    }

    /// Counts a request that the guard answered.
    pub(crate) fn touch(&self, now: Instant) {
        self.last_ms.store(self.since_start(now), Ordering::Relaxed);
    }

    /// End of the last answer, or the start of the connection.
    pub(crate) fn last(&self) -> Instant {
        self.started + Duration::from_millis(self.last_ms.load(Ordering::Relaxed))
    }

    fn answers(&self) -> MutexGuard<'_, Vec<Arc<AtomicU64>>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn since_start(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.started).as_millis()).unwrap_or(u64::MAX)
    }
}

impl Ongoing {
    /// Notes that a chunk waits for the caller.
    pub(crate) fn offered(&self, now: Instant) {
        if !self.shares_socket {
            return;
        }
        self.offered_ms
            .store(self.activity.since_start(now).max(1), Ordering::Relaxed);
    }

    /// Notes that the caller took the chunk: the next one was polled.
    pub(crate) fn taken(&self) {
        self.offered_ms.store(0, Ordering::Relaxed);
    }
}

impl Drop for Ongoing {
    fn drop(&mut self) {
        self.activity
            .answers()
            .retain(|answer| !Arc::ptr_eq(answer, &self.offered_ms));
        self.activity.touch(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(75);
    const STALL: Duration = Duration::from_secs(30);

    #[test]
    fn connections_become_idle_or_stalled() {
        let start = Instant::now();
        let activity = Activity::new(start);
        let look = |second| activity.look(start + Duration::from_secs(second), IDLE, STALL);
        assert_eq!(look(74), Verdict::Fine);
        assert_eq!(look(76), Verdict::Idle);

        let answer = activity.begin(true);
        assert_eq!(look(500), Verdict::Fine, "a handler may take its time");
        answer.offered(start + Duration::from_secs(500));
        assert_eq!(look(529), Verdict::Fine);
        assert_eq!(look(531), Verdict::Stalled);
        answer.taken();
        assert_eq!(look(900), Verdict::Fine);
        drop(answer);
        assert_eq!(look(900), Verdict::Idle);
    }

    #[test]
    fn ended_answers_are_forgotten() {
        let activity = Activity::new(Instant::now());
        let long = activity.begin(true);
        for _ in 0..1000 {
            drop(activity.begin(false));
        }
        assert_eq!(activity.answers().len(), 1);
        drop(long);
        assert!(activity.answers().is_empty());
    }
}
