//! Social security numbers.
//!
//! Three, two and four digits. By the Social Security Administration's rules
//! (SSN randomization, 2011) the area is never 000, 666 or 900 to 999, the group
//! never 00, the serial never 0000. A number that someone calls an SSN is one even
//! when it breaks those rules: test data and typing errors still point at people.

mod last_four;

use std::ops::Range;

use last_four::{last_four, masked_token};

use super::labelled::{fields, spelled, spoken};
use super::{Collector, Finder};
use crate::context::{
    LabelMatch, Strength, claim_after, is_equated, is_spoken_of, is_stated, number_claim,
};
use crate::digits::{self, Run};
use crate::kinds::{Evidence, Meaning, Shape};
use crate::page::Page;

/// The labels of an SSN.
const OWN: &[Meaning] = &[Meaning::Ssn, Meaning::SsnMaybe];

pub(super) static FINDER: Finder = Finder {
    joins: super::stand_alone,
    find,
    beside: super::no_neighbour,
    among: None,
    complete: super::as_found,
    contradicts: super::never,
};

fn find(page: &Page<'_>, out: &mut Collector<'_>) {
    let is_named = page.has_meaning(|meaning| OWN.contains(&meaning));
    for index in page.each_number() {
        let mark = page.marks[index];
        if mark.is_code() && mark.len() == 9 {
            masked_token(page, mark.range(), out);
        }
        if !mark.is_number() {
            continue;
        }
        match mark.len() {
            3 => grouped(page, index, out),
            9 => unbroken(page, mark.range(), out),
            4 => last_four(page, mark.range(), is_named, out),
            _ => {}
        }
        if mark.len() < 9 {
            oddly_grouped(page, index, out);
        }
    }
    fields(page, out, Meaning::Ssn, Evidence::Field, is_field_value);
    fields(
        page,
        out,
        Meaning::SsnMaybe,
        Evidence::VagueField,
        is_issued,
    );
    spelled(
        page,
        out,
        |one| OWN.contains(&one),
        |spelled, label| {
            let around = (label.start as usize).saturating_sub(24)..spelled.span.start;
            let says_last = || contains_word(page.slice(around), b"last");
            let is_long = spelled.value.len() == 9 || spelled.value.len() == 4 && says_last();
            is_long && spelled.is_digits_in_words(page)
        },
    );
    spoken(page, out, OWN, |claim, digits| {
        let is_called = digits == 9 && claim.is_some_and(|claim| is_ssn(&claim));
        is_called.then_some(Evidence::Label)
    });
}

/// Whether the whole value of an SSN field is one: nine digits however grouped, or the last four.
fn is_field_value(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_plain = value.iter().all(|byte| {
        byte.is_ascii_digit() || matches!(byte, b'-' | b' ' | b'.' | b'x' | b'X' | b'*' | b'#')
    });
    // A number that some program wrote as 5.36228741e8.
    let is_scaled = std::str::from_utf8(value)
        .ok()
        .filter(|text| text.contains(['e', 'E']))
        .and_then(|text| text.parse::<f64>().ok())
        .is_some_and(|number| number.fract() == 0.0 && (1e6..1e9).contains(&number));
    let is_prefixed =
        digits >= 9 && value.len() <= 16 && value.iter().all(u8::is_ascii_alphanumeric);
    is_plain && matches!(digits, 4 | 9) || is_prefixed || is_scaled
}

/// Finds a number in groups, with any separators (`536-22-8741`).
fn grouped(page: &Page<'_>, index: usize, out: &mut Collector<'_>) {
    let Some(run) = Run::read(page, index, &[3, 2, 4], digits::is_loose_separator) else {
        return;
    };
    let claim = nearest(page, run.span.start);
    let follows_rules = is_issued(&run.digits(page));
    let is_dashed = run.has_same_separator(page, b"-");
    let is_evenly_grouped = is_dashed || run.has_same_separator(page, b" ");
    let is_piece = if is_dashed && follows_rules {
        digits::has_more_groups(page, &run.span)
    } else {
        digits::is_inside_longer(page, &run.span)
    };
    match claim {
        Some(claim) if claim.is(Meaning::Ssn) && claim.is_firm() => {
            out.weigh(run.span, Shape::Grouped, Evidence::Label);
        }
        _ if is_piece => {}
        // Taxpayer numbers look like an SSN, but start with a 9.
        Some(claim) if is_ssn(&claim) && (follows_rules || claim.tie >= Strength::Tight) => {
            out.weigh(run.span, Shape::Grouped, Evidence::VagueLabel);
        }
        // A number that is never issued, but labelled SSN ("SSN on facesheet 900-12-3477").
        claim
            if is_evenly_grouped
                && claim
                    .is_none_or(|claim| claim.is(Meaning::Ssn) || claim.tie >= Strength::Tight)
                && is_called_before(page, run.span.start) =>
        {
            out.weigh(run.span, Shape::Grouped, Evidence::VagueLabel);
        }
        // "SSN for the proof of claim: 536-22-8741": the sentence speaks of an SSN all the same.
        Some(claim)
            if claim.tie >= Strength::Tight
                && !is_bare_id(page, &claim)
                && !(follows_rules
                    && is_spoken_of(page, run.span.start, |meaning| meaning == Meaning::Ssn)) => {}
        _ if is_named_after(page, &run.span) && follows_rules => {
            out.weigh(run.span, Shape::Grouped, Evidence::NamedAfter);
        }
        _ if follows_rules && is_dashed => {
            out.weigh(run.span, Shape::Dashed, Evidence::Form);
        }
        // Catalogues have such numbers, too.
        _ if follows_rules
            && run.has_same_separator(page, b".")
            && (stands_alone(page, &run.span) || is_topic(page, run.span.start)) =>
        {
            out.weigh(run.span, Shape::Dotted, Evidence::Form);
        }
        _ if follows_rules
            && run.has_same_separator(page, b" ")
            && (stands_alone(page, &run.span) || is_topic(page, run.span.start)) =>
        {
            out.weigh(run.span, Shape::Spaced, Evidence::Form);
        }
        _ => {}
    }
}

/// Maximum distance between a label and an SSN that is never issued.
const CALLED_BYTES: usize = 48;

/// Whether the clause before mentions an SSN ("SSN used as member id: 508 00 7719").
fn is_called_before(page: &Page<'_>, at: usize) -> bool {
    let mut before = page.labels_before(at).iter().rev().take(4);
    before.any(|label| {
        let between = page.slice(label.end as usize..at);
        label.meaning == Meaning::Ssn
            && between.len() <= CALLED_BYTES
            && !between.iter().any(|byte| {
                byte.is_ascii_digit() || matches!(byte, b',' | b';' | b'.' | b'?' | b'\n')
            })
    })
}

/// Number of labels before a number that are searched for an SSN label.
const TOPIC_LABELS_MAX: usize = 32;

/// Whether the text before has spoken of a social security number.
fn is_topic(page: &Page<'_>, at: usize) -> bool {
    let next = page
        .labels
        .partition_point(|label| (label.start as usize) < at);
    page.labels[next.saturating_sub(TOPIC_LABELS_MAX)..next]
        .iter()
        .any(|label| matches!(label.meaning, Meaning::Ssn | Meaning::SsnMaybe))
}

/// Whether a value is alone on its line, apart from a list number or a label.
fn stands_alone(page: &Page<'_>, span: &Range<usize>) -> bool {
    let before = page.slice(span.start.saturating_sub(2)..span.start);
    let opens = before.is_empty() || before.ends_with(b"\n") || matches!(before, b". " | b": ");
    let after = page.byte(span.end);
    opens && matches!(after, 0 | b'\n' | b'\r')
}

/// Finds a number without separators (`536228741`).
fn unbroken(page: &Page<'_>, span: Range<usize>, out: &mut Collector<'_>) {
    let follows_rules = is_issued(page.slice(span.clone()));
    match nearest(page, span.start) {
        Some(claim) if claim.is(Meaning::Ssn) && claim.is_firm() => {
            out.weigh(span, Shape::Unbroken, Evidence::Label);
        }
        _ if digits::is_inside_longer(page, &span) => {}
        // "The social for Jane Roe is 536228741".
        Some(claim) if claim.is(Meaning::SsnMaybe) && follows_rules && is_stated(page, &span) => {
            out.weigh(span, Shape::Unbroken, Evidence::Stated);
        }
        Some(claim) if is_ssn(&claim) && follows_rules => {
            out.weigh(span, Shape::Unbroken, Evidence::VagueLabel);
        }
        Some(_) if !is_equated(page, span.end) => {}
        _ if is_named_after(page, &span) && follows_rules => {
            out.weigh(span, Shape::Unbroken, Evidence::NamedAfter);
        }
        _ => {}
    }
}

/// Nine digits in other groups, such as `5 3 6 2 2 8 7 4 1`, when firmly labelled.
fn oddly_grouped(page: &Page<'_>, index: usize, out: &mut Collector<'_>) {
    let Some(run) = Run::read_total(page, index, 9, digits::is_loose_separator) else {
        return;
    };
    let claim = nearest(page, page.marks[index].start as usize);
    let Some(claim) = claim.filter(|claim| claim.tie >= Strength::Tight) else {
        return;
    };
    // Two digits and seven are an employer's number.
    let is_spread = run.marks == 9;
    let is_likely =
        (is_spread || matches!(page.marks[index].len(), 3 | 5)) && is_issued(&run.digits(page));
    let is_called = claim.is(Meaning::Ssn) || claim.is(Meaning::SsnMaybe) && is_likely;
    if is_called && !digits::has_more_groups(page, &run.span) {
        out.weigh(run.span, Shape::OddlyGrouped, Evidence::Label);
    }
}

fn nearest(page: &Page<'_>, at: usize) -> Option<LabelMatch> {
    number_claim(page, at, OWN)
}

fn is_ssn(claim: &LabelMatch) -> bool {
    claim.is(Meaning::Ssn) || (claim.is(Meaning::SsnMaybe) && claim.is_firm())
}

/// `ID: 536-22-8741` or `my id is …`: a word that says nothing about which number this is, so the shape decides.
fn is_bare_id(page: &Page<'_>, claim: &LabelMatch) -> bool {
    const WHOSE: &[&str] = &["her", "his", "my", "our", "their", "your"];
    const REACH_BYTES: usize = 64;
    let from = page
        .text
        .floor_char_boundary(claim.from.saturating_sub(REACH_BYTES));
    let Some(before) = page.text.get(from..claim.from) else {
        return false;
    };
    let mut words = before
        .trim_end_matches(|character: char| !character.is_alphanumeric())
        .rsplit(char::is_whitespace);
    let is_id = words
        .next()
        .is_some_and(|word| word.eq_ignore_ascii_case("id"));
    let says_whose = |word: &str| WHOSE.iter().any(|whose| word.eq_ignore_ascii_case(whose));
    is_id
        && words
            .next()
            .is_none_or(|word| !word.ends_with(char::is_alphanumeric) || says_whose(word))
}

fn is_named_after(page: &Page<'_>, span: &Range<usize>) -> bool {
    let claim = claim_after(page, span.end, |meaning| OWN.contains(&meaning));
    claim.is_some()
        && !contains_word(
            page.slice(span.end..page.text.len().min(span.end + 16)),
            b"not",
        )
}

fn contains_word(text: &[u8], word: &[u8]) -> bool {
    text.split(|byte| !byte.is_ascii_alphanumeric())
        .any(|part| part.eq_ignore_ascii_case(word))
}

/// The rules of the authority, for nine digits.
pub(super) fn is_issued(digits: &[u8]) -> bool {
    let [a, b, c, d, e, f, g, h, i] = digits else {
        return false;
    };
    let area = [*a, *b, *c];
    area != *b"000"
        && area != *b"666"
        && *a != b'9'
        && [*d, *e] != *b"00"
        && [*f, *g, *h, *i] != *b"0000"
}
