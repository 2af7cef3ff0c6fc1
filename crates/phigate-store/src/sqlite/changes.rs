//! Changes to items, and deletions.

use rusqlite::{ErrorCode, Transaction, params};

use crate::item::{Change, Expect, Item};
use crate::rows::{Batch, RowKey};
use crate::sqlite::{codes, failed};
use crate::store::CommitError;

/// Applies one change to the items.
pub(super) fn apply(transaction: &Transaction<'_>, change: &Change) -> Result<(), CommitError> {
    match change {
        Change::Put(item, expect) => put(transaction, item, *expect),
        Change::Restore(item) => restore(transaction, item),
        Change::Delete { account, kind, id } => {
            let deleted = transaction
                .execute(
                    "DELETE FROM item WHERE account = ?1 AND kind = ?2 AND id = ?3",
                    params![account, kind.code(), id],
                )
                .map_err(|error| failed(&error))?;
            if deleted == 1 {
                Ok(())
            } else {
                Err(CommitError::Stale)
            }
        }
        Change::Check {
            account,
            kind,
            id,
            version,
        } => {
            let found = transaction
                .query_row(
                    "SELECT count(*) FROM item WHERE account = ?1 AND kind = ?2 AND id = ?3 AND version = ?4",
                    params![account, kind.code(), id, version],
                    |row| row.get::<_, i64>(0),
                )
                .map_err(|error| failed(&error))?;
            if found == 1 {
                Ok(())
            } else {
                Err(CommitError::Stale)
            }
        }
        Change::Shred { account } => {
            for table in ["item", "audit_content"] {
                transaction
                    .execute(
                        &format!("DELETE FROM {table} WHERE account = ?1"),
                        [account],
                    )
                    .map_err(|error| failed(&error))?;
            }
            codes::delete_all(transaction, account).map_err(|error| failed(&error))
        }
    }
}

fn put(transaction: &Transaction<'_>, item: &Item, expect: Expect) -> Result<(), CommitError> {
    let Item {
        account,
        kind,
        id,
        lookup,
        body,
        mac,
        ..
    } = item;
    let kind = kind.code();
    let changed = match expect {
        Expect::Absent => transaction.execute(
            "INSERT INTO item (account, kind, id, lookup, version, body, mac) VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6)",
            params![account, kind, id, lookup, body, mac],
        ),
        Expect::Version(version) => transaction.execute(
            "UPDATE item SET lookup = ?4, version = version + 1, body = ?5, mac = ?6
             WHERE account = ?1 AND kind = ?2 AND id = ?3 AND version = ?7",
            params![account, kind, id, lookup, body, mac, version],
        ),
        Expect::Any => transaction.execute(
            "INSERT INTO item (account, kind, id, lookup, version, body, mac) VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6)
             ON CONFLICT (account, kind, id) DO UPDATE
             SET lookup = excluded.lookup, version = version + 1, body = excluded.body, mac = excluded.mac",
            params![account, kind, id, lookup, body, mac],
        ),
    };
    exactly_one(changed)
}

/// Inserts a row of another store unchanged.
fn restore(transaction: &Transaction<'_>, item: &Item) -> Result<(), CommitError> {
    let Item {
        account,
        kind,
        id,
        lookup,
        version,
        body,
        mac,
    } = item;
    exactly_one(transaction.execute(
        "INSERT INTO item (account, kind, id, lookup, version, body, mac) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![account, kind.code(), id, lookup, version, body, mac],
    ))
}

fn exactly_one(changed: rusqlite::Result<usize>) -> Result<(), CommitError> {
    match changed {
        Ok(1) => Ok(()),
        Ok(_) => Err(CommitError::Stale),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            Err(CommitError::Stale)
        }
        Err(error) => Err(failed(&error)),
    }
}

/// Applies the parts of a batch without conditions: the bump of the generation and deletions by retention.
pub(super) fn apply_plain(transaction: &Transaction<'_>, batch: &Batch) -> rusqlite::Result<()> {
    if batch.bump {
        transaction.execute("UPDATE generation SET value = value + 1", [])?;
    }
    if let Some((account, rows)) = &batch.drop_contents {
        delete_contents(transaction, account, rows)?;
    }
    if let Some((account, rows)) = &batch.drop_records {
        delete_contents(transaction, account, rows)?;
        delete_records(transaction, account, rows)?;
    }
    if let Some((account, name, hours)) = &batch.drop_counters {
        transaction.execute(
            "DELETE FROM audit_counter WHERE account = ?1 AND hour >= ?2 AND hour < ?3 AND name GLOB ?4",
            params![account, hours.start, hours.end, format!("{name}*")],
        )?;
    }
    Ok(())
}

fn delete_contents(
    transaction: &Transaction<'_>,
    account: &str,
    rows: &[RowKey],
) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "DELETE FROM audit_content WHERE number =
         (SELECT number FROM audit_record WHERE account = ?1 AND time = ?2 AND id = ?3)",
    )?;
    for row in rows {
        statement.execute(params![account, row.time_us, row.record.as_bytes()])?;
    }
    Ok(())
}

/// Deletes records and the lookup codes of their requests; their chain entries stay.
fn delete_records(
    transaction: &Transaction<'_>,
    account: &str,
    rows: &[RowKey],
) -> rusqlite::Result<()> {
    codes::delete(transaction, account, rows)?;
    let mut records = transaction
        .prepare_cached("DELETE FROM audit_record WHERE account = ?1 AND time = ?3 AND id = ?2")?;
    for row in rows {
        records.execute(params![account, row.record.as_bytes(), row.time_us])?;
    }
    Ok(())
}
