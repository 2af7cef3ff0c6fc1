//! Lookup codes, which find the requests that contain an identifier.
//!
//! A request's codes are written as one row, because codes are random and an index would write a page for each. They
//! are sorted later, many rows at a time (see [`segments`](crate::sqlite::segments)). A lookup asks the segments which
//! rows may have a code, reads those rows, and reads all rows that are not sorted yet.

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use uuid::Uuid;

use crate::rows::{LookupCode, RowKey};
use crate::sqlite::read::uuid;
use crate::sqlite::segments::{self, Mark, Segment};

/// A request and its time.
type Found = (i64, Uuid);

/// Requests with one of these codes, newest first.
pub(super) fn requests_with(
    connection: &Connection,
    account: &str,
    wanted: &[LookupCode],
    limit: usize,
) -> rusqlite::Result<Vec<(Uuid, i64)>> {
    // One transaction, so that no rows are sorted between the two reads.
    let moment = connection.unchecked_transaction()?;
    let mut segments = segments::all(&moment)?;
    let mut found = unsorted(&moment, account, wanted, segments::end(&segments))?;
    let marks: Vec<Mark> = wanted.iter().map(Mark::of).collect();
    let candidates = segments::candidates(&moment, &marks)?;
    segments.sort_unstable_by_key(|segment| std::cmp::Reverse(segment.newest_us));
    for segment in &segments {
        if is_enough(&mut found, limit, segment.newest_us) {
            break;
        }
        let Some(rows) = candidates.get(&segment.first) else {
            continue;
        };
        found.extend(checked(&moment, account, wanted, segment, rows)?);
    }
    newest(&mut found, limit);
    Ok(found
        .into_iter()
        .map(|(time_us, request)| (request, time_us))
        .collect())
}

/// Whether requests from this time or earlier can no longer be among the newest.
fn is_enough(found: &mut Vec<Found>, limit: usize, time_us: i64) -> bool {
    if found.len() >= limit {
        newest(found, limit);
    }
    found.len() >= limit && found.last().is_none_or(|(last, _)| *last > time_us)
}

fn newest(found: &mut Vec<Found>, limit: usize) {
    found.sort_unstable_by(|one, other| other.cmp(one));
    found.truncate(limit);
}

/// Reads the rows after a number, in storage order.
fn unsorted(
    connection: &Connection,
    account: &str,
    wanted: &[LookupCode],
    after: i64,
) -> rusqlite::Result<Vec<Found>> {
    let mut statement = connection.prepare_cached(
        "SELECT request, time, tokens FROM audit_token NOT INDEXED WHERE number > ?1 AND account = ?2",
    )?;
    let mut rows = statement.query(params![after, account])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.extend(request_of(row, wanted)?);
    }
    Ok(found)
}

/// The rows of a segment that really have one of the codes: marks can collide, and rows may have been deleted.
fn checked(
    connection: &Connection,
    account: &str,
    wanted: &[LookupCode],
    segment: &Segment,
    numbers: &[i64],
) -> rusqlite::Result<Vec<Found>> {
    let mut statement = connection.prepare_cached(
        "SELECT request, time, tokens FROM audit_token WHERE number = ?1 AND account = ?2",
    )?;
    let mut found = Vec::new();
    for number in numbers.iter().filter(|number| **number <= segment.last) {
        let mut rows = statement.query(params![number, account])?;
        if let Some(row) = rows.next()? {
            found.extend(request_of(row, wanted)?);
        }
    }
    Ok(found)
}

/// The request of a row, if the row has one of the codes.
fn request_of(row: &Row<'_>, wanted: &[LookupCode]) -> rusqlite::Result<Option<Found>> {
    let codes = row.get_ref(2)?.as_blob().unwrap_or_default();
    let is_wanted = codes.as_chunks().0.iter().any(|code| wanted.contains(code));
    is_wanted
        .then(|| Ok((row.get(1)?, uuid(row, 0)?)))
        .transpose()
}

/// The codes of one request.
pub(super) fn codes_of(
    connection: &Connection,
    account: &str,
    request: Uuid,
) -> rusqlite::Result<Vec<LookupCode>> {
    let codes: Option<Vec<u8>> = connection
        .prepare_cached("SELECT tokens FROM audit_token WHERE account = ?1 AND request = ?2")?
        .query_row(params![account, request.as_bytes()], |row| {
            Ok(row.get(0).unwrap_or_default())
        })
        .optional()?;
    let codes = codes.unwrap_or_default();
    let (whole, rest) = codes.as_chunks();
    // A truncated row must not look complete.
    let cut = (!rest.is_empty()).then_some([0; 16]);
    Ok(whole.iter().copied().chain(cut).collect())
}

/// Deletes the codes of these records' requests.
pub(super) fn delete(
    transaction: &Transaction<'_>,
    account: &str,
    decisions: &[RowKey],
) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "DELETE FROM audit_token WHERE account = ?1 AND request =
         (SELECT request FROM audit_record WHERE account = ?1 AND time = ?3 AND id = ?2 AND kind = 1)
         RETURNING number",
    )?;
    let mut numbers = Vec::new();
    for row in decisions {
        let keys = params![account, row.record.as_bytes(), row.time_us];
        let number = statement.query_row(keys, |row| row.get::<_, i64>(0));
        numbers.extend(number.optional()?);
    }
    segments::lose(transaction, numbers)
}

/// Deletes all codes of an account.
pub(super) fn delete_all(transaction: &Transaction<'_>, account: &str) -> rusqlite::Result<()> {
    let numbers = transaction
        .prepare_cached("DELETE FROM audit_token WHERE account = ?1 RETURNING number")?
        .query_map([account], |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<i64>>>()?;
    segments::lose(transaction, numbers)
}

#[cfg(test)]
mod tests;
