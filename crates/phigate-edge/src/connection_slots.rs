//! Slots for connections: a limited number; the connection that is idle longest is evicted for a new one.
//!
//! An idle connection costs its caller nothing, so without eviction a few strangers could lock out all callers. Only a
//! connection without a request is evicted, and only after a minimum time, so that a new one can send its request.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Idle time before a connection may be evicted.
const IDLE_MIN: Duration = Duration::from_secs(1);

/// Wait after evicting a connection before the next one is evicted.
const EVICTION_PAUSE: Duration = Duration::from_millis(20);

/// Slots of all connections that share a limit.
pub(crate) struct ConnectionSlots {
    free: Arc<Semaphore>,
    line: Mutex<IdleLine>,
}

/// Idle connections by the start of their idle time, which is not noticed in order. The number distinguishes equal
/// times.
#[derive(Default)]
struct IdleLine {
    last: u64,
    resting: BTreeMap<(Instant, u64), Arc<Notify>>,
}

/// Slot of one connection, freed on drop.
pub(crate) struct ConnectionSlot {
    slots: Arc<ConnectionSlots>,
    /// Key in the line, if idle.
    key: Mutex<Option<(Instant, u64)>>,
    evicted: Arc<Notify>,
    _taken: Option<OwnedSemaphorePermit>,
}

impl ConnectionSlots {
    /// Creates `count` slots. Each listener holds one for the next connection; each further listener adds one.
    pub(crate) fn new(count: u64, further_listeners: usize) -> Arc<Self> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let count = count
            .saturating_add(further_listeners)
            .min(Semaphore::MAX_PERMITS);
        Arc::new(Self {
            free: Arc::new(Semaphore::new(count)),
            line: Mutex::default(),
        })
    }

    /// Takes a free slot, or evicts idle connections until one is free.
    pub(crate) async fn take(self: &Arc<Self>) -> Option<ConnectionSlot> {
        if let Ok(free) = Arc::clone(&self.free).try_acquire_owned() {
            return Some(self.slot(Some(free)));
        }
        loop {
            let pause = self.evict_idlest(Instant::now());
            let free = Arc::clone(&self.free).acquire_owned();
            match tokio::time::timeout(pause, free).await {
                Ok(free) => return free.ok().map(|free| self.slot(Some(free))),
                Err(_) => continue,
            }
        }
    }

    /// Creates a slot beyond the limit.
    pub(crate) fn extra(self: &Arc<Self>) -> ConnectionSlot {
        self.slot(None)
    }

    fn slot(self: &Arc<Self>, taken: Option<OwnedSemaphorePermit>) -> ConnectionSlot {
        ConnectionSlot {
            slots: Arc::clone(self),
            key: Mutex::default(),
            evicted: Arc::default(),
            _taken: taken,
        }
    }

    /// Evicts the connection that is idle longest, if it is past its minimum time; returns when to try again.
    fn evict_idlest(&self, now: Instant) -> Duration {
        let mut line = self.line();
        let Some(first) = line.resting.first_entry() else {
            return EVICTION_PAUSE;
        };
        let (since, _) = *first.key();
        let rested = now.saturating_duration_since(since);
        if rested < IDLE_MIN {
            return IDLE_MIN - rested;
        }
        first.remove().notify_one();
        EVICTION_PAUSE
    }

    fn line(&self) -> MutexGuard<'_, IdleLine> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionSlot {
    /// Enters the line: idle since `since`.
    pub(crate) fn rest(&self, since: Instant) {
        let mut key = self.key();
        let mut line = self.slots.line();
        if let Some(before) = *key {
            line.resting.remove(&before);
        }
        line.last += 1;
        let here = (since, line.last);
        line.resting.insert(here, Arc::clone(&self.evicted));
        *key = Some(here);
    }

    /// Leaves the line: a request arrived.
    pub(crate) fn work(&self) {
        if let Some(key) = self.key().take() {
            self.slots.line().resting.remove(&key);
        }
    }

    /// Whether the connection is in the line or was evicted from it.
    pub(crate) fn is_resting(&self) -> bool {
        self.key().is_some()
    }

    fn key(&self) -> MutexGuard<'_, Option<(Instant, u64)>> {
        self.key.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the connection is evicted.
    pub(crate) async fn asked_for(&self) {
        loop {
            self.evicted.notified().await;
            // A notification may be from an earlier idle time; evicting removed the key from the line.
            let key = *self.key();
            if key.is_some_and(|here| !self.slots.line().resting.contains_key(&here)) {
                return;
            }
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.work();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn is_evicted(slot: &ConnectionSlot) -> bool {
        let asked = tokio::time::timeout(Duration::from_millis(1), slot.asked_for());
        asked.await.is_ok()
    }

    #[tokio::test]
    async fn idlest_connection_is_evicted_first() {
        let slots = ConnectionSlots::new(3, 0);
        let first = slots.take().await.unwrap();
        let second = slots.take().await.unwrap();
        let at_work = slots.take().await.unwrap();
        let now = Instant::now();
        first.rest(now);
        second.rest(now);
        // The first connection had a request in between.
        first.work();
        first.rest(now);
        assert!(slots.evict_idlest(now) > EVICTION_PAUSE);
        assert!(!is_evicted(&second).await);
        assert_eq!(slots.evict_idlest(now + IDLE_MIN), EVICTION_PAUSE);
        assert!(is_evicted(&second).await);
        assert!(!is_evicted(&first).await);
        assert_eq!(slots.evict_idlest(now + IDLE_MIN), EVICTION_PAUSE);
        assert!(is_evicted(&first).await);
        slots.evict_idlest(now + IDLE_MIN);
        assert!(!is_evicted(&at_work).await);
    }

    #[tokio::test]
    async fn idlest_connection_is_evicted_despite_late_notice() {
        let slots = ConnectionSlots::new(2, 0);
        let first = slots.take().await.unwrap();
        let second = slots.take().await.unwrap();
        let now = Instant::now();
        second.rest(now + Duration::from_millis(1));
        first.rest(now);
        slots.evict_idlest(now + 2 * IDLE_MIN);
        assert!(is_evicted(&first).await);
        assert!(!is_evicted(&second).await);
    }

    #[tokio::test]
    async fn late_eviction_is_ignored_after_a_request() {
        let slots = ConnectionSlots::new(1, 0);
        let slot = slots.take().await.unwrap();
        let now = Instant::now();
        slot.rest(now);
        slots.evict_idlest(now + IDLE_MIN);
        slot.work();
        assert!(!is_evicted(&slot).await);
        slot.rest(now);
        assert!(!is_evicted(&slot).await);
    }

    #[tokio::test]
    async fn dropped_places_are_freed() {
        let slots = ConnectionSlots::new(1, 0);
        let slot = slots.take().await.unwrap();
        slot.rest(Instant::now());
        drop(slot);
        assert!(slots.line().resting.is_empty());
        let again = tokio::time::timeout(Duration::from_millis(1), slots.take());
        assert!(again.await.is_ok());
    }
}
