//! Reads calendar dates in the forms people write them.

use std::ops::Range;

use crate::lexicon::Sense;
use crate::page::Page;

/// A date in the text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DateHit {
    pub(crate) span: Range<usize>,
    pub(crate) form: Form,
}

/// How a date is written, as far as it matters for trusting it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Day, month and year.
    Full,
    /// Day and month in words, without a year.
    DayMonth,
    /// Two numbers and a slash: a day and month, a fraction or a ratio.
    Fraction,
    /// Digits without separators, or pairs of them: could be any number.
    Compact,
}

/// The date that starts at, or is built round, this mark.
pub(crate) fn date_at(page: &Page<'_>, index: usize) -> Option<DateHit> {
    let mark = page.marks[index];
    if mark.sense.has(Sense::MONTH) {
        return round_month(page, mark.range());
    }
    if mark.is_number() {
        return numeric(page, index)
            .or_else(|| spread(page, mark.start as usize))
            .or_else(|| compact(page, mark.range()));
    }
    if mark.is_code() {
        return month_inside(page, mark.range());
    }
    None
}

/// `03/14/1962`, `1962-03-14`, `14.3.62`, `03 14 1962`, and `3/14`.
fn numeric(page: &Page<'_>, index: usize) -> Option<DateHit> {
    let first = page.marks[index];
    let second = *page.marks.get(index + 1)?;
    let separator = page.byte(first.end as usize);
    let is_separated = matches!(separator, b'/' | b'-' | b'.' | b' ' | b'_')
        && second.start == first.end + 1
        && second.is_number();
    if !is_separated
        || first.len() > 4
        || second.len() > 2
        || is_tied_before(page, first.start as usize)
    {
        return None;
    }
    let third = page.marks.get(index + 2).filter(|third| {
        third.start == second.end + 1 && page.byte(second.end as usize) == separator
    });
    let one = number(page, first.range());
    let two = number(page, second.range());
    if let Some(third) = third {
        let digits = leading_digits(page, third.range());
        let three = number(page, digits.clone());
        let is_whole = digits.end == third.end as usize;
        let has_time = page.byte(digits.end) == b'T';
        let is_date = match (first.len(), digits.len()) {
            (4, 1 | 2) => is_year(one) && is_month_day(two, three) && (is_whole || has_time),
            (1 | 2, 4) => is_year(three) && is_either_order(one, two) && is_whole,
            (1 | 2, 2) => is_either_order(one, two) && is_whole,
            _ => false,
        };
        let goes_on = matches!(page.byte(digits.end), b'-' | b'.' | b'/')
            && page.byte(digits.end + 1).is_ascii_digit();
        return (is_date && !goes_on).then_some(DateHit {
            span: first.start as usize..digits.end,
            form: if separator == b' ' && digits.len() == 2 {
                Form::Compact
            } else {
                Form::Full
            },
        });
    }
    let is_day_month = separator == b'/' && first.len() <= 2 && is_either_order(one, two);
    is_day_month.then_some(DateHit {
        span: first.start as usize..second.end as usize,
        form: Form::Fraction,
    })
}

/// `07 / 23 / 1957`, `0 7 / 3 0 / 1 9 8 9`: as typed into the boxes of a form.
fn spread(page: &Page<'_>, start: usize) -> Option<DateHit> {
    if is_tied_before(page, start) {
        return None;
    }
    let (first, after) = boxes(page, start, 2)?;
    let separator = page.byte(after);
    let (second, next) = boxes(page, box_after(page, after, separator)?, 2)?;
    let (third, end) = boxes(page, box_after(page, next, separator)?, 4)?;
    let end = end - usize::from(page.byte_before(end) == b' ');
    let is_date = is_year(third) && is_either_order(first, second);
    // Bars stand between the boxes of a form, but also between the cells of a table.
    let form = if separator == b'|' {
        Form::Compact
    } else {
        Form::Full
    };
    (matches!(separator, b'/' | b'-' | b'.' | b'|') && is_date).then_some(DateHit {
        span: start..end,
        form,
    })
}

/// Up to `most` digits with at most one space after each, as a number, and where they end.
fn boxes(page: &Page<'_>, start: usize, most: usize) -> Option<(u32, usize)> {
    let mut at = start;
    let mut value = 0;
    for _ in 0..most {
        if !page.byte(at).is_ascii_digit() {
            break;
        }
        value = value * 10 + u32::from(page.byte(at) - b'0');
        at += 1;
        at += usize::from(page.byte(at) == b' ');
    }
    (at > start && !page.byte(at).is_ascii_digit()).then_some((value, at))
}

/// Where the next box starts after a separator.
fn box_after(page: &Page<'_>, at: usize, separator: u8) -> Option<usize> {
    let next = at + 1 + usize::from(page.byte(at + 1) == b' ');
    (page.byte(at) == separator).then_some(next)
}

/// A date said in numbers alone, from its first word on: "twelve, oh one, nineteen fifty-two".
pub(crate) fn spoken_numbers(page: &Page<'_>, start: usize) -> Option<Range<usize>> {
    let mut at = start;
    let mut end = start;
    let mut numbers = 0;
    for _ in 0..9 {
        let Some((sense, word)) = page.word_at(at) else {
            break;
        };
        let is_link = matches!(page.slice(at..word), b"of" | b"the");
        if sense.has(Sense::NUMBER_WORD | Sense::DIGIT_WORD | Sense::ORDINAL)
            && page.slice(at..word) != b"and"
        {
            numbers += 1;
            end = word;
        } else if !is_link || numbers == 0 {
            break;
        }
        at = word
            + page
                .slice(word..page.text.len().min(word + 2))
                .iter()
                .take_while(|byte| matches!(byte, b' ' | b',' | b'-'))
                .count();
    }
    (numbers >= 3).then_some(start..end)
}

/// `19620314`, `03141962`, `031462`, `19620314083000`.
fn compact(page: &Page<'_>, span: Range<usize>) -> Option<DateHit> {
    let digits = page.slice(span.clone());
    let part = |from: usize, to: usize| number(page, span.start + from..span.start + to);
    let is_year_first = |len: usize| {
        digits.len() >= len && is_year(part(0, 4)) && is_month_day(part(4, 6), part(6, 8))
    };
    let is_date = match digits.len() {
        8 => is_year_first(8) || is_year(part(4, 8)) && is_either_order(part(0, 2), part(2, 4)),
        12 | 14 => is_year_first(8),
        6 => is_either_order(part(0, 2), part(2, 4)),
        _ => false,
    };
    is_date.then_some(DateHit {
        span,
        form: Form::Compact,
    })
}

/// `14MAR1962`.
fn month_inside(page: &Page<'_>, span: Range<usize>) -> Option<DateHit> {
    let day = leading_digits(page, span.clone());
    let (sense, word_end) = page.word_at(day.end)?;
    let year = leading_digits(page, word_end..span.end);
    let fits = (1..=2).contains(&day.len())
        && sense.has(Sense::MONTH)
        && matches!(year.len(), 2 | 4)
        && year.end == span.end
        && is_day(number(page, day));
    fits.then_some(DateHit {
        span,
        form: Form::Full,
    })
}

/// `March 14, 1962`, `14 March 1962`, `the fourteenth of March 1962`, `14-Mar-62`, `March 14`.
fn round_month(page: &Page<'_>, month: Range<usize>) -> Option<DateHit> {
    let after_month = after_dot(page, month.end);
    if let Some(day) = day_before(page, month.start) {
        let year = year_after(page, after_month);
        return Some(DateHit {
            form: if year.is_some() {
                Form::Full
            } else {
                Form::DayMonth
            },
            span: day..year.unwrap_or(month.end),
        });
    }
    let day_end = day_after(page, after_month)?;
    let year = year_after(page, day_end);
    Some(DateHit {
        form: if year.is_some() {
            Form::Full
        } else {
            Form::DayMonth
        },
        span: month.start..year.unwrap_or(day_end),
    })
}

fn after_dot(page: &Page<'_>, at: usize) -> usize {
    at + usize::from(page.byte(at) == b'.')
}

/// Where a day that ends before the month starts.
fn day_before(page: &Page<'_>, month: usize) -> Option<usize> {
    let mut end = step_back(page, month)?;
    if let Some((_, start)) = page.word_before(end)
        && matches!(page.slice(start..end), b"of" | b"de" | b"OF" | b"Of")
        && !page.byte_before(start).is_ascii_digit()
    {
        end = step_back(page, start)?;
    }
    // "14", "14th".
    let letters = match page.word_before(end) {
        Some((_, start))
            if is_ordinal_tail(page.slice(start..end))
                && page.byte_before(start).is_ascii_digit() =>
        {
            end - start
        }
        Some((sense, start))
            if sense.has(Sense::ORDINAL | Sense::NUMBER_WORD | Sense::DIGIT_WORD)
                && page.slice(start..end) != b"and" =>
        {
            return Some(tens_before(page, start));
        }
        Some(_) => return None,
        None => 0,
    };
    let digits_end = end - letters;
    let mut start = digits_end;
    while start > 0 && page.byte(start - 1).is_ascii_digit() && digits_end - start < 3 {
        start -= 1;
    }
    let is_free = !matches!(page.byte_before(start), b'.' | b'/' | b'-')
        || !page.byte_before(start.saturating_sub(1)).is_ascii_digit();
    ((1..=2).contains(&(digits_end - start)) && is_day(number(page, start..digits_end)) && is_free)
        .then_some(start)
}

/// "twenty first": takes the tens before an ordinal word.
fn tens_before(page: &Page<'_>, ordinal: usize) -> usize {
    let Some(end) = step_back(page, ordinal) else {
        return ordinal;
    };
    match page.word_before(end) {
        Some((sense, start)) if sense.has(Sense::NUMBER_WORD) => start,
        _ => ordinal,
    }
}

/// Where a day after the month ends: "14", "14th", "the fourteenth".
fn day_after(page: &Page<'_>, after_month: usize) -> Option<usize> {
    let mut at = step(page, after_month, false)?;
    if page.slice(at..at + 4).eq_ignore_ascii_case(b"the ") {
        at += 4;
    }
    let digits = leading_digits(page, at..page.text.len().min(at + 3));
    if !digits.is_empty() {
        let mut end = digits.end;
        if let Some((_, word)) = page.word_at(end) {
            if !is_ordinal_tail(page.slice(end..word)) {
                return None;
            }
            end = word;
        }
        let is_number_going_on =
            matches!(page.byte(end), b'.' | b':' | b'%') && page.byte(end + 1).is_ascii_digit();
        return (digits.len() <= 2 && is_day(number(page, digits)) && !is_number_going_on)
            .then_some(end);
    }
    let (sense, end) = page.word_at(at)?;
    if sense.has(Sense::ORDINAL) {
        return Some(end);
    }
    if sense.has(Sense::NUMBER_WORD) || sense.has(Sense::DIGIT_WORD) {
        let next = step(page, end, false);
        let two = next
            .and_then(|next| page.word_at(next))
            .filter(|(sense, _)| sense.has(Sense::ORDINAL));
        return Some(two.map_or(end, |(_, end)| end));
    }
    None
}

/// Where a year after day or month ends: ", 1962", "62", "nineteen sixty two".
fn year_after(page: &Page<'_>, from: usize) -> Option<usize> {
    let mut at = step(page, from, true)?;
    if matches!(page.slice(at..at + 3), b"of " | b"in " | b"de ") {
        at += 3;
    }
    at += usize::from(page.byte(at) == b'\'');
    let digits = leading_digits(page, at..page.text.len().min(at + 5));
    match digits.len() {
        4 => {
            return (is_year(number(page, digits.clone())) && !goes_on_as_number(page, digits.end))
                .then_some(digits.end);
        }
        2 => {
            let is_tied = matches!(page.byte(from), b'-' | b'/' | b',' | b' ' | b'.' | b'\'');
            let ends = !page.byte(digits.end).is_ascii_alphanumeric()
                && !goes_on_as_number(page, digits.end);
            return (is_tied && ends).then_some(digits.end);
        }
        0 => {}
        _ => return None,
    }
    let (sense, first_end) = page.word_at(at)?;
    const OPENS_A_YEAR: &[&[u8]] = &[
        b"nineteen",
        b"eighteen",
        b"two",
        b"twenty",
        b"thirty",
        b"forty",
        b"fifty",
        b"sixty",
        b"seventy",
        b"eighty",
        b"ninety",
    ];
    let opens_a_year = OPENS_A_YEAR
        .iter()
        .any(|word| page.slice(at..first_end).eq_ignore_ascii_case(word));
    if !opens_a_year || !(sense.has(Sense::NUMBER_WORD) || sense.has(Sense::DIGIT_WORD)) {
        return None;
    }
    let mut end = first_end;
    for _ in 0..4 {
        let next = page.byte(end);
        if next != b' ' && next != b'-' {
            break;
        }
        match page.word_at(end + 1) {
            Some((sense, word))
                if sense.has(Sense::NUMBER_WORD) || sense.has(Sense::DIGIT_WORD) =>
            {
                end = word;
            }
            _ => break,
        }
    }
    (end > first_end).then_some(end)
}

fn goes_on_as_number(page: &Page<'_>, end: usize) -> bool {
    page.byte(end).is_ascii_digit()
        || matches!(page.byte(end), b'.' | b':' | b'/' | b'%')
            && page.byte(end + 1).is_ascii_digit()
}

/// Steps over the white space or the sign between two parts of a date.
fn step(page: &Page<'_>, from: usize, comma: bool) -> Option<usize> {
    let mut at = from;
    while at < from + 3 {
        match page.byte(at) {
            b' ' | b'-' | b'/' | b'.' | b'\n' | b'\t' => at += 1,
            b',' if comma => at += 1,
            _ => break,
        }
    }
    (at > from).then_some(at)
}

fn step_back(page: &Page<'_>, to: usize) -> Option<usize> {
    let mut at = to;
    while at > 0
        && to - at < 2
        && matches!(page.byte(at - 1), b' ' | b'-' | b'/' | b'.' | b',' | b'\n')
    {
        at -= 1;
    }
    (at < to && at > 0).then_some(at)
}

fn leading_digits(page: &Page<'_>, span: Range<usize>) -> Range<usize> {
    let length = page
        .slice(span.clone())
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    span.start..span.start + length
}

fn number(page: &Page<'_>, span: Range<usize>) -> u32 {
    page.slice(span).iter().fold(0u32, |value, byte| {
        value
            .saturating_mul(10)
            .saturating_add(u32::from(byte.wrapping_sub(b'0')))
    })
}

fn is_ordinal_tail(word: &[u8]) -> bool {
    [b"st".as_slice(), b"nd", b"rd", b"th", b"o"]
        .iter()
        .any(|tail| word.eq_ignore_ascii_case(tail))
}

fn is_tied_before(page: &Page<'_>, start: usize) -> bool {
    !page.is_field_edge(start)
        && matches!(page.byte_before(start), b'/' | b'-' | b'.' | b',')
        && page.byte_before(start - 1).is_ascii_digit()
}

fn is_year(year: u32) -> bool {
    (1880..=2040).contains(&year)
}

fn is_day(day: u32) -> bool {
    (1..=31).contains(&day)
}

fn is_month_day(month: u32, day: u32) -> bool {
    (1..=12).contains(&month) && is_day(day)
}

fn is_either_order(one: u32, two: u32) -> bool {
    is_month_day(one, two) || is_month_day(two, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_date(text: &str) -> Option<(&str, Form)> {
        let page = Page::new(text, Vec::new());
        (0..page.marks.len())
            .find_map(|index| date_at(&page, index))
            .map(|hit| (&text[hit.span], hit.form))
    }

    #[test]
    fn full_dates_are_read_in_every_usual_form() {
        for text in [
            "03/14/1962",
            "3/14/62",
            "1962-03-14",
            "14.3.1962",
            "14-Mar-1962",
            "14MAR1962",
            "March 14, 1962",
            "Mar. 14th 1962",
            "14 March 1962",
            "14th of March, 1962",
            "fourteenth of March 1962",
            "March fourteenth, nineteen sixty two",
            "March 14 '62",
        ] {
            assert_eq!(first_date(text), Some((text, Form::Full)), "{text}");
        }
    }

    #[test]
    fn the_time_is_no_part_of_the_date() {
        assert_eq!(
            first_date("1962-03-14T08:30:00Z"),
            Some(("1962-03-14", Form::Full))
        );
    }

    #[test]
    fn other_numbers_are_no_dates() {
        for text in [
            "120/80",
            "1.2.3",
            "13/32/1990",
            "May 500",
            "version 2.0.0",
            "99213",
        ] {
            assert_eq!(first_date(text), None, "{text}");
        }
    }
}
