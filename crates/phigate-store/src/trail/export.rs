//! Exporting the trail as JSON lines that can be verified without the store.
//!
//! A line is the record exactly as it was digested, with its place in the chain added as the last
//! field. Records that a filter leaves out, or that retention deleted, appear as their digests
//! only, so that the chain can still be followed.

use std::collections::{HashSet, VecDeque};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use phigate_types::Act;
use phigate_verify::chain::hex;
use phigate_verify::{ChainField, GapField, GapLine};
use uuid::Uuid;

use crate::model::{AdminAct, Decision, Filter, Record, RecordKind};
use crate::rows::ChainRow;
use crate::store::SYSTEM;
use crate::trail::Trail;
use crate::trail::read::parse;
use crate::trail::walk::Reader;
use crate::{Result, StoreError};

/// Leaves of left-out records in one line at most.
pub(crate) const GAP_MAX: usize = 1_000;

/// Kind of the lines that bridge records left out.
pub(crate) const GAP: &str = "gap";

/// One line of an export.
#[derive(Debug, Clone)]
pub struct ExportLine {
    /// The line, without its end.
    pub json: String,
    /// The record on the line; `None` if the line only bridges records left out.
    pub record: Option<Record>,
}

/// Actor and format of an export.
#[derive(Debug, Clone, Copy)]
pub struct ExportOrder<'a> {
    /// Actor who exports.
    pub actor: &'a str,
    /// Format of the export, for the record.
    pub format: &'a str,
}

impl<'a> From<&'a str> for ExportOrder<'a> {
    fn from(actor: &'a str) -> Self {
        Self {
            actor,
            format: "jsonl",
        }
    }
}

/// A running export. Lines come oldest first; within a chain always in order.
pub struct Export<'a> {
    trail: &'a Trail,
    /// The record of its end, except for the counts.
    ended: AdminAct,
    records: u64,
    /// Rows of the table that was made of the records, if one was.
    rows: Option<u64>,
    reader: Reader<'a>,
    filter: Filter,
    /// Chosen requests without an outcome so far.
    open: HashSet<Uuid>,
    ready: VecDeque<ExportLine>,
    gaps: Vec<GapField>,
}

impl Trail {
    /// Starts an export of an account's records. The actor and the filter are recorded first.
    pub async fn audit_export<'o>(
        &self,
        account_id: &str,
        filter: &Filter,
        order: impl Into<ExportOrder<'o>>,
    ) -> Result<Export<'_>> {
        let account_name = match account_id {
            SYSTEM => String::new(),
            _ => self.core.account_item(account_id).await?.1.name,
        };
        let (order, described) = (order.into(), filter.described());
        let filter_words = if described.is_empty() {
            "everything"
        } else {
            &described
        };
        let act = AdminAct::new(
            self.core.now(),
            &account_name,
            order.actor,
            Act::AuditExport,
        )
        .detail("format", order.format)
        .detail("filter", filter_words);
        self.core.record_act(Some(account_id), &act).await?;
        let reader = Reader::new(&*self.core.store, account_id).await?;
        Ok(Export {
            trail: self,
            ended: AdminAct {
                act: Act::AuditExportEnd,
                ..act
            },
            records: 0,
            rows: None,
            open: HashSet::new(),
            reader,
            filter: filter.clone(),
            ready: VecDeque::new(),
            gaps: Vec::new(),
        })
    }
}

impl Export<'_> {
    /// The next line; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<ExportLine>> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                self.records += u64::from(line.record.is_some());
                return Ok(Some(line));
            }
            let Some(row) = self.reader.next().await? else {
                return Ok(self.last_gap());
            };
            self.take(&row).await?;
        }
    }

    /// Notes how many rows a table made of the records: a request is one row, whatever its number of records.
    pub fn made_rows(&mut self, rows: u64) {
        self.rows = Some(rows);
    }

    /// Records how much was exported, and whether that was all of it.
    pub async fn end(self, is_whole: bool) -> Result<()> {
        let whole = if is_whole { "yes" } else { "no" };
        let act = AdminAct {
            time: self.trail.core.now(),
            ..self.ended
        };
        let act = match self.rows {
            Some(rows) => act.detail("rows", &rows),
            None => act.detail("records", &self.records),
        };
        let act = act.detail("whole", whole);
        let account = self.reader.account();
        self.trail.core.record_act(Some(account), &act).await
    }

    /// A chosen request comes whole: its attempts and its outcome follow its decision.
    async fn wants(&mut self, record: &Record) -> Result<bool> {
        if self.filter.record.is_some() || !self.filter.is_about_requests() {
            return Ok(matches(&self.filter, record));
        }
        Ok(match record {
            Record::Admin(_) | Record::Alert(_) => false,
            Record::Decision(decision) => {
                let is_wanted =
                    matches(&self.filter, record) && self.went_as_asked(decision).await?;
                if is_wanted {
                    self.open.insert(decision.request_id);
                }
                is_wanted
            }
            Record::Attempt(attempt) => self.open.contains(&attempt.request_id),
            Record::Outcome(outcome) => self.open.remove(&outcome.request_id),
        })
    }

    /// Whether the request's further attempts and its outcome match the filter.
    async fn went_as_asked(&self, decision: &Decision) -> Result<bool> {
        let filter = &self.filter;
        let mut was_asked = filter.provider.is_none() || filter.provider == decision.provider;
        let mut ended = !filter.is_about_outcomes();
        if was_asked && ended {
            return Ok(true);
        }
        let (store, account) = (&self.trail.core.store, self.reader.account());
        for row in store.requests(account, &[decision.request_id]).await? {
            match parse(&row)? {
                Record::Attempt(attempt) => {
                    was_asked |= filter.provider.as_ref() == Some(&attempt.provider);
                }
                Record::Outcome(outcome) => ended |= filter.takes(&outcome),
                Record::Decision(_) | Record::Admin(_) | Record::Alert(_) => {}
            }
        }
        Ok(was_asked && ended)
    }

    async fn take(&mut self, row: &ChainRow) -> Result<()> {
        let account = self.reader.account().to_owned();
        match &row.row {
            None => self.leave_out(&account, row, "deleted"),
            Some(record) => {
                let parsed = parse(record)?;
                if !self.wants(&parsed).await? {
                    self.leave_out(&account, row, "filter");
                    return Ok(());
                }
                self.flush_gap(row.link.lane);
                let json = line(&account, &record.body, row)?;
                self.ready.push_back(ExportLine {
                    json,
                    record: Some(parsed),
                });
            }
        }
        Ok(())
    }

    fn leave_out(&mut self, account: &str, row: &ChainRow, why: &str) {
        let lane = row.link.lane;
        let ends = self
            .gaps
            .iter()
            .any(|gap| gap.lane == lane && (gap.why != why || gap.leaves.len() >= GAP_MAX));
        if ends {
            self.flush_gap(lane);
        }
        let at = match self.gaps.iter().position(|gap| gap.lane == lane) {
            Some(at) => at,
            None => {
                self.gaps.push(GapField {
                    account: account.to_owned(),
                    lane,
                    seq: row.link.seq,
                    why: why.to_owned(),
                    start: None,
                    leaves: Vec::new(),
                    digest: String::new(),
                    signature: None,
                });
                self.gaps.len() - 1
            }
        };
        let gap = &mut self.gaps[at];
        gap.leaves.push(hex(&row.link.leaf));
        gap.digest = hex(&row.link.digest);
        gap.signature = row
            .link
            .signature
            .as_ref()
            .map(|signature| STANDARD.encode(signature));
    }

    fn flush_gap(&mut self, lane: i64) {
        if let Some(at) = self.gaps.iter().position(|gap| gap.lane == lane) {
            let chain = self.gaps.swap_remove(at);
            self.ready.push_back(gap_line(chain));
        }
    }

    fn last_gap(&mut self) -> Option<ExportLine> {
        self.gaps.pop().map(gap_line)
    }
}

/// A record's own text with its place in the chain added as the last field.
pub(crate) fn line(account: &str, body: &str, row: &ChainRow) -> Result<String> {
    let chain = ChainField {
        account: account.to_owned(),
        id: row.record,
        lane: row.link.lane,
        seq: row.link.seq,
        digest: hex(&row.link.digest),
        signature: row
            .link
            .signature
            .as_ref()
            .map(|signature| STANDARD.encode(signature)),
    };
    let open = body
        .strip_suffix('}')
        .ok_or(StoreError::Unreadable("audit record"))?;
    let chain = serde_json::to_string(&chain).expect("plain values serialise");
    Ok(format!("{open},\"chain\":{chain}}}"))
}

fn gap_line(chain: GapField) -> ExportLine {
    ExportLine {
        json: gap_text(chain, None),
        record: None,
    }
}

/// A line that bridges records left out.
pub(crate) fn gap_text(chain: GapField, time: Option<Timestamp>) -> String {
    let line = GapLine {
        record: GAP.to_owned(),
        time,
        chain,
    };
    serde_json::to_string(&line).expect("plain values serialise")
}

/// Choice that the engines make in SQL, as far as one record says it: a provider may be named by an attempt alone.
fn matches(filter: &Filter, record: &Record) -> bool {
    let (kind, decision, act) = match record {
        Record::Decision(decision) => (RecordKind::Decision, Some(decision), None),
        Record::Attempt(_) => (RecordKind::Attempt, None, None),
        Record::Outcome(_) => (RecordKind::Outcome, None, None),
        Record::Admin(act) => (RecordKind::Admin, None, Some(act)),
        Record::Alert(_) => (RecordKind::Alert, None, None),
    };
    (filter.act.is_none() || filter.act == act.map(|act| act.act))
        && act.map_or(filter.actor.is_none(), |act| filter.takes_actor(&act.actor))
        && filter.since.is_none_or(|since| record.time() >= since)
        && filter.until.is_none_or(|until| record.time() < until)
        && filter.record.is_none_or(|wanted| wanted == kind)
        && filter
            .request_id
            .is_none_or(|wanted| record.request_id() == Some(wanted))
        && matches_decision(filter, decision)
}

/// Whether a decision matches the filter's conditions on decisions; without a decision, the filter may have none.
fn matches_decision(filter: &Filter, decision: Option<&Decision>) -> bool {
    let is = |wanted: &Option<String>, found: fn(&Decision) -> Option<&str>| {
        wanted.is_none() || wanted.as_deref() == decision.and_then(found)
    };
    let begins = |wanted: &Option<String>, found: fn(&Decision) -> Option<&str>| {
        let found = decision.and_then(found);
        let begins = |wanted: &str| found.is_some_and(|found| found.starts_with(wanted));
        wanted.as_deref().is_none_or(begins)
    };
    (filter.action.is_none() || filter.action == decision.map(|decision| decision.action))
        && (filter.mode.is_none() || filter.mode == decision.map(|decision| decision.mode))
        && is(&filter.key_id, |decision| Some(decision.key_id.as_str()))
        && is(&filter.model, |decision| decision.model.as_deref())
        && begins(&filter.model_prefix, |decision| decision.model.as_deref())
        && is(&filter.door, |decision| decision.door.as_deref())
        && filter
            .phi_type
            .as_ref()
            .is_none_or(|kind| decision.is_some_and(|decision| decision.types.contains_key(kind)))
        && filter
            .phi_detected
            .is_none_or(|phi| decision.is_some_and(|decision| decision.phi_detected == phi))
}
