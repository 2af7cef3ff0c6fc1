//! Completes an address of which a rule or the model found the core: a house number
//! after the street as abroad, unit, city, region and ZIP, country; and street corners.

use std::ops::Range;

use super::continental;
use super::country;
use super::house;
use super::rest;
use super::tail::{postal_code_end, tail};
use super::token::{Token, is_one_of, next_token, skip, token_at};
use super::{Line, has_street_ending, line_tokens};
use crate::labels::Meaning;
use crate::lexicon::{LEXICON, Sense};
use crate::page::{Page, is_word_byte};
use crate::spelled;
use crate::word_list::WordList;

/// Pieces may follow each other a few times: number, unit, city, country.
const PIECES_MAX: usize = 4;

/// The span with everything after it that belongs to the same address.
pub(crate) fn complete(page: &Page<'_>, mut span: Range<usize>) -> Range<usize> {
    span.start = with_spoken_number(page, with_unit_before(page, span.start));
    span.start = from_road_word(page, &span);
    span.start = with_short_road(page, span.start);
    span.start = without_preposition(page, &span);
    span.start = with_name(page, span.start);
    span.start = house::before(page, span.start);
    span.end = without_label(page, &span);
    span.end = without_year(page, &span);
    span.end = end_of_token(page, &span);
    let end = without_next_sentence(page, &span);
    let mut end = without_street_after_number(page, &(span.start..end));
    for _ in 0..PIECES_MAX {
        let next = number_abroad(page, &(span.start..end))
            .or_else(|| continental::floor_and_town(page, &(span.start..end)))
            .or_else(|| rest_after_street(page, end))
            .or_else(|| country::after(page, end))
            .or_else(|| rest_of_place(page, end))
            .or_else(|| postal_code_end(page, skip(page.bytes(), end, b" ,\n")))
            .or_else(|| rest::pieces(page, end));
        match next {
            Some(next) if next > end => end = next,
            _ => break,
        }
    }
    span.start..house::second(page, end).unwrap_or(end)
}

/// Returns the start of an address at its road word: the words before name a person or firm there (`Hospital de
/// Poniente Ctra. Málaga 119`).
fn from_road_word(page: &Page<'_>, span: &Range<usize>) -> usize {
    static ROADS: WordList = WordList::new("calle avenida avda ctra carretera paseo carrer");
    let text = page.slice(span.clone());
    let mut at = 0;
    for word in text.split(|&byte| !is_word_byte(byte)) {
        let is_number = word.first().is_some_and(u8::is_ascii_digit);
        // "Av. Paseo Colón" has its road word already.
        if is_number || at == 0 && is_one_of(word, &[b"av", b"avda", b"c", b"calle", b"avenida"]) {
            break;
        }
        if at > 0 && ROADS.has(word) && word[0].is_ascii_uppercase() {
            return span.start + at;
        }
        at += word.len() + 1;
    }
    span.start
}

/// Returns the start of an address with the abbreviated road word before its name (`ul. Długa 15`).
fn with_short_road(page: &Page<'_>, start: usize) -> usize {
    static SHORT: WordList = WordList::new("ul al os pl av avda str cra");
    let dot = if page.byte(start) == b'.' {
        start
    } else {
        start.saturating_sub(2)
    };
    let is_dotted = page.byte(dot) == b'.' && page.byte(dot + 1) == b' ';
    let road = page
        .word_before(dot)
        .filter(|(_, word)| is_dotted && SHORT.has(page.slice(*word..dot)));
    road.map_or(start, |(_, word)| word)
}

/// Returns the start of an address with the name before its street word or house number (`Fore |Street 12`, `17
/// |Oduduwa Crescent`).
fn with_name(page: &Page<'_>, start: usize) -> usize {
    const NAME_WORDS_MAX: usize = 3;
    let Some(first) = token_at(page, start).filter(|first| first.is_capital && !first.has_digit)
    else {
        return start;
    };
    // "Av. Galaxia" has its name behind it.
    let is_road = first.sense.has(Sense::ROAD) && page.byte(first.span.end) == b' ';
    let is_street = first.sense.has(Sense::STREET) && first.span.len() > 3 && !is_road
        || has_street_ending(page, &first)
        || is_one_of(page.slice(first.span), &[b"bank", b"house", b"str"]);
    let mut at = start;
    for _ in 0..NAME_WORDS_MAX {
        let end = at.saturating_sub(1);
        let Some((sense, word)) = page.word_before(end).filter(|_| page.byte(end) == b' ') else {
            break;
        };
        let text = page.slice(word..end);
        if matches!(text.len(), 1..=4) && text.iter().all(u8::is_ascii_digit) {
            let is_free = matches!(page.byte_before(word), 0 | b' ' | b'\n' | b'(');
            return if is_free { word } else { at };
        }
        let is_other = sense.has(Sense::STOP | Sense::LABEL | Sense::TITLE | Sense::GIVEN);
        if !is_street || is_other || !text[0].is_ascii_uppercase() || text.len() < 3 {
            break;
        }
        at = word;
    }
    at
}

/// Returns the start of an address without the small word before its road word (`na Rua das Flores`).
fn without_preposition(page: &Page<'_>, span: &Range<usize>) -> usize {
    const LEADING: &[&[u8]] = &[
        b"na", b"no", b"en", b"au", b"op", b"przy", b"am", b"in", b"at", b"a", b"sulla",
    ];
    let Some(end) = page.word_end_at(span.start) else {
        return span.start;
    };
    let leads = page.byte(span.start).is_ascii_lowercase()
        && LEADING.contains(&page.slice(span.start..end))
        && page.byte(end) == b' '
        && page.byte(end + 1).is_ascii_uppercase();
    if leads && end + 1 < span.end {
        end + 1
    } else {
        span.start
    }
}

/// Returns the end of an address without a last word that is the label of something else (`31008 Pamplona Tfno.`).
fn without_label(page: &Page<'_>, span: &Range<usize>) -> usize {
    let from_word = || {
        let (_, start) = page
            .word_before(span.end)
            .filter(|(sense, _)| sense.has(Sense::LABEL))?;
        let next = page
            .labels
            .binary_search_by_key(&start, |label| label.start as usize);
        next.ok().map(|index| &page.labels[index])
    };
    let label = page
        .label_ending_at(span.end)
        .or_else(from_word)
        .filter(|label| label.start as usize > span.start);
    let is_other = label.is_some_and(|label| {
        let follows = page.slice(label.end as usize..label.end as usize + 2);
        matches!(
            label.meaning,
            Meaning::Phone | Meaning::Email | Meaning::Dob | Meaning::Mrn | Meaning::OtherId(_)
        ) && (follows.starts_with(b":") || follows.starts_with(b".") || follows.starts_with(b" "))
    });
    match label.filter(|_| is_other) {
        Some(label) => {
            let start = label.start as usize;
            start - usize::from(matches!(page.byte_before(start), b' ' | b'\n'))
        }
        None => span.end,
    }
}

/// Returns the end of an address without a year that belongs to the words behind it (`14 Oak Street, 2019 records`).
fn without_year(page: &Page<'_>, span: &Range<usize>) -> usize {
    const YEAR: usize = ", 2019".len();
    let Some((street, year)) = page.slice(span.clone()).split_last_chunk::<YEAR>() else {
        return span.end;
    };
    let is_year = matches!(year, [b',', b' ', b'1', b'9', a, b] | [b',', b' ', b'2', b'0', a, b]
        if a.is_ascii_digit() && b.is_ascii_digit());
    let goes_on = page.byte(span.end) == b' ' && page.byte(span.end + 1).is_ascii_lowercase();
    if is_year && goes_on && !street.is_empty() {
        span.end - YEAR
    } else {
        span.end
    }
}

/// Unit, city, state and ZIP; after a ZIP comes nothing more of these.
fn rest_after_street(page: &Page<'_>, end: usize) -> Option<usize> {
    let is_zip = token_ending_at(page, end).is_some_and(|last| {
        last.span.len() == 5 && page.slice(last.span).iter().all(u8::is_ascii_digit)
    });
    if is_zip {
        return None;
    }
    tail(page, end)
        .map(|tail| tail.end)
        .or_else(|| spoken_zip(page, end))
}

/// Returns the end of a spoken ZIP code (`Red Bank, oh seven seven oh one`).
fn spoken_zip(page: &Page<'_>, end: usize) -> Option<usize> {
    let start = skip(page.bytes(), end, b" ,");
    let spelled = spelled::read(page, start).filter(|_| start > end)?;
    let has_words = page
        .slice(spelled.span.clone())
        .iter()
        .any(u8::is_ascii_alphabetic);
    (spelled.is_digits() && spelled.value.len() == 5 && has_words).then_some(spelled.span.end)
}

/// Returns the start of the word before the first number, if it is that of a unit (`Lot 7 Old Mill Rd`).
fn with_unit_before(page: &Page<'_>, start: usize) -> usize {
    start
        .checked_sub(1)
        .filter(|&before| page.byte(before) == b' ' && page.byte(start).is_ascii_digit())
        .and_then(|before| page.word_before(before))
        .filter(|&(sense, word)| sense.has(Sense::UNIT) && page.byte(word).is_ascii_uppercase())
        .map_or(start, |(_, word)| word)
}

/// The end moved out of the middle of a token ("5|D", "#|22") and off a letter that opens the next line.
fn end_of_token(page: &Page<'_>, span: &Range<usize>) -> usize {
    let last = page.byte_before(span.end);
    // "Dublin 3, D|03 XY12".
    let opens_code = last.is_ascii_uppercase() && page.byte(span.end).is_ascii_digit();
    // "Dhaka-|1216", "Aurich-|Wallinghausen".
    if last == b'-' && page.byte_before(span.end - 1).is_ascii_alphabetic() {
        let rest = token_at(page, span.end).filter(|rest| rest.is_capital || rest.has_digit);
        return rest.map_or(span.end, |rest| rest.span.end);
    }
    let goes_on = last.is_ascii_digit() || last == b'#' || opens_code;
    let length = page
        .slice(span.end..page.text.len().min(span.end + 5))
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    if goes_on && length < 5 {
        return span.end + length;
    }
    let is_letter_of_next_line = page.byte_before(span.end - 1) == b'\n' && span.len() > 4;
    if is_letter_of_next_line {
        span.end - 2
    } else {
        span.end
    }
}

/// Returns the start of a house number in words before the street (`eleven forty Bay Ridge Parkway`).
fn with_spoken_number(page: &Page<'_>, street: usize) -> usize {
    let mut start = street;
    for _ in 0..5 {
        let before = start
            .checked_sub(1)
            .filter(|&before| page.byte(before) == b' ')
            .and_then(|before| page.word_before(before));
        match before {
            Some((sense, word))
                if sense.has(Sense::NUMBER_WORD | Sense::DIGIT_WORD)
                    && !page.slice(word..start).starts_with(b"and") =>
            {
                start = word;
            }
            _ => break,
        }
    }
    start
}

/// Returns the crossing of two streets from the end of "corner of" on (`the corner of Elm Street and 5th`).
pub(crate) fn corner(page: &Page<'_>, from: usize) -> Option<Line> {
    let first = line_tokens(page, from);
    let first_end = first.last()?.span.end;
    let dot = usize::from(page.byte(first_end) == b'.');
    let and = [b" and ".as_slice(), b" & "]
        .into_iter()
        .find(|and| page.slice(first_end + dot..first_end + dot + and.len()) == *and)?;
    let second = line_tokens(page, first_end + dot + and.len());
    let last = second
        .iter()
        .take(4)
        .position(|token| token.sense.has(Sense::STREET))
        .or_else(|| {
            let named = second.iter().take(3).take_while(|token| is_named(token));
            named.count().checked_sub(1)
        })?;
    let names_streets = is_named(&first[0]) && is_named(&second[0]);
    let is_street = |token: &Token| token.sense.has(Sense::STREET) || token.has_digit;
    let has_street = first.iter().chain(&second[..=last]).any(is_street);
    (names_streets || has_street).then(|| Line {
        span: first[0].span.start..second[last].span.end,
        score: if has_street { 0.8 } else { 0.6 },
    })
}

fn is_named(token: &Token) -> bool {
    token.is_capital || token.has_digit
}

/// Returns the end of an address without a last word that opens a new sentence ("155 Oak Way. Follow").
fn without_next_sentence(page: &Page<'_>, span: &Range<usize>) -> usize {
    let Some((sense, start)) = page.word_before(span.end) else {
        return span.end;
    };
    let opens = start > span.start + 2 && page.slice(start - 2..start) == b". ";
    if opens && sense.has(Sense::STOP) {
        start - 2
    } else {
        span.end
    }
}

/// `Via Roma 129 street` is whole without "street".
fn without_street_after_number(page: &Page<'_>, span: &Range<usize>) -> usize {
    let number_end = page
        .word_before(span.end)
        .filter(|(sense, _)| sense.has(Sense::STREET))
        .and_then(|(_, start)| start.checked_sub(1));
    let Some(number_end) = number_end.filter(|&end| end > span.start) else {
        return span.end;
    };
    // "Whitchurch Road street": the street has its word already.
    let is_common_noun = page.slice(number_end + 1..span.end) == b"street"
        && page
            .slice(span.start..number_end)
            .split(|byte| !byte.is_ascii_alphabetic())
            .any(|word| {
                word.first().is_some_and(u8::is_ascii_uppercase)
                    && LEXICON.sense(word).has(Sense::STREET | Sense::ROAD)
            });
    if is_common_noun {
        return number_end;
    }
    let is_whole = token_ending_at(page, number_end).is_some_and(|number| {
        let street = span.start..number.span.start.saturating_sub(1);
        number.has_digit && is_abroad(page, &street)
    });
    if is_whole { number_end } else { span.end }
}

/// Whether a street is written as abroad, with its number last: a road word first, or a street ending.
fn is_abroad(page: &Page<'_>, street: &Range<usize>) -> bool {
    let ends = token_ending_at(page, street.end)
        .is_some_and(|last| is_street_abroad(page, &last) || has_street_ending(page, &last));
    let mut at = street.start;
    let mut has_road = false;
    for _ in 0..2 {
        let Some(token) = next_token(page, at).filter(|token| token.span.end <= street.end) else {
            break;
        };
        has_road |= token.sense.has(Sense::ROAD);
        at = token.span.end;
    }
    ends || has_road
}

/// Returns the end of a place name of several words (`Horka nad Moravou`, `Santa Marta de Penaguião`).
fn rest_of_place(page: &Page<'_>, end: usize) -> Option<usize> {
    static LINKS: WordList = WordList::new(
        "nad na pod am an im sur sous de del do da upon under of degli dei della delle di du des \
         der u",
    );
    let is_link = |token: &Token| LINKS.has(page.slice(token.span.clone()));
    let last = token_ending_at(page, end).filter(|last| !last.has_digit)?;
    let next = token_at(page, end + 1).filter(|_| page.byte(end) == b' ')?;
    let name = if is_link(&last) {
        next
    } else if is_link(&next) && page.byte(next.span.end) == b' ' {
        token_at(page, next.span.end + 1)?
    } else {
        return None;
    };
    (name.is_capital && !name.has_digit && !name.sense.has(Sense::STOP)).then_some(name.span.end)
}

/// Returns the end of the number after a street (`Via Roma 41`, `Holmevej 34`, `Rákóczi út 81.`).
fn number_abroad(page: &Page<'_>, span: &Range<usize>) -> Option<usize> {
    let last = token_ending_at(page, span.end)?;
    if last.has_digit {
        return dot_of_ordinal(page, &last);
    }
    if page.byte(span.end) != b' ' {
        return None;
    }
    let mut street = span.clone();
    let mut next = token_at(page, span.end + 1)?;
    if is_street_abroad(page, &next) {
        let gap = skip(page.bytes(), next.span.end, b". ");
        street = span.start..next.span.end;
        next = token_at(page, gap)?;
    }
    let is_number = next.has_digit && next.span.len() <= 5 && page.byte(next.span.end) != b'/';
    (is_number && is_abroad(page, &street))
        .then(|| dot_of_ordinal(page, &next).unwrap_or(next.span.end))
}

/// Hungarian house numbers end in a dot: "út 81." before a comma, a unit or a line break.
fn dot_of_ordinal(page: &Page<'_>, number: &Token) -> Option<usize> {
    let end = number.span.end;
    let (_, street) = page.word_before(number.span.start.checked_sub(1)?)?;
    let street = token_at(page, street)?;
    let dotted = page.byte(end) == b'.' && !page.byte(end + 1).is_ascii_digit();
    (dotted && is_street_abroad(page, &street)).then_some(end + 1)
}

fn is_street_abroad(page: &Page<'_>, token: &Token) -> bool {
    static STREETS: WordList = WordList::new("ut utja utca u ter tere koz korut vei tie");
    STREETS.has(page.slice(token.span.clone()))
}

fn token_ending_at(page: &Page<'_>, end: usize) -> Option<Token> {
    let length = page
        .slice(end.saturating_sub(40)..end)
        .iter()
        .rev()
        .take_while(|byte| !byte.is_ascii_whitespace() && **byte != b',')
        .count();
    token_at(page, end - length).filter(|token| token.span.end == end)
}
