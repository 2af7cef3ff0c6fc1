//! An in-memory engine whose commits take as long and end as a test specifies.

use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use uuid::Uuid;

use crate::item::{Change, Expect, Item, ItemKind};
use crate::model::{Cursor, Filter};
use crate::rows::{
    AuditRow, Batch, ChainRow, Contents, CounterRow, Head, LookupCode, LookupRow, Names, NewRecord,
    OpenRow, RowKey,
};
use crate::store::{CommitError, Items, Lifecycle, TrailRows, Transaction};
use crate::{Result, StoreError};

/// The scripted end of a transaction with records.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ScriptedEnd {
    Written,
    /// Adding its rows fails.
    NotAdded,
    /// Not written, with an error.
    Fails,
    /// Written, but the reply is lost.
    Answerless,
    /// Not written, and the reply is lost.
    Lost,
    /// The reply is lost, and the store is down afterwards.
    Cut {
        is_written: bool,
    },
    /// Another process has just written to the same position.
    Overtaken,
}

/// Everything that is stored.
#[derive(Clone, Default)]
pub(super) struct Rows {
    pub(super) items: BTreeMap<(String, ItemKind, String), Item>,
    pub(super) records: Vec<NewRecord>,
    pub(super) open: Vec<OpenRow>,
    pub(super) lookups: Vec<LookupRow>,
    /// The counter rows of each transaction.
    pub(super) counters: Vec<Vec<CounterRow>>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) rows: Rows,
    /// Fates of the next transactions with records; after these all are written.
    pub(super) ends: VecDeque<ScriptedEnd>,
    /// Duration of a commit of records.
    pub(super) takes: Duration,
    /// Whether all reads and writes fail.
    pub(super) is_down: bool,
    pub(super) overlaps: bool,
    /// A request whose records are rejected.
    pub(super) unwanted: Option<Uuid>,
    /// Running commits, and the number of batches added during them.
    pub(super) committing: usize,
    pub(super) ahead: usize,
    /// Number of records in each transaction.
    pub(super) groups: Vec<usize>,
    /// Number of lookups by position.
    pub(super) looked_up: usize,
    pub(super) held: Vec<Uuid>,
    pub(super) gone: Vec<Uuid>,
    pub(super) tidied: usize,
}

#[derive(Default)]
pub(super) struct Memory(Mutex<State>);

fn down() -> StoreError {
    StoreError::Unavailable("down".to_owned())
}

impl Memory {
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.0.lock().unwrap())
    }

    fn read<T>(&self, work: impl FnOnce(&mut State) -> T) -> Result<T> {
        self.with(|state| match state.is_down {
            true => Err(down()),
            false => Ok(work(state)),
        })
    }

    fn items_where(&self, is_wanted: impl Fn(&Item) -> bool) -> Result<Vec<Item>> {
        self.read(|state| {
            let items = state.rows.items.values();
            items.filter(|item| is_wanted(item)).cloned().collect()
        })
    }
}

impl Rows {
    fn change(&mut self, change: &Change) -> Result<(), CommitError> {
        match change {
            Change::Put(item, expect) => {
                let key = (item.account.clone(), item.kind, item.id.clone());
                let version = self.items.get(&key).map(|item| item.version);
                let is_right = match expect {
                    Expect::Absent => version.is_none(),
                    Expect::Version(expected) => version == Some(*expected),
                    Expect::Any => true,
                };
                if !is_right {
                    return Err(CommitError::Stale);
                }
                let version = version.unwrap_or(0) + 1;
                let item = Item {
                    version,
                    ..item.clone()
                };
                self.items.insert(key, item);
                Ok(())
            }
            _ => panic!("the writer's tests only put items: {change:?}"),
        }
    }

    fn place(&self, account: &str, lane: i64, seq: i64) -> Option<&NewRecord> {
        let is_here = |new: &&NewRecord| (new.link.lane, new.link.seq) == (lane, seq);
        let mut records = self.records.iter().filter(is_here);
        records.find(|new| new.row.account == account)
    }

    fn add(&mut self, batch: &Batch) -> Result<(), CommitError> {
        for change in &batch.changes {
            self.change(change)?;
        }
        for new in &batch.records {
            let link = &new.link;
            if self.place(&new.row.account, link.lane, link.seq).is_some() {
                return Err(CommitError::LaneTaken);
            }
            self.records.push(new.clone());
        }
        let is_closed = |row: &OpenRow| batch.closed.iter().any(|(_, id)| *id == row.request);
        self.open.retain(|row| !is_closed(row));
        self.open.extend(batch.opened.iter().cloned());
        self.lookups.extend(batch.lookups.iter().cloned());
        Ok(())
    }
}

struct Begun<'a> {
    memory: &'a Memory,
    batches: Vec<Arc<Batch>>,
    end: Option<ScriptedEnd>,
}

impl Begun<'_> {
    fn write(&self, state: &mut State) -> Result<(), CommitError> {
        let mut rows = state.rows.clone();
        for batch in &self.batches {
            rows.add(batch)?;
        }
        let batches = self.batches.iter();
        let counters: Vec<CounterRow> = batches.flat_map(|one| one.counters.clone()).collect();
        let written = rows.records.len() - state.rows.records.len();
        if written > 0 {
            state.groups.push(written);
            rows.counters.push(counters);
        }
        state.rows = rows;
        Ok(())
    }

    fn first(&self) -> Option<&NewRecord> {
        self.batches.iter().find_map(|batch| batch.records.first())
    }
}

#[async_trait]
impl Transaction for Begun<'_> {
    async fn add(&mut self, batch: Arc<Batch>) -> Result<(), CommitError> {
        self.memory.with(|state| {
            if self.end.is_none() && !batch.records.is_empty() {
                self.end = state.ends.pop_front().or(Some(ScriptedEnd::Written));
            }
            if state.is_down {
                return Err(CommitError::Failed(down()));
            }
            if self.end == Some(ScriptedEnd::NotAdded) {
                // Without this, later batches would still be written.
                self.end = Some(ScriptedEnd::Written);
                return Err(CommitError::Failed(down()));
            }
            state.ahead += usize::from(state.committing > 0);
            let request = |new: &NewRecord| new.row.request;
            if state.unwanted.is_some()
                && (batch.records.iter()).any(|new| request(new) == state.unwanted)
            {
                return Err(CommitError::Rejected(down()));
            }
            // Like PostgreSQL, rows of another transaction are visible only after its commit.
            let here = self.batches.iter().flat_map(|batch| &batch.opened);
            let open: Vec<Uuid> = (state.rows.open.iter().chain(here))
                .map(|row| row.request)
                .collect();
            let closed = batch.closed.iter().map(|(_, request)| *request);
            let not_open: Vec<Uuid> = closed.filter(|one| !open.contains(one)).collect();
            if !not_open.is_empty() {
                return Err(CommitError::NotOpen(not_open));
            }
            self.batches.push(batch);
            Ok(())
        })
    }

    async fn commit(self: Box<Self>) -> Result<(), CommitError> {
        if self.first().is_some() {
            let takes = self.memory.with(|state| {
                state.committing += 1;
                state.takes
            });
            tokio::time::sleep(takes).await;
            self.memory.with(|state| state.committing -= 1);
        }
        self.memory.with(|state| {
            if state.is_down {
                return Err(CommitError::Failed(down()));
            }
            match self.end.unwrap_or(ScriptedEnd::Written) {
                ScriptedEnd::Written => self.write(state),
                ScriptedEnd::NotAdded | ScriptedEnd::Fails => Err(CommitError::Failed(down())),
                ScriptedEnd::Lost => Err(CommitError::Unknown(down())),
                ScriptedEnd::Answerless => {
                    self.write(state)?;
                    Err(CommitError::Unknown(down()))
                }
                ScriptedEnd::Cut { is_written } => {
                    if is_written {
                        self.write(state)?;
                    }
                    state.is_down = true;
                    Err(CommitError::Unknown(down()))
                }
                ScriptedEnd::Overtaken => {
                    let mut others = self.first().unwrap().clone();
                    others.link.digest = [1; 32];
                    state.rows.records.push(others);
                    Err(CommitError::LaneTaken)
                }
            }
        })
    }
}

#[async_trait]
impl Lifecycle for Memory {
    fn engine(&self) -> &'static str {
        "memory"
    }

    fn overlaps(&self) -> bool {
        self.with(|state| state.overlaps)
    }

    async fn begin(&self) -> Result<Box<dyn Transaction + '_>, CommitError> {
        Ok(Box::new(Begun {
            memory: self,
            batches: Vec::new(),
            end: None,
        }))
    }

    async fn backup(&self, _: &Path) -> Result<()> {
        unused()
    }

    fn hold(&self, instance: Uuid) -> Result<()> {
        self.with(|state| state.held.push(instance));
        Ok(())
    }

    fn is_gone(&self, instance: Uuid) -> bool {
        self.with(|state| state.gone.contains(&instance))
    }

    async fn tidy(&self) -> Result<()> {
        self.with(|state| state.tidied += 1);
        Ok(())
    }

    async fn close(&self) {}
}

#[async_trait]
impl Items for Memory {
    async fn generation(&self) -> Result<u64> {
        unused()
    }

    async fn item(&self, account: &str, kind: ItemKind, id: &str) -> Result<Option<Item>> {
        let found = self.items_where(|item| item.account == account && item.kind == kind)?;
        Ok(found.into_iter().find(|item| item.id == id))
    }

    async fn find(&self, _: ItemKind, _: &str) -> Result<Option<Item>> {
        unused()
    }

    async fn items(&self, account: Option<&str>, kind: ItemKind) -> Result<Vec<Item>> {
        let is_its = |item: &Item| account.is_none_or(|account| item.account == account);
        self.items_where(|item| item.kind == kind && is_its(item))
    }

    async fn account_items(&self, account: &str, kinds: &[ItemKind]) -> Result<Vec<Item>> {
        self.items_where(|item| item.account == account && kinds.contains(&item.kind))
    }

    async fn all_items(&self) -> Result<Vec<Item>> {
        unused()
    }
}

#[async_trait]
impl TrailRows for Memory {
    async fn head(&self, account: &str, lane: i64) -> Result<Option<Head>> {
        let heads = self.heads(Some(account)).await?;
        Ok(heads.into_iter().find(|head| head.lane == lane))
    }

    async fn heads(&self, account: Option<&str>) -> Result<Vec<Head>> {
        let mut heads = BTreeMap::new();
        for new in self.read(|state| state.rows.records.clone())? {
            let (row, link) = (new.row, new.link);
            let head = Head {
                account: row.account.clone(),
                lane: link.lane,
                seq: link.seq,
                digest: link.digest,
                signature: link.signature,
            };
            if account.is_none_or(|account| row.account == account) {
                heads.insert((row.account.clone(), link.lane), head);
            }
        }
        Ok(heads.into_values().collect())
    }

    async fn link_digest(&self, account: &str, lane: i64, seq: i64) -> Result<Option<[u8; 32]>> {
        self.with(|state| state.looked_up += 1);
        self.read(|state| {
            let found = state.rows.place(account, lane, seq);
            found.map(|new| new.link.digest)
        })
    }

    async fn open_requests(&self, alive: &[Uuid], limit: usize) -> Result<Vec<OpenRow>> {
        self.read(|state| {
            let open = state.rows.open.iter();
            let others = open.filter(|row| !alive.contains(&row.instance));
            others.take(limit).cloned().collect()
        })
    }

    async fn chain(&self, _: &str, _: i64, _: i64, _: usize) -> Result<Vec<ChainRow>> {
        unused()
    }

    async fn accounts_with_records(&self) -> Result<Vec<String>> {
        unused()
    }

    async fn unchained(&self, _: &str) -> Result<Option<RowKey>> {
        unused()
    }

    async fn list(
        &self,
        _: &str,
        _: &Filter,
        _: Option<Cursor>,
        _: usize,
    ) -> Result<Vec<AuditRow>> {
        unused()
    }

    async fn count(&self, _: &str, _: &Filter, _: usize) -> Result<u64> {
        unused()
    }

    async fn requests(&self, _: &str, _: &[Uuid]) -> Result<Vec<AuditRow>> {
        unused()
    }

    async fn content(&self, _: &str, _: RowKey) -> Result<Contents> {
        unused()
    }

    async fn requests_with(&self, _: &str, _: &[LookupCode], _: usize) -> Result<Vec<(Uuid, i64)>> {
        unused()
    }

    async fn counters(&self, _: &str, _: i64) -> Result<Vec<(i64, String, i64)>> {
        unused()
    }

    async fn hours(&self, _: &str, _: &Names, _: RangeInclusive<i64>) -> Result<Vec<i64>> {
        unused()
    }

    async fn sums(&self, _: &str, _: &Names, _: RangeInclusive<i64>) -> Result<Vec<(i64, i64)>> {
        unused()
    }

    async fn first_hour(&self, _: &str, _: &Names) -> Result<Option<i64>> {
        unused()
    }

    async fn contents_of(&self, _: &str, _: Uuid) -> Result<Vec<RowKey>> {
        unused()
    }

    async fn old_contents(&self, _: &str, _: i64, _: usize) -> Result<Vec<RowKey>> {
        unused()
    }

    async fn old_records(&self, _: &str, _: i64, _: usize) -> Result<Vec<RowKey>> {
        unused()
    }

    async fn codes_of(&self, _: &str, _: Uuid) -> Result<Vec<LookupCode>> {
        unused()
    }

    async fn all_counters(&self, _: &str) -> Result<Vec<CounterRow>> {
        unused()
    }
}

/// Fails: the writer never calls this.
fn unused<T>() -> Result<T> {
    panic!("no writer asks for this")
}
