//! Verification of the store itself: chains, search columns, sealed content, and records outside the chains.

use std::collections::BTreeSet;

use aws_lc_rs::signature::KeyPair;
use phigate_verify::{
    Checkpoint, Fault, FaultKind, Follower, Link as FollowedLink, Report, watched,
};
use subtle::ConstantTimeEq;

use crate::guard::Top;
use crate::item::ItemKind;
use crate::rows::ChainRow;
use crate::trail::Trail;
use crate::trail::inspect::Findings;
use crate::{Result, chain};

/// Chain entries read at a time.
const PAGE: usize = 1_000;

impl Trail {
    /// Verifies the trail of one account, or of all and of the installation itself.
    ///
    /// `outside` are checkpoints that were kept elsewhere; `progress` receives the number of records read so far. Stops
    /// at the first fault.
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
                return Ok(report);
            }
        }
        // Codes that belong to no record any more hide nothing, so this comes last.
        if let Some((account, request)) = self.core.store.unfindable(account_id).await? {
            let row = format!("the lookup index of request {request}");
            report.fault = Some(Fault::beside(FaultKind::Changed, &account, row));
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
        let lanes = match self.lanes(account, outside, top).await? {
            Ok(lanes) => lanes,
            Err(fault) => return Ok(Some(fault)),
        };
        for lane in lanes {
            let mut follower = Follower::new(account, lane);
            for (seq, _) in watched(outside, account, lane) {
                follower.watch(seq);
            }
            let followed = self.follow_lane(&mut follower, &mut findings, lane, report, progress);
            if let Some(fault) = followed.await? {
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
        if let Some(fault) = self
            .judge_findings(account, &findings, &followers, report)
            .await?
        {
            return Ok(Some(fault));
        }
        self.judge_sums(account, &findings.sums, top, &figures)
            .await
    }

    /// The chains of an account. Those that its roll names must be there.
    async fn lanes(
        &self,
        account: &str,
        outside: &[Checkpoint],
        top: Option<&Top>,
    ) -> Result<Result<BTreeSet<i64>, Fault>> {
        let heads = self.core.store.heads(Some(account)).await?;
        let mut lanes: BTreeSet<i64> = heads.iter().map(|head| head.lane).collect();
        let elsewhere = outside.iter().filter(|one| one.account == account);
        lanes.extend(elsewhere.map(|one| one.lane));
        let named = top.map(|top| top.chains.as_slice()).unwrap_or_default();
        Ok(match named.iter().find(|lane| !lanes.contains(lane)) {
            Some(gone) => Err(Follower::new(account, *gone).at(FaultKind::Truncated, 1)),
            None => Ok(lanes),
        })
    }

    async fn follow_lane(
        &self,
        follower: &mut Follower,
        findings: &mut Findings,
        lane: i64,
        report: &mut Report,
        progress: &mut impl FnMut(u64),
    ) -> Result<Option<Fault>> {
        let account = follower.account().to_owned();
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
            let rows = self.core.store.chain(&account, lane, after, PAGE).await?;
            let Some(last) = rows.last() else { break };
            after = last.link.seq;
            for row in &rows {
                let link = self.followed(row);
                let changed = follower.fault(FaultKind::Changed, &link);
                if let Err(fault) = follower.follow(&public_key, link) {
                    return Ok(Some(fault));
                }
                if !self.inspect(&account, row, findings).await? {
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

    /// Checks that missing records were recorded as deleted, and that joined chains still exist.
    async fn judge_findings(
        &self,
        account: &str,
        findings: &Findings,
        followers: &[(i64, Follower)],
        report: &mut Report,
    ) -> Result<Option<Fault>> {
        if let Some(row) = self.core.store.unchained(account).await? {
            let fault = Fault {
                record: Some(row.record),
                ..Follower::new(account, row.lane).at(FaultKind::Inserted, row.seq)
            };
            return Ok(Some(fault));
        }
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
