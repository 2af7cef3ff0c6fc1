//! Medicare numbers: the beneficiary identifier (MBI), and the older claim numbers still in use.
//!
//! An MBI has eleven characters whose classes CMS fixed position by position, from
//! an alphabet without S, L, O, I, B and Z. A health insurance claim number (HICN)
//! is an SSN and a beneficiary code; railroad numbers put letters first.

use std::ops::Range;

use super::labelled::fields;
use super::{Finder, Out};
use crate::context::{Claim, Tie, is_spoken_of, number_claim};
use crate::digits::{self, Run};
use crate::kinds::{Evidence, Meaning, Shape};
use crate::lexicon::Sense;
use crate::page::{Mark, Page};
use crate::spelled;

pub(super) static FINDER: Finder = Finder {
    joins: super::stand_alone,
    find,
    beside: super::no_neighbour,
    complete: super::as_found,
    contradicts: super::never,
};

fn find(page: &Page<'_>, out: &mut Out<'_>) {
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
                && let Some((_, prefix)) = page.word_before((mark.start as usize).saturating_sub(1))
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
    let follows = index.checked_sub(1).is_some_and(|before| {
        let before = page.marks[before];
        is_single(before) && mark.start.saturating_sub(before.end) <= 2
    });
    is_single(mark) && !follows
}

/// The beneficiary identifier.
fn beneficiary(page: &Page<'_>, index: usize, out: &mut Out<'_>) {
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
        Some(claim) if claim.is(Meaning::Thing) && claim.tie >= Tie::Tight => {}
        // Hardly anything else fits the grammar, so a sign beside it changes little.
        _ if fits => {
            let shape = if is_tied { Shape::Tied } else { Shape::Value };
            out.weigh(span, shape, Evidence::Form);
        }
        _ => {}
    }
}

/// Eleven characters from a mark on, in one piece or as 4-3-4.
fn eleven(page: &Page<'_>, index: usize) -> Option<(Range<usize>, Vec<u8>)> {
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

/// An SSN with a beneficiary code: `123-45-6789A`, `123456789C1`.
fn claim_number(page: &Page<'_>, index: usize, out: &mut Out<'_>) {
    let mark = page.marks[index];
    let Some(span) = claim_number_span(page, index) else {
        return;
    };
    let value = page.slice(span.clone());
    let is_dashed = value.get(3) == Some(&b'-');
    match nearest(page, mark.start as usize) {
        Some(claim) if claim.is(Meaning::Medicare) => {
            out.weigh(span, Shape::ClaimNumber, Evidence::Label);
        }
        Some(claim)
            if claim.tie >= Tie::Tight
                && !claim.is(Meaning::Ssn)
                && !is_spoken_of(page, span.start, |meaning| meaning == Meaning::Medicare) => {}
        _ if is_dashed => out.weigh(span, Shape::ClaimNumber, Evidence::Form),
        _ => {}
    }
}

/// `A-552-18-4490`: where the railroad's letters before a number that is called Medicare's start.
fn with_railroad_prefix(page: &Page<'_>, start: usize) -> Option<usize> {
    let tie = start.checked_sub(1)?;
    let (_, word) = page
        .word_before(tie)
        .filter(|_| matches!(page.byte(tie), b'-' | b' '))?;
    let is_called =
        nearest(page, word).is_some_and(|claim| claim.is(Meaning::Medicare) && claim.is_firm());
    (is_called && is_railroad_prefix(page.slice(word..tie))).then_some(word)
}

fn claim_number_span(page: &Page<'_>, index: usize) -> Option<Range<usize>> {
    let mark = page.marks[index];
    if mark.is_code() && (10..=11).contains(&mark.len()) {
        let value = page.slice(mark.range());
        return is_coded(value, 9).then(|| mark.range());
    }
    let run = Run::read(page, index, &[3, 2], |between| {
        between == b"-" || between == b" "
    })?;
    let last = page.marks.get(index + run.marks)?;
    let is_joined =
        last.start as usize == run.span.end + 1 && matches!(page.byte(run.span.end), b'-' | b' ');
    let mut end = last.end as usize;
    let mut fits = last.is_code() && is_coded(page.slice(last.range()), 4);
    // "123-45-6789-A": the code set off.
    if last.is_number()
        && last.len() == 4
        && matches!(page.byte(end), b'-' | b' ')
        && page.byte(end + 1).is_ascii_uppercase()
    {
        let code_end = end
            + 1
            + page
                .slice(end + 1..page.text.len().min(end + 4))
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric())
                .count();
        let is_code = code_end <= end + 3 && b"ABCDEFGHJKMTW".contains(&page.byte(end + 1));
        let is_called =
            nearest(page, run.span.start).is_some_and(|claim| claim.is(Meaning::Medicare));
        if is_code && is_called {
            fits = true;
            end = code_end;
        }
    }
    let span = run.span.start..end;
    (is_joined && fits && !digits::is_inside_longer(page, &span)).then_some(span)
}

/// Digits, then a beneficiary code: a letter, and perhaps a digit or letter.
fn is_coded(value: &[u8], digits: usize) -> bool {
    value.len() > digits
        && value.len() <= digits + 2
        && value[..digits].iter().all(u8::is_ascii_digit)
        && b"ABCDEFGHJKMTWabcdefghjkmtw".contains(&value[digits])
        && value[digits + 1..].iter().all(u8::is_ascii_alphanumeric)
}

/// A railroad number: one to three letters, then six or nine digits; only when called Medicare.
fn railroad(page: &Page<'_>, span: Range<usize>, out: &mut Out<'_>) {
    let value = page.slice(span.clone());
    let letters = value
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let is_prefix = is_railroad_prefix(&value[..letters]);
    // "WD 123456789".
    let gap = usize::from(matches!(value.get(letters), Some(b' ' | b'-')));
    let number = &value[letters + gap..];
    let fits = is_prefix && matches!(number.len(), 6 | 9) && number.iter().all(u8::is_ascii_digit);
    if fits
        && nearest(page, span.start)
            .is_some_and(|claim| claim.is(Meaning::Medicare) && claim.is_firm())
    {
        out.weigh(span, Shape::Railroad, Evidence::Label);
    }
}

fn is_railroad_prefix(letters: &[u8]) -> bool {
    matches!(
        letters.to_ascii_uppercase().as_slice(),
        b"A" | b"CA"
            | b"H"
            | b"JA"
            | b"MA"
            | b"MH"
            | b"PA"
            | b"PD"
            | b"PH"
            | b"WA"
            | b"WCA"
            | b"WCD"
            | b"WCH"
            | b"WD"
            | b"WH"
    )
}

fn nearest(page: &Page<'_>, at: usize) -> Option<Claim> {
    number_claim(page, at, &[])
}
