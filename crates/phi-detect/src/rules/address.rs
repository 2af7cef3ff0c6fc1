//! Postal addresses.
//!
//! A street line starts with a number and ends with a street word; boxes, rural routes, highways and military lines
//! have further forms. Unit, city, state and ZIP that follow belong to the same finding.

use std::cell::LazyCell;
use std::ops::Range;

use super::{Collector, Finder};
use crate::context::{Strength, claim_before, is_spoken_of};
use crate::labels::Meaning;
use crate::lexicon::{LEXICON, Sense};
use crate::page::{Mark, Page, is_word_byte};
use crate::places::{self, Line};

pub(super) static FINDER: Finder = Finder {
    joins,
    find,
    beside: super::no_neighbour,
    among: None,
    complete: places::complete,
    contradicts,
};

fn find(page: &Page<'_>, out: &mut Collector<'_>) {
    by_number(page, out);
    by_street_word(page, out);
    by_label(page, out);
    in_fields(page, out);
}

/// Lines that open with a number, a code, a box or a unit.
fn by_number(page: &Page<'_>, out: &mut Collector<'_>) {
    let mut free_from = 0;
    // Five digits may be a ZIP code by the state before them. Other digits may not, unless the text has a ZIP label.
    let has_zip_label = LazyCell::new(|| page.has_meaning(|meaning| meaning == Meaning::Zip));
    for mark in page.each_mark().map(|index| page.marks[index]) {
        let start = mark.start as usize;
        let opens_line = mark
            .sense
            .has(Sense::NUMBER | Sense::CODE | Sense::BOX | Sense::UNIT);
        if start < free_from || !opens_line || is_of_copyright(page, &mark) {
            continue;
        }
        if let Some(line) = line_at(page, &mark)
            && let Some((span, score)) = whole(page, &line)
        {
            free_from = span.end;
            out.push(span, score, "address.street");
        } else if mark.is_code()
            && let Some(end) = places::postal_code_end(page, start)
            && claim_before(page, start, |meaning| meaning == Meaning::Zip).is_some()
        {
            out.push(start..end, 0.9, "address.zip");
        } else if mark.is_code()
            && let Some(span) = places::crossing(page, mark.range())
        {
            out.push(span, 0.65, "address.corner");
        } else if (mark.is_code() || mark.is_number())
            && let Some(line) = places::anchored(page, mark.range())
        {
            free_from = line.span.end;
            out.push(line.span, line.score, "address.anchored");
        } else if let Some(span) = house_lived_at(page, &mark) {
            free_from = span.end;
            out.push(span, 0.6, "address.house");
        } else if mark.is_number()
            && (mark.len() == 5 || matches!(mark.len(), 4 | 6) && *has_zip_label)
        {
            zip(page, mark.range(), out);
        }
    }
}

/// Whether a number is the year of a copyright notice ("Copyright (c) 1998, 2000 Thai Software Center").
fn is_of_copyright(page: &Page<'_>, mark: &Mark) -> bool {
    const SIGNS: &[&[u8]] = &[b"opyright", b"(c)", b"(C)", "©".as_bytes()];
    const REACH_BYTES: usize = 40;
    let start = mark.start as usize;
    let year = page.slice(mark.range());
    if !(mark.len() == 4 && (year.starts_with(b"19") || year.starts_with(b"20"))) {
        return false;
    }
    let before = page.slice(start.saturating_sub(REACH_BYTES)..start);
    // Only years and signs are between.
    let years = before
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b',' | b'-' | b':'))
        .count();
    let before = &before[..before.len() - years];
    SIGNS.iter().any(|sign| before.ends_with(sign))
}

fn line_at(page: &Page<'_>, mark: &Mark) -> Option<Line> {
    let start = mark.start as usize;
    let line = if mark.is_number() || mark.is_code() {
        places::continental(page, mark.range()).or_else(|| places::street_line(page, start))
    } else if mark.sense.has(Sense::BOX) {
        places::box_line(page, start)
    } else {
        None
    };
    let is_unit = mark.sense.has(Sense::UNIT);
    line.or_else(|| is_unit.then(|| places::lone_unit(page, start)).flatten())
}

/// Finds a number and a name after words that say that a person lives there ("lives with him at 2207 Mockingbird").
fn house_lived_at(page: &Page<'_>, mark: &Mark) -> Option<Range<usize>> {
    const NAME_BYTES_MIN: usize = 4;
    let start = mark.start as usize;
    let is_house = mark.is_number() && (2..=5).contains(&mark.len());
    let is_at = page.slice(start.saturating_sub(4)..start) == b" at ";
    if !is_house || !is_at || page.byte(mark.end as usize) != b' ' {
        return None;
    }
    let (sense, end) = page.word_at(mark.end as usize + 1)?;
    let name = page.slice(mark.end as usize + 1..end);
    let is_name = name.len() >= NAME_BYTES_MIN
        && name[0].is_ascii_uppercase()
        && !sense.has(Sense::STOP | Sense::MONTH | Sense::UNIT | Sense::LABEL);
    let ends = matches!(page.byte(end), b',' | b'.' | b')' | b'\n' | b';' | 0);
    let is_lived_at = is_spoken_of(page, start, |meaning| {
        matches!(meaning, Meaning::Dwelling | Meaning::Address)
    });
    (is_name && ends && is_lived_at).then_some(start..end)
}

/// Finds a street without a number after words that say that a person lives there ("lives on Larchmont Avenue").
fn by_street_word(page: &Page<'_>, out: &mut Collector<'_>) {
    let streets = page.marks.iter();
    for mark in streets.filter(|mark| mark.sense.has(Sense::STREET)) {
        if let Some(start) = places::street_before(page, mark.range())
            && is_spoken_of(page, start, |meaning| meaning == Meaning::Dwelling)
        {
            out.push(start..mark.end as usize, 0.7, "address.named_street");
        }
    }
}

/// Finds streets without a number after a label ("Address: Larchmont Avenue", "corner of Oak and Main").
fn by_label(page: &Page<'_>, out: &mut Collector<'_>) {
    let labels = |meaning| {
        page.labels
            .iter()
            .filter(move |label| label.meaning == meaning)
    };
    for label in labels(Meaning::Address) {
        let after = label.end as usize + usize::from(page.byte(label.end as usize) == b':');
        if let Some(line) = places::named_street(page, after)
            && let Some((span, score)) = whole(page, &line)
        {
            out.push(span, score, "address.named_street");
        }
    }
    let dwellings = labels(Meaning::Dwelling).filter(|label| {
        // "Normal Living Index", "at the house behind the church".
        let first = page.byte(label.start as usize);
        let is_house = matches!(first, b'h' | b'H');
        page.byte(label.end as usize) == b':'
            || !is_house && first != b'L'
            || page.slice(label.start as usize..label.end as usize) == b"Lives"
    });
    for label in labels(Meaning::Address).chain(dwellings) {
        let after = clause_after(page, label.end as usize);
        if let Some(line) = places::clause(page, after) {
            out.push(line.span, line.score, "address.clause");
        }
    }
    for label in labels(Meaning::Corner) {
        if let Some(line) = places::corner(page, label.end as usize) {
            // Without "corner of" two streets would read as two places.
            let span = label.start as usize..line.span.end;
            out.push(span, line.score, "address.corner");
        }
    }
}

/// Returns the start of the place behind a label and the small words that follow it ("lives in", "Address
/// unchanged:").
fn clause_after(page: &Page<'_>, label_end: usize) -> usize {
    const LEADING: &[&[u8]] = &[
        b"a ",
        b"alone, ",
        b"am ",
        b"at ",
        b"en ",
        b"far out (",
        b"in ",
        b"is ",
        b"na ",
        b"no ",
        b"off ",
        b"on ",
        b"out at ",
        b"out ",
    ];
    const QUALIFYING_BYTES_MAX: usize = 24;
    let rest = page.slice(label_end..page.text.len().min(label_end + QUALIFYING_BYTES_MAX));
    let colon = rest
        .iter()
        .position(|byte| !(byte.is_ascii_lowercase() || matches!(byte, b' ' | b'/')))
        .filter(|&at| rest[at] == b':');
    let at = label_end + colon.map_or(0, |colon| colon + 1);
    let at = at + usize::from(page.byte(at) == b' ') + usize::from(page.slice(at..at + 2) == b"  ");
    let rest = page.slice(at..page.text.len().min(at + 12));
    let lead = LEADING.iter().find(|lead| rest.starts_with(lead));
    at + lead.map_or(0, |lead| lead.len())
}

fn in_fields(page: &Page<'_>, out: &mut Collector<'_>) {
    for (span, value) in page.fields_of(Meaning::Address) {
        if is_address_like(value) {
            out.push(span, 0.9, "address.field");
        }
    }
    for (span, value) in page.fields_of(Meaning::Zip) {
        let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
        let is_plain = value
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-'));
        if (3..=9).contains(&digits) && value.len() <= 12 && is_plain {
            out.push(span, 0.9, "address.zip");
        }
    }
}

/// Pieces of one address have only spaces, line breaks, commas and dots between them; a new house number opens a new
/// address.
fn joins(left: &str, between: &str, right: &str) -> bool {
    let is_gap = between.len() <= GAP_BYTES_MAX
        && between.chars().any(char::is_whitespace)
        && between
            .chars()
            .all(|c| c.is_whitespace() || matches!(c, ',' | '.' | '>'))
        && between.matches('\n').count() <= if is_country_line(right) { 2 } else { 1 };
    let numbers = right.bytes().take_while(u8::is_ascii_digit).count();
    // "14 rue Daumesnil" and "94300 Vincennes": a long number before a name alone is the town's postal code.
    let has_street = |text: &str| {
        text.split(|c: char| !c.is_alphabetic()).any(|word| {
            LEXICON
                .sense(word.as_bytes())
                .has(Sense::STREET | Sense::ROAD)
        })
    };
    let is_code = numbers >= 4 && !has_street(right);
    let opens_another = numbers > 0 && right.as_bytes().get(numbers) == Some(&b' ') && !is_code;
    if is_crossing(left, between, right) || is_said_between(left, between, right) {
        return true;
    }
    // A unit before the street ("Suite 574", "2nd Floor", "Space 19, Desert Palms MHP").
    let is_unit = left.len() <= 40
        && left
            .split(|c: char| !c.is_alphabetic())
            .filter(|word| word.len() > 2)
            .take(1)
            .any(|word| LEXICON.sense(word.as_bytes()).has(Sense::UNIT));
    is_gap && (is_unit || !opens_another)
}

/// Whether two streets without a house form a crossing (`NE 2nd Ave` and `54th St`).
fn is_crossing(left: &str, between: &str, right: &str) -> bool {
    let has_house = |text: &str| {
        let number = text.split(' ').next().unwrap_or_default();
        number.bytes().all(|byte| byte.is_ascii_digit())
    };
    matches!(between, " and " | " & " | " @ ") && !has_house(left) && !has_house(right)
}

/// Whether the text between two parts of an address on one line describes the place (`Plot 6`, `near Water Tank`,
/// `Nagpur-440022`): words with a capital or with a number.
fn is_said_between(left: &str, between: &str, right: &str) -> bool {
    const WORDS: &[&str] = &[
        "near", "nr", "opp", "opposite", "behind", "by", "off", "via", "of", "the", "de", "la", "y",
    ];
    let is_of_place = |word: &str| {
        WORDS.contains(&word) || word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit())
    };
    // "Town| Hall Area, |Pune": the words go on, and a comma ends them.
    let goes_on = between.starts_with(' ') && between.ends_with(", ");
    let is_comma = between.starts_with(", ") && between.ends_with([' ', ',']) || goes_on;
    let is_street =
        |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && text.contains(' ');
    let is_two = is_street(left)
        && is_street(right)
        && !right.bytes().take(4).all(|byte| byte.is_ascii_digit());
    let opens_sentence = between.split(". ").next().is_some_and(|first| {
        first.len() < between.len() && first.rsplit(' ').next().is_some_and(|word| word.len() > 4)
    });
    is_comma
        && (3..=SAID_BYTES_MAX).contains(&between.len())
        && !between.contains(['\n', ';', ':', '(', ')'])
        && !opens_sentence
        && !is_two
        && between
            .split([' ', ',', '.'])
            .filter(|word| !word.is_empty())
            .all(is_of_place)
}

/// The most that is said between two parts.
const SAID_BYTES_MAX: usize = 48;

/// Whether a text is a country and its postal code, which may follow an empty line (`Iceland 80392`).
fn is_country_line(text: &str) -> bool {
    let mut words = text.split(' ');
    let is_country = words
        .next()
        .is_some_and(|word| LEXICON.sense(word.as_bytes()).has(Sense::COUNTRY));
    is_country && words.all(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The widest gap between the pieces of an address: a comma, a line break, an indent.
const GAP_BYTES_MAX: usize = 8;

/// Whether a span is only words that introduce an address ("Unit No"), or numbers that are not an address.
fn contradicts(page: &Page<'_>, span: &Range<usize>) -> bool {
    let text = page.slice(span.clone());
    let is_numbered = text.iter().any(u8::is_ascii_digit);
    let all_introduce = text
        .split(|&byte| !is_word_byte(byte))
        .filter(|word| !word.is_empty())
        .all(|word| {
            LEXICON
                .sense(word)
                .has(Sense::STOP | Sense::LABEL | Sense::UNIT | Sense::FILLER)
        });
    // A piece of a longer number: "7,654,321 B2", "4111 1111 1111".
    let before = page.byte_before(span.start);
    let is_piece = matches!(before, b',' | b'.' | b'-' | b'/')
        && page.byte_before(span.start - 1).is_ascii_digit();
    let digits = text.iter().filter(|byte| byte.is_ascii_digit()).count();
    let has_letters = text
        .iter()
        .any(|&byte| byte.is_ascii_alphabetic() || byte >= 0x80);
    let may_be_zip = matches!(digits, 4..=6 | 9) && is_zip_by_context(page, span);
    let is_other_number = !has_letters && !may_be_zip;
    let is_nothing = !is_numbered && (all_introduce || !is_street_by_name(page, span));
    // "03-A883" is a code; a postal code of letters and digits has a space or a label.
    let is_code = has_letters
        && is_numbered
        && text.contains(&b'-')
        && text
            .iter()
            .all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase() || *byte == b'-')
        && !is_zip_by_context(page, span);
    // `atan2`: a word of a program; postal codes begin with two letters at most.
    let letters = text
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let is_identifier = (3..text.len()).contains(&letters)
        && text[letters..].iter().all(u8::is_ascii_digit)
        && !is_zip_by_context(page, span);
    is_nothing || is_piece || is_other_number || is_code || is_identifier
}

/// Words without a number are an address if one of them is a street word, or someone is said to live there.
fn is_street_by_name(page: &Page<'_>, span: &Range<usize>) -> bool {
    let has_street_word = page
        .slice(span.clone())
        .split(|&byte| !is_word_byte(byte))
        .any(|word| {
            LEXICON
                .sense(word)
                .has(Sense::STREET | Sense::ROAD | Sense::NUMBER_WORD)
        });
    has_street_word
        || is_spoken_of(page, span.start, |meaning| {
            matches!(
                meaning,
                Meaning::Dwelling | Meaning::Address | Meaning::Corner
            )
        })
}

/// Whether the words around a lone number make it a ZIP code, because they mention a place.
fn is_zip_by_context(page: &Page<'_>, span: &Range<usize>) -> bool {
    let is_of_place = |meaning| {
        matches!(
            meaning,
            Meaning::Zip | Meaning::Address | Meaning::Dwelling | Meaning::City
        )
    };
    places::region_before(page, span.start).is_some() || is_spoken_of(page, span.start, is_of_place)
}

/// Returns the street line with all parts that follow and belong to it, and its score.
fn whole(page: &Page<'_>, line: &Line) -> Option<(Range<usize>, f32)> {
    let tail = places::tail(page, line.span.end);
    let claim = claim_before(page, line.span.start, |meaning| meaning == Meaning::Address);
    let called = match claim.map(|claim| claim.tie) {
        Some(Strength::Tight | Strength::Field) => 0.55,
        Some(Strength::Near | Strength::List) => 0.2,
        None => 0.0,
    };
    let score = line.score + tail.as_ref().map_or(0.0, |tail| tail.score) + called;
    let end = tail.map_or(line.span.end, |tail| tail.end);
    let mut end = places::rest_of(page, end).unwrap_or(end);
    // `'9 Elm St Apt 9'`: the quote is that of the data.
    while matches!(page.byte_before(end), b'\'' | b'"') {
        end -= 1;
    }
    (score >= 0.3).then_some((line.span.start..end, score.min(0.98)))
}

/// A ZIP code on its own: called so, or after a state or country.
fn zip(page: &Page<'_>, span: Range<usize>, out: &mut Collector<'_>) {
    let end = places::zip_end(page, span.end);
    let claim = claim_before(page, span.start, |meaning| {
        matches!(
            meaning,
            Meaning::Zip | Meaning::Thing | Meaning::OtherId(_) | Meaning::Mrn | Meaning::Ssn
        )
    });
    let lives_in = span.len() == 5
        && claim_before(page, span.start, |meaning| meaning == Meaning::Dwelling)
            .is_some_and(|claim| claim.tie >= Strength::Tight);
    if lives_in || claim.is_some_and(|claim| claim.is(Meaning::Zip) && claim.is_firm()) {
        out.push(span.start..end, 0.9, "address.zip");
    } else if span.len() == 5
        && claim.is_none_or(|claim| !claim.is_firm())
        && let Some(region) = places::region_before(page, span.start)
    {
        // A country belongs to the line, a state does not.
        let is_state = span.start - region <= 3;
        let start = if is_state { span.start } else { region };
        out.push(start..end, 0.65, "address.zip");
    }
}

/// Whether the value of an address field says anything.
fn is_address_like(value: &[u8]) -> bool {
    value.len() >= 3
        && value.len() <= 200
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_alphabetic)
        && !value.contains(&b'@')
        && !value.starts_with(b"http")
}
