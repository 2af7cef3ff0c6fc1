//! Reading items, and the thread for reads of microseconds.

use crate::sqlite::HotJob;
use crate::store::Item;
use crate::{Result, StoreError};
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};
use std::sync::mpsc;
use std::thread::JoinHandle;

/// The thread that does reads of microseconds.
pub(crate) struct Reading {
    sender: mpsc::Sender<HotJob>,
    thread: JoinHandle<()>,
}

impl Reading {
    /// Gives a connection such a thread.
    pub(crate) fn start(connection: Connection) -> Result<Self> {
        let (sender, jobs) = mpsc::channel::<HotJob>();
        let thread = std::thread::Builder::new()
            .name("phigate-read".to_owned())
            .spawn(move || jobs.iter().for_each(|job| job(&connection)))
            .map_err(|error| StoreError::Unavailable(error.kind().to_string()))?;
        Ok(Self { sender, thread })
    }

    /// Gives it something to read; whether it is still there.
    pub(crate) fn send(&self, job: HotJob) -> bool {
        self.sender.send(job).is_ok()
    }

    /// Waits until it has done what it was given and closed its connection.
    pub(crate) fn end(self) {
        drop(self.sender);
        // A thread that panicked has ended as well.
        let _ = self.thread.join();
    }
}

const ITEM: &str = "SELECT account, kind, id, lookup, version, body FROM item";

pub(crate) fn item(
    connection: &Connection,
    account: &str,
    kind: &str,
    id: &str,
) -> rusqlite::Result<Option<Item>> {
    connection
        .prepare_cached(&format!(
            "{ITEM} WHERE account = ?1 AND kind = ?2 AND id = ?3"
        ))?
        .query_row([account, kind, id], read_item)
        .optional()
}

pub(crate) fn find(
    connection: &Connection,
    kind: &str,
    lookup: &str,
) -> rusqlite::Result<Option<Item>> {
    connection
        .prepare_cached(&format!("{ITEM} WHERE kind = ?1 AND lookup = ?2"))?
        .query_row([kind, lookup], read_item)
        .optional()
}

pub(crate) fn items(
    connection: &Connection,
    account: Option<&str>,
    kind: &str,
) -> rusqlite::Result<Vec<Item>> {
    match account {
        Some(account) => connection
            .prepare_cached(&format!(
                "{ITEM} WHERE account = ?1 AND kind = ?2 ORDER BY id"
            ))?
            .query_map([account, kind], read_item)?
            .collect(),
        None => connection
            .prepare_cached(&format!("{ITEM} WHERE kind = ?1 ORDER BY account, id"))?
            .query_map([kind], read_item)?
            .collect(),
    }
}

/// One statement, hence one moment.
pub(crate) fn account_items(
    connection: &Connection,
    account: &str,
    kinds: &[String],
) -> rusqlite::Result<Vec<Item>> {
    let places = (0..kinds.len())
        .map(|at| format!("?{}", at + 2))
        .collect::<Vec<_>>()
        .join(", ");
    let sql = format!("{ITEM} WHERE account = ?1 AND kind IN ({places}) ORDER BY kind, id");
    let arguments = std::iter::once(account).chain(kinds.iter().map(String::as_str));
    connection
        .prepare_cached(&sql)?
        .query_map(params_from_iter(arguments), read_item)?
        .collect()
}

pub(crate) fn all_items(connection: &Connection) -> rusqlite::Result<Vec<Item>> {
    connection
        .prepare_cached(&format!("{ITEM} ORDER BY account, kind, id"))?
        .query_map([], read_item)?
        .collect()
}

fn read_item(row: &Row<'_>) -> rusqlite::Result<Item> {
    Ok(Item {
        account: row.get(0)?,
        kind: row.get(1)?,
        id: row.get(2)?,
        lookup: row.get(3)?,
        version: row.get(4)?,
        body: row.get(5)?,
    })
}
