//! Reading the counters.

use std::ops::RangeInclusive;

use rusqlite::{Connection, OptionalExtension, params};

use crate::rows::{CounterRow, Names};

pub(super) fn since(
    connection: &Connection,
    account: &str,
    since_hour: i64,
) -> rusqlite::Result<Vec<(i64, String, i64)>> {
    connection
        .prepare_cached(
            "SELECT hour, name, sum(count) FROM audit_counter WHERE account = ?1 AND hour >= ?2
             GROUP BY hour, name ORDER BY hour, name",
        )?
        .query_map(params![account, since_hour], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?
        .collect()
}

pub(super) fn all(connection: &Connection, account: &str) -> rusqlite::Result<Vec<CounterRow>> {
    connection
        .prepare_cached(
            "SELECT account, hour, lane, name, count FROM audit_counter WHERE account = ?1",
        )?
        .query_map([account], |row| {
            Ok(CounterRow {
                account: row.get(0)?,
                hour: row.get(1)?,
                lane: row.get(2)?,
                name: row.get(3)?,
                count: row.get(4)?,
            })
        })?
        .collect()
}

/// Reads the hours from the index alone.
pub(super) fn hours(
    connection: &Connection,
    account: &str,
    names: &Names,
    hours: &RangeInclusive<i64>,
) -> rusqlite::Result<Vec<i64>> {
    connection
        .prepare_cached(
            "SELECT DISTINCT hour FROM audit_counter INDEXED BY audit_counter_name
             WHERE account = ?1 AND name BETWEEN ?2 AND ?3 AND hour BETWEEN ?4 AND ?5 ORDER BY hour DESC",
        )?
        .query_map(
            params![account, names.first, names.last, hours.start(), hours.end()],
            |row| row.get(0),
        )?
        .collect()
}

pub(super) fn sums(
    connection: &Connection,
    account: &str,
    names: &Names,
    hours: &RangeInclusive<i64>,
) -> rusqlite::Result<Vec<(i64, i64)>> {
    connection
        .prepare_cached(
            "SELECT hour, sum(count) FROM audit_counter INDEXED BY audit_counter_name
             WHERE account = ?1 AND name BETWEEN ?2 AND ?3 AND hour BETWEEN ?4 AND ?5 GROUP BY hour",
        )?
        .query_map(
            params![account, names.first, names.last, hours.start(), hours.end()],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?
        .collect()
}

/// The first hour with one of these names. The plus makes SQLite walk from the oldest hour on instead of collecting all
/// rows of the names.
pub(super) fn first_hour(
    connection: &Connection,
    account: &str,
    names: &Names,
) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached(
            "SELECT hour FROM audit_counter WHERE account = ?1 AND +name BETWEEN ?2 AND ?3 ORDER BY hour LIMIT 1",
        )?
        .query_row(params![account, names.first, names.last], |row| row.get(0))
        .optional()
}
