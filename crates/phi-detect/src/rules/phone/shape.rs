//! Forms of telephone numbers: groups, country codes and extensions.

use std::ops::Range;

use crate::digits::{Run, is_span_of_years};
use crate::kinds::{Evidence, Shape};
use crate::page::{Page, is_word_byte};

/// Ten digits or more in groups; shorter numbers may be a range.
pub(super) fn is_clear(run: &Run) -> bool {
    run.digit_count >= 10 && run.marks >= 3
}

/// Returns the last four digits of a second number that differs only in them (`206-555-0142/0143`).
pub(super) fn other_ending(page: &Page<'_>, end: usize) -> Option<Range<usize>> {
    let rest = page.slice(end..page.text.len().min(end + 6));
    let digits = rest.iter().skip(1).take_while(|byte| byte.is_ascii_digit());
    let is_four = digits.count() == 4 && !rest.get(5).is_some_and(|&byte| is_word_byte(byte));
    (rest.starts_with(b"/") && is_four && !goes_on(page, end + 5)).then_some(end + 1..end + 5)
}

/// Ten digits in the North American grouping, with or without the country code: grouped by signs in the right
/// places, spaced, or unbroken, which says least.
pub(super) fn north_american(page: &Page<'_>, index: usize) -> Option<(Range<usize>, Shape)> {
    let marks = &page.marks[index..];
    let first = marks[0];
    let country = if first.len() == 1 && page.byte(first.start as usize) == b'1'
        || first.len() == 3 && page.slice(first.range()) == b"001"
    {
        1
    } else {
        0
    };
    let with_country = Run::read(page, index + country, &[3, 3, 4], is_separator).filter(|_| {
        country == 0 || is_separator(page.slice(first.end as usize..marks[1].start as usize))
    });
    if let Some(run) = with_country {
        let start = first.start as usize;
        let second = marks[country + 1].start as usize;
        let is_valid = [run.span.start, second]
            .iter()
            .all(|&group| matches!(page.byte(group), b'2'..=b'9'));
        let country = (country == 1).then_some(start);
        return Some(in_groups(page, &run, is_valid, country));
    }
    // "(206)5550142".
    if let Some(run) = Run::read(page, index, &[3, 7], |between| {
        matches!(between, b")" | b") ")
    }) && page.byte_before(run.span.start) == b'('
    {
        return Some((run.span.start - 1..run.span.end, Shape::Grouped));
    }
    // "956 5550128".
    if let Some(run) = Run::read(page, index, &[3, 7], |between| {
        matches!(between, b" " | b"-" | b".")
    }) && matches!(page.byte(run.span.start), b'2'..=b'9')
    {
        let is_valid = matches!(page.byte(run.span.start + 4), b'2'..=b'9');
        let shape = if is_valid {
            Shape::Spaced
        } else {
            Shape::Unbroken
        };
        return Some((run.span, shape));
    }
    let value = page.slice(first.range());
    let is_plain = match value.len() {
        10 => matches!(value[0], b'2'..=b'9'),
        11 => value[0] == b'1' && matches!(value[1], b'2'..=b'9'),
        _ => false,
    };
    is_plain.then(|| (first.range(), Shape::Unbroken))
}

/// Three groups of 3-3-4 digits, whether area and exchange are valid, and the place of a country code before them.
fn in_groups(
    page: &Page<'_>,
    run: &Run,
    is_valid: bool,
    country: Option<usize>,
) -> (Range<usize>, Shape) {
    let separators = page.slice(run.span.clone());
    let is_spaced = !separators
        .iter()
        .any(|byte| matches!(byte, b'-' | b'.' | b'(' | b')' | b'/'));
    // Lines of one number each are a list.
    let is_list = separators.iter().filter(|&&byte| byte == b'\n').count() > 1;
    let opens = page.byte_before(run.span.start) == b'(' && separators.contains(&b')');
    let start = country.unwrap_or(run.span.start - usize::from(opens));
    let shape = match (
        is_spaced,
        !is_list && (is_valid || country.is_some() || opens),
    ) {
        (true, true) => Shape::Spaced,
        (true, false) => Shape::Unbroken,
        (false, _) => Shape::Grouped,
    };
    (start..run.span.end, shape)
}

/// Returns a country code and up to fifteen digits after "+".
pub(super) fn international(page: &Page<'_>, run: &Run) -> Option<(Range<usize>, Shape, Evidence)> {
    let mut digits = run.digit_count;
    let mut end = run.span.end;
    // After +1 come ten digits; what follows on another line is something else.
    if page.byte(run.span.start) == b'1' && digits > 11 {
        let eleventh = page
            .slice(run.span.clone())
            .iter()
            .enumerate()
            .filter(|(_, byte)| byte.is_ascii_digit())
            .nth(10)?;
        end = run.span.start + eleventh.0 + 1;
        digits = 11;
        if page.byte(end).is_ascii_digit() {
            return None;
        }
    }
    // "+0456-05220": degrees and minutes, north and west.
    let lengths = run.lengths(page);
    if run.marks == 2
        && lengths[..2] == [4, 5]
        && matches!(page.byte(run.span.start + 5), b'0' | b'1')
    {
        return None;
    }
    let opens = page.byte_before(run.span.start - 1) == b'('
        && page.slice(run.span.clone()).contains(&b')');
    let span = run.span.start - 1 - usize::from(opens)..end;
    let before = page.byte_before(span.start);
    let stands_alone = !before.is_ascii_alphanumeric();
    ((8..=15).contains(&digits) && stands_alone).then_some((
        span,
        Shape::International,
        Evidence::Form,
    ))
}

/// Takes a directly attached extension into the number: "x123", "ext. 44", "#5".
pub(super) fn with_extension(page: &Page<'_>, span: Range<usize>) -> Range<usize> {
    let bytes = page.bytes();
    let mut at = span.end;
    while at < bytes.len() && at < span.end + 2 && matches!(bytes[at], b' ' | b',') {
        at += 1;
    }
    let word = &bytes[at..crate::page::word_end(bytes, at)];
    let is_extension = [b"x".as_slice(), b"ext", b"extension", b"extn"]
        .iter()
        .any(|one| word.eq_ignore_ascii_case(one));
    if !is_extension {
        return span;
    }
    at += word.len();
    let gap = bytes[at..]
        .iter()
        .take(2)
        .take_while(|byte| matches!(byte, b' ' | b'.' | b':' | b'#'))
        .count();
    at += gap;
    let digits = bytes[at.min(bytes.len())..]
        .iter()
        .take(7)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if (1..=6).contains(&digits) {
        span.start..at + digits
    } else {
        span
    }
}

pub(super) fn is_separator(between: &[u8]) -> bool {
    matches!(
        between,
        b"-" | b"."
            | b" "
            | b") "
            | b")"
            | b")-"
            | b"("
            | b" ("
            | b"-("
            | b" - "
            | b"/"
            | b". "
            | b" . "
            | b"- "
            | b" -"
            | b").",
    ) || matches!(
        between,
        b" / " | b"(0)" | b"\n" | b"-\n" | b"-\r\n" | b"  " | b"_"
    )
}

/// Whether the number is the tail of something longer.
pub(super) fn is_tied_before(page: &Page<'_>, start: usize) -> bool {
    let before = page.byte_before(start);
    let second = page.byte_before(start.saturating_sub(1));
    let has_tie = matches!(before, b'-' | b'.' | b'/' | b'_' | b':' | b',')
        && second.is_ascii_alphanumeric()
        && (second.is_ascii_digit() || before == b'/')
        || matches!(before, b'$' | b'#' if second.is_ascii_alphanumeric());
    // "cell#2065550142".
    has_tie && !page.is_field_edge(start) && page.label_ending_at(start).is_none()
}

/// Whether the number goes on after its end: `555-0142-88`, `555.01.2`, `5550142%`.
pub(super) fn goes_on(page: &Page<'_>, end: usize) -> bool {
    if page.is_field_edge(end) {
        return false;
    }
    let after = page.byte(end);
    matches!(after, b'-' | b'.' | b'/' | b':' | b'_') && page.byte(end + 1).is_ascii_digit()
        || after == b'%'
}

/// National drug codes: 4-4-2, 5-4-2, 5-3-2.
pub(super) fn is_drug_code(lengths: &[usize]) -> bool {
    matches!(lengths, [4 | 5, 3 | 4, 2 | 1])
}

pub(super) fn looks_like_date(
    page: &Page<'_>,
    run: &Run,
    lengths: &[usize],
    is_called_phone: bool,
) -> bool {
    // "(c) 1998-2004" is not a cell phone.
    if !is_called_phone && is_span_of_years(page.slice(run.span.clone())) {
        return true;
    }
    let first = page.slice(run.span.start..run.span.start + 2);
    match lengths {
        [4, 1 | 2, 1 | 2, ..] => first == b"19" || first == b"20",
        [1 | 2, 1 | 2, 4] => true,
        _ => false,
    }
}

/// Whether a run is three digits and four ("Roe 555-0142").
pub(super) fn is_local(page: &Page<'_>, run: &Run) -> bool {
    run.lengths(page)[..2] == [3, 4]
        && run.marks == 2
        && page.byte(run.span.start + 3) == b'-'
        && matches!(page.byte(run.span.start), b'2'..=b'9')
}

/// Whether a run is nine to eleven digits in groups ("955 550 118", "98450 00123", "0413 555 016").
pub(super) fn is_grouped(page: &Page<'_>, run: &Run) -> bool {
    let all = run.lengths(page);
    let lengths = &all[..run.marks.min(all.len())];
    let opens = page.byte(run.span.start);
    let fits = matches!(
        lengths,
        [3, 3, 3 | 4]
            | [3, 4, 3]
            | [3, 2, 2, 2]
            | [5, 5 | 6]
            | [3 | 4, 6]
            | [4, 3, 3 | 4]
            | [5, 2, 3]
            | [5, 3, 3 | 4]
            | [2, 3..=5, 4]
            | [2, 1, 4, 4]
            | [4, 7]
    ) || lengths == [2, 8] && opens == b'0';
    let is_mobile = matches!(opens, b'0' | b'6'..=b'9')
        || lengths.len() >= 3 && opens != b'1' && lengths[0] == 2;
    fits && is_mobile && !is_drug_code(lengths) && !looks_like_date(page, run, lengths, false)
}
