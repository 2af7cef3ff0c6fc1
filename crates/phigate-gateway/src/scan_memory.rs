//! A cache of scanned texts.
//!
//! Chat clients send the whole conversation with every turn. With the findings of long texts cached, a turn costs only
//! its new text. Words such as the names of models and tools occur in every request; they have a separate cache, so
//! that texts and words do not evict each other. The cache key is a keyed hash of 128 bits with a key of this process;
//! the text itself is not kept.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use phi_detect::Findings;
use phigate_core::protect::{Reading, ScanMemory};
use siphasher::sip128::{Hasher128, SipHasher13};

/// Average findings per text at the limit: the cache is bounded in texts and in findings.
const FINDINGS_PER_TEXT: usize = 8;

/// Shortest text to cache; below, the cache saves little.
const SHORTEST_BYTES: usize = 256;

/// Longest text to cache as a word.
const WORD_BYTES_MAX: usize = 32;

/// Limit of cached words.
const WORDS: usize = 1_024;

/// Findings of earlier texts.
pub(crate) struct Memory {
    /// A hasher with the process's key, without input.
    hasher: SipHasher13,
    texts: Shelf,
    words: Shelf,
}

/// A bounded number of findings; the least recently written half is evicted first.
struct Shelf {
    entries_max: usize,
    generations: Mutex<Generations>,
}

#[derive(Default)]
struct Generations {
    young: HashMap<u128, Findings>,
    young_findings: usize,
    old: HashMap<u128, Findings>,
}

impl Memory {
    /// A cache for at most this many texts, besides words.
    pub(crate) fn new(entries_max: usize) -> Self {
        Self {
            hasher: keyed_hasher(),
            texts: Shelf::new(entries_max),
            words: Shelf::new(WORDS),
        }
    }

    fn key(&self, reading: Reading<'_>, text: &str) -> u128 {
        let (mark, label) = match reading {
            Reading::Text => (0, ""),
            Reading::Field(name) => (1, name),
            Reading::Identifier => (2, ""),
        };
        let mut hasher = self.hasher;
        // Each part is preceded by its length. Otherwise the end of a label could be read as the start of a text.
        hasher.write_u8(mark);
        for part in [label, text] {
            hasher.write_usize(part.len());
            hasher.write(part.as_bytes());
        }
        hasher.finish128().as_u128()
    }

    /// The cache for texts of this length.
    fn shelf(&self, bytes: usize) -> Option<&Shelf> {
        match bytes {
            0..=WORD_BYTES_MAX => Some(&self.words),
            SHORTEST_BYTES.. => Some(&self.texts),
            _ => None,
        }
    }
}

/// A hasher with a random key, taken from the standard library's random states.
fn keyed_hasher() -> SipHasher13 {
    let half = || RandomState::new().hash_one(());
    SipHasher13::new_with_keys(half(), half())
}

impl Shelf {
    fn new(entries_max: usize) -> Self {
        Self {
            entries_max,
            generations: Mutex::default(),
        }
    }

    fn recall(&self, key: u128) -> Option<Findings> {
        let mut generations = self.lock();
        if let Some(findings) = generations.young.get(&key) {
            return Some(findings.clone());
        }
        let findings = generations.old.remove(&key)?;
        self.put(&mut generations, key, findings.clone());
        Some(findings)
    }

    fn remember(&self, key: u128, findings: &Findings) {
        // An incomplete scan does not cover the rest of the text.
        let most = self.entries_max * FINDINGS_PER_TEXT / 8;
        if findings.is_complete() && findings.len() <= most {
            self.put(&mut self.lock(), key, findings.clone());
        }
    }

    fn put(&self, generations: &mut Generations, key: u128, findings: Findings) {
        let texts_max = self.entries_max / 2;
        let is_full = generations.young.len() >= texts_max
            || generations.young_findings >= texts_max * FINDINGS_PER_TEXT;
        if is_full {
            generations.old = std::mem::take(&mut generations.young);
            generations.young_findings = 0;
        }
        generations.young_findings += findings.len();
        generations.young.insert(key, findings);
    }

    /// Ignores poisoning: a panic while the lock is held leaves valid maps.
    fn lock(&self) -> MutexGuard<'_, Generations> {
        self.generations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScanMemory for Memory {
    fn recall_or(
        &self,
        reading: Reading<'_>,
        text: &str,
        scan: &mut dyn FnMut() -> Findings,
    ) -> Findings {
        let Some(shelf) = self.shelf(text.len()) else {
            return scan();
        };
        let key = self.key(reading, text);
        if let Some(findings) = shelf.recall(key) {
            return findings;
        }
        let findings = scan();
        shelf.remember(key, &findings);
        findings
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Memory")
    }
}

#[cfg(test)]
mod tests {
    use phi_detect::Detector;

    use super::*;

    #[test]
    fn cache_is_bounded_in_texts_and_findings() {
        let detector = Detector::default().without_names();
        for (pieces, kept_max) in [(1, 64), (16, 64 / 2)] {
            let memory = Memory::new(64);
            for number in 0..500 {
                let text =
                    format!("{number} {}", "SSN 536-22-8741, ".repeat(pieces)) + &" ".repeat(256);
                memory.recall_or(Reading::Text, &text, &mut || detector.scan(&text));
            }
            let generations = memory.texts.lock();
            let kept = generations.young.len() + generations.old.len();
            assert!(
                (kept_max / 4..=kept_max + 1).contains(&kept),
                "{kept} of {kept_max}"
            );
        }
    }

    #[test]
    fn label_and_text_hash_separately() {
        let memory = Memory::new(64);
        let text = format!("2065550142 {}", "x".repeat(300));
        let length = text.len().to_le_bytes();
        let length = String::from_utf8_lossy(&length);
        let sly = format!("home_phone\u{1}{length}{text}");
        let keys = [
            memory.key(Reading::Field("note"), &sly),
            memory.key(
                Reading::Field(&format!("note{}", &sly[..sly.len() - text.len()])),
                &text,
            ),
            memory.key(Reading::Field("note"), &text),
            memory.key(Reading::Text, &text),
            memory.key(Reading::Field(""), &text),
            memory.key(Reading::Identifier, &text),
        ];
        let distinct: std::collections::HashSet<u128> = keys.into_iter().collect();
        assert_eq!(distinct.len(), keys.len());
    }

    #[test]
    fn a_remembered_text_is_not_scanned_again() {
        let memory = Memory::new(64);
        let detector = Detector::default().without_names();
        let text = format!("SSN 536-22-8741 {}", "x".repeat(300));
        let mut scans = 0;
        let mut recall = |reading| {
            let findings = memory.recall_or(reading, &text, &mut || {
                scans += 1;
                detector.scan(&text)
            });
            (findings.len(), scans)
        };
        assert_eq!(recall(Reading::Text), (1, 1));
        assert_eq!(recall(Reading::Text), (1, 1));
        assert_eq!(recall(Reading::Field("note")), (1, 2));
    }

    #[test]
    fn words_are_remembered_and_sentences_are_not() {
        let memory = Memory::new(64);
        let detector = Detector::default().without_names();
        for (text, expected) in [
            ("gpt-4o", 1),
            ("", 1),
            (&"x".repeat(WORD_BYTES_MAX), 1),
            (&"x".repeat(WORD_BYTES_MAX + 1), 2),
            (&"x".repeat(SHORTEST_BYTES - 1), 2),
            (&"x".repeat(SHORTEST_BYTES), 1),
        ] {
            let mut scans = 0;
            for _ in 0..2 {
                memory.recall_or(Reading::Text, text, &mut || {
                    scans += 1;
                    detector.scan(text)
                });
            }
            assert_eq!(scans, expected, "{} bytes", text.len());
        }
    }
}
