//! Telephone, mobile, fax and pager numbers.
//!
//! North American numbers have ten digits; area and exchange start with 2 to 9.
//! International numbers start with "+" and have at most fifteen digits.

use std::ops::Range;

use super::{Out, PhiRule};
use crate::context::{Claim, Tie, claim_after, claim_before, is_spoken_of, value_after};
use crate::digits::Run;
use crate::labels::Meaning;
use crate::page::Page;
use crate::spelled;

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
    ],
    precedence: 0.25,
    joins: super::stand_alone,
    find,
    beside: super::no_neighbour,
    complete: super::as_found,
    contradicts: super::never,
};

fn find(page: &Page<'_>, out: &mut Out<'_>) {
    let mut free_from = 0;
    for index in 0..page.marks.len() {
        let mark = page.marks[index];
        if !mark.is_number() || (mark.start as usize) < free_from {
            continue;
        }
        if let Some((span, score, rule)) = number_at(page, index) {
            let span = with_extension(page, span);
            free_from = span.end;
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
fn number_at(page: &Page<'_>, index: usize) -> Option<(Range<usize>, f32, &'static str)> {
    let run = Run::read_all(page, index, 6, is_separator);
    let start = run.span.start;
    if page.byte_before(start) == b'+' {
        return international(page, &run);
    }
    // The shortest number anyone dials from outside has six digits.
    if run.digit_count < 6 || is_tied_before(page, start) {
        return None;
    }
    let claim = nearest(page, start);
    let is_phone = claim.is_some_and(|claim| claim.is(Meaning::Phone));
    let is_firm = claim.is_some_and(|claim| claim.is(Meaning::Phone) && claim.is_firm());
    let may_be_phone = is_phone
        || claim.is_some_and(|claim| claim.is(Meaning::PhoneMaybe) && claim.tie >= Tie::Near);
    let is_other = claim.is_some_and(|claim| {
        !claim.is(Meaning::Phone) && !claim.is(Meaning::PhoneMaybe) && claim.is_firm()
    });
    if let Some((span, shape)) = north_american(page, index) {
        if goes_on(page, span.end) || is_other {
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
            Shape::Plain => None,
        };
        return found.map(|(score, rule)| (span, score, rule));
    }
    if is_other {
        return None;
    }
    let is_tight = claim.is_some_and(|claim| claim.tie >= Tie::Tight);
    labelled(page, index, is_firm, may_be_phone, may_be_phone && is_tight)
}

fn is_of_calling(meaning: Meaning) -> bool {
    matches!(meaning, Meaning::Phone | Meaning::PhoneMaybe)
}

/// How much a ten-digit number looks like a telephone number by itself.
enum Shape {
    /// Parentheses, dashes or dots in the right places.
    Clear,
    /// Spaces only.
    Spaced,
    /// No separators.
    Plain,
}

/// Ten digits in the North American grouping, with or without the country code.
fn north_american(page: &Page<'_>, index: usize) -> Option<(Range<usize>, Shape)> {
    let marks = &page.marks[index..];
    let first = marks[0];
    let country = if first.len() == 1 && page.byte(first.start as usize) == b'1'
        || first.len() == 3 && page.slice(first.range()) == b"001"
    {
        1
    } else {
        0
    };
    let with_country = Run::read(page, index + country, &[3, 3, 4], is_separator).filter(|_| {
        country == 0 || is_separator(page.slice(first.end as usize..marks[1].start as usize))
    });
    if let Some(run) = with_country {
        let digits = run.digits(page);
        let separators = page.slice(run.span.clone());
        let is_spaced = !separators
            .iter()
            .any(|byte| matches!(byte, b'-' | b'.' | b'(' | b')' | b'/'));
        let opens = page.byte_before(run.span.start) == b'(' && separators.contains(&b')');
        let is_valid = matches!(digits[0], b'2'..=b'9') && matches!(digits[3], b'2'..=b'9');
        let start = if country == 1 {
            first.start as usize
        } else {
            run.span.start - usize::from(opens)
        };
        let shape = match (is_spaced, is_valid || country == 1 || opens) {
            (true, true) => Shape::Spaced,
            (true, false) => Shape::Plain,
            (false, _) => Shape::Clear,
        };
        return Some((start..run.span.end, shape));
    }
    // "(206)5550142".
    if let Some(run) = Run::read(page, index, &[3, 7], |between| {
        matches!(between, b")" | b") ")
    }) && page.byte_before(run.span.start) == b'('
    {
        return Some((run.span.start - 1..run.span.end, Shape::Clear));
    }
    // "956 5550128".
    if let Some(run) = Run::read(page, index, &[3, 7], |between| {
        matches!(between, b" " | b"-" | b".")
    }) && matches!(page.byte(run.span.start), b'2'..=b'9')
    {
        let is_valid = matches!(page.byte(run.span.start + 4), b'2'..=b'9');
        let shape = if is_valid {
            Shape::Spaced
        } else {
            Shape::Plain
        };
        return Some((run.span, shape));
    }
    let value = page.slice(first.range());
    let is_plain = match value.len() {
        10 => matches!(value[0], b'2'..=b'9'),
        11 => value[0] == b'1' && matches!(value[1], b'2'..=b'9'),
        _ => false,
    };
    is_plain.then(|| (first.range(), Shape::Plain))
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
    if goes_on(page, span.end) || looks_like_date(page, &run, lengths) {
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
    let is_abroad = is_grouped
        && (is_british || lengths[0] >= 3 && lengths.len() >= 3 || lengths.len() >= 4)
        && (8..=13).contains(&digits)
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

/// After "+": a country code and up to fifteen digits.
fn international(page: &Page<'_>, run: &Run) -> Option<(Range<usize>, f32, &'static str)> {
    let mut digits = run.digit_count;
    let mut end = run.span.end;
    // After +1 come ten digits; what follows on another line is something else.
    if page.byte(run.span.start) == b'1' && digits > 11 {
        let eleventh = page
            .slice(run.span.clone())
            .iter()
            .enumerate()
            .filter(|(_, byte)| byte.is_ascii_digit())
            .nth(10)?;
        end = run.span.start + eleventh.0 + 1;
        digits = 11;
        if page.byte(end).is_ascii_digit() {
            return None;
        }
    }
    let span = run.span.start - 1..end;
    let before = page.byte_before(span.start);
    let stands_alone = !before.is_ascii_alphanumeric();
    ((8..=15).contains(&digits) && stands_alone).then_some((span, 0.95, "phone.international"))
}

/// Takes a directly attached extension into the number: "x123", "ext. 44", "#5".
fn with_extension(page: &Page<'_>, span: Range<usize>) -> Range<usize> {
    let bytes = page.bytes();
    let mut at = span.end;
    while at < bytes.len() && at < span.end + 2 && matches!(bytes[at], b' ' | b',') {
        at += 1;
    }
    let word = &bytes[at..crate::page::word_end(bytes, at)];
    let is_extension = [b"x".as_slice(), b"ext", b"extension", b"extn"]
        .iter()
        .any(|one| word.eq_ignore_ascii_case(one));
    if !is_extension {
        return span;
    }
    at += word.len();
    let gap = bytes[at..]
        .iter()
        .take(2)
        .take_while(|byte| matches!(byte, b' ' | b'.' | b':' | b'#'))
        .count();
    at += gap;
    let digits = bytes[at.min(bytes.len())..]
        .iter()
        .take(7)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if (1..=6).contains(&digits) {
        span.start..at + digits
    } else {
        span
    }
}

fn is_separator(between: &[u8]) -> bool {
    matches!(
        between,
        b"-" | b"."
            | b" "
            | b") "
            | b")"
            | b")-"
            | b"("
            | b" ("
            | b"-("
            | b" - "
            | b"/"
            | b". "
            | b" . "
            | b"- "
            | b" -"
            | b").",
    ) || matches!(between, b"(0)" | b"\n" | b"-\n" | b"-\r\n" | b"  " | b"_")
}

/// Whether the number is the tail of something longer.
fn is_tied_before(page: &Page<'_>, start: usize) -> bool {
    if page.is_field_edge(start) {
        return false;
    }
    let before = page.byte_before(start);
    let second = page.byte_before(start.saturating_sub(1));
    matches!(before, b'-' | b'.' | b'/' | b'_' | b':' | b',')
        && second.is_ascii_alphanumeric()
        && (second.is_ascii_digit() || before == b'/')
        || matches!(before, b'$' | b'#' if second.is_ascii_alphanumeric())
}

/// Whether the number goes on after its end: `555-0142-88`, `555.01.2`, `5550142%`.
fn goes_on(page: &Page<'_>, end: usize) -> bool {
    if page.is_field_edge(end) {
        return false;
    }
    let after = page.byte(end);
    matches!(after, b'-' | b'.' | b'/' | b':' | b'_') && page.byte(end + 1).is_ascii_digit()
        || after == b'%'
}

/// National drug codes: 4-4-2, 5-4-2, 5-3-2.
fn is_drug_code(lengths: &[usize]) -> bool {
    matches!(lengths, [4 | 5, 3 | 4, 2 | 1])
}

fn looks_like_date(page: &Page<'_>, run: &Run, lengths: &[usize]) -> bool {
    let first = page.slice(run.span.start..run.span.start + 2);
    match lengths {
        [4, 1 | 2, 1 | 2, ..] => first == b"19" || first == b"20",
        [1 | 2, 1 | 2, 4] => true,
        _ => false,
    }
}

/// "206-555-0142 (cell)", "206-555-0142-Fax", "206-555-0142 is her phone".
fn is_called_after(page: &Page<'_>, end: usize) -> bool {
    if claim_after(page, end, |meaning| meaning == Meaning::Phone).is_some() {
        return true;
    }
    let at = end
        + page
            .slice(end..end + 2)
            .iter()
            .take_while(|byte| matches!(byte, b'-' | b' ' | b'('))
            .count();
    let word = page.slice(at..crate::page::word_end(page.bytes(), at));
    let is_kind = [
        b"office".as_slice(),
        b"fax",
        b"home",
        b"cell",
        b"mobile",
        b"work",
        b"pager",
    ]
    .iter()
    .any(|kind| word.eq_ignore_ascii_case(kind));
    at > end && is_kind && page.byte(at - 1) != b' '
}

fn nearest(page: &Page<'_>, at: usize) -> Option<Claim> {
    claim_before(page, at, |meaning| {
        matches!(
            meaning,
            Meaning::Phone
                | Meaning::PhoneMaybe
                | Meaning::Ssn
                | Meaning::Mrn
                | Meaning::MrnMaybe
                | Meaning::Medicare
                | Meaning::OtherId
                | Meaning::Thing
                | Meaning::Zip
        )
    })
}
