//! Dates with a month in letters, and dates said in words.

use std::ops::Range;

use super::{DateHit, Form, is_day, is_year, leading_digits, number};
use crate::lexicon::Sense;
use crate::page::Page;
use crate::word_list::WordList;

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

/// Returns year, month and day with their signs, an era before them included (`昭和37年3月14日`, `1962年3月14日`).
pub(super) fn with_signs(page: &Page<'_>, span: Range<usize>) -> Option<DateHit> {
    let text = page
        .text
        .get(span.clone())
        .filter(|text| !text.is_ascii())?;
    let ends = ["日", "일"]
        .iter()
        .find_map(|day| text.find(day).map(|at| at + day.len()))?;
    let has_year = text[..ends].contains(['年', '년']);
    let has_month = text[..ends].contains(['月', '월']);
    let has_digits = text[..ends].bytes().filter(u8::is_ascii_digit).count() >= 3;
    let eras = ["明治", "大正", "昭和", "平成", "令和"];
    let start = eras
        .iter()
        .find_map(|era| text[..ends].rfind(era))
        .or_else(|| text.find(|c: char| c.is_ascii_digit()))?;
    (has_year && has_month && has_digits && start < ends).then_some(DateHit {
        span: span.start + start..span.start + ends,
        form: Form::Full,
    })
}

/// Returns a date around the letters of its month (`14MAR1962`).
pub(super) fn month_inside(page: &Page<'_>, span: Range<usize>) -> Option<DateHit> {
    let day = leading_digits(page, span.clone());
    if !(1..=2).contains(&day.len()) {
        return None;
    }
    let year = leading_digits(page, page.word_end_at(day.end)?..span.end);
    let fits = matches!(year.len(), 2 | 4)
        && year.end == span.end
        && is_day(number(page, day.clone()))
        && page
            .word_at(day.end)
            .is_some_and(|(sense, _)| sense.has(Sense::MONTH));
    fits.then_some(DateHit {
        span,
        form: Form::Full,
    })
}

/// Returns the date around a month's name (`March 14, 1962`, `14 March 1962`, `the fourteenth of March 1962`,
/// `14-Mar-62`, `March 14`).
pub(super) fn round_month(page: &Page<'_>, month: Range<usize>) -> Option<DateHit> {
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
    let Some(day_end) = day_after(page, after_month) else {
        return month_and_year(page, month, after_month);
    };
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

/// Returns a date with the year first, as in Hungary (`1962. június 14.`).
pub(super) fn year_first(page: &Page<'_>, year: Range<usize>) -> Option<DateHit> {
    // Elsewhere these are given names.
    const MONTHS: &[&[u8]] = &[b"junius", b"julius"];
    if year.len() != 4 || page.slice(year.end..year.end + 2) != b". " {
        return None;
    }
    let month = year.end + 2;
    let (sense, month_end) = page.word_at(month)?;
    let is_month = sense.has(Sense::MONTH) || MONTHS.contains(&page.slice(month..month_end));
    let is_dated = is_month && is_year(number(page, year.clone()));
    let day_end = day_after(page, month_end).filter(|_| is_dated)?;
    Some(DateHit {
        span: year.start..after_dot(page, day_end),
        form: Form::Full,
    })
}

/// Returns a month and a year with its century (`March 1962`).
fn month_and_year(page: &Page<'_>, month: Range<usize>, after_month: usize) -> Option<DateHit> {
    let end = year_after(page, after_month)?;
    let has_century = page.slice(end - 4..end).iter().all(u8::is_ascii_digit);
    has_century.then_some(DateHit {
        span: month.start..end,
        form: Form::MonthYear,
    })
}

fn after_dot(page: &Page<'_>, at: usize) -> usize {
    at + usize::from(page.byte(at) == b'.')
}

/// Returns the start of a day that ends before the month.
fn day_before(page: &Page<'_>, month: usize) -> Option<usize> {
    let mut end = step_back(page, month)?;
    if let Some(start) = page.word_start_before(end)
        && matches!(page.slice(start..end), b"of" | b"de" | b"OF" | b"Of")
        && !page.byte_before(start).is_ascii_digit()
    {
        end = step_back(page, start)?;
        // "the 14th day of March".
        if let Some(day) = page.word_start_before(end)
            && page.slice(day..end).eq_ignore_ascii_case(b"day")
        {
            end = step_back(page, day)?;
        }
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

/// Returns the start of the tens before an ordinal word ("twenty first").
fn tens_before(page: &Page<'_>, ordinal: usize) -> usize {
    let Some(end) = step_back(page, ordinal) else {
        return ordinal;
    };
    match page.word_before(end) {
        Some((sense, start)) if sense.has(Sense::NUMBER_WORD) => start,
        _ => ordinal,
    }
}

/// Returns the end of a day after the month ("14", "14th", "the fourteenth").
fn day_after(page: &Page<'_>, after_month: usize) -> Option<usize> {
    let mut at = step(page, after_month, false)?;
    if page.slice(at..at + 4).eq_ignore_ascii_case(b"the ") {
        at += 4;
    }
    let digits = leading_digits(page, at..page.text.len().min(at + 3));
    if !digits.is_empty() {
        let mut end = digits.end;
        if let Some(word) = page.word_end_at(end) {
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

/// Returns the end of a year after day or month (", 1962", "62", "nineteen sixty two").
fn year_after(page: &Page<'_>, from: usize) -> Option<usize> {
    let mut at = step(page, from, true)?;
    if matches!(page.slice(at..at + 3), b"of " | b"in " | b"de ") {
        at += 3;
    } else if page.slice(at..at + 4) == b"del " {
        at += 4;
    }
    at += usize::from(page.byte(at) == b'\'');
    let digits = leading_digits(page, at..page.text.len().min(at + 5));
    match digits.len() {
        4 => {
            return is_year(number(page, digits.clone())).then_some(digits.end);
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
    static OPENS_A_YEAR: WordList = WordList::new(
        "nineteen eighteen two twenty thirty forty fifty sixty seventy eighty ninety",
    );
    let opens_a_year = OPENS_A_YEAR.has(page.slice(at..first_end));
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

fn is_ordinal_tail(word: &[u8]) -> bool {
    [b"st".as_slice(), b"nd", b"rd", b"th", b"o", b"er"]
        .iter()
        .any(|tail| word.eq_ignore_ascii_case(tail))
}
