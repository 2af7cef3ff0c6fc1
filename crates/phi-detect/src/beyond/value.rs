//! Values of the kinds beyond the eight: the number behind a label, and numbers that their check digits show.

use std::ops::Range;

use super::{Proposals, named};
use crate::kinds::PhiKind;
use crate::page::Page;

/// Scores of a value that a sign or a word ties to its label, and of one that only follows it.
const TIED: f32 = 0.85;
const LOOSE: f32 = 0.7;

/// The value of a kind that begins at a place, and its score.
pub(super) fn of_kind(
    page: &Page<'_>,
    kind: PhiKind,
    start: usize,
    is_signed: bool,
) -> Option<(Range<usize>, f32)> {
    if kind.rule().number.is_some() {
        let span = number(page, kind, start)?;
        return Some((span, if is_signed { TIED } else { LOOSE }));
    }
    match kind.code() {
        "username" => login(page, start, is_signed),
        "age" => age(page, start).map(|span| (span, TIED)),
        "place" | "facility" if is_signed => named::cell(page, start).map(|span| (span, 0.6)),
        "place" | "facility" => named::phrase(page, start).map(|span| (span, 0.4)),
        _ => None,
    }
}

/// The value of a kind that fills a cell of a table.
pub(super) fn of_cell(page: &Page<'_>, kind: PhiKind, cell: Range<usize>) -> Option<Range<usize>> {
    let (span, _) = of_kind(page, kind, cell.start, true)?;
    (span.end <= cell.end).then_some(span)
}

/// A number with letters, dashes and groups, as its kind writes it.
fn number(page: &Page<'_>, kind: PhiKind, start: usize) -> Option<Range<usize>> {
    let form = kind.rule().number.as_ref()?;
    let bytes = page.bytes();
    let mut end = token_end(bytes, start);
    let count = |end: usize| {
        let text = &bytes[start..end];
        let letters = text.iter().filter(|byte| byte.is_ascii_alphanumeric());
        let digits = text.iter().filter(|byte| byte.is_ascii_digit());
        (letters.count(), digits.count())
    };
    // Groups set off by one space: "4539 1488 0343 6467", "AB12 CDE".
    for _ in 0..4 {
        if bytes.get(end) != Some(&b' ') {
            break;
        }
        let next = token_end(bytes, end + 1);
        let group = &bytes[end + 1..next];
        let is_figures = group.len() >= 2 && group.iter().all(u8::is_ascii_digit);
        let is_capitals = kind.code() == "vehicle"
            && (2..=4).contains(&group.len())
            && group
                .iter()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let last = &bytes[start..end];
        let is_open = last
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b' ')
            || is_capitals;
        if !is_open
            || !(is_figures || is_capitals)
            || !form.length.contains(&count(next).0) && count(end).0 >= *form.length.start()
        {
            break;
        }
        end = next;
    }
    if is_date(&bytes[start..end]) {
        return None;
    }
    let (letters, digits) = count(end);
    let is_word = page.byte_before(start).is_ascii_alphanumeric();
    (!is_word && form.length.contains(&letters) && digits >= form.digits_min).then_some(start..end)
}

/// Whether a token has the form of a calendar date.
fn is_date(token: &[u8]) -> bool {
    let mut lengths = [0; 3];
    let parts = token.split(|byte| matches!(byte, b'-' | b'/' | b'.'));
    for (place, part) in parts.enumerate() {
        let Some(length) = lengths.get_mut(place) else {
            return false;
        };
        if !part.iter().all(u8::is_ascii_digit) {
            return false;
        }
        *length = part.len();
    }
    matches!(lengths, [4, 1..=2, 1..=2] | [1..=2, 1..=2, 2 | 4])
}

/// The end of a run of letters, figures and the signs between them.
fn token_end(bytes: &[u8], start: usize) -> usize {
    const LONGEST: usize = 48;
    let rest = &bytes[start.min(bytes.len())..bytes.len().min(start + LONGEST)];
    let is_inner =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'/' | b'.' | b'_');
    let length = rest.iter().take_while(|byte| is_inner(byte)).count();
    let last = rest[..length].iter().rposition(u8::is_ascii_alphanumeric);
    start + last.map_or(0, |last| last + 1)
}

/// A name of a login: a plain word counts only behind a sign.
fn login(page: &Page<'_>, start: usize, is_signed: bool) -> Option<(Range<usize>, f32)> {
    const LONGEST: usize = 40;
    let bytes = page.bytes();
    let from = start + usize::from(page.byte(start) == b'@');
    let rest = &bytes[from..bytes.len().min(from + LONGEST)];
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let length = rest.iter().take_while(|byte| is_inner(byte)).count();
    let last = rest[..length].iter().rposition(u8::is_ascii_alphanumeric)?;
    let text = &rest[..=last];
    let is_free = !matches!(bytes.get(from + text.len()), Some(b'@' | b'(' | b'/'));
    let has_figures = text.iter().any(u8::is_ascii_digit);
    let is_odd = has_figures && text.iter().any(u8::is_ascii_alphabetic)
        || from > start
        || text[..last].iter().any(|byte| matches!(byte, b'_' | b'.'));
    let score = match (is_odd, is_signed) {
        (true, true) => 0.85,
        (true, false) => 0.7,
        (false, true) => 0.3,
        (false, false) => return None,
    };
    (is_free && text.len() >= 3 && text.iter().any(u8::is_ascii_alphabetic))
        .then_some((start..from + text.len(), score))
}

/// An age over 89 in figures.
pub(super) fn age(page: &Page<'_>, start: usize) -> Option<Range<usize>> {
    let figures = page.bytes()[start..]
        .iter()
        .take(4)
        .take_while(|byte| byte.is_ascii_digit());
    let end = start + figures.count();
    let is_decimal = page.byte(end) == b'.' && page.byte(end + 1).is_ascii_digit();
    let is_whole = !is_decimal && page.byte(end) != b'+';
    (is_whole && is_over_89(page.slice(start..end))).then_some(start..end)
}

/// Whether figures are an age over 89.
pub(super) fn is_over_89(figures: &[u8]) -> bool {
    matches!(
        figures,
        [b'9', b'0'..=b'9'] | [b'1', b'0' | b'1', b'0'..=b'9']
    )
}

/// Proposes numbers that their form and check digits show: cards, IBANs, vehicles.
pub(super) fn find(page: &Page<'_>, out: &mut Proposals<'_>) {
    let kind = PhiKind::from_code;
    let (Some(account), Some(vehicle)) = (kind("account"), kind("vehicle")) else {
        return;
    };
    for index in page.each_number() {
        let start = page.marks[index].start as usize;
        if page.byte_before(start).is_ascii_alphanumeric() {
            continue;
        }
        let end = token_end(page.bytes(), start);
        let text = page.slice(start..end);
        if is_vin(text) {
            out.push(page, vehicle, start..end, 0.85, "vehicle.check");
        } else if is_iban(text) {
            out.push(page, account, start..end, 0.9, "account.iban");
        } else if let Some(end) = card(page, start) {
            out.push(page, account, start..end, 0.85, "account.card");
        }
    }
}

/// The end of a card number in its usual groups, or in one.
fn card(page: &Page<'_>, start: usize) -> Option<usize> {
    let bytes = page.bytes();
    if !matches!(bytes[start], b'3'..=b'6') {
        return None;
    }
    let mut digits = [0_u8; 19];
    let (mut count, mut end, mut groups) = (0, start, [0_usize; 6]);
    let mut group = 0;
    let rest = &bytes[start..bytes.len().min(start + 24)];
    for (at, byte) in (start..).zip(rest) {
        match *byte {
            byte if byte.is_ascii_digit() => {
                *digits.get_mut(count)? = byte - b'0';
                count += 1;
                *groups.get_mut(group)? += 1;
                end = at + 1;
            }
            b' ' | b'-' if at == end => group += 1,
            _ => break,
        }
    }
    let is_grouped = match &groups[..=group.min(5)] {
        [4, 4, 4, 4, ..] => count == 16,
        [4, 6, 5, ..] => count == 15,
        [15] => bytes[start] == b'3' && matches!(bytes[start + 1], b'4' | b'7'),
        [16] => true,
        _ => false,
    };
    (is_grouped && has_luhn_digit(&digits[..count])).then_some(end)
}

/// Whether the last digit is the check digit of the others by Luhn's method.
fn has_luhn_digit(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .zip([false, true].into_iter().cycle())
        .map(|(&digit, is_doubled)| match u32::from(digit) {
            digit if is_doubled => digit * 2 / 10 + digit * 2 % 10,
            digit => digit,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Whether a text is an IBAN: remainder 1 by 97, its first four characters last.
fn is_iban(text: &[u8]) -> bool {
    let is_form = (15..=34).contains(&text.len())
        && text[..2].iter().all(u8::is_ascii_uppercase)
        && text[2..4].iter().all(u8::is_ascii_digit)
        && text[4..]
            .iter()
            .all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    let remainder = |text: &[u8]| {
        let turned = text[4..].iter().chain(&text[..4]);
        turned.fold(0_u32, |sum, byte| match byte {
            b'0'..=b'9' => (sum * 10 + u32::from(byte - b'0')) % 97,
            _ => (sum * 100 + u32::from(byte - b'A') + 10) % 97,
        })
    };
    is_form && remainder(text) == 1
}

/// Whether a text is a vehicle identification number with its check digit (ISO 3779, 49 CFR 565).
fn is_vin(text: &[u8]) -> bool {
    const WEIGHTS: [u32; 17] = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
    const VALUES: &[u8; 26] = b"12345678012345070923456789";
    let value = |byte: u8| match byte {
        b'0'..=b'9' => Some(u32::from(byte - b'0')),
        b'I' | b'O' | b'Q' => None,
        b'A'..=b'Z' => Some(u32::from(VALUES[usize::from(byte - b'A')] - b'0')),
        _ => None,
    };
    if text.len() != WEIGHTS.len() || !text.iter().any(u8::is_ascii_alphabetic) {
        return false;
    }
    let sum = text
        .iter()
        .zip(WEIGHTS)
        .try_fold(0, |sum, (&byte, weight)| Some(sum + value(byte)? * weight));
    sum.is_some_and(|sum| match sum % 11 {
        10 => text[8] == b'X',
        digit => u32::from(text[8].wrapping_sub(b'0')) == digit,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_tell_numbers_apart() {
        assert!(is_vin(b"1HGCM82633A004352") && !is_vin(b"1HGCM82634A004352"));
        assert!(is_iban(b"DE89370400440532013000") && !is_iban(b"DE88370400440532013000"));
        let page = Page::new("4539 1488 0343 6467, 4539 1488 0343 6468");
        assert_eq!((card(&page, 0), card(&page, 21)), (Some(19), None));
    }
}
