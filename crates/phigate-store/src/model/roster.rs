//! Rosters of an account: its patients, as keyed codes alone.

use std::collections::HashMap;
use std::hash::Hasher;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use siphasher::sip::SipHasher24;
use smol_str::SmolStr;

/// Key of the codes of an account's rosters.
pub(crate) type RosterKey = [u64; 2];

/// Bytes of a code beside its bucket.
const REST_BYTES: usize = 5;

/// Codes per bucket, on average between this and twice as many.
const PER_BUCKET: usize = 4;

/// Most bits of a bucket's number.
const BITS_MAX: u32 = 24;

/// Keyed code of several words. A NUL separates them, because words never contain it.
pub(crate) fn roster_code(key: RosterKey, words: &[&str]) -> u64 {
    let mut hasher = SipHasher24::new_with_keys(key[0], key[1]);
    for word in words {
        hasher.write(word.as_bytes());
        hasher.write_u8(0);
    }
    hasher.finish()
}

/// Codes of a roster while it is imported.
pub struct RosterDraft {
    key: RosterKey,
    codes: Vec<u64>,
}

/// Shows the number of codes.
impl std::fmt::Debug for RosterDraft {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "RosterDraft({})", self.codes.len())
    }
}

impl RosterDraft {
    pub(crate) fn new(key: RosterKey) -> Self {
        let codes = Vec::new();
        Self { key, codes }
    }

    /// Adds the code of these words.
    pub fn add(&mut self, words: &[&str]) {
        self.codes.push(roster_code(self.key, words));
    }

    /// The codes in order, each once.
    pub(crate) fn into_codes(mut self) -> Vec<u64> {
        self.codes.sort_unstable();
        self.codes.dedup();
        self.codes
    }
}

/// Rosters that were read, by account and name. The lock is held while one is read, so that each is read once.
pub(crate) type RosterCache = tokio::sync::Mutex<HashMap<(String, String), Arc<RosterCodes>>>;

/// Codes of one roster, packed: the high bits of a code choose its bucket, and five further bytes tell it from others.
/// A word that is not in a roster of a million patients is taken for one of it once in a hundred thousand million times.
pub(crate) struct RosterCodes {
    /// Id of the import.
    set: String,
    bits: u32,
    /// Start of each bucket, and the end of the last.
    starts: Vec<u32>,
    rest: Vec<u8>,
}

impl RosterCodes {
    /// Makes room for this many codes.
    pub(crate) fn with_room(set: &str, count: usize) -> Self {
        let buckets = (count / PER_BUCKET).max(2);
        let bits = buckets.ilog2().min(BITS_MAX);
        let mut starts = Vec::with_capacity((1 << bits) + 1);
        starts.push(0);
        Self {
            set: set.to_owned(),
            bits,
            starts,
            rest: Vec::with_capacity(count * REST_BYTES),
        }
    }

    /// Adds the next codes, in order. `None` if they are out of order.
    pub(crate) fn extend(&mut self, codes: impl Iterator<Item = u64>) -> Option<()> {
        for code in codes {
            let (bucket, rest) = self.split(code);
            if bucket + 1 < self.starts.len() {
                return None;
            }
            let count = u32::try_from(self.rest.len() / REST_BYTES).ok()?;
            self.starts.resize(bucket + 1, count);
            // The end of this bucket is written by the next, so its start is the last entry for now.
            self.rest.extend_from_slice(&rest);
        }
        Some(())
    }

    /// Ends the last bucket.
    pub(crate) fn finish(mut self) -> Option<Self> {
        let count = u32::try_from(self.rest.len() / REST_BYTES).ok()?;
        self.starts.resize((1 << self.bits) + 1, count);
        Some(self)
    }

    fn split(&self, code: u64) -> (usize, [u8; REST_BYTES]) {
        let bucket = (code >> (u64::BITS - self.bits)) as usize;
        let [a, b, c, d, e, ..] = (code << self.bits).to_be_bytes();
        (bucket, [a, b, c, d, e])
    }

    fn has(&self, code: u64) -> bool {
        let (bucket, wanted) = self.split(code);
        let [start, end] = [bucket, bucket + 1].map(|at| self.starts[at] as usize * REST_BYTES);
        let mut known = self.rest[start..end].chunks_exact(REST_BYTES);
        known.any(|rest| rest == wanted)
    }

    /// Id of the import.
    pub(crate) fn set(&self) -> &str {
        &self.set
    }
}

/// The rosters of an account.
#[derive(Clone, Default)]
pub struct Rosters {
    key: RosterKey,
    all: Vec<Arc<RosterCodes>>,
}

/// Shows the number of rosters.
impl std::fmt::Debug for Rosters {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Rosters({})", self.all.len())
    }
}

/// Compares the imports. An import never changes.
impl PartialEq for Rosters {
    fn eq(&self, other: &Self) -> bool {
        let sets = |rosters: &Self| {
            let sets = rosters.all.iter().map(|one| one.set.clone());
            sets.collect::<Vec<String>>()
        };
        self.all.len() == other.all.len() && sets(self) == sets(other)
    }
}

impl Rosters {
    pub(crate) fn new(key: RosterKey, all: Vec<Arc<RosterCodes>>) -> Self {
        Self { key, all }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether the code of these words is in a roster.
    pub fn holds(&self, words: &[&str]) -> bool {
        let code = roster_code(self.key, words);
        self.all.iter().any(|roster| roster.has(code))
    }
}

/// A roster in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RosterInfo {
    /// Name.
    pub name: SmolStr,
    /// Number of patients.
    pub patients: u64,
    /// Time of the import.
    pub imported: Timestamp,
    /// The actor of the import.
    pub imported_by: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_codes_hold_what_was_added() {
        for count in [0, 1, 9, 1000, 100_000] {
            let mut draft = RosterDraft::new([1, 2]);
            for number in 0..count {
                draft.add(&["n", &number.to_string()]);
                draft.add(&["n", &number.to_string()]);
            }
            let codes = draft.into_codes();
            assert_eq!(codes.len(), count);
            let mut packed = RosterCodes::with_room("set", count);
            for part in codes.chunks(1 << 10) {
                packed.extend(part.iter().copied()).unwrap();
            }
            let packed = packed.finish().unwrap();
            let rosters = Rosters::new([1, 2], vec![Arc::new(packed)]);
            let holds = |mark: &str, number: usize| rosters.holds(&[mark, &number.to_string()]);
            assert!((0..count).all(|number| holds("n", number)));
            assert!(!(0..1000).any(|number| holds("x", number)));
            assert!(!(count..count + 1000).any(|number| holds("n", number)));
        }
    }

    #[test]
    fn codes_out_of_order_are_refused() {
        let mut packed = RosterCodes::with_room("set", 1000);
        assert!(packed.extend([u64::MAX, 1].into_iter()).is_none());
    }
}
