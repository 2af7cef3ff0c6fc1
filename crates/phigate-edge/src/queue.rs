//! A bounded number of requests at work, and a short queue before it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use phigate_types::Limits;

/// A place to work at. Clones share it; dropping the last gives it back.
#[derive(Debug, Clone)]
pub struct WorkPermit {
    _place: Arc<OwnedSemaphorePermit>,
}

impl From<OwnedSemaphorePermit> for WorkPermit {
    fn from(place: OwnedSemaphorePermit) -> Self {
        Self {
            _place: Arc::new(place),
        }
    }
}

/// Places to work at, and places to wait for one.
pub(crate) struct Queue {
    work: Arc<Semaphore>,
    wait: Semaphore,
    wait_max: Duration,
}

impl Queue {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            work: Arc::new(Semaphore::new(permits(limits.concurrency))),
            wait: Semaphore::new(permits(limits.queue)),
            wait_max: Duration::from_millis(limits.queue_ms),
        }
    }

    /// A place to work at, kept until it is dropped. `None` when the queue is full or too slow.
    pub(crate) async fn enter(&self) -> Option<WorkPermit> {
        if let Ok(place) = Arc::clone(&self.work).try_acquire_owned() {
            return Some(place.into());
        }
        let _waiting = self.wait.try_acquire().ok()?;
        let place = Arc::clone(&self.work).acquire_owned();
        let place = tokio::time::timeout(self.wait_max, place).await.ok()?;
        place.ok().map(WorkPermit::from)
    }
}

fn permits(count: u64) -> usize {
    usize::try_from(count)
        .unwrap_or(Semaphore::MAX_PERMITS)
        .min(Semaphore::MAX_PERMITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_queue_is_short_in_places_and_in_time() {
        let queue = Queue::new(&Limits {
            concurrency: 1,
            queue: 1,
            queue_ms: 50,
            ..Limits::default()
        });
        let working = queue.enter().await.unwrap();
        let (waited, turned_away) = tokio::join!(queue.enter(), queue.enter());
        assert!(waited.is_none(), "waited for longer than the limit");
        assert!(turned_away.is_none(), "more waited than there are places");
        let (served, ()) = tokio::join!(queue.enter(), async { drop(working) });
        assert!(served.is_some());
    }
}
