//! Shares a thread between accounts for short scans.
//!
//! A short scan runs in place, without waiting for another thread, so under load scans would run in the order in which
//! the thread's runtime polls them. Instead, a limited number runs in one pass of the runtime over all ready tasks;
//! between passes new requests are read, answers are relayed and requests over their limits are refused. The remaining
//! scans wait here: accounts take turns, and within an account its keys do. So a caller waits for one or two passes,
//! however many requests of other callers wait. If no scan waits, a turn costs one lock.
//!
//! The scans of a pass run one after another, and the other work of their requests runs before and after. The
//! detector's code and tables fill the nearest caches, and alternating would make each scan load them again.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Scans per pass.
const IN_A_PASS: usize = 4;

/// Turns for short scans, and the scans waiting for one.
#[derive(Debug)]
pub(crate) struct ShortScans {
    state: Mutex<State>,
    in_a_pass: usize,
}

#[derive(Debug)]
struct State {
    /// Turns left in this pass.
    left: usize,
    /// Whether a task counts the passes.
    is_counted: bool,
    waiting: Line<Line<VecDeque<Waiter>>>,
}

type Waiter = oneshot::Sender<()>;

impl ShortScans {
    /// A scheduler for one thread.
    pub(crate) fn new() -> Arc<Self> {
        Self::with_places(IN_A_PASS)
    }

    fn with_places(in_a_pass: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                left: in_a_pass,
                is_counted: false,
                waiting: Line::default(),
            }),
            in_a_pass,
        })
    }

    /// Waits for a turn of this account and key.
    pub(crate) async fn take(self: &Arc<Self>, account: &str, key: &str) {
        match self.join(account, key) {
            // Run together with the scans of the next pass.
            None => tokio::task::yield_now().await,
            // Waiters are always woken; if one were dropped, scanning out of turn would be harmless.
            Some(woken) => drop(woken.await),
        }
    }

    /// Joins the queue; `None` if a turn is free.
    fn join(self: &Arc<Self>, account: &str, key: &str) -> Option<oneshot::Receiver<()>> {
        let mut state = self.state();
        let woken = if state.left > 0 {
            state.left -= 1;
            None
        } else {
            let (wake, woken) = oneshot::channel();
            let keys = state.waiting.of(account);
            keys.of(key).push_back(wake);
            Some(woken)
        };
        if !state.is_counted {
            state.is_counted = true;
            tokio::spawn(Arc::clone(self).count_passes());
        }
        woken
    }

    /// Grants turns, pass after pass, until no scan waits.
    async fn count_passes(self: Arc<Self>) {
        loop {
            // The runtime polls this task again after all other ready tasks.
            tokio::task::yield_now().await;
            if self.begin_pass() {
                return;
            }
        }
    }

    /// Starts a pass. True if no scan waits.
    fn begin_pass(&self) -> bool {
        let mut state = self.state();
        state.left = self.in_a_pass;
        while state.left > 0 {
            let Some(waiter) = state.waiting.next() else {
                state.is_counted = false;
                return true;
            };
            // A dropped waiter uses no turn.
            if waiter.send(()).is_ok() {
                state.left -= 1;
            }
        }
        false
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waiting scans, in the order of service.
trait Waiting {
    /// The next waiter.
    fn next(&mut self) -> Option<Waiter>;

    fn is_empty(&self) -> bool;
}

impl Waiting for VecDeque<Waiter> {
    fn next(&mut self) -> Option<Waiter> {
        self.pop_front()
    }

    fn is_empty(&self) -> bool {
        VecDeque::is_empty(self)
    }
}

/// Queues that are served in turns.
#[derive(Debug, Default)]
struct Line<W> {
    order: VecDeque<Arc<str>>,
    parties: HashMap<Arc<str>, W>,
}

impl<W: Default> Line<W> {
    fn of(&mut self, name: &str) -> &mut W {
        if !self.parties.contains_key(name) {
            let name: Arc<str> = name.into();
            self.order.push_back(Arc::clone(&name));
            self.parties.insert(name, W::default());
        }
        self.parties
            .get_mut(name)
            .expect("it was found or put there just now")
    }
}

impl<W: Waiting> Waiting for Line<W> {
    fn next(&mut self) -> Option<Waiter> {
        let name = self.order.pop_front()?;
        let party = self.parties.get_mut(&name)?;
        let served = party.next();
        if party.is_empty() {
            self.parties.remove(&name);
        } else {
            self.order.push_back(name);
        }
        served
    }

    fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scans that run in one pass.
    fn served<'a>(
        scans: &ShortScans,
        waiting: &mut Vec<(&'a str, oneshot::Receiver<()>)>,
    ) -> Vec<&'a str> {
        scans.begin_pass();
        let mut served = Vec::new();
        waiting.retain_mut(|(name, woken)| {
            let is_served = woken.try_recv().is_ok();
            served.extend(is_served.then_some(*name));
            !is_served
        });
        served
    }

    fn crowd<'a>(
        scans: &Arc<ShortScans>,
        names: &[(&str, &str, &'a str)],
    ) -> Vec<(&'a str, oneshot::Receiver<()>)> {
        let join = |(account, key, name): &(&str, &str, &'a str)| {
            scans.join(account, key).map(|woken| (*name, woken))
        };
        names.iter().filter_map(join).collect()
    }

    #[tokio::test]
    async fn accounts_and_their_keys_take_turns() {
        let scans = ShortScans::with_places(2);
        for _ in 0..2 {
            assert!(scans.join("greedy", "1").is_none(), "nobody waits yet");
        }
        let mut waiting = crowd(
            &scans,
            &[
                ("greedy", "1", "g1"),
                ("greedy", "1", "g1 again"),
                ("greedy", "2", "g2"),
                ("other", "3", "o3"),
            ],
        );
        assert_eq!(served(&scans, &mut waiting), ["g1", "o3"]);
        assert_eq!(served(&scans, &mut waiting), ["g1 again", "g2"]);
        assert!(scans.join("other", "3").is_some(), "this pass is full");
        scans.begin_pass();
        assert!(scans.join("other", "3").is_none());
    }

    #[tokio::test]
    async fn modest_key_waits_one_pass() {
        const KEYS: usize = 8;
        for (account, share) in [("greedy", 1), ("other", KEYS / 2)] {
            let scans = ShortScans::with_places(KEYS);
            for _ in 0..KEYS {
                assert!(scans.join("greedy", "0").is_none(), "nobody waits yet");
            }
            // Each of the other keys has as many waiting as a key may have, and they came first.
            let greedy = (0..KEYS - 1).flat_map(|key| (0..64).map(move |_| key.to_string()));
            let _greedy: Vec<_> = greedy.map(|key| scans.join("greedy", &key)).collect();
            for pass in 0..20 {
                let mut quiet = crowd(&scans, &vec![(account, "quiet", "quiet"); share]);
                served(&scans, &mut quiet);
                assert!(quiet.is_empty(), "{account} waits in pass {pass}");
            }
        }
    }

    #[tokio::test]
    async fn greedy_key_gets_its_share() {
        const KEYS: usize = 8;
        let scans = ShortScans::with_places(KEYS);
        for _ in 0..KEYS {
            assert!(scans.join("one", "0").is_none(), "nobody waits yet");
        }
        let names: Vec<String> = (0..KEYS).map(|key| key.to_string()).collect();
        let asked = |count: usize| names.iter().map(move |name| (count, name.as_str()));
        // The last key has many more waiting than the others.
        let asked = asked(30).chain([(300, names[KEYS - 1].as_str())]);
        let asked: Vec<_> = asked
            .flat_map(|(count, name)| vec![("one", name, name); count])
            .collect();
        let mut waiting = crowd(&scans, &asked);
        let mut counts = std::collections::BTreeMap::<&str, usize>::new();
        for _ in 0..20 {
            for name in served(&scans, &mut waiting) {
                *counts.entry(name).or_default() += 1;
            }
        }
        assert_eq!(counts.into_values().collect::<Vec<_>>(), [20; KEYS]);
    }

    #[tokio::test]
    async fn scans_of_a_pass_run_consecutively() {
        let scans = ShortScans::with_places(2);
        let steps = Mutex::new(Vec::new());
        let ask = async |key| {
            steps.lock().unwrap().push("read");
            scans.take("one", key).await;
            steps.lock().unwrap().push("scanned");
        };
        tokio::join!(ask("1"), ask("2"));
        let expected = ["read", "read", "scanned", "scanned"];
        assert_eq!(*steps.lock().unwrap(), expected);
    }

    #[tokio::test]
    async fn dropped_waiter_uses_no_turn() {
        let scans = ShortScans::with_places(1);
        scans.take("one", "1").await;
        let mut waiting = crowd(&scans, &[("one", "1", "gone"), ("one", "1", "here")]);
        waiting.remove(0);
        assert_eq!(served(&scans, &mut waiting), ["here"]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn every_waiter_is_served() {
        let scans = ShortScans::with_places(1);
        let crowd = (0..200).map(|number| {
            let scans = Arc::clone(&scans);
            tokio::spawn(async move { scans.take(&(number % 3).to_string(), "key").await })
        });
        for one in crowd.collect::<Vec<_>>() {
            one.await.unwrap();
        }
        assert!(scans.state().waiting.is_empty());
    }
}
