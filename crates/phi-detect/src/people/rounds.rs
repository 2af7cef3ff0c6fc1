//! Lists of patients as wards and clinics write them: a bed, a surname, an age with the sex, and then the case.

use std::ops::Range;

use super::data::is_ward;
use crate::lexicon::{LEXICON, Sense};
use crate::page::{Mark, Page, is_word_byte};

/// Maximum length of a line's head: it holds only a bed and a name before the age.
const HEAD_BYTES_MAX: usize = 48;
const WORDS_MAX: usize = 3;

/// The name before an age and sex on one line: "CHO 405: 34M", "7-1 Marsh, 81F".
pub(crate) fn before_age(page: &Page<'_>, age: Mark) -> Option<Range<usize>> {
    let end = age.start as usize;
    // "Tc-99m" is not an age.
    let stands_free = matches!(page.byte_before(end), b' ' | b'\t' | b'(' | b',' | b'|');
    if !stands_free || !is_age_with_sex(page.slice(age.range())) {
        return None;
    }
    let from = end.saturating_sub(HEAD_BYTES_MAX);
    let start = match memchr::memrchr(b'\n', page.slice(from..end)) {
        Some(line) => from + line + 1,
        None if from == 0 => 0,
        None => return None,
    };
    let mut head = Head::default();
    let mut at = start;
    while at < end {
        let length = page
            .slice(at..end)
            .iter()
            .take_while(|byte| is_part(**byte))
            .count();
        if length == 0 {
            let is_gap = matches!(
                page.byte(at),
                b' ' | b',' | b':' | b'.' | b')' | b'(' | b'|' | b'\t' | b';' | b'/' | b'*'
            );
            if !is_gap {
                return None;
            }
            at += 1;
            continue;
        }
        head.take(page, at..at + length)?;
        at += length;
    }
    head.name()
}

fn is_part(byte: u8) -> bool {
    is_word_byte(byte) || matches!(byte, b'-' | b'\'')
}

/// Whether a word is an age with a sex ("81F", "7M").
fn is_age_with_sex(word: &[u8]) -> bool {
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (1..=3).contains(&digits)
        && word.len() == digits + 1
        && matches!(word[digits], b'M' | b'F' | b'm' | b'f')
}

/// Parts of a line before the age.
#[derive(Default)]
struct Head {
    name: Option<Range<usize>>,
    words: usize,
    has_bed: bool,
    is_common: bool,
    is_short_capitals: bool,
}

impl Head {
    /// One more word; none if no such list has it.
    fn take(&mut self, page: &Page<'_>, span: Range<usize>) -> Option<()> {
        let word = page.slice(span.clone());
        let sense = LEXICON.sense(word);
        if word.iter().any(u8::is_ascii_digit)
            || sense.has(Sense::UNIT)
            || is_ward(word)
            || word.eq_ignore_ascii_case(b"bed")
        {
            self.has_bed = true;
            return Some(());
        }
        let is_gap_in_name = self
            .name
            .as_ref()
            .is_some_and(|name| span.start - name.end > 2);
        let is_other = sense
            .has(Sense::TITLE | Sense::ROLE | Sense::KIN | Sense::LABEL | Sense::CREDENTIAL)
            && word.len() > 1;
        if !word[0].is_ascii_uppercase() || is_other || is_gap_in_name || self.words == WORDS_MAX {
            return None;
        }
        self.is_common |= self.words == 0 && sense.has(Sense::STOP);
        self.is_short_capitals |= word.len() <= 4 && word.iter().all(u8::is_ascii_uppercase);
        self.words += 1;
        let start = self.name.as_ref().map_or(span.start, |name| name.start);
        self.name = Some(start..span.end);
        Some(())
    }

    /// The name, if the words can be one: an ordinary word or a few capitals only beside a bed.
    fn name(self) -> Option<Range<usize>> {
        let is_clear = self.has_bed || !self.is_common && !self.is_short_capitals;
        self.name.filter(|name| is_clear && name.len() > 1)
    }
}
