//! Rules common to all numbers with a label: fields, values after a label, values said in words, and values whose
//! label follows them.
//!
//! This module alone finds a kind whose row gives its [`Number`]. Kinds with further forms use its parts.

use std::ops::Range;

use super::{Collector, Finder};
use crate::context::{LabelMatch, Strength, claim_after, number_claim, value_after};
use crate::kinds::{Evidence, Meaning, Number, Shape};
use crate::page::{Label, Page};
use crate::spelled::{self, Spelled};

/// For kinds of which the row says everything.
pub(super) static FINDER: Finder = Finder {
    joins: super::stand_alone,
    find,
    beside: super::no_neighbour,
    among: None,
    complete: super::as_found,
    contradicts: super::never,
};

fn find(page: &Page<'_>, out: &mut Collector<'_>) {
    let Some(number) = &out.kind.rule().number else {
        return;
    };
    let meaning = Meaning::OtherId(Some(out.kind));
    let is_value = |text: &[u8]| is_number(number, text);
    fields(page, out, meaning, Evidence::Field, is_value);
    let mut free_from = 0;
    for index in page.each_number() {
        if (page.marks[index].start as usize) < free_from {
            continue;
        }
        let span = token(page, index);
        if is_value(page.slice(span.clone()))
            && let Some(evidence) = evidence(page, &span, meaning)
        {
            free_from = span.end;
            out.weigh(span, Shape::Value, evidence);
        }
    }
    spelled(
        page,
        out,
        |one| one == meaning,
        |spelled, _| is_value(&spelled.value) && page.slice(spelled.span.clone()).contains(&b' '),
    );
    spoken(page, out, &[], |claim, digits| {
        let is_called = claim.is_some_and(|claim| claim.is(meaning) && claim.is_firm());
        (is_called && number.length.contains(&digits)).then_some(Evidence::Label)
    });
}

/// Returns the evidence for the value, if any.
fn evidence(page: &Page<'_>, span: &Range<usize>, meaning: Meaning) -> Option<Evidence> {
    let Some(claim) = number_claim(page, span.start, &[]) else {
        let after = claim_after(page, span.end, |one| one == meaning);
        return after.map(|_| Evidence::NamedAfter);
    };
    match claim.tie {
        _ if !claim.is(meaning) => None,
        Strength::Tight | Strength::Field => Some(Evidence::Label),
        Strength::List => Some(Evidence::List),
        Strength::Near => Some(Evidence::Near),
    }
}

/// Letters and digits from a mark on, with groups tied to them by a dash or set off by one space.
fn token(page: &Page<'_>, index: usize) -> Range<usize> {
    let start = page.marks[index].start as usize;
    let mut end = page.marks[index].end as usize;
    for mark in page.marks[index + 1..].iter().take(4) {
        let is_tied = mark.start as usize == end + 1 && page.byte(end) == b'-';
        if !is_tied || !(mark.is_number() || mark.is_code()) {
            break;
        }
        end = mark.end as usize;
    }
    // Capitals tied before it are its prefix.
    let prefix = page
        .word_before(start.saturating_sub(1))
        .filter(|(_, word)| {
            let letters = page.slice(*word..start - 1);
            page.byte_before(start) == b'-'
                && letters.len() <= 5
                && letters.iter().all(u8::is_ascii_uppercase)
                && page.label_ending_at(start - 1).is_none()
        });
    prefix.map_or(start, |(_, word)| word)..end
}

/// Whether a text is such a number, signs left out.
fn is_number(number: &Number, text: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b' ' | b'.');
    let mut value = text.to_ascii_uppercase();
    value.retain(u8::is_ascii_alphanumeric);
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    text.iter().all(is_plain)
        && number.length.contains(&value.len())
        && digits >= number.digits_min
        && (number.is_valid)(&value)
}

/// Takes the whole values of fields with this meaning.
pub(super) fn fields(
    page: &Page<'_>,
    out: &mut Collector<'_>,
    meaning: Meaning,
    evidence: Evidence,
    is_value: impl Fn(&[u8]) -> bool,
) {
    for (span, value) in page.fields_of(meaning) {
        if is_value(value) {
            out.weigh(span, Shape::Value, evidence);
        }
    }
}

/// Takes values that are said or written character by character right after a label.
pub(super) fn spelled(
    page: &Page<'_>,
    out: &mut Collector<'_>,
    is_label: impl Fn(Meaning) -> bool,
    is_value: impl Fn(&Spelled, &Label) -> bool,
) {
    for label in page.labels.iter().filter(|label| is_label(label.meaning)) {
        let start = value_after(page, label.end as usize);
        if let Some(spelled) = spelled::read(page, start)
            && is_value(&spelled, label)
        {
            out.weigh(spelled.span, Shape::Spelled, Evidence::Label);
        }
    }
}

/// Takes numbers said in words, for which `judge` knows evidence by their label and count of digits.
pub(super) fn spoken(
    page: &Page<'_>,
    out: &mut Collector<'_>,
    own: &[Meaning],
    judge: impl Fn(Option<LabelMatch>, usize) -> Option<Evidence>,
) {
    for spoken in &page.spoken {
        let claim = number_claim(page, spoken.span.start, own);
        if let Some(evidence) = judge(claim, spoken.digits) {
            out.weigh(spoken.span.clone(), Shape::Spoken, evidence);
        }
    }
}
