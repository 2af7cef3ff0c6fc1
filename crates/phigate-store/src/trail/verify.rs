//! Following a chain and finding the first thing that is wrong with it.

use crate::chain;
use crate::model::{AdminAct, Record};
use crate::trail::Checkpoint;
use crate::trail::checkpoint::digest_bytes;
use phigate_types::Act;
use std::collections::{BTreeMap, HashMap};
use uuid::Uuid;

/// What a verification found.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Report {
    /// Records read and found right.
    pub records: u64,
    /// Chains followed.
    pub chains: u64,
    /// Records deleted by retention, as recorded.
    pub deleted: u64,
    /// Records a filter left out of an export.
    pub left_out: u64,
    /// Signatures checked.
    pub signatures: u64,
    /// Checkpoints from elsewhere that were compared. Without one, a trail that was cut at the end
    /// or replaced by an older copy cannot be told from a whole one.
    pub outside_checkpoints: u64,
    /// The first thing that is wrong.
    pub fault: Option<Fault>,
}

impl Report {
    /// Whether nothing was found wrong.
    pub fn is_intact(&self) -> bool {
        self.fault.is_none()
    }
}

/// Something wrong with the trail.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Fault {
    /// What.
    pub kind: FaultKind,
    /// Id of the account.
    pub account: String,
    /// Which of its chains.
    pub lane: i64,
    /// The place in it.
    pub seq: i64,
    /// Up to here the chain is proven by a signature.
    pub proven_to: i64,
    /// The record there, if known.
    pub record: Option<Uuid>,
    /// The request it belongs to, if known.
    pub request_id: Option<Uuid>,
    /// Where it is not a record: a row beside the trail, such as `user abc`, an act, or figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
}

impl Fault {
    /// Something wrong beside the chains of an account.
    pub(crate) fn beside(kind: FaultKind, account: &str, row: String) -> Self {
        Self {
            row: Some(row),
            ..Follower::new(account, 0).at(kind, 0)
        }
    }
}

/// The kinds of tampering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FaultKind {
    /// A record, its content or its search columns differ from what was written.
    Changed,
    /// A record is gone.
    Missing,
    /// A record stands in another's place.
    Reordered,
    /// A record was added that nobody wrote.
    Inserted,
    /// The chain ends too early.
    Truncated,
    /// Rows were replaced by what they were before.
    RolledBack,
}

impl FaultKind {
    /// What happened, said of a record or a row.
    pub fn words(self) -> &'static str {
        match self {
            Self::Changed => "was changed",
            Self::Missing => "is missing",
            Self::Reordered => "stands in another's place",
            Self::Inserted => "was inserted",
            Self::Truncated => "and what followed it are gone: the trail was cut",
            Self::RolledBack => "was set back to what it was before",
        }
    }
}

/// What is known about one entry of a chain.
pub(crate) struct Link {
    pub(crate) seq: i64,
    pub(crate) leaf: [u8; 32],
    pub(crate) digest: [u8; 32],
    pub(crate) signature: Option<Vec<u8>>,
    /// Whether its keyed hash is right; none when the key is not at hand.
    pub(crate) authentic: Option<bool>,
    pub(crate) record: Option<Uuid>,
    pub(crate) request_id: Option<Uuid>,
}

/// Follows one chain.
pub(crate) struct Follower {
    account: String,
    lane: i64,
    /// The last entry that fits, and the digest before it.
    last: Option<Link>,
    before: [u8; 32],
    proven: i64,
    signatures: u64,
    /// An entry that does not fit; what is wrong shows only when the next one is known.
    suspect: Option<Link>,
    /// Digests at the places that checkpoints name.
    watched: BTreeMap<i64, Option<[u8; 32]>>,
}

impl Follower {
    pub(crate) fn new(account: &str, lane: i64) -> Self {
        Self {
            account: account.to_owned(),
            lane,
            last: None,
            before: chain::START,
            proven: 0,
            signatures: 0,
            suspect: None,
            watched: BTreeMap::new(),
        }
    }

    /// Remembers the digest at a place that a checkpoint names.
    pub(crate) fn watch(&mut self, seq: i64) {
        self.watched.insert(seq, None);
    }

    /// Adds the next entry; the error is the first thing wrong.
    pub(crate) fn follow(&mut self, public_key: &[u8], link: Link) -> Result<(), Fault> {
        if let Some(suspect) = self.suspect.take() {
            return Err(self.judge(&suspect, Some(&link)));
        }
        let fits = link.seq == self.seq() + 1
            && self.next_digest(link.seq, &link.leaf) == link.digest
            && link.authentic != Some(false);
        if !fits {
            self.suspect = Some(link);
            return Ok(());
        }
        if let Some(signature) = &link.signature {
            if !chain::signed(
                public_key,
                &self.account,
                self.lane,
                link.seq,
                &link.digest,
                signature,
            ) {
                return Err(self.fault(FaultKind::Changed, &link));
            }
            self.proven = link.seq;
            self.signatures += 1;
        }
        if let Some(seen) = self.watched.get_mut(&link.seq) {
            *seen = Some(link.digest);
        }
        self.before = self.digest();
        self.last = Some(link);
        Ok(())
    }

    fn seq(&self) -> i64 {
        self.last.as_ref().map_or(0, |last| last.seq)
    }

    fn digest(&self) -> [u8; 32] {
        self.last.as_ref().map_or(chain::START, |last| last.digest)
    }

    pub(crate) fn next_digest(&self, seq: i64, leaf: &[u8; 32]) -> [u8; 32] {
        chain::link(&self.account, self.lane, seq, &self.digest(), leaf)
    }

    /// The end of the chain: every group ends signed, so an unsigned end was not written by us.
    pub(crate) fn finish(&mut self) -> Result<(), Fault> {
        if let Some(suspect) = self.suspect.take() {
            return Err(self.judge(&suspect, None));
        }
        if self.proven < self.seq() {
            return Err(self.at(FaultKind::Truncated, self.seq() + 1));
        }
        Ok(())
    }

    /// Compares with a checkpoint that was kept elsewhere; its place was watched.
    pub(crate) fn compare(&self, seq: i64, digest: &[u8; 32]) -> Result<(), Fault> {
        match self.watched.get(&seq) {
            Some(Some(seen)) if seen == digest => Ok(()),
            Some(Some(_)) => Err(self.at(FaultKind::Changed, seq)),
            _ => Err(self.at(FaultKind::Truncated, self.seq() + 1)),
        }
    }

    pub(crate) fn signatures(&self) -> u64 {
        self.signatures
    }

    /// Names what is wrong with an entry that does not fit, by what stands around it.
    fn judge(&self, suspect: &Link, next: Option<&Link>) -> Fault {
        let expected = self.seq() + 1;
        // The entry before it was put in: without that one, this one would fit.
        if let Some(last) = &self.last
            && chain::link(
                &self.account,
                self.lane,
                last.seq,
                &self.before,
                &suspect.leaf,
            ) == suspect.digest
        {
            return self.fault(FaultKind::Inserted, last);
        }
        if suspect.seq > expected {
            // Places go up again after a gap, but down again after a swap.
            let was_moved = next.is_some_and(|next| next.seq <= suspect.seq);
            let kind = if was_moved {
                FaultKind::Reordered
            } else {
                FaultKind::Missing
            };
            return self.at(kind, expected);
        }
        if suspect.seq < expected {
            let kind = if suspect.seq == self.seq() {
                FaultKind::Inserted
            } else {
                FaultKind::Reordered
            };
            return self.fault(kind, suspect);
        }
        // Its keyed hash is right, so it is genuine, but it belongs elsewhere.
        if suspect.authentic == Some(true) {
            return self.fault(FaultKind::Reordered, suspect);
        }
        let was_inserted = match next {
            // Without the odd one the chain would go on.
            Some(next) => self.next_digest(suspect.seq, &next.leaf) == next.digest,
            // The chain ended properly before it.
            None => suspect.signature.is_none() && self.proven == self.seq(),
        };
        self.fault(
            if was_inserted {
                FaultKind::Inserted
            } else {
                FaultKind::Changed
            },
            suspect,
        )
    }

    pub(crate) fn fault(&self, kind: FaultKind, link: &Link) -> Fault {
        Fault {
            record: link.record,
            request_id: link.request_id,
            ..self.at(kind, link.seq)
        }
    }

    pub(crate) fn at(&self, kind: FaultKind, seq: i64) -> Fault {
        Fault {
            kind,
            account: self.account.clone(),
            lane: self.lane,
            seq,
            proven_to: self.proven,
            record: None,
            request_id: None,
            row: None,
        }
    }
}

/// What the trail itself says was deleted: places by lane.
#[derive(Default)]
pub(crate) struct Deletions {
    ranges: HashMap<(String, i64), Vec<(i64, i64)>>,
}

impl Deletions {
    /// Takes note of a record that names deleted places.
    pub(crate) fn note(&mut self, account: &str, record: &Record, what: Act) {
        let Record::Admin(AdminAct { act, details, .. }) = record else {
            return;
        };
        if *act != what {
            return;
        }
        for range in details
            .get("places")
            .into_iter()
            .flat_map(|places| places.split(' '))
        {
            if let Some((lane, from, to)) = parse_range(range) {
                self.ranges
                    .entry((account.to_owned(), lane))
                    .or_default()
                    .push((from, to));
            }
        }
    }

    pub(crate) fn covers(&self, account: &str, lane: i64, seq: i64) -> bool {
        let ranges = self.ranges.get(&(account.to_owned(), lane));
        ranges.is_some_and(|ranges| ranges.iter().any(|(from, to)| (*from..=*to).contains(&seq)))
    }
}

/// Writes places as `lane:from-to`, joined by spaces.
pub(crate) fn write_ranges(mut places: Vec<(i64, i64)>) -> String {
    places.sort_unstable();
    let mut ranges: Vec<(i64, i64, i64)> = Vec::new();
    for (lane, seq) in places {
        match ranges.last_mut() {
            Some((of, _, to)) if *of == lane && *to + 1 == seq => *to = seq,
            _ => ranges.push((lane, seq, seq)),
        }
    }
    let words: Vec<String> = ranges
        .iter()
        .map(|(lane, from, to)| format!("{lane}:{from}-{to}"))
        .collect();
    words.join(" ")
}

fn parse_range(text: &str) -> Option<(i64, i64, i64)> {
    let (lane, range) = text.split_once(':')?;
    let (from, to) = range.split_once('-')?;
    Some((lane.parse().ok()?, from.parse().ok()?, to.parse().ok()?))
}

/// The places that checkpoints name on one chain.
pub(crate) fn watched<'a>(
    outside: &'a [Checkpoint],
    account: &'a str,
    lane: i64,
) -> impl Iterator<Item = (i64, [u8; 32])> + 'a {
    let here =
        move |checkpoint: &&Checkpoint| checkpoint.account == account && checkpoint.lane == lane;
    outside
        .iter()
        .filter(here)
        .filter_map(|checkpoint| Some((checkpoint.seq, digest_bytes(&checkpoint.digest)?)))
}

/// For messages: a place as people read it.
impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = self.kind.words();
        if let Some(row) = &self.row {
            return write!(f, "{row} {what}");
        }
        write!(f, "record {} of chain {} {what}", self.seq, self.lane)?;
        if let Some(record) = self.record {
            write!(f, " (record {record}")?;
            if let Some(request) = self.request_id {
                write!(f, ", request {request}")?;
            }
            write!(f, ")")?;
        }
        write!(f, "; the chain is proven up to record {}", self.proven_to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::hex;

    #[test]
    fn places_are_written_as_ranges_and_read_back() {
        let text = write_ranges(vec![(2, 5), (1, 2), (1, 1), (1, 3), (1, 7)]);
        assert_eq!(text, "1:1-3 1:7-7 2:5-5");
        let mut act = AdminAct::new(
            jiff::Timestamp::UNIX_EPOCH,
            "a",
            "system",
            Act::RetentionRecords,
        );
        act.details.insert("places".to_owned(), text);
        let mut deletions = Deletions::default();
        deletions.note("a", &Record::Admin(act), Act::RetentionRecords);
        assert!(deletions.covers("a", 1, 2) && deletions.covers("a", 2, 5));
        assert!(!deletions.covers("a", 1, 4) && !deletions.covers("b", 1, 2));
    }

    #[test]
    fn digests_read_back() {
        assert_eq!(digest_bytes(&hex(&[0xa5; 32])), Some([0xa5; 32]));
        assert_eq!(digest_bytes("zz"), None);
    }
}
