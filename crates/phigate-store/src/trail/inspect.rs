//! Looking at one record of the store: its columns, its sealed content, its lookup hashes.

use phigate_types::Act;
use phigate_verify::Deletions;
use phigate_verify::chain::leaf;

use crate::Result;
use crate::model::{Record, SealedDigests};
use crate::rows::{AuditRow, ChainRow, RowKey};
use crate::trail::read::parse;
use crate::trail::verify_rows::Sums;
use crate::trail::{Trail, record};
use crate::writer::{entry, join};

/// Observations of a walk, judged at the end of an account.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) records_deleted: Deletions,
    pub(super) contents_deleted: Deletions,
    /// Places without a record, and without content or lookup hashes that their record names.
    pub(super) gone: Vec<(i64, i64)>,
    pub(super) emptied: Vec<(i64, i64)>,
    pub(super) forgotten: Vec<(i64, i64)>,
    /// Ends of chains that checkpoints inside the trail name.
    pub(super) joined: Vec<(i64, i64, [u8; 32])>,
    pub(super) sums: Sums,
}

impl Trail {
    /// Whether the record behind an entry is unchanged; notes facts that can be judged only later.
    pub(super) async fn inspect(
        &self,
        account: &str,
        row: &ChainRow,
        findings: &mut Findings,
    ) -> Result<bool> {
        let place = (row.link.lane, row.link.seq);
        let Some(record) = &row.row else {
            findings.gone.push(place);
            findings.sums.add_deleted(row);
            return Ok(true);
        };
        if leaf(account, record.id, record.time_us, &record.body) != row.link.leaf {
            return Ok(false);
        }
        let Ok(parsed) = parse(record) else {
            return Ok(false);
        };
        if !has_its_columns(account, record, &parsed) {
            return Ok(false);
        }
        findings.sums.add(record.time_us, &parsed);
        if let Record::Admin(act) = &parsed {
            match act.act {
                Act::RetentionRecords => findings.records_deleted.note(account, &act.details),
                Act::RetentionContent | Act::ContentErase => {
                    findings.contents_deleted.note(account, &act.details);
                }
                _ => {}
            }
            findings.joined.extend(join::heads_in(act));
        }
        let sealed = match &parsed {
            Record::Decision(decision) => decision.sealed.as_ref(),
            Record::Attempt(attempt) => attempt.sealed.as_ref(),
            Record::Outcome(outcome) => outcome.sealed.as_ref(),
            Record::Admin(_) | Record::Alert(_) => None,
        };
        if let Some(digests) = sealed {
            self.inspect_codes(account, row, digests, findings).await?;
            return self.inspect_content(account, row, digests, findings).await;
        }
        Ok(true)
    }

    /// The keyed hashes of a request's identifiers go only with its record, or with the account.
    async fn inspect_codes(
        &self,
        account: &str,
        row: &ChainRow,
        digests: &SealedDigests,
        findings: &mut Findings,
    ) -> Result<()> {
        let request = row.row.as_ref().and_then(|row| row.request);
        let (Some(request), true) = (request, digests.identifiers.is_some()) else {
            return Ok(());
        };
        let codes = self.core.store.codes_of(account, request).await?;
        if record::codes_digest(codes) != digests.identifiers {
            findings.forgotten.push((row.link.lane, row.link.seq));
        }
        Ok(())
    }

    async fn inspect_content(
        &self,
        account: &str,
        row: &ChainRow,
        digests: &SealedDigests,
        findings: &mut Findings,
    ) -> Result<bool> {
        let key = RowKey {
            record: row.record,
            time_us: row.time_us,
            lane: row.link.lane,
            seq: row.link.seq,
        };
        let expected = SealedDigests {
            identifiers: None,
            ..digests.clone()
        };
        let found = record::digests(&self.core.store.content(account, key).await?);
        if found == SealedDigests::default() && found != expected {
            findings.emptied.push((key.lane, key.seq));
            return Ok(true);
        }
        Ok(found == expected)
    }
}

/// Whether the columns used for searching agree with the record.
fn has_its_columns(account: &str, row: &AuditRow, record: &Record) -> bool {
    let expected = entry::columns(account, row.id, record);
    let expected = AuditRow {
        body: row.body.clone(),
        ..expected
    };
    expected == *row
}
