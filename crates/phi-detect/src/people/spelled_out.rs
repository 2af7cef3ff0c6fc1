//! Names spelled letter by letter: "D as in dog, E, L", "last name R-O-E-S".

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::budget::{Few, List};
use crate::labels::Meaning;
use crate::page::{Page, is_word_byte};
use crate::spelled;

/// Phrases around a spelled name, with the distance behind them at which the letters may begin, and the distance
/// before them.
static CUES: LazyLock<[(Finder<'static>, usize, usize); 5]> = LazyLock::new(|| {
    [
        ("spell", 48, 0),
        ("Spell", 48, 0),
        (" as in ", 0, 16),
        ("that's ", 8, 0),
        ("thats ", 7, 0),
    ]
    .map(|(cue, after, before)| (Finder::new(cue), after, before))
});
/// Minimum number of letters; fewer are an abbreviation.
const LETTERS_MIN: usize = 4;
const DIFFERENT_MIN: usize = 3;

/// Spans that several readings of a page found, each reading in order and without overlaps.
struct Found {
    spans: List<Range<usize>>,
    /// Index of the first span of each reading.
    readings: Few<usize>,
}

impl Found {
    /// Begins another reading.
    fn begin(&mut self) {
        self.readings.push(self.spans.len());
    }

    /// Takes a span that does not start inside another one.
    fn take(&mut self, span: Range<usize>) {
        let ends = self
            .readings
            .iter()
            .skip(1)
            .copied()
            .chain([self.spans.len()]);
        let mut readings = self.readings.iter().zip(ends);
        let is_known = readings.any(|(&from, to)| {
            let reading = &self.spans[from.min(to)..to];
            let next = reading.partition_point(|one| one.end <= span.start);
            reading.get(next).is_some_and(|one| one.start <= span.start)
        });
        if !is_known {
            self.spans.push(span);
        }
    }
}

/// Finds every spelled-out name that the words around announce.
pub(crate) fn spelled_out(page: &Page<'_>) -> List<Range<usize>> {
    let mut found = Found {
        spans: page.memory().list(),
        readings: Few::new(),
    };
    let look = |from: usize, to: usize, found: &mut Found| {
        let mut starts = (from..to.min(page.text.len())).filter(|&at| opens_letters(page, at));
        let first = starts.find_map(|at| spelled::read(page, at).filter(is_name));
        if let Some(spelled) = first {
            found.take(spelled.span);
        }
    };
    for (cue, after, before) in &*CUES {
        found.begin();
        for at in page.through(cue.find_iter(page.bytes())) {
            look(at.saturating_sub(*before), at + (*after).max(1), &mut found);
        }
    }
    let names = page.labels.iter().filter(|label| {
        let is_of_name = matches!(label.meaning, Meaning::Name | Meaning::NameMaybe);
        is_of_name && ends_in_name(page.slice(label.start as usize..label.end as usize))
    });
    found.begin();
    for label in page.through(names) {
        look(label.end as usize, label.end as usize + 8, &mut found);
    }
    found.begin();
    for span in said_before(page) {
        found.take(span);
    }
    found.spans
}

/// Whether a label calls its value a name ("name", "Last Name", "surname").
pub(crate) fn ends_in_name(label: &[u8]) -> bool {
    let last = label.last_chunk::<4>();
    last.is_some_and(|last| last.eq_ignore_ascii_case(b"name"))
}

/// Distance before its letters at which a name may have been said.
const SAID_BYTES_MAX: usize = 32;

/// Finds letters with hyphens that spell the word directly before them ("Bo Roe. R-O-E").
fn said_before(page: &Page<'_>) -> List<Range<usize>> {
    let bytes = page.bytes();
    let mut found: List<Range<usize>> = page.memory().list();
    for hyphen in page.through(memchr::memchr_iter(b'-', bytes)) {
        let start = hyphen.saturating_sub(1);
        let opens = opens_letters(page, start)
            && bytes.get(hyphen + 2) == Some(&b'-')
            && found.last().is_none_or(|last| last.end <= start);
        if !opens {
            continue;
        }
        let letters = bytes[start..]
            .chunks(2)
            .take_while(|pair| pair[0].is_ascii_alphabetic())
            .scan(true, |goes_on, pair| {
                let letter = goes_on.then_some(pair[0]);
                *goes_on = pair.get(1) == Some(&b'-');
                letter
            });
        let letters = page.memory().collect(letters);
        let before = &bytes[start.saturating_sub(SAID_BYTES_MAX)..start];
        let is_said = before
            .split(|byte| !is_word_byte(*byte))
            .any(|word| word.eq_ignore_ascii_case(&letters));
        let end = start + letters.len() * 2 - 1;
        if letters.len() >= 3 && is_said && !is_word_byte(page.byte(end)) {
            found.push(start..end);
        }
    }
    found
}

/// Letters alone, and not the same one said again and again.
fn is_name(spelled: &spelled::Spelled) -> bool {
    let different = |letter: u8| spelled.value.contains(&letter);
    spelled.value.len() >= LETTERS_MIN
        && spelled.value.iter().all(u8::is_ascii_alphabetic)
        && (b'A'..=b'Z').filter(|letter| different(*letter)).count() >= DIFFERENT_MIN
}

/// Whether a single letter is at this offset.
fn opens_letters(page: &Page<'_>, at: usize) -> bool {
    page.byte(at).is_ascii_alphabetic()
        && !is_word_byte(page.byte(at + 1))
        && page.byte(at + 1) != b'\''
        && !is_word_byte(page.byte_before(at))
        && !matches!(page.byte_before(at), b'\'' | b'-')
}
