//! Digits that a scanner took for letters: `O9/l2/l948`, `4l2-S5-9O18`.
//!
//! If a label says that a date of birth, an SSN or a telephone number follows, and what follows is one but for letters
//! that look like digits, the rules get to see the digits.

use std::ops::Range;

use crate::budget::{Few, Text};
use crate::context::claim_before;
use crate::labels::Meaning;
use crate::lexicon::{LEXICON, Sense};
use crate::page::{Mark, Page, is_word_byte};
use crate::people;

/// Returns the text with misread digits put right, of the same length; `None` if no digit was misread.
pub(crate) fn mend(page: &Page<'_>) -> Option<Text> {
    let counted = |text: Option<String>| Text::of(page.memory(), text?);
    let Some(relabelled) = counted(labels(page)) else {
        return counted(numbers(page));
    };
    let page = Page::within(page.budget, &relabelled, page.fields.clone());
    counted(numbers(&page)).or(Some(relabelled))
}

/// Returns the text with misread labels put right (`D0B`, `D.0.B.`, `PH0NE`, `Te1`).
fn labels(page: &Page<'_>) -> Option<String> {
    let mut mended: Option<Few<u8>> = None;
    for mark in page.through(&page.marks) {
        let word = page.slice(mark.range());
        let start = mark.start as usize;
        let is_dotted = word == b"0"
            && page
                .slice(start.saturating_sub(2)..start + 3)
                .eq_ignore_ascii_case(b"D.0.B");
        let is_misread = mark.is_code()
            && (3..=10).contains(&word.len())
            && word.iter().any(|byte| matches!(byte, b'0' | b'1'))
            && LEXICON
                .sense(&word.iter().map(letter).collect::<Few<_>>())
                .has(Sense::LABEL);
        if is_dotted || is_misread {
            let text = mended.get_or_insert_with(|| page.bytes().to_vec());
            for byte in &mut text[mark.range()] {
                *byte = letter(byte);
            }
        }
    }
    String::from_utf8(mended?).ok()
}

/// The letter that a digit looks like; everything else looks like itself.
fn letter(byte: &u8) -> u8 {
    match byte {
        b'0' => b'O',
        b'1' => b'l',
        _ => *byte,
    }
}

/// The text with misread digits put right.
fn numbers(page: &Page<'_>) -> Option<String> {
    let mut mended: Option<Few<u8>> = None;
    let marks = page.through(&page.marks);
    for mark in marks.filter(|mark| is_digit_like(page, **mark)) {
        let span = whole(page, mark.range());
        if is_meant(page, &span) {
            let text = mended.get_or_insert_with(|| page.bytes().to_vec());
            for byte in &mut text[span] {
                *byte = digit(*byte).unwrap_or(*byte);
            }
        }
    }
    people::mend_names(page, &mut mended);
    String::from_utf8(mended?).ok()
}

/// The digit that a letter looks like; a digit looks like itself.
fn digit(byte: u8) -> Option<u8> {
    Some(match byte {
        b'0'..=b'9' => byte,
        b'O' | b'o' | b'Q' => b'0',
        b'I' | b'l' | b'i' => b'1',
        b'Z' => b'2',
        b'S' | b's' => b'5',
        b'B' => b'8',
        b'g' => b'9',
        _ => return None,
    })
}

/// Digits among letters that look like digits, as long as a group of a number is.
fn is_digit_like(page: &Page<'_>, mark: Mark) -> bool {
    mark.is_code() && mark.len() <= 10 && is_group(page.slice(mark.range()))
}

fn is_group(token: &[u8]) -> bool {
    token.iter().any(u8::is_ascii_digit) && token.iter().all(|&byte| digit(byte).is_some())
}

/// A number has no more groups to either side.
const GROUPS_MAX: usize = 3;

/// The whole number of which this is a group.
fn whole(page: &Page<'_>, group: Range<usize>) -> Range<usize> {
    let mut span = group;
    for _ in 0..GROUPS_MAX {
        let token = |end: usize| {
            let before = page.slice(end.saturating_sub(11)..end);
            before
                .iter()
                .rev()
                .take_while(|byte| is_word_byte(**byte))
                .count()
        };
        let Some(end) = span.start.checked_sub(separator_before(page, span.start)) else {
            break;
        };
        let length = token(end);
        if end == span.start || !is_group(page.slice(end - length..end)) {
            break;
        }
        span.start = end - length;
    }
    for _ in 0..GROUPS_MAX {
        let start = span.end + separator_after(page, span.end);
        let rest = page.slice(start..page.text.len().min(start + 11));
        let length = rest.iter().take_while(|byte| is_word_byte(**byte)).count();
        if start == span.end || !is_group(&rest[..length]) {
            break;
        }
        span.end = start + length;
    }
    span
}

fn separator_after(page: &Page<'_>, at: usize) -> usize {
    let rest = page.slice(at..page.text.len().min(at + 2));
    rest.iter().take_while(|byte| is_separator(**byte)).count()
}

fn separator_before(page: &Page<'_>, at: usize) -> usize {
    let before = page.slice(at.saturating_sub(2)..at);
    before
        .iter()
        .rev()
        .take_while(|byte| is_separator(**byte))
        .count()
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b'-' | b'/' | b'.' | b' ' | b')')
}

/// Whether a label calls for such a number, and most of it is digits.
fn is_meant(page: &Page<'_>, span: &Range<usize>) -> bool {
    let text = page.slice(span.clone());
    let characters = text.iter().filter(|byte| is_word_byte(**byte)).count();
    let digits = text.iter().filter(|byte| byte.is_ascii_digit()).count();
    let claim = claim_before(page, span.start, is_about_a_number);
    if claim.is_none_or(|claim| claim.is(Meaning::Phone)) && is_telephone(text) {
        return true;
    }
    let Some(claim) = claim else {
        return false;
    };
    let fits = match claim.meaning {
        Meaning::Ssn | Meaning::SsnMaybe => characters == 9,
        Meaning::Dob => (5..=8).contains(&characters),
        Meaning::Phone => matches!(characters, 7 | 10 | 11),
        _ => false,
    };
    claim.is_firm() && fits && digits * 2 >= characters
}

/// Whether these are three groups joined like those of a telephone number, most of them digits (`775-2O8-0O41`,
/// `0141-339-6O5O`).
fn is_telephone(text: &[u8]) -> bool {
    let sign = if text.contains(&b'.') { b'.' } else { b'-' };
    let groups: Few<&[u8]> = text.split(|&byte| byte == sign).collect();
    let lengths: Few<usize> = groups.iter().map(|group| group.len()).collect();
    let digits = text.iter().filter(|byte| byte.is_ascii_digit()).count();
    // An S or a Z is not taken for a digit in an unlabelled number.
    let is_plain = text.iter().all(|&byte| {
        byte == sign || byte.is_ascii_digit() || matches!(byte, b'O' | b'o' | b'l' | b'I')
    });
    let is_grouped = matches!(lengths.as_slice(), [3, 3, 4]) && groups[0][0].is_ascii_digit()
        || matches!(lengths.as_slice(), [4, 3, 4]) && text[0] == b'0';
    is_plain && is_grouped && digits >= 7
}

fn is_about_a_number(meaning: Meaning) -> bool {
    matches!(
        meaning,
        Meaning::Ssn
            | Meaning::SsnMaybe
            | Meaning::Dob
            | Meaning::Phone
            | Meaning::Mrn
            | Meaning::MrnMaybe
            | Meaning::Medicare
            | Meaning::OtherId(_)
            | Meaning::Thing
            | Meaning::OtherDate
            | Meaning::Zip
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mended(text: &str) -> Option<String> {
        mend(&Page::new(text)).map(|text| text.to_owned())
    }

    #[test]
    fn digits_after_a_label_are_put_right() {
        for (text, expected) in [
            ("DOB: O9/l2/l948", "DOB: 09/12/1948"),
            ("SSN 4l2-S5-9O18 (fax)", "SSN 412-55-9018 (fax)"),
            ("Tel: (5O9) 555-Ol34", "Tel: (509) 555-0134"),
            ("D0B: O9/l2/l948", "DOB: 09/12/1948"),
            ("D.0.B.  09/12/1948", "D.O.B.  09/12/1948"),
            ("PH0NE (5O9) 555-Ol34", "PHONE (509) 555-0134"),
            ("called 206-5O5-0l42 twice", "called 206-505-0142 twice"),
        ] {
            assert_eq!(mended(text).as_deref(), Some(expected));
        }
    }

    #[test]
    fn codes_that_nothing_calls_a_number_stay() {
        for text in [
            "lot 4l2-S5-9O18",
            "lot 206-5O5-0l42",
            "see ABO-123-O142 and 2O6-5",
            "B12 and O2 2L",
            "SSN unknown, L5-S1 fused",
            "DOB 3/14/1962 on 2L O2",
        ] {
            assert_eq!(mended(text), None, "{text}");
        }
    }
}
