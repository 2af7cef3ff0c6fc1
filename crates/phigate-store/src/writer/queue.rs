//! The bounded queue in front of the writer.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::writer::job::Job;
use crate::{Result, StoreError};

/// How much may wait to be written.
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
    /// How many of them somebody waits for.
    awaited: usize,
    closed: bool,
    /// The writer is woken at this many jobs, and not by each of them.
    wanted: usize,
    /// It is woken by one that somebody waits for, too.
    wants_awaited: bool,
}

/// So much is written at once, whether somebody waits for it or not.
const MANY: Bounds = Bounds {
    jobs: 256,
    bytes: 4 << 20,
};

impl Inner {
    /// Whether writing should not be put off.
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

    /// Adds a job, waiting for room.
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

    /// Adds a job in any case: outcomes, of which there is at most one per decision let in.
    pub(crate) fn push_always(&self, job: Job) {
        let inner = self.lock();
        self.add(inner, job);
    }

    /// Waits until there is something, or the queue was closed.
    pub(crate) async fn wait(&self) {
        self.wait_for(1).await;
    }

    /// Waits until there are this many jobs, or the queue is closed. Only the writer waits.
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

    /// Waits until somebody waits for a job, there are many, or the queue was closed. Only the writer waits.
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

    /// Whether somebody waits for a job, there are many, or the queue was closed.
    pub(super) fn is_urgent(&self) -> bool {
        self.lock().is_urgent()
    }

    /// Takes the next jobs that may share a transaction, or one that stands alone; stops in front of
    /// one that does not fit.
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

    /// Puts jobs back that were taken last.
    pub(super) fn put_back(&self, jobs: Vec<Job>) {
        let mut inner = self.lock();
        for job in jobs.into_iter().rev() {
            inner.count_in(&job);
            inner.jobs.push_front(job);
        }
    }

    /// Forgets jobs whose callers gave up while the store was down.
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

    /// Lets nothing more in.
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
