//! Following a chain up to its first fault.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::chain;
use crate::fault::{Fault, FaultKind};

/// Known data of one entry of a chain.
pub struct Link {
    /// Place in the chain.
    pub seq: i64,
    /// Digest of the record alone.
    pub leaf: [u8; 32],
    /// Digest of the chain up to here.
    pub digest: [u8; 32],
    /// Signature of the digest, at the end of a group.
    pub signature: Option<Vec<u8>>,
    /// Whether its keyed hash is valid; `None` without the key.
    pub authentic: Option<bool>,
    /// Id of the record, if known.
    pub record: Option<Uuid>,
    /// Request of the record, if known.
    pub request_id: Option<Uuid>,
}

/// Follower of one chain.
pub struct Follower {
    account: String,
    lane: i64,
    /// The last fitting entry, and the digest before it.
    last: Option<Link>,
    before: [u8; 32],
    proven: i64,
    signatures: u64,
    /// Places before the first entry.
    earlier: i64,
    /// An entry that does not fit; its fault is known only with the next entry.
    suspect: Option<Link>,
    /// Digests at the places that checkpoints name.
    watched: BTreeMap<i64, Option<[u8; 32]>>,
}

impl Follower {
    /// Starts at the beginning of a chain.
    pub fn new(account: &str, lane: i64) -> Self {
        Self {
            account: account.to_owned(),
            lane,
            last: None,
            before: chain::START,
            proven: 0,
            signatures: 0,
            earlier: 0,
            suspect: None,
            watched: BTreeMap::new(),
        }
    }

    /// Account of the chain.
    pub fn account(&self) -> &str {
        &self.account
    }

    /// Keeps the digest at a place that a checkpoint names.
    pub fn watch(&mut self, seq: i64) {
        self.watched.insert(seq, None);
    }

    /// Adds the next entry; the error is the first fault.
    pub fn follow(&mut self, public_key: &[u8], link: Link) -> Result<(), Fault> {
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

    /// Begins before a place whose predecessor is signed. A chain that has entries must be exactly there: a line cannot
    /// bridge missing entries.
    pub fn begin(
        &mut self,
        public_key: &[u8],
        seq: i64,
        digest: [u8; 32],
        signature: Option<&[u8]>,
    ) -> Result<(), Fault> {
        if let Some(suspect) = self.suspect.take() {
            return Err(self.judge(&suspect, None));
        }
        let is_here = seq == self.seq() + 1;
        if is_here && digest == self.digest() {
            return Ok(());
        }
        if self.last.is_some() {
            return Err(match seq > self.seq() + 1 {
                true => self.at(FaultKind::Missing, self.seq() + 1),
                false if is_here => self.at(FaultKind::Changed, seq),
                false => self.at(FaultKind::Reordered, seq),
            });
        }
        let (account, lane, end) = (&self.account, self.lane, seq.saturating_sub(1));
        let is_signed = signature.is_some_and(|signature| {
            chain::signed(public_key, account, lane, end, &digest, signature)
        });
        if !is_signed {
            return Err(self.at(FaultKind::Changed, seq));
        }
        if let Some(seen) = self.watched.get_mut(&end) {
            *seen = Some(digest);
        }
        (self.earlier, self.proven) = (end, end);
        self.signatures += 1;
        self.last = Some(Link {
            seq: end,
            leaf: [0; 32],
            digest,
            signature: None,
            authentic: None,
            record: None,
            request_id: None,
        });
        Ok(())
    }

    /// Number of entries before the first one that was followed.
    pub fn earlier(&self) -> u64 {
        self.earlier.unsigned_abs()
    }

    fn seq(&self) -> i64 {
        self.last.as_ref().map_or(0, |last| last.seq)
    }

    fn digest(&self) -> [u8; 32] {
        self.last.as_ref().map_or(chain::START, |last| last.digest)
    }

    /// Digest that the next entry must have.
    pub fn next_digest(&self, seq: i64, leaf: &[u8; 32]) -> [u8; 32] {
        chain::link(&self.account, self.lane, seq, &self.digest(), leaf)
    }

    /// Ends the chain. Every group ends with a signature, so an unsigned end was not written by the gateway.
    pub fn finish(&mut self) -> Result<(), Fault> {
        if let Some(suspect) = self.suspect.take() {
            return Err(self.judge(&suspect, None));
        }
        if self.proven < self.seq() {
            return Err(self.at(FaultKind::Truncated, self.seq() + 1));
        }
        Ok(())
    }

    /// Compares with a checkpoint that was kept elsewhere; its place was watched.
    pub fn compare(&self, seq: i64, digest: &[u8; 32]) -> Result<(), Fault> {
        match self.watched.get(&seq) {
            Some(Some(seen)) if seen == digest => Ok(()),
            Some(Some(_)) => Err(self.at(FaultKind::Changed, seq)),
            _ => Err(self.at(FaultKind::Truncated, self.seq() + 1)),
        }
    }

    /// Number of signatures checked.
    pub fn signatures(&self) -> u64 {
        self.signatures
    }

    /// Names the fault of an entry that does not fit, from the entries around it.
    fn judge(&self, suspect: &Link, next: Option<&Link>) -> Fault {
        let expected = self.seq() + 1;
        // The entry before it was inserted: without that one, this one would fit.
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
            // Places increase again after a gap, but decrease after a swap.
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
        // A valid keyed hash shows a genuine record that belongs elsewhere.
        if suspect.authentic == Some(true) {
            return self.fault(FaultKind::Reordered, suspect);
        }
        let was_inserted = match next {
            // Without the inserted entry the chain would continue.
            Some(next) => self.next_digest(suspect.seq, &next.leaf) == next.digest,
            // The chain ended with a signature before it.
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

    /// A fault of an entry.
    pub fn fault(&self, kind: FaultKind, link: &Link) -> Fault {
        Fault {
            record: link.record,
            request_id: link.request_id,
            ..self.at(kind, link.seq)
        }
    }

    /// A fault at a place.
    pub fn at(&self, kind: FaultKind, seq: i64) -> Fault {
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
