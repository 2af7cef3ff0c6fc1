//! However a provider's bytes are cut, the caller gets the same: at least a hundred thousand random cuts.

mod reply_support;

use std::sync::Arc;

use phigate_types::Replies;
use reply_support::{Texts, events, play_stream, play_whole, rules};

/// Pieces of which replies are made: tokens whole and broken, PHI new and old, ends of sentences, addresses, escapes.
const PIECES: &[&str] = &[
    "[NAME_7K3QD]",
    "[NAME_7K3QDX]",
    "[SSN_4M2NP]",
    "name_7k3qd",
    r"\[NAME\_7K3QD\]",
    "[NAME_",
    "[NAME_7K3Q",
    "7K3QD]",
    "MEDICARE_ID_0Z9YX",
    "[ADDRESS_AAAAA]",
    "[",
    "]",
    "\\",
    "_",
    "(",
    ")",
    "](",
    "https://a.example/",
    "![x](",
    "N",
    "NAME",
    " ",
    "\n",
    ". ",
    "! ",
    ", ",
    ": ",
    "é",
    "👋🏽",
    "晴れ。",
    "Dr. ",
    "Her SSN is 219-09-4218",
    "SSN 536-22-8741",
    "the patient's name is Robert Chen",
    "take two tablets every morning",
    "MRN: 00771245",
    "call 415-555-0188",
    "robert.chen@clinicmail.org",
    "1428 Larchmont Avenue, Spokane, WA 99205",
    "5.5 mg",
    "x",
];

/// Pieces of arguments inside of a JSON string.
const JSON_PIECES: &[&str] = &[
    "[NAME_7K3QDX]",
    "name_7k3qd",
    "[NAME_7K",
    r"\\[NAME\\_7K3QD\\]",
    r"\u005bNAME_7K3QD]",
    r#"\""#,
    r"\\",
    r"\n",
    r"\u00e9",
    r"\ud83d\udc4b",
    r"\ud83d",
    "SSN 219-09-4218",
    "Robert Chen",
    "https://a.example/",
    " ",
    ". ",
    r#"","ssn":""#,
    r#"","n":219094218,"m":""#,
    r#"",["a"],{"b":""#,
    "x",
];

/// A small generator, so that a failing case can be played again by its number.
struct Chance(u64);

impl Chance {
    fn next(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn text(&mut self, pieces: &[&str], count: usize) -> String {
        (0..self.next(count))
            .map(|_| pieces[self.next(pieces.len())])
            .collect()
    }

    fn texts(&mut self) -> Texts {
        Texts {
            reasoning: self.text(PIECES, 8),
            content: self.text(PIECES, 30),
            arguments: match self.next(3) {
                0 => String::new(),
                1 => format!(r#"{{"ssn":"{}"}}"#, self.text(JSON_PIECES, 12)),
                _ => format!(r#"{{"note":"{}"#, self.text(JSON_PIECES, 12)),
            },
        }
    }

    /// Cuts bytes at random places; returns how many cuts there are.
    fn cut<'b>(&mut self, bytes: &'b [u8]) -> (Vec<&'b [u8]>, usize) {
        let count = 1 + self.next(60);
        let mut places: Vec<usize> = (0..count).map(|_| self.next(bytes.len() + 1)).collect();
        places.sort_unstable();
        let (mut pieces, mut from) = (Vec::new(), 0);
        for place in places.into_iter().chain([bytes.len()]) {
            pieces.push(&bytes[from..place]);
            from = place;
        }
        (pieces, count)
    }
}

/// Plays replies until there were this many cuts: of the text into deltas, and of the stream into pieces.
fn check(restores: bool, replies: Replies, seed: u64, cuts_min: usize) {
    let rules = Arc::new(rules(restores, replies));
    let (mut cuts, mut round) = (0, 0);
    while cuts < cuts_min {
        round += 1;
        let mut chance = Chance(seed + round);
        let texts = chance.texts();
        let (whole, whole_tally) = play_whole(&rules, &texts);
        let size_max = [1, 3, 12, 60][chance.next(4)];
        let stream = events(&texts, || 1 + chance.next(size_max));
        let deltas = stream.matches("data: ").count();
        let (pieces, count) = chance.cut(stream.as_bytes());
        let played = play_stream(&rules, pieces);
        let uncut = play_stream(&rules, [stream.as_bytes()]);
        assert_eq!(played.texts, uncut.texts, "seed {seed}, round {round}");
        assert_eq!(played.stop, uncut.stop, "seed {seed}, round {round}");
        match whole {
            Ok(whole) => {
                assert_eq!(played.texts, whole, "seed {seed}, round {round}");
                assert_eq!(played.tally, whole_tally, "seed {seed}, round {round}");
                assert!(played.is_done && played.finish.is_some());
            }
            Err(stop) => {
                assert_eq!(played.stop, Some(stop), "seed {seed}, round {round}");
                assert!(!played.is_done && played.finish.is_none());
            }
        }
        cuts += deltas + count;
    }
}

#[test]
fn restoring_is_the_same_for_every_cut() {
    check(true, Replies::Off, 1_000_000, 60_000);
}

#[test]
fn scanning_is_the_same_for_every_cut() {
    check(false, Replies::Mask, 2_000_000, 15_000);
    check(false, Replies::Redact, 3_000_000, 10_000);
    check(false, Replies::Block, 4_000_000, 10_000);
    check(false, Replies::Flag, 5_000_000, 5_000);
}

#[test]
fn both_together_are_the_same_for_every_cut() {
    check(true, Replies::Mask, 6_000_000, 15_000);
    check(true, Replies::Block, 7_000_000, 10_000);
}
