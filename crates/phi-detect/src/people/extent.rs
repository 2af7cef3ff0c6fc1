//! Rest of a name that the model found in part: an initial before it, a surname in capitals, the tail behind a hyphen
//! or a particle.

use std::ops::Range;

use crate::lexicon::{LEXICON, Sense};
use crate::names;
use crate::page::{Page, is_word_byte};

/// The span with what belongs to the name on both sides.
pub(crate) fn extend(page: &Page<'_>, span: Range<usize>) -> Range<usize> {
    let end = if is_capital(page, span.start) {
        with_tail(page, &span)
    } else {
        span.end
    };
    let start = with_initial_before(page, span.start);
    with_word_before(page, &(start..end))..end
}

/// Returns the end of a name with the words that a hyphen or a particle joins to it ("Platell-Wu", "Annegret von der
/// Lühe", "Yusuf al-Harthi").
fn with_tail(page: &Page<'_>, span: &Range<usize>) -> usize {
    const JOINTS_MAX: usize = 4;
    let mut end = hyphen_tail(page, span);
    let mut at = end;
    for _ in 0..JOINTS_MAX {
        // The model may have stopped after a particle.
        let last = page
            .word_before(at)
            .filter(|(_, start)| *start > span.start);
        let follows_particle = last.is_some_and(|(_, start)| is_particle(page.slice(start..at)));
        let next = at + 1;
        let Some(word_end) = word_end(page, next).filter(|_| page.byte(at) == b' ') else {
            break;
        };
        let word = page.slice(next..word_end);
        at = word_end;
        if follows_particle && is_capital(page, next) && !LEXICON.sense(word).has(Sense::TITLE) {
            end = hyphen_tail(page, &(next..word_end));
            break;
        }
        if !is_particle(word) {
            // "al-Harthi".
            let is_joined = word
                .iter()
                .position(|&byte| byte == b'-')
                .is_some_and(|hyphen| {
                    is_particle(&word[..hyphen]) && is_capital(page, next + hyphen + 1)
                });
            if is_joined {
                end = word_end;
            }
            break;
        }
    }
    end
}

/// Whether a word is a particle inside a name, and does not join a second person to it.
fn is_particle(word: &[u8]) -> bool {
    const OTHERS: &[&[u8]] = &[b"bte", b"binti", b"bint", b"a/l", b"a/p"];
    // "y", "e" and "o" join two people as often.
    let is_listed = word.len() > 1
        && word.iter().all(u8::is_ascii_lowercase)
        && LEXICON.sense(word).has(Sense::PARTICLE);
    is_listed || OTHERS.contains(&word)
}

/// Returns the end of a name with the parts that follow a hyphen ("Mobutu-" continues with "Claes", "Abdoelkariem"
/// with "-Soekhoe").
fn hyphen_tail(page: &Page<'_>, span: &Range<usize>) -> usize {
    let mut end = span.end;
    for _ in 0..PARTS_MAX {
        let hyphen = if page.byte_before(end) == b'-' {
            end - 1
        } else {
            end
        };
        if page.byte(hyphen) != b'-' || !is_capital(page, hyphen + 1) || hyphen <= span.start {
            return end;
        }
        let part = page.slice(hyphen + 1..page.text.len().min(hyphen + 40));
        let length = part.iter().take_while(|&&byte| is_name_byte(byte)).count();
        let is_code = page.byte(hyphen + 1 + length).is_ascii_digit();
        let is_shouted = length > 1 && part[..length].iter().all(u8::is_ascii_uppercase);
        if is_code || length < 2 || is_shouted && page.byte(span.end - 1).is_ascii_lowercase() {
            return end;
        }
        end = hyphen + 1 + length;
    }
    end
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0x80
}

/// Returns the end of the word that starts here, with its hyphens and slashes.
fn word_end(page: &Page<'_>, start: usize) -> Option<usize> {
    let rest = page.slice(start..page.text.len().min(start + 40));
    let length = rest
        .iter()
        .take_while(|&&byte| is_name_byte(byte) || matches!(byte, b'-' | b'/' | b'\''))
        .count();
    (length > 0).then_some(start + length)
}

fn is_capital(page: &Page<'_>, at: usize) -> bool {
    page.text
        .get(at..)
        .and_then(|rest| rest.chars().next())
        .is_some_and(char::is_uppercase)
}

/// Initials before a name at most, and parts that hyphens join to it.
const INITIALS_MAX: usize = 4;
const PARTS_MAX: usize = 4;

/// Returns the start of a name with the initials before it, unless they end a sentence ("W. Tshibangu", "P. V. Rao").
fn with_initial_before(page: &Page<'_>, start: usize) -> usize {
    let mut at = start;
    let farthest = start.saturating_sub(3 * INITIALS_MAX);
    while at >= farthest.max(3)
        && page.slice(at - 2..at) == b". "
        && page.byte(at - 3).is_ascii_uppercase()
        && !is_word_byte(page.byte_before(at - 3))
        && is_capital(page, start)
    {
        at -= 3;
    }
    if at == start {
        return start;
    }
    let before = page.slice(at.saturating_sub(2)..at);
    let opens = matches!(
        before,
        [] | [.., b'\n' | b'"' | b'(' | b'\t' | b'/' | b'|']
            | [b',' | b':' | b';' | b'-' | b'&' | b'.' | b'=', b' ']
    );
    let announces = Sense::ROLE | Sense::TITLE | Sense::KIN | Sense::INTRODUCES;
    let is_announced = page
        .word_before(at.saturating_sub(1))
        .is_some_and(|(sense, _)| sense.has(announces));
    if opens || is_announced { at } else { start }
}

/// Returns the start of a name with the given name or the surname in capitals that opens the line or the field ("Cy
/// Young-Park", "OKONKWO Bongani").
fn with_word_before(page: &Page<'_>, span: &Range<usize>) -> usize {
    const LETTERS_MIN: usize = 2;
    const SHOUTED_MIN: usize = 5;
    let start = span.start;
    let is_first = start > 1 && page.byte(start - 1) == b' ' && is_capital(page, start);
    let Some((sense, word)) = page
        .word_before(start.saturating_sub(1))
        .filter(|_| is_first)
    else {
        return start;
    };
    let text = page.slice(word..start - 1);
    let before = page.slice(word.saturating_sub(2)..word);
    let opens = matches!(
        before,
        [] | [.., b'\n' | b'(' | b'"' | b'|' | b'\t'] | [b':' | b';' | b'.' | b'*' | b'-', b' ']
    );
    let is_shouted = text.len() >= SHOUTED_MIN && text.iter().all(u8::is_ascii_uppercase);
    let is_title_case = text.len() >= LETTERS_MIN
        && text[0].is_ascii_uppercase()
        && text[1..].iter().all(|byte| !byte.is_ascii_uppercase());
    let is_given = sense.0 & !(Sense::GIVEN.0 | Sense::GIVEN_WORD.0) == 0;
    let is_known =
        sense.has(Sense::GIVEN) || std::str::from_utf8(text).is_ok_and(names::is_only_a_name);
    let is_written_as_name =
        is_title_case || is_shouted && page.byte(start + 1).is_ascii_lowercase();
    let is_name = is_given && is_known && is_written_as_name;
    if opens && is_name { word } else { start }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name in «…», of which the part in the second column was found.
    fn extended(marked: &str, found: &str) -> (String, String) {
        let text = marked.replace(['«', '»'], "");
        let start = marked.find('«').expect("a mark");
        let end = marked.find('»').expect("a mark") - '«'.len_utf8();
        let at = text.find(found).expect("what was found");
        let page = Page::new(&text);
        let span = extend(&page, at..at + found.len());
        (text[span].to_owned(), text[start..end].to_owned())
    }

    #[test]
    fn a_name_is_taken_as_a_whole() {
        for (marked, found) in [
            ("Surgeons («Platell-Wu») in background", "Platell-"),
            ("Kundin «Annegret von der Linde»\n", "Annegret von"),
            ("born to «Yusra al-Tikriti» (553310)", "Yusra"),
            ("MSW «Nurul Huda bte Rahmat».", "Nurul Huda"),
            ("Regards,\n«W. Tshibangu»", "Tshibangu"),
            ("signed by «W. T. Goodpasture», M.D.", "Goodpasture"),
            ("1. «OKONKWO Bongani» 23, stab", "Bongani"),
            ("wk 8: «Adeola Bhatnagar»\n", "Bhatnagar"),
        ] {
            let (left, right) = extended(marked, found);
            assert_eq!(left, right, "{marked}");
        }
    }

    #[test]
    fn name_extent_excludes_surrounding_text() {
        for (marked, found) in [
            ("She has hepatitis A. «Roe» will call", "Roe"),
            ("autorizo a «Jane Roe» y Mark Poe", "Jane Roe"),
            ("Called «Roe» today", "Roe"),
            ("«Roe»-2024 is the file", "Roe"),
            ("«Jane Roe» de noche", "Jane Roe"),
        ] {
            let (left, right) = extended(marked, found);
            assert_eq!(left, right, "{marked}");
        }
    }
}
