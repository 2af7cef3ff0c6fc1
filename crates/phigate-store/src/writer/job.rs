//! What is handed to the writer: rows that still lack their place in the chain, and who waits for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use smol_str::SmolStr;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;
use uuid::Uuid;

use crate::item::Change;
use crate::rows::{AuditRow, Contents, LookupCode, RowKey};
use crate::{Result, StoreError};

/// A record to be written, with everything that goes with it in one transaction.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) row: Arc<AuditRow>,
    /// Digest of the record, computed by its caller and not in the one writer.
    pub(crate) leaf: [u8; 32],
    /// Account name, as outcomes need it.
    pub(crate) account_name: SmolStr,
    pub(crate) contents: Contents,
    /// By what its request can be looked up.
    pub(crate) codes: Vec<LookupCode>,
    pub(crate) counters: Counters,
    pub(super) effect: Effect,
}

/// Amounts to add to the counters of the record's hour.
pub(crate) type Counters = Vec<(SmolStr, i64)>;

/// What a record does to its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// A decision: the request now waits for its outcome.
    Opens(Uuid),
    /// An outcome: the request must be open and is no longer.
    Closes(Uuid),
    /// An admin act, or a request that was over when it was decided.
    Neither,
}

/// One piece of work for the writer.
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

    /// A decision and its outcome at once: the request is never open.
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

    /// Nothing to write: tells when everything before it is written.
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

    /// Changes settings: committed alone, so that its failure is nobody else's.
    pub(super) fn stands_alone(&self) -> bool {
        !self.changes.is_empty() || self.drop_contents.is_some() || self.drop_records.is_some()
    }

    /// Whether somebody waits for it to be written.
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

/// Who waits for a job, and whether it must be written even if nobody does any more.
pub(crate) struct Waiter {
    /// Written whatever happens; nobody gives it up.
    pub(crate) must: bool,
    waiting: Option<(Arc<AtomicU8>, oneshot::Sender<Result<()>>)>,
}

/// The other end of a [`Waiter`].
pub(crate) struct Wait {
    pub(crate) answer: oneshot::Receiver<Result<()>>,
    state: Arc<AtomicU8>,
}

impl Waiter {
    /// Nobody waits; the job is kept until it is written.
    pub(crate) fn none() -> Self {
        Self {
            must: true,
            waiting: None,
        }
    }

    /// Somebody waits. With `must` the job is kept even when they give up.
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

    /// Given up, and free to be forgotten.
    pub(super) fn is_abandoned(&self) -> bool {
        let waiting = self.waiting.as_ref();
        !self.must && waiting.is_some_and(|(state, _)| state.load(Ordering::Acquire) == ABANDONED)
    }

    /// Tells the result. False when the waiter had given up before.
    pub(super) fn settle(&mut self, result: Result<()>) -> bool {
        let Some((state, answer)) = self.waiting.take() else {
            return true;
        };
        let waited = state
            .compare_exchange(WAITING, SETTLED, Ordering::AcqRel, Ordering::Acquire)
            .is_ok();
        if waited {
            // A receiver dropped this instant finds the state settled and acts on it.
            let _ = answer.send(result);
        }
        waited
    }
}

impl Wait {
    /// Gives up. True when the writer had not settled it yet, so that it will see this.
    pub(crate) fn abandon(&self) -> bool {
        self.state
            .compare_exchange(WAITING, ABANDONED, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// The result of a settled job. The writer marks it settled an instant before it sends the result.
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
