//! Cuts text into tokens and names the table rows of each.
//!
//! A token is a run of letters, a run of digits, or one other character.
//! `model/features.py` says the same in Python, for training; the tests hold
//! the two together.

use super::plain::{HASH_START, PlainWord, step};
use super::simd;
use super::weights::Weights;
use crate::bytes8;

const NUMBER_BASE: u16 = 128;
const OTHER_MARK: u8 = 127;
const AFFIX_BITS: u32 = 13;
const TRIGRAM_BITS: u32 = 12;
const LEXICON_CLASSES: usize = 64;
const LENGTHS: usize = 16;
const TRIGRAMS_MAX: usize = 6;
/// Bytes of a word that are kept for its features; the hash covers all of it.
const KEPT_MAX: usize = 48;

/// Span of a token, and the rows that every token has: of its word or of its first part, and of its context.
pub(super) struct Token {
    pub(super) span: (u32, u32),
    pub(super) rows: [u32; 2],
}

/// Returns the rows of the context before the first and after the last token.
pub(super) fn outside(weights: &Weights) -> [u32; 2] {
    [weights.word_row(0), weights.context_row(0)]
}

/// Rows of words that were looked up before, but for very long ones. Most words of a text are a few hundred common ones: their
/// rows are found here without hashing a letter at a time, in a table that fits the nearest cache.
pub(super) struct KnownWords(Box<[([u64; 2], u32)]>);

impl KnownWords {
    const BITS: u32 = 10;

    /// Makes an empty cache.
    pub(super) fn new() -> Self {
        // No word has all bits set.
        KnownWords(vec![([u64::MAX; 2], 0); 1 << Self::BITS].into())
    }

    /// The row of a word by its small letters, found by `look_up` if it is not known yet.
    #[inline(always)]
    fn row(&mut self, word: [u64; 2], look_up: impl FnOnce() -> Option<u32>) -> Option<u32> {
        let [low, high] = word;
        let spread = (low ^ high.rotate_left(29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let place = spread >> (64 - Self::BITS);
        let slot = &mut self.0[place as usize];
        if slot.0 != word {
            *slot = (word, look_up()?);
        }
        Some(slot.1)
    }
}

/// The tokens of a text, in order.
pub(super) struct Tokens<'a> {
    text: &'a str,
    weights: &'static Weights,
    known: &'a mut KnownWords,
    position: usize,
    /// White space since the last token: 0 for nothing, 1 one blank, 2 other, 3 a line break, 4 more or the start.
    space: u8,
    line_end: usize,
    line_case: u8,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str, weights: &'static Weights, known: &'a mut KnownWords) -> Self {
        let line = first_line(text);
        Tokens {
            text,
            weights,
            known,
            position: 0,
            space: 4,
            line_end: line.len(),
            line_case: case_of(line.as_bytes()),
        }
    }

    /// Reads the next token. What rows it has besides its two are added to `rest`.
    #[inline]
    pub(super) fn next(&mut self, rest: &mut Vec<u32>) -> Option<Token> {
        self.skip_space();
        let &byte = self.text.as_bytes().get(self.position)?;
        self.enter_line();
        let start = self.position;
        let (shape, row) = if byte.is_ascii_alphabetic() {
            self.plain_word(rest)
        } else if byte.is_ascii_digit() {
            (SHAPE_OTHER, self.number())
        } else if byte.is_ascii() {
            self.position += 1;
            (SHAPE_OTHER, self.weights.word_row(u16::from(byte)))
        } else {
            self.other(rest)
        };
        let context = (shape * 5 + self.space) * 4 + self.line_case;
        Some(Token {
            span: (start as u32, self.position as u32),
            rows: [row, self.weights.context_row(context)],
        })
    }

    /// Moves over white space and notes what kind it was.
    #[inline]
    fn skip_space(&mut self) {
        let bytes = self.text.as_bytes();
        let is_mark = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_graphic);
        // Nearly always there is nothing or one blank.
        if self.position > 0 && is_mark(self.position) {
            self.space = 0;
        } else if self.position > 0
            && bytes.get(self.position) == Some(&b' ')
            && is_mark(self.position + 1)
        {
            self.space = 1;
            self.position += 1;
        } else {
            self.skip_any_space();
        }
    }

    fn skip_any_space(&mut self) {
        let (mut blanks, mut plain, mut breaks) = (0, true, 0);
        let start = self.position;
        while let Some((letter, size)) = self.peek() {
            if !is_space(letter) {
                break;
            }
            blanks += 1;
            plain &= letter == ' ';
            breaks += u8::from(letter == '\n' && breaks < 2);
            self.position += size;
        }
        if start == 0 {
            return;
        }
        self.space = match (blanks, breaks) {
            (0, _) => 0,
            (1, 0) if plain => 1,
            (_, 0) => 2,
            (_, breaks) => 2 + breaks,
        };
    }

    fn peek(&self) -> Option<(char, usize)> {
        let byte = *self.text.as_bytes().get(self.position)?;
        if byte.is_ascii() {
            return Some((char::from(byte), 1));
        }
        let letter = self.text[self.position..].chars().next()?;
        Some((letter, letter.len_utf8()))
    }

    /// Keeps `line_case` that of the line `position` is on.
    #[inline]
    fn enter_line(&mut self) {
        if self.position > self.line_end {
            let bytes = self.text.as_bytes();
            let before = &bytes[..self.position];
            let line_start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
            let rest = &bytes[line_start..];
            let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            self.line_end = line_start + length;
            self.line_case = case_of(&rest[..length]);
        }
    }

    /// Reads a word that starts with an ASCII letter: its shape and first row.
    #[inline]
    fn plain_word(&mut self, rest: &mut Vec<u32>) -> (u8, u32) {
        let start = self.position;
        let bytes = self.text.as_bytes();
        let Some(word) = PlainWord::read(bytes, start) else {
            return self.word(rest);
        };
        let end = start + word.letters;
        if bytes.get(end).is_some_and(|byte| !byte.is_ascii()) {
            return self.word(rest);
        }
        self.position = end;
        let weights = self.weights;
        let look_up = || Some(weights.word_row(weights.word(word.hash())?));
        let row = match self.known.row(word.small, look_up) {
            Some(row) => {
                simd::prefetch(weights.table, row);
                row
            }
            None => {
                let kept = word.small.map(u64::to_le_bytes);
                self.add_grams(&kept.as_flattened()[..word.letters], word.hash(), rest)
            }
        };
        let shape = shape(
            word.letters,
            word.capitals,
            bytes[start].is_ascii_uppercase(),
        );
        (shape, row)
    }

    /// Reads a word of any letters: its shape and first row.
    fn word(&mut self, rest: &mut Vec<u32>) -> (u8, u32) {
        let mut word = Folded::default();
        while let Some((letter, size)) = self.peek().filter(|(letter, _)| is_letter(*letter)) {
            let folded = if letter.is_ascii() {
                Some((letter as u8 | 0x20, letter.is_ascii_uppercase()))
            } else {
                self.weights.fold(letter)
            };
            match folded {
                Some((plain, capital)) => word.push(plain, capital),
                None => word.push_whole(letter),
            }
            self.position += size;
        }
        let row = match self.weights.word(word.hash) {
            Some(row) => self.weights.word_row(row),
            None => self.add_grams(&word.bytes[..word.size], word.hash, rest),
        };
        (word.shape(), row)
    }

    /// Adds the rows of a word that is in no list, but for the first, which is returned.
    fn add_grams(&self, bytes: &[u8], hash: u64, rows: &mut Vec<u32>) -> u32 {
        let weights = self.weights;
        let last = |count: usize| &bytes[bytes.len().saturating_sub(count)..];
        let affix_row = |affix, salt| weights.gram_row(hash_gram(affix, salt, AFFIX_BITS));
        let first = affix_row(&bytes[..bytes.len().min(3)], 1);
        simd::prefetch(weights.table, first);
        let added_from = rows.len();
        rows.extend([affix_row(last(3), 2), affix_row(last(4), 3)]);
        let mut base = 1 << AFFIX_BITS;
        for trigram in bytes.windows(3).skip(1).take(TRIGRAMS_MAX) {
            rows.push(weights.gram_row(base + hash_gram(trigram, 4, TRIGRAM_BITS)));
        }
        base += 1 << TRIGRAM_BITS;
        rows.push(weights.gram_row(base + usize::from(weights.lexicon_class(hash))));
        base += LEXICON_CLASSES;
        rows.push(weights.gram_row(base + bytes.len().min(LENGTHS - 1)));
        for row in &rows[added_from..] {
            simd::prefetch(weights.table, *row);
        }
        first
    }

    fn number(&mut self) -> u32 {
        let start = self.position;
        let bytes = self.text.as_bytes();
        loop {
            let count = bytes8::run(bytes8::digits(bytes8::load(bytes, self.position)));
            self.position += count;
            if count < 8 {
                break;
            }
        }
        let class = number_class(&bytes[start..self.position]);
        self.weights.word_row(NUMBER_BASE + class)
    }

    /// Reads a word or a mark that starts with a character outside ASCII: its shape and first row.
    fn other(&mut self, rest: &mut Vec<u32>) -> (u8, u32) {
        let (letter, size) = self.peek().unwrap_or_default();
        if is_letter(letter) {
            return self.word(rest);
        }
        self.position += size;
        let mark = u16::from(plain_mark(letter));
        (SHAPE_OTHER, self.weights.word_row(mark))
    }
}

const SHAPE_OTHER: u8 = 5;

/// Returns the shape of a word: 0 lower, 1 Title, 2 UPPER, 3 one capital, 4 mIxed.
#[inline]
fn shape(letters: usize, capitals: usize, starts_with_capital: bool) -> u8 {
    match (capitals, letters) {
        (0, _) => 0,
        (1, 1) => 3,
        (capitals, letters) if capitals == letters => 2,
        (1, _) if starts_with_capital => 1,
        _ => 4,
    }
}

/// A word of any letters, in lower case without accents, as it is being read.
struct Folded {
    bytes: [u8; KEPT_MAX],
    size: usize,
    letters: usize,
    capitals: usize,
    starts_with_capital: bool,
    hash: u64,
}

impl Default for Folded {
    fn default() -> Self {
        Folded {
            bytes: [0; KEPT_MAX],
            size: 0,
            letters: 0,
            capitals: 0,
            starts_with_capital: false,
            hash: HASH_START,
        }
    }
}

impl Folded {
    #[inline]
    fn push(&mut self, byte: u8, capital: bool) {
        self.starts_with_capital |= capital && self.letters == 0;
        self.capitals += usize::from(capital);
        self.letters += 1;
        self.push_byte(byte);
    }

    /// Appends all bytes of a letter that has no plain counterpart, as no capital.
    fn push_whole(&mut self, letter: char) {
        self.letters += 1;
        for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
            self.push_byte(byte);
        }
    }

    #[inline]
    fn push_byte(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.size) {
            *place = byte;
            self.size += 1;
        }
        self.hash = step(self.hash, byte);
    }

    fn shape(&self) -> u8 {
        shape(self.letters, self.capitals, self.starts_with_capital)
    }
}

fn first_line(text: &str) -> &str {
    memchr::memchr(b'\n', text.as_bytes()).map_or(text, |end| &text[..end])
}

/// Returns the case of a line: 0 no letters, 1 lower case, 2 capitals, 3 both.
fn case_of(line: &[u8]) -> u8 {
    let (mut lower, mut upper) = (false, false);
    for chunk in line.chunks(64) {
        for byte in chunk {
            lower |= byte.is_ascii_lowercase();
            upper |= byte.is_ascii_uppercase();
        }
        if lower && upper {
            break;
        }
    }
    u8::from(lower) + 2 * u8::from(upper)
}

fn is_space(letter: char) -> bool {
    matches!(letter, '\t'..='\r' | ' ')
        || (!letter.is_ascii()
            && matches!(
                letter,
                '\u{85}' | '\u{a0}' | '\u{2000}'
                    ..='\u{200f}'
                        | '\u{2028}'
                        | '\u{2029}'
                        | '\u{202f}'
                        | '\u{205f}'
                        | '\u{2060}'
                        | '\u{3000}'
                        | '\u{feff}'
            ))
}

/// Letters by range rather than by Unicode category, so that Python and Rust cannot differ.
fn is_letter(letter: char) -> bool {
    letter.is_ascii_alphabetic()
        || (!letter.is_ascii()
            && matches!(letter, '\u{aa}' | '\u{b5}' | '\u{ba}' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{1fff}' | '\u{2c00}'..='\u{2fef}' | '\u{3040}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{fe70}'..='\u{fefe}' | '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}' | '\u{10000}'..='\u{1cfff}' | '\u{20000}'..='\u{3ffff}'))
}

/// Returns the ASCII mark that this one is read as.
fn plain_mark(letter: char) -> u8 {
    match letter {
        '‘' | '’' => b'\'',
        '“' | '”' => b'"',
        '–' | '—' | '‐' | '‑' | '−' => b'-',
        '•' => b'*',
        '…' => b'.',
        _ if letter.is_ascii() => letter as u8,
        _ => OTHER_MARK,
    }
}

/// Numbers by what they could be: a day, month, year, compact date; otherwise by length.
fn number_class(digits: &[u8]) -> u16 {
    let value = || {
        digits
            .iter()
            .fold(0u32, |value, digit| value * 10 + u32::from(digit - b'0'))
    };
    let is_year = |year| (1900..2050).contains(&year);
    match digits.len() {
        size @ (1 | 2) => {
            let band = match value() {
                0 => 0,
                1..=12 => 1,
                13..=31 => 2,
                _ => 3,
            };
            let form = match (size, digits[0]) {
                (1, _) => 0,
                (_, b'0') => 1,
                _ => 2,
            };
            band * 3 + form
        }
        4 => match value() {
            year if is_year(year) => 12 + ((year - 1900) / 10) as u16,
            day if (1..=12).contains(&(day / 100)) && (1..=31).contains(&(day % 100)) => 27,
            _ => 28,
        },
        8 => {
            let value = value();
            let (head, middle, tail) = (value / 10_000, value / 100 % 100, value % 100);
            if is_year(head) && (1..=12).contains(&middle) && (1..=31).contains(&tail) {
                29
            } else if is_year(value % 10_000)
                && (1..=31).contains(&(value / 1_000_000))
                && (1..=31).contains(&(head % 100))
            {
                30
            } else {
                31
            }
        }
        12 | 14 if digits.starts_with(b"19") || digits.starts_with(b"20") => 32,
        size => 33 + size.min(15) as u16,
    }
}

fn hash_gram(bytes: &[u8], salt: u32, bits: u32) -> usize {
    let packed = bytes
        .iter()
        .rev()
        .fold(0u32, |packed, byte| packed << 8 | u32::from(*byte));
    let mut hash = (packed ^ salt.wrapping_mul(0x85EB_CA6B)).wrapping_mul(0x9E37_79B1);
    hash ^= hash >> 15;
    (hash.wrapping_mul(0x2C1B_3C6D) >> (32 - bits)) as usize
}
