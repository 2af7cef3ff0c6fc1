//! Exports: the format of their lines, and their verification with only the public key.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use phigate_types::Act;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::chain;
use crate::checkpoint::{Checkpoint, watched};
use crate::deletions::Deletions;
use crate::fault::{Fault, FaultKind, Report};
use crate::follow::{Follower, Link};

/// A record's place in its chain, as exported.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainField {
    /// Id of the account.
    pub account: String,
    /// Id of the record.
    pub id: Uuid,
    /// Lane of the chain.
    pub lane: i64,
    /// Place in the chain.
    pub seq: i64,
    /// Digest up to here, hexadecimal.
    pub digest: String,
    /// Signature of the digest, base64, at the end of a group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// Digests of consecutive records that the export omits.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GapLine {
    /// Always `gap`.
    pub record: String,
    /// Time of the last omitted record, for receivers that sort by it; not proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// The digests.
    pub chain: GapField,
}

/// Place and digests of omitted records.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GapField {
    /// Id of the account.
    pub account: String,
    /// Lane of the chain.
    pub lane: i64,
    /// Place of the first omitted record.
    pub seq: i64,
    /// `filter`, `deleted`, or `earlier` for the first line of a chain.
    pub why: String,
    /// End of the chain before this line. A file may begin, or continue, here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<StartField>,
    /// Digests of the single records, hexadecimal.
    pub leaves: Vec<String>,
    /// Digest after the last omitted record.
    pub digest: String,
    /// Signature of that digest, base64, at the end of a group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// End of a chain before a line, with its proof.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartField {
    /// Digest of the chain before the line, hexadecimal.
    pub digest: String,
    /// Signature of that digest, base64; absent at the beginning of the chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// Fields of a record that verification needs; the digest covers the rest.
#[derive(Deserialize)]
struct RecordLine {
    time: Timestamp,
    #[serde(default)]
    request_id: Option<Uuid>,
    #[serde(default)]
    act: Option<String>,
    #[serde(default)]
    details: BTreeMap<String, String>,
}

/// A checkpoint as a line of an export.
#[derive(Debug, Serialize, Deserialize)]
pub struct CheckpointLine {
    /// Always `checkpoint`.
    pub record: String,
    /// The signed end of a chain.
    #[serde(flatten)]
    pub checkpoint: Checkpoint,
}

/// The public key is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongKey;

impl std::fmt::Display for WrongKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("invalid public key: not 32 bytes as base64")
    }
}

impl std::error::Error for WrongKey {}

/// Verifier of one export's lines.
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
    pub fn new(public_key: &str, outside: &[Checkpoint]) -> Result<Self, WrongKey> {
        let key = STANDARD.decode(public_key.trim()).map_err(|_| WrongKey)?;
        if key.len() != 32 {
            return Err(WrongKey);
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

    /// Reads the next line. After the first fault further lines are ignored.
    pub fn line(&mut self, line: &str) {
        if self.report.fault.is_some() || line.trim().is_empty() {
            return;
        }
        if let Err(fault) = self.try_line(line.trim_end_matches(['\r', '\n'])) {
            self.report.fault = Some(fault);
        }
    }

    /// Returns the verdict.
    pub fn finish(mut self) -> Report {
        if self.report.fault.is_none() {
            self.report.fault = self.last_checks().err();
        }
        self.report.chains = self.chains.len() as u64;
        self.report.signatures = self.chains.values().map(Follower::signatures).sum();
        self.report.earlier = self.chains.values().map(Follower::earlier).sum();
        self.report
    }

    fn try_line(&mut self, line: &str) -> Result<(), Fault> {
        if line.starts_with("{\"record\":\"test\"") {
            // Sent to try a receiver; it says nothing about the trail.
            return Ok(());
        }
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
        if line.starts_with("{\"record\":\"checkpoint\"") {
            let checkpoint: CheckpointLine =
                serde_json::from_str(line).map_err(|_| unreadable())?;
            let key = STANDARD.encode(&self.public_key);
            let is_genuine = checkpoint.checkpoint.is_signed_by(&key);
            return if is_genuine {
                Ok(())
            } else {
                Err(unreadable())
            };
        }
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
        let record: RecordLine = serde_json::from_str(&body).map_err(|_| changed.clone())?;
        let link = Link {
            seq: place.seq,
            leaf: chain::leaf(
                &place.account,
                place.id,
                record.time.as_microsecond(),
                &body,
            ),
            digest: chain::digest_bytes(&place.digest).ok_or_else(|| changed.clone())?,
            signature: decode(place.signature.as_deref()).map_err(|()| changed)?,
            authentic: None,
            record: Some(place.id),
            request_id: record.request_id,
        };
        follower.follow(&self.public_key, link)?;
        if record.act.as_deref() == Some(Act::RetentionRecords.code()) {
            self.deletions.note(&place.account, &record.details);
        }
        self.report.records += 1;
        Ok(())
    }

    fn gap(&mut self, gap: &GapLine) -> Result<(), Fault> {
        let gap = &gap.chain;
        let follower = follower(&mut self.chains, &self.outside, &gap.account, gap.lane);
        let changed = follower.at(FaultKind::Changed, gap.seq);
        let last = chain::digest_bytes(&gap.digest).ok_or_else(|| changed.clone())?;
        if let Some(start) = &gap.start {
            let digest = chain::digest_bytes(&start.digest).ok_or_else(|| changed.clone())?;
            let signature = decode(start.signature.as_deref()).map_err(|()| changed.clone())?;
            follower.begin(&self.public_key, gap.seq, digest, signature.as_deref())?;
        }
        for (at, leaf) in gap.leaves.iter().enumerate() {
            let seq = gap.seq + at as i64;
            let is_last = at + 1 == gap.leaves.len();
            let leaf = chain::digest_bytes(leaf).ok_or_else(|| changed.clone())?;
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
            // The records that name the deletions may be left out, or come later than a part of the trail.
            let is_covered = self.report.left_out > 0
                || self.is_part()
                || self.deletions.covers(account, *lane, *seq);
            if !is_covered {
                let follower = &self.chains[&(account.clone(), *lane)];
                return Err(follower.at(FaultKind::Missing, *seq));
            }
            self.report.deleted += 1;
        }
        for ((account, lane), follower) in &self.chains {
            for (seq, digest) in watched(&self.outside, account, *lane) {
                if seq < follower.earlier() as i64 {
                    continue;
                }
                follower.compare(seq, &digest)?;
                self.report.outside_checkpoints += 1;
            }
        }
        // A part may begin after the last record of a chain.
        if self.is_part() {
            return Ok(());
        }
        self.whole_chains_missing()
    }

    /// Whether the lines begin in the middle of a chain.
    fn is_part(&self) -> bool {
        self.chains.values().any(|chain| chain.earlier() > 0)
    }

    /// Finds a chain that a checkpoint names and the export lacks.
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
