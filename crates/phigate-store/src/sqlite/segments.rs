//! Segments of lookup codes, sorted in the background so that a lookup need not read all rows.
//!
//! A segment is a range of rows with thousands of codes. Each code has a mark of five bytes. The first byte selects the
//! bucket of its entry, which is the rest of the mark and the row. The entries of a bucket are contiguous, so a lookup
//! reads a 256th of six bytes per code. Invariants:
//!
//! - Every row up to the end of the last segment is in a segment that has all its codes.
//! - An entry may name a row that was deleted or replaced, so a lookup reads the row and checks it.
//! - New rows come after the end of the last segment. SQLite assigns the largest number plus one, so when the newest
//!   rows are deleted, the segments end earlier ([`lose`]).

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use uuid::Uuid;

use crate::rows::{Batch, LookupCode};
use crate::sqlite::read::uuid;

/// Segment size limit, in rows or codes.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) rows: usize,
    pub(super) codes: usize,
}

/// Number of rows sorted in one transaction, while commits wait.
pub(super) const USUAL: Size = Size {
    rows: 4_096,
    codes: 65_536,
};
/// Estimated bytes that a segment adds to the log: a page per bucket, and some page splits.
pub(super) const SEGMENT_BYTES: usize = 3 << 19;
/// Bits of a place for the first row of its segment.
const FIRST_BITS: u32 = 48;
const BUCKETS: usize = 256;
/// An odd constant with well-spread bits, for multiplicative hashing.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
/// The longest distance of a segment's row from its first.
const FARTHEST: i64 = u16::MAX as i64;

/// A shortened code: enough to distinguish nearly all codes.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    bucket: u8,
    rest: [u8; 4],
}

impl Mark {
    /// The mark of a code. Codes are mixed, because the codes of tokens have few different bytes; the others are keyed
    /// hashes.
    pub(super) fn of(code: &LookupCode) -> Self {
        let (halves, _) = code.as_chunks();
        let [low, high] = [halves[0], halves[1]].map(u64::from_le_bytes);
        let mixed = (low.wrapping_mul(MIX).rotate_left(32) ^ high).wrapping_mul(MIX);
        let [bucket, a, b, c, d, ..] = mixed.to_be_bytes();
        Self {
            bucket,
            rest: [a, b, c, d],
        }
    }
}

/// The rest of a mark, and the distance of its row from the first row of the segment.
type Entry = [u8; 6];

fn entry(mark: Mark, distance: u16) -> Entry {
    let [a, b, c, d] = mark.rest;
    let [e, f] = distance.to_be_bytes();
    [a, b, c, d, e, f]
}

fn row_of(first: i64, entry: &Entry) -> i64 {
    first + i64::from(u16::from_be_bytes([entry[4], entry[5]]))
}

fn place(bucket: usize, first: i64) -> i64 {
    ((bucket as i64) << FIRST_BITS) | first
}

/// A range of rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    /// Numbers of the first and the last row.
    pub(super) first: i64,
    pub(super) last: i64,
    /// Time of the newest row.
    pub(super) newest_us: i64,
}

/// All segments, in order.
pub(super) fn all(connection: &Connection) -> rusqlite::Result<Vec<Segment>> {
    connection
        .prepare_cached("SELECT first, last, newest FROM audit_token_segment ORDER BY first")?
        .query_map([], |row| {
            Ok(Segment {
                first: row.get(0)?,
                last: row.get(1)?,
                newest_us: row.get(2)?,
            })
        })?
        .collect()
}

/// The last row that is sorted.
pub(super) fn end(segments: &[Segment]) -> i64 {
    segments.last().map_or(0, |segment| segment.last)
}

/// Rows that may have a code with one of these marks, by the first row of their segment.
pub(super) fn candidates(
    connection: &Connection,
    marks: &[Mark],
) -> rusqlite::Result<HashMap<i64, Vec<i64>>> {
    let mut statement = connection.prepare_cached(
        "SELECT place, entries FROM audit_token_sorted WHERE place >= ?1 AND place < ?2",
    )?;
    let mut found: HashMap<i64, Vec<i64>> = HashMap::new();
    for mark in marks {
        let bucket = usize::from(mark.bucket);
        let mut rows = statement.query([place(bucket, 0), place(bucket + 1, 0)])?;
        while let Some(row) = rows.next()? {
            let first = row.get::<_, i64>(0)? - place(bucket, 0);
            let entries = row.get_ref(1)?.as_blob().unwrap_or_default();
            let (entries, _) = entries.as_chunks();
            for entry in entries.iter().filter(|entry| entry[..4] == mark.rest) {
                found.entry(first).or_default().push(row_of(first, entry));
            }
        }
    }
    for rows in found.values_mut() {
        rows.sort_unstable();
        rows.dedup();
    }
    Ok(found)
}

/// Sorts a segment that lost rows, or else the next rows if they fill a segment. False if nothing was due.
pub(super) fn sort_next(connection: &mut Connection, size: Size) -> rusqlite::Result<bool> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let stale = transaction
        .prepare_cached("SELECT first, last FROM audit_token_segment WHERE stale = 1 LIMIT 1")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let is_sorted = match stale {
        Some((first, last)) => {
            remove(&transaction, first)?;
            Sorting::read(&transaction, first, last, |_| false)?.write(&transaction)?;
            true
        }
        None => sort_new(&transaction, size)?,
    };
    transaction.commit()?;
    Ok(is_sorted)
}

/// Rows and codes written since the last check.
#[derive(Default)]
pub(super) struct Backlog {
    rows: usize,
    codes: usize,
}

impl Backlog {
    pub(super) fn add(&mut self, batch: &Batch) {
        self.rows += batch.lookups.len();
        self.codes += batch
            .lookups
            .iter()
            .map(|row| row.codes.len())
            .sum::<usize>();
    }

    /// Whether a check is worthwhile.
    pub(super) fn is_worth_a_look(&self) -> bool {
        self.rows >= USUAL.rows / 4 || self.has_many_codes()
    }

    /// Checks whether rows have to be sorted.
    pub(super) fn look(&mut self, connection: &Connection) -> rusqlite::Result<bool> {
        let is_due = std::mem::take(self).has_many_codes() || is_due(connection)?;
        Ok(is_due)
    }

    fn has_many_codes(&self) -> bool {
        self.codes >= USUAL.codes
    }
}

/// Whether rows may have to be sorted. Gaps in the row numbers are counted as rows.
fn is_due(connection: &Connection) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM audit_token_segment WHERE stale = 1) OR
             (SELECT max(number) FROM audit_token) >=
             ?1 + coalesce((SELECT last FROM audit_token_segment ORDER BY first DESC LIMIT 1), 0)",
        )?
        .query_row([USUAL.rows as i64], |row| {
            Ok(row.get::<_, Option<bool>>(0)?.unwrap_or_default())
        })
}

/// Makes a segment of the rows after the last one.
fn sort_new(transaction: &Transaction<'_>, size: Size) -> rusqlite::Result<bool> {
    let first: Option<i64> = transaction
        .prepare_cached(
            "SELECT min(number) FROM audit_token WHERE number >
             coalesce((SELECT last FROM audit_token_segment ORDER BY first DESC LIMIT 1), 0)",
        )?
        .query_row([], |row| row.get(0))?;
    // SQLite never assigns a number that does not fit into a place.
    let Some(first) = first.filter(|first| *first < place(1, 0)) else {
        return Ok(false);
    };
    let is_full = |sorting: &Sorting| sorting.rows >= size.rows || sorting.codes >= size.codes;
    let sorting = Sorting::read(transaction, first, i64::MAX, is_full)?;
    let newest: i64 = transaction
        .prepare_cached("SELECT max(number) FROM audit_token")?
        .query_row([], |row| row.get(0))?;
    let is_enough = is_full(&sorting) || newest - first > FARTHEST;
    if is_enough {
        sorting.write(transaction)?;
    }
    Ok(is_enough)
}

/// A request, with its account, that has a code missing from the segments; `None` if there is none.
pub(super) fn unfindable(
    connection: &Connection,
    account: Option<&str>,
) -> rusqlite::Result<Option<(String, Uuid)>> {
    let moment = connection.unchecked_transaction()?;
    let segments = all(&moment)?;
    let mut statement = moment.prepare_cached(
        "SELECT number, account, request, tokens, time FROM audit_token WHERE number > ?1 AND number <= ?2",
    )?;
    let mut before = 0;
    for segment in &segments {
        let known = entries_of(&moment, segment.first)?;
        let mut rows = statement.query([before, segment.last])?;
        while let Some(row) = rows.next()? {
            let number: i64 = row.get(0)?;
            let of: String = row.get(1)?;
            if account.is_some_and(|account| account != of) {
                continue;
            }
            let distance = number.checked_sub(segment.first);
            let distance = distance.and_then(|distance| u16::try_from(distance).ok());
            let is_known = |code: &LookupCode| {
                let mark = Mark::of(code);
                let lies = |distance| known.contains(&(mark.bucket, entry(mark, distance)));
                distance.is_some_and(lies)
            };
            let codes = row.get_ref(3)?.as_blob().unwrap_or_default();
            let is_timely = row.get::<_, i64>(4)? <= segment.newest_us;
            if !is_timely || !codes.as_chunks().0.iter().all(is_known) {
                return Ok(Some((of, uuid(row, 2)?)));
            }
        }
        before = segment.last;
    }
    Ok(None)
}

/// All entries of a segment, with their buckets.
fn entries_of(connection: &Connection, first: i64) -> rusqlite::Result<HashSet<(u8, Entry)>> {
    let mut statement =
        connection.prepare_cached("SELECT entries FROM audit_token_sorted WHERE place = ?1")?;
    let mut known = HashSet::new();
    for bucket in 0..=u8::MAX {
        let mut rows = statement.query([place(bucket.into(), first)])?;
        if let Some(row) = rows.next()? {
            let entries = row.get_ref(0)?.as_blob().unwrap_or_default();
            known.extend(entries.as_chunks().0.iter().map(|entry| (bucket, *entry)));
        }
    }
    Ok(known)
}

/// Marks the segments of deleted rows.
pub(super) fn lose(transaction: &Transaction<'_>, mut numbers: Vec<i64>) -> rusqlite::Result<()> {
    numbers.sort_unstable();
    let segments = all(transaction)?;
    let mut mark = transaction.prepare_cached(
        "UPDATE audit_token_segment SET stale = 1 WHERE first = ?1 AND stale = 0",
    )?;
    for Segment { first, last, .. } in &segments {
        let next = numbers.partition_point(|number| number < first);
        if numbers.get(next).is_some_and(|number| number <= last) {
            mark.execute([first])?;
        }
    }
    // SQLite assigns the next row the largest number plus one.
    let newest: i64 = transaction
        .prepare_cached("SELECT coalesce(max(number), 0) FROM audit_token")?
        .query_row([], |row| row.get(0))?;
    for segment in segments.iter().filter(|segment| segment.first > newest) {
        remove(transaction, segment.first)?;
    }
    transaction
        .prepare_cached("UPDATE audit_token_segment SET last = ?1 WHERE last > ?1")?
        .execute([newest])?;
    Ok(())
}

fn remove(transaction: &Transaction<'_>, first: i64) -> rusqlite::Result<()> {
    let mut entries =
        transaction.prepare_cached("DELETE FROM audit_token_sorted WHERE place = ?1")?;
    for bucket in 0..BUCKETS {
        entries.execute([place(bucket, first)])?;
    }
    transaction
        .prepare_cached("DELETE FROM audit_token_segment WHERE first = ?1")?
        .execute([first])?;
    Ok(())
}

/// The entries of the rows being sorted.
struct Sorting {
    first: i64,
    last: i64,
    newest_us: i64,
    rows: usize,
    codes: usize,
    buckets: Vec<Vec<Entry>>,
}

impl Sorting {
    /// Reads the rows of a range until there are enough.
    fn read(
        connection: &Connection,
        first: i64,
        last: i64,
        is_enough: impl Fn(&Self) -> bool,
    ) -> rusqlite::Result<Self> {
        let mut sorting = Self {
            first,
            last: first,
            newest_us: i64::MIN,
            rows: 0,
            codes: 0,
            buckets: vec![Vec::new(); BUCKETS],
        };
        let mut statement = connection.prepare_cached(
            "SELECT number, time, tokens FROM audit_token WHERE number BETWEEN ?1 AND ?2 ORDER BY number",
        )?;
        let mut rows = statement.query([first, last.min(first.saturating_add(FARTHEST))])?;
        while let Some(row) = rows.next()? {
            let codes = row.get_ref(2)?.as_blob().unwrap_or_default();
            sorting.add(row.get(0)?, row.get(1)?, codes.as_chunks().0);
            if is_enough(&sorting) {
                break;
            }
        }
        Ok(sorting)
    }

    fn add(&mut self, number: i64, time_us: i64, codes: &[LookupCode]) {
        let distance = (number - self.first) as u16;
        for mark in codes.iter().map(Mark::of) {
            self.buckets[usize::from(mark.bucket)].push(entry(mark, distance));
        }
        self.last = number;
        self.newest_us = self.newest_us.max(time_us);
        self.rows += 1;
        self.codes += codes.len();
    }

    fn write(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut put = transaction
            .prepare_cached("INSERT INTO audit_token_sorted (place, entries) VALUES (?1, ?2)")?;
        for (bucket, entries) in self.buckets.iter().enumerate() {
            if !entries.is_empty() {
                let place = place(bucket, self.first);
                put.execute(params![place, entries.as_flattened()])?;
            }
        }
        transaction
            .prepare_cached(
                "INSERT INTO audit_token_segment (first, last, newest) VALUES (?1, ?2, ?3)",
            )?
            .execute([self.first, self.last, self.newest_us])?;
        Ok(())
    }
}
