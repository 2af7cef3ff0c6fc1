//! Telephone, mobile, fax and pager numbers.
//!
//! North American numbers have ten digits; area and exchange start with 2 to 9.
//! International numbers start with "+" and have at most fifteen digits.

mod abroad;
mod among;
mod around;
mod shape;

use std::ops::Range;

use super::labelled::{fields, spelled, spoken};
use super::{Collector, Finder};
use crate::context::{LabelMatch, Strength, is_spoken_of};
use crate::digits::{Run, has_more_groups, is_measured, phone_behind_list};
use crate::kinds::{Evidence, Meaning, Shape};
use crate::page::Page;
use abroad::{follows_group, is_dialled_abroad, is_dump, is_simple};
use among::among;
use around::{
    OWN, beside, follows_kin, is_called_after, is_dialled, is_of_calling, is_of_pager, is_pager,
    nearest,
};
use shape::{
    goes_on, international, is_clear, is_drug_code, is_separator, is_tied_before, looks_like_date,
    north_american, other_ending, with_extension,
};

pub(super) static FINDER: Finder = Finder {
    joins: super::stand_alone,
    find,
    beside,
    among: Some(among),
    complete: super::as_found,
    contradicts: super::never,
};

fn find(page: &Page<'_>, out: &mut Collector<'_>) {
    let mut free_from = 0;
    // Short numbers are common and pagers are not.
    let has_pagers = page.labels.iter().any(|label| is_pager(page, label));
    for index in page.each_number() {
        let mark = page.marks[index];
        // All ten digits in order are a sample, not a number.
        let is_number = mark.is_number() && page.slice(mark.range()) != b"0123456789";
        if !is_number || (mark.start as usize) < free_from {
            continue;
        }
        if let Some((span, shape, evidence)) = number_at(page, index, free_from, has_pagers) {
            let is_long = span.len() >= 7;
            let span = if is_long {
                with_extension(page, span)
            } else {
                span
            };
            free_from = span.end;
            if let Some(ending) = other_ending(page, span.end) {
                out.weigh(ending, Shape::LastFour, Evidence::List);
            }
            out.weigh(span, shape, evidence);
        }
    }
    fields(page, out, Meaning::Phone, Evidence::Field, is_field_value);
    spelled(page, out, is_of_calling, |spelled, _| {
        matches!(spelled.value.len(), 7 | 10 | 11) && spelled.is_digits_in_words(page)
    });
    spoken(page, out, OWN, |claim, digits| match claim {
        Some(claim) if is_of_calling(claim.meaning) && matches!(digits, 7 | 10 | 11) => {
            Some(Evidence::Label)
        }
        // Other values of ten digits are rarely said aloud.
        None if digits == 10 => Some(Evidence::Form),
        _ => None,
    });
}

/// Whether the whole value of a telephone field is a number, with an extension perhaps.
fn is_field_value(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = value
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    (7..=21).contains(&digits) && letters <= 4 && value.len() <= 32 && !value.contains(&b':')
}

/// Returns the number whose first group is the mark.
///
/// `last_end` is the end of the number before it, 0 without one; `has_pagers` says whether the text mentions pagers.
fn number_at(
    page: &Page<'_>,
    index: usize,
    last_end: usize,
    has_pagers: bool,
) -> Option<(Range<usize>, Shape, Evidence)> {
    let start = page.marks[index].start as usize;
    let is_next = last_end > 0 && start == last_end + 1;
    // "+33 (0)3 20 55 01 66" has the most groups.
    if page.byte_before(start) == b'+'
        && let Some(found) = international(
            page,
            &Run::read_all(page, index, INTERNATIONAL_GROUPS_MAX, is_separator),
        )
    {
        return Some(found);
    }
    let run = first_of_pair(page, index);
    if run.digit_count < 4 || is_measured(page, run.span.end) && !is_clear(&run) {
        return None;
    }
    let is_tied = is_tied_before(page, start) && !is_next;
    // The shortest number anyone dials from outside has six digits.
    if run.digit_count < 6 {
        let is_whole = || !is_tied && !goes_on(page, run.span.end);
        let is_pager = has_pagers && is_whole() && is_of_pager(page, start);
        return is_pager.then_some((run.span, Shape::Pager, Evidence::Label));
    }
    let claim = nearest(page, start);
    let called = Called::by(claim);
    // "at her job: (601) 555-0192": nothing but a telephone number has its first three digits in brackets.
    let is_plain =
        claim.is_some_and(|claim| matches!(claim.meaning, Meaning::Thing | Meaning::OtherId(None)));
    let is_bracketed = page.byte_before(start) == b'(' && is_plain;
    // "ask for Nurse Price at 505-555-0126".
    let is_at = is_plain && page.slice(0..start).ends_with(b" at ");
    let is_of_list = claim.is_some_and(|claim| {
        claim.tie == Strength::List && matches!(claim.meaning, Meaning::Mrn | Meaning::MrnMaybe)
    });
    let is_behind_list = is_of_list && phone_behind_list(page, start).is_some();
    if called.is_other && !is_bracketed && !is_at && !is_behind_list {
        return None;
    }
    if let Some((span, shape)) = north_american(page, index) {
        let is_piece = is_tied || goes_on(page, span.end);
        let is_piece = is_piece_of_more(page, (&span, shape), called, is_next, is_piece);
        let evidence = evidence(page, &span, shape, called).filter(|_| !is_piece);
        // A number of the plan does not begin with a zero, but those of other countries do ("085 555 0142").
        if evidence.is_some() || page.byte(span.start) != b'0' {
            return evidence.map(|evidence| (span, shape, evidence));
        }
    }
    if is_tied && (!called.is_firm || has_more_groups(page, &run.span)) {
        return None;
    }
    labelled(page, index, &run, called)
}

/// Whether a number of the plan is part of something longer.
fn is_piece_of_more(
    page: &Page<'_>,
    (span, shape): (&Range<usize>, Shape),
    called: Called,
    is_next: bool,
    is_tied: bool,
) -> bool {
    match shape {
        _ if called.is_firm => false,
        Shape::Grouped if called.may_be || page.byte(span.start) == b'(' => false,
        Shape::Grouped => {
            has_more_groups(page, span) && !is_next || has_letter_tied(page, span.end)
        }
        Shape::Spaced if !called.may_be && is_in_row(page, span) => true,
        _ => is_tied,
    }
}

/// Whether further short numbers are one space before and behind ("640 995 588 1007 201"). One alone may be an age or
/// a bed.
fn is_in_row(page: &Page<'_>, span: &Range<usize>) -> bool {
    let before = page.slice(span.start.saturating_sub(5)..span.start);
    let after = page.slice(span.end..page.text.len().min(span.end + 5));
    let digits = |bytes: &mut dyn Iterator<Item = &u8>| {
        bytes.take_while(|byte| byte.is_ascii_digit()).count()
    };
    let follows =
        before.ends_with(b" ") && (2..=4).contains(&digits(&mut before.iter().rev().skip(1)));
    let is_followed =
        after.starts_with(b" ") && (2..=4).contains(&digits(&mut after.iter().skip(1)));
    follows && is_followed
}

const INTERNATIONAL_GROUPS_MAX: usize = 7;

/// Reads the groups from a mark on, up to the end of the first number ("94221 17039 / 0712-229 1370" are two, as are
/// two lines).
fn first_of_pair(page: &Page<'_>, index: usize) -> Run {
    const WHOLE_DIGITS_MIN: usize = 10;
    let run = Run::read_all(page, index, 6, is_separator);
    let mut digits = 0;
    for count in 1..run.marks {
        let (mark, next) = (page.marks[index + count - 1], page.marks[index + count]);
        digits += mark.len();
        let between = page.slice(mark.end as usize..next.start as usize);
        if digits >= WHOLE_DIGITS_MIN && matches!(between, b" / " | b"\n") {
            return Run::read_all(page, index, count, is_separator);
        }
    }
    run
}

/// Meaning of the label before a number.
#[derive(Clone, Copy)]
struct Called {
    /// Whether the number has a label of any number.
    has_label: bool,
    /// Whether the number is explicitly called a telephone number.
    is_firm: bool,
    /// The words before speak of calling.
    may_be: bool,
    /// Whether these words directly precede the number.
    is_tight: bool,
    /// Whether the number is called something else.
    is_other: bool,
}

impl Called {
    fn by(claim: Option<LabelMatch>) -> Called {
        let is_phone = claim.is_some_and(|claim| claim.is(Meaning::Phone));
        let may_be = claim.is_some_and(|claim| is_of_calling(claim.meaning));
        let is_firm = claim.is_some_and(|claim| claim.is_firm());
        Called {
            has_label: claim.is_some(),
            is_firm: is_phone && is_firm,
            may_be,
            is_tight: may_be && claim.is_some_and(|claim| claim.tie >= Strength::Tight),
            is_other: !may_be && is_firm,
        }
    }
}

/// Returns the evidence for a number of the North American plan.
fn evidence(
    page: &Page<'_>,
    span: &Range<usize>,
    shape: Shape,
    called: Called,
) -> Option<Evidence> {
    if called.may_be || is_called_after(page, span.end) {
        return Some(Evidence::Label);
    }
    match shape {
        Shape::Grouped | Shape::Spaced => Some(Evidence::Form),
        _ if called.has_label => None,
        _ if is_spoken_of(page, span.start, is_of_calling) => Some(Evidence::Near),
        _ if follows_at(page, span.start) => Some(Evidence::Stated),
        _ if is_dialled(page, span) && follows_kin(page, span.start) => Some(Evidence::Kin),
        _ => None,
    }
}

/// Whether a number follows words that give it away ("reach her at 2065550142", "my # 2065550142").
fn follows_at(page: &Page<'_>, start: usize) -> bool {
    const WORDS: &[&[u8]] = &[b" at ", b"my # ", b" my #", b"her # ", b"his # "];
    let before = page.slice(0..start);
    WORDS.iter().any(|words| before.ends_with(words))
}

/// Whether three digits and four follow words that give a number away ("im at 555-0142", "use 555-0142").
fn is_stated(page: &Page<'_>, start: usize) -> bool {
    const WORDS: &[&[u8]] = &[b" at ", b" use ", b"notified ", b" # "];
    let before = page.slice(start.saturating_sub(10)..start);
    matches!(page.byte(start + 3), b'-' | b'.') && WORDS.iter().any(|words| before.ends_with(words))
}

/// Whether a letter is tied to a number, which makes it the number of a part ("206-555-0142-B").
fn has_letter_tied(page: &Page<'_>, end: usize) -> bool {
    page.byte(end) == b'-'
        && page.byte(end + 1).is_ascii_uppercase()
        && !page.byte(end + 2).is_ascii_alphanumeric()
}

/// Other groupings, when the words around speak of a telephone.
fn labelled(
    page: &Page<'_>,
    index: usize,
    run: &Run,
    called: Called,
) -> Option<(Range<usize>, Shape, Evidence)> {
    let Called {
        is_firm,
        may_be,
        is_tight,
        ..
    } = called;
    let digits = run.digit_count;
    let all_lengths = run.lengths(page);
    let lengths = &all_lengths[..run.marks.min(all_lengths.len())];
    let opens =
        page.byte_before(run.span.start) == b'(' && page.slice(run.span.clone()).contains(&b')');
    let span = run.span.start - usize::from(opens)..run.span.end;
    // Such free groups are a number only if a firm label precedes them and no further group follows.
    let is_whole = is_firm
        && !has_more_groups(page, &run.span)
        && !page.slice(run.span.clone()).contains(&b'\n');
    let is_part = has_letter_tied(page, span.end) && !is_firm;
    let is_date = looks_like_date(page, run, lengths, is_firm);
    if goes_on(page, span.end) && !is_whole || is_part || is_date {
        return None;
    }
    let starts_with_zero = page.byte(run.span.start) == b'0';
    let is_simple = is_simple(page, run, lengths, opens);
    let is_local = lengths == [3, 4];
    let is_grouped = lengths.len() >= 2 && is_simple;
    // Brazil has areas of two digits: "(21) 95550-0142".
    let is_area_of_two = opens && matches!(lengths, [2, 4 | 5, 4] | [2, 1, 4, 4]);
    let is_abroad = is_grouped
        && starts_with_zero
        && is_dialled_abroad(page, run, lengths)
        && (may_be || !follows_group(page, index));
    let (shape, evidence) = match digits {
        7..=15 if is_firm && !is_drug_code(lengths) => (Shape::OddlyGrouped, Evidence::Label),
        7..=15 if is_simple && is_called_after(page, span.end) => {
            (Shape::OddlyGrouped, Evidence::NamedAfter)
        }
        7 if is_local && may_be => (Shape::Local, Evidence::VagueLabel),
        7 if is_local && is_stated(page, span.start) => (Shape::Local, Evidence::Stated),
        10 if is_simple && may_be && page.slice(0..span.start).ends_with(b" at ") => {
            (Shape::OddlyGrouped, Evidence::Stated)
        }
        10..=11 if is_simple && (may_be && starts_with_zero || is_tight) => {
            (Shape::Abroad, Evidence::VagueLabel)
        }
        6..=13 if is_grouped && is_tight => (Shape::OddlyGrouped, Evidence::VagueLabel),
        6 if is_grouped && is_firm => (Shape::OddlyGrouped, Evidence::VagueLabel),
        _ if is_abroad && may_be => (Shape::Abroad, Evidence::VagueLabel),
        _ if is_area_of_two || is_abroad && !called.has_label && !is_dump(page, run, lengths) => {
            (Shape::Abroad, Evidence::Form)
        }
        _ => return None,
    };
    Some((span, shape, evidence))
}
