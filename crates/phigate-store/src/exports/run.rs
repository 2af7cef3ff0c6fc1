//! A run of an export: the one process that holds its cursor reads lines and notes what the target has.

use std::sync::Arc;

use phigate_verify::{Checkpoint, CheckpointLine};
use tokio::time::{Duration, Instant};
use uuid::Uuid;

use super::lane::{Chosen, Lane, takes, wants};
use super::{Exports, TargetBody};
use crate::Result;
use crate::core::Core;
use crate::export_cursor::CursorBody;
use crate::item::{Change, Expect, Item, ItemKind};
use crate::model::{ExportBatch, ExportConfig, ExportedLine, Record};
use crate::rows::ChainRow;
use crate::trail::Trail;
use crate::trail::read::parse;

/// Rows read at a time.
const PAGE: usize = 500;

/// Pause between two saves of the places that need no line.
const SEEN_EVERY: Duration = Duration::from_secs(2);

/// A run of an export. It ends when another process has taken over, or an owner changed the target.
pub struct ExportRun {
    core: Arc<Core>,
    account: String,
    config: ExportConfig,
    item: Item,
    cursor: CursorBody,
    lanes: Vec<Lane>,
    saved: Instant,
}

impl Exports {
    /// Takes an export over; `None` while another living process holds it, or a person paused it.
    pub async fn take(&self, account_id: &str, name: &str) -> Result<Option<ExportRun>> {
        let (_, target): (_, TargetBody) = self.stored(account_id, name).await?;
        if target.paused {
            return Ok(None);
        }
        let (item, cursor) = self.cursor(account_id, name).await?;
        let writer = &self.core.writer;
        if let Some(holder) = cursor.holder
            && holder != writer.instance
            && writer.is_alive(holder).await?
        {
            return Ok(None);
        }
        let mut run = ExportRun {
            core: self.core.clone(),
            account: account_id.to_owned(),
            config: target.config,
            item,
            cursor,
            lanes: Vec::new(),
            saved: Instant::now(),
        };
        run.cursor.holder = Some(writer.instance);
        Ok(run.save().await?.then_some(run))
    }
}

impl ExportRun {
    /// The next lines, up to about these numbers of lines and bytes. With `anew` the first line of each chain says where
    /// it begins, so that the lines can be verified without those before.
    pub async fn next(
        &mut self,
        lines_max: usize,
        bytes_max: usize,
        anew: bool,
    ) -> Result<ExportBatch> {
        self.look_for_lanes().await?;
        let mut batch = ExportBatch::default();
        let mut lanes = std::mem::take(&mut self.lanes);
        for lane in &mut lanes {
            lane.has_begun &= !anew;
            self.fill(lane, lines_max, bytes_max, &mut batch.lines)
                .await?;
            batch.places.push((lane.number, lane.at));
        }
        self.lanes = lanes;
        Ok(batch)
    }

    /// Whether the run may go on: no other process has taken over, and no owner changed the target.
    pub async fn is_ours(&self) -> Result<bool> {
        let (account, id) = (&self.account, &self.item.id);
        let store = &self.core.store;
        let now = store.item(account, ItemKind::ExportCursor, id).await?;
        Ok(now.is_some_and(|now| now.version == self.item.version))
    }

    /// Notes that the target has the lines. False if the run is over.
    pub async fn delivered(&mut self, batch: &ExportBatch) -> Result<bool> {
        for (lane, place) in &batch.places {
            self.cursor.places.insert(*lane, *place);
            if *place > 0 {
                self.cursor.begun.insert(*lane);
            }
        }
        self.cursor.problem = None;
        self.save().await
    }

    /// Notes how far the run has looked while there was nothing to send. False if the run is over.
    pub async fn idle(&mut self) -> Result<bool> {
        let seen = self.lanes.iter().map(|lane| (lane.number, lane.read));
        let seen = seen.collect();
        let is_news = self.cursor.seen != seen;
        if !is_news || self.saved.elapsed() < SEEN_EVERY {
            return Ok(true);
        }
        self.cursor.seen = seen;
        self.save().await
    }

    /// Notes a failure. False if the run is over.
    pub async fn failed(&mut self, problem: &str) -> Result<bool> {
        if self.cursor.problem.as_deref() == Some(problem) {
            return Ok(true);
        }
        self.cursor.problem = Some(problem.to_owned());
        self.save().await
    }

    /// Adds records that the receiver refused for good; saved with the next delivery.
    pub fn rejected(&mut self, records: u64) {
        self.cursor.rejected += records;
    }

    /// Records that were written and not yet read by this run.
    pub async fn unread(&self) -> Result<u64> {
        let heads = self.core.store.heads(Some(&self.account)).await?;
        let unread = heads.iter().map(|head| {
            let lane = self.lanes.iter().find(|lane| lane.number == head.lane);
            let read = lane.map_or_else(|| self.cursor.reached(head.lane), |lane| lane.read);
            (head.seq - read).max(0).unsigned_abs()
        });
        Ok(unread.sum())
    }

    /// The signed ends of the account's chains as lines.
    pub async fn checkpoints(&self) -> Result<Vec<ExportedLine>> {
        let trail = Trail::new(self.core.clone());
        let line = |checkpoint: Checkpoint| {
            let record = "checkpoint".to_owned();
            let time = checkpoint.time;
            let line = CheckpointLine { record, checkpoint };
            ExportedLine {
                json: serde_json::to_string(&line).expect("plain values serialise"),
                kind: "checkpoint",
                time,
            }
        };
        let own = trail.checkpoints().await?.into_iter();
        let own = own.filter(|one| one.account == self.account);
        Ok(own.map(line).collect())
    }

    /// Frees the export for other processes.
    pub async fn release(mut self) -> Result<()> {
        self.cursor.holder = None;
        self.save().await.map(drop)
    }

    async fn save(&mut self) -> Result<bool> {
        let Change::Put(item, expect) = self.item.replaced_by(&self.cursor) else {
            return Ok(false);
        };
        let version = item.version + 1;
        let put = Change::Put(item.clone(), expect);
        debug_assert_eq!(expect, Expect::Version(self.item.version));
        let is_ours = self.core.change_quietly(vec![put]).await?;
        self.item = Item { version, ..item };
        self.saved = Instant::now();
        Ok(is_ours)
    }

    async fn look_for_lanes(&mut self) -> Result<()> {
        for head in self.core.store.heads(Some(&self.account)).await? {
            if self.lanes.iter().any(|lane| lane.number == head.lane) {
                continue;
            }
            let at = self.cursor.places.get(&head.lane).copied();
            let at = at.unwrap_or_default();
            let rows = match at {
                0 => Vec::new(),
                at => {
                    let store = &self.core.store;
                    store.chain(&self.account, head.lane, at - 1, 1).await?
                }
            };
            let has_begun = self.cursor.begun.contains(&head.lane);
            self.lanes
                .push(Lane::new(head.lane, at, rows.first(), has_begun));
        }
        Ok(())
    }

    async fn fill(
        &self,
        lane: &mut Lane,
        lines_max: usize,
        bytes_max: usize,
        lines: &mut Vec<ExportedLine>,
    ) -> Result<()> {
        let mut bytes: usize = lines.iter().map(|line| line.json.len()).sum();
        loop {
            let store = &self.core.store;
            let page = store.chain(&self.account, lane.number, lane.read, PAGE);
            let page = page.await?;
            let rows: Vec<(ChainRow, Option<Record>)> = page
                .into_iter()
                .map(|row| {
                    let record = row.row.as_ref().map(parse).transpose()?;
                    Ok((row, record))
                })
                .collect::<Result<_>>()?;
            let is_last = rows.len() < PAGE;
            let chosen = self.chosen(&rows).await?;
            for (row, record) in rows {
                let is_full = lines.len() >= lines_max || bytes >= bytes_max;
                // A batch ends with a signature, unless a group is very large.
                if is_full && (lane.is_proven() || lines.len() >= 2 * lines_max) {
                    return Ok(());
                }
                let wanted = record
                    .as_ref()
                    .is_some_and(|record| wants(&self.config, &chosen, record));
                let before = lines.len();
                lane.take(&self.account, &row, record, wanted, lines)?;
                bytes += lines[before..]
                    .iter()
                    .map(|line| line.json.len())
                    .sum::<usize>();
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// The requests on a page that the choice takes.
    async fn chosen(&self, rows: &[(ChainRow, Option<Record>)]) -> Result<Chosen> {
        let Some(only) = self.config.only else {
            return Ok(Chosen::new());
        };
        let requests: Vec<Uuid> = rows
            .iter()
            .filter_map(|(_, record)| match record.as_ref()? {
                Record::Outcome(outcome) => Some(outcome.request_id),
                Record::Attempt(attempt) => Some(attempt.request_id),
                Record::Decision(_) | Record::Admin(_) | Record::Alert(_) => None,
            })
            .collect();
        let mut chosen = Chosen::new();
        for row in self.core.store.requests(&self.account, &requests).await? {
            if let Record::Decision(decision) = parse(&row)? {
                chosen.insert(decision.request_id, takes(only, &decision));
            }
        }
        Ok(chosen)
    }
}
