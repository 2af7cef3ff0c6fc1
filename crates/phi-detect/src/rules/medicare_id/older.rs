//! LabelMatch numbers (HICN) and railroad numbers, the forms before the MBI.

use std::ops::Range;

use super::nearest;
use crate::context::{Strength, is_spoken_of};
use crate::digits::{self, Run};
use crate::kinds::{Evidence, Meaning, Shape};
use crate::page::Page;
use crate::rules::Collector;

/// An SSN with a beneficiary code: `123-45-6789A`, `123456789C1`.
pub(super) fn claim_number(page: &Page<'_>, index: usize, out: &mut Collector<'_>) {
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
            if claim.tie >= Strength::Tight
                && !claim.is(Meaning::Ssn)
                && !is_spoken_of(page, span.start, |meaning| meaning == Meaning::Medicare) => {}
        _ if is_dashed => out.weigh(span, Shape::ClaimNumber, Evidence::Form),
        _ => {}
    }
}

/// Returns the start of the railroad's letters before a number that is called Medicare's (`A-552-18-4490`).
pub(super) fn with_railroad_prefix(page: &Page<'_>, start: usize) -> Option<usize> {
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
pub(super) fn railroad(page: &Page<'_>, span: Range<usize>, out: &mut Collector<'_>) {
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
