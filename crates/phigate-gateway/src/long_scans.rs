//! Shares the processors between accounts for long scans.
//!
//! A scan needs a place, and there are as many places as processors. The account with the fewest running scans is
//! served first; among equals, the account served least recently; within an account, first come, first served. At a
//! checkpoint, a running scan hands its place to an account with fewer running scans and continues when it is served
//! again. So an account never waits for more than a slice of another account's scan.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// Time slice of a scan.
const SLICE: Duration = Duration::from_millis(25);

/// Time after which a scan yields its processor to other threads. Otherwise a request that needs a few microseconds
/// would wait several times for as long as the system lets a thread run.
const TURN: Duration = Duration::from_micros(200);

/// Limit of scans in progress, paused ones included, because each has a thread.
const BEGUN_MAX: usize = 128;

/// The reason why a scan got no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoPlace {
    /// Too many scans of this account are waiting.
    QueueFull,
    /// The wait was too long.
    WaitedTooLong,
}

/// The places, and the scans waiting for one.
#[derive(Debug)]
pub(crate) struct LongScans {
    state: Mutex<State>,
    waiting_max: usize,
    wait_max: Duration,
    slice: Duration,
}

#[derive(Debug)]
struct State {
    free: usize,
    begun: usize,
    /// Logical clock: incremented when an account arrives and when a place is taken or returned.
    tick: u64,
    accounts: HashMap<Arc<str>, AccountScans>,
}

/// The scans of one account.
#[derive(Debug, Default)]
struct AccountScans {
    running: usize,
    waiting: VecDeque<Waiter>,
    /// Tick of the last service, or of the arrival.
    since: u64,
}

#[derive(Debug)]
struct Waiter {
    /// Whether the scan was interrupted for another account; a paused scan keeps its thread.
    is_paused: bool,
    wake: oneshot::Sender<Grant>,
}

/// A granted place. Dropped unused, it is returned, because the waiter may have been dropped.
#[derive(Debug)]
struct Grant {
    queue: Arc<LongScans>,
    account: Arc<str>,
    is_spent: bool,
}

/// A place for a scan, held until it is dropped.
#[derive(Debug)]
pub(crate) struct ScanPlace {
    grant: Mutex<Option<Grant>>,
    slice: Mutex<Slice>,
}

#[derive(Debug)]
struct Slice {
    began: Instant,
    /// Time of the last yield to other threads.
    offered: Instant,
    /// Total time for which the scan was paused.
    paused: Duration,
}

impl LongScans {
    /// A queue with as many places as processors.
    pub(crate) fn new(waiting_max: usize, wait_max: Duration) -> Arc<Self> {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self::with_places(processors, waiting_max, wait_max, SLICE)
    }

    fn with_places(
        places: usize,
        waiting_max: usize,
        wait_max: Duration,
        slice: Duration,
    ) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                free: places,
                begun: 0,
                tick: 0,
                accounts: HashMap::new(),
            }),
            waiting_max,
            wait_max,
            slice,
        })
    }

    /// Waits for a place for a scan of this account.
    pub(crate) async fn enter(self: &Arc<Self>, account: &str) -> Result<ScanPlace, NoPlace> {
        let waiting = self.join(account)?;
        let granted = tokio::time::timeout(self.wait_max, waiting).await;
        let grant = granted
            .map_err(|_| NoPlace::WaitedTooLong)?
            .map_err(|_| NoPlace::WaitedTooLong)?;
        Ok(ScanPlace {
            grant: Mutex::new(Some(grant)),
            slice: Mutex::new(Slice {
                began: Instant::now(),
                offered: Instant::now(),
                paused: Duration::ZERO,
            }),
        })
    }

    /// Whether all places are taken and a scan is waiting.
    #[cfg(test)]
    pub(super) fn is_full(&self) -> bool {
        let state = self.state();
        state.free == 0
            && state
                .accounts
                .values()
                .any(|scans| !scans.waiting.is_empty())
    }

    fn join(self: &Arc<Self>, account: &str) -> Result<oneshot::Receiver<Grant>, NoPlace> {
        let (wake, woken) = oneshot::channel();
        let mut state = self.state();
        let scans = state.scans(account);
        // Dropped waiters do not count.
        scans.waiting.retain(|waiter| !waiter.wake.is_closed());
        if scans.waiting.len() >= self.waiting_max {
            return Err(NoPlace::QueueFull);
        }
        scans.waiting.push_back(Waiter {
            is_paused: false,
            wake,
        });
        self.serve(&mut state);
        Ok(woken)
    }

    /// Grants free places to the next waiters.
    fn serve(self: &Arc<Self>, state: &mut State) {
        while state.free > 0
            && let Some(account) = state.next()
        {
            let Some(waiter) = state.scans(&account).waiting.pop_front() else {
                return;
            };
            let grant = Grant {
                queue: Arc::clone(self),
                account: Arc::clone(&account),
                is_spent: false,
            };
            match waiter.wake.send(grant) {
                Ok(()) => state.take(&account, waiter.is_paused),
                // The waiter was dropped before it took the place.
                Err(mut unused) => unused.is_spent = true,
            }
            state.forget_if_idle(&account);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn scans(&mut self, account: &str) -> &mut AccountScans {
        if !self.accounts.contains_key(account) {
            self.tick += 1;
            let newcomer = AccountScans {
                since: self.tick,
                ..AccountScans::default()
            };
            self.accounts.insert(account.into(), newcomer);
        }
        self.accounts
            .get_mut(account)
            .expect("it was found or put there just now")
    }

    /// The account to serve next.
    fn next(&self) -> Option<Arc<str>> {
        let served = self
            .accounts
            .iter()
            .filter(|(_, scans)| self.can_go_on(scans));
        served
            .min_by_key(|(_, scans)| (scans.running, scans.since))
            .map(|(account, _)| Arc::clone(account))
    }

    /// Whether the first waiter of an account could run now.
    fn can_go_on(&self, scans: &AccountScans) -> bool {
        let first = scans.waiting.front();
        first.is_some_and(|first| first.is_paused || self.begun < BEGUN_MAX)
    }

    fn take(&mut self, account: &str, was_paused: bool) {
        self.free -= 1;
        self.begun += usize::from(!was_paused);
        self.note(account, |scans| scans.running += 1);
    }

    fn give_back(&mut self, account: &str, is_paused: bool) {
        self.free += 1;
        self.begun -= usize::from(!is_paused);
        self.note(account, |scans| scans.running -= 1);
    }

    fn note(&mut self, account: &str, change: impl FnOnce(&mut AccountScans)) {
        self.tick += 1;
        let tick = self.tick;
        let scans = self.scans(account);
        change(scans);
        scans.since = tick;
    }

    fn forget_if_idle(&mut self, account: &str) {
        let is_idle = |scans: &AccountScans| scans.running == 0 && scans.waiting.is_empty();
        if self.accounts.get(account).is_some_and(is_idle) {
            self.accounts.remove(account);
        }
    }

    /// Whether another account waits and has fewer running scans.
    fn is_wanted_by_others(&self, account: &str) -> bool {
        let own = self.accounts.get(account).map_or(0, |scans| scans.running);
        self.accounts.iter().any(|(other, scans)| {
            other.as_ref() != account && scans.running < own && self.can_go_on(scans)
        })
    }
}

impl ScanPlace {
    /// Pauses the scan for other accounts if its slice is over. A scan calls this regularly on its thread.
    pub(crate) fn checkpoint(&self) {
        let mut slice = lock(&self.slice);
        let stopped = Instant::now();
        if stopped.duration_since(slice.offered) >= TURN {
            std::thread::yield_now();
            slice.offered = Instant::now();
        }
        let mut grant = lock(&self.grant);
        let Some(held) = grant.as_ref() else { return };
        if stopped.duration_since(slice.began) < held.queue.slice {
            return;
        }
        if let Some(woken) = held.step_aside() {
            if let Some(mut given_up) = grant.take() {
                given_up.is_spent = true;
            }
            *grant = woken.blocking_recv().ok();
        }
        slice.began = Instant::now();
        slice.paused += stopped.elapsed();
    }

    /// Total time for which this scan was paused.
    pub(crate) fn paused(&self) -> Duration {
        lock(&self.slice).paused
    }
}

impl Grant {
    /// Hands the place to another account and queues first in its own; `None` if no account needs the place.
    fn step_aside(&self) -> Option<oneshot::Receiver<Grant>> {
        let mut state = self.queue.state();
        if !state.is_wanted_by_others(&self.account) {
            return None;
        }
        let (wake, woken) = oneshot::channel();
        state.give_back(&self.account, true);
        state.scans(&self.account).waiting.push_front(Waiter {
            is_paused: true,
            wake,
        });
        self.queue.serve(&mut state);
        Some(woken)
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        if self.is_spent {
            return;
        }
        let mut state = self.queue.state();
        state.give_back(&self.account, false);
        self.queue.serve(&mut state);
        state.forget_if_idle(&self.account);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
