//! Reads names of people: capitalised words, initials, particles, suffixes.

mod announced;
mod asides;
mod beds;
mod beside;
mod chats;
mod damaged;
mod data;
mod ending;
mod extent;
mod fit;
mod letters;
mod particulars;
mod programs;
mod repeat;
mod rounds;
mod spelled_out;
mod things;

pub(crate) use announced::{follows_person, has_age, is_announced, opens_sentence};
pub(crate) use asides::after_departments;
pub(crate) use beds::in_beds;
pub(crate) use beside::is_of_thing;
pub(crate) use chats::{initials_below, speakers};
pub(crate) use damaged::mend as mend_names;
pub(crate) use data::{
    initials_at, is_identifier, is_in_data, is_piece_of_identifier, is_type_word,
};
pub(crate) use ending::{
    display_name_before, ends_full_name, ends_last_first, name_before_degree, surname_before,
};
pub(crate) use extent::extend;
pub(crate) use fit::{fit, joins_two, with_initial};
pub(crate) use letters::in_letters;
pub(crate) use particulars::{after as particulars, follows_rank, follows_title};
pub(crate) use programs::AssistantNames;
pub(crate) use repeat::{again, is_in_code, is_in_program, is_in_statement};
pub(crate) use rounds::before_age;
pub(crate) use spelled_out::{ends_in_name, spelled_out};
pub(crate) use things::{is_listed, is_on_map, is_thing};

use std::ops::Range;

use crate::lexicon::{LEXICON, Sense};
use crate::page::{Page, is_word_byte, last_letters};
use crate::word_list::WordList;

/// Reason to expect a name; the weaker the cue, the more the words must look like a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cue {
    /// A title ("Dr. …"): one capitalised word is enough.
    Title,
    /// A title in lower case ("dr …"): the name may be in lower case too.
    LowerTitle,
    /// A label ("Name: …"): the name may be in lower case.
    Label,
    /// A role or a relative ("patient …", "my husband …").
    Weak,
    /// The first word is a known given name.
    Given,
}

impl Cue {
    fn is_title(self) -> bool {
        matches!(self, Cue::Title | Cue::LowerTitle)
    }
}

/// A name and its evidence.
pub(crate) struct Name {
    pub(crate) span: Range<usize>,
    /// Words that are not just initials.
    pub(crate) words: usize,
    /// Words that are known given names.
    pub(crate) known: usize,
    pub(crate) is_capital: bool,
    /// Whether a comma separates surname and given name ("Last, First").
    pub(crate) has_comma: bool,
}

/// One word of a name.
struct Part {
    span: Range<usize>,
    sense: Sense,
    is_capital: bool,
    is_initial: bool,
}

/// The name that starts exactly at `start`, if the words there look like one.
pub(crate) fn name_at(page: &Page<'_>, start: usize, cue: Cue) -> Option<Name> {
    let mut name = Name {
        span: start..start,
        words: 0,
        known: 0,
        is_capital: true,
        has_comma: false,
    };
    let mut at = start;
    for position in 0..5 {
        let Some(part) = part_at(page, at) else {
            break;
        };
        if !fits(page, &part, cue, position) {
            break;
        }
        let is_particle = part.sense.has(Sense::PARTICLE) && !part.is_capital;
        if !is_particle {
            // A particle is part of a name only when a name goes on after it.
            name.span.end = part.span.end;
            name.words += usize::from(!part.is_initial);
            name.known += usize::from(part.sense.has(Sense::GIVEN));
            name.is_capital &= part.is_capital;
            name.has_comma |= at > start && page.byte_before(at.saturating_sub(1)) == b',';
        }
        let Some(next) = next_start(page, &part, cue, position) else {
            break;
        };
        at = next;
    }
    // "From: Dr. Bo Li Pages: 3": a word with a colon is a label.
    if page.byte(name.span.end) == b':' && name.words >= 2 {
        let last = page
            .slice(name.span.clone())
            .iter()
            .rposition(|&byte| byte == b' ')?;
        name.span.end = name.span.start + last;
        name.words -= 1;
    }
    if name.words == 0 || is_before_eponym_tail(page, name.span.end, cue) {
        return None;
    }
    name.span.end = with_suffix(page, with_initial_dot(page, &name.span));
    Some(name)
}

/// Whether this word can be the next part of a name.
fn fits(page: &Page<'_>, part: &Part, cue: Cue, position: usize) -> bool {
    let may_be_word =
        part.sense.has(Sense::GIVEN_WORD) && part.is_capital && (position > 0 || cue != Cue::Given);
    let is_known = part.sense.has(Sense::GIVEN) || may_be_word;
    if part.is_initial {
        return position > 0 || page.byte(part.span.end) == b'.' && cue != Cue::Weak;
    }
    if part.sense.has(Sense::PARTICLE) && (position > 0 || part.is_capital) && part.span.len() > 1 {
        return true;
    }
    let is_other_word = part.sense.has(Sense::STOP)
        || part.sense.has(Sense::LABEL) && !cue.is_title()
        || position > 0 && part.sense.has(Sense::CREDENTIAL)
        || position > 0 && part.sense.has(Sense::TITLE)
        || part.sense.has(Sense::EPONYM_TAIL) && !cue.is_title()
        || part.sense.has(Sense::MONTH)
        || position > 0 && part.sense.has(Sense::UNIT)
        || position == 0 && part.sense.has(Sense::TITLE);
    if is_other_word && !is_known {
        return false;
    }
    let text = page.slice(part.span.clone());
    let is_acronym = text.len() <= 4 && text.iter().all(u8::is_ascii_uppercase) && !is_known;
    if is_acronym && (!cue.is_title() || text.len() < 3) && !is_shouted(page, part.span.start) {
        return false;
    }
    let may_be_lower = cue == Cue::Label && position < 2 || cue == Cue::LowerTitle && position == 0;
    part.is_capital || may_be_lower && part.sense.0 & !(Sense::GIVEN.0 | Sense::GIVEN_WORD.0) == 0
}

/// Whether the words before are in capitals too, so that capitals say nothing about this one.
fn is_shouted(page: &Page<'_>, at: usize) -> bool {
    let before = page.slice(at.saturating_sub(12)..at);
    let letters = before
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    letters >= 4 && !before.iter().any(u8::is_ascii_lowercase)
}

/// Returns the possible start of the next part: after one space or, in "Last, First", a comma.
fn next_start(page: &Page<'_>, part: &Part, cue: Cue, position: usize) -> Option<usize> {
    let has_dot = page.byte(part.span.end) == b'.';
    // After a dot a sentence may begin, unless the dot belongs to an initial.
    if has_dot && !part.is_initial {
        return None;
    }
    let at = part.span.end + usize::from(has_dot);
    match page.byte(at) {
        b' ' if page.byte(at + 1) != b' ' => Some(at + 1),
        b',' if position == 0 && cue == Cue::Label && page.byte(at + 1) == b' ' => Some(at + 2),
        // "J.T."
        _ if has_dot
            && page.byte(at).is_ascii_uppercase()
            && !page.byte(at + 1).is_ascii_alphanumeric() =>
        {
            Some(at)
        }
        _ => None,
    }
}

/// Takes the dot of a last initial: "Jane Q."
fn with_initial_dot(page: &Page<'_>, span: &Range<usize>) -> usize {
    let is_initial = span.len() >= 2
        && !is_word_byte(page.byte(span.end - 2))
        && page.byte(span.end - 1).is_ascii_uppercase();
    let ends_sentence =
        page.byte(span.end + 1) == b' ' && page.byte(span.end + 2).is_ascii_uppercase();
    span.end + usize::from(is_initial && page.byte(span.end) == b'.' && !ends_sentence)
}

fn with_suffix(page: &Page<'_>, end: usize) -> usize {
    let at = end
        + page
            .slice(end..end + 2)
            .iter()
            .take_while(|byte| matches!(byte, b',' | b' '))
            .count();
    let length = page
        .slice(at..page.text.len().min(at + 4))
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let word_end = at + length;
    let is_suffix = matches!(
        page.slice(at..word_end),
        b"Jr" | b"Sr" | b"II" | b"III" | b"IV" | b"JR" | b"SR" | b"jr" | b"sr"
    );
    if at > end && is_suffix {
        word_end
            + usize::from(
                page.byte(word_end) == b'.' && !page.byte(word_end + 2).is_ascii_uppercase(),
            )
    } else {
        end
    }
}

/// Whether a name belongs to a disease or a device ("Parkinson disease", "Foley catheter"), and not to a person here.
fn is_before_eponym_tail(page: &Page<'_>, end: usize, cue: Cue) -> bool {
    if cue.is_title() {
        return false;
    }
    let mut at = end;
    if page.slice(at..at + 2) == b"'s" {
        at += 2;
    }
    matches!(page.byte(at), b' ' | b'-')
        && page
            .word_at(at + 1)
            .is_some_and(|(sense, _)| sense.has(Sense::EPONYM_TAIL))
}

/// The word at `start`, with hyphens and apostrophes inside it.
fn part_at(page: &Page<'_>, start: usize) -> Option<Part> {
    let bytes = page.bytes();
    let mut end = start;
    while end < bytes.len() && end < start + 40 {
        let byte = bytes[end];
        let joins = matches!(byte, b'-' | b'\'')
            && end > start
            && bytes.get(end + 1).is_some_and(u8::is_ascii_alphabetic)
            && !is_contraction(bytes, end);
        if !(byte.is_ascii_alphabetic() || byte >= 0x80 || joins) {
            break;
        }
        end += 1;
    }
    let goes_on = bytes
        .get(end)
        .is_some_and(|&byte| is_word_byte(byte) || matches!(byte, b'@' | b'_'));
    if end == start || goes_on {
        return None;
    }
    let text = &bytes[start..end];
    let simple = text.split(|&byte| byte == b'-').next().unwrap_or(text);
    let first = page.text.get(start..)?.chars().next()?;
    Some(Part {
        span: start..end,
        sense: LEXICON.sense(simple),
        is_capital: first.is_uppercase(),
        is_initial: text.len() == 1 && first.is_uppercase(),
    })
}

/// Whether the apostrophe starts "'s", "'m", "'ll" rather than being inside a name like O'Brien.
fn is_contraction(bytes: &[u8], apostrophe: usize) -> bool {
    let tail = bytes[apostrophe + 1..]
        .iter()
        .take(3)
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    bytes[apostrophe] == b'\'' && tail <= 2
}

/// Returns the start of a label's value, and whether a sign or a verb announces it.
pub(crate) fn value_start(page: &Page<'_>, label: Range<usize>) -> Option<(usize, bool)> {
    let bytes = page.bytes();
    let limit = bytes.len().min(label.end + 12);
    let mut at = label.end;
    let mut is_explicit = false;
    let mut spaces = 0;
    while at < limit {
        match bytes[at] {
            b':' | b'=' | b'>' => is_explicit = true,
            b' ' | b'\t' => spaces += 1,
            b'"' | b'\'' | b'*' if is_explicit => {}
            // "Pt. Jane Roe", but not the end of a sentence.
            b'.' if at == label.end && label.len() <= 3 => {}
            _ => break,
        }
        at += 1;
    }
    for verb in [b"is ".as_slice(), b"was ", b"named ", b"called "] {
        if at > label.end && page.slice(at..at + verb.len()).eq_ignore_ascii_case(verb) {
            return Some((at + verb.len(), true));
        }
    }
    // Two spaces are what redaction leaves.
    let is_redacted = !is_explicit && spaces != 1;
    (at > label.end && !is_redacted).then_some((at, is_explicit))
}

/// Whether a value ends like the field of a form: at a line break, a sign, or a label.
pub(crate) fn ends_like_a_field(page: &Page<'_>, end: usize) -> bool {
    let spaces = page
        .slice(end..page.text.len().min(end + 3))
        .iter()
        .take_while(|&&byte| byte == b' ')
        .count();
    // "SURGEON: Hale      ASSISTANT: …": a wide gap parts the fields of a form.
    if spaces >= 3 {
        return true;
    }
    let at = end + spaces;
    let byte = page.byte(at);
    let is_label = page
        .word_at(at)
        .is_some_and(|(sense, _)| sense.has(Sense::LABEL | Sense::CREDENTIAL));
    // "Sure, that is fine": a sentence goes on after its first word.
    let is_sentence =
        byte == b',' && page.byte(at + 1) == b' ' && page.byte(at + 2).is_ascii_lowercase();
    let is_sign = matches!(
        byte,
        0 | b'\n'
            | b'\r'
            | b','
            | b';'
            | b'|'
            | b'('
            | b')'
            | b'/'
            | b'"'
            | b'<'
            | b'-'
            | b'*'
            | b'&'
            | b']'
    );
    is_sign && !is_sentence || is_label
}

/// The part of a name field after a title: "Dr. Li" is Li.
pub(crate) fn without_title(page: &Page<'_>, span: Range<usize>) -> Range<usize> {
    let Some((sense, end)) = page.word_at(span.start) else {
        return span;
    };
    let after = end + usize::from(page.byte(end) == b'.');
    let is_title = sense.has(Sense::TITLE) && page.byte(after) == b' ' && after + 1 < span.end;
    if is_title { after + 1..span.end } else { span }
}

/// Whether the last word is that of a company ("GitHub Inc.").
fn is_company(value: &[u8]) -> bool {
    static ENDINGS: WordList =
        WordList::new("corp corporation foundation gmbh inc incorporated llc ltd plc");
    let value = value.strip_suffix(b".").unwrap_or(value);
    let last = last_letters(value);
    ENDINGS.has(last)
}

/// Whether the whole value of a name field can be a name.
pub(crate) fn is_name_value(value: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte >= 0x80;
    let has_capitals = value.iter().any(u8::is_ascii_uppercase);
    let (mut words, mut stops, mut common) = (0, 0, 0);
    let (mut titles, mut longest, mut last_word) = (0, 0, 0);
    for word in value
        .split(|byte| !is_letter(byte))
        .filter(|word| !word.is_empty())
    {
        if LEXICON.sense(word).has(Sense::TITLE | Sense::CREDENTIAL) && word.len() <= 4 {
            titles += 1;
            continue;
        }
        longest = longest.max(word.len());
        last_word = word.len();
        words += 1;
        let is_stop = LEXICON.sense(word).has(Sense::STOP);
        let is_spoken =
            word[0].is_ascii_lowercase() || LEXICON.sense(word).has(Sense::LABEL | Sense::ROLE);
        common += usize::from(is_stop && is_spoken);
        let is_word_of_prose = is_stop && (!has_capitals || word[0].is_ascii_lowercase());
        stops += usize::from(is_word_of_prose);
    }
    // "This field cannot be blank."
    let is_sentence = words >= 3 && value.ends_with(b".") && last_word > 3;
    // In messages the position says "name"; test systems put digits and underscores there.
    let is_message = value.contains(&b'^');
    let has_signs = value.iter().any(|byte| match byte {
        b'_' | b'0'..=b'9' => !is_message,
        b'@' | b'{' | b'}' | b'<' | b'>' | b'[' | b']' | b'/' | b'$' | b'?' | b'!' | b':' => true,
        _ => false,
    });
    // "Dr.^MD^D": what redaction leaves of a name in a message.
    let is_only_titles = longest < 2 && titles > 0;
    (1..=7).contains(&words)
        && (words == 1 || !is_company(value))
        && !is_only_titles
        && !is_sentence
        && common < words
        && stops * 2 < words.max(2)
        && value.len() <= 80
        && !has_signs
}
