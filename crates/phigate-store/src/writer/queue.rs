//! The bounded queue in front of the writer.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::writer::job::Job;
use crate::{Result, StoreError};

/// Limits of the queue or of a group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) jobs: usize,
    pub(crate) bytes: usize,
}

/// Jobs waiting to be written.
pub(crate) struct Queue {
    bounds: Bounds,
    inner: Mutex<Inner>,
    filled: Notify,
    drained: Notify,
}

#[derive(Default)]
struct Inner {
    jobs: VecDeque<Job>,
    bytes: usize,
    /// Number of jobs with a waiting caller.
    awaited: usize,
    closed: bool,
    /// Number of jobs at which the writer is woken.
    wanted: usize,
    /// Whether a job with a waiting caller wakes the writer too.
    wants_awaited: bool,
}

/// Queue size that is urgent even without a waiting caller.
const MANY: Bounds = Bounds {
    jobs: 256,
    bytes: 4 << 20,
};

impl Inner {
    /// Whether the queue should be written without delay.
    fn is_urgent(&self) -> bool {
        let is_much = self.jobs.len() >= MANY.jobs || self.bytes >= MANY.bytes;
        self.closed || self.awaited > 0 || is_much
    }

    fn count_in(&mut self, job: &Job) {
        self.bytes += job.bytes();
        self.awaited += usize::from(job.is_awaited());
    }

    fn count_out(&mut self, job: &Job) {
        self.bytes -= job.bytes();
        self.awaited -= usize::from(job.is_awaited());
    }
}

impl Queue {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            inner: Mutex::default(),
            filled: Notify::new(),
            drained: Notify::new(),
        }
    }

    /// Adds a job if there is room.
    pub(crate) fn push(&self, job: Job) -> Result<(), Box<(Job, StoreError)>> {
        let inner = self.lock();
        if inner.closed {
            return Err(Box::new((job, StoreError::Closed)));
        }
        if inner.jobs.len() >= self.bounds.jobs || inner.bytes >= self.bounds.bytes {
            let why = "too many records wait to be written".to_owned();
            return Err(Box::new((job, StoreError::Unavailable(why))));
        }
        self.add(inner, job);
        Ok(())
    }

    /// Adds a job, and waits while the queue is full.
    pub(crate) async fn push_waiting(&self, mut job: Job) -> Result<()> {
        loop {
            let drained = self.drained.notified();
            match self.push(job) {
                Ok(()) => return Ok(()),
                Err(refused) => match *refused {
                    (_, StoreError::Closed) => return Err(StoreError::Closed),
                    (back, _) => job = back,
                },
            }
            drained.await;
        }
    }

    /// Adds a job even if the queue is full: outcomes, of which there is at most one per accepted decision.
    pub(crate) fn push_always(&self, job: Job) {
        let inner = self.lock();
        self.add(inner, job);
    }

    /// Waits for a job or the close of the queue.
    pub(crate) async fn wait(&self) {
        self.wait_for(1).await;
    }

    /// Waits for this many jobs or the close of the queue. Only the writer calls this.
    pub(super) async fn wait_for(&self, jobs: usize) {
        loop {
            {
                let mut inner = self.lock();
                if inner.closed || inner.jobs.len() >= jobs {
                    return;
                }
                (inner.wanted, inner.wants_awaited) = (jobs, false);
            }
            self.filled.notified().await;
        }
    }

    /// Waits until the queue is urgent. Only the writer calls this.
    pub(super) async fn wait_for_urgency(&self) {
        loop {
            {
                let mut inner = self.lock();
                if inner.is_urgent() {
                    return;
                }
                (inner.wanted, inner.wants_awaited) = (MANY.jobs, true);
            }
            self.filled.notified().await;
        }
    }

    /// Whether the queue is urgent: a caller waits, there are many jobs, or the queue is closed.
    pub(super) fn is_urgent(&self) -> bool {
        self.lock().is_urgent()
    }

    /// Takes the next jobs that may share a transaction, or one that must be committed alone. Stops before the first
    /// job that does not fit.
    pub(crate) fn take(&self, most: Bounds, fits: impl Fn(&Job) -> bool) -> Vec<Job> {
        let mut inner = self.lock();
        let (mut group, mut bytes) = (Vec::new(), 0);
        while group.len() < most.jobs && bytes < most.bytes {
            let Some(job) = inner.jobs.pop_front() else {
                break;
            };
            inner.count_out(&job);
            if job.waiter.is_abandoned() {
                continue;
            }
            let alone = job.stands_alone();
            if !fits(&job) || (alone && !group.is_empty()) {
                inner.count_in(&job);
                inner.jobs.push_front(job);
                break;
            }
            bytes += job.bytes();
            group.push(job);
            if alone {
                break;
            }
        }
        self.drained.notify_waiters();
        group
    }

    /// Puts the jobs taken last back.
    pub(super) fn put_back(&self, jobs: Vec<Job>) {
        let mut inner = self.lock();
        for job in jobs.into_iter().rev() {
            inner.count_in(&job);
            inner.jobs.push_front(job);
        }
    }

    /// Drops jobs whose callers gave up while the store was down.
    pub(super) fn forget_abandoned(&self) {
        let mut inner = self.lock();
        for job in std::mem::take(&mut inner.jobs) {
            if job.waiter.is_abandoned() {
                inner.count_out(&job);
            } else {
                inner.jobs.push_back(job);
            }
        }
        self.drained.notify_waiters();
    }

    /// Closes the queue for new jobs.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_one();
        self.drained.notify_waiters();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().jobs.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().jobs.len()
    }

    fn add(&self, mut inner: MutexGuard<'_, Inner>, job: Job) {
        inner.count_in(&job);
        let is_awaited = inner.wants_awaited && job.is_awaited();
        inner.jobs.push_back(job);
        let is_enough = is_awaited || inner.jobs.len() >= inner.wanted;
        drop(inner);
        if is_enough {
            self.filled.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
