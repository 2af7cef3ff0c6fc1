//! Addresses as Spain, Italy, France, Portugal and Latin America write them: the road word first, the house
//! number behind the name, then floor and door, then postal code and town.
//! `C/ Mayor 12, 3º B, 28013 Madrid`, `Avda. de Elvas s/n. 06080 Badajoz`, `Calle 85 #12-30`.

use std::ops::Range;

use super::Line;
use super::token::{Token, skip, token_at};
use crate::lexicon::{LEXICON, Sense};
use crate::page::{Page, is_word_byte};
use crate::word_list::WordList;

/// Road words and what they are shortened to.
static ROADS: WordList = WordList::new(
    "alameda apartado av avd avda avenida avinguda barrio bulevar bv calle callejon camino carrer \
     carrera carretera chaussee chemin cl cll cno contrada corso cra ctra cuesta diagonal estrada \
     glorieta impasse jr jiron largo montee pasaje paseo passeig piazza placa plaza plza priv pso \
     pz paraje poligono praca pza quai rambla rang ronda rua rue transversal travesia travessa tv \
     urb urbanizacion venelle via viale vicolo",
);

/// A street has no longer name.
const NAME_WORDS_MAX: usize = 8;

/// Returns the address with this house number, or with this postal code if the house has no number.
pub(crate) fn continental(page: &Page<'_>, number: Range<usize>) -> Option<Line> {
    let (name_end, has_no_number) = before_number(page, number.start)?;
    let last = word_start(page, name_end)..name_end;
    let start = road_before(page, last.clone()).or_else(|| street_in_one_word(page, last))?;
    // "Cl 98-106" is chloride and its range; a street of numbers has its sign: "Cl 98 # 10-6".
    let text = page.slice(start..number.end);
    let is_number_first =
        matches!(text, [b'C' | b'c', b'l' | b'L', b' ', digit, ..] if digit.is_ascii_digit());
    let has_sign = text.contains(&b'#') || page.slice(number.end..number.end + 2) == b" #";
    let is_range = page.byte_before(number.start) == b'-' || page.byte(number.end) == b'-';
    let is_chloride = is_number_first && !has_sign || is_range && text.starts_with(b"Cl ");
    if is_chloride {
        return None;
    }
    let is_postal_code = is_postal_code(page, &number);
    if is_postal_code != has_no_number && number.len() > 4 {
        return None;
    }
    let house_end = number.end + letters_after(page, number.end);
    let floor_end = if is_postal_code {
        number.start
    } else {
        floors(page, house_end)
    };
    let town = town(page, floor_end);
    Some(Line {
        span: start..town.unwrap_or(floor_end.max(house_end)),
        score: if town.is_some() { 0.9 } else { 0.6 },
    })
}

/// Returns the end of the name before a number, and whether "s/n" says that the house has no number.
fn before_number(page: &Page<'_>, number: usize) -> Option<(usize, bool)> {
    static SIGNS: WordList = WordList::new("n no num numero km nro o");
    let mut end = back_over(page, number, b" ,.#-");
    let mut has_no_number = false;
    for _ in 0..3 {
        let Some(start) = page.word_start_before(end).filter(|_| end < number) else {
            break;
        };
        let word = page.slice(start..end);
        let before = page.slice(start.saturating_sub(2)..start);
        if word.eq_ignore_ascii_case(b"n") && before.eq_ignore_ascii_case(b"s/") {
            has_no_number = true;
            end = back_over(page, start - 2, b" ,.");
        } else if SIGNS.has(word) {
            end = back_over(page, start, b" ,.");
        } else {
            break;
        }
    }
    (end < number).then_some((end, has_no_number))
}

/// Steps back over at most four of these.
fn back_over(page: &Page<'_>, end: usize, these: &[u8]) -> usize {
    let before = page.slice(end.saturating_sub(4)..end);
    end - before
        .iter()
        .rev()
        .take_while(|byte| these.contains(byte))
        .count()
}

/// Maximum length of a particle; most numbers follow a longer word in lower case.
const PARTICLE_BYTES_MAX: usize = 5;

/// Whether a word may be one of a street's name.
fn is_of_name(page: &Page<'_>, span: Range<usize>) -> bool {
    let word = page.slice(span);
    let is_number = || word.iter().all(u8::is_ascii_digit) && word.len() <= 3;
    let is_particle =
        || word.len() <= PARTICLE_BYTES_MAX && LEXICON.sense(word).has(Sense::PARTICLE);
    is_capital(word) || is_number() || is_particle()
}

fn is_capital(word: &[u8]) -> bool {
    let first = word.first();
    first.is_some_and(|first| first.is_ascii_uppercase() || *first >= 0x80)
}

/// Returns the start of the road word of a name that ends with this word.
fn road_before(page: &Page<'_>, last: Range<usize>) -> Option<usize> {
    let Range { mut start, mut end } = last;
    for position in 0..=NAME_WORDS_MAX {
        if start == end {
            return None;
        }
        let word = page.slice(start..end);
        let is_slashed = || word.eq_ignore_ascii_case(b"c") && page.byte(end) == b'/';
        // "AV block" is a heart's.
        let is_heart = || word == b"AV" && page.byte(end) != b'.';
        let is_road = || is_capital(word) && ROADS.has(word) && !is_heart();
        if position > 0 && (is_slashed() || is_road()) {
            return Some(start);
        }
        if !is_of_name(page, start..end) {
            return None;
        }
        end = match page.slice(start.saturating_sub(3)..start) {
            b"/. " => start - 3,
            [_, b'.' | b'/', b' '] => start - 2,
            [.., b' ' | b'/' | b'.'] => start - 1,
            _ => return None,
        };
        // "C/": the word is the letter before the slash.
        if page.byte(end) == b'/'
            && !page
                .slice(end.saturating_sub(1)..end)
                .eq_ignore_ascii_case(b"c")
        {
            return None;
        }
        start = word_start(page, end);
    }
    None
}

/// Returns the start of a street of one word, hyphens included (`Lindenbergstr. 8`, `Dorpsstraat 8`).
fn street_in_one_word(page: &Page<'_>, span: Range<usize>) -> Option<usize> {
    const ENDINGS: &[&[u8]] = &[
        b"strasse",
        b"str",
        b"gasse",
        b"straat",
        b"laan",
        b"gatan",
        b"utca",
        b"vej",
        b"vejen",
        b"veien",
        b"vagen",
        b"plein",
        b"dreef",
        b"gracht",
        b"kade",
        b"plads",
        b"weg",
        b"steenweg",
        b"kamp",
    ];
    const NAME_BYTES_MIN: usize = 3;
    let word = page.slice(span.clone());
    let is_street = || {
        ENDINGS.iter().any(|ending| {
            word.len() >= ending.len() + NAME_BYTES_MIN
                && word[word.len() - ending.len()..].eq_ignore_ascii_case(ending)
        })
    };
    (is_capital(word) && is_street()).then_some(span.start)
}

fn word_start(page: &Page<'_>, end: usize) -> usize {
    let before = page.slice(end.saturating_sub(40)..end);
    let length = before
        .iter()
        .rev()
        .take_while(|&&byte| is_word_byte(byte) || matches!(byte, b'\'' | b'-'))
        .count();
    end - length
}

/// The letter of a house number: `12B`, `12-14`.
fn letters_after(page: &Page<'_>, end: usize) -> usize {
    let rest = page.slice(end..page.text.len().min(end + 5));
    let length = rest
        .iter()
        .take_while(|&&byte| is_word_byte(byte) || byte == b'-')
        .count();
    if length <= 4 { length } else { 0 }
}

/// Words of floors and doors.
static FLOOR_WORDS: WordList = WordList::new(
    "izq izda izqda izquierda dcha der derecha dto esq bajo bajos atico esc escalera portal piso \
     planta pta puerta bloque blq local entlo entresuelo principal of ofic oficina dpto depto int \
     interior casa apt andar frente fte",
);

/// Returns the end of floor, door and staircase after a house number (`, 3o B`, ` - 4o F`, `, bajo der.`).
fn floors(page: &Page<'_>, house_end: usize) -> usize {
    let mut end = house_end;
    for _ in 0..6 {
        let at = skip(page.bytes(), end, b" ,.-");
        let Some(token) = token_at(page, at).filter(|_| at > end && at <= end + 3) else {
            break;
        };
        let word = page.slice(token.span.clone());
        let is_numbered =
            word[0].is_ascii_digit() && word.len() <= 6 && !is_postal_code(page, &token.span);
        let is_door = word.len() == 1 && token.is_capital;
        let is_word = FLOOR_WORDS.has(word);
        let after = page.byte(token.span.end);
        let opens_sentence = page.byte(end) == b'.' && (is_door || token.is_capital && !is_word);
        // "9, 3 hijos": a number of something else.
        let next = page.word_at(token.span.end + 1);
        let is_floor = next
            .is_some_and(|(_, next_end)| FLOOR_WORDS.has(page.slice(token.span.end + 1..next_end)));
        let is_lower = page.byte(token.span.end + 1).is_ascii_lowercase();
        let counts = is_numbered && after == b' ' && is_lower && !is_floor;
        // "2.º-A": the tail of an ordinal.
        let is_tail = page.byte(end) == b'.'
            && page.byte_before(end).is_ascii_digit()
            && matches!(word, [b'o' | b'a'] | [b'o' | b'a', b'-', _]);
        if !(is_numbered || is_door || is_word || is_tail) || counts || opens_sentence {
            break;
        }
        end = token.span.end;
    }
    end
}

/// Returns the end of floor, door, postal code and town behind a part of an address that begins with a road word
/// (`Calle Mayor, 15, 2|.º B, 47004 Valladolid`). The dot of an ordinal may belong to the part.
pub(super) fn floor_and_town(page: &Page<'_>, span: &Range<usize>) -> Option<usize> {
    let (_, first) = page.word_at(span.start)?;
    let is_road = ROADS.has(page.slice(span.start..first));
    let text = page.slice(span.clone());
    let has_number = || text.iter().any(u8::is_ascii_digit);
    let is_coded = || {
        let mut words = text.split(|byte| matches!(byte, b' ' | b','));
        words.any(|word| word.len() == 5 && word.iter().all(u8::is_ascii_digit))
    };
    if !is_road || !has_number() || is_coded() {
        return None;
    }
    let floor = floors(page, span.end - usize::from(text.ends_with(b".")));
    // "3.o Esq., 1250-199 Lisboa": the dot of what is shortened.
    let dot = usize::from(page.slice(floor..floor + 2) == b".,");
    let end = town(page, floor).unwrap_or(floor + dot);
    (end > span.end).then_some(end)
}

fn is_postal_code(page: &Page<'_>, span: &Range<usize>) -> bool {
    span.len() == 5 && page.slice(span.clone()).iter().all(u8::is_ascii_digit)
}

/// Returns the end of postal code and town after a street (`, 28013 Madrid`, `. 46017 - Valencia`, `CP 66260
/// Monterrey`).
fn town(page: &Page<'_>, from: usize) -> Option<usize> {
    let mut at = skip(page.bytes(), from, b" ,.-\n");
    if matches!(page.slice(at..at + 3), b"CP " | b"C.P" | b"cp ") {
        at = skip(page.bytes(), at + 2, b" .:P");
    }
    let code = token_at(page, at).filter(|token| is_postal_code(page, &token.span))?;
    let mut end = code.span.end;
    let mut at = skip(page.bytes(), end, b" -,");
    for _ in 0..5 {
        let Some(token) = token_at(page, at).filter(|token| is_town_word(page, token)) else {
            break;
        };
        if token.is_capital {
            end = token.span.end;
        }
        if page.byte(token.span.end) != b' ' {
            break;
        }
        at = token.span.end + 1;
    }
    Some(end)
}

fn is_town_word(page: &Page<'_>, token: &Token) -> bool {
    let is_other = token.has_digit
        || token.sense.has(Sense::LABEL | Sense::TITLE)
        || page.byte(token.span.end) == b':';
    // "Halle an der Saale", "Châlons sur Marne".
    const LINKS: &[&[u8]] = &[
        b"an", b"am", b"im", b"bei", b"ob", b"sur", b"sous", b"les", b"en",
    ];
    let is_link = LINKS.contains(&page.slice(token.span.clone()));
    !is_other && (token.is_capital || is_link || token.sense.has(Sense::PARTICLE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::WORDS;

    #[test]
    fn every_particle_fits_length_limit() {
        let particles = WORDS.iter().filter(|(sense, _)| sense.has(Sense::PARTICLE));
        let mut words = particles.flat_map(|(_, list)| list.split_ascii_whitespace());
        assert!(words.all(|word| word.len() <= PARTICLE_BYTES_MAX));
    }
}
