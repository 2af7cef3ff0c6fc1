//! Social security numbers.
//!
//! Three, two and four digits. By the Social Security Administration's rules
//! (SSN randomization, 2011) the area is never 000, 666 or 900 to 999, the group
//! never 00, the serial never 0000. A number that someone calls an SSN is one even
//! when it breaks those rules: test data and typing errors still point at people.

use std::ops::Range;

use super::{Out, PhiRule};
use crate::context::{
    Claim, Tie, claim_after, claim_before, is_equated, is_spoken_of, is_stated, value_after,
};
use crate::digits::{self, Run};
use crate::labels::Meaning;
use crate::page::Page;
use crate::spelled;
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "ssn",
    label: "SSN",
    placeholder: "[SSN]",
    summary: "US social security numbers: 3-2-4 digits with any separator, nine digits in a row or spelled \
        out when called an SSN, masked forms such as XXX-XX-1234, and the last four digits when said to be of an SSN.",
    not_found: "Nine digits that nothing calls an SSN; numbers labelled as something else (MRN, order, lot).",
    authority: "SSA, Social Security Number Randomization (2011): area, group and serial rules",
    threshold: 0.5,
    hits: &[
        "My SSN is «536-22-8741»",
        "Patient John Smith, SSN «536-22-8741», has a cough",
        "social security number: «536228741»",
        "ssn «536 22 8741»",
        "«536-22-8741»",
        "ID: «536-22-8741»",
        "My id is «536-22-8741»",
        "SSN «XXX-XX-8741» on file",
        "last four of her social are «8741»",
        "SSN ending in «8741»",
        "her social is «five three six two two eight seven four one»",
        "«536-22-8741» is the SSN we have",
        "SSNs: «536-22-8741» and «536-22-8742»",
        "[SSN:«536-22-8741»]",
        "SSN «536-22-8741»DOB 3/14/1962",
        "SSN: «536:22:8741», SSN «536~22~8741»",
        "SSN: «S36-22-874l» (fax)",
        "What's your social? Caller: «536 228741».",
        "last four of your social?\nMember: uh «8741»",
        "the last four digits of my social security number are «8741».",
        "ID verified by the last four («8741») of her social",
        "it ends with «8741» for my social",
        "Jane Roe (SSN «8741»)",
        "my social is «five thirty six, twenty-two, eighty seven forty one»",
        "SSN «five hundred thirty-six, twenty-two, eighty-seven forty-one»",
        "ITIN «912-70-1234»",
        "SSN «XXXXX8741», SSN: «•••-••-8741»",
        "\"ssn4\":\"«8741»\"",
        "We have her SSN. It's «536228741».",
        "My id: «536228741» is my SSN",
        "The social for Jane Roe is «536228741».",
        "SSN as listed on the insurance card: «536228741»",
        "social security last four «eight seven four one»",
        "seguro social termina en «8741»",
        "«536228741», that's my social",
        "SSNs: «536-22-8741»,«536-22-8742» or «536228743»/«536228744»",
        "1,«536-22-8741»,Roe",
        "SSN/DOB «536-22-8741»/07-02-1971",
        "His SSN is «536-22-8741»,5 feet tall; SSN: $«536228742»",
        "What next?\nSSN: «536228741»",
        "SSN: [SSN] «536228741»",
    ],
    misses: &[
        "member id 536-22-8741",
        "MRN 536-22-8741",
        "order number 536228741",
        "536-22-0000 is not a valid SSN.",
        "000-12-3456",
        "SSN , has a cough",
        "Population 331449281 in the 2020 census.",
        "See ISBN 978-0-306-40615-7.",
        "let a = 536 - 22; assert_eq!(a, 514);",
        "SSN 2019 rules",
        "SSN on file, member ID 536228741",
        "The last four digits of the card are 8741.",
    ],
    spelling: Spelling::Code,
    precedence: 0.30,
    joins: super::stand_alone,
    find,
    beside: super::no_neighbour,
    complete: super::as_found,
    contradicts: super::never,
};

fn find(page: &Page<'_>, out: &mut Out<'_>) {
    for index in page.each_mark() {
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
            4 => last_four(page, mark.range(), out),
            _ => {}
        }
        if mark.len() < 9 {
            oddly_grouped(page, index, out);
        }
    }
    for (span, value) in page.fields_of(Meaning::Ssn) {
        if is_field_value(value) {
            out.push(span, 0.98, "ssn.field");
        }
    }
    for (span, value) in page.fields_of(Meaning::SsnMaybe) {
        if is_issued(value) && value.iter().all(u8::is_ascii_digit) {
            out.push(span, 0.8, "ssn.field");
        }
    }
    for label in page
        .labels
        .iter()
        .filter(|label| matches!(label.meaning, Meaning::Ssn | Meaning::SsnMaybe))
    {
        let start = value_after(page, label.end as usize);
        let around = page.slice((label.start as usize).saturating_sub(24)..start);
        if let Some(spelled) = spelled::read(page, start)
            && spelled.is_digits()
            && (spelled.value.len() == 9
                || spelled.value.len() == 4 && contains_word(around, b"last"))
            && page
                .slice(spelled.span.clone())
                .iter()
                .any(u8::is_ascii_alphabetic)
        {
            out.push(spelled.span, 0.9, "ssn.spoken");
        }
    }
    for spoken in &page.spoken {
        if spoken.digits == 9
            && let Some(claim) = nearest(page, spoken.span.start)
            && is_ssn(&claim)
        {
            out.push(spoken.span.clone(), 0.95, "ssn.spoken");
        }
    }
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

/// `536-22-8741`, with any separators.
fn grouped(page: &Page<'_>, index: usize, out: &mut Out<'_>) {
    let Some(run) = Run::read(page, index, &[3, 2, 4], digits::is_loose_separator) else {
        return;
    };
    let claim = nearest(page, run.span.start);
    let follows_rules = is_issued(&run.digits(page));
    let is_dashed = run.has_same_separator(page, b"-");
    let is_piece = if is_dashed && follows_rules {
        digits::has_more_groups(page, &run.span)
    } else {
        digits::is_inside_longer(page, &run.span)
    };
    match claim {
        Some(claim) if claim.is(Meaning::Ssn) && claim.is_firm() => {
            out.push(run.span, 0.99, "ssn.labelled");
        }
        _ if is_piece => {}
        // Taxpayer numbers look like an SSN, but start with a 9.
        Some(claim) if is_ssn(&claim) && (follows_rules || claim.tie >= Tie::Tight) => {
            out.push(run.span, 0.97, "ssn.labelled");
        }
        // "SSN for the proof of claim: 536-22-8741": the sentence speaks of an SSN all the same.
        Some(claim)
            if claim.tie >= Tie::Tight
                && !is_bare_id(page, &claim)
                && !(follows_rules
                    && is_spoken_of(page, run.span.start, |meaning| meaning == Meaning::Ssn)) => {}
        _ if is_named_after(page, &run.span) && follows_rules => {
            out.push(run.span, 0.97, "ssn.named_after");
        }
        _ if follows_rules && is_dashed => {
            out.push(run.span, 0.9, "ssn.dashed");
        }
        _ if follows_rules && run.has_same_separator(page, b".") => {
            out.push(run.span, 0.6, "ssn.dotted");
        }
        _ if follows_rules
            && run.has_same_separator(page, b" ")
            && stands_alone(page, &run.span) =>
        {
            out.push(run.span, 0.55, "ssn.spaced");
        }
        _ => {}
    }
}

/// Whether nothing but a list number or a label shares the line.
fn stands_alone(page: &Page<'_>, span: &Range<usize>) -> bool {
    let before = page.slice(span.start.saturating_sub(2)..span.start);
    let opens = before.is_empty() || before.ends_with(b"\n") || matches!(before, b". " | b": ");
    let after = page.byte(span.end);
    opens && matches!(after, 0 | b'\n' | b'\r')
}

/// `536228741`.
fn unbroken(page: &Page<'_>, span: Range<usize>, out: &mut Out<'_>) {
    let follows_rules = is_issued(page.slice(span.clone()));
    match nearest(page, span.start) {
        Some(claim) if claim.is(Meaning::Ssn) && claim.is_firm() => {
            out.push(span, 0.98, "ssn.labelled");
        }
        _ if digits::is_inside_longer(page, &span) => {}
        // "The social for Jane Roe is 536228741".
        Some(claim) if claim.is(Meaning::SsnMaybe) && follows_rules && is_stated(page, &span) => {
            out.push(span, 0.75, "ssn.labelled");
        }
        Some(claim) if is_ssn(&claim) && follows_rules => out.push(span, 0.9, "ssn.labelled"),
        Some(_) if !is_equated(page, span.end) => {}
        _ if is_named_after(page, &span) && follows_rules => {
            out.push(span, 0.95, "ssn.named_after");
        }
        _ => {}
    }
}

/// `8741`, when it is the end of a masked number or said to be the last four digits.
fn last_four(page: &Page<'_>, span: Range<usize>, out: &mut Out<'_>) {
    if let Some(start) = masked_start(page, span.start) {
        out.push(start..span.end, 0.95, "ssn.masked");
        return;
    }
    if digits::has_more_groups(page, &span) {
        return;
    }
    let is_named_after = claim_after(page, span.end, |meaning| {
        matches!(meaning, Meaning::Ssn | Meaning::SsnMaybe)
    })
    .is_some();
    if is_named_after && says_last(page.slice(span.start.saturating_sub(24)..span.start)) {
        out.push(span, 0.85, "ssn.last_four");
        return;
    }
    let Some(claim) = nearest(page, span.start).filter(|claim| is_ssn(claim) && claim.is_firm())
    else {
        return;
    };
    if says_last(page.slice(claim.from.saturating_sub(LAST_BYTES)..span.start)) {
        out.push(span, 0.9, "ssn.last_four");
    } else if claim.is(Meaning::Ssn) && follows_signs(page, claim.from, &span) {
        out.push(span, 0.7, "ssn.last_four");
    }
}

/// How far before the end of the label "last" may stand: "last four digits of my social security number".
const LAST_BYTES: usize = 56;

/// Whether the words say that these are the last digits of a number.
fn says_last(words: &[u8]) -> bool {
    const LAST: &[&[u8]] = &[
        b"last", b"last4", b"ends", b"ending", b"end", b"l4", b"termina", b"ultimos",
    ];
    LAST.iter().any(|word| contains_word(words, word))
}

/// `SSN: 8741`: nothing but a sign between, and no year.
fn follows_signs(page: &Page<'_>, label_end: usize, span: &Range<usize>) -> bool {
    let between = page.slice(label_end..span.start);
    let is_year = matches!(page.slice(span.start..span.start + 2), b"19" | b"20");
    let ends = matches!(
        page.byte(span.end),
        b')' | b',' | b';' | b'\n' | b'.' | b'"' | b'\'' | 0
    );
    between.len() <= 5
        && between
            .iter()
            .all(|byte| matches!(byte, b' ' | b':' | b'#' | b'=' | b'"' | b'\'' | b'4'))
        && !is_year
        && ends
}

/// Nine digits in other groups, such as `5 3 6 2 2 8 7 4 1`, when firmly labelled.
fn oddly_grouped(page: &Page<'_>, index: usize, out: &mut Out<'_>) {
    let claim = nearest(page, page.marks[index].start as usize);
    let Some(claim) = claim.filter(|claim| claim.tie >= Tie::Tight) else {
        return;
    };
    let Some(run) = Run::read_total(page, index, 9, digits::is_loose_separator) else {
        return;
    };
    // Two digits and seven are an employer's number.
    let is_likely = matches!(page.marks[index].len(), 3 | 5) && is_issued(&run.digits(page));
    let is_called = claim.is(Meaning::Ssn) || claim.is(Meaning::SsnMaybe) && is_likely;
    if is_called && !digits::has_more_groups(page, &run.span) {
        out.push(run.span, 0.9, "ssn.oddly_grouped");
    }
}

/// The nearest label before that says which number this is.
fn nearest(page: &Page<'_>, at: usize) -> Option<Claim> {
    claim_before(page, at, |meaning| {
        matches!(
            meaning,
            Meaning::Ssn
                | Meaning::SsnMaybe
                | Meaning::Mrn
                | Meaning::MrnMaybe
                | Meaning::Medicare
                | Meaning::OtherId
                | Meaning::Thing
                | Meaning::Phone
        )
    })
}

fn is_ssn(claim: &Claim) -> bool {
    claim.is(Meaning::Ssn) || (claim.is(Meaning::SsnMaybe) && claim.is_firm())
}

/// `ID: 536-22-8741` or `my id is …`: a word that says nothing about which number this is, so the shape decides.
fn is_bare_id(page: &Page<'_>, claim: &Claim) -> bool {
    const WHOSE: &[&str] = &["her", "his", "my", "our", "their", "your"];
    let Some(before) = page.text.get(..claim.from) else {
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
    let claim = claim_after(page, span.end, |meaning| {
        matches!(meaning, Meaning::Ssn | Meaning::SsnMaybe)
    });
    claim.is_some()
        && !contains_word(
            page.slice(span.end..page.text.len().min(span.end + 16)),
            b"not",
        )
}

/// `XXXXX8741`, when called an SSN.
fn masked_token(page: &Page<'_>, span: Range<usize>, out: &mut Out<'_>) {
    let value = page.slice(span.clone());
    let is_masked = value[..5].iter().all(|byte| matches!(byte, b'x' | b'X'))
        && value[5..].iter().all(u8::is_ascii_digit);
    if is_masked && nearest(page, span.start).is_some_and(|claim| is_ssn(&claim) && claim.is_firm())
    {
        out.push(span, 0.9, "ssn.masked");
    }
}

/// Where `XXX-XX-` before the last four digits starts.
fn masked_start(page: &Page<'_>, four: usize) -> Option<usize> {
    // Bullets, which the view shows as dots.
    const DOTS: &[u8] = b"...-..-";
    if page.slice(four.saturating_sub(DOTS.len())..four) == DOTS {
        return Some(four - DOTS.len());
    }
    let bytes = page.bytes();
    let mut at = four;
    let mut masks = 0;
    while at > 0 && masks < 5 {
        match bytes[at - 1] {
            b'x' | b'X' | b'*' | b'#' => masks += 1,
            b'-' | b' ' | b'.' if four - at < 10 => {}
            _ => break,
        }
        at -= 1;
    }
    let before = at.checked_sub(1).map_or(b' ', |before| bytes[before]);
    // "4532************7890" is a card.
    let stands_alone = !before.is_ascii_alphanumeric() && !matches!(before, b'*' | b'#');
    (masks == 5 && stands_alone).then_some(at)
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
