//! Turns jobs into a batch, in which every record is linked to the one before it.

use std::collections::{BTreeMap, HashMap};

use phigate_verify::chain::START;
use uuid::Uuid;

use crate::chain;
use crate::rows::{Batch, ChainEnd, CounterRow, LookupRow, NewRecord, OpenRow};
use crate::store::CommitError;
use crate::writer::job::{Effect, Entry, Job};
use crate::writer::lane::Lane;
use crate::writer::{Writer, entry};

/// Typical number of counters in a group.
const COUNTERS_USUAL: usize = 32;

impl Writer {
    pub(super) async fn load_heads(
        &self,
        lane: &mut Lane,
        group: &[Job],
    ) -> Result<(), CommitError> {
        for entry in group.iter().flat_map(|job| &job.entries) {
            let account = &entry.row.account;
            if !lane.linker.heads.contains_key(account) {
                let head = self.store.head(account, lane.linker.lane).await;
                let head = head.map_err(CommitError::Failed)?;
                let end = head.map_or((0, START), |head| (head.seq, head.digest));
                if self.is_behind(account, lane.linker.lane, end) {
                    return Err(CommitError::RolledBack);
                }
                lane.linker.heads.insert(account.clone(), end);
            }
        }
        Ok(())
    }

    pub(super) fn batch(&self, lane: &mut Lane, group: &[Job]) -> Batch {
        let mut batch = extending(lane, group);
        let mut opened: BTreeMap<Uuid, OpenRow> = BTreeMap::new();
        let mut counters: BTreeMap<(&str, i64), HashMap<&str, i64>> = BTreeMap::new();
        for job in group {
            batch.changes.extend(job.changes.iter().cloned());
            batch.bump |= job.bump;
            batch.drop_contents = batch.drop_contents.or_else(|| job.drop_contents.clone());
            batch.drop_records = batch.drop_records.or_else(|| job.drop_records.clone());
            for entry in &job.entries {
                let link =
                    lane.linker
                        .append(&self.keyring.root.chain, &entry.row.account, entry.leaf);
                batch.records.push(NewRecord {
                    row: entry.row.clone(),
                    link,
                    contents: entry.contents.clone(),
                });
                batch.lookups.extend(lookup_row(entry));
                match entry.effect {
                    Effect::Opens(request) => {
                        opened.insert(request, self.open_row(entry, request));
                    }
                    // Decided and ended within one group, so the request was never open.
                    Effect::Closes(request) if opened.remove(&request).is_some() => {}
                    Effect::Closes(request) => {
                        batch.closed.push((entry.row.account.clone(), request));
                    }
                    Effect::Neither => {}
                }
                let hour = entry::hour(entry.row.time_us);
                if !entry.counters.is_empty() {
                    let of_hour = counters
                        .entry((&entry.row.account, hour))
                        .or_insert_with(|| HashMap::with_capacity(COUNTERS_USUAL));
                    for (name, count) in &entry.counters {
                        *of_hour.entry(name).or_default() += count;
                    }
                }
            }
        }
        batch.opened = opened.into_values().collect();
        chain::sign_ends(&self.keyring.root.signing, &mut batch.records);
        let number = lane.counter_row();
        for ((account, hour), of_hour) in counters {
            let mut of_hour: Vec<(&str, i64)> = of_hour.into_iter().collect();
            // In the order of the rows, so that adjacent rows are written together.
            of_hour.sort_unstable();
            batch
                .counters
                .extend(of_hour.into_iter().map(|(name, count)| CounterRow {
                    account: account.to_owned(),
                    hour,
                    lane: number,
                    name: name.to_owned(),
                    count,
                }));
        }
        batch
    }

    fn open_row(&self, entry: &Entry, request: Uuid) -> OpenRow {
        OpenRow {
            account: entry.row.account.clone(),
            request,
            time_us: entry.row.time_us,
            instance: self.instance,
        }
    }
}

/// A batch without records, with the ends of the chains that a group extends.
fn extending(lane: &Lane, group: &[Job]) -> Batch {
    let mut ends: Vec<ChainEnd> = Vec::new();
    for entry in group.iter().flat_map(|job| &job.entries) {
        let account = &entry.row.account;
        let known = lane.linker.heads.get(account);
        if let Some((seq, digest)) = known.filter(|(seq, _)| *seq > 0)
            && ends.iter().all(|end| end.account != *account)
        {
            ends.push(ChainEnd {
                account: account.clone(),
                lane: lane.linker.lane,
                seq: *seq,
                digest: *digest,
            });
        }
    }
    Batch {
        extends: ends,
        ..Batch::default()
    }
}

/// The lookup row of a decision's request.
fn lookup_row(entry: &Entry) -> Option<LookupRow> {
    let request = entry.row.request.filter(|_| !entry.codes.is_empty())?;
    Some(LookupRow {
        account: entry.row.account.clone(),
        request,
        time_us: entry.row.time_us,
        codes: entry.codes.clone(),
    })
}
