//! Record numbers without a label, in texts about people.
//!
//! Staff who write to colleagues about a patient often give only the number ("whose is 4471902?", "keep B2044710,
//! retire the other"). In a text that names people, a number of that form without a competing label is almost always
//! a record number.

use std::ops::Range;

use super::rows::rows;
use super::value::{
    is_diagnosis, is_local_number, is_something_else, is_tie, spaced_groups, token_start,
    value_span, with_tied_rest,
};
use super::{digits_in, is_bare_id, is_patients, nearest};
use crate::dates::date_at;
use crate::kinds::{Evidence, Meaning, Shape};
use crate::lexicon::{LEXICON, Sense};
use crate::page::{Mark, Page, last_letters};
use crate::people;
use crate::rules::{Collector, NamedPeople};
use crate::word_list::WordList;

/// Maximum distance between a name and a short or grouped number.
const REACH_BYTES: usize = 100;

/// Capitals before a number that are not those of a hospital: registers of professions, tickets, orders.
const NOT_HOUSES: &str = "AHPRA BD CAS CFR CHG CIMS COL CPT CRM CS CVE DATIX DEA GDC GMC GPHC HCPC HELP ICD INC IRAS ISBN ISO IT \
    LOT MDCN MSG NCT NDC NMC NPI ORA PMID PO PRB REF REQ RFC RITM RUT RX SKU SN SO SR TKT WO X";

/// Actions on one of two charts.
static DONE: WordList = WordList::new("keep merge open pull retain retire survives");

/// Carriers of patient numbers: a shorter number is enough behind these words.
static CARRIERS: WordList = WordList::new(
    "armband band bracelet card cartella chart charts dosya dossier file folder hosp hospital \
     patient pid pt rio scheda sticker tag under wristband",
);

/// The numbers of patients that no word names.
pub(super) fn among(page: &Page<'_>, named: &NamedPeople<'_>, out: &mut Collector<'_>) {
    let is_about_patients = page.labels.iter().any(|label| {
        matches!(
            label.meaning,
            Meaning::Mrn | Meaning::MrnMaybe | Meaning::Dob | Meaning::Born | Meaning::Name
        )
    });
    rows(page, named, out);
    let mut free_from = 0;
    for index in page.each_number() {
        let mark = page.marks[index];
        if (mark.start as usize) < free_from || is_of_other_size(page, mark) {
            continue;
        }
        let Some(span) = whole(page, named, index) else {
            continue;
        };
        let Some(form) = form(page, &span) else {
            continue;
        };
        free_from = span.end;
        let is_carried = || follows_carrier(page, span.start);
        let is_told = form == Form::Long && is_about_patients
            || is_carried() && (is_about_patients || is_near(page, &span, named))
            || form != Form::Carried && is_near(page, &span, named);
        if is_told && is_nobodys_else(page, index, &span) && !is_of_something(page, named, &span) {
            out.weigh(span, Shape::Value, Evidence::AmongPeople);
        }
    }
}

/// Minimum length of a record number, and maximum number of its digits.
const VALUE_BYTES_MIN: usize = 5;
const DIGITS_MAX: usize = 10;

/// Whether a mark is too short or too long, and its neighbours cannot belong to the same value.
fn is_of_other_size(page: &Page<'_>, mark: Mark) -> bool {
    let may_join = |byte: u8| is_tie(byte) || byte == b' ' || byte.is_ascii_alphabetic();
    (mark.len() < VALUE_BYTES_MIN || mark.is_number() && mark.len() > DIGITS_MAX)
        && !may_join(page.byte_before(mark.start as usize))
        && !may_join(page.byte(mark.end as usize))
}

/// Returns the whole number that a mark belongs to, if it is long enough and not taken: with the letters of a
/// hospital, its groups, and the parts that signs tie to it.
fn whole(page: &Page<'_>, named: &NamedPeople<'_>, index: usize) -> Option<Range<usize>> {
    let span = value_span(page, index);
    if named.is_taken(&span) {
        return None;
    }
    let housed = with_house(page, named, span.clone());
    let has_letters = page.byte(housed.start).is_ascii_uppercase();
    let span = if has_letters {
        spaced_groups(page, housed)
    } else {
        span
    };
    let span = with_tied_rest(page, token_start(page, span.start)..span.end);
    (span.len() >= VALUE_BYTES_MIN && digits_in(page, &span) >= 3 && !named.is_taken(&span))
        .then_some(span)
}

/// Whether a number follows the word for a carrier ("folder KMC/447", "File: B-447").
fn follows_carrier(page: &Page<'_>, start: usize) -> bool {
    let before = page.slice(start.saturating_sub(3)..start);
    let signs = before
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b' ' | b':' | b'(' | b'.' | b'#'))
        .count();
    let is_carrier = |end: usize| {
        page.word_start_before(end).is_some_and(|word| {
            let word = page.slice(word..end);
            CARRIERS.has(word)
        })
    };
    signs > 0
        && (is_carrier(start - signs)
            || number_word(page, start - signs)
                .is_some_and(|end| is_carrier(end) || is_whose(page, end)))
}

/// Whether the word before is a possessive ("their number 447-190-Q").
fn is_whose(page: &Page<'_>, end: usize) -> bool {
    static WHOSE: WordList = WordList::new("her his our their your");
    page.word_start_before(end).is_some_and(|start| {
        let word = page.slice(start..end);
        WHOSE.has(word)
    })
}

/// Returns the end of the word before the word for a number ("card no ", "your number ").
fn number_word(page: &Page<'_>, end: usize) -> Option<usize> {
    const WORDS: &[&[u8]] = &[b"no", b"nr", b"number", b"num"];
    let (_, start) = page.word_before(end)?;
    let word = page.slice(start..end);
    let before = start
        .checked_sub(1)
        .filter(|&before| page.byte(before) == b' ')?;
    WORDS
        .iter()
        .any(|one| word.eq_ignore_ascii_case(one))
        .then_some(before)
}

#[derive(PartialEq)]
enum Form {
    /// Seven or eight digits, or letters and five to ten of them.
    Long,
    /// Six or nine digits, or groups: a name must be near.
    Short,
    /// Another number of digits or other letters: the number needs a carrier as well.
    Carried,
}

/// Whether a value is built like a record number: letters first, if it has any, then digits, in groups perhaps.
fn form(page: &Page<'_>, span: &Range<usize>) -> Option<Form> {
    let value = page.slice(span.clone());
    let digits = digits_in(page, span);
    if digits > DIGITS_MAX {
        return None;
    }
    let letters = value
        .iter()
        .take_while(|byte| byte.is_ascii_uppercase())
        .count();
    let is_sign = |byte: &u8| is_tie(*byte) || *byte == b' ';
    let is_plain = value[letters..]
        .iter()
        .all(|byte| byte.is_ascii_digit() || is_sign(byte));
    let is_grouped = value[letters..].iter().skip(1).any(is_sign);
    let is_spaced = value.contains(&b' ');
    let is_range = is_grouped && !is_spaced && is_years_or_hours(&value[letters..]);
    match (letters, is_grouped) {
        (0, true) if is_number_of_year(value) => Some(Form::Carried),
        _ if is_diagnosis(value) || is_local_number(value) || is_hour_of(value) => None,
        _ if is_range && letters == 0 => None,
        (1..=5, _) if is_range => (is_plain && digits >= 6).then_some(Form::Carried),
        (0, true) if value.iter().any(|byte| matches!(byte, b'.' | b'/')) => None,
        (0, false) if is_plain && matches!(digits, 7 | 8) => Some(Form::Long),
        (0, false) if is_plain && matches!(digits, 6 | 9) => Some(Form::Short),
        (0, true) if is_plain && (6..=9).contains(&digits) => Some(Form::Short),
        (1..=5, false) if is_plain && digits >= 5 => Some(Form::Long),
        (1..=5, true) if is_plain && !is_reading(value) => Some(Form::Short),
        (0..=5, _) if is_plain && digits >= 4 => Some(Form::Carried),
        (0..=6, _) if is_mixed(value) => Some(Form::Carried),
        _ => None,
    }
}

/// Whether a value is a theatre and the hour of its list (`OR2 0730`).
fn is_hour_of(value: &[u8]) -> bool {
    matches!(value, [theatre @ .., digit, b' ', h, i, m, n]
        if digit.is_ascii_digit()
            && theatre.iter().all(u8::is_ascii_uppercase)
            && (b"0000".as_slice()..b"2400".as_slice()).contains(&[*h, *i, *m, *n].as_slice())
            && *m < b'6')
}

/// Whether a value is a postal code with the sign of its country, before its town ("D-77709 Oberwolfach").
fn is_postal_code(page: &Page<'_>, span: &Range<usize>) -> bool {
    let value = page.slice(span.clone());
    matches!(value, [letter, b'-', digits @ ..] if letter.is_ascii_uppercase() && matches!(digits.len(), 4 | 5))
        && page.byte(span.end) == b' '
        && page.byte(span.end + 1).is_ascii_uppercase()
}

/// Whether a value is the number of a year (`2024/03391`).
fn is_number_of_year(value: &[u8]) -> bool {
    matches!(value, [b'1', b'9', _, _, b'/', number @ ..] | [b'2', b'0', _, _, b'/', number @ ..]
        if (4..=6).contains(&number.len()) && number.iter().all(u8::is_ascii_digit))
}

/// Whether a value is a measurement or a citation, with its letters before it (`BP 120/80`, `CFR 412.6`, `BIS
/// 40-55`).
fn is_reading(value: &[u8]) -> bool {
    let is_spaced = value.contains(&b' ');
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let has_point = value.iter().any(|byte| matches!(byte, b'.' | b'/'));
    digits < 4 || is_spaced && (digits < 5 || has_point)
}

/// Whether a value is capitals and digits, tied by signs (`KMC/P/447`, `44-TR-1029`, `V209118K`).
fn is_mixed(value: &[u8]) -> bool {
    value
        .iter()
        .all(|&byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || is_tie(byte))
}

/// Whether a value is the case of a year, a shift, or a range ("25-01944", "0700-1900", "95-120").
fn is_years_or_hours(value: &[u8]) -> bool {
    let mut groups = value
        .split(|byte| !byte.is_ascii_digit())
        .filter(|group| !group.is_empty());
    let (Some(one), Some(two), None) = (groups.next(), groups.next(), groups.next()) else {
        return false;
    };
    let is_hour = |group: &[u8]| group.len() == 4 && group <= b"2400".as_slice() && group[2] < b'6';
    let has_century = || matches!(one[..2], [b'1', b'9'] | [b'2', b'0']);
    match (one.len(), two.len()) {
        (2, _) => one[0] == b'2',
        // "1972-81".
        (4, 2) => has_century(),
        (4, 4) if has_century() => true,
        // "150-200": round numbers are a range.
        (first, second) => {
            is_hour(one) && is_hour(two)
                || first + second < 6
                || one.ends_with(b"0") && two.ends_with(b"0") && second <= 3
        }
    }
}

/// Returns a number with the letters of a hospital before it ("KMC 4471902").
fn with_house(page: &Page<'_>, named: &NamedPeople<'_>, span: Range<usize>) -> Range<usize> {
    if page.byte_before(span.start) != b' ' {
        return span;
    }
    let end = span.start - 1;
    let house = page.word_start_before(end).filter(|&start| {
        let letters = page.slice(start..end);
        (2..=5).contains(&letters.len())
            && letters.iter().all(u8::is_ascii_uppercase)
            && !page.byte_before(start).is_ascii_alphanumeric()
            && LEXICON.sense(letters) == Sense::NONE
            && page.label_ending_at(end).is_none()
    });
    let whole = house.map(|start| start..span.end);
    whole.filter(|whole| !named.is_taken(whole)).unwrap_or(span)
}

/// Whether a possible patient is named nearby.
fn is_near(page: &Page<'_>, span: &Range<usize>, named: &NamedPeople<'_>) -> bool {
    let [last, next] = named.around(span.start);
    let is_patient = |name: &&Range<usize>| !people::follows_rank(page, name.start);
    let reaches = |from: usize, to: usize| to.saturating_sub(from) <= REACH_BYTES;
    last.filter(is_patient)
        .is_some_and(|name| reaches(name.end, span.start))
        || next
            .filter(is_patient)
            .is_some_and(|name| reaches(span.end, name.start))
}

/// Whether a value has no sign of another number.
fn is_nobodys_else(page: &Page<'_>, index: usize, span: &Range<usize>) -> bool {
    let is_free = || {
        nearest(page, span.start).is_none_or(|claim| {
            is_patients(&claim)
                || is_bare_id(page, claim.from)
                || page.slice(span.clone()).iter().any(u8::is_ascii_uppercase)
                    && (claim.is(Meaning::PhoneMaybe) || is_plain_card(page, claim.from))
        })
    };
    stands_free(page, span)
        && page
            .field_at(span.start)
            .is_none_or(|field| field.meaning.is_none() && !field.is_settled)
        && !is_postal_code(page, span)
        && is_free()
        && !is_something_else(page, index, span)
        && date_at(page, index).is_none()
        && !people::is_in_statement(page, span)
}

/// Whether the label that ends here is a card without a word that makes it an insurer's or a bank's ("card
/// KMC/0725").
fn is_plain_card(page: &Page<'_>, label_end: usize) -> bool {
    let Some(start) = page.word_start_before(label_end) else {
        return false;
    };
    let before = start - usize::from(page.byte_before(start) == b' ');
    page.slice(start..label_end).eq_ignore_ascii_case(b"card")
        && page
            .word_before(before)
            .is_none_or(|(sense, _)| sense.has(Sense::STOP))
}

fn stands_free(page: &Page<'_>, span: &Range<usize>) -> bool {
    let before = page.byte_before(span.start);
    let after = page.byte(span.end);
    let goes_on = is_tie(after) || matches!(after, b':' | b',' | b'@' | b'%' | b'^' | b'*');
    let is_open = matches!(
        before,
        0 | b' ' | b'\n' | b'\t' | b'(' | b'[' | b'#' | b'"' | b'\'' | b'>' | b'|'
    );
    (is_open || page.slice(span.start.saturating_sub(4)..span.start) == b"pid=")
        && !after.is_ascii_alphanumeric()
        && !(goes_on && page.byte(span.end + 1).is_ascii_alphanumeric())
}

/// Whether the word directly before says that the number belongs to a thing ("asset 4471902", "GMC 4471902").
fn is_of_something(page: &Page<'_>, named: &NamedPeople<'_>, span: &Range<usize>) -> bool {
    let value = page.slice(span.clone());
    let letters = value
        .iter()
        .take_while(|byte| byte.is_ascii_uppercase())
        .count();
    let mut not_houses = NOT_HOUSES.split_ascii_whitespace();
    if not_houses.any(|one| one.as_bytes() == &value[..letters]) {
        return true;
    }
    let sign = usize::from(page.byte_before(span.start) == b'#');
    let end = span.start - sign;
    if sign == 1 && (is_of_tracker(page, end) || is_colour(page, end, value)) {
        return true;
    }
    let end = end - usize::from(page.byte_before(end) == b' ');
    let Some((sense, start)) = page.word_before(end).filter(|_| end < span.start - sign) else {
        return false;
    };
    // "your number CP 20 338", but not "badge number".
    if letters >= 2
        && let Some(before) = number_word(page, end)
        && page
            .word_before(before)
            .is_some_and(|(sense, _)| sense.has(Sense::STOP))
    {
        return false;
    }
    let word = page.slice(start..end);
    let is_small = sense.has(Sense::STOP | Sense::FILLER | Sense::KIN)
        || word.len() == 1
        || DONE.has(word)
        || CARRIERS.has(word);
    !is_small && !named.is_taken(&(start..end))
}

/// Whether a number is that of a report about a program ("Closes: #872809, #872811").
fn is_of_tracker(page: &Page<'_>, sign: usize) -> bool {
    const REACH_BYTES: usize = 48;
    const WORDS: &[&[u8]] = &[
        b"bug",
        b"bugs",
        b"closes",
        b"fixes",
        b"issue",
        b"issues",
        b"lp",
        b"pr",
        b"resolves",
    ];
    let before = page.slice(sign.saturating_sub(REACH_BYTES)..sign);
    let is_between = |byte: &&u8| matches!(byte, b' ' | b'\n' | b':' | b',' | b'#' | b'0'..=b'9');
    let between = before.iter().rev().take_while(is_between).count();
    let before = &before[..before.len() - between];
    let word = last_letters(before);
    WORDS.iter().any(|one| word.eq_ignore_ascii_case(one))
}

/// Whether a value is a colour (`color: #B21889`, `"fill": "#B21889"`).
fn is_colour(page: &Page<'_>, sign: usize, value: &[u8]) -> bool {
    const REACH_BYTES: usize = 24;
    const WORDS: &[&[u8]] = &[
        b"background",
        b"border",
        b"color",
        b"colour",
        b"fill",
        b"solid",
        b"stroke",
    ];
    let before = page.slice(sign.saturating_sub(REACH_BYTES)..sign);
    let signs = before
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b' ' | b':' | b'"' | b'\'' | b'='))
        .count();
    let before = &before[..before.len() - signs];
    let word = last_letters(before);
    let is_named = WORDS.iter().any(|one| word.eq_ignore_ascii_case(one));
    is_named && value.len() == 6 && value.iter().all(u8::is_ascii_hexdigit)
}
