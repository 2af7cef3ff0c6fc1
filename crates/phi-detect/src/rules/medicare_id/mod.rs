//! Medicare numbers: the beneficiary identifier (MBI), and the older claim numbers still in use.
//!
//! An MBI has eleven characters whose classes CMS fixed position by position, from
//! an alphabet without S, L, O, I, B and Z. A health insurance claim number (HICN)
//! is an SSN and a beneficiary code; railroad numbers put letters first.

mod older;

use std::ops::Range;

use older::{claim_number, railroad, with_railroad_prefix};

use super::labelled::fields;
use super::{Collector, Finder};
use crate::budget::Few;
use crate::context::{LabelMatch, Strength, number_claim};
use crate::digits::Run;
use crate::kinds::{Evidence, Meaning, Shape};
use crate::lexicon::Sense;
use crate::page::{Mark, Page};
use crate::spelled;

pub(super) static FINDER: Finder = Finder {
    joins: super::stand_alone,
    find,
    beside: super::no_neighbour,
    among: None,
    complete: super::as_found,
    contradicts: super::never,
};

fn find(page: &Page<'_>, out: &mut Collector<'_>) {
    fields(
        page,
        out,
        Meaning::Medicare,
        Evidence::Field,
        is_field_value,
    );
    for index in page.each_mark() {
        let mark = page.marks[index];
        if opens_spelling(page, index)
            && let Some(spelled) = spelled::read(page, mark.start as usize)
            && fits_grammar(&spelled.value)
        {
            out.weigh(spelled.span, Shape::Spelled, Evidence::Form);
        }
        if mark.is_number()
            && mark.len() == 3
            && let Some(run) = Run::read(page, index, &[3, 2, 4], |between| between == b"-")
            && let Some(start) = with_railroad_prefix(page, run.span.start)
        {
            out.weigh(start..run.span.end, Shape::Dashed, Evidence::Label);
        }
        if mark.is_code() {
            beneficiary(page, index, out);
            railroad(page, mark.range(), out);
            claim_number(page, index, out);
        } else if mark.is_number() {
            if mark.len() == 3 {
                claim_number(page, index, out);
            } else if matches!(mark.len(), 6 | 9)
                && let Some(prefix) =
                    page.word_start_before((mark.start as usize).saturating_sub(1))
                && mark.start as usize - prefix <= 4
            {
                railroad(page, prefix..mark.end as usize, out);
            }
        }
    }
}

fn is_field_value(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let characters = value
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .count();
    digits >= 4 && (9..=12).contains(&characters) && value.len() <= 16
}

/// Whether characters said or written one by one may start here: a single digit with none right before it.
fn opens_spelling(page: &Page<'_>, index: usize) -> bool {
    let is_single =
        |mark: Mark| mark.len() == 1 && mark.is_number() || mark.sense.has(Sense::DIGIT_WORD);
    let mark = page.marks[index];
    let follows = || {
        index.checked_sub(1).is_some_and(|before| {
            let before = page.marks[before];
            is_single(before) && mark.start.saturating_sub(before.end) <= 2
        })
    };
    is_single(mark) && !follows()
}

/// The beneficiary identifier.
fn beneficiary(page: &Page<'_>, index: usize, out: &mut Collector<'_>) {
    let Some((span, value)) = eleven(page, index) else {
        return;
    };
    let is_tied = is_tied(page, &span);
    let claim = nearest(page, span.start);
    let fits = fits_grammar(&value);
    match claim {
        Some(claim) if claim.is(Meaning::Medicare) && fits => {
            out.weigh(span, Shape::Value, Evidence::Label);
        }
        Some(claim)
            if claim.is(Meaning::Medicare)
                && claim.is_firm()
                && looks_meant(&value)
                && !is_tied =>
        {
            out.weigh(span, Shape::Misspelled, Evidence::Label);
        }
        Some(claim) if claim.is(Meaning::Thing) && claim.tie >= Strength::Tight => {}
        // Other values rarely fit the grammar, so a sign beside it changes little.
        _ if fits => {
            let shape = if is_tied { Shape::Tied } else { Shape::Value };
            out.weigh(span, shape, Evidence::Form);
        }
        _ => {}
    }
}

/// Eleven characters from a mark on, in one piece or as 4-3-4.
fn eleven(page: &Page<'_>, index: usize) -> Option<(Range<usize>, Few<u8>)> {
    let first = page.marks[index];
    let start = first.start as usize;
    if first.len() == 11 {
        let value = page.slice(first.range()).to_ascii_uppercase();
        return Some((first.range(), value));
    }
    if first.len() != 4 {
        return None;
    }
    let [second, third] = page.marks.get(index + 1..index + 3)? else {
        return None;
    };
    let separator = |left: &Mark, right: &Mark| {
        let between = page.slice(left.end as usize..right.start as usize);
        match between.trim_ascii() {
            b"" if between.len() == 1 => Some(b' '),
            [sign @ (b'-' | b'.' | b'_')] if between.len() <= 3 => Some(*sign),
            _ => None,
        }
    };
    let fits = second.len() == 3 && third.len() == 4;
    let sign = separator(&first, second);
    if !fits || sign.is_none() || sign != separator(second, third) {
        return None;
    }
    let span = start..third.end as usize;
    let mut value = page.slice(span.clone()).to_ascii_uppercase();
    value.retain(u8::is_ascii_alphanumeric);
    Some((span, value))
}

/// Whether a sign ties the number to letters or digits beside it, as in a key or a path.
fn is_tied(page: &Page<'_>, span: &Range<usize>) -> bool {
    let sign = page.byte_before(span.start);
    let is_tied_before = matches!(sign, b'-' | b'/' | b'=' | b'+' | b'_')
        && page
            .byte_before(span.start.saturating_sub(1))
            .is_ascii_alphanumeric();
    let is_value = sign == b'=' && page.label_ending_at(span.start - 1).is_some();
    let is_tied_after =
        page.byte(span.end) == b'-' && page.byte(span.end + 1).is_ascii_alphanumeric();
    is_tied_before && !is_value || is_tied_after
}

/// CMS's classes by position: C A AN N A AN N A A N N.
fn fits_grammar(value: &[u8]) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_uppercase() && !b"SLOIBZ".contains(&byte);
    value.len() == 11
        && value
            .iter()
            .enumerate()
            .all(|(position, &byte)| match position {
                0 => (b'1'..=b'9').contains(&byte),
                1 | 4 | 7 | 8 => is_letter(byte),
                2 | 5 => is_letter(byte) || byte.is_ascii_digit(),
                _ => byte.is_ascii_digit(),
            })
}

/// Letters and digits mixed as in an MBI, though not by the grammar.
fn looks_meant(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let opens = value[0].is_ascii_digit() || b"ILO".contains(&value[0]);
    opens && (4..=8).contains(&digits)
}

fn nearest(page: &Page<'_>, at: usize) -> Option<LabelMatch> {
    number_claim(page, at, &[])
}
