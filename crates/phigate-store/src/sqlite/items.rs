//! Reads items, and runs the thread for short reads.

use std::sync::mpsc;
use std::thread::JoinHandle;

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use crate::item::{Item, ItemKind};
use crate::sqlite::HotJob;
use crate::{Result, StoreError};

/// The thread for reads that take microseconds.
pub(super) struct Reading {
    sender: mpsc::Sender<HotJob>,
    thread: JoinHandle<()>,
}

impl Reading {
    /// Starts a thread that owns the connection.
    pub(super) fn start(connection: Connection) -> Result<Self> {
        let (sender, jobs) = mpsc::channel::<HotJob>();
        let thread = std::thread::Builder::new()
            .name("phigate-read".to_owned())
            .spawn(move || jobs.iter().for_each(|job| job(&connection)))
            .map_err(|error| StoreError::Unavailable(error.kind().to_string()))?;
        Ok(Self { sender, thread })
    }

    /// Queues a read; false if the thread has ended.
    pub(super) fn send(&self, job: HotJob) -> bool {
        self.sender.send(job).is_ok()
    }

    /// Waits until the thread has finished its queue and closed its connection.
    pub(super) fn end(self) {
        drop(self.sender);
        // A thread that panicked has ended too.
        let _ = self.thread.join();
    }
}

const ITEM: &str = "SELECT account, kind, id, lookup, version, body, mac FROM item";

pub(super) fn item(
    connection: &Connection,
    account: &str,
    kind: ItemKind,
    id: &str,
) -> rusqlite::Result<Option<Item>> {
    connection
        .prepare_cached(&format!(
            "{ITEM} WHERE account = ?1 AND kind = ?2 AND id = ?3"
        ))?
        .query_row([account, kind.code(), id], read_item)
        .optional()
}

pub(super) fn find(
    connection: &Connection,
    kind: ItemKind,
    lookup: &str,
) -> rusqlite::Result<Option<Item>> {
    connection
        .prepare_cached(&format!("{ITEM} WHERE kind = ?1 AND lookup = ?2"))?
        .query_row([kind.code(), lookup], read_item)
        .optional()
}

pub(super) fn items(
    connection: &Connection,
    account: Option<&str>,
    kind: ItemKind,
) -> rusqlite::Result<Vec<Item>> {
    match account {
        Some(account) => connection
            .prepare_cached(&format!(
                "{ITEM} WHERE account = ?1 AND kind = ?2 ORDER BY id"
            ))?
            .query_map([account, kind.code()], read_item)?
            .collect(),
        None => connection
            .prepare_cached(&format!("{ITEM} WHERE kind = ?1 ORDER BY account, id"))?
            .query_map([kind.code()], read_item)?
            .collect(),
    }
}

/// The items of an account, read in one statement and therefore one snapshot.
pub(super) fn account_items(
    connection: &Connection,
    account: &str,
    kinds: &[ItemKind],
) -> rusqlite::Result<Vec<Item>> {
    let places = (0..kinds.len())
        .map(|at| format!("?{}", at + 2))
        .collect::<Vec<_>>()
        .join(", ");
    let sql = format!("{ITEM} WHERE account = ?1 AND kind IN ({places}) ORDER BY kind, id");
    let arguments = std::iter::once(account).chain(kinds.iter().map(|kind| kind.code()));
    connection
        .prepare_cached(&sql)?
        .query_map(params_from_iter(arguments), read_item)?
        .collect()
}

pub(super) fn all_items(connection: &Connection) -> rusqlite::Result<Vec<Item>> {
    connection
        .prepare_cached(&format!(
            "{ITEM} WHERE kind <> ?1 ORDER BY account, kind, id"
        ))?
        .query_map([ItemKind::RosterPart.code()], read_item)?
        .collect()
}

/// Reads an item. A cell that was overwritten with a value of another type reads as empty, which does not match the
/// row's keyed hash. An error would hide the row that it belongs to.
fn read_item(row: &Row<'_>) -> rusqlite::Result<Item> {
    let code: String = row.get(1)?;
    let kind = ItemKind::from_code(&code).ok_or_else(|| {
        let unknown = StoreError::Unknown("kind of row");
        rusqlite::Error::FromSqlConversionFailure(1, Type::Text, Box::new(unknown))
    })?;
    Ok(Item {
        account: row.get(0)?,
        kind,
        id: row.get(2)?,
        lookup: row.get(3).unwrap_or_default(),
        version: row.get(4).unwrap_or_default(),
        body: row.get(5).unwrap_or_default(),
        mac: row.get(6).unwrap_or_default(),
    })
}
