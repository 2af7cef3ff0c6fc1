//! Monthly partitions: created ahead of time, dropped when they are empty and old.

use std::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use tokio_postgres::error::SqlState;

use crate::postgres::{Pool, client, query, unavailable};
use crate::{Result, StoreError};

const TABLES: [&str; 2] = ["audit_record", "audit_content"];
/// Months made ahead, so that a replica that sleeps over a change of month finds its partition.
const AHEAD: i32 = 3;
/// Held while a partition is made.
const PARTITION_LOCK: i64 = 0x0070_6869_7061_7274;
const LIMIT: Duration = Duration::from_secs(10);

/// Creates the partitions of this month and of the next ones.
pub(super) async fn create(pool: &Pool) -> Result<()> {
    let this_month = Timestamp::now()
        .to_zoned(TimeZone::UTC)
        .date()
        .first_of_month();
    for ahead in 0..=AHEAD {
        let month = this_month
            .checked_add(ahead.months())
            .map_err(|_| out_of_range())?;
        for table in TABLES {
            create_month(pool, table, month).await?;
        }
    }
    Ok(())
}

/// Creates the partitions for records of these times.
pub(super) async fn create_for(pool: &Pool, times_us: &[i64]) -> Result<()> {
    let mut months = std::collections::BTreeSet::new();
    for time_us in times_us {
        let time = Timestamp::from_microsecond(*time_us).map_err(|_| out_of_range())?;
        months.insert(time.to_zoned(TimeZone::UTC).date().first_of_month());
    }
    for month in months {
        for table in TABLES {
            create_month(pool, table, month).await?;
        }
    }
    Ok(())
}

/// Drops partitions of past months that retention has emptied.
pub(super) async fn drop_empty(pool: &Pool) -> Result<()> {
    let this_month = Timestamp::now()
        .to_zoned(TimeZone::UTC)
        .date()
        .first_of_month();
    for table in TABLES {
        let newest = name(
            table,
            this_month
                .checked_sub(1.month())
                .map_err(|_| out_of_range())?,
        );
        let sql = "SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                   WHERE i.inhparent = to_regclass($1) AND c.relname LIKE $1 || '\\_2%' AND c.relname < $2
                   ORDER BY 1 LIMIT 24";
        for row in query(pool, sql, &[&table, &newest], LIMIT).await? {
            let partition: String = row.get(0);
            let sql = format!("SELECT 1 FROM {partition} LIMIT 1");
            if query(pool, &sql, &[], LIMIT).await?.is_empty() {
                let client = client(pool).await?;
                // Locked first, so that no row can be inserted between check and drop.
                let sql = format!(
                    "DO $$ BEGIN LOCK TABLE {partition} IN ACCESS EXCLUSIVE MODE;
                     IF NOT EXISTS (SELECT 1 FROM {partition}) THEN DROP TABLE {partition}; END IF; END $$"
                );
                client
                    .batch_execute(&sql)
                    .await
                    .map_err(|error| unavailable(&error))?;
            }
        }
    }
    Ok(())
}

async fn create_month(pool: &Pool, table: &str, month: Date) -> Result<()> {
    let partition = name(table, month);
    let exists = query(
        pool,
        "SELECT to_regclass($1) IS NOT NULL",
        &[&partition],
        LIMIT,
    )
    .await?;
    if exists.first().is_some_and(|row| row.get(0)) {
        return Ok(());
    }
    let next = month.checked_add(1.month()).map_err(|_| out_of_range())?;
    let (from, to) = (start_us(month)?, start_us(next)?);
    // One transaction, and one replica after the other: otherwise two of them find the table missing and both make it.
    let sql = format!(
        "SELECT pg_advisory_xact_lock({PARTITION_LOCK});
         CREATE TABLE IF NOT EXISTS {partition} PARTITION OF {table} FOR VALUES FROM ({from}) TO ({to})"
    );
    let client = client(pool).await?;
    match client.batch_execute(&sql).await {
        Ok(()) => Ok(()),
        // The default partition already holds records of that month, or another process keeps the table locked.
        Err(error) if error.code().is_some() => {
            let code = error.code().map_or("", SqlState::code);
            tracing::info!("partition {partition} not made now: PostgreSQL error {code}");
            Ok(())
        }
        Err(error) => Err(unavailable(&error)),
    }
}

fn name(table: &str, month: Date) -> String {
    format!("{table}_{:04}_{:02}", month.year(), month.month())
}

fn start_us(date: Date) -> Result<i64> {
    let start = date.to_zoned(TimeZone::UTC).map_err(|_| out_of_range())?;
    Ok(start.timestamp().as_microsecond())
}

fn out_of_range() -> StoreError {
    StoreError::Invalid {
        what: "time",
        why: "outside the years that can be stored",
    }
}
