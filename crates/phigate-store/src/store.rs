//! What an engine must do: keep rows, all of a batch or none, durable when `commit` returns.
//!
//! Engines see sealed content and public metadata only, so they have nothing to leak. Everything
//! that is not the trail itself (accounts, keys, users, leases, wrapped data keys) is an [`Item`].

use crate::error::{Result, StoreError};
use crate::item::{Change, Item, ItemKind};
use crate::model::{Cursor, Filter};
use async_trait::async_trait;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// The account of everything that belongs to the installation itself.
pub(crate) const SYSTEM: &str = "";

/// A record's place in its chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Which of the account's chains.
    pub lane: i64,
    /// Place in it, from 1.
    pub seq: i64,
    /// Digest of the record alone.
    pub leaf: [u8; 32],
    /// Digest of everything up to here.
    pub digest: [u8; 32],
    /// Keyed hash of the digest.
    pub mac: [u8; 16],
    /// Signature of the digest; on the last record of every group.
    pub signature: Option<Vec<u8>>,
}

/// A record as a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// Account.
    pub account: String,
    /// The row's own id.
    pub id: Uuid,
    /// Microseconds since 1970.
    pub time_us: i64,
    /// 1 decision, 2 outcome, 3 admin.
    pub kind: i16,
    /// The request it belongs to.
    pub request: Option<Uuid>,
    /// API key id, for search.
    pub key_id: Option<String>,
    /// Mode, for search.
    pub mode: Option<String>,
    /// Action, for search.
    pub action: Option<String>,
    /// Model, for search.
    pub model: Option<String>,
    /// Kinds of PHI as `,a,b,`, for search; none when clean.
    pub types: Option<String>,
    /// Admin act, for search.
    pub act: Option<String>,
    /// The record as JSON, exactly as digested.
    pub body: String,
}

impl AuditRow {
    /// Its place in a list.
    pub(crate) fn cursor(&self) -> Cursor {
        Cursor {
            time_us: self.time_us,
            id: self.id,
        }
    }
}

/// A record's chain entry, and the record unless it was deleted.
#[derive(Debug, Clone)]
pub struct ChainRow {
    /// Id of the record.
    pub record: Uuid,
    /// Time of the record.
    pub time_us: i64,
    /// Its place.
    pub link: Link,
    /// The record itself.
    pub row: Option<AuditRow>,
}

/// The end of one chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Account.
    pub account: String,
    /// Lane.
    pub lane: i64,
    /// Last place.
    pub seq: i64,
    /// Digest there.
    pub digest: [u8; 32],
    /// Signature there.
    pub signature: Option<Vec<u8>>,
}

/// Sealed content of a decision; empty when there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// The body as received.
    pub original: Option<Arc<[u8]>>,
    /// The body as sent.
    pub sent: Option<Arc<[u8]>>,
}

impl Contents {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.original.is_none() && self.sent.is_none()
    }

    /// What is there, with its name.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, &Arc<[u8]>)> {
        let named = [("original", &self.original), ("sent", &self.sent)];
        named
            .into_iter()
            .filter_map(|(name, sealed)| Some((name, sealed.as_ref()?)))
    }
}

/// A record to be written: its row, its place in the chain, its sealed content.
#[derive(Debug, Clone)]
pub struct NewRecord {
    /// The row.
    pub row: Arc<AuditRow>,
    /// Its place.
    pub link: Link,
    /// Its content.
    pub contents: Contents,
}

/// Keyed hash of an identifier that occurred in a request.
#[derive(Debug, Clone)]
pub struct TokenRow {
    /// Account.
    pub account: String,
    /// Keyed hash.
    pub token: [u8; 16],
    /// Time of the decision.
    pub time_us: i64,
    /// The request.
    pub request: Uuid,
}

/// An amount to add to an hourly counter.
#[derive(Debug, Clone)]
pub struct CounterRow {
    /// Account.
    pub account: String,
    /// Hours since 1970.
    pub hour: i64,
    /// Which of the rows that add up to the counter; writers have their own, so that nobody waits.
    pub lane: i64,
    /// What is counted.
    pub name: String,
    /// How much to add.
    pub count: i64,
}

/// A request that has a decision and no outcome yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRow {
    /// Account.
    pub account: String,
    /// The request.
    pub request: Uuid,
    /// Time of the decision.
    pub time_us: i64,
    /// Which process decided.
    pub instance: Uuid,
}

/// Names a record, for its content and for deletion by retention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowKey {
    /// Id of the record.
    pub record: Uuid,
    /// Its time.
    pub time_us: i64,
    /// Its lane.
    pub lane: i64,
    /// Its place there.
    pub seq: i64,
}

/// Everything one transaction writes.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Item changes, in order.
    pub changes: Vec<Change>,
    /// Tell everybody that settings changed.
    pub bump: bool,
    /// Records, each with its place and its content.
    pub records: Vec<NewRecord>,
    /// Places of records that were deleted: account, record, time. Only an import writes these.
    pub bare_links: Vec<(String, Uuid, i64, Link)>,
    /// Lookup hashes.
    pub tokens: Vec<TokenRow>,
    /// Counters, sorted by key.
    pub counters: Vec<CounterRow>,
    /// Requests that now wait for their outcome.
    pub opened: Vec<OpenRow>,
    /// Requests that must be open and now have their outcome: account and request.
    pub closed: Vec<(String, Uuid)>,
    /// Content to delete: account and rows.
    pub drop_contents: Option<(String, Vec<RowKey>)>,
    /// Records to delete, their content included: account and rows.
    pub drop_records: Option<(String, Vec<RowKey>)>,
}

/// Why a batch was not written.
#[derive(Debug, Clone)]
pub enum CommitError {
    /// Certainly not written.
    Failed(StoreError),
    /// May or may not be written; ask [`TrailRows::link_digest`].
    Unknown(StoreError),
    /// Somebody else wrote to this lane.
    LaneTaken,
    /// These requests are not open: they have their outcome already.
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

/// How a store is opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening {
    /// Make it when there is none.
    pub create: bool,
    /// Makes every commit of SQLite take this much longer, as a slower disk does. For tests and measurements.
    pub sync_delay: Duration,
}

/// An engine. A read sees every commit that was acknowledged before it began.
pub trait Store: Items + TrailRows + Lifecycle {}

impl<T: Items + TrailRows + Lifecycle> Store for T {}

/// Reading items.
#[async_trait]
pub trait Items: Send + Sync + 'static {
    /// Number of setting changes so far.
    async fn generation(&self) -> Result<u64>;
    /// One item.
    async fn item(&self, account: &str, kind: ItemKind, id: &str) -> Result<Option<Item>>;
    /// One item by its lookup value.
    async fn find(&self, kind: ItemKind, lookup: &str) -> Result<Option<Item>>;
    /// All items of a kind, of one account or of all, ordered by account and id.
    async fn items(&self, account: Option<&str>, kind: ItemKind) -> Result<Vec<Item>>;
    /// Items of several kinds of one account, seen at one moment.
    async fn account_items(&self, account: &str, kinds: &[ItemKind]) -> Result<Vec<Item>>;
    /// Every item, ordered by account, kind and id.
    async fn all_items(&self) -> Result<Vec<Item>>;
}

/// Reading the trail and what goes with it.
#[async_trait]
pub trait TrailRows: Send + Sync + 'static {
    /// End of one chain.
    async fn head(&self, account: &str, lane: i64) -> Result<Option<Head>>;
    /// Ends of all chains of an account, or of all accounts.
    async fn heads(&self, account: Option<&str>) -> Result<Vec<Head>>;
    /// The digest at one place, if it is filled.
    async fn link_digest(&self, account: &str, lane: i64, seq: i64) -> Result<Option<[u8; 32]>>;
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
    /// Records of some requests, oldest first.
    async fn requests(&self, account: &str, requests: &[Uuid]) -> Result<Vec<AuditRow>>;
    /// Sealed content of a record.
    async fn content(&self, account: &str, key: RowKey) -> Result<Contents>;
    /// Requests in which an identifier occurred, newest first.
    async fn tokens(
        &self,
        account: &str,
        token: [u8; 16],
        limit: usize,
    ) -> Result<Vec<(Uuid, i64)>>;
    /// Counters from an hour on, added up over lanes: hour, name, count.
    async fn counters(&self, account: &str, since_hour: i64) -> Result<Vec<(i64, String, i64)>>;
    /// Requests without outcome whose process is none of these.
    async fn open_requests(&self, alive: &[Uuid], limit: usize) -> Result<Vec<OpenRow>>;
    /// Oldest records with content from before a time.
    async fn old_contents(
        &self,
        account: &str,
        before_us: i64,
        limit: usize,
    ) -> Result<Vec<RowKey>>;
    /// Oldest records from before a time.
    async fn old_records(&self, account: &str, before_us: i64, limit: usize)
    -> Result<Vec<RowKey>>;
    /// Lookup hashes of one request.
    async fn tokens_of(&self, account: &str, request: Uuid) -> Result<Vec<[u8; 16]>>;
    /// All counters of an account.
    async fn all_counters(&self, account: &str) -> Result<Vec<CounterRow>>;
}

/// Writing, and what keeps an engine going.
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
    /// Makes room for records of other times than now, before they are imported.
    async fn make_room(&self, _times_us: &[i64]) -> Result<()> {
        Ok(())
    }
    /// Copies the whole store to a file while it is in use.
    async fn backup(&self, file: &Path) -> Result<()>;
    /// Marks this process as alive, where the engine can show that better than a lease.
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
