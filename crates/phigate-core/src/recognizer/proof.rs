//! Trial of a definition before it counts.

use phi_detect::undisguised;
use regex_syntax::hir::Hir;

use super::Recognizer;
use super::definition::{Finds, NOT_FOUND, WrongDefinition, wrong};

/// Bytes of the texts on which the time of a recognizer is measured.
pub const PROOF_BYTES: usize = 64 << 10;

/// The time that a recognizer may take on such a text, as a share of the detector's own.
pub const PROOF_SHARE: f64 = 0.2;

/// Text that says nothing of a patient. A pattern that matches half of it matches everything.
const NEUTRAL: &str = "The committee met on the second floor and agreed on 14 points, two of which \
need a vote. Order 20-118 for 350 chairs (blue, size M) costs about 4,900 euros; delivery takes \
3 weeks. Please read chapters 7 to 12, draw the graph y = 2x + 1, and explain why water boils \
earlier on a mountain. ÄRGER, café, 東京 and Москва are words as well.";

impl Recognizer {
    /// Refuses a recognizer that finds nothing, that finds everything, or that contradicts its examples.
    pub(super) fn prove(&self) -> Result<(), WrongDefinition> {
        if let Finds::Pattern(pattern) = &self.definition.finds {
            let parsed = regex_syntax::parse(pattern);
            let length = parsed.as_ref().map_or(Some(0), shortest);
            match length {
                None => return Err(wrong("pattern", "can never match")),
                Some(0) => return Err(wrong("pattern", "can match nothing: an empty text")),
                Some(_) => {}
            }
        }
        if self.share_of(NEUTRAL) >= 0.5 {
            return Err(wrong("pattern", "can match everything"));
        }
        for (number, example) in (1..).zip(&self.definition.found) {
            if !self.finds_in(example) {
                let why = format!("example {number} is not found: see pattern, check and labels");
                return Err(wrong("found", why));
            }
        }
        for (number, example) in (1..).zip(&self.definition.not_found) {
            if self.finds_in(example) {
                return Err(wrong(NOT_FOUND, format!("example {number} is found")));
            }
        }
        Ok(())
    }

    /// Whether a value is found in a text as a caller may write it.
    pub fn finds_in(&self, text: &str) -> bool {
        let mut is_found = false;
        self.find(None, &undisguised(text), &mut |_| is_found = true);
        is_found
    }

    /// The part of a text that the pattern matches, without regard to check and labels.
    fn share_of(&self, text: &str) -> f64 {
        let letters = |text: &str| {
            text.chars()
                .filter(|letter| letter.is_alphanumeric())
                .count()
        };
        let matched = self
            .pattern
            .find_iter(text)
            .map(|one| letters(one.as_str()));
        matched.sum::<usize>() as f64 / letters(text) as f64
    }
}

/// The bytes of the shortest match.
fn shortest(hir: &Hir) -> Option<usize> {
    hir.properties().minimum_len()
}

/// Texts on which the time of a recognizer is measured: prose, numbers, and prose with its own examples.
pub fn proof_texts(recognizer: &Recognizer) -> [String; 3] {
    let examples = recognizer.definition.found.iter();
    let examples: Vec<&str> = examples
        .chain(&recognizer.definition.not_found)
        .map(String::as_str)
        .collect();
    let numbers = "0123 4567-89 A1B2C3 2024/118 77.5 (206) 555-0142\n";
    let mixed = format!("{NEUTRAL} {}\n", examples.join(" "));
    [NEUTRAL, numbers, &mixed].map(|text| {
        let mut long = text.repeat(PROOF_BYTES / text.len() + 1);
        long.truncate(long.floor_char_boundary(PROOF_BYTES));
        long
    })
}
