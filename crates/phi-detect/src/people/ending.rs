//! Names read backwards from their end.

use std::ops::Range;

use super::{Part, part_at};
use crate::lexicon::Sense;
use crate::page::{Page, is_word_byte};

/// Returns the start of a surname and comma directly before a given name ("Galloway, Leah").
pub(crate) fn surname_before(page: &Page<'_>, given: usize) -> Option<usize> {
    let comma = given.checked_sub(2)?;
    if page.slice(comma..given) != b", " {
        return None;
    }
    let (_, mut start) = page.word_before(comma)?;
    while start > 1
        && matches!(page.byte(start - 1), b'-' | b'\'')
        && page.byte(start - 2).is_ascii_alphabetic()
    {
        start = page.word_before(start - 1)?.1;
    }
    let part = part_at(page, start)?;
    let is_free = !is_word_byte(page.byte_before(start));
    let is_listed = part
        .sense
        .has(Sense::STOP | Sense::LABEL | Sense::STATE | Sense::CREDENTIAL | Sense::EPONYM_TAIL)
        && !part.sense.has(Sense::GIVEN);
    let in_a_list = page.byte_before(start) == b' ' && page.byte_before(start - 1) == b',';
    // "ROE, JANE" is a name, "SPE, Ana" a list of tests.
    let is_acronym = part.span.len() <= 4
        && page
            .slice(part.span.clone())
            .iter()
            .all(u8::is_ascii_uppercase)
        && page
            .slice(given..given + 4)
            .iter()
            .any(u8::is_ascii_lowercase);
    let looks_right =
        part.is_capital && part.span.len() > 1 && page.byte(given).is_ascii_uppercase();
    let is_company = page.byte_before(start) == b' ' && page.byte_before(start - 1) == b'&';
    let is_other = is_company
        || ends_another_name(page, start)
        || is_between_two(page, start, given)
        || is_pair_of_places(page, &part, given);
    (looks_right && is_free && !is_listed && !in_a_list && !is_acronym && !is_other)
        .then_some(start)
}

/// Whether the surname has its given name already, so that the comma separates two people ("Lena Ruiz, Omar Diaz").
fn ends_another_name(page: &Page<'_>, surname: usize) -> bool {
    let Some(end) = surname
        .checked_sub(1)
        .filter(|&before| page.byte(before) == b' ')
    else {
        return false;
    };
    // "WILLIS III, RICHARD".
    let is_suffix = [
        b"II, ".as_slice(),
        b"III,",
        b"IV, ",
        b"Jr, ",
        b"JR, ",
        b"Sr, ",
    ]
    .contains(&page.slice(surname..surname + 4));
    let end = end - usize::from(page.byte_before(end) == b'.');
    !is_suffix
        && page.word_before(end).is_some_and(|(sense, start)| {
            let is_initial = end - start == 1;
            let is_given = sense.has(Sense::GIVEN) && !sense.has(Sense::PARTICLE | Sense::LABEL);
            page.byte(start).is_ascii_uppercase() && (is_given || is_initial)
        })
}

/// Whether each side of a comma is a whole name: a capitalised word precedes the surname, and another follows the
/// given name ("Sheetal Patel, Johnathan Anderson").
fn is_between_two(page: &Page<'_>, surname: usize, given: usize) -> bool {
    let is_name_word = |start: usize, sense: Sense| {
        let is_other =
            sense.has(Sense::STOP | Sense::LABEL | Sense::TITLE | Sense::ROLE | Sense::PARTICLE);
        page.byte(start).is_ascii_uppercase()
            && page.byte(start + 1).is_ascii_lowercase()
            && !is_other
    };
    let before = surname
        .checked_sub(1)
        .filter(|&space| page.byte(space) == b' ')
        .and_then(|space| page.word_before(space))
        .is_some_and(|(sense, start)| is_name_word(start, sense));
    let after = page.word_end_at(given).is_some_and(|end| {
        page.byte(end) == b' '
            && page
                .word_at(end + 1)
                .is_some_and(|(sense, _)| is_name_word(end + 1, sense))
    });
    before && after
}

/// Whether both words are countries or states that are given names as well ("Jordan, Chad").
fn is_pair_of_places(page: &Page<'_>, surname: &Part, given: usize) -> bool {
    let place = Sense::COUNTRY | Sense::STATE;
    surname.sense.has(place)
        && page
            .word_at(given)
            .is_some_and(|(sense, _)| sense.has(place))
}

/// The name before an address in angle brackets: `"Mark Roe" <mark@example.com>`.
pub(crate) fn display_name_before(page: &Page<'_>, sign: usize) -> Option<Range<usize>> {
    let head = page.slice(sign.saturating_sub(64)..sign);
    let bracket = sign - head.len() + head.iter().rposition(|&byte| byte == b'<')?;
    let is_mailbox = !page.slice(bracket + 1..sign).contains(&b' ');
    let mut end = bracket;
    while end > 0 && matches!(page.byte(end - 1), b' ' | b'"') && bracket - end < 3 {
        end -= 1;
    }
    let mut start = end;
    for _ in 0..3 {
        let (sense, word) = page.word_before(start)?;
        if !page.byte(word).is_ascii_uppercase()
            || sense.has(Sense::STOP) && !sense.has(Sense::GIVEN_WORD)
        {
            break;
        }
        start = word;
        if page.byte_before(start) != b' ' {
            break;
        }
        start -= 1;
    }
    start += usize::from(page.byte(start) == b' ');
    let words = page.slice(start..end).split(|&byte| byte == b' ').count();
    (is_mailbox && start < end && words >= 2).then_some(start..end)
}

/// The name before a degree: "R. Jones, RN", "Sarah Connor MD".
pub(crate) fn name_before_degree(page: &Page<'_>, degree: usize) -> Option<Range<usize>> {
    // "MD-80" is a plane.
    let degree_end = page.word_end_at(degree).unwrap_or(degree);
    let is_code =
        matches!(page.byte(degree_end), b'-' | b'/') && page.byte(degree_end + 1).is_ascii_digit();
    if !page.byte(degree).is_ascii_uppercase() || is_code {
        return None;
    }
    let end = degree - usize::from(page.byte_before(degree) == b' ');
    let end = end - usize::from(page.byte_before(end) == b',');
    let mut start = end;
    let mut parts = 0;
    while parts < 4 {
        let word_end = start - usize::from(parts > 0 && page.byte_before(start) == b' ');
        let word_end = word_end - usize::from(parts > 0 && page.byte_before(word_end) == b'.');
        if parts > 0 && word_end == start {
            break;
        }
        let Some((sense, word)) = page.word_before(word_end) else {
            break;
        };
        let is_other = sense.has(Sense::STOP | Sense::LABEL | Sense::TITLE | Sense::CREDENTIAL)
            && !sense.has(Sense::GIVEN | Sense::GIVEN_WORD);
        if !page.byte(word).is_ascii_uppercase() || is_other || parts == 0 && word_end - word < 2 {
            break;
        }
        start = word;
        parts += 1;
    }
    (end < degree && parts >= 2).then_some(start..end)
}

/// Whether a full name, given name first, ends exactly here.
pub(crate) fn ends_full_name(page: &Page<'_>, end: usize) -> bool {
    let Some((last, last_start)) = page.word_before(end) else {
        return false;
    };
    let is_capital = page.byte(last_start).is_ascii_uppercase() && !last.has(Sense::STOP);
    let mut at = last_start;
    // Up to two words before the last, one of them a given name.
    for _ in 0..2 {
        if page.byte_before(at) != b' ' {
            return false;
        }
        let word_end = at - 1 - usize::from(page.byte_before(at - 1) == b'.');
        match page.word_before(word_end) {
            Some((sense, _)) if sense.has(Sense::GIVEN) => return is_capital,
            Some((_, start)) => at = start,
            None => return false,
        }
    }
    false
}

/// Whether "Last, First" ends exactly here.
pub(crate) fn ends_last_first(page: &Page<'_>, end: usize) -> bool {
    page.word_before(end).is_some_and(|(sense, start)| {
        sense.has(Sense::GIVEN) && surname_before(page, start).is_some()
    })
}
