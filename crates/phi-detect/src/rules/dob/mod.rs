//! Dates of birth.
//!
//! A date is one only when something says so: a label, "born", a field or column
//! of that meaning. All other dates are left alone.

mod among;
mod listed;
mod other;
mod signs;
mod spoken;

use std::ops::Range;

use super::{Collector, Finder};
use crate::context::{LabelMatch, Strength, claim_after, claim_before, is_equated};
use crate::dates::{DateHit, Form, date_at, each_date};
use crate::digits::{Run, is_inside_longer, is_loose_separator};
use crate::labels::Meaning;
use crate::lexicon::Sense;
use crate::page::{Field, Page};
use crate::people;
use crate::word_list::WordList;
use among::among;

pub(super) static FINDER: Finder = Finder {
    joins: super::stand_alone,
    find,
    beside,
    among: Some(among),
    complete: whole_date,
    contradicts,
};

fn find(page: &Page<'_>, out: &mut Collector<'_>) {
    for (span, value) in page.fields_of(Meaning::Dob) {
        if is_time_stamp(value) {
            out.push(span, 0.97, "dob.field");
        }
    }
    parts(page, out);
    let mut last: Option<DateHit> = None;
    for (index, date) in each_date(page) {
        let free_from = last.as_ref().map_or(0, |last| last.span.end);
        if (page.marks[index].start as usize) < free_from {
            continue;
        }
        let Some(date) = date.cloned().or_else(|| mistyped(page, index)) else {
            continue;
        };
        let second = || {
            let is_second = last
                .as_ref()
                .is_some_and(|last| sets_beside(page, last, &date));
            is_second.then_some((0.8, "dob.second"))
        };
        if let Some((score, rule)) = judge(page, &date).or_else(second)
            && !other::is_of_weeks(page, &date.span)
        {
            out.push(without_article(page, date.span.clone()), score, rule);
            last = Some(date);
        }
    }
    spoken::find(page, out);
}

/// Whether a date is compared with a birth date of the same form ("18.7.15 not 17.8.15", "19420131>19420113").
fn sets_beside(page: &Page<'_>, last: &DateHit, date: &DateHit) -> bool {
    const REACH_BYTES: usize = 12;
    static JOINTS: WordList = WordList::new("and or not vs versus und et y");
    let between = page.slice(last.span.end.min(date.span.start)..date.span.start);
    let mut words = between
        .split(|byte| !byte.is_ascii_alphabetic())
        .filter(|word| !word.is_empty())
        .peekable();
    let is_joined = words.peek().is_some() || between.contains(&b'>');
    last.form == date.form
        && matches!(date.form, Form::Full | Form::Compact)
        && between.len() <= REACH_BYTES
        && !between
            .iter()
            .any(|byte| byte.is_ascii_digit() || matches!(byte, b'\n' | b':' | b';'))
        && is_joined
        && words.all(|word| JOINTS.has(word))
}

/// Finds year, month and day of a birth in separate fields (`{"dob": {"year": 1962, "month": 3, "day": 14}}`).
fn parts(page: &Page<'_>, out: &mut Collector<'_>) {
    let is_part = |field: &Field| {
        let value = page.slice(field.span.clone());
        let is_number = || matches!(value.len(), 1 | 2 | 4) && value.iter().all(u8::is_ascii_digit);
        let is_month = || {
            page.word_at(field.span.start)
                .is_some_and(|(sense, end)| sense.has(Sense::MONTH) && end == field.span.end)
        };
        field.is_settled && field.meaning == Some(Meaning::Dob) && (is_number() || is_month())
    };
    for group in page.fields.chunk_by(|one, next| {
        is_part(one) && is_part(next) && next.span.start - one.span.end <= PART_GAP_BYTES_MAX
    }) {
        if group.len() >= 2 {
            for field in group {
                out.push(field.span.clone(), 0.9, "dob.part");
            }
        }
    }
}

/// Maximum distance between the parts of a date: a key and its signs.
const PART_GAP_BYTES_MAX: usize = 40;

/// Returns a mistyped date, which is one only by its label (`03/41/1962`, `03,14,1962`, `3:14:62`).
fn mistyped(page: &Page<'_>, index: usize) -> Option<DateHit> {
    let marks = page.marks.get(index..index + 3)?;
    let lengths = [marks[0].len(), marks[1].len(), marks[2].len()];
    if !matches!(lengths, [1 | 2, 1 | 2, 2 | 4] | [4, 1 | 2, 1 | 2]) {
        return None;
    }
    let run = Run::read(page, index, &lengths, separates)?;
    if is_time_or_list(page, &run.span) {
        return None;
    }
    // With its century and a label it is a date, independent of the text around it.
    let year = marks.iter().find(|mark| mark.len() == 4);
    let has_century = year.is_some_and(|year| {
        let year = page.slice(year.range());
        (b"1880".as_slice()..=b"2040".as_slice()).contains(&year)
    });
    let form = match is_inside_longer(page, &run.span) {
        false => Form::Compact,
        true if has_century => Form::Full,
        true => return None,
    };
    Some(DateHit {
        span: run.span,
        form,
    })
}

/// Whether three pairs of digits are a time or a list (`00:00:40`, `06, 08, 12`).
fn is_time_or_list(page: &Page<'_>, span: &Range<usize>) -> bool {
    match page.slice(span.clone()) {
        [_, _, b':', b'0'..=b'5', _, b':', b'0'..=b'5', _] => true,
        text => text.len() == "06, 08, 12".len() && text[2..4] == *b", " && text[6..8] == *b", ",
    }
}

fn separates(between: &[u8]) -> bool {
    between == b"\\" || is_loose_separator(between) && !between.contains(&b'\n')
}

/// The whole date of which the model saw a part.
fn whole_date(page: &Page<'_>, span: Range<usize>) -> Range<usize> {
    let first = page
        .marks
        .partition_point(|mark| (mark.end as usize) <= span.start);
    (first.saturating_sub(1)..page.marks.len())
        .take_while(|&index| (page.marks[index].start as usize) < span.end)
        .filter_map(|index| date_at(page, index))
        .find(|date| {
            date.form == Form::Full && date.span.start < span.end && span.start < date.span.end
        })
        .map_or_else(
            || without_article(page, span.clone()),
            |date| without_article(page, date.span),
        )
}

/// Returns a date without the article before its day ("the fourteenth of March").
fn without_article(page: &Page<'_>, span: Range<usize>) -> Range<usize> {
    let is_article = page.slice(span.clone()).starts_with(b"the ");
    span.start + if is_article { 4 } else { 0 }..span.end
}

/// Finds a date in brackets directly after a name without a title (`Jane Roe (3/14/1962)`), or a date long ago (`Roe,
/// Jane 3/14/62`).
fn beside(page: &Page<'_>, name: &Range<usize>, out: &mut Collector<'_>) {
    const LINKS: &[&[u8]] = &[b" (", b" - ", b", ", b"; ", b" / ", b" | ", b"\t", b" "];
    let gap = page.slice(name.end..page.text.len().min(name.end + 3));
    let link = LINKS.iter().find(|link| gap.starts_with(link));
    let Some(link) = link.filter(|_| !people::follows_title(page, name.start)) else {
        return;
    };
    let start = name.end + link.len();
    let date = page
        .marks
        .binary_search_by_key(&start, |mark| mark.start as usize)
        .ok()
        .and_then(|index| date_at(page, index));
    if let Some(date) = date
        && date.form == Form::Full
        && date.span.start == start
        && if *link == b" (" {
            matches!(page.byte(date.span.end), b')' | b',' | b';')
        } else {
            let is_full_name = page.slice(name.clone()).contains(&b' ');
            let is_kin = || *link == b", " && signs::follows_kin(page, name.start);
            (is_full_name && signs::is_long_ago(page, &date.span) || is_kin())
                && signs::ends_particulars(page, date.span.end)
        }
    {
        out.push(date.span, 0.6, "dob.after_name");
    }
}

/// Whether a span is not a date, or a date that a label calls something else, or one after a date of birth already
/// masked.
fn contradicts(page: &Page<'_>, span: &Range<usize>) -> bool {
    let index = page
        .marks
        .partition_point(|mark| (mark.end as usize) <= span.start);
    let is_masked_before = page.marks[..index].iter().rev().take(6).any(|mark| {
        mark.sense.has(Sense::PLACEHOLDER) && page.slice(mark.range()).starts_with(b"[DOB")
    });
    let holds_date = page.marks[index..]
        .iter()
        .take_while(|mark| (mark.start as usize) < span.end)
        .enumerate()
        .any(|(step, mark)| {
            mark.sense.has(Sense::MONTH | Sense::DIGIT_WORD)
                || date_at(page, index + step).is_some()
        });
    !holds_date
        || is_masked_before
        || page.byte_before(span.start) == b'_'
        || other::is_of_release(page, span.start)
        || other::is_of_row(page, span)
        || other::is_of_war(page, span)
        || other::is_of_weeks(page, span)
        || nearest(page, span.start)
            .is_some_and(|claim| claim.is(Meaning::OtherDate) && claim.is_firm())
}

/// Whether the whole value of a field is a time stamp that starts with a date: `198808181126+0215`.
fn is_time_stamp(value: &[u8]) -> bool {
    let digits = value
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let year = &value[..digits.min(4)];
    matches!(digits, 8 | 10 | 12 | 14)
        && (b"1880".as_slice()..=b"2040".as_slice()).contains(&year)
        && value.len() <= 26
        && value[digits..]
            .iter()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'+' | b'-'))
}

fn judge(page: &Page<'_>, date: &DateHit) -> Option<(f32, &'static str)> {
    let claim = nearest(page, date.span.start);
    if date.form == Form::Full && signs::of_birth(page, &date.span) {
        return Some((0.85, "dob.sign"));
    }
    let is_named_after = match date.form {
        Form::Full => claim_after(page, date.span.end, |meaning| meaning == Meaning::Dob).is_some(),
        // "14 March is the right birthday".
        Form::DayMonth => signs::is_birthday(page, date.span.end),
        _ => false,
    };
    // "Note: 3/14/1962 is her date of birth".
    if is_named_after
        && claim.is_none_or(|claim| claim.is(Meaning::OtherDate))
        && (claim.is_none() || is_equated(page, date.span.end))
    {
        return Some((0.9, "dob.named_after"));
    }
    if let Some(claim) = claim {
        let is_tight = claim.tie >= Strength::Tight;
        return match (claim.meaning, date.form) {
            (Meaning::Dob, Form::Full) if claim.is_firm() => Some((0.98, "dob.labelled")),
            (Meaning::Dob, Form::Compact | Form::DayMonth | Form::Fraction) if is_tight => {
                Some((0.93, "dob.labelled"))
            }
            (Meaning::Dob, Form::Full) => Some((0.85, "dob.near")),
            (Meaning::Born, Form::Full) if is_tight => Some((0.95, "dob.born")),
            (Meaning::Born, Form::DayMonth) if is_tight => Some((0.85, "dob.birthday")),
            (Meaning::Born, Form::Fraction)
                if is_tight
                    && (signs::follows_birthday(page, claim.from)
                        || signs::is_timed(page, date.span.end)) =>
            {
                Some((0.8, "dob.birthday"))
            }
            (Meaning::Born | Meaning::Dob, Form::MonthYear)
                if is_tight && !signs::is_childbirth(page, claim.from) =>
            {
                Some((0.8, "dob.month"))
            }
            (Meaning::Born, Form::Full) if is_word(page, &claim) => Some((0.8, "dob.born")),
            _ => None,
        };
    }
    (date.form == Form::Full && is_between_name_and_number(page, date))
        .then_some((0.65, "dob.after_name"))
}

/// Whether a label is a word ("born") rather than an abbreviation directly before its date ("b.").
fn is_word(page: &Page<'_>, claim: &LabelMatch) -> bool {
    page.label_ending_at(claim.from)
        .is_none_or(|label| label.end - label.start > 1)
}

/// Maximum indentation of the lines of a head.
const LINE_GAP_BYTES_MAX: usize = 10;

/// Whether a date is between a name and a number, the usual reference to a patient (`ROE, JANE 03/14/1962
/// MRN:0048213`).
fn is_between_name_and_number(page: &Page<'_>, date: &DateHit) -> bool {
    // The date may be on a separate line below the name.
    let before = page.slice(date.span.start.saturating_sub(LINE_GAP_BYTES_MAX)..date.span.start);
    let gap = before
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b' ' | b',' | b'(' | b'\n' | b'\t'))
        .count();
    let is_below = before[before.len() - gap..].contains(&b'\n');
    let reach = if is_below { LINE_GAP_BYTES_MAX } else { 4 };
    let name_end = date.span.start - gap;
    let next = page
        .labels
        .partition_point(|label| (label.start as usize) < date.span.end);
    let is_numbered = page.labels.get(next).is_some_and(|label| {
        let is_number = label.meaning == Meaning::Mrn || is_below && label.meaning == Meaning::Ssn;
        is_number && label.start as usize <= date.span.end + reach
    });
    (1..=if is_below { LINE_GAP_BYTES_MAX - 1 } else { 2 }).contains(&gap)
        && is_numbered
        && (people::ends_full_name(page, name_end) || people::ends_last_first(page, name_end))
}

fn nearest(page: &Page<'_>, at: usize) -> Option<LabelMatch> {
    claim_before(page, at, |meaning| {
        matches!(meaning, Meaning::Dob | Meaning::Born | Meaning::OtherDate)
    })
}
