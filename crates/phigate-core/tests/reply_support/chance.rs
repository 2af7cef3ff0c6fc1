//! Random replies, and random cuts of their bytes.

use super::Texts;

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
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn next(&mut self, bound: usize) -> usize {
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

    pub(crate) fn texts(&mut self) -> Texts {
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

    /// Cuts bytes at random places; returns the pieces and the number of cuts.
    pub(crate) fn cut<'b>(&mut self, bytes: &'b [u8]) -> (Vec<&'b [u8]>, usize) {
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
