//! Shapes of record numbers, and look-alikes.

use std::ops::Range;

use super::nearest;
use crate::context::{LabelMatch, Strength};
use crate::dates::{DateHit, Form, date_at};
use crate::digits::{is_measured, is_span_of_years};
use crate::labels::Meaning;
use crate::lexicon::{LEXICON, Sense};
use crate::page::{Mark, Page};
use crate::word_list::WordList;

/// The whole value at a mark: groups tied by a sign, letters tied before or after them, a prefix set before them.
pub(super) fn value_span(page: &Page<'_>, index: usize) -> Range<usize> {
    let Range { mut start, mut end } = page.marks[index].range();
    if is_tie(page.byte(end)) {
        end = with_letters_after(page, with_groups_after(page, index));
    }
    if page.byte_before(start).is_ascii_alphabetic() {
        // "MRN482913" is one token; taking half of it would leave a stump.
        return page.word_start_before(start).unwrap_or(start)..end;
    }
    let tie = page.byte_before(start);
    // Only letters in capitals are a prefix, and usually the last letter is enough to check.
    if (is_tie(tie) || tie == b' ')
        && page.byte_before(start - 1).is_ascii_uppercase()
        && let Some(word) = page.word_start_before(start - 1)
    {
        let letters = page.slice(word..start - 1);
        let claim = |word| nearest(page, word).filter(|claim| is_of_record(claim.meaning));
        let before = |word| claim(word).is_some_and(|claim| claim.tie >= Strength::Tight);
        // Letters that are not a word ("Hospital number for transport BU 61 0094").
        let is_house = |word| {
            letters.len() >= 2
                && LEXICON.sense(letters) == Sense::NONE
                && claim(word).is_some_and(|claim| claim.is(Meaning::Mrn))
        };
        let is_code = letters.len() <= 5
            && letters.iter().all(u8::is_ascii_uppercase)
            && !page.byte_before(word).is_ascii_alphanumeric();
        let is_prefix =
            is_code && (is_tie(tie) || letters.len() <= 1 || before(word) || is_house(word));
        // In "MRN-123" and "MR-123" the letters are the label, unless another label precedes them. In "hosp no RX 209
        // 4418" they belong to a hospital, even if they are also an abbreviation.
        let is_the_label = is_prefix
            && page.label_ending_at(start - 1).is_some_and(|label| {
                tie == b' ' && (is_of_record(label.meaning) || letters.len() > 2)
                    || !before(word) && !is_given_as_value(page, word, letters)
            });
        if is_prefix && !is_the_label {
            start = word;
        }
    }
    start..end
}

/// Returns the end of the groups that a sign ties to a mark.
fn with_groups_after(page: &Page<'_>, index: usize) -> usize {
    let Range { start, mut end } = page.marks[index].range();
    let has_slashes = follows_letters_and_slash(page, start);
    for mark in page.marks[index + 1..].iter().take(4) {
        let is_tied = mark.start as usize == end + 1
            && is_tie(page.byte(end))
            && (page.byte(end) != b'/' || has_slashes || is_count_after(page, index, mark))
            && (mark.is_number() || mark.is_code());
        if !is_tied {
            break;
        }
        end = mark.end as usize;
    }
    end
}

/// Whether two letters behind a colon or a quote belong to the value, even if they are a label elsewhere (`id:
/// HN-0023419`, `"MR-20-4471"`).
fn is_given_as_value(page: &Page<'_>, word: usize, letters: &[u8]) -> bool {
    let before = page.slice(word.saturating_sub(2)..word);
    letters.len() == 2 && (before == b": " || before.ends_with(b"\""))
}

/// Whether a short number behind a long one is its volume or year (`87293652/875`, `7712/19`); a date has two
/// slashes.
fn is_count_after(page: &Page<'_>, index: usize, mark: &Mark) -> bool {
    let first = page.marks[index];
    // "9020/2023" is the number of a year.
    let is_year = mark.len() == 4
        && matches!(
            page.slice(mark.range()),
            [b'1', b'9', ..] | [b'2', b'0', ..]
        );
    let is_short = mark.len() <= 3 && mark.len() < first.len() || is_year;
    let start = token_start(page, first.start as usize);
    first.is_number()
        && first.len() >= 4
        && is_short
        && page.byte(mark.end as usize) != b'/'
        && nearest(page, start).is_some_and(|claim| is_called(&claim))
}

/// Returns the start of the token that a value ends, with letters of either case (`44-TR-1029`, `2024/11873`,
/// `zz-99812`).
pub(super) fn token_start(page: &Page<'_>, value: usize) -> usize {
    const PARTS_MAX: usize = 3;
    const PART_BYTES_MAX: usize = 5;
    let mut start = value;
    for _ in 0..PARTS_MAX {
        let Some(end) = start.checked_sub(1).filter(|&end| is_tie(page.byte(end))) else {
            break;
        };
        let before = page.slice(end.saturating_sub(PART_BYTES_MAX + 1)..end);
        let length = before
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count();
        if !(1..=PART_BYTES_MAX).contains(&length) {
            break;
        }
        start = end - length;
    }
    start
}

/// Whether capitals and a slash precede the number (`KEM/22/104477`).
fn follows_letters_and_slash(page: &Page<'_>, start: usize) -> bool {
    page.byte_before(start) == b'/'
        && page.word_start_before(start - 1).is_some_and(|word| {
            let letters = page.slice(word..start - 1);
            letters.len() <= 5 && letters.iter().all(u8::is_ascii_uppercase)
        })
}

/// Whether a byte may tie the groups of a record number.
pub(super) fn is_tie(byte: u8) -> bool {
    matches!(byte, b'-' | b'.' | b'/' | b'_')
}

fn is_called(claim: &LabelMatch) -> bool {
    is_of_record(claim.meaning) && claim.tie >= Strength::Tight
}

fn is_of_record(meaning: Meaning) -> bool {
    matches!(meaning, Meaning::Mrn | Meaning::MrnMaybe)
}

/// Returns the end of a value with the letters tied to it (`X-12345-Z`, `0018-4437-LF`).
fn with_letters_after(page: &Page<'_>, end: usize) -> usize {
    let letters = page
        .slice(end + 1..page.text.len().min(end + 5))
        .iter()
        .take_while(|byte| byte.is_ascii_uppercase())
        .count();
    let is_tied = matches!(page.byte(end), b'-' | b'_')
        && (1..=3).contains(&letters)
        && !page.byte(end + 1 + letters).is_ascii_alphanumeric()
        && page.label_ending_at(end + 1 + letters).is_none();
    if is_tied { end + 1 + letters } else { end }
}

/// Returns a number with the rest that letters or a sign tie to it (`E/77120/M`, `1182-K-09`, `HR 1882/24`).
pub(super) fn with_tied_rest(page: &Page<'_>, span: Range<usize>) -> Range<usize> {
    const REST_MAX: usize = 6;
    let mut end = span.end;
    while is_tie(page.byte(end)) {
        let value = page.slice(span.start..end);
        let has_letters = value.iter().any(u8::is_ascii_alphabetic);
        let rest = page.slice(end + 1..page.text.len().min(end + 2 + REST_MAX));
        let count = |is: fn(&u8) -> bool| rest.iter().take_while(|byte| is(byte)).count();
        let (digits, letters) = (count(u8::is_ascii_digit), count(u8::is_ascii_uppercase));
        let length = digits.max(letters);
        let fits = has_letters && (1..=REST_MAX).contains(&digits)
            || letters == 1 && page.byte(end) != b'.';
        let next = end + 1 + length;
        if !fits || page.byte(next).is_ascii_alphanumeric() || date_starts_at(page, end + 1) {
            break;
        }
        end = next;
    }
    span.start..end
}

/// The most digits a number has that is written in groups.
const GROUPED_DIGITS_MAX: usize = 10;

/// Returns a number with the short groups that follow it by a space, as long as the number is short (`1408 2217`,
/// `551 203`, `12 34 56`, `T100 44 318`, `RQ6 0044187`).
pub(super) fn spaced_groups(page: &Page<'_>, span: Range<usize>) -> Range<usize> {
    if page.byte(span.end) != b' ' {
        return span;
    }
    let count = |span: Range<usize>| {
        page.slice(span)
            .iter()
            .filter(|byte| byte.is_ascii_digit())
            .count()
    };
    let has_letters = page.slice(span.clone()).iter().any(u8::is_ascii_alphabetic);
    let first = count(span.clone());
    let mut end = span.end;
    while (first <= 4 || has_letters) && page.byte(end) == b' ' {
        let group = page
            .slice(end + 1..page.text.len().min(end + 10))
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let next = end + 1 + group;
        let fits = match group {
            3 | 4 => first <= 4,
            // Pairs belong to pairs, or go on.
            2 => {
                first == 2
                    || has_letters && first <= 4
                    || end > span.end
                    || page.byte(next) == b' ' && page.byte(next + 1).is_ascii_digit()
            }
            5..=8 => has_letters && end == span.end && first <= 4,
            // The last digit is a check digit ("PNH 773 10 4").
            1 => has_letters && closes(page, next),
            _ => false,
        };
        if !fits || count(span.start..next) > GROUPED_DIGITS_MAX || !ends_there(page, end + 1, next)
        {
            break;
        }
        end = next;
    }
    // One pair more is a number and its unit: `12 34`.
    let is_short = first <= 2 && !has_letters && count(span.start..end) <= 4;
    span.start..if is_short { span.end } else { end }
}

/// Whether a sign or the end of the line follows.
fn closes(page: &Page<'_>, end: usize) -> bool {
    match page.byte(end) {
        0 | b'\n' | b',' | b';' | b')' | b'"' => true,
        b'.' => !page.byte(end + 1).is_ascii_alphanumeric(),
        b' ' => page.byte(end + 1) == b' ',
        _ => false,
    }
}

/// Whether a group of digits is nothing else: a date, an amount, an age, a piece of another number.
fn ends_there(page: &Page<'_>, start: usize, end: usize) -> bool {
    let after = page.byte(end);
    let goes_on = matches!(after, b'/' | b'-' | b'.' | b':' | b',' | b'%')
        && page.byte(end + 1).is_ascii_digit();
    !after.is_ascii_alphanumeric()
        && !goes_on
        && !date_starts_at(page, start)
        && !is_measured(page, end)
        && !is_age(page, end)
}

/// Whether the digits before are a person's age ("45 yo", "45 M").
fn is_age(page: &Page<'_>, end: usize) -> bool {
    static YEARS: WordList = WordList::new("y yo yr yrs year m f");
    let word = page.slice(end + 1..crate::page::word_end(page.bytes(), end + 1));
    page.byte(end) == b' ' && YEARS.has(word)
}

fn date_starts_at(page: &Page<'_>, at: usize) -> bool {
    page.marks
        .binary_search_by_key(&at, |mark| mark.start as usize)
        .is_ok_and(|index| date_at(page, index).is_some_and(|date| date.form == Form::Full))
}

/// Dates, times, amounts and ages are not record numbers even after "chart".
pub(super) fn is_something_else(page: &Page<'_>, index: usize, span: &Range<usize>) -> bool {
    let value = page.slice(span.clone());
    is_date_or_year(page, index, span)
        || is_amount_or_time(page, span)
        || is_parity(value)
        || is_literal(value)
        || is_span_of_years(value)
}

/// Whether a value is a number or a word of a program (`0x2000000`, `262145u32`, `iso_3166_subset`).
pub(super) fn is_literal(value: &[u8]) -> bool {
    const TYPES: &[&[u8]] = &[
        b"u8", b"u16", b"u32", b"u64", b"u128", b"usize", b"i8", b"i16", b"i32", b"i64", b"i128",
        b"isize",
    ];
    let is_hex = matches!(value, [b'0', b'x' | b'X', digits @ ..] if digits.iter().all(u8::is_ascii_hexdigit));
    let digits = value
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let is_typed = digits > 0 && TYPES.contains(&&value[digits..]);
    let is_word = value.contains(&b'_') && value.last().is_some_and(u8::is_ascii_lowercase);
    is_hex || is_typed || is_word
}

/// Whether a value counts pregnancies and births (`G2P1001`).
fn is_parity(value: &[u8]) -> bool {
    matches!(value, [b'G', pregnant, b'P', births @ ..]
        if pregnant.is_ascii_digit() && births.iter().all(u8::is_ascii_digit))
}

/// Whether a value is three digits and four, as of a telephone (`555-0142`).
pub(super) fn is_local_number(value: &[u8]) -> bool {
    let is_digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    value.len() == 8 && value[3] == b'-' && is_digits(&value[..3]) && is_digits(&value[4..])
}

/// Whether a value is a diagnosis: a letter, two digits and more behind a point (`Z38.00`).
pub(super) fn is_diagnosis(value: &[u8]) -> bool {
    matches!(value, [letter, a, b, b'.', ..]
        if letter.is_ascii_uppercase() && a.is_ascii_digit() && b.is_ascii_digit())
}

/// Whether a value shows the form of a number by zeros ("MRN-0000000").
pub(super) fn is_sample(value: &[u8]) -> bool {
    value
        .iter()
        .filter(|byte| byte.is_ascii_digit())
        .all(|&byte| byte == b'0')
}

pub(super) fn is_date_or_year(page: &Page<'_>, index: usize, span: &Range<usize>) -> bool {
    let value = page.slice(span.clone());
    // "ur. 12.03.1948": the Polish word for "born" is also short for "unit record".
    let is_dotted = |date: &DateHit| {
        let text = page.slice(date.span.clone());
        date.form == Form::Full && text.len() == 10 && text[2] == b'.' && text[5] == b'.'
    };
    let is_date = |date: DateHit| {
        let is_iso = date.span.len() == 10 && page.byte(date.span.start + 4) == b'-';
        // "2023-03-14T08:30": the date of a time stamp, with its hour.
        let is_stamp = is_iso && date.span.start == span.start && value.get(10) == Some(&b'T');
        date.span == *span && (is_iso || value.contains(&b'/')) || is_stamp || is_dotted(&date)
    };
    // "2023-03-14T08", "3 XI 1962": what goes on inside a date that began before.
    let is_next = index
        .checked_sub(1)
        .is_some_and(|before| page.marks[before].end as usize + 1 == span.start);
    let is_inside_date = || {
        is_next
            && (index.saturating_sub(2)..index).any(|before| {
                date_at(page, before)
                    .is_some_and(|date| date.form == Form::Full && date.span.contains(&span.start))
            })
    };
    let is_month = matches!(
        value,
        [b'1', b'9', _, _, b'-', b'0' | b'1', _] | [b'2', b'0', _, _, b'-', b'0' | b'1', _]
    );
    let is_year = value.len() == 4 && (value.starts_with(b"19") || value.starts_with(b"20"));
    // "09:12:27.124" is the rest of a time.
    let before = page.slice(span.start.saturating_sub(6)..span.start);
    let is_clock = matches!(before, [h, i, b':', m, n, b':']
        if [h, i, m, n].iter().all(|byte| byte.is_ascii_digit()));
    // "30 VI 1937": a month in Roman numerals and its year.
    let is_roman = value.len() >= 6
        && matches!(
            value[value.len() - 5..],
            [b' ', b'1', b'9', _, _] | [b' ', b'2', b'0', _, _]
        )
        && value[..value.len() - 5]
            .iter()
            .all(|byte| matches!(byte, b'I' | b'V' | b'X'));
    is_year
        || is_month
        || is_clock
        || is_roman
        || date_at(page, index).is_some_and(is_date)
        || is_inside_date()
}

pub(super) fn is_amount_or_time(page: &Page<'_>, span: &Range<usize>) -> bool {
    let before = page.byte_before(span.start);
    let after = page.byte(span.end);
    let is_amount = before == b'$'
        || after == b'%'
        || before == b'.' && page.byte_before(span.start - 1).is_ascii_digit();
    let is_time = after == b':' && page.byte(span.end + 1).is_ascii_digit();
    is_amount || is_time || is_measured(page, span.end)
}
