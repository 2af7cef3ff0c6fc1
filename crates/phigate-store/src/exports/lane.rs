//! One chain of a run: its rows become lines, and rows that the target does not choose become gaps.
//!
//! Rows give the same lines at every reading, also after a restart: a receiver that has a line twice has it in the same
//! words. So a gap ends before a chosen record, after a fixed number of rows, and where the records before it still
//! lack their signature.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use phigate_types::{Action, ExportOnly, ExportRecord};
use phigate_verify::chain::{START, hex};
use phigate_verify::{GapField, StartField};
use uuid::Uuid;

use crate::Result;
use crate::model::{Decision, ExportConfig, ExportedLine, Record};
use crate::rows::ChainRow;
use crate::trail::export::{GAP, GAP_MAX, gap_text, line};

/// Requests that a choice among requests takes, by id.
pub(super) type Chosen = HashMap<Uuid, bool>;

/// Digest of a chain up to a place, and its signature.
type End = ([u8; 32], Option<Vec<u8>>);

/// One chain of a run.
pub(super) struct Lane {
    pub(super) number: i64,
    /// Last place that lines of finished batches reach.
    pub(super) at: i64,
    /// Last row that was looked at.
    pub(super) read: i64,
    /// End of the chain at `at`, and its signature.
    end: End,
    /// End of the chain at `read`.
    last: End,
    /// Whether the target has the first line.
    pub(super) has_begun: bool,
    gap: Option<GapField>,
    gap_time: Timestamp,
}

impl Lane {
    /// A chain from a place on; `row` is the entry there.
    pub(super) fn new(number: i64, at: i64, row: Option<&ChainRow>, has_begun: bool) -> Self {
        let end = row.map_or((START, None), end_of);
        Self {
            number,
            at,
            read: at,
            last: end.clone(),
            end,
            has_begun,
            gap: None,
            gap_time: Timestamp::UNIX_EPOCH,
        }
    }

    /// Whether the records that the target has are proven by a signature.
    pub(super) fn is_proven(&self) -> bool {
        self.at == 0 || self.end.1.is_some()
    }

    /// Takes the next row of the chain.
    pub(super) fn take(
        &mut self,
        account: &str,
        row: &ChainRow,
        record: Option<Record>,
        wants: bool,
        lines: &mut Vec<ExportedLine>,
    ) -> Result<()> {
        let time = Timestamp::from_microsecond(row.time_us).unwrap_or_default();
        match (&row.row, record) {
            (Some(stored), Some(record)) if wants => {
                self.flush(lines);
                self.begin(account, time, lines);
                lines.push(ExportedLine {
                    json: line(account, &stored.body, row)?,
                    kind: word(&record),
                    time,
                });
                (self.at, self.end) = (row.link.seq, end_of(row));
                self.last = self.end.clone();
            }
            (stored, _) => {
                let why = if stored.is_some() {
                    "filter"
                } else {
                    "deleted"
                };
                self.leave_out(account, row, why, lines);
                (self.gap_time, self.last) = (time, end_of(row));
                let is_full = self
                    .gap
                    .as_ref()
                    .is_some_and(|gap| gap.leaves.len() >= GAP_MAX);
                let proves = !self.is_proven() && row.link.signature.is_some();
                if is_full || proves {
                    self.flush(lines);
                }
            }
        }
        self.read = row.link.seq;
        Ok(())
    }

    fn leave_out(
        &mut self,
        account: &str,
        row: &ChainRow,
        why: &str,
        lines: &mut Vec<ExportedLine>,
    ) {
        if self.gap.as_ref().is_some_and(|gap| gap.why != why) {
            self.flush(lines);
        }
        let gap = self.gap.get_or_insert_with(|| GapField {
            account: account.to_owned(),
            lane: row.link.lane,
            seq: row.link.seq,
            why: why.to_owned(),
            start: None,
            leaves: Vec::new(),
            digest: String::new(),
            signature: None,
        });
        gap.leaves.push(hex(&row.link.leaf));
        gap.digest = hex(&row.link.digest);
        gap.signature = row.link.signature.as_ref().map(|one| STANDARD.encode(one));
    }

    /// Writes the gap so far.
    fn flush(&mut self, lines: &mut Vec<ExportedLine>) {
        let Some(mut gap) = self.gap.take() else {
            return;
        };
        if !self.has_begun && self.is_proven() {
            gap.start = Some(self.start());
            self.has_begun = true;
        }
        (self.at, self.end) = (Self::read_upto(&gap), self.last.clone());
        lines.push(ExportedLine {
            json: gap_text(gap, Some(self.gap_time)),
            kind: GAP,
            time: self.gap_time,
        });
    }

    /// Writes the first line of the chain, if the target lacks it.
    fn begin(&mut self, account: &str, time: Timestamp, lines: &mut Vec<ExportedLine>) {
        if self.has_begun || !self.is_proven() {
            return;
        }
        self.has_begun = true;
        let start = self.start();
        let gap = GapField {
            account: account.to_owned(),
            lane: self.number,
            seq: self.at + 1,
            why: "earlier".to_owned(),
            digest: start.digest.clone(),
            start: Some(start),
            leaves: Vec::new(),
            signature: None,
        };
        lines.push(ExportedLine {
            json: gap_text(gap, Some(time)),
            kind: GAP,
            time,
        });
    }

    /// Place of the last row of a gap.
    fn read_upto(gap: &GapField) -> i64 {
        gap.seq + i64::try_from(gap.leaves.len()).unwrap_or(i64::MAX) - 1
    }

    fn start(&self) -> StartField {
        StartField {
            digest: hex(&self.end.0),
            signature: self.end.1.as_ref().map(|one| STANDARD.encode(one)),
        }
    }
}

fn end_of(row: &ChainRow) -> End {
    (row.link.digest, row.link.signature.clone())
}

/// Whether a target wants a record.
pub(super) fn wants(config: &ExportConfig, chosen: &Chosen, record: &Record) -> bool {
    let has = |kind| config.records.contains(&kind);
    let of_request = |request: &Uuid| match config.only {
        None => true,
        Some(ExportOnly::Admin) => false,
        Some(_) => chosen.get(request).copied().unwrap_or_default(),
    };
    match record {
        Record::Admin(_) => {
            has(ExportRecord::Admin) && matches!(config.only, None | Some(ExportOnly::Admin))
        }
        Record::Alert(_) => has(ExportRecord::Alert) && config.only.is_none(),
        Record::Decision(decision) => {
            has(ExportRecord::Decision) && config.only.is_none_or(|only| takes(only, decision))
        }
        Record::Outcome(outcome) => has(ExportRecord::Outcome) && of_request(&outcome.request_id),
        Record::Attempt(attempt) => {
            has(ExportRecord::Decision)
                && has(ExportRecord::Outcome)
                && of_request(&attempt.request_id)
        }
    }
}

/// Whether a choice takes a request.
pub(super) fn takes(only: ExportOnly, decision: &Decision) -> bool {
    match only {
        ExportOnly::Admin => false,
        ExportOnly::Blocked => decision.action == Action::BLOCKED,
        ExportOnly::Phi => decision.phi_detected,
    }
}

/// The kind of a record in its own words.
fn word(record: &Record) -> &'static str {
    match record {
        Record::Decision(_) => ExportRecord::Decision.code(),
        Record::Outcome(_) => ExportRecord::Outcome.code(),
        Record::Admin(_) => ExportRecord::Admin.code(),
        Record::Alert(_) => ExportRecord::Alert.code(),
        Record::Attempt(_) => "attempt",
    }
}
