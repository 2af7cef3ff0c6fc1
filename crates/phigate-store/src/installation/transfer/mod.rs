//! Moves an installation from one engine to another: export to a file, import from it, verified by the chains.
//!
//! The file has rows as stored: content stays sealed, data keys stay wrapped. Like a copy of the database, it does not
//! reveal sealed values without the master key.

mod lines;

use std::io::{BufRead, Write};
use std::sync::Arc;

use phigate_types::Act;
use phigate_verify::Checkpoint;

use crate::accounts::part_ids;
use crate::installation::Installation;
use crate::item::{Change, Expect, Item, ItemKind};
use crate::keys::wrapped::IMPORT;
use crate::model::{AdminAct, RecordKind};
use crate::rows::{Batch, ChainRow, Contents, CounterRow, OpenRow, RowKey};
use crate::store::{CommitError, SYSTEM, Store};
use crate::{Result, StoreError};
use lines::{Line, VERSION, entry_line, item_line, stored_item, take_entry, unreadable};

const PAGE: usize = 500;

impl Installation {
    /// Writes everything to a file; returns the number of records. Stop the gateway first: rows written during the
    /// export may be missing.
    pub async fn export_installation(
        &self,
        out: &mut (dyn Write + Send),
        actor: &str,
    ) -> Result<u64> {
        let act = AdminAct::new(self.core.now(), "", actor, Act::InstallationExport);
        self.core.record_act(None, &act).await?;
        self.core.flush().await?;
        write(out, &Line::Phigate { version: VERSION })?;
        self.export_items(out).await?;
        let ends = self.trail.checkpoints().await?;
        let mut records = 0;
        for end in &ends {
            records += self.export_chain(out, end).await?;
        }
        self.export_beside(out, &ends).await?;
        write(out, &Line::End(ends))?;
        out.flush().map_err(|error| unwritable(&error))?;
        Ok(records)
    }

    /// Records that a store was imported from a file.
    pub(crate) async fn record_import(&self, actor: &str) -> Result<()> {
        let act = AdminAct::new(self.core.now(), "", actor, Act::InstallationImport);
        self.core.record_act(None, &act).await
    }

    async fn export_items(&self, out: &mut (dyn Write + Send)) -> Result<()> {
        for item in self.core.store.all_items().await? {
            // Leases belong to running processes.
            if item.kind == ItemKind::Lane {
                continue;
            }
            if item.kind == ItemKind::Roster {
                for id in part_ids(&item)? {
                    let store = &self.core.store;
                    let part = store.item(&item.account, ItemKind::RosterPart, &id);
                    if let Some(part) = part.await? {
                        write(out, &Line::Item(item_line(part)))?;
                    }
                }
            }
            write(out, &Line::Item(item_line(item)))?;
        }
        Ok(())
    }

    async fn export_chain(&self, out: &mut (dyn Write + Send), end: &Checkpoint) -> Result<u64> {
        let mut after = 0;
        while after < end.seq {
            let rows = self
                .core
                .store
                .chain(&end.account, end.lane, after, PAGE)
                .await?;
            let Some(last) = rows.last() else { break };
            after = last.link.seq;
            for row in rows.into_iter().filter(|row| row.link.seq <= end.seq) {
                self.export_entry(out, &end.account, row).await?;
            }
        }
        Ok(end.seq.cast_unsigned())
    }

    async fn export_entry(
        &self,
        out: &mut (dyn Write + Send),
        account: &str,
        row: ChainRow,
    ) -> Result<()> {
        let (mut contents, mut codes) = (Contents::default(), Vec::new());
        let with_content = row
            .row
            .as_ref()
            .filter(|row| row.kind != RecordKind::Admin.code());
        if let Some(record) = with_content {
            let key = RowKey {
                record: row.record,
                time_us: row.time_us,
                lane: row.link.lane,
                seq: row.link.seq,
            };
            contents = self.core.store.content(account, key).await?;
            if record.kind == RecordKind::Decision.code() {
                let request = record.request.unwrap_or_default();
                codes = self.core.store.codes_of(account, request).await?;
            }
        }
        write(
            out,
            &Line::Entry(Box::new(entry_line(account, row, &contents, &codes))),
        )
    }

    /// Writes counters and open requests.
    async fn export_beside(&self, out: &mut (dyn Write + Send), ends: &[Checkpoint]) -> Result<()> {
        let mut accounts: Vec<&str> = ends.iter().map(|end| end.account.as_str()).collect();
        accounts.dedup();
        for account in accounts {
            for row in self.core.store.all_counters(account).await? {
                let CounterRow {
                    account,
                    hour,
                    lane,
                    name,
                    count,
                } = row;
                write(
                    out,
                    &Line::Counter {
                        account,
                        hour,
                        lane,
                        name,
                        count,
                    },
                )?;
            }
        }
        for row in self.core.store.open_requests(&[], usize::MAX).await? {
            let OpenRow {
                account,
                request,
                time_us,
                instance,
            } = row;
            write(
                out,
                &Line::Open {
                    account,
                    request,
                    time_us,
                    instance,
                },
            )?;
        }
        Ok(())
    }
}

/// Reads a file into an empty store; returns the chain heads that the file names.
pub(crate) async fn import(
    store: &Arc<dyn Store>,
    file: &mut (dyn BufRead + Send),
) -> Result<Vec<Checkpoint>> {
    if !store.all_items().await?.is_empty() {
        return Err(StoreError::Invalid {
            what: "store",
            why: "it is not empty; import into an empty one",
        });
    }
    let mark = Item::new(SYSTEM, ItemKind::Meta, IMPORT, None, &VERSION);
    commit(
        store,
        Batch {
            changes: vec![Change::Put(mark, Expect::Absent)],
            ..Batch::default()
        },
    )
    .await?;
    let mut batch = Batch::default();
    loop {
        if let Some(ends) = take(&mut batch, read(file)?)? {
            commit(store, batch).await?;
            let done = Change::Delete {
                account: SYSTEM.to_owned(),
                kind: ItemKind::Meta,
                id: IMPORT.to_owned(),
            };
            commit(
                store,
                Batch {
                    changes: vec![done],
                    bump: true,
                    ..Batch::default()
                },
            )
            .await?;
            return Ok(ends);
        }
        let rows = batch.changes.len() + batch.records.len() + batch.bare_links.len();
        if rows + batch.counters.len() + batch.opened.len() >= PAGE {
            commit(store, std::mem::take(&mut batch)).await?;
        }
    }
}

fn read(file: &mut (dyn BufRead + Send)) -> Result<Line> {
    let mut text = String::new();
    let read = file.read_line(&mut text).map_err(|_| unreadable())?;
    if read == 0 {
        return Err(StoreError::Invalid {
            what: "import file",
            why: "it ends too early",
        });
    }
    serde_json::from_str(&text).map_err(|_| unreadable())
}

/// Adds a line to a batch; the last line returns the chain heads.
fn take(batch: &mut Batch, line: Line) -> Result<Option<Vec<Checkpoint>>> {
    match line {
        Line::Phigate {
            version: 1..=VERSION,
        } => {}
        Line::Phigate { .. } => {
            return Err(StoreError::Invalid {
                what: "import file",
                why: "made by a newer version",
            });
        }
        Line::Item(line) => batch.changes.push(Change::Restore(stored_item(line)?)),
        Line::Entry(line) => take_entry(batch, *line)?,
        Line::Counter {
            account,
            hour,
            lane,
            name,
            count,
        } => {
            batch.counters.push(CounterRow {
                account,
                hour,
                lane,
                name,
                count,
            });
        }
        Line::Open {
            account,
            request,
            time_us,
            instance,
        } => {
            batch.opened.push(OpenRow {
                account,
                request,
                time_us,
                instance,
            });
        }
        Line::End(ends) => return Ok(Some(ends)),
    }
    Ok(None)
}

async fn commit(store: &Arc<dyn Store>, batch: Batch) -> Result<()> {
    let times: Vec<i64> = batch.records.iter().map(|new| new.row.time_us).collect();
    store.make_room(&times).await?;
    match store.commit(Arc::new(batch)).await {
        Ok(()) => Ok(()),
        Err(
            CommitError::Failed(error)
            | CommitError::Unconfirmed(error)
            | CommitError::Unknown(error)
            | CommitError::Rejected(error),
        ) => Err(error),
        Err(
            CommitError::LaneTaken
            | CommitError::RolledBack
            | CommitError::NotOpen(_)
            | CommitError::Stale,
        ) => Err(StoreError::Conflict("a row")),
    }
}

fn write(out: &mut (dyn Write + Send), line: &Line) -> Result<()> {
    let mut text = serde_json::to_string(line).expect("rows are plain values");
    text.push('\n');
    out.write_all(text.as_bytes())
        .map_err(|error| unwritable(&error))
}

fn unwritable(error: &std::io::Error) -> StoreError {
    StoreError::Unavailable(format!("cannot write the export: {}", error.kind()))
}
