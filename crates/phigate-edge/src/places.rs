//! Places for connections: so many at a time, and whoever rests longest makes room for whoever comes.
//!
//! Connections cost their owner nothing, so waiting until one of them is given up would let a few strangers shut out
//! everybody. A place is only ever asked for while nothing is asked on its connection, and not at once: who has just
//! connected gets time to say something.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// How long a connection rests before its place may be asked for.
const REST_MIN: Duration = Duration::from_secs(1);

/// How long we wait for somebody who was asked to go before the next one is asked.
const NEXT: Duration = Duration::from_millis(20);

/// The places of all connections that share a limit.
pub(crate) struct Places {
    free: Arc<Semaphore>,
    line: Mutex<Line>,
}

/// Those whose place may be asked for, by how long they rest: not all of them are noticed at once. The number tells
/// apart those who began at the same moment.
#[derive(Default)]
struct Line {
    last: u64,
    resting: BTreeMap<(Instant, u64), Arc<Notify>>,
}

/// The place of one connection, free again when dropped.
pub(crate) struct Place {
    places: Arc<Places>,
    /// Where it stands in the line, if it does.
    stands: Mutex<Option<(Instant, u64)>>,
    bell: Arc<Notify>,
    _taken: Option<OwnedSemaphorePermit>,
}

impl Places {
    /// So many places. A listener holds one of them ready for whoever comes next; each further listener adds its own.
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

    /// A free place. When there is none, those who rest longest are asked for theirs.
    pub(crate) async fn take(self: &Arc<Self>) -> Option<Place> {
        if let Ok(free) = Arc::clone(&self.free).try_acquire_owned() {
            return Some(self.place(Some(free)));
        }
        loop {
            let patience = self.ask(Instant::now());
            let free = Arc::clone(&self.free).acquire_owned();
            match tokio::time::timeout(patience, free).await {
                Ok(free) => return free.ok().map(|free| self.place(Some(free))),
                Err(_) => continue,
            }
        }
    }

    /// A place beside all others.
    pub(crate) fn extra(self: &Arc<Self>) -> Place {
        self.place(None)
    }

    fn place(self: &Arc<Self>, taken: Option<OwnedSemaphorePermit>) -> Place {
        Place {
            places: Arc::clone(self),
            stands: Mutex::default(),
            bell: Arc::default(),
            _taken: taken,
        }
    }

    /// Asks whoever rests longest to go, unless that is not long; says when to ask again.
    fn ask(&self, now: Instant) -> Duration {
        let mut line = self.line();
        let Some(first) = line.resting.first_entry() else {
            return NEXT;
        };
        let (since, _) = *first.key();
        let rested = now.saturating_duration_since(since);
        if rested < REST_MIN {
            return REST_MIN - rested;
        }
        first.remove().notify_one();
        NEXT
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Nothing is asked, and was not since then: into the line.
    pub(crate) fn rest(&self, since: Instant) {
        let mut stands = self.stands();
        let mut line = self.places.line();
        if let Some(before) = *stands {
            line.resting.remove(&before);
        }
        line.last += 1;
        let here = (since, line.last);
        line.resting.insert(here, Arc::clone(&self.bell));
        *stands = Some(here);
    }

    /// Something is asked: out of the line.
    pub(crate) fn work(&self) {
        if let Some(stood) = self.stands().take() {
            self.places.line().resting.remove(&stood);
        }
    }

    /// Whether it stands in the line or was asked for since.
    pub(crate) fn is_resting(&self) -> bool {
        self.stands().is_some()
    }

    fn stands(&self) -> MutexGuard<'_, Option<(Instant, u64)>> {
        self.stands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until somebody else needs the place.
    pub(crate) async fn asked_for(&self) {
        loop {
            self.bell.notified().await;
            // A ring may be from an earlier rest; whoever rang took us out of the line.
            let stands = *self.stands();
            if stands.is_some_and(|here| !self.places.line().resting.contains_key(&here)) {
                return;
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.work();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn is_asked_for(place: &Place) -> bool {
        let asked = tokio::time::timeout(Duration::from_millis(1), place.asked_for());
        asked.await.is_ok()
    }

    #[tokio::test]
    async fn whoever_rests_longest_is_asked_first_and_nobody_at_once() {
        let places = Places::new(3, 0);
        let first = places.take().await.unwrap();
        let second = places.take().await.unwrap();
        let at_work = places.take().await.unwrap();
        let now = Instant::now();
        first.rest(now);
        second.rest(now);
        // The first was asked something in between.
        first.work();
        first.rest(now);
        assert!(places.ask(now) > NEXT);
        assert!(!is_asked_for(&second).await);
        assert_eq!(places.ask(now + REST_MIN), NEXT);
        assert!(is_asked_for(&second).await);
        assert!(!is_asked_for(&first).await);
        assert_eq!(places.ask(now + REST_MIN), NEXT);
        assert!(is_asked_for(&first).await);
        places.ask(now + REST_MIN);
        assert!(!is_asked_for(&at_work).await);
    }

    #[tokio::test]
    async fn whoever_rests_longest_is_asked_first_even_if_that_was_noticed_late() {
        let places = Places::new(2, 0);
        let first = places.take().await.unwrap();
        let second = places.take().await.unwrap();
        let now = Instant::now();
        second.rest(now + Duration::from_millis(1));
        first.rest(now);
        places.ask(now + 2 * REST_MIN);
        assert!(is_asked_for(&first).await);
        assert!(!is_asked_for(&second).await);
    }

    #[tokio::test]
    async fn a_ring_that_came_too_late_is_not_heard_later() {
        let places = Places::new(1, 0);
        let place = places.take().await.unwrap();
        let now = Instant::now();
        place.rest(now);
        places.ask(now + REST_MIN);
        place.work();
        assert!(!is_asked_for(&place).await);
        place.rest(now);
        assert!(!is_asked_for(&place).await);
    }

    #[tokio::test]
    async fn a_place_is_free_again_and_out_of_the_line_when_dropped() {
        let places = Places::new(1, 0);
        let place = places.take().await.unwrap();
        place.rest(Instant::now());
        drop(place);
        assert!(places.line().resting.is_empty());
        let again = tokio::time::timeout(Duration::from_millis(1), places.take());
        assert!(again.await.is_ok());
    }
}
