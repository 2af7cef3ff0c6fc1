//! Limits per key, per account, and per address with wrong keys.
//!
//! All count per second over the last minute, so a burst at the turn of a minute gains nothing. The clock is an
//! argument. Written here because replicas share the limit of a key: each grants its part, and the parts change as
//! replicas come and go.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use phigate_types::{KeyLimit, Limits};

/// Entries kept at most. Idle ones go first, and every entry is idle a minute after its last use.
const ENTRIES_MAX: usize = 65_536;

const SECONDS: usize = 60;

/// A limit was reached; asking again makes sense after these seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limited {
    pub(crate) retry_after_s: u64,
}

/// The limits of every API key.
#[derive(Debug)]
pub(crate) struct KeyLimits {
    started: Instant,
    per_minute: u64,
    concurrency: u64,
    /// Processes that share the store. Each grants its share, so that together they grant about the limit.
    replicas: AtomicU32,
    keys: Mutex<Bounded<String>>,
    /// Concurrent requests of one account: three quarters of the gateway's places, so that no account can take all,
    /// however many keys it has and however long its provider takes.
    account_concurrency: u64,
    accounts: Mutex<Bounded<String>>,
}

/// A request of a key that is being worked on. Clones share the place; dropping the last gives it back.
#[derive(Debug, Clone)]
pub(crate) struct KeyPermit {
    _running: Arc<Running>,
}

impl KeyPermit {
    /// Limits of a request without a key, if the operator permits such requests.
    pub(crate) fn without_key() -> Self {
        Self {
            _running: Arc::new(Running {
                _of_key: Arc::default(),
                _of_account: Arc::default(),
            }),
        }
    }
}

/// One of a key's requests: the key and its account count these, not the clones of a permit.
#[derive(Debug)]
struct Running {
    _of_key: Arc<()>,
    _of_account: Arc<()>,
}

/// The strikes of every address that sent a wrong key.
#[derive(Debug)]
pub(crate) struct BadKeys {
    started: Instant,
    per_minute: u32,
    addresses: Mutex<Bounded<IpAddr>>,
}

impl KeyLimits {
    pub(crate) fn new(limits: &Limits, now: Instant) -> Self {
        Self {
            started: now,
            per_minute: limits.key_requests_per_minute,
            concurrency: limits.key_concurrency,
            replicas: AtomicU32::new(1),
            keys: Mutex::default(),
            account_concurrency: limits.concurrency - limits.concurrency / 4,
            accounts: Mutex::default(),
        }
    }

    /// Says between how many processes the limits are shared now.
    pub(crate) fn share_between(&self, replicas: usize) {
        let replicas = u32::try_from(replicas).unwrap_or(u32::MAX).max(1);
        self.replicas.store(replicas, Ordering::Relaxed);
    }

    /// Lets a request of this account and key in, or says when to come again. Known keys only. `own` are the
    /// limits that the account's owner set, by their names in the configuration.
    pub(crate) fn admit(
        &self,
        account_id: &str,
        key_id: &str,
        own: &BTreeMap<KeyLimit, u64>,
        now: Instant,
    ) -> Result<KeyPermit, Limited> {
        let allowed = self.allowed(own);
        let second = second(self.started, now);
        // The key first: under load its limit is the one reached most often, and a refusal must cost little.
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = keys.entry(key_id, second);
        entry.allowed = Some(allowed);
        let of_key = entry.place(allowed.concurrency)?;
        let of_account = self.place_of_account(account_id, second)?;
        entry.minute.count(second, allowed.per_minute)?;
        Ok(KeyPermit {
            _running: Arc::new(Running {
                _of_key: of_key,
                _of_account: of_account,
            }),
        })
    }

    /// Whether a key was at its limits in its last request. The caller's secret is not checked.
    pub(crate) fn is_at_limit(&self, key_id: &str, now: Instant) -> bool {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = keys.entries.get_mut(key_id);
        entry.is_some_and(|entry| {
            let second = second(self.started, now);
            let allowed = entry.allowed;
            allowed.is_some_and(|allowed| entry.room(allowed, second).is_err())
        })
    }

    /// Whether a request of this key would find its limits met, and when to come again then. Nothing is counted.
    pub(crate) fn room(
        &self,
        key_id: &str,
        own: &BTreeMap<KeyLimit, u64>,
        now: Instant,
    ) -> Result<(), Limited> {
        let second = second(self.started, now);
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.entry(key_id, second).room(self.allowed(own), second)
    }

    /// Part of a key's limits that this replica grants now.
    fn allowed(&self, own: &BTreeMap<KeyLimit, u64>) -> Allowed {
        let replicas = u64::from(self.replicas.load(Ordering::Relaxed));
        let share = |limit: KeyLimit, configured: u64| {
            own.get(&limit)
                .copied()
                .unwrap_or(configured)
                .div_ceil(replicas)
        };
        let per_minute = share(KeyLimit::RequestsPerMinute, self.per_minute);
        Allowed {
            concurrency: share(KeyLimit::Concurrency, self.concurrency),
            per_minute: u32::try_from(per_minute).unwrap_or(u32::MAX),
        }
    }

    fn place_of_account(&self, account_id: &str, second: u64) -> Result<Arc<()>, Limited> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = accounts.entry(account_id, second);
        entry.place(self.account_concurrency)
    }
}

impl BadKeys {
    pub(crate) fn new(limits: &Limits, now: Instant) -> Self {
        Self {
            started: now,
            per_minute: u32::try_from(limits.bad_keys_per_minute).unwrap_or(u32::MAX),
            addresses: Mutex::default(),
        }
    }

    /// Whether an address may fail once more.
    pub(crate) fn has_room(&self, address: IpAddr, now: Instant) -> bool {
        let second = second(self.started, now);
        let mut addresses = self
            .addresses
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let entry = addresses.entry(&rate_limit_prefix(address), second);
        entry.minute.room(second, self.per_minute).is_ok()
    }

    /// Counts a wrong key. `Err` means: answer that there were too many, not that this one is wrong.
    pub(crate) fn strike(&self, address: IpAddr, now: Instant) -> Result<(), Limited> {
        let second = second(self.started, now);
        let mut addresses = self
            .addresses
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        addresses
            .entry(&rate_limit_prefix(address), second)
            .minute
            .count(second, self.per_minute)
    }
}

/// The part of an address that one subscriber has: all of IPv4, the first half of IPv6.
fn rate_limit_prefix(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from(u128::from(address) >> 64 << 64)),
    }
}

fn second(started: Instant, now: Instant) -> u64 {
    now.saturating_duration_since(started).as_secs()
}

/// A map that cannot grow without bound.
#[derive(Debug)]
struct Bounded<K> {
    entries: HashMap<K, Entry>,
}

#[derive(Debug, Default)]
struct Entry {
    minute: Minute,
    running: Arc<()>,
    /// Limits of the key at its last request.
    allowed: Option<Allowed>,
}

/// Concurrency and per-minute limits of one key.
#[derive(Debug, Clone, Copy)]
struct Allowed {
    concurrency: u64,
    per_minute: u32,
}

impl Entry {
    /// Whether there is room for one more.
    fn room(&mut self, allowed: Allowed, second: u64) -> Result<(), Limited> {
        self.place(allowed.concurrency)?;
        self.minute.room(second, allowed.per_minute)
    }

    /// Takes a place among the concurrent requests, kept until it is dropped.
    fn place(&self, max: u64) -> Result<Arc<()>, Limited> {
        // One count is the entry's own.
        if Arc::strong_count(&self.running) as u64 > max {
            return Err(Limited { retry_after_s: 1 });
        }
        Ok(Arc::clone(&self.running))
    }
}

impl<K> Default for Bounded<K> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
        }
    }
}

impl<K: Eq + Hash + Clone> Bounded<K> {
    fn entry<Q>(&mut self, key: &Q, second: u64) -> &mut Entry
    where
        K: std::borrow::Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        if !self.entries.contains_key(key) {
            if self.entries.len() >= ENTRIES_MAX {
                self.make_room(second);
            }
            self.entries.insert(key.to_owned(), Entry::default());
        }
        self.entries
            .get_mut(key)
            .expect("it was found or put there just now")
    }

    fn make_room(&mut self, second: u64) {
        self.entries.retain(|_, entry| {
            second < entry.minute.newest + SECONDS as u64 || Arc::strong_count(&entry.running) > 1
        });
        // All entries are busy: evicting the least recently used is the least harm.
        if self.entries.len() >= ENTRIES_MAX {
            let oldest = self
                .entries
                .iter()
                .min_by_key(|(_, entry)| entry.minute.newest);
            if let Some(key) = oldest.map(|(key, _)| key.clone()) {
                self.entries.remove(&key);
            }
        }
    }
}

/// Number of events in each of the last sixty seconds.
#[derive(Debug)]
struct Minute {
    counts: [u32; SECONDS],
    newest: u64,
    total: u32,
}

impl Default for Minute {
    fn default() -> Self {
        Self {
            counts: [0; SECONDS],
            newest: 0,
            total: 0,
        }
    }
}

impl Minute {
    /// Counts one more, unless there were `max` in the last minute.
    fn count(&mut self, second: u64, max: u32) -> Result<(), Limited> {
        self.room(second, max)?;
        self.counts[place(self.newest)] += 1;
        self.total += 1;
        Ok(())
    }

    /// Whether there were fewer than `max` in the last minute.
    fn room(&mut self, second: u64, max: u32) -> Result<(), Limited> {
        self.forget(second);
        if self.total >= max {
            return Err(Limited {
                retry_after_s: self.until_room(max),
            });
        }
        Ok(())
    }

    /// Drops events older than a minute.
    fn forget(&mut self, second: u64) {
        let passed = second.saturating_sub(self.newest).min(SECONDS as u64);
        for step in 1..=passed {
            let count = &mut self.counts[place(self.newest + step)];
            self.total -= std::mem::take(count);
        }
        self.newest = self.newest.max(second);
    }

    /// Seconds until enough has been forgotten.
    fn until_room(&self, max: u32) -> u64 {
        let mut total = self.total;
        for step in 1..=SECONDS as u64 {
            total -= self.counts[place(self.newest + step)];
            if total < max {
                return step;
            }
        }
        SECONDS as u64
    }
}

fn place(second: u64) -> usize {
    usize::try_from(second % SECONDS as u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn replicas_share_the_limits_of_a_key() {
        let start = Instant::now();
        let limits = Limits {
            key_requests_per_minute: 9,
            key_concurrency: 6,
            ..Limits::default()
        };
        let keys = KeyLimits::new(&limits, start);
        keys.share_between(3);
        let running: Vec<_> = (0..2)
            .map(|_| keys.admit("one", "k", &BTreeMap::new(), start).unwrap())
            .collect();
        assert!(
            keys.admit("one", "k", &BTreeMap::new(), start).is_err(),
            "two of six at once"
        );
        drop(running);
        assert!(keys.admit("one", "k", &BTreeMap::new(), start).is_ok());
        assert!(
            keys.admit("one", "k", &BTreeMap::new(), start).is_err(),
            "three of nine a minute"
        );
    }

    #[test]
    fn an_owner_may_set_other_limits() {
        let start = Instant::now();
        let keys = KeyLimits::new(&Limits::default(), start);
        let own = BTreeMap::from([(KeyLimit::RequestsPerMinute, 1)]);
        assert!(keys.admit("one", "k", &own, start).is_ok());
        assert!(keys.admit("one", "k", &own, start).is_err());
        assert!(keys.admit("one", "k", &BTreeMap::new(), start).is_ok());
    }

    #[test]
    fn key_requests_are_limited_in_any_minute() {
        let start = Instant::now();
        let limits = KeyLimits::new(
            &Limits {
                key_requests_per_minute: 3,
                ..Limits::default()
            },
            start,
        );
        let ask = |key: &str, second| {
            limits
                .admit(
                    "one",
                    key,
                    &BTreeMap::new(),
                    start + Duration::from_secs(second),
                )
                .err()
                .map(|limited| limited.retry_after_s)
        };
        assert_eq!(ask("a", 10), None);
        assert_eq!(ask("a", 50), None);
        assert_eq!(ask("a", 50), None);
        assert_eq!(
            ask("a", 55),
            Some(15),
            "the request of second 10 counts until second 70"
        );
        assert_eq!(ask("b", 55), None, "another key has its own count");
        assert_eq!(ask("a", 70), None);
        assert_eq!(ask("a", 71), Some(39));
        assert_eq!(ask("a", 1000), None);
    }

    #[test]
    fn concurrent_requests_per_key_are_limited() {
        let start = Instant::now();
        let limits = KeyLimits::new(
            &Limits {
                key_concurrency: 2,
                ..Limits::default()
            },
            start,
        );
        let first = limits.admit("one", "a", &BTreeMap::new(), start).unwrap();
        let clone = first.clone();
        let _second = limits.admit("one", "a", &BTreeMap::new(), start).unwrap();
        assert_eq!(
            limits
                .admit("one", "a", &BTreeMap::new(), start)
                .unwrap_err(),
            Limited { retry_after_s: 1 }
        );
        drop(first);
        assert!(
            limits.admit("one", "a", &BTreeMap::new(), start).is_err(),
            "a clone keeps the place"
        );
        drop(clone);
        assert!(limits.admit("one", "a", &BTreeMap::new(), start).is_ok());
    }

    #[test]
    fn key_check_predicts_admission_without_counting() {
        let start = Instant::now();
        let limits = Limits {
            key_concurrency: 2,
            key_requests_per_minute: 4,
            ..Limits::default()
        };
        let (keys, none) = (KeyLimits::new(&limits, start), BTreeMap::new());
        assert!(!keys.is_at_limit("a", start), "nobody asked yet");
        for round in 0..2 {
            let mut held = Vec::new();
            for _ in 0..2 {
                for _ in 0..5 {
                    assert_eq!(keys.room("a", &none, start), Ok(()), "round {round}");
                    assert!(!keys.is_at_limit("a", start));
                }
                held.push(keys.admit("one", "a", &none, start).unwrap());
            }
            let limited = keys.admit("one", "a", &none, start).unwrap_err();
            assert_eq!(keys.room("a", &none, start), Err(limited));
            assert!(keys.is_at_limit("a", start) && !keys.is_at_limit("b", start));
            let own = BTreeMap::from([(KeyLimit::Concurrency, 3)]);
            assert_eq!(keys.room("a", &own, start).is_ok(), round == 0);
        }
        assert!(keys.is_at_limit("a", start), "four in this minute");
        assert!(!keys.is_at_limit("a", start + Duration::from_secs(60)));
    }

    #[test]
    fn account_leaves_quarter_of_places_free() {
        let start = Instant::now();
        let limits = Limits {
            concurrency: 8,
            ..Limits::default()
        };
        let limits = KeyLimits::new(&limits, start);
        let admit = |account: &str, key: usize| {
            limits.admit(account, &key.to_string(), &BTreeMap::new(), start)
        };
        let held: Vec<_> = (0..6).map(|key| admit("one", key).unwrap()).collect();
        assert!(admit("one", 6).is_err(), "a new key gains nothing");
        assert!(admit("other", 9).is_ok());
        drop(held);
        assert!(admit("one", 6).is_ok());
    }

    #[test]
    fn an_address_has_so_many_wrong_keys() {
        let start = Instant::now();
        let bad = BadKeys::new(
            &Limits {
                bad_keys_per_minute: 2,
                ..Limits::default()
            },
            start,
        );
        let strike = |address: &str| bad.strike(address.parse().unwrap(), start).is_ok();
        assert!(strike("192.0.2.1") && strike("192.0.2.1"));
        assert!(!strike("192.0.2.1"));
        assert!(
            !strike("::ffff:192.0.2.1"),
            "the same address in another spelling"
        );
        assert!(strike("192.0.2.2"));
        assert!(strike("2001:db8::1") && strike("2001:db8::2"));
        assert!(!strike("2001:db8::3"), "one subscriber has a whole /64");
        assert!(strike("2001:db8:0:1::3"));
    }

    #[test]
    fn the_map_does_not_grow_without_bound() {
        let mut map = Bounded::<String>::default();
        for number in 0..ENTRIES_MAX + 10 {
            let _ = map.entry(number.to_string().as_str(), 0).minute.count(0, 5);
        }
        assert_eq!(map.entries.len(), ENTRIES_MAX);
        map.entry("late", 100);
        assert_eq!(map.entries.len(), 1, "idle entries were kept");
    }
}
