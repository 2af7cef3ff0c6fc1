//! Fair shares while more is asked than the processors can do.
//!
//! A task that only wants to be woken now and then notices when everything is late. Then all accounts get the same
//! allowance of requests per window: whoever asks for less does not feel it, and what is above is turned away at once,
//! before it costs anything. The allowance shrinks while things are late and grows back when they are not, until it
//! binds nobody. Within an account, a key that asks for less than its part of the allowance is let in even when the
//! account's other keys have used it up.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often the task wants to be woken.
const BEAT: Duration = Duration::from_millis(25);

/// After each window the allowance is set anew.
const WINDOW: Duration = Duration::from_millis(100);

/// What was late by less than this is in time.
const LATE: Duration = Duration::from_millis(30);

/// So many windows must be late, from their first beat to their last, before anybody is turned away: a machine that was
/// busy with something else for a moment is not overloaded.
const LATE_WINDOWS: u32 = 5;

/// The smallest allowance.
const LEAST: usize = 32;

/// How much the allowance shrinks and grows at most in one window.
const SHRINK: f64 = 0.7;
const GROWTH: f64 = 0.1;

/// The shares of accounts and keys.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    /// Whether the allowance binds. Read by every request.
    is_crowded: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Requests per account and window; none while nobody counts.
    allowance: Option<usize>,
    late_windows: u32,
    /// Who was let in during this window.
    accounts: HashMap<String, LetIn>,
}

/// Requests of an account that were let in, and how many of each key.
#[derive(Debug, Default)]
struct LetIn {
    requests: usize,
    keys: HashMap<String, usize>,
}

impl Shares {
    /// Whether a request of this key may come in now.
    pub(crate) fn lets_in(&self, account: &str, key: &str) -> bool {
        !self.is_crowded.load(Ordering::Relaxed) || self.state().lets_in(account, key)
    }

    /// Watches how late things are, for ever.
    pub(crate) async fn watch(&self) {
        loop {
            let end = Instant::now() + WINDOW;
            let mut least = Duration::MAX;
            while Instant::now() < end {
                let due = Instant::now() + BEAT;
                tokio::time::sleep_until(due.into()).await;
                least = least.min(due.elapsed());
            }
            let is_crowded = self.state().end_window(least);
            self.is_crowded.store(is_crowded, Ordering::Relaxed);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn lets_in(&mut self, account: &str, key: &str) -> bool {
        let Some(allowance) = self.allowance else {
            return true;
        };
        let let_in = self.accounts.entry(account.to_owned()).or_default();
        let keys = let_in.keys.len().max(1);
        let of_key = let_in.keys.entry(key.to_owned()).or_default();
        let is_fair = let_in.requests < allowance || *of_key < allowance / keys;
        if is_fair {
            let_in.requests += 1;
            *of_key += 1;
        }
        is_fair
    }

    /// Ends a window of which even the most punctual beat was so late. Whether the next one is limited.
    fn end_window(&mut self, least: Duration) -> bool {
        let late = least.as_secs_f64() / LATE.as_secs_f64();
        self.late_windows = match late > 1.0 {
            true => self.late_windows.saturating_add(1),
            false => 0,
        };
        let busiest = self.accounts.values().map(|one| one.requests).max();
        self.accounts.clear();
        self.allowance = match (self.allowance, busiest) {
            // Nothing binds anybody for one window more, in which everybody is counted.
            (None, _) if self.late_windows >= LATE_WINDOWS => Some(usize::MAX),
            (None, _) => None,
            (Some(allowance), busiest) => next_allowance(allowance, busiest.unwrap_or(0), late),
        };
        self.allowance.is_some()
    }
}

/// The next allowance, when the busiest account was let in so often and things were so late.
fn next_allowance(allowance: usize, busiest: usize, late: f64) -> Option<usize> {
    if late > 1.0 {
        let used = allowance.min(busiest);
        return Some(scaled(used, (1.0 / late).max(SHRINK)).max(LEAST));
    }
    // It binds nobody any more.
    let is_over = allowance > busiest.saturating_mul(2).max(LEAST * 2);
    (!is_over).then(|| scaled(allowance, 1.0 + GROWTH * (1.0 - late)) + 1)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "requests of a tenth of a second"
)]
fn scaled(count: usize, factor: f64) -> usize {
    (count as f64 * factor) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const IN_TIME: Duration = Duration::from_millis(1);
    const TOO_LATE: Duration = Duration::from_millis(300);

    fn ask(state: &mut State, account: &str, key: &str, times: usize) -> usize {
        (0..times).filter(|_| state.lets_in(account, key)).count()
    }

    fn crowded() -> State {
        let mut state = State::default();
        for _ in 0..LATE_WINDOWS {
            state.end_window(TOO_LATE);
        }
        state
    }

    #[test]
    fn a_moment_of_lateness_turns_nobody_away() {
        let mut state = State::default();
        for _ in 0..3 {
            for _ in 1..LATE_WINDOWS {
                assert!(!state.end_window(TOO_LATE));
            }
            assert!(!state.end_window(IN_TIME));
        }
        assert!(state.lets_in("one", "key"));
    }

    #[test]
    fn who_asks_for_little_does_not_feel_the_crowd() {
        let mut state = crowded();
        for _ in 0..20 {
            ask(&mut state, "greedy", "key", 500);
            assert_eq!(ask(&mut state, "modest", "key", 10), 10);
            assert!(state.end_window(TOO_LATE));
        }
        assert_eq!(ask(&mut state, "greedy", "key", 500), LEAST);
        assert_eq!(ask(&mut state, "modest", "key", 10), 10);
    }

    #[test]
    fn a_modest_key_does_not_feel_the_others_of_its_account() {
        let mut state = crowded();
        for _ in 0..5 {
            for key in ["a", "b", "c"] {
                ask(&mut state, "one", key, 100);
            }
            state.end_window(TOO_LATE);
        }
        for key in ["a", "b", "c"] {
            ask(&mut state, "one", key, 100);
        }
        assert_eq!(ask(&mut state, "one", "modest", 3), 3);
        assert!(ask(&mut state, "one", "a", 100) < 100);
    }

    #[test]
    fn the_allowance_grows_back_until_it_binds_nobody() {
        let mut state = crowded();
        for _ in 0..10 {
            ask(&mut state, "one", "key", 200);
            state.end_window(TOO_LATE);
        }
        let windows = (0..200).take_while(|_| {
            ask(&mut state, "one", "key", 30);
            state.end_window(IN_TIME)
        });
        assert!(windows.count() < 100, "still limited after ten seconds");
        assert_eq!(ask(&mut state, "one", "key", 1000), 1000);
    }
}
