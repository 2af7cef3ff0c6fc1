//! [`Store`](crate::store::Store) implemented with SQLite.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::item::{Item, ItemKind};
use crate::model::{Cursor, Filter};
use crate::rows::{
    AuditRow, Batch, ChainRow, Contents, CounterRow, Head, LookupCode, Names, OpenRow, RowKey,
};
use crate::sqlite::write::Step;
use crate::sqlite::{Sqlite, chains, codes, counters, items, lock, read, search, segments};
use crate::store::{CommitError, Items, Lifecycle, TrailRows, Transaction};

/// Longest wait for the threads on shutdown.
const CLOSING: Duration = Duration::from_secs(10);

#[async_trait]
impl Items for Sqlite {
    async fn generation(&self) -> Result<u64> {
        if let Some(generation) = self.generation_at_once() {
            return Ok(generation);
        }
        let generation = self.generation.clone();
        self.on_hot(move |connection| generation.read(connection))
            .await
    }

    fn generation_at_once(&self) -> Option<u64> {
        self.generation.unchanged()
    }

    async fn item(&self, account: &str, kind: ItemKind, id: &str) -> Result<Option<Item>> {
        let [account, id] = [account, id].map(str::to_owned);
        self.on_hot(move |connection| items::item(connection, &account, kind, &id))
            .await
    }

    async fn find(&self, kind: ItemKind, lookup: &str) -> Result<Option<Item>> {
        let lookup = lookup.to_owned();
        self.on_hot(move |connection| items::find(connection, kind, &lookup))
            .await
    }

    async fn items(&self, account: Option<&str>, kind: ItemKind) -> Result<Vec<Item>> {
        let account = account.map(str::to_owned);
        self.on_reader(move |connection| items::items(connection, account.as_deref(), kind))
            .await
    }

    async fn account_items(&self, account: &str, kinds: &[ItemKind]) -> Result<Vec<Item>> {
        let (account, kinds) = (account.to_owned(), kinds.to_vec());
        self.on_hot(move |connection| items::account_items(connection, &account, &kinds))
            .await
    }

    async fn all_items(&self) -> Result<Vec<Item>> {
        self.on_reader(items::all_items).await
    }
}

#[async_trait]
impl TrailRows for Sqlite {
    async fn head(&self, account: &str, lane: i64) -> Result<Option<Head>> {
        let account = account.to_owned();
        self.on_hot(move |connection| chains::head(connection, &account, lane))
            .await
    }

    async fn heads(&self, account: Option<&str>) -> Result<Vec<Head>> {
        let account = account.map(str::to_owned);
        self.on_reader(move |connection| chains::heads(connection, account.as_deref()))
            .await
    }

    async fn link_digest(&self, account: &str, lane: i64, seq: i64) -> Result<Option<[u8; 32]>> {
        let account = account.to_owned();
        self.on_hot(move |connection| chains::link_digest(connection, &account, lane, seq))
            .await
    }

    async fn chain(
        &self,
        account: &str,
        lane: i64,
        after: i64,
        limit: usize,
    ) -> Result<Vec<ChainRow>> {
        let account = account.to_owned();
        self.on_reader(move |connection| {
            chains::chain(connection, &account, lane, after, rows(limit))
        })
        .await
    }

    async fn accounts_with_records(&self) -> Result<Vec<String>> {
        self.on_reader(read::accounts_with_records).await
    }

    async fn unchained(&self, account: &str) -> Result<Option<RowKey>> {
        let account = account.to_owned();
        self.on_reader(move |connection| chains::unchained(connection, &account))
            .await
    }

    async fn list(
        &self,
        account: &str,
        filter: &Filter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<AuditRow>> {
        let (account, filter) = (account.to_owned(), filter.clone());
        self.on_reader(move |connection| {
            search::list(connection, &account, &filter, after, rows(limit))
        })
        .await
    }

    async fn count(&self, account: &str, filter: &Filter, most: usize) -> Result<u64> {
        let (account, filter) = (account.to_owned(), filter.clone());
        let counted = self
            .on_reader(move |connection| search::count(connection, &account, &filter, rows(most)));
        Ok(counted.await?.cast_unsigned())
    }

    async fn requests(&self, account: &str, requests: &[Uuid]) -> Result<Vec<AuditRow>> {
        let (account, requests) = (account.to_owned(), requests.to_vec());
        self.on_reader(move |connection| read::requests(connection, &account, &requests))
            .await
    }

    async fn content(&self, account: &str, key: RowKey) -> Result<Contents> {
        let account = account.to_owned();
        self.on_reader(move |connection| read::content(connection, &account, key))
            .await
    }

    async fn requests_with(
        &self,
        account: &str,
        wanted: &[LookupCode],
        limit: usize,
    ) -> Result<Vec<(Uuid, i64)>> {
        let (account, wanted) = (account.to_owned(), wanted.to_vec());
        self.on_reader(move |connection| codes::requests_with(connection, &account, &wanted, limit))
            .await
    }

    async fn unfindable(&self, account: Option<&str>) -> Result<Option<(String, Uuid)>> {
        let account = account.map(str::to_owned);
        self.on_reader(move |connection| segments::unfindable(connection, account.as_deref()))
            .await
    }

    async fn counters(&self, account: &str, since_hour: i64) -> Result<Vec<(i64, String, i64)>> {
        let account = account.to_owned();
        self.on_reader(move |connection| counters::since(connection, &account, since_hour))
            .await
    }

    async fn hours(
        &self,
        account: &str,
        names: &Names,
        hours: RangeInclusive<i64>,
    ) -> Result<Vec<i64>> {
        let (account, names) = (account.to_owned(), names.clone());
        self.on_reader(move |connection| counters::hours(connection, &account, &names, &hours))
            .await
    }

    async fn sums(
        &self,
        account: &str,
        names: &Names,
        hours: RangeInclusive<i64>,
    ) -> Result<Vec<(i64, i64)>> {
        let (account, names) = (account.to_owned(), names.clone());
        self.on_reader(move |connection| counters::sums(connection, &account, &names, &hours))
            .await
    }

    async fn first_hour(&self, account: &str, names: &Names) -> Result<Option<i64>> {
        let (account, names) = (account.to_owned(), names.clone());
        self.on_reader(move |connection| counters::first_hour(connection, &account, &names))
            .await
    }

    async fn open_requests(&self, alive: &[Uuid], limit: usize) -> Result<Vec<OpenRow>> {
        let alive = alive.to_vec();
        self.on_reader(move |connection| read::open_requests(connection, &alive, rows(limit)))
            .await
    }

    async fn old_contents(
        &self,
        account: &str,
        before_us: i64,
        limit: usize,
    ) -> Result<Vec<RowKey>> {
        let account = account.to_owned();
        let sql = "SELECT r.id, r.time, r.lane, r.seq FROM audit_content c JOIN audit_record r ON r.number = c.number
                   WHERE c.account = ?1 AND c.time < ?2 ORDER BY c.time LIMIT ?3";
        self.on_reader(move |connection| {
            read::old_rows(connection, sql, &account, before_us, rows(limit))
        })
        .await
    }

    async fn contents_of(&self, account: &str, request: Uuid) -> Result<Vec<RowKey>> {
        let account = account.to_owned();
        self.on_reader(move |connection| read::contents_of(connection, &account, request))
            .await
    }

    async fn old_records(
        &self,
        account: &str,
        before_us: i64,
        limit: usize,
    ) -> Result<Vec<RowKey>> {
        let account = account.to_owned();
        let sql = "SELECT id, time, lane, seq FROM audit_record WHERE account = ?1 AND time < ?2 ORDER BY time LIMIT ?3";
        self.on_reader(move |connection| {
            read::old_rows(connection, sql, &account, before_us, rows(limit))
        })
        .await
    }

    async fn codes_of(&self, account: &str, request: Uuid) -> Result<Vec<LookupCode>> {
        let account = account.to_owned();
        self.on_reader(move |connection| codes::codes_of(connection, &account, request))
            .await
    }

    async fn all_counters(&self, account: &str) -> Result<Vec<CounterRow>> {
        let account = account.to_owned();
        self.on_reader(move |connection| counters::all(connection, &account))
            .await
    }
}

#[async_trait]
impl Lifecycle for Sqlite {
    fn engine(&self) -> &'static str {
        "sqlite"
    }

    fn overlaps(&self) -> bool {
        false
    }

    async fn begin(&self) -> Result<Box<dyn Transaction + '_>, CommitError> {
        let (steps, asked) = mpsc::channel();
        if self.send(Box::new(move |writer| writer.transact(&asked))) {
            Ok(Box::new(SqliteTransaction { steps }))
        } else {
            Err(CommitError::Failed(StoreError::Closed))
        }
    }

    async fn backup(&self, file: &Path) -> Result<()> {
        let file = file.to_owned();
        self.on_reader(move |connection| read::backup(connection, &file))
            .await
    }

    fn hold(&self, instance: Uuid) -> Result<()> {
        let mut held = lock(&self.held);
        if held.contains_key(&instance) {
            return Ok(());
        }
        let path = self.lock_file(instance);
        let made = (|| {
            std::fs::create_dir_all(self.folder.join("writers"))?;
            self.sweep_lock_files()?;
            let file = std::fs::File::create(&path)?;
            file.lock()?;
            Ok(file)
        })();
        let file = made
            .map_err(|error: std::io::Error| StoreError::Unavailable(error.kind().to_string()))?;
        held.insert(instance, file);
        Ok(())
    }

    fn is_gone(&self, instance: Uuid) -> bool {
        let path = self.lock_file(instance);
        let Ok(file) = std::fs::File::open(&path) else {
            return false;
        };
        file.try_lock().is_ok()
    }

    async fn close(&self) {
        for (instance, _) in lock(&self.held).drain() {
            let _ = std::fs::remove_file(self.lock_file(instance));
        }
        lock(&self.writer).take();
        let (writer, reading) = (lock(&self.thread).take(), lock(&self.hot).take());
        let ended = tokio::task::spawn_blocking(move || {
            // The threads finish their queued work first.
            let _ = writer.map(std::thread::JoinHandle::join);
            if let Some(reading) = reading {
                reading.end();
            }
        });
        // On a disk that hangs the threads never end, so the wait has a timeout.
        let _ = tokio::time::timeout(CLOSING, ended).await;
        self.generation.forget();
        lock(&self.readers).clear();
    }
}

fn rows(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// A transaction that the writing thread works on, or that is queued for it.
struct SqliteTransaction {
    steps: mpsc::Sender<Step>,
}

#[async_trait]
impl Transaction for SqliteTransaction {
    async fn add(&mut self, batch: Arc<Batch>) -> Result<(), CommitError> {
        let sent = self.steps.send(Step::Add(batch));
        sent.map_err(|_| CommitError::Failed(ended()))
    }

    async fn commit(self: Box<Self>) -> Result<(), CommitError> {
        let (answer, done) = oneshot::channel();
        let sent = self.steps.send(Step::Commit(answer));
        sent.map_err(|_| CommitError::Failed(ended()))?;
        done.await.map_err(|_| CommitError::Unknown(ended()))?
    }
}

fn ended() -> StoreError {
    StoreError::Unavailable("the writing thread ended".to_owned())
}
