//! [`Store`](crate::store::Store) implemented with PostgreSQL.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use tokio::time::Instant;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::item::{Item, ItemKind};
use crate::model::{Cursor, Filter};
use crate::postgres::{
    BUSY_PAUSE, Postgres, WRITE, client, commit, discard, partitions, read, standbys,
};
use crate::rows::{
    AuditRow, Batch, ChainEnd, ChainRow, Contents, CounterRow, Head, LookupCode, Names, OpenRow,
    RowKey,
};
use crate::store::{CommitError, Items, Lifecycle, TrailRows, Transaction};

#[async_trait]
impl Items for Postgres {
    async fn generation(&self) -> Result<u64> {
        self.generation.generation().await
    }

    async fn item(&self, account: &str, kind: ItemKind, id: &str) -> Result<Option<Item>> {
        let sql = format!(
            "{} WHERE account = $1 AND kind = $2 AND id = $3",
            read::ITEM
        );
        let rows = self.query_hot(&sql, &[&account, &kind.code(), &id]).await?;
        rows.first().map(read::item).transpose()
    }

    async fn find(&self, kind: ItemKind, lookup: &str) -> Result<Option<Item>> {
        let sql = format!("{} WHERE kind = $1 AND lookup = $2", read::ITEM);
        let rows = self.query_hot(&sql, &[&kind.code(), &lookup]).await?;
        rows.first().map(read::item).transpose()
    }

    async fn items(&self, account: Option<&str>, kind: ItemKind) -> Result<Vec<Item>> {
        let kind = kind.code();
        let rows = match account {
            Some(account) => {
                let sql = format!(
                    "{} WHERE account = $1 AND kind = $2 ORDER BY id",
                    read::ITEM
                );
                self.query(&sql, &[&account, &kind]).await?
            }
            None => {
                let sql = format!("{} WHERE kind = $1 ORDER BY account, id", read::ITEM);
                self.query(&sql, &[&kind]).await?
            }
        };
        rows.iter().map(read::item).collect()
    }

    async fn account_items(&self, account: &str, kinds: &[ItemKind]) -> Result<Vec<Item>> {
        let sql = format!(
            "{} WHERE account = $1 AND kind = ANY($2) ORDER BY kind, id",
            read::ITEM
        );
        let kinds: Vec<&str> = kinds.iter().map(|kind| kind.code()).collect();
        let rows = self.query_hot(&sql, &[&account, &kinds]).await?;
        rows.iter().map(read::item).collect()
    }

    async fn all_items(&self) -> Result<Vec<Item>> {
        let sql = format!("{} WHERE kind <> $1 ORDER BY account, kind, id", read::ITEM);
        let rows = self.query(&sql, &[&ItemKind::RosterPart.code()]).await?;
        rows.iter().map(read::item).collect()
    }
}

#[async_trait]
impl TrailRows for Postgres {
    async fn head(&self, account: &str, lane: i64) -> Result<Option<Head>> {
        let rows = self.query_hot(read::HEAD, &[&account, &lane]).await?;
        Ok(rows.first().map(read::head))
    }

    async fn heads(&self, account: Option<&str>) -> Result<Vec<Head>> {
        let rows = self.query(read::HEADS, &[&account]).await?;
        Ok(rows.iter().map(read::head).collect())
    }

    async fn link_digest(&self, account: &str, lane: i64, seq: i64) -> Result<Option<[u8; 32]>> {
        // The result must be final, even for a commit that is still in progress.
        self.settle_doubts().await?;
        let sql = "SELECT digest FROM audit_chain WHERE account = $1 AND lane = $2 AND seq = $3";
        let row = self.query_hot(sql, &[&account, &lane, &seq]).await?;
        Ok(row.first().map(|row| read::bytes(row, 0)))
    }

    async fn missing_ends(&self, ends: &[ChainEnd]) -> Result<Vec<ChainEnd>> {
        let (accounts, lanes, seqs, digests) = commit::columns(ends);
        let values: [&(dyn ToSql + Sync); 4] = [&accounts, &lanes, &seqs, &digests];
        let rows = self.query_hot(read::MISSING_ENDS, &values).await?;
        let mut missing = Vec::with_capacity(rows.len());
        for row in &rows {
            standbys::judge(row, 1, 0)?;
            let at = usize::try_from(row.get::<_, i64>(0)).unwrap_or_default();
            missing.extend(ends.get(at.saturating_sub(1)).cloned());
        }
        Ok(missing)
    }

    async fn chain(
        &self,
        account: &str,
        lane: i64,
        after: i64,
        limit: usize,
    ) -> Result<Vec<ChainRow>> {
        let values: [&(dyn ToSql + Sync); 4] = [&account, &lane, &after, &rows(limit)];
        let rows = self.query(read::CHAIN, &values).await?;
        Ok(rows.iter().map(read::chain).collect())
    }

    async fn accounts_with_records(&self) -> Result<Vec<String>> {
        Ok(self
            .query(read::ACCOUNTS, &[])
            .await?
            .iter()
            .map(|row| row.get(0))
            .collect())
    }

    async fn unchained(&self, account: &str) -> Result<Option<RowKey>> {
        Ok(self
            .query_one(read::UNCHAINED, &[&account])
            .await?
            .as_ref()
            .map(read::key))
    }

    async fn list(
        &self,
        account: &str,
        filter: &Filter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<AuditRow>> {
        let (sql, values) = read::search(account, filter, after, rows(limit));
        let values: Vec<&(dyn ToSql + Sync)> = values
            .iter()
            .map(|value| &**value as &(dyn ToSql + Sync))
            .collect();
        Ok(self
            .query(&sql, &values)
            .await?
            .iter()
            .map(read::record)
            .collect())
    }

    async fn count(&self, account: &str, filter: &Filter, most: usize) -> Result<u64> {
        let (sql, values) = read::count(account, filter, rows(most));
        let values: Vec<&(dyn ToSql + Sync)> = values
            .iter()
            .map(|value| &**value as &(dyn ToSql + Sync))
            .collect();
        let counted = self.query_one(&sql, &values).await?;
        Ok(counted.map_or(0, |row| row.get::<_, i64>(0).cast_unsigned()))
    }

    async fn requests(&self, account: &str, requests: &[Uuid]) -> Result<Vec<AuditRow>> {
        let sql = format!(
            "{} WHERE account = $1 AND request = ANY($2) ORDER BY time, id",
            read::RECORD
        );
        Ok(self
            .query(&sql, &[&account, &requests])
            .await?
            .iter()
            .map(read::record)
            .collect())
    }

    async fn content(&self, account: &str, key: RowKey) -> Result<Contents> {
        let sql = "SELECT original, sent FROM audit_content WHERE account = $1 AND time = $2 AND record = $3";
        let row = self
            .query_one(sql, &[&account, &key.time_us, &key.record])
            .await?;
        Ok(row.as_ref().map(read::contents).unwrap_or_default())
    }

    async fn requests_with(
        &self,
        account: &str,
        codes: &[LookupCode],
        limit: usize,
    ) -> Result<Vec<(Uuid, i64)>> {
        let sql =
            "SELECT DISTINCT request, time FROM audit_token WHERE account = $1 AND token = ANY($2)
                   ORDER BY time DESC, request DESC LIMIT $3";
        let codes: Vec<&[u8]> = codes.iter().map(LookupCode::as_slice).collect();
        let rows = self.query(sql, &[&account, &codes, &rows(limit)]).await?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    async fn counters(&self, account: &str, since_hour: i64) -> Result<Vec<(i64, String, i64)>> {
        let sql = "SELECT hour, name, sum(count)::bigint FROM audit_counter WHERE account = $1 AND hour >= $2
                   GROUP BY hour, name ORDER BY hour, name";
        let rows = self.query(sql, &[&account, &since_hour]).await?;
        Ok(rows
            .iter()
            .map(|row| (row.get(0), row.get(1), row.get(2)))
            .collect())
    }

    async fn hours(
        &self,
        account: &str,
        names: &Names,
        hours: RangeInclusive<i64>,
    ) -> Result<Vec<i64>> {
        let sql = "SELECT DISTINCT hour FROM audit_counter
                   WHERE account = $1 AND name BETWEEN $2 AND $3 AND hour BETWEEN $4 AND $5 ORDER BY hour DESC";
        let (first, last) = (&names.first, &names.last);
        let rows = self
            .query(sql, &[&account, first, last, hours.start(), hours.end()])
            .await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    async fn sums(
        &self,
        account: &str,
        names: &Names,
        hours: RangeInclusive<i64>,
    ) -> Result<Vec<(i64, i64)>> {
        let sql = "SELECT hour, sum(count)::bigint FROM audit_counter
                   WHERE account = $1 AND name BETWEEN $2 AND $3 AND hour BETWEEN $4 AND $5 GROUP BY hour";
        let (first, last) = (&names.first, &names.last);
        let rows = self
            .query(sql, &[&account, first, last, hours.start(), hours.end()])
            .await?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    async fn first_hour(&self, account: &str, names: &Names) -> Result<Option<i64>> {
        let sql = "SELECT hour FROM audit_counter WHERE account = $1 AND name BETWEEN $2 AND $3
                   ORDER BY account, hour LIMIT 1";
        let row = self
            .query_one(sql, &[&account, &names.first, &names.last])
            .await?;
        Ok(row.map(|row| row.get(0)))
    }

    async fn open_requests(&self, alive: &[Uuid], limit: usize) -> Result<Vec<OpenRow>> {
        let sql =
            "SELECT account, request, time, instance FROM open_request WHERE instance <> ALL($1)
                   ORDER BY time LIMIT $2";
        Ok(self
            .query(sql, &[&alive, &rows(limit)])
            .await?
            .iter()
            .map(read::open_row)
            .collect())
    }

    async fn old_contents(
        &self,
        account: &str,
        before_us: i64,
        limit: usize,
    ) -> Result<Vec<RowKey>> {
        let rows = self
            .query(read::OLD_CONTENTS, &[&account, &before_us, &rows(limit)])
            .await?;
        Ok(rows.iter().map(read::key).collect())
    }

    async fn contents_of(&self, account: &str, request: Uuid) -> Result<Vec<RowKey>> {
        let rows = self.query(read::CONTENTS_OF, &[&account, &request]).await?;
        Ok(rows.iter().map(read::key).collect())
    }

    async fn old_records(
        &self,
        account: &str,
        before_us: i64,
        limit: usize,
    ) -> Result<Vec<RowKey>> {
        let rows = self
            .query(read::OLD_RECORDS, &[&account, &before_us, &rows(limit)])
            .await?;
        Ok(rows.iter().map(read::key).collect())
    }

    async fn codes_of(&self, account: &str, request: Uuid) -> Result<Vec<LookupCode>> {
        let sql = "SELECT token FROM audit_token WHERE account = $1 AND request = $2";
        let rows = self.query(sql, &[&account, &request]).await?;
        Ok(rows.iter().map(|row| read::bytes(row, 0)).collect())
    }

    async fn all_counters(&self, account: &str) -> Result<Vec<CounterRow>> {
        let sql = "SELECT account, hour, lane, name, count FROM audit_counter WHERE account = $1";
        Ok(self
            .query(sql, &[&account])
            .await?
            .iter()
            .map(read::counter)
            .collect())
    }
}

#[async_trait]
impl Lifecycle for Postgres {
    fn engine(&self) -> &'static str {
        "postgres"
    }

    fn overlaps(&self) -> bool {
        true
    }

    async fn begin(&self) -> Result<Box<dyn Transaction + '_>, CommitError> {
        Ok(Box::new(self.begin_on_any().await?))
    }

    async fn commit(&self, batch: Arc<Batch>) -> Result<(), CommitError> {
        let end = Instant::now() + self.busy_limit;
        loop {
            let written = async {
                let mut transaction = self.begin().await?;
                transaction.add(batch.clone()).await?;
                transaction.commit().await
            };
            match written.await {
                Err(CommitError::Failed(StoreError::Busy(_))) if Instant::now() < end => {
                    tokio::time::sleep(BUSY_PAUSE).await;
                }
                done => return done,
            }
        }
    }

    async fn confirm(&self) -> Result<()> {
        if self.standbys == 0 {
            return Ok(());
        }
        let client = client(&self.commits).await?;
        let confirmed =
            tokio::time::timeout(WRITE, standbys::confirm(&client, self.standbys)).await;
        if confirmed.is_err() {
            // The wait goes on there.
            discard(client);
        }
        confirmed.unwrap_or(Err(StoreError::Timeout))
    }

    fn connections(&self) -> Option<u64> {
        Some(self.opened.load(Ordering::Acquire))
    }

    async fn make_room(&self, times_us: &[i64]) -> Result<()> {
        partitions::create_for(&self.pool, times_us).await
    }

    async fn backup(&self, _file: &Path) -> Result<()> {
        Err(StoreError::Invalid {
            what: "engine",
            why: "back PostgreSQL up with pg_dump or pg_basebackup",
        })
    }

    async fn tidy(&self) -> Result<()> {
        partitions::create(&self.pool).await?;
        partitions::drop_empty(&self.pool).await
    }

    async fn close(&self) {
        self.pool.close();
        self.hot.close();
        self.commits.close();
    }
}

fn rows(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
