//! Jobs for the writer: rows that are not linked yet, with the waiting callers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use smol_str::SmolStr;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;
use uuid::Uuid;

use crate::item::Change;
use crate::rows::{AuditRow, Contents, LookupCode, RowKey};
use crate::{Result, StoreError};

/// A record to be written, with everything in its transaction.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) row: Arc<AuditRow>,
    /// Digest of the record, computed by its caller because there is only one writer.
    pub(crate) leaf: [u8; 32],
    /// Account name, for outcomes.
    pub(crate) account_name: SmolStr,
    pub(crate) contents: Contents,
    /// Lookup codes of the request.
    pub(crate) codes: Vec<LookupCode>,
    pub(crate) counters: Counters,
    pub(super) effect: Effect,
}

/// Amounts to add to the counters of the record's hour.
pub(crate) type Counters = Vec<(SmolStr, i64)>;

/// The effect of a record on its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// A decision: the request is now open.
    Opens(Uuid),
    /// An outcome: closes the request, which must be open.
    Closes(Uuid),
    /// An admin act, or a request that ended with its decision.
    Neither,
}

/// A unit of work for the writer.
pub(crate) struct Job {
    pub(crate) entries: Vec<Arc<Entry>>,
    pub(crate) changes: Vec<Change>,
    pub(crate) bump: bool,
    pub(crate) drop_contents: Option<(String, Vec<RowKey>)>,
    pub(crate) drop_records: Option<(String, Vec<RowKey>)>,
    pub(crate) waiter: Waiter,
}

impl Job {
    pub(crate) fn of(entry: Arc<Entry>, waiter: Waiter) -> Self {
        Self {
            entries: vec![entry],
            ..Self::empty(waiter)
        }
    }

    /// A decision with its outcome: the request is never open.
    pub(crate) fn ended(decision: Arc<Entry>, outcome: Arc<Entry>, waiter: Waiter) -> Self {
        let without_effect = |mut entry: Arc<Entry>| {
            Arc::make_mut(&mut entry).effect = Effect::Neither;
            entry
        };
        Self {
            entries: [decision, outcome].map(without_effect).into(),
            ..Self::empty(waiter)
        }
    }

    /// A job without records, which completes after everything before it is written.
    pub(crate) fn empty(waiter: Waiter) -> Self {
        Self {
            entries: Vec::new(),
            changes: Vec::new(),
            bump: false,
            drop_contents: None,
            drop_records: None,
            waiter,
        }
    }

    /// Whether this changes settings or deletes data. Such a job is committed alone, so that its failure affects no
    /// other job.
    pub(super) fn stands_alone(&self) -> bool {
        !self.changes.is_empty() || self.drop_contents.is_some() || self.drop_records.is_some()
    }

    /// Whether a caller waits for the result.
    pub(super) fn is_awaited(&self) -> bool {
        self.waiter.waiting.is_some()
    }

    pub(crate) fn bytes(&self) -> usize {
        let bytes = |entry: &Arc<Entry>| {
            let sealed = entry.contents.fields().map(|(_, sealed)| sealed.len());
            sealed.sum::<usize>() + entry.row.body.len() + 256
        };
        self.entries.iter().map(bytes).sum()
    }
}

const WAITING: u8 = 0;
const ABANDONED: u8 = 1;
const SETTLED: u8 = 2;

/// The sender of a job's result, and whether the job must be written even if its caller gives up.
pub(crate) struct Waiter {
    /// Write the job even if its caller gives up.
    pub(crate) must: bool,
    waiting: Option<(Arc<AtomicU8>, oneshot::Sender<Result<()>>)>,
}

/// The receiver of a [`Waiter`].
pub(crate) struct Wait {
    pub(crate) answer: oneshot::Receiver<Result<()>>,
    state: Arc<AtomicU8>,
}

impl Waiter {
    /// A waiter without a receiver; the job is kept until it is written.
    pub(crate) fn none() -> Self {
        Self {
            must: true,
            waiting: None,
        }
    }

    /// A waiter with a receiver. With `must` the job is kept even if the receiver gives up.
    pub(crate) fn new(must: bool) -> (Self, Wait) {
        let (sender, answer) = oneshot::channel();
        let state = Arc::new(AtomicU8::new(WAITING));
        (
            Self {
                must,
                waiting: Some((Arc::clone(&state), sender)),
            },
            Wait { answer, state },
        )
    }

    /// Whether the caller gave up and the job may be dropped.
    pub(super) fn is_abandoned(&self) -> bool {
        let waiting = self.waiting.as_ref();
        !self.must && waiting.is_some_and(|(state, _)| state.load(Ordering::Acquire) == ABANDONED)
    }

    /// Sends the result. False if the receiver had given up before.
    pub(super) fn settle(&mut self, result: Result<()>) -> bool {
        let Some((state, answer)) = self.waiting.take() else {
            return true;
        };
        let waited = state
            .compare_exchange(WAITING, SETTLED, Ordering::AcqRel, Ordering::Acquire)
            .is_ok();
        if waited {
            // A receiver dropped at this moment finds the state settled and handles it.
            let _ = answer.send(result);
        }
        waited
    }
}

impl Wait {
    /// Gives up. True if the job was not settled yet, so that the writer will see this.
    pub(crate) fn abandon(&self) -> bool {
        self.state
            .compare_exchange(WAITING, ABANDONED, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// The result of a settled job. The writer marks the job settled just before it sends the result.
    pub(crate) fn settled(&mut self) -> Result<()> {
        loop {
            match self.answer.try_recv() {
                Ok(result) => return result,
                Err(TryRecvError::Closed) => return Err(StoreError::Closed),
                Err(TryRecvError::Empty) => std::thread::yield_now(),
            }
        }
    }
}
