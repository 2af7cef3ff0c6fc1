//! Telephone, mobile, fax and pager numbers.
//!
//! North American numbers have ten digits; area and exchange start with 2 to 9.
//! International numbers start with "+" and have at most fifteen digits.

mod around;
mod shape;

use std::ops::Range;

use super::{Out, PhiRule};
use crate::context::{Tie, is_spoken_of, value_after};
use crate::digits::{Run, has_more_groups, is_measured};
use crate::labels::Meaning;
use crate::page::Page;
use crate::spelled;
use crate::spelling::Spelling;
use around::{
    beside, follows_kin, is_called_after, is_dialled, is_of_calling, is_of_pager, nearest,
};
use shape::{
    Shape, goes_on, international, is_clear, is_drug_code, is_separator, is_tied_before,
    looks_like_date, north_american, other_ending, with_extension,
};

pub(super) static RULE: PhiRule = PhiRule {
    code: "phone",
    label: "Phone",
    placeholder: "[PHONE]",
    summary: "US and international telephone, mobile, fax and pager numbers in the usual groupings, with country code \
        and extension; seven digits, digits without separators and spelled digits where the words around speak of calling.",
    not_found: "911, 988 and other short codes, in-house extensions alone, ranges, lab values, order and version numbers, time stamps.",
    authority: "North American Numbering Plan (ATIS-0300051); ITU-T E.164",
    threshold: 0.5,
    hits: &[
        "Please call the patient back on «206-555-0142» after lunch.",
        "Call her back on «(206) 555-0142» after 5pm",
        "Fax the referral to «206.555.0143»",
        "+44: «+44 20 7946 0958»",
        "cell «2065550142»",
        "phone: «206-555-0142 x123»",
        "tel «1-800-555-0199 ext. 44»",
        "call «555-0142» if worse",
        "pager «(206)555-0142»",
        "or «(206)5550142»",
        "callback number is area code «two oh six, five five five, zero one four two»",
        "her number is «two zero six five five five zero one four two»",
        "call «eight hundred, five five five, zero one ninety nine»",
        "Tel: «(2O6) 555-Ol42» (fax)",
        "«206-555-0142»/«206-555-0143» or «206-555-0144»/«0145»",
        "pager «31415», ext 2217",
        "cell#«2065550142», (C) «2065550143», «(+1) 206 555 0142»",
        "abroad: «011 52 55 1234 5678» and «0044 20 7946 0958»",
        "daughter's # is «2065550142»",
        "Jane Roe, «2065550142»",
        "7,«206-555-0142»,8 or phone: «2065550142»,5 calls",
    ],
    misses: &[
        "Call 911 or 988 in a crisis.",
        "ratio 2065550142 seen",
        "MRN 206-555-0142",
        "order number 206-555-0142",
        "platelets 150-400, sodium 135-145",
        "version 1.2.840.113",
        "call  after lunch",
        "2025-02-03 11:02:33",
        "10.1056/NEJMoa2034577",
        "Please charge my credit card. Number is 4563824065059",
        "my driver's license number is 2270-66-1551",
        "call if taking 500-1000 mg, or 325-1000 mg a day",
        "pager: 5000 units of heparin",
    ],
    spelling: Spelling::Telephone,
    precedence: 0.25,
    joins: super::stand_alone,
    find,
    beside,
    complete: super::as_found,
    contradicts: super::never,
};

fn find(page: &Page<'_>, out: &mut Out<'_>) {
    let mut free_from = 0;
    for index in page.each_mark() {
        let mark = page.marks[index];
        if !mark.is_number() || (mark.start as usize) < free_from {
            continue;
        }
        let is_next = free_from > 0 && mark.start as usize == free_from + 1;
        if let Some((span, score, rule)) = number_at(page, index, is_next) {
            let is_long = span.len() >= 7;
            let span = if is_long {
                with_extension(page, span)
            } else {
                span
            };
            free_from = span.end;
            if let Some(ending) = other_ending(page, span.end) {
                out.push(ending, 0.7, "phone.other_ending");
            }
            out.push(span, score, rule);
        }
    }
    for (span, value) in page.fields_of(Meaning::Phone) {
        if is_field_value(value) {
            out.push(span, 0.95, "phone.field");
        }
    }
    for label in page
        .labels
        .iter()
        .filter(|label| is_of_calling(label.meaning))
    {
        let start = value_after(page, label.end as usize);
        if let Some(spelled) = spelled::read(page, start)
            && spelled.is_digits()
            && matches!(spelled.value.len(), 7 | 10 | 11)
            && page
                .slice(spelled.span.clone())
                .iter()
                .any(u8::is_ascii_alphabetic)
        {
            out.push(spelled.span, 0.85, "phone.spoken");
        }
    }
    for spoken in &page.spoken {
        let claim = nearest(page, spoken.span.start);
        let is_called =
            claim.is_some_and(|claim| claim.is(Meaning::Phone) || claim.is(Meaning::PhoneMaybe));
        if matches!(spoken.digits, 7 | 10 | 11) && is_called {
            out.push(spoken.span.clone(), 0.9, "phone.spoken");
        } else if spoken.digits == 10 && claim.is_none() {
            // Hardly anything else of ten digits is said aloud.
            out.push(spoken.span.clone(), 0.6, "phone.spoken");
        }
    }
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

/// A number whose first group is the mark.
///
/// `is_next` says that another number ends one character before it.
fn number_at(
    page: &Page<'_>,
    index: usize,
    is_next: bool,
) -> Option<(Range<usize>, f32, &'static str)> {
    let run = Run::read_all(page, index, 6, is_separator);
    let start = run.span.start;
    if page.byte_before(start) == b'+'
        && let Some(found) = international(page, &run)
    {
        return Some(found);
    }
    if run.digit_count < 4 || is_measured(page, run.span.end) && !is_clear(&run) {
        return None;
    }
    let claim = nearest(page, start);
    let is_tied = is_tied_before(page, start) && !is_next;
    let is_firm = claim.is_some_and(|claim| claim.is(Meaning::Phone) && claim.is_firm());
    // The shortest number anyone dials from outside has six digits.
    if run.digit_count < 6 {
        let is_pager = claim.is_some_and(|claim| is_of_pager(page, &claim));
        return (is_pager && !is_tied && !goes_on(page, run.span.end)).then_some((
            run.span,
            0.8,
            "phone.pager",
        ));
    }
    let is_phone = claim.is_some_and(|claim| claim.is(Meaning::Phone));
    let may_be_phone = is_phone
        || claim.is_some_and(|claim| claim.is(Meaning::PhoneMaybe) && claim.tie >= Tie::Near);
    let is_other = claim.is_some_and(|claim| {
        !claim.is(Meaning::Phone) && !claim.is(Meaning::PhoneMaybe) && claim.is_firm()
    });
    if let Some((span, shape)) = north_american(page, index) {
        let opens = page.byte(span.start) == b'(';
        let is_piece = match shape {
            _ if is_firm => false,
            Shape::Clear if may_be_phone || opens => false,
            Shape::Clear => has_more_groups(page, &span) && !is_next,
            _ => is_tied || goes_on(page, span.end),
        };
        if is_piece || is_other {
            return None;
        }
        let is_called = may_be_phone || is_called_after(page, span.end);
        let found = match shape {
            Shape::Clear => Some((if is_called { 0.98 } else { 0.9 }, "phone.north_american")),
            Shape::Spaced => Some((if is_called { 0.95 } else { 0.65 }, "phone.spaced")),
            Shape::Plain if is_called => Some((0.9, "phone.labelled")),
            Shape::Plain if is_spoken_of(page, span.start, is_of_calling) && claim.is_none() => {
                Some((0.7, "phone.spoken_of"))
            }
            Shape::Plain
                if claim.is_none()
                    && [b" at ".as_slice(), b"my # ", b" my #", b"her # ", b"his # "]
                        .iter()
                        .any(|words| page.slice(0..span.start).ends_with(words)) =>
            {
                Some((0.6, "phone.at"))
            }
            Shape::Plain
                if claim.is_none() && is_dialled(page, &span) && follows_kin(page, start) =>
            {
                Some((0.65, "phone.of_family"))
            }
            Shape::Plain => None,
        };
        return found.map(|(score, rule)| (span, score, rule));
    }
    if is_other || is_tied && (!is_firm || has_more_groups(page, &run.span)) {
        return None;
    }
    let is_tight = claim.is_some_and(|claim| claim.tie >= Tie::Tight);
    labelled(page, index, is_firm, may_be_phone, may_be_phone && is_tight)
}

/// Other groupings, when the words around speak of a telephone.
fn labelled(
    page: &Page<'_>,
    index: usize,
    is_firm: bool,
    may_be: bool,
    is_tight: bool,
) -> Option<(Range<usize>, f32, &'static str)> {
    let run = Run::read_all(page, index, 6, is_separator);
    let digits = run.digit_count;
    let all_lengths = run.lengths(page);
    let lengths = &all_lengths[..run.marks.min(all_lengths.len())];
    let opens =
        page.byte_before(run.span.start) == b'(' && page.slice(run.span.clone()).contains(&b')');
    let span = run.span.start - usize::from(opens)..run.span.end;
    // Of groups as free as these a label makes a number only if they end where it ends.
    let is_whole = is_firm
        && !has_more_groups(page, &run.span)
        && !page.slice(run.span.clone()).contains(&b'\n');
    if goes_on(page, span.end) && !is_whole || looks_like_date(page, &run, lengths) {
        return None;
    }
    let is_simple = page
        .slice(run.span.clone())
        .iter()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'-') || opens && *byte == b')');
    let is_local = lengths == [3, 4];
    let is_grouped = lengths.len() >= 2 && is_simple;
    let starts_with_zero = page.byte(run.span.start) == b'0';
    // British numbers: "01603 555 0172", "07700 900461".
    let is_british = is_grouped && lengths[0] == 5 && matches!(digits, 10 | 11);
    // What one dials to call another country: "011 52 55…", "0044 20…".
    let opens = page.slice(run.span.start..run.span.start + 3);
    let is_dialled_out =
        lengths.len() >= 3 && (opens == b"011" && lengths[0] == 3 || opens.starts_with(b"00"));
    let is_abroad = is_grouped
        && (is_british || lengths[0] >= 3 && lengths.len() >= 3 || lengths.len() >= 4)
        && ((8..=13).contains(&digits) || is_dialled_out && digits <= 15)
        && starts_with_zero
        && !is_drug_code(lengths);
    match digits {
        7..=15 if is_firm && !is_drug_code(lengths) => Some((span, 0.93, "phone.labelled")),
        7..=15 if is_simple && is_called_after(page, span.end) => {
            Some((span, 0.9, "phone.named_after"))
        }
        7 if is_local && may_be => Some((span, 0.85, "phone.local")),
        10 if is_simple && may_be && page.slice(0..span.start).ends_with(b" at ") => {
            Some((span, 0.7, "phone.at"))
        }
        10..=11 if is_simple && (may_be && starts_with_zero || is_tight) => {
            Some((span, 0.75, "phone.abroad"))
        }
        6..=13 if is_grouped && is_tight => Some((span, 0.7, "phone.abroad")),
        6 if is_grouped && is_firm => Some((span, 0.7, "phone.abroad")),
        _ if is_abroad => Some((span, if may_be { 0.75 } else { 0.55 }, "phone.abroad")),
        _ => None,
    }
}
