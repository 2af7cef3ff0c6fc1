//! The threads that serve connections: one for each processor, with a runtime of its own.
//!
//! A connection stays on its thread, and so does what is opened for it to a provider. A request then wakes no other
//! thread on its way, which costs more than most requests do. New connections go to the thread that has fewest; the
//! requests of one HTTP/2 connection, which may be many, are spread over all of them.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::runtime::{Builder, Handle};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

thread_local! {
    static SEAT: Cell<usize> = const { Cell::new(0) };
}

/// The number of the thread this runs on, from 1; zero elsewhere. What has a runtime of its own is kept by it.
pub fn seat() -> usize {
    SEAT.get()
}

/// The threads. Clones share them; they end with the last.
#[derive(Debug, Clone, Default)]
pub struct Crew {
    members: Arc<[Member]>,
    _stop: Option<Arc<DropGuard>>,
}

#[derive(Debug)]
struct Member {
    runtime: Handle,
    /// What it is at.
    tasks: Arc<AtomicUsize>,
}

/// One thing that a member is at.
struct Busy(Arc<AtomicUsize>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Crew {
    /// A thread for each processor.
    pub fn start() -> std::io::Result<Self> {
        let size = std::thread::available_parallelism().map_or(1, usize::from);
        let stop = CancellationToken::new();
        let members: Vec<Member> = (1..=size)
            .map(|seat| Member::start(seat, stop.clone()))
            .collect::<std::io::Result<_>>()?;
        Ok(Self {
            members: members.into(),
            _stop: Some(Arc::new(stop.drop_guard())),
        })
    }

    /// Nobody: everything is done by the runtime that asks for it.
    pub fn none() -> Self {
        Self::default()
    }

    /// Gives a task to the member that has fewest. With a tracker, it is waited for.
    pub(crate) fn spawn<F>(&self, tracker: Option<&TaskTracker>, task: F)
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        let count = |member: &&Member| member.tasks.load(Ordering::Relaxed);
        let Some(member) = self.members.iter().min_by_key(count) else {
            match tracker {
                Some(tracker) => drop(tracker.spawn(task)),
                None => drop(tokio::spawn(task)),
            }
            return;
        };
        member.tasks.fetch_add(1, Ordering::Relaxed);
        let busy = Busy(Arc::clone(&member.tasks));
        let task = async move {
            let _busy = busy;
            task.await
        };
        match tracker {
            Some(tracker) => drop(tracker.spawn_on(task, &member.runtime)),
            None => drop(member.runtime.spawn(task)),
        }
    }
}

impl Member {
    fn start(seat: usize, stop: CancellationToken) -> std::io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        std::thread::Builder::new()
            .name(format!("phigate-{seat}"))
            .spawn(move || {
                SEAT.set(seat);
                runtime.block_on(stop.cancelled());
                // Whatever still runs has been told to stop; its time is over.
                runtime.shutdown_background();
            })?;
        Ok(Self {
            runtime: handle,
            tasks: Arc::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn tasks_are_spread_evenly_and_stay_where_they_are() {
        let crew = Crew::start().unwrap();
        let (tell, mut told) = mpsc::unbounded_channel();
        let (tracker, over) = (TaskTracker::new(), CancellationToken::new());
        let tasks = 4 * crew.members.len();
        for _ in 0..tasks {
            let (tell, over) = (tell.clone(), over.clone());
            crew.spawn(Some(&tracker), async move {
                let before = seat();
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                assert_eq!(seat(), before);
                tell.send(before).unwrap();
                over.cancelled().await;
            });
        }
        let mut seats: BTreeMap<usize, usize> = BTreeMap::new();
        for _ in 0..tasks {
            *seats.entry(told.recv().await.unwrap()).or_default() += 1;
        }
        assert!(!seats.contains_key(&0));
        assert!(seats.values().all(|count| *count == 4), "{seats:?}");
        over.cancel();
        tracker.close();
        tracker.wait().await;
        assert!(crew.members.iter().all(|one| one.tasks.load(Ordering::Relaxed) == 0));
    }

    #[tokio::test]
    async fn without_a_crew_the_own_runtime_works() {
        let (tell, told) = tokio::sync::oneshot::channel();
        Crew::none().spawn(None, async move { tell.send(seat()) });
        assert_eq!(told.await, Ok(0));
    }
}
