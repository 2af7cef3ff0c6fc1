//! Fits a name that the model found to the edges a reader would draw: without the words that
//! introduce the person, without degrees, codes and the rest of the sentence.

use std::ops::Range;

use crate::lexicon::{LEXICON, Sense};
use crate::page::{Page, is_word_byte};

/// The span without what is not part of the name, and with its last initial and that one's dot.
pub(crate) fn fit(page: &Page<'_>, span: Range<usize>) -> Range<usize> {
    let start = first_of_name(page, &span);
    let end = end_of_name(page, &(start..span.end));
    if start >= end {
        return span;
    }
    let name = page.slice(start..end).trim_ascii_end();
    let name = name.strip_suffix(b",").unwrap_or(name);
    if name.is_empty() {
        return span;
    }
    let end = with_initial(page, &(start..start + name.len()));
    with_saint(page, start)..with_dot(page, &(start..end))
}

/// Returns the end of a surname with the initial that distinguishes two people of that surname, if nothing continues
/// behind it ("Booth, J", "ROE, P").
pub(crate) fn with_initial(page: &Page<'_>, span: &Range<usize>) -> usize {
    let text = page.slice(span.clone());
    let is_surname = text.len() >= 2
        && text
            .iter()
            .all(|&byte| is_word_byte(byte) || matches!(byte, b'-' | b'\''));
    let end = span.end + 3;
    let is_initial =
        page.slice(span.end..span.end + 2) == b", " && page.byte(end - 1).is_ascii_uppercase();
    let rest = page.slice(end..page.text.len().min(end + 2));
    let ends = match rest.first() {
        None => true,
        Some(b' ') => !rest.get(1).is_some_and(u8::is_ascii_alphabetic),
        Some(byte) => matches!(byte, b',' | b'.' | b';' | b')' | b'\n' | b'\t' | b'|'),
    };
    if is_surname && is_initial && ends {
        end
    } else {
        span.end
    }
}

/// Returns the start of a surname with its saint ("St. John").
fn with_saint(page: &Page<'_>, start: usize) -> usize {
    let is_saint = page.slice(start.saturating_sub(4)..start) == b"St. "
        && !is_word_byte(page.byte_before(start.saturating_sub(4)));
    start - if is_saint { 4 } else { 0 }
}

/// Skips "51 ", "dtr ", "claimant ", "anes " as long as a word is left.
fn first_of_name(page: &Page<'_>, span: &Range<usize>) -> usize {
    let mut start = span.start;
    while let Some(gap) = page
        .slice(start..span.end)
        .iter()
        .position(|&byte| matches!(byte, b' ' | b'\n'))
    {
        let word = page.slice(start..start + gap);
        let has_dot = word.last() == Some(&b'.');
        let bare = &word[..word.len() - usize::from(has_dot)];
        let sense = LEXICON.sense(bare);
        // "minha mãe Conceição", "o senhor Fernando": whose mother it is comes first.
        let is_before_kin = page
            .word_at(start + gap + 1)
            .is_some_and(|(next, end)| next.has(Sense::KIN | Sense::TITLE) && end < span.end);
        let introduces = is_before_kin && word[0].is_ascii_lowercase()
            || sense.has(Sense::ROLE | Sense::KIN | Sense::TITLE | Sense::INTRODUCES)
                && !(sense.has(Sense::GIVEN | Sense::GIVEN_WORD) && word[0].is_ascii_uppercase());
        let is_number = word.iter().all(u8::is_ascii_digit);
        let rest = start + gap + 1;
        let is_before_capital = page.byte(rest).is_ascii_uppercase();
        // A small word before a given name only joins it to the words before ("Hijo de María Pozo", "y José").
        let given = page.word_at(start + gap + 1);
        let joins = given.is_some_and(|(sense, end)| {
            let is_joint = match word {
                b"y" | b"e" => true,
                // "Pt de León" is a surname.
                b"de" => end < span.end,
                _ => false,
            };
            is_joint && sense.has(Sense::GIVEN)
        });
        let is_word =
            word.iter().all(u8::is_ascii_lowercase) && (joins || !sense.has(Sense::PARTICLE));
        let is_degree = word.len() >= 4 && word.iter().all(u8::is_ascii_uppercase);
        let is_written_out = page.byte(rest + 1).is_ascii_lowercase();
        // "PA Roe", "T1 Roe": a credential, or the number of a twin.
        let is_shouted = word
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let is_code =
            is_shouted && (sense.has(Sense::CREDENTIAL) || word.iter().any(u8::is_ascii_digit));
        let stands_before =
            is_before_capital && (is_word || (is_degree || is_code) && is_written_out);
        if !(introduces || is_number || stands_before) || !is_word_byte(page.byte(rest)) {
            break;
        }
        start = rest;
    }
    start
}

/// Cuts "ARNP", "SFPD", a code, or lower-case words off the end of a capitalised name.
fn end_of_name(page: &Page<'_>, span: &Range<usize>) -> usize {
    let is_capital = page.byte(span.start).is_ascii_uppercase();
    let mut end = span.end;
    // "ROE,JANE M|0033190": the last letters belong to a code.
    let mut is_cut_inside = page.byte(end).is_ascii_digit();
    loop {
        let length = page
            .slice(span.start..end)
            .iter()
            .rev()
            .take_while(|&&byte| is_word_byte(byte) || matches!(byte, b'-' | b'\'' | b'.'))
            .count();
        let start = end - length;
        if start <= span.start || length == 0 {
            return end;
        }
        let word = page.slice(start..end);
        let sense = LEXICON.sense(word);
        let is_shouted = word.len() >= 2 && word.iter().all(u8::is_ascii_uppercase);
        let is_name_shouted = page
            .slice(span.start..start)
            .iter()
            .all(|byte| !byte.is_ascii_lowercase());
        // "ROE, JANE DO" has a degree, "MINH DO" a surname.
        let head = page.slice(span.start..start);
        let is_whole_without = head.contains(&b',') && head.trim_ascii().contains(&b' ');
        let is_degree = is_shouted
            && sense.has(Sense::CREDENTIAL)
            && (!is_name_shouted || sense.has(Sense::DEGREE) || is_whole_without);
        let is_lower = is_capital
            && word[0].is_ascii_lowercase()
            && !sense.has(Sense::PARTICLE)
            && !matches!(word, b"jr" | b"sr" | b"ii" | b"iii" | b"jr." | b"sr.");
        let has_digit = word.iter().any(u8::is_ascii_digit);
        if !(is_cut_inside || is_degree || is_lower || has_digit) {
            return end;
        }
        is_cut_inside = false;
        end = start
            - page
                .slice(span.start..start)
                .iter()
                .rev()
                .take_while(|&&byte| matches!(byte, b' ' | b',' | b'\n' | b'(' | b'-'))
                .count();
    }
}

/// Whether a full name ends and another begins here: "Jane Roe, Mark Poe", "Ana Ruiz y José Pozo", "Al, Bo, Cy", but
/// not "Roe, Jane Q".
pub(crate) fn joins_two(text: &[u8], at: usize) -> bool {
    let count = |part: &[u8]| words(part).filter(|word| word.len() > 1).count();
    match text[at] {
        b',' if is_list_of_given_names(text) => true,
        b',' => {
            let mut before = text[..at].split(|&byte| byte == b',');
            let next = text[at + 1..].split(|&byte| byte == b',').next();
            before.all(|part| count(part) >= 2) && count(next.unwrap_or_default()) >= 2
        }
        b' ' => {
            const JOINTS: &[&[u8]] = &[b" y ", b" e ", b" and ", b" & ", b" und ", b" et "];
            let joint = JOINTS.iter().find(|joint| text[at..].starts_with(joint));
            joint.is_some_and(|joint| {
                let after = &text[at + joint.len()..];
                let is_given = words(after)
                    .next()
                    .is_some_and(|word| LEXICON.sense(word).has(Sense::GIVEN));
                count(&text[..at]) >= 2 && is_given
            })
        }
        _ => false,
    }
}

/// Whether a text is a list of at least three single words, the first a given name, so that no surname leads ("Teo,
/// Bridget, Mike").
fn is_list_of_given_names(text: &[u8]) -> bool {
    let mut parts = text.split(|&byte| byte == b',');
    let opens = parts
        .next()
        .is_some_and(|first| LEXICON.sense(first.trim_ascii()).has(Sense::GIVEN));
    let is_word = |part: &[u8]| words(part).count() == 1 && part.trim_ascii().len() > 1;
    opens && text.iter().filter(|&&byte| byte == b',').count() >= 2 && parts.all(is_word)
}

/// The words of a name, with the hyphens and apostrophes inside them.
fn words(part: &[u8]) -> impl Iterator<Item = &[u8]> {
    part.split(|&byte| !is_word_byte(byte) && !matches!(byte, b'-' | b'\''))
        .filter(|word| !word.is_empty())
}

/// Takes the dot of "A.R." and of "Ted L." at the end of a line or before a sign.
fn with_dot(page: &Page<'_>, span: &Range<usize>) -> usize {
    let end = span.end;
    let text = page.slice(span.clone());
    // The last of "R-O-E." ends a sentence.
    let is_initial = text.last().is_some_and(u8::is_ascii_uppercase)
        && (text.len() == 1 || !is_word_byte(text[text.len() - 2]) && text[text.len() - 2] != b'-');
    let is_all_initials = is_initial && text.len() >= 3 && text[text.len() - 2] == b'.';
    let opens_sentence = page.byte(end + 1) == b' ' && page.byte(end + 2).is_ascii_uppercase();
    let is_suffix = text.ends_with(b" Jr") || text.ends_with(b" Sr");
    let takes =
        page.byte(end) == b'.' && (is_all_initials || (is_initial || is_suffix) && !opens_sentence);
    end + usize::from(takes)
}
