//! Shares the processors between accounts where scans are long.
//!
//! A scan needs a place, and there are as many places as processors. The account with the fewest
//! scans at work comes first, and among equals the one that has waited longest since it was last
//! served; within an account, first come, first served. A scan that is at work hands its place over
//! at its next checkpoint when another account has fewer, and goes on when its turn comes again. So
//! no account waits for more than a slice of another's scan, however long that is.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// How long a scan works before others are asked for.
const SLICE: Duration = Duration::from_millis(25);

/// How long a scan works before it offers its processor to whatever else waits for it: a request that is short of a few
/// microseconds of work would otherwise wait for as long as the system lets a thread run, several times on its way.
const TURN: Duration = Duration::from_micros(200);

/// Scans begun and not ended, paused ones included: each keeps a thread.
const BEGUN_MAX: usize = 128;

/// Why a scan got no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoPlace {
    /// Too many scans of the same account wait already.
    QueueFull,
    /// The wait was too long.
    WaitedTooLong,
}

/// The places, and who waits for one.
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
    /// Grows by one whenever an account comes, or a place is taken or given back.
    tick: u64,
    accounts: HashMap<Arc<str>, AccountScans>,
}

/// The scans of one account.
#[derive(Debug, Default)]
struct AccountScans {
    running: usize,
    waiting: VecDeque<Waiter>,
    /// When it was last served, or first asked.
    since: u64,
}

#[derive(Debug)]
struct Waiter {
    /// A scan that gave its place up for others keeps its thread.
    is_paused: bool,
    wake: oneshot::Sender<Grant>,
}

/// A place that was given out. Dropped unused, it is given back: whoever waited may have left.
#[derive(Debug)]
struct Grant {
    queue: Arc<LongScans>,
    account: Arc<str>,
    is_spent: bool,
}

/// A place to scan at, kept until it is dropped.
#[derive(Debug)]
pub(crate) struct ScanPlace {
    grant: Mutex<Option<Grant>>,
    slice: Mutex<Slice>,
}

#[derive(Debug)]
struct Slice {
    began: Instant,
    /// When the processor was last offered to others.
    offered: Instant,
    /// How long the scan stood still for others, in all.
    paused: Duration,
}

impl LongScans {
    /// A queue before as many places as there are processors.
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

    /// Whether all places are taken and somebody waits.
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
        // Those who left in the meantime do not count.
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

    /// Gives free places to those whose turn it is.
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
                // Nobody waits any more, and nothing was taken yet.
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

    /// The account that is served next.
    fn next(&self) -> Option<Arc<str>> {
        let served = self
            .accounts
            .iter()
            .filter(|(_, scans)| self.can_go_on(scans));
        served
            .min_by_key(|(_, scans)| (scans.running, scans.since))
            .map(|(account, _)| Arc::clone(account))
    }

    /// Whether the first that waits could use a place.
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

    /// Whether another account waits with fewer scans at work.
    fn is_wanted_by_others(&self, account: &str) -> bool {
        let own = self.accounts.get(account).map_or(0, |scans| scans.running);
        self.accounts.iter().any(|(other, scans)| {
            other.as_ref() != account && scans.running < own && self.can_go_on(scans)
        })
    }
}

impl ScanPlace {
    /// Called by a scan from time to time, on its own thread. After a slice of work it stands still here for as long as
    /// others have a better right to the place.
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

    /// How long this scan stood still for others.
    pub(crate) fn paused(&self) -> Duration {
        lock(&self.slice).paused
    }
}

impl Grant {
    /// Gives the place to another account and waits to be woken, first of its own account; `None` when nobody wants it.
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
