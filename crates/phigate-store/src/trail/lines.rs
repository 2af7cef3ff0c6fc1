//! Verifying an export, line by line, with nothing but the public key.

use crate::chain;
use crate::model::Record;
use crate::trail::Checkpoint;
use crate::trail::checkpoint::digest_bytes;
use crate::trail::export::{ChainField, GapLine};
use crate::trail::verify::{Deletions, Fault, FaultKind, Follower, Link, Report, watched};
use crate::{Result, StoreError};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeMap;

/// Verifies the lines of one export.
pub struct ExportVerifier {
    public_key: Vec<u8>,
    outside: Vec<Checkpoint>,
    chains: BTreeMap<(String, i64), Follower>,
    deletions: Deletions,
    deleted: Vec<(String, i64, i64)>,
    report: Report,
}

impl ExportVerifier {
    /// Starts with the store's public key (base64) and checkpoints that were kept elsewhere.
    pub fn new(public_key: &str, outside: &[Checkpoint]) -> Result<Self> {
        let wrong = StoreError::Invalid {
            what: "public key",
            why: "not 32 bytes as base64",
        };
        let key = STANDARD
            .decode(public_key.trim())
            .map_err(|_| wrong.clone())?;
        if key.len() != 32 {
            return Err(wrong);
        }
        let outside = outside
            .iter()
            .filter(|checkpoint| checkpoint.is_signed_by(public_key.trim()))
            .cloned()
            .collect();
        Ok(Self {
            public_key: key,
            outside,
            chains: BTreeMap::new(),
            deletions: Deletions::default(),
            deleted: Vec::new(),
            report: Report::default(),
        })
    }

    /// Takes the next line. After the first fault further lines change nothing.
    pub fn line(&mut self, line: &str) {
        if self.report.fault.is_some() || line.trim().is_empty() {
            return;
        }
        if let Err(fault) = self.try_line(line.trim_end_matches(['\r', '\n'])) {
            self.report.fault = Some(fault);
        }
    }

    /// The verdict.
    pub fn finish(mut self) -> Report {
        if self.report.fault.is_none() {
            self.report.fault = self.last_checks().err();
        }
        self.report.chains = self.chains.len() as u64;
        self.report.signatures = self.chains.values().map(Follower::signatures).sum();
        self.report
    }

    fn try_line(&mut self, line: &str) -> Result<(), Fault> {
        let unreadable = || Fault {
            kind: FaultKind::Changed,
            account: String::new(),
            lane: 0,
            seq: 0,
            proven_to: 0,
            record: None,
            request_id: None,
            row: None,
        };
        // The place in the chain is the last field of a line.
        let (open, chain) = line.rsplit_once(",\"chain\":").ok_or_else(unreadable)?;
        if open.starts_with("{\"record\":\"gap\"") {
            let gap: GapLine = serde_json::from_str(line).map_err(|_| unreadable())?;
            return self.gap(&gap);
        }
        let chain = chain.strip_suffix('}').ok_or_else(unreadable)?;
        let place: ChainField = serde_json::from_str(chain).map_err(|_| unreadable())?;
        let body = format!("{open}}}");
        let follower = follower(&mut self.chains, &self.outside, &place.account, place.lane);
        let changed = follower.at(FaultKind::Changed, place.seq);
        let record: Record = serde_json::from_str(&body).map_err(|_| changed.clone())?;
        let link = Link {
            seq: place.seq,
            leaf: chain::leaf(
                &place.account,
                place.id,
                record.time().as_microsecond(),
                &body,
            ),
            digest: digest_bytes(&place.digest).ok_or_else(|| changed.clone())?,
            signature: decode(place.signature.as_deref()).map_err(|()| changed)?,
            authentic: None,
            record: Some(place.id),
            request_id: record.request_id(),
        };
        follower.follow(&self.public_key, link)?;
        self.deletions
            .note(&place.account, &record, crate::vault::RECORDS_DELETED);
        self.report.records += 1;
        Ok(())
    }

    fn gap(&mut self, gap: &GapLine) -> Result<(), Fault> {
        let gap = &gap.chain;
        let follower = follower(&mut self.chains, &self.outside, &gap.account, gap.lane);
        let changed = follower.at(FaultKind::Changed, gap.seq);
        let last = digest_bytes(&gap.digest).ok_or_else(|| changed.clone())?;
        for (at, leaf) in gap.leaves.iter().enumerate() {
            let seq = gap.seq + at as i64;
            let is_last = at + 1 == gap.leaves.len();
            let leaf = digest_bytes(leaf).ok_or_else(|| changed.clone())?;
            let signature = if is_last {
                gap.signature.as_deref()
            } else {
                None
            };
            let link = Link {
                seq,
                leaf,
                digest: if is_last {
                    last
                } else {
                    follower.next_digest(seq, &leaf)
                },
                signature: decode(signature).map_err(|()| changed.clone())?,
                authentic: None,
                record: None,
                request_id: None,
            };
            follower.follow(&self.public_key, link)?;
            if gap.why == "deleted" {
                self.deleted.push((gap.account.clone(), gap.lane, seq));
            } else {
                self.report.left_out += 1;
            }
        }
        Ok(())
    }

    fn last_checks(&mut self) -> Result<(), Fault> {
        for follower in self.chains.values_mut() {
            follower.finish()?;
        }
        for (account, lane, seq) in &self.deleted {
            // A filter may have left out the records that name what was deleted.
            let is_covered =
                self.report.left_out > 0 || self.deletions.covers(account, *lane, *seq);
            if !is_covered {
                let follower = &self.chains[&(account.clone(), *lane)];
                return Err(follower.at(FaultKind::Missing, *seq));
            }
            self.report.deleted += 1;
        }
        for ((account, lane), follower) in &self.chains {
            for (seq, digest) in watched(&self.outside, account, *lane) {
                follower.compare(seq, &digest)?;
                self.report.outside_checkpoints += 1;
            }
        }
        self.whole_chains_missing()
    }

    /// A chain that a checkpoint names and the export lacks altogether.
    fn whole_chains_missing(&self) -> Result<(), Fault> {
        let here = |checkpoint: &&Checkpoint| {
            self.chains
                .keys()
                .any(|(account, _)| *account == checkpoint.account)
        };
        for checkpoint in self.outside.iter().filter(here) {
            if !self
                .chains
                .contains_key(&(checkpoint.account.clone(), checkpoint.lane))
            {
                return Err(
                    Follower::new(&checkpoint.account, checkpoint.lane).at(FaultKind::Truncated, 1)
                );
            }
        }
        Ok(())
    }
}

fn follower<'a>(
    chains: &'a mut BTreeMap<(String, i64), Follower>,
    outside: &[Checkpoint],
    account: &str,
    lane: i64,
) -> &'a mut Follower {
    chains.entry((account.to_owned(), lane)).or_insert_with(|| {
        let mut follower = Follower::new(account, lane);
        for (seq, _) in watched(outside, account, lane) {
            follower.watch(seq);
        }
        follower
    })
}

fn decode(signature: Option<&str>) -> Result<Option<Vec<u8>>, ()> {
    signature
        .map(|text| STANDARD.decode(text).map_err(|_| ()))
        .transpose()
}
