//! Contract of an engine: keep rows, all of a batch or none, durable when `commit` returns.
//!
//! Engines see sealed content and public metadata only, so they have nothing to leak. Everything that is not the trail
//! itself (accounts, keys, users, leases, wrapped data keys) is an [`Item`].

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::item::{Item, ItemKind};
use crate::model::{Cursor, Filter};
use crate::rows::{
    AuditRow, Batch, ChainEnd, ChainRow, Contents, CounterRow, Head, LookupCode, Names, OpenRow,
    RowKey,
};

/// The account of everything that belongs to the installation itself.
pub const SYSTEM: &str = "";

/// Reason why a batch was not written.
#[derive(Debug, Clone)]
pub enum CommitError {
    /// Certainly not written.
    Failed(StoreError),
    /// Written, but not confirmed by the standbys, so that a failover may lose it: counts as not written.
    Unconfirmed(StoreError),
    /// Not written: the end of a chain that the batch extends is missing, as after a failover to an older copy.
    RolledBack,
    /// May or may not be written; ask [`TrailRows::link_digest`].
    Unknown(StoreError),
    /// Another process wrote to this lane.
    LaneTaken,
    /// Requests that are not open, because they have an outcome already.
    NotOpen(Vec<Uuid>),
    /// An expectation about an item does not hold.
    Stale,
    /// The database will never take this; trying again is useless.
    Rejected(StoreError),
}

/// A transaction that grows batch by batch. Dropped before its commit it leaves nothing behind, and
/// so does one that could not add a batch.
#[async_trait]
pub trait Transaction: Send {
    /// Adds a batch.
    async fn add(&mut self, batch: Arc<Batch>) -> Result<(), CommitError>;
    /// Writes all of it or nothing, durable when it returns `Ok`.
    async fn commit(self: Box<Self>) -> Result<(), CommitError>;
}

/// Options for opening a store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening {
    /// Create the store if it does not exist.
    pub create: bool,
    /// Makes every commit of SQLite take this much longer, as a slower disk does. For tests and measurements.
    pub sync_delay: Duration,
    /// Timeout of a request's check for changed settings.
    pub decision_limit: Duration,
    /// Standbys of PostgreSQL that must confirm each commit.
    pub standbys: u32,
}

/// An engine. A read sees every commit that was acknowledged before it began.
pub trait Store: Items + TrailRows + Lifecycle {}

impl<T: Items + TrailRows + Lifecycle> Store for T {}

/// Reading items.
#[async_trait]
pub trait Items: Send + Sync + 'static {
    /// Number of setting changes so far.
    async fn generation(&self) -> Result<u64>;
    /// Number of setting changes if known without waiting, else `None`.
    fn generation_at_once(&self) -> Option<u64> {
        None
    }
    /// One item.
    async fn item(&self, account: &str, kind: ItemKind, id: &str) -> Result<Option<Item>>;
    /// One item by its lookup value.
    async fn find(&self, kind: ItemKind, lookup: &str) -> Result<Option<Item>>;
    /// All items of a kind, of one account or of all, ordered by account and id.
    async fn items(&self, account: Option<&str>, kind: ItemKind) -> Result<Vec<Item>>;
    /// Items of several kinds of one account, seen at one moment.
    async fn account_items(&self, account: &str, kinds: &[ItemKind]) -> Result<Vec<Item>>;
    /// Every item apart from parts of rosters, which are large, ordered by account, kind and id.
    async fn all_items(&self) -> Result<Vec<Item>>;
}

/// Reading the trail, its counters and contents.
#[async_trait]
pub trait TrailRows: Send + Sync + 'static {
    /// End of one chain.
    async fn head(&self, account: &str, lane: i64) -> Result<Option<Head>>;
    /// Ends of all chains of an account, or of all accounts.
    async fn heads(&self, account: Option<&str>) -> Result<Vec<Head>>;
    /// The digest at one place, if it is filled.
    async fn link_digest(&self, account: &str, lane: i64, seq: i64) -> Result<Option<[u8; 32]>>;
    /// Returns the ends that an engine lacks, if it can be written.
    async fn missing_ends(&self, _ends: &[ChainEnd]) -> Result<Vec<ChainEnd>> {
        Ok(Vec::new())
    }
    /// Chain entries after a place, in order.
    async fn chain(
        &self,
        account: &str,
        lane: i64,
        after: i64,
        limit: usize,
    ) -> Result<Vec<ChainRow>>;
    /// Accounts that have records, chained or not.
    async fn accounts_with_records(&self) -> Result<Vec<String>>;
    /// A record that no chain entry names, if there is one.
    async fn unchained(&self, account: &str) -> Result<Option<RowKey>>;
    /// Records, newest first.
    async fn list(
        &self,
        account: &str,
        filter: &Filter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<AuditRow>>;
    /// Number of matching records, counted up to `most`.
    async fn count(&self, account: &str, filter: &Filter, most: usize) -> Result<u64>;
    /// Records of some requests, oldest first.
    async fn requests(&self, account: &str, requests: &[Uuid]) -> Result<Vec<AuditRow>>;
    /// Sealed content of a record.
    async fn content(&self, account: &str, key: RowKey) -> Result<Contents>;
    /// Requests that can be looked up by one of these codes, each once, newest first.
    async fn requests_with(
        &self,
        account: &str,
        codes: &[LookupCode],
        limit: usize,
    ) -> Result<Vec<(Uuid, i64)>>;
    /// Finds a request, with its account, that some of its codes do not lead to. Only engines with a separate index can
    /// have such requests.
    async fn unfindable(&self, _account: Option<&str>) -> Result<Option<(String, Uuid)>> {
        Ok(None)
    }
    /// Counters from an hour on, added up over lanes: hour, name, count.
    async fn counters(&self, account: &str, since_hour: i64) -> Result<Vec<(i64, String, i64)>>;
    /// Hours in which one of these counters has something, newest first.
    async fn hours(
        &self,
        account: &str,
        names: &Names,
        hours: RangeInclusive<i64>,
    ) -> Result<Vec<i64>>;
    /// Sums of these counters, per hour.
    async fn sums(
        &self,
        account: &str,
        names: &Names,
        hours: RangeInclusive<i64>,
    ) -> Result<Vec<(i64, i64)>>;
    /// The first hour in which one of these counters has something.
    async fn first_hour(&self, account: &str, names: &Names) -> Result<Option<i64>>;
    /// Requests without outcome whose process is not among these.
    async fn open_requests(&self, alive: &[Uuid], limit: usize) -> Result<Vec<OpenRow>>;
    /// Oldest records with content from before a time.
    async fn old_contents(
        &self,
        account: &str,
        before_us: i64,
        limit: usize,
    ) -> Result<Vec<RowKey>>;
    /// Records of a request that have sealed content.
    async fn contents_of(&self, account: &str, request: Uuid) -> Result<Vec<RowKey>>;
    /// Oldest records from before a time.
    async fn old_records(&self, account: &str, before_us: i64, limit: usize)
    -> Result<Vec<RowKey>>;
    /// The codes by which one request can be looked up.
    async fn codes_of(&self, account: &str, request: Uuid) -> Result<Vec<LookupCode>>;
    /// All counters of an account.
    async fn all_counters(&self, account: &str) -> Result<Vec<CounterRow>>;
}

/// Writing, and maintenance of an engine.
#[async_trait]
pub trait Lifecycle: Send + Sync + 'static {
    /// Name of the engine.
    fn engine(&self) -> &'static str;
    /// Whether the rows of one transaction are inserted while another one is being committed.
    fn overlaps(&self) -> bool;
    /// Begins a transaction, perhaps while another one is being committed.
    async fn begin(&self) -> Result<Box<dyn Transaction + '_>, CommitError>;
    /// Writes one batch as one transaction.
    async fn commit(&self, batch: Arc<Batch>) -> Result<(), CommitError> {
        let mut transaction = self.begin().await?;
        transaction.add(batch).await?;
        transaction.commit().await
    }
    /// Returns when the standbys have everything that was committed before the call.
    async fn confirm(&self) -> Result<()> {
        Ok(())
    }
    /// Number of connections opened so far; each may lead to another server, with an older copy. `None` if acknowledged
    /// records cannot be lost that way.
    fn connections(&self) -> Option<u64> {
        None
    }
    /// Makes room for records of other times than now, before they are imported.
    async fn make_room(&self, _times_us: &[i64]) -> Result<()> {
        Ok(())
    }
    /// Copies the whole store to a file while it is in use.
    async fn backup(&self, file: &Path) -> Result<()>;
    /// Marks this process as alive, if the engine can show that better than a lease.
    fn hold(&self, _instance: Uuid) -> Result<()> {
        Ok(())
    }
    /// Whether a process is certainly gone, though its lease may still run.
    fn is_gone(&self, _instance: Uuid) -> bool {
        false
    }
    /// Housekeeping that may be due: partitions, checkpoints.
    async fn tidy(&self) -> Result<()> {
        Ok(())
    }
    /// Releases everything; nothing may be called afterwards.
    async fn close(&self);
}
