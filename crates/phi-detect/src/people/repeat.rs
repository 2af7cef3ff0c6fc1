//! Finds a person again: once a text has named someone, the same word elsewhere in it is that person too.

use std::ops::Range;

use super::Cue;
use super::is_before_eponym_tail;
use crate::budget::List;
use crate::bytes64;
use crate::lexicon::{self, LEXICON, Sense};
use crate::page::{Page, is_word_byte};

/// Further mentions of the words of `names`, as spans; those inside a known name are among them.
pub(crate) fn again(
    page: &Page<'_>,
    names: &[Range<usize>],
    is_ordinary: impl Fn(&str) -> bool,
) -> List<Range<usize>> {
    let memory = page.memory();
    let initials = names.iter().map(|name| page.slice(name.clone()));
    let mut initials = memory.collect(initials.filter_map(initials_of));
    initials.sort_unstable();
    initials.dedup();
    let words = Words::of(page, names, &initials);
    if words.written.is_empty() {
        return memory.list();
    }
    let bytes = page.bytes();
    let mut found = memory.list();
    for run in page.through(bytes64::runs(bytes, is_part_byte)) {
        let first = bytes[run.start];
        if first == b'-' || words.may_have(first, run.len()) {
            found.extend(mention(page, &words, run, &is_ordinary));
        }
    }
    found
}

/// Returns the word of a known person's name in a run of letters and hyphens. Few runs need this function.
#[inline(never)]
fn mention(
    page: &Page<'_>,
    words: &Words<'_>,
    run: Range<usize>,
    is_ordinary: impl Fn(&str) -> bool,
) -> Option<Range<usize>> {
    // A hyphen inside a word is part of it, one before it is not: "-TWR".
    let hyphens = page.slice(run.clone()).iter();
    let hyphens = hyphens.take_while(|&&byte| byte == b'-').count();
    let span = run.start + hyphens..run.end;
    let word = page.slice(span.clone());
    let is_meant = |says: RepeatMeaning| match says {
        RepeatMeaning::Who => true,
        RepeatMeaning::WhoStandingOut => stands_out(page, &span),
    };
    let hash = lexicon::hash(word);
    let is_said = words.as_written(hash, word).any(is_meant)
        || words
            .other_forms(hash)
            .any(|form| form.is_of(word, &is_ordinary));
    (is_said && stands_free(page, &span)).then_some(span)
}

/// The initials of a full name, of three letters or four: "JQR" is Jane Q. Roe.
fn initials_of(text: &[u8]) -> Option<Initials> {
    let words = text.split(|&byte| !is_part_byte(byte));
    let initials = words.filter_map(|word| word.first().copied());
    let is_full = (3..=4).contains(&initials.clone().count())
        && initials.clone().all(|initial| initial.is_ascii_uppercase())
        && text.iter().any(u8::is_ascii_lowercase)
        && !text.contains(&b',');
    let mut kept = Initials::default();
    for initial in initials.take(kept.0.len()) {
        kept.0[kept.1] = initial;
        kept.1 += 1;
    }
    (is_full && LEXICON.sense(kept.text()) == Sense::NONE).then_some(kept)
}

/// Three initials or four, and how many they are.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Initials([u8; 4], usize);

impl Initials {
    fn text(&self) -> &[u8] {
        &self.0[..self.1]
    }
}

/// Meaning of a repeated word of a name, written as in the name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RepeatMeaning {
    /// The word identifies the person.
    Who,
    /// The word identifies the person only at a position without ordinary words.
    WhoStandingOut,
}

/// Another form of the word of a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    /// Capitals, as in a header ("Barnes" is BARNES in the list above).
    Capitals,
    /// A capital first letter, as in a sentence ("BARNES" is Barnes).
    TitleCase,
    /// Lower case, as by a hurried writer, if the word has no other meaning ("carmen told me").
    Small,
}

impl Form {
    /// Other forms of shorter words are too often something else.
    const BYTES_MIN: usize = 4;

    /// The other forms of a word of a name.
    fn of(name: &[u8]) -> impl Iterator<Item = Form> {
        let is_long = name.len() >= Form::BYTES_MIN;
        let is_shouted = name.iter().all(u8::is_ascii_uppercase);
        let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || !is_shouted && *byte == b'-';
        let is_plain = name.iter().all(is_letter) && name[0].is_ascii_uppercase();
        let in_other_case = if is_shouted {
            Form::TitleCase
        } else {
            Form::Capitals
        };
        let in_other_case = (is_long && is_plain).then_some(in_other_case);
        let in_small = (is_long && !name.contains(&b'-')).then_some(Form::Small);
        in_other_case.into_iter().chain(in_small)
    }

    /// Whether a word is written so.
    fn is_of(self, word: &[u8], is_ordinary: impl Fn(&str) -> bool) -> bool {
        let is_small = |text: &[u8]| !text.iter().any(u8::is_ascii_uppercase);
        match self {
            Form::Capitals => !word.iter().any(u8::is_ascii_lowercase),
            Form::TitleCase => word[0].is_ascii_uppercase() && is_small(&word[1..]),
            Form::Small => {
                is_small(word) && std::str::from_utf8(word).is_ok_and(|word| !is_ordinary(word))
            }
        }
    }
}

/// A few words, to be looked for at every word of a text.
struct Words<'a> {
    /// Lengths of the words per first letter, one bit each, all long ones sharing a bit: this excludes nearly every
    /// other word.
    lengths: [u64; 32],
    /// Words as names write them, sorted by hashes that ignore case.
    written: List<(u64, &'a [u8], RepeatMeaning)>,
    /// Other forms, sorted by hash.
    forms: List<(u64, Form)>,
}

impl<'a> Words<'a> {
    fn of(page: &Page<'a>, names: &[Range<usize>], initials: &'a [Initials]) -> Self {
        let memory = page.memory();
        let mut parts = memory.list();
        let mut names = memory.collect(names.iter().cloned());
        names.sort_unstable_by_key(|name| (name.start, name.end));
        names.dedup();
        let mut reach = 0;
        for name in &names {
            let words = page.slice(name.clone()).split(|&byte| !is_part_byte(byte));
            let mut end = name.end;
            for (place, text) in words.rev().enumerate() {
                // If names overlap, the words of their common part are taken once.
                if place > 0 && end <= reach {
                    break;
                }
                end = end.saturating_sub(text.len() + 1);
                parts.push((lexicon::hash(text), text, place == 0));
            }
            reach = reach.max(name.end);
        }
        // Most people are named more than once.
        parts.sort_unstable();
        parts.dedup();
        let mut words = Words {
            lengths: [0; 32],
            written: memory.list(),
            forms: memory.list(),
        };
        for (hash, text, is_last) in parts {
            if is_telling(text) {
                words.push(hash, text, RepeatMeaning::Who);
                words.forms.extend(Form::of(text).map(|form| (hash, form)));
            } else if is_last && is_half_telling(text) {
                words.push(hash, text, RepeatMeaning::WhoStandingOut);
            }
        }
        for text in initials {
            words.push(lexicon::hash(text.text()), text.text(), RepeatMeaning::Who);
        }
        words.written.sort_unstable();
        words.forms.sort_unstable();
        words.forms.dedup();
        words
    }

    fn push(&mut self, hash: u64, text: &'a [u8], says: RepeatMeaning) {
        self.lengths[usize::from(text[0] % 32)] |= 1 << text.len().min(63);
        self.written.push((hash, text, says));
    }

    /// Whether any of them may begin with this letter and be as long.
    #[inline]
    fn may_have(&self, first: u8, length: usize) -> bool {
        self.lengths[usize::from(first % 32)] >> length.min(63) & 1 == 1
    }

    /// Returns the meanings of a word that is written as in a name.
    fn as_written(&self, hash: u64, word: &[u8]) -> impl Iterator<Item = RepeatMeaning> {
        let first = self
            .written
            .partition_point(|one| (one.0, one.1) < (hash, word));
        let same = self.written[first..].iter();
        same.take_while(move |one| (one.0, one.1) == (hash, word))
            .map(|one| one.2)
    }

    /// Returns the other forms in which the word with this hash is searched.
    fn other_forms(&self, hash: u64) -> impl Iterator<Item = Form> {
        let first = self.forms.partition_point(|one| one.0 < hash);
        let same = self.forms[first..].iter();
        same.take_while(move |one| one.0 == hash).map(|one| one.1)
    }
}

/// Letters and the hyphen inside a name; an apostrophe ends the word, so that "Roe's" is Roe.
fn is_part_byte(byte: u8) -> bool {
    byte.is_ascii_alphabetic() | (byte >= 0x80) | (byte == b'-')
}

/// Whether a word of a name identifies a person alone: it is long enough and has no other meaning.
fn is_telling(word: &[u8]) -> bool {
    let is_capital = word.first().is_some_and(u8::is_ascii_uppercase);
    let is_shouted = word.iter().all(u8::is_ascii_uppercase);
    let length_min = if is_shouted { 4 } else { 3 };
    let sense = LEXICON.sense(word);
    let is_known = is_capital || sense.has(Sense::GIVEN);
    word.len() >= length_min && is_known && sense.0 & !Sense::GIVEN.0 == 0
}

/// Whether a name is an ordinary word too ("Price", "Rivers"), or a person's initials ("TWR"): it identifies the
/// person only at a position without ordinary words.
fn is_half_telling(word: &[u8]) -> bool {
    let is_title_case = word.first().is_some_and(u8::is_ascii_uppercase)
        && word.len() >= 3
        && word[1..].iter().all(|byte| !byte.is_ascii_uppercase());
    let is_initials = word.len() == 3 && word.iter().all(u8::is_ascii_uppercase);
    let sense = LEXICON.sense(word);
    let is_other = sense.has(
        Sense::TITLE | Sense::ROLE | Sense::KIN | Sense::CREDENTIAL | Sense::LABEL | Sense::MONTH,
    );
    is_title_case && !is_other || is_initials && sense == Sense::NONE
}

/// A capital that no sentence begins with: "if Love spikes", "Outstanding: Marsh, Price.", "read back. -TWR".
fn stands_out(page: &Page<'_>, span: &Range<usize>) -> bool {
    let before = page.slice(span.start.saturating_sub(2)..span.start);
    let is_inside = before.len() == 2 && before[1] == b' ' && before[0].is_ascii_lowercase();
    let is_listed = matches!(
        before,
        [b',' | b':' | b'/' | b'&' | b';', b' '] | [_, b'(' | b'-' | b'/']
    );
    let ends = matches!(
        page.byte(span.end),
        0 | b',' | b'.' | b';' | b':' | b')' | b'\n' | b'\'' | b'/' | b'?' | b'!'
    );
    is_inside || is_listed && ends
}

/// Whether a word is neither in a web or mail address nor an eponym.
fn stands_free(page: &Page<'_>, span: &Range<usize>) -> bool {
    let before = page.byte_before(span.start);
    let after = page.byte(span.end);
    let is_tied = matches!(before, b'@' | b'_' | b'/' | b'.' | b'#' | b'\\')
        || matches!(after, b'@' | b'_' | b'(' | b'=')
        || after == b'.' && is_word_byte(page.byte(span.end + 1))
        || before.is_ascii_digit()
        || after.is_ascii_digit();
    // "Okonkwo_1.png": a file of that person.
    let is_tied = is_tied && !(after == b'_' && page.byte(span.end + 1).is_ascii_digit());
    !is_tied
        && !is_before_eponym_tail(page, span.end, Cue::Given)
        && (!is_in_code(page, span) || is_cell(page, span))
}

/// Whether a word fills a cell between bars or tabs ("| Okonkwo |").
fn is_cell(page: &Page<'_>, span: &Range<usize>) -> bool {
    const BLANKS_MAX: usize = 24;
    let before = page.slice(span.start.saturating_sub(BLANKS_MAX)..span.start);
    let after = page.slice(span.end..page.text.len().min(span.end + BLANKS_MAX));
    let is_blank = |byte: &&u8| **byte == b' ';
    let opens = before.iter().rev().find(|byte| !is_blank(byte));
    let ends = after.iter().find(|byte| !is_blank(byte));
    matches!(opens, Some(b'|' | b'\t')) && matches!(ends, None | Some(b'|' | b'\t' | b'\n'))
}

/// Minimum number of bars in a row of a table.
const BARS_MIN: usize = 3;

/// Whether a name is in code, rather than in prose or in a row between bars.
pub(crate) fn is_in_program(page: &Page<'_>, span: &Range<usize>) -> bool {
    is_in_code(page, span) && !is_row(line_around(page, span))
}

/// Whether a line is a row between bars.
fn is_row(line: &[u8]) -> bool {
    let bars = memchr::memchr_iter(b'|', line).take(BARS_MIN).count();
    let is_sign = |byte: &&u8| {
        matches!(
            byte,
            b'{' | b'}' | b';' | b'=' | b'<' | b'>' | b'$' | b'&' | b'^' | b'\\'
        )
    };
    bars >= BARS_MIN && !line.iter().any(|byte| is_sign(&byte))
}

/// Whether a number is in code: in a sentence a space follows each sign between its parts, and brackets hold words.
pub(crate) fn is_in_statement(page: &Page<'_>, span: &Range<usize>) -> bool {
    let line = line_around(page, span);
    let pairs = line.windows(2).filter(|pair| match pair {
        [b',' | b';', next] => *next != b' ',
        [before, b'('] => is_word_byte(*before),
        [b')' | b'(', _] => false,
        [byte, _] => LINE_CLASS[usize::from(*byte)] != 0,
        _ => false,
    });
    is_in_program(page, span)
        && pairs.take(CODE_SIGNS_MIN as usize).count() >= CODE_SIGNS_MIN as usize
}

/// Returns the line around a word, within `LINE_REACH_BYTES` on each side.
fn line_around<'a>(page: &Page<'a>, span: &Range<usize>) -> &'a [u8] {
    let from = span.start.saturating_sub(LINE_REACH_BYTES);
    let around = page.slice(from..page.text.len().min(span.end + LINE_REACH_BYTES));
    let at = span.start - from;
    let start = memchr::memrchr(b'\n', &around[..at]).map_or(0, |line| line + 1);
    let end = memchr::memchr(b'\n', &around[at..]).map_or(around.len(), |line| at + line);
    &around[start..end]
}

/// Distance on both sides of a word in which its line is read.
const LINE_REACH_BYTES: usize = 100;
/// Prose has fewer signs of code on a line, and rows of data more separators.
const CODE_SIGNS_MIN: u32 = 4;
const SEPARATORS_MIN: u32 = 5;

/// Count of a sign of code and of a separator of values, in one sum.
const SIGN: u32 = 1;
const SEPARATOR: u32 = 1 << 16;
static LINE_CLASS: [u32; 256] = line_classes();

const fn line_classes() -> [u32; 256] {
    let mut table = [0; 256];
    let (signs, separators) = (b"{}();=<>[]_$\\&|`", b",;\t|");
    let mut at = 0;
    while at < signs.len() {
        table[signs[at] as usize] |= SIGN;
        at += 1;
    }
    at = 0;
    while at < separators.len() {
        table[separators[at] as usize] |= SEPARATOR;
        at += 1;
    }
    table
}

/// Whether the line around a word is code or a row of data: words in it often have another meaning.
pub(crate) fn is_in_code(page: &Page<'_>, span: &Range<usize>) -> bool {
    let is_code = |byte: u8| matches!(byte, b'`' | b'"' | b':');
    if is_code(page.byte_before(span.start)) && is_code(page.byte(span.end)) {
        return true;
    }
    let before = page.slice(span.start.saturating_sub(LINE_REACH_BYTES)..span.start);
    let line = memchr::memrchr(b'\n', before).map_or(0, |line| line + 1);
    let after = page.slice(span.end..page.text.len().min(span.end + LINE_REACH_BYTES));
    let end = memchr::memchr(b'\n', after).unwrap_or(after.len());
    let count = |part: &[u8]| -> u32 {
        let classes = part.iter().map(|byte| LINE_CLASS[usize::from(*byte)]);
        classes.sum()
    };
    let counted = count(&before[line..]) + count(&after[..end]);
    counted % SEPARATOR >= CODE_SIGNS_MIN || counted / SEPARATOR >= SEPARATORS_MIN
}
