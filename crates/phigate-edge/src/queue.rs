//! Bounded number of requests in progress, with a short queue in front.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use phigate_types::Limits;

/// Permit of one request in progress. Clones share it; dropping the last returns it.
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

/// Permits for requests in progress, and for requests that wait.
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

    /// Waits for a permit. `None` if the queue is full or the wait too long.
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
    async fn queue_is_bounded_in_length_and_time() {
        let queue = Queue::new(&Limits {
            concurrency: 1,
            queue: 1,
            queue_ms: 50,
            ..Limits::default()
        });
        let working = queue.enter().await.unwrap();
        let (waited, turned_away) = tokio::join!(queue.enter(), queue.enter());
        assert!(waited.is_none(), "waited for longer than the limit");
        assert!(turned_away.is_none(), "more waited than the queue holds");
        let (served, ()) = tokio::join!(queue.enter(), async { drop(working) });
        assert!(served.is_some());
    }
}
