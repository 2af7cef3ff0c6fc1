//! HTML's character references, read as the characters that they denote.

/// Characters of a reference, without `&` and `;`.
const LENGTH_MAX: usize = 10;

/// The names of characters that addresses are made of. Letters and digits have numbers alone.
const NAMES: &[(&[u8], char)] = &[
    // Alphabetical.
    (b"Hat", '^'),
    (b"NewLine", '\n'),
    (b"Tab", '\t'),
    (b"amp", '&'),
    (b"bsol", '\\'),
    (b"colon", ':'),
    (b"commat", '@'),
    (b"dash", '-'),
    (b"equals", '='),
    (b"hyphen", '-'),
    (b"lowbar", '_'),
    (b"num", '#'),
    (b"percnt", '%'),
    (b"period", '.'),
    (b"plus", '+'),
    (b"quest", '?'),
    (b"sol", '/'),
];

/// Collects one reference at a time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EntityReader {
    written: [u8; LENGTH_MAX],
    length: usize,
    is_open: bool,
}

/// Meaning of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Meaning {
    /// The character denoted by the reference before it, if it ends one.
    pub(super) referred: Option<char>,
    /// Whether it is part of that reference.
    pub(super) is_end: bool,
}

impl Meaning {
    /// Character that means only itself.
    const NOTHING: Self = Self {
        referred: None,
        is_end: false,
    };
}

impl EntityReader {
    /// Whether a number is complete, should the text go on with something else: it needs no semicolon.
    pub(super) fn is_number(&self) -> bool {
        self.is_open && self.number().is_some()
    }

    /// Takes the next character. A name without its semicolon means nothing to addresses.
    pub(super) fn step(&mut self, character: char) -> Meaning {
        let byte = u8::try_from(character).unwrap_or(0);
        let mut referred = None;
        if self.is_open {
            if self.goes_on(byte) {
                // Numbers may begin with any number of zeros.
                let is_zero = byte == b'0' && matches!(self.last(), Some(b'#' | b'x' | b'X'));
                if !is_zero {
                    self.written[self.length] = byte;
                    self.length += 1;
                }
                return Meaning::NOTHING;
            }
            let named = self.named().filter(|_| character == ';');
            referred = self.number().or(named);
        }
        (self.is_open, self.length) = (character == '&', 0);
        Meaning {
            referred,
            is_end: character == ';' && referred.is_some(),
        }
    }

    fn goes_on(&self, byte: u8) -> bool {
        let is_digit = match self.written[..self.length] {
            [] => byte == b'#' || byte.is_ascii_alphabetic(),
            [b'#'] => byte.is_ascii_digit() || matches!(byte, b'x' | b'X'),
            [b'#', b'x' | b'X', ..] => byte.is_ascii_hexdigit(),
            [b'#', ..] => byte.is_ascii_digit(),
            _ => byte.is_ascii_alphanumeric(),
        };
        is_digit && self.length < LENGTH_MAX
    }

    fn last(&self) -> Option<u8> {
        self.written[..self.length].last().copied()
    }

    fn number(&self) -> Option<char> {
        let digits = self.written[..self.length].strip_prefix(b"#")?;
        let (digits, radix) = match digits.first()? {
            b'x' | b'X' => (&digits[1..], 16),
            _ => (digits, 10),
        };
        let digits = std::str::from_utf8(digits).ok()?;
        let code = u32::from_str_radix(digits, radix).ok()?;
        Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn named(&self) -> Option<char> {
        let written = &self.written[..self.length];
        let row = NAMES.iter().find(|row| row.0 == written)?;
        Some(row.1)
    }
}
