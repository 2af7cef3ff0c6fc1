//! Watching a connection: is anything asked, and is what we answer taken?
//!
//! On HTTP/1 the guard sees a caller who does not read. On HTTP/2, where one socket carries many
//! requests, a caller can keep the socket alive and still take nothing, stream by stream.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a look at a connection shows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Fine,
    /// There was no request for too long.
    Idle,
    /// A caller takes nothing of an answer.
    Stalled,
}

/// The answers of one connection.
#[derive(Debug)]
pub(crate) struct Activity {
    started: Instant,
    /// When the last answer ended, in milliseconds since the start.
    last_ms: AtomicU64,
    /// Requests so far.
    begun: AtomicU64,
    /// Those on their way.
    answers: Mutex<Vec<Arc<AtomicU64>>>,
}

/// One answer that is on its way.
#[derive(Debug)]
pub(crate) struct Ongoing {
    activity: Arc<Activity>,
    /// Since when a piece waits to be taken, in milliseconds since the start; zero when none does.
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

    /// A request has arrived; what is returned goes with its answer. Whether the caller takes it
    /// is only watched where requests share the socket.
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

    /// Looks at the connection.
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

    /// Whether nothing was asked for at least this long.
    pub(crate) fn is_quiet(&self, now: Instant, at_least: Duration) -> bool {
        let quiet = now.saturating_duration_since(self.last());
        self.answers().is_empty() && quiet >= at_least
    }

    /// Whether so many requests have arrived, and the answers to all of them were handed out.
    pub(crate) fn has_answered(&self, requests: u64) -> bool {
        self.begun.load(Ordering::Relaxed) == requests && self.answers().is_empty()
    }

    /// Something was asked and answered at once.
    pub(crate) fn touch(&self, now: Instant) {
        self.last_ms.store(self.since_start(now), Ordering::Relaxed);
    }

    /// When the last answer ended, or the connection began.
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
    /// A piece was handed out and waits for the caller.
    pub(crate) fn offered(&self, now: Instant) {
        if !self.shares_socket {
            return;
        }
        self.offered_ms
            .store(self.activity.since_start(now).max(1), Ordering::Relaxed);
    }

    /// The caller took it: the next one was asked for.
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
    fn a_connection_is_idle_without_requests_and_stalled_without_a_reader() {
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
    fn nothing_is_kept_of_an_answer_that_ended() {
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
