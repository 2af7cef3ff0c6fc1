//! Addresses in text: their openings and their ends.
//!
//! Browsers take `https:/evil.example`, `https:evil.example` and `/\evil.example` for the same as
//! `https://evil.example`, drop tabs and line breaks inside addresses, and read character references.

use super::entity::EntityReader;

/// Distance over which an address can announce itself: `javascript:`, with some line breaks in it.
const TAIL_BYTES: usize = 20;

/// Schemes that are known by their names at the end of any word, since no word ends like them.
const LOUD_SCHEMES: &[&[u8]] = &[
    // Alphabetical.
    b"ftp",
    b"http",
    b"https",
    b"javascript",
    b"mailto",
    b"vbscript",
];

/// Schemes that are known as whole words.
const SCHEMES: &[&[u8]] = &[
    // Alphabetical.
    b"blob",
    b"callto",
    b"data",
    b"facetime",
    b"file",
    b"filesystem",
    b"geo",
    b"magnet",
    b"mms",
    b"sip",
    b"sips",
    b"skype",
    b"sms",
    b"smsto",
    b"tel",
    b"tg",
    b"whatsapp",
    b"ws",
    b"wss",
    b"xmpp",
];

/// An address that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Address {
    end: End,
    /// Whether nothing of it has gone by but its mark. A blank after a mark ends it, as in "Tel: 555".
    is_fresh: bool,
}

/// End of an address, given by its opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// A blank.
    Blank,
    /// The quote around it, or the line's end.
    Quote(char),
    /// The end of the string: it is the whole of it.
    String,
    /// The end of a host, after `@`.
    Host,
}

impl Address {
    /// Returns this address for readers that do not end it at a quote.
    pub(super) fn without_quote(self) -> Option<Self> {
        matches!(self.end, End::Quote(_)).then_some(Self {
            end: End::Blank,
            ..self
        })
    }

    /// Returns the state after this character; `None` when it has ended.
    pub(super) fn step(self, character: char) -> Option<Self> {
        let is_dropped = matches!(character, '\t' | '\n' | '\r');
        let is_blank = is_dropped || matches!(character, ' ' | '\u{b}' | '\u{c}' | '\u{3000}');
        let has_ended = match self.end {
            End::Blank => is_blank || matches!(character, '<' | '>' | '"'),
            End::Quote(mark) => character == mark || matches!(character, '\n' | '\r'),
            End::String => false,
            End::Host => !character.is_alphanumeric() && !matches!(character, '.' | '-' | '_'),
        };
        let is_mark_of_prose = self.is_fresh && is_blank && !is_dropped;
        let is_fresh = self.is_fresh && is_blank;
        (!has_ended && !is_mark_of_prose).then_some(Self { is_fresh, ..self })
    }
}

/// Follows a text as far as addresses may begin in it.
#[derive(Debug, Clone)]
pub(super) struct AddressReader {
    entity: EntityReader,
    word: Word,
    /// The word before the reference to a character that is being read.
    before_entity: Word,
}

/// The end of a text, as far as it says what may begin.
#[derive(Debug, Clone, Copy)]
struct Word {
    /// The last characters, in lower case; a zero replaces each character outside ASCII.
    tail: [u8; TAIL_BYTES],
    /// End of an address that begins here.
    end: End,
    host: Host,
}

/// Likeness of a word to the name of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Host {
    None,
    /// One part of a name.
    Part,
    /// A part and a full stop.
    Stop,
    /// Two parts.
    Name,
}

impl AddressReader {
    /// Starts at the beginning of a text.
    pub(super) fn of_text() -> Self {
        Self::with(End::Blank)
    }

    /// Starts at the beginning of a string of JSON.
    pub(super) fn of_string() -> Self {
        Self::with(End::String)
    }

    fn with(end: End) -> Self {
        let word = Word {
            tail: [b' '; TAIL_BYTES],
            end,
            host: Host::None,
        };
        Self {
            entity: EntityReader::default(),
            word,
            before_entity: word,
        }
    }

    /// Whether a value may follow here: not as the rest of a host's name, nor after a reference to a character that
    /// needs no end.
    pub(super) fn is_plain(&self) -> bool {
        let is_in_host = self.word.host == Host::Name && self.word.before() != b'.';
        !is_in_host && !self.entity.is_number()
    }

    /// Takes the next character and gives the address that it opens.
    pub(super) fn step(&mut self, character: char) -> Option<Address> {
        let meaning = self.entity.step(character);
        let mut opened = None;
        if let Some(referred) = meaning.referred {
            self.word = self.before_entity;
            opened = self.word.take(referred);
        }
        if character == '&' {
            self.before_entity = self.word;
        }
        match meaning.is_end {
            true => opened,
            false => self.word.take(character).or(opened),
        }
    }

    /// A value went by that is the caller's own.
    pub(super) fn step_over_value(&mut self) {
        self.entity = EntityReader::default();
        self.word.push('\0');
        (self.word.host, self.word.end) = (Host::Part, End::Blank);
    }
}

impl Word {
    fn take(&mut self, character: char) -> Option<Address> {
        if matches!(
            character,
            '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}'
        ) {
            // Names of hosts are read without these.
            return None;
        }
        let opened = self.opened_by(character);
        let is_lead = self.tail.ends_with(b" ");
        self.push(character);
        self.host = self.host.step(character);
        self.end = match character {
            '"' | '\'' | '`' => End::Quote(character),
            ' ' if is_lead && self.end == End::String => End::String,
            '/' | '\\' | ':' | '.' | '+' | '-' | '\t' | '\n' | '\r' => self.end,
            _ if character.is_alphanumeric() => self.end,
            _ => End::Blank,
        };
        opened
    }

    fn push(&mut self, character: char) {
        self.tail.rotate_left(1);
        let byte = u8::try_from(character).unwrap_or(0);
        self.tail[TAIL_BYTES - 1] = byte.to_ascii_lowercase();
    }

    fn opened_by(&self, character: char) -> Option<Address> {
        let before = self.before();
        let is_open = match character {
            '/' | '\\' => {
                let is_second = matches!(before, b'/' | b'\\');
                is_second || before == b':' || self.host == Host::Name
            }
            '?' | '#' => self.host == Host::Name,
            ':' => self.is_after_scheme(),
            '.' => self.is_after_word(b"www"),
            '@' if before.is_ascii_alphanumeric() => {
                return Some(Address {
                    end: End::Host,
                    is_fresh: false,
                });
            }
            _ => false,
        };
        is_open.then_some(Address {
            end: self.end,
            is_fresh: true,
        })
    }

    /// The character before, without what browsers drop.
    fn before(&self) -> u8 {
        let mut bytes = self.kept();
        bytes.next().unwrap_or(0)
    }

    /// The last characters, the latest first, without what browsers drop.
    fn kept(&self) -> impl Iterator<Item = u8> {
        let bytes = self.tail.iter().rev().copied();
        bytes.filter(|byte| !matches!(byte, b'\t' | b'\n' | b'\r'))
    }

    fn is_after_scheme(&self) -> bool {
        let is_loud = |scheme: &&[u8]| self.kept().zip(scheme.iter().rev()).all(|(a, b)| a == *b);
        LOUD_SCHEMES.iter().any(is_loud) || SCHEMES.iter().any(|scheme| self.is_after_word(scheme))
    }

    fn is_after_word(&self, word: &[u8]) -> bool {
        let at = TAIL_BYTES.saturating_sub(word.len() + 1);
        self.tail.ends_with(word) && !self.tail[at].is_ascii_alphanumeric()
    }
}

impl Host {
    fn step(self, character: char) -> Self {
        match (self, character) {
            (Self::None | Self::Part, _) if character.is_alphanumeric() => Self::Part,
            (Self::Stop | Self::Name, _) if character.is_alphanumeric() => Self::Name,
            (Self::Part, '.') => Self::Stop,
            (Self::Name, '.') => Self::Name,
            (Self::Part | Self::Name, '-' | '_' | '%' | '~' | '+' | '@' | ':') => self,
            _ => Self::None,
        }
    }
}
