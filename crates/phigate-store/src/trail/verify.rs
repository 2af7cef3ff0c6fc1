//! Verifying the store itself: chains, search columns, sealed content, and records nobody chained.

use crate::guard::Top;
use crate::item::ItemKind;
use crate::model::{Record, SealedDigests};
use crate::store::{AuditRow, ChainRow, RowKey};
use crate::trail::Trail;
use crate::trail::read::parse;
use crate::trail::record;
use crate::trail::verify_rows::Sums;
use crate::writer::{entry, join};
use crate::{Result, chain};
use aws_lc_rs::signature::KeyPair;
use phigate_types::Act;
use phigate_verify::chain::leaf;
use phigate_verify::{
    Checkpoint, Deletions, Fault, FaultKind, Follower, Link as FollowedLink, Report, watched,
};
use std::collections::BTreeSet;
use subtle::ConstantTimeEq;

/// Chain entries read at a time.
const PAGE: usize = 1_000;

/// What is collected on the way and judged at the end of an account.
#[derive(Default)]
struct Findings {
    records_deleted: Deletions,
    contents_deleted: Deletions,
    /// Places without a record, and without content or lookup hashes that their record names.
    gone: Vec<(i64, i64)>,
    emptied: Vec<(i64, i64)>,
    forgotten: Vec<(i64, i64)>,
    /// Ends of chains that checkpoints inside the trail name.
    joined: Vec<(i64, i64, [u8; 32])>,
    sums: Sums,
}

impl Trail {
    /// Verifies the trail of one account, or of all and of the installation itself.
    ///
    /// `outside` are checkpoints that were kept elsewhere; `progress` is told the number of records
    /// read so far. Stops at the first fault.
    pub async fn verify(
        &self,
        account_id: Option<&str>,
        outside: &[Checkpoint],
        mut progress: impl FnMut(u64),
    ) -> Result<Report> {
        let mut report = Report::default();
        let public_key = self.public_key();
        let outside: Vec<Checkpoint> = outside
            .iter()
            .filter(|checkpoint| checkpoint.is_signed_by(&public_key))
            .cloned()
            .collect();
        let mut accounts: BTreeSet<String> = self
            .core
            .store
            .heads(account_id)
            .await?
            .into_iter()
            .map(|head| head.account)
            .collect();
        accounts.extend(outside.iter().map(|checkpoint| checkpoint.account.clone()));
        accounts.extend(self.core.store.accounts_with_records().await?);
        let seen = match self.verify_rows(account_id).await? {
            Ok(seen) => seen,
            Err(fault) => {
                report.fault = Some(fault);
                return Ok(report);
            }
        };
        accounts.extend(seen.keys().cloned());
        if let Some(wanted) = account_id {
            accounts.retain(|account| account == wanted);
        }
        for account in accounts {
            let top = seen.get(&account);
            if let Some(fault) = self
                .verify_account(&account, &outside, top, &mut report, &mut progress)
                .await?
            {
                report.fault = Some(fault);
                break;
            }
        }
        Ok(report)
    }

    async fn verify_account(
        &self,
        account: &str,
        outside: &[Checkpoint],
        top: Option<&Top>,
        report: &mut Report,
        progress: &mut impl FnMut(u64),
    ) -> Result<Option<Fault>> {
        let figures = self.figures(account).await?;
        let mut findings = Findings::default();
        let mut followers = Vec::new();
        let mut lanes: BTreeSet<i64> = self
            .core
            .store
            .heads(Some(account))
            .await?
            .iter()
            .map(|head| head.lane)
            .collect();
        lanes.extend(
            outside
                .iter()
                .filter(|one| one.account == account)
                .map(|one| one.lane),
        );
        // Chains that the account's roll names must be there.
        let named = top.map(|top| top.chains.as_slice()).unwrap_or_default();
        if let Some(gone) = named.iter().find(|lane| !lanes.contains(lane)) {
            return Ok(Some(
                Follower::new(account, *gone).at(FaultKind::Truncated, 1),
            ));
        }
        for lane in lanes {
            let mut follower = Follower::new(account, lane);
            for (seq, _) in watched(outside, account, lane) {
                follower.watch(seq);
            }
            if let Some(fault) = self
                .follow_lane(
                    &mut follower,
                    &mut findings,
                    account,
                    lane,
                    report,
                    progress,
                )
                .await?
            {
                return Ok(Some(fault));
            }
            report.chains += 1;
            report.signatures += follower.signatures();
            for (seq, digest) in watched(outside, account, lane) {
                if let Err(fault) = follower.compare(seq, &digest) {
                    return Ok(Some(fault));
                }
                report.outside_checkpoints += 1;
            }
            followers.push((lane, follower));
        }
        if let Some(row) = self.core.store.unchained(account).await? {
            let follower = Follower::new(account, row.lane);
            let fault = Fault {
                record: Some(row.record),
                ..follower.at(FaultKind::Inserted, row.seq)
            };
            return Ok(Some(fault));
        }
        if let Some(fault) = self
            .judge_findings(account, &findings, &followers, report)
            .await?
        {
            return Ok(Some(fault));
        }
        self.judge_sums(account, &findings.sums, top, &figures)
            .await
    }

    async fn follow_lane(
        &self,
        follower: &mut Follower,
        findings: &mut Findings,
        account: &str,
        lane: i64,
        report: &mut Report,
        progress: &mut impl FnMut(u64),
    ) -> Result<Option<Fault>> {
        let public_key = self
            .core
            .keyring
            .root
            .signing
            .public_key()
            .as_ref()
            .to_vec();
        let mut after = 0;
        loop {
            let rows = self.core.store.chain(account, lane, after, PAGE).await?;
            let Some(last) = rows.last() else { break };
            after = last.link.seq;
            for row in &rows {
                let link = self.followed(row);
                let changed = follower.fault(FaultKind::Changed, &link);
                if let Err(fault) = follower.follow(&public_key, link) {
                    return Ok(Some(fault));
                }
                if !self.inspect(account, row, findings).await? {
                    return Ok(Some(changed));
                }
                report.records += 1;
            }
            progress(report.records);
        }
        Ok(follower.finish().err())
    }

    fn followed(&self, row: &ChainRow) -> FollowedLink {
        let mac = chain::mac(&self.core.keyring.root.chain, &row.link.digest);
        FollowedLink {
            seq: row.link.seq,
            leaf: row.link.leaf,
            digest: row.link.digest,
            signature: row.link.signature.clone(),
            authentic: Some(mac.ct_eq(&row.link.mac).into()),
            record: Some(row.record),
            request_id: row.row.as_ref().and_then(|row| row.request),
        }
    }

    /// Whether the record behind an entry is as it was written; notes what can be judged only later.
    async fn inspect(
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
                Act::RetentionContent => findings.contents_deleted.note(account, &act.details),
                _ => {}
            }
            findings.joined.extend(join::heads_in(act));
        }
        if let Record::Decision(decision) = &parsed
            && let Some(digests) = &decision.sealed
        {
            self.inspect_tokens(account, row, digests, findings).await?;
            return self.inspect_content(account, row, digests, findings).await;
        }
        Ok(true)
    }

    /// The keyed hashes of a request's identifiers go only with its record, or with the account.
    async fn inspect_tokens(
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
        let tokens = self.core.store.tokens_of(account, request).await?;
        if record::tokens_digest(tokens) != digests.identifiers {
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

    /// What is gone must be recorded as deleted, and what was joined must still be there.
    async fn judge_findings(
        &self,
        account: &str,
        findings: &Findings,
        followers: &[(i64, Follower)],
        report: &mut Report,
    ) -> Result<Option<Fault>> {
        for (lane, seq) in &findings.gone {
            if !findings.records_deleted.covers(account, *lane, *seq) {
                return Ok(Some(
                    Follower::new(account, *lane).at(FaultKind::Missing, *seq),
                ));
            }
            report.deleted += 1;
            report.records -= 1;
        }
        let was_shredded = self
            .core
            .store
            .item(account, ItemKind::Account, account)
            .await?
            .is_none();
        for (lane, seq) in &findings.emptied {
            if !was_shredded && !findings.contents_deleted.covers(account, *lane, *seq) {
                return Ok(Some(
                    Follower::new(account, *lane).at(FaultKind::Changed, *seq),
                ));
            }
        }
        if let Some((lane, seq)) = findings.forgotten.first().filter(|_| !was_shredded) {
            return Ok(Some(
                Follower::new(account, *lane).at(FaultKind::Changed, *seq),
            ));
        }
        for (lane, seq, digest) in &findings.joined {
            let still = self.core.store.link_digest(account, *lane, *seq).await?;
            let fault = |kind| {
                let known = followers.iter().find(|(number, _)| number == lane);
                known.map_or_else(
                    || Follower::new(account, *lane).at(kind, 1),
                    |(_, follower)| follower.at(kind, *seq),
                )
            };
            match still {
                Some(found) if found == *digest => {}
                Some(_) => return Ok(Some(fault(FaultKind::Changed))),
                None => return Ok(Some(fault(FaultKind::Truncated))),
            }
        }
        Ok(None)
    }
}

/// Whether the columns used for searching say what the record says.
fn has_its_columns(account: &str, row: &AuditRow, record: &Record) -> bool {
    let expected = entry::columns(account, row.id, record);
    let expected = AuditRow {
        body: row.body.clone(),
        ..expected
    };
    expected == *row
}
