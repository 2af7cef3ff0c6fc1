//! Names that the form of a letter reveals: the person it greets, and the person who signs it.

use std::ops::Range;

use super::{Cue, name_at};
use crate::budget::List;
use crate::lexicon::{LEXICON, Sense};
use crate::page::Page;
use crate::word_list::WordList;

/// Closings on their own line above a signature.
const CLOSINGS: &str = "thanks|thank you|many thanks|thanks again|thx|ta|cheers|best|all the best|best wishes|\
     best regards|regards|kind regards|warm regards|with kind regards|warmly|sincerely|\
     yours sincerely|sincerely yours|yours truly|very truly yours|yours faithfully|yours|\
     respectfully|love|hugs|xoxo|xo|take care|take care and see you soon|god bless|talk soon|\
     cordially|in gratitude|gratefully|un saludo|saludos|atentamente|un abrazo|cordialement|\
     bien cordialement|mit freundlichen grussen|viele grusse|lg|mfg|atenciosamente|\
     cordiali saluti";

/// Words that sign a letter without naming a person.
static NOBODY: WordList = WordList::new(
    "team staff support management billing reception administration pharmacy nursing office \
     department service services clinic hospital admin sales marketing security operations \
     everyone all sent from mom dad grandma grandpa me us patient doctor nurse author",
);

/// Maximum length of a line with a greeting, a closing or a signature.
const LINE_BYTES_MAX: usize = 40;

/// Finds the people whose names a letter has on their own line as greeting or signature.
pub(crate) fn in_letters(
    page: &Page<'_>,
    is_only_a_name: impl Fn(&str) -> bool,
    is_ordinary: impl Fn(&str) -> bool,
) -> List<Range<usize>> {
    let mut found = page.memory().list();
    let (mut above, mut is_first) = (Above::Text, true);
    let mut follows_empty = false;
    let (mut start, mut way) = (0, page.way());
    while start < page.text.len() && way.goes_on(start) {
        let rest = page.slice(start..page.text.len());
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = &rest[..length];
        let from = start + (line.len() - line.trim_ascii_start().len());
        start += length + 1;
        if length > LINE_BYTES_MAX {
            (above, is_first, follows_empty) = (Above::Text, false, false);
            continue;
        }
        let text = line.trim_ascii();
        if text.is_empty() {
            follows_empty = true;
            continue;
        }
        let end = from + text.len();
        if is_first || start >= page.text.len() {
            found.extend(
                reference(text)
                    .into_iter()
                    .flatten()
                    .map(|span| from + span.start..from + span.end),
            );
        }
        if above != Above::Text && ends_block(page, start) {
            found.extend(
                signature(page, from..end, above == Above::Closing)
                    .filter(|name| is_somebody(page, name, &is_only_a_name)),
            );
        } else if is_first && text.ends_with(b",") {
            found.extend(addressee(page, from, end - 1));
        }
        above = match is_closing(text) || is_strange_closing(text) && follows_empty {
            true if text.ends_with(b",") || follows_empty => Above::Closing,
            true => Above::LooseClosing,
            false => Above::Text,
        };
        (is_first, follows_empty) = (false, false);
    }
    found.extend(after_dash(page).filter(|name| is_somebody(page, name, &is_only_a_name)));
    found.extend(after_closing(page, is_ordinary));
    found
}

/// Finds the initials of a letter's author and typist on its first or last line ("JTR:mk", "HJW/pk").
fn reference(line: &[u8]) -> Option<[Range<usize>; 2]> {
    let sign = line.iter().position(|byte| matches!(byte, b'/' | b':'))?;
    let (author, typist) = (&line[..sign], &line[sign + 1..]);
    let fits = (2..=4).contains(&author.len())
        && (2..=3).contains(&typist.len())
        && author.iter().all(u8::is_ascii_uppercase)
        && typist.iter().all(u8::is_ascii_lowercase)
        && LEXICON.sense(author) == Sense::NONE
        && LEXICON.sense(typist) == Sense::NONE;
    fits.then_some([0..sign, sign + 1..line.len()])
}

/// Finds a given name behind a dash at the very end ("said 3-5 days. - Marisol").
fn after_dash(page: &Page<'_>) -> Option<Range<usize>> {
    let end = page.text.trim_end().len();
    let (sense, start) = page.word_before(end)?;
    let before = page.slice(start.saturating_sub(4)..start);
    let is_signed = [b". - ".as_slice(), b"! - ", b"? - ", b") - "].contains(&before)
        || before.ends_with(b"\n- ")
        || before.ends_with(b"\n-");
    let word = page.slice(start..end);
    let is_name = word.len() >= 2
        && word[0].is_ascii_uppercase()
        && sense.0 & !(Sense::GIVEN.0 | Sense::GIVEN_WORD.0) == 0;
    // The last of a list of words signs nothing.
    let is_list = || {
        memchr::memmem::find_iter(page.bytes(), b"\n-")
            .nth(1)
            .is_some()
    };
    (is_signed && is_name && !is_list()).then_some(start..end)
}

/// Finds a word without another meaning behind a closing at the very end ("Freitag früher weg. LG Gesa").
fn after_closing(page: &Page<'_>, is_ordinary: impl Fn(&str) -> bool) -> Option<Range<usize>> {
    static WORDS: WordList = WordList::new(
        "lg mvg gr groetjes groeten vg bises bisous love xx cheers thanks thx regards gruss \
         grusse abs abracos beijos saludos besos saluti baci ta",
    );
    let end = page
        .text
        .trim_end_matches(|sign: char| !sign.is_alphanumeric())
        .len();
    let (sense, start) = page.word_before(end)?;
    let word = page.text.get(start..end)?;
    let gap = page.slice(start.saturating_sub(3)..start);
    let signs = gap
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b' ' | b',' | b'.'))
        .count();
    let closing_end = start - signs;
    let (_, closing) = page
        .word_before(closing_end)
        .filter(|_| gap.ends_with(b" "))?;
    let closing = page.slice(closing..closing_end);
    let is_closing = WORDS.has(closing);
    let is_given = sense.0 & !(Sense::GIVEN.0 | Sense::GIVEN_WORD.0) == 0;
    let is_name = word.len() >= 2
        && word.starts_with(char::is_uppercase)
        && word.chars().skip(1).all(char::is_lowercase)
        && is_given
        && (sense != Sense::NONE || !is_ordinary(word));
    (is_closing && is_name).then_some(start..end)
}

/// Kind of the line above a line.
#[derive(Clone, Copy, PartialEq)]
enum Above {
    Text,
    Closing,
    /// A closing in the midst of lines, as in lists of words.
    LooseClosing,
}

/// Whether the text, or a stretch of it, ends before the line that starts here.
fn ends_block(page: &Page<'_>, start: usize) -> bool {
    start >= page.text.len()
        || matches!(page.byte(start), b'\n' | b'\r' | b'(' | b'-' | b'>')
        || page.byte(start).is_ascii_uppercase()
}

fn is_closing(line: &[u8]) -> bool {
    let bare = line
        .strip_suffix(b",")
        .or_else(|| line.strip_suffix(b"!"))
        .or_else(|| line.strip_suffix(b"."));
    let bare = bare.unwrap_or(line);
    CLOSINGS
        .split('|')
        .any(|closing| bare.eq_ignore_ascii_case(closing.as_bytes()))
}

/// Whether a line is a few words and a comma, as a closing in a language without a list here ("Go raibh maith
/// agaibh,").
fn is_strange_closing(line: &[u8]) -> bool {
    let Some(bare) = line.strip_suffix(b",") else {
        return false;
    };
    let words = || bare.split(|&byte| byte == b' ');
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte >= 0x80;
    let is_plain = words().all(|word| !word.is_empty() && word.iter().all(is_letter));
    let is_small = words()
        .skip(1)
        .all(|word| word.first().is_some_and(u8::is_ascii_lowercase));
    (2..=5).contains(&words().count())
        && is_plain
        && is_small
        && bare.first().is_some_and(u8::is_ascii_uppercase)
}

/// Finds a signature of one to three words under a closing ("Thanks,⏎W.", "ta⏎mo").
fn signature(page: &Page<'_>, line: Range<usize>, is_clear: bool) -> Option<Range<usize>> {
    let line_end = line.end;
    let start = line.start + usize::from(page.byte(line.start) == b'-');
    let (sense, word_end) = page.word_at(start)?;
    let word = page.slice(start..word_end);
    let is_nobody = NOBODY.has(word);
    let is_given = sense.has(Sense::GIVEN | Sense::GIVEN_WORD);
    if is_nobody || !is_clear && !is_given {
        return None;
    }
    let is_alone = word_end == line_end || word_end + 1 == line_end && page.byte(word_end) == b'.';
    let is_written_as_name = word[0].is_ascii_uppercase() && (sense == Sense::NONE || is_given);
    // "W.", "mo", "JT".
    if is_alone && (word.len() <= 2 || is_written_as_name || sense == Sense::GIVEN) {
        return Some(start..if word.len() <= 2 { line_end } else { word_end });
    }
    let name = name_at(page, start, Cue::Title)?;
    let ends = name.span.end == line_end || matches!(page.byte(name.span.end), b',' | b'(');
    (name.is_capital && ends && name.words <= 3 && (name.known > 0 || name.words == 2))
        .then_some(name.span)
}

/// Whether a signature names a person: a word that no list of given names has must be known only as a name.
/// "Facilities" does not name a person.
fn is_somebody(
    page: &Page<'_>,
    name: &Range<usize>,
    is_only_a_name: impl Fn(&str) -> bool,
) -> bool {
    let word = page.text.get(name.clone()).unwrap_or_default();
    let is_one_word = word
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || byte >= 0x80);
    let is_given = LEXICON
        .sense(word.as_bytes())
        .has(Sense::GIVEN | Sense::GIVEN_WORD);
    !is_one_word || word.len() <= 2 || is_given || is_only_a_name(word)
}

/// Finds a given name alone on the first line ("Phillip,").
fn addressee(page: &Page<'_>, start: usize, end: usize) -> Option<Range<usize>> {
    let word = page.slice(start..end);
    let is_name = word.len() >= 3
        && word[0].is_ascii_uppercase()
        && word.iter().all(u8::is_ascii_alphabetic)
        && LEXICON.sense(word).has(Sense::GIVEN);
    is_name.then_some(start..end)
}
