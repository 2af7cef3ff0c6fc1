//! Writes: a transaction, batches of a few statements sent together, the commit.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::item::{Change, Expect, Item};
use crate::postgres::statement::{Failure, exactly_one, failed, run};
use crate::postgres::{
    COMMITTERS, Object, Postgres, WRITE, client, commit, discard, insert, query,
};
use crate::rows::{Batch, ChainEnd, RowKey};
use crate::store::{CommitError, Transaction};
use crate::{Result, StoreError};

/// A transaction in progress.
pub(super) struct PostgresTransaction<'a> {
    store: &'a Postgres,
    /// `None` once the transaction has ended.
    client: Option<Object>,
    begun: Begun,
    /// Ends of chains that its batches extend, the first of each chain.
    extends: Vec<ChainEnd>,
}

/// The answer to `BEGIN`.
struct Begun {
    /// Process that serves the connection.
    backend: i32,
    /// Time of the last change of the server's settings.
    loaded: String,
}

#[async_trait]
impl Transaction for PostgresTransaction<'_> {
    async fn add(&mut self, batch: Arc<Batch>) -> Result<(), CommitError> {
        let Some(client) = self.client.as_ref() else {
            return Err(CommitError::Failed(StoreError::Closed));
        };
        let error = match tokio::time::timeout(WRITE, apply(client, &batch)).await {
            Ok(Ok(())) => {
                self.note_extended(&batch);
                return Ok(());
            }
            Ok(Err(failure)) => failure.into(),
            Err(_) => CommitError::Failed(StoreError::Timeout),
        };
        let is_alive = matches!(
            &error,
            CommitError::Stale
                | CommitError::LaneTaken
                | CommitError::NotOpen(_)
                | CommitError::Failed(StoreError::Busy(_))
        );
        let rollback = tokio::time::timeout(WRITE, client.batch_execute("ROLLBACK"));
        if is_alive && matches!(rollback.await, Ok(Ok(()))) {
            self.client = None;
        }
        Err(error)
    }

    async fn commit(mut self: Box<Self>) -> Result<(), CommitError> {
        let Some(client) = self.client.as_ref() else {
            return Err(CommitError::Failed(StoreError::Closed));
        };
        let wanted = self.store.standbys;
        let committing = commit::commit(client, &self.extends, &self.begun.loaded, wanted);
        let timeout = CommitError::Unknown(StoreError::Timeout);
        let committed = tokio::time::timeout(WRITE, committing).await;
        let committed = committed.unwrap_or(Err(timeout));
        let has_ended = match &committed {
            Ok(()) | Err(CommitError::Unconfirmed(_) | CommitError::RolledBack) => true,
            Err(CommitError::Failed(error)) => matches!(error, StoreError::Busy(_)),
            Err(_) => false,
        };
        if has_ended {
            self.client = None;
        }
        committed
    }
}

impl PostgresTransaction<'_> {
    /// Notes the ends that a batch extends, unless an earlier batch of this transaction made them.
    fn note_extended(&mut self, batch: &Batch) {
        for end in &batch.extends {
            let is_same = |known: &ChainEnd| known.account == end.account && known.lane == end.lane;
            if !self.extends.iter().any(is_same) {
                self.extends.push(end.clone());
            }
        }
    }
}

impl Drop for PostgresTransaction<'_> {
    /// Records the transaction as a doubt, unless it has ended; the server then ends it.
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            discard(client);
            self.store.doubts().push(self.begun.backend);
        }
    }
}

impl Postgres {
    /// Begins a transaction.
    pub(super) async fn begin_on_any(&self) -> Result<PostgresTransaction<'_>, CommitError> {
        self.settle_doubts().await.map_err(CommitError::Failed)?;
        let mut last = StoreError::Unavailable("no connection to PostgreSQL".to_owned());
        // Dead connections from the pool are replaced.
        for _ in 0..=COMMITTERS {
            let client = client(&self.commits).await.map_err(CommitError::Failed)?;
            match tokio::time::timeout(WRITE, begin(&client)).await {
                Ok(Ok(begun)) => {
                    return Ok(PostgresTransaction {
                        store: self,
                        client: Some(client),
                        begun,
                        extends: Vec::new(),
                    });
                }
                Ok(Err(Failure::Dead(error))) => last = error,
                Ok(Err(Failure::Refused(error))) => {
                    discard(client);
                    return Err(error);
                }
                Err(_) => {
                    discard(client);
                    return Err(CommitError::Failed(StoreError::Timeout));
                }
            }
            discard(client);
        }
        Err(CommitError::Failed(last))
    }

    /// Ends the backends that may still be committing, so that their outcome is final.
    pub(super) async fn settle_doubts(&self) -> Result<()> {
        let doubts = self.doubts().clone();
        for backend in doubts {
            let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                       WHERE pid = $1 AND application_name = 'phigate' AND usename = current_user";
            while !query(&self.hot, sql, &[&backend], WRITE).await?.is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            self.doubts().retain(|other| *other != backend);
        }
        Ok(())
    }
}

/// Applies a batch. All its rows are sent in one pipeline and cost one round trip.
async fn apply(client: &Object, batch: &Batch) -> Result<(), Failure> {
    change(client, batch).await?;
    insert::all(client, batch).await
}

/// Begins a transaction. The call waits for the reply. Otherwise, if `BEGIN` failed on a live connection, pipelined rows
/// would be committed one by one.
async fn begin(client: &Object) -> Result<Begun, Failure> {
    let answers = client
        .simple_query("BEGIN; SELECT pg_backend_pid(), pg_conf_load_time()")
        .await
        .map_err(|error| failed(&error))?;
    let begun = answers.iter().find_map(|answer| match answer {
        SimpleQueryMessage::Row(row) => Some(Begun {
            backend: row.get(0)?.parse().ok()?,
            loaded: row.get(1)?.to_owned(),
        }),
        _ => None,
    });
    begun.ok_or_else(|| {
        let unreadable = StoreError::Unreadable("answer of PostgreSQL");
        Failure::Refused(CommitError::Failed(unreadable))
    })
}

/// Applies changes to items and deletions in order.
async fn change(client: &Object, batch: &Batch) -> Result<(), Failure> {
    for change in &batch.changes {
        apply_change(client, change).await?;
    }
    if batch.bump {
        run(client, "UPDATE generation SET value = value + 1", &[]).await?;
    }
    if let Some((account, rows)) = &batch.drop_contents {
        delete(client, &["audit_content"], account, rows).await?;
    }
    if let Some((account, rows)) = &batch.drop_records {
        let tables = ["audit_token", "audit_content", "audit_record"];
        delete(client, &tables, account, rows).await?;
    }
    if let Some((account, name, hours)) = &batch.drop_counters {
        let sql = "DELETE FROM audit_counter WHERE account = $1 AND hour >= $2 AND hour < $3 AND starts_with(name, $4)";
        run(client, sql, &[account, &hours.start, &hours.end, name]).await?;
    }
    Ok(())
}

async fn apply_change(client: &Object, change: &Change) -> Result<(), Failure> {
    match change {
        Change::Put(item, expect) => put(client, item, *expect).await,
        Change::Restore(item) => restore(client, item).await,
        Change::Delete { account, kind, id } => {
            let sql = "DELETE FROM item WHERE account = $1 AND kind = $2 AND id = $3";
            exactly_one(run(client, sql, &[account, &kind.code(), id]).await?)
        }
        Change::Check {
            account,
            kind,
            id,
            version,
        } => {
            // Locked until the commit, so that the row is unchanged then.
            let sql = "SELECT 1 FROM item WHERE account = $1 AND kind = $2 AND id = $3 AND version = $4 FOR SHARE";
            exactly_one(run(client, sql, &[account, &kind.code(), id, version]).await?)
        }
        Change::Shred { account } => {
            for table in ["item", "audit_content", "audit_token"] {
                run(
                    client,
                    &format!("DELETE FROM {table} WHERE account = $1"),
                    &[account],
                )
                .await?;
            }
            Ok(())
        }
    }
}

async fn put(client: &Object, item: &Item, expect: Expect) -> Result<(), Failure> {
    let Item {
        account,
        kind,
        id,
        lookup,
        body,
        mac,
        ..
    } = item;
    let kind = &kind.code();
    let changed = match expect {
        Expect::Absent => {
            let sql = "INSERT INTO item (account, kind, id, lookup, version, body, mac) VALUES ($1, $2, $3, $4, 1, $5, $6)";
            run(client, sql, &[account, kind, id, lookup, body, mac]).await
        }
        Expect::Version(version) => {
            let sql = "UPDATE item SET lookup = $4, version = version + 1, body = $5, mac = $6
                       WHERE account = $1 AND kind = $2 AND id = $3 AND version = $7";
            let values: [&(dyn ToSql + Sync); 7] = [account, kind, id, lookup, body, mac, &version];
            run(client, sql, &values).await
        }
        Expect::Any => {
            let sql = "INSERT INTO item (account, kind, id, lookup, version, body, mac) VALUES ($1, $2, $3, $4, 1, $5, $6)
                       ON CONFLICT (account, kind, id) DO UPDATE
                       SET lookup = excluded.lookup, version = item.version + 1, body = excluded.body, mac = excluded.mac";
            run(client, sql, &[account, kind, id, lookup, body, mac]).await
        }
    };
    exactly_one(changed?)
}

/// Inserts a row of another store unchanged.
async fn restore(client: &Object, item: &Item) -> Result<(), Failure> {
    let Item {
        account,
        kind,
        id,
        lookup,
        version,
        body,
        mac,
    } = item;
    let sql = "INSERT INTO item (account, kind, id, lookup, version, body, mac) VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let values: [&(dyn ToSql + Sync); 7] = [account, &kind.code(), id, lookup, version, body, mac];
    exactly_one(run(client, sql, &values).await?)
}

/// Deletes rows of some tables by record, and lookup codes by the record's request.
async fn delete(
    client: &Object,
    tables: &[&str],
    account: &String,
    rows: &[RowKey],
) -> Result<(), Failure> {
    let records: Vec<Uuid> = rows.iter().map(|row| row.record).collect();
    let times: Vec<i64> = rows.iter().map(|row| row.time_us).collect();
    for table in tables {
        let condition = match *table {
            "audit_token" => {
                "t.request IN (SELECT r.request FROM audit_record r JOIN d ON r.time = d.time AND r.id = d.record
                 WHERE r.account = $1 AND r.kind = 1)"
            }
            "audit_content" => "EXISTS (SELECT 1 FROM d WHERE d.record = t.record AND d.time = t.time)",
            _ => "EXISTS (SELECT 1 FROM d WHERE d.record = t.id AND d.time = t.time)",
        };
        let sql = format!(
            "WITH d AS (SELECT * FROM unnest($2::uuid[], $3::bigint[]) AS d (record, time))
             DELETE FROM {table} t WHERE t.account = $1 AND {condition}"
        );
        run(client, &sql, &[account, &records, &times]).await?;
    }
    Ok(())
}
