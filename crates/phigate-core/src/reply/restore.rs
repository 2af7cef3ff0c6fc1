//! Putting values back in place of the tokens that were issued for them.

use super::after::{After, after};
use super::place::PlaceTracker;
use super::token::Issued;
use super::unit::{Spot, Unit, is_word};
use crate::json::Json;

/// Puts values back in one field of one choice. It takes one character at a time, so that what comes out cannot
/// depend on how a stream was cut; what it holds back is a beginning of an issued token, or such a token and what is
/// glued to it.
pub(super) struct Restorer {
    held: Vec<Unit>,
    place: PlaceTracker,
    restored: u64,
}

/// The values to put back, and how they are written.
#[derive(Clone, Copy)]
pub(super) struct Values<'i> {
    pub(super) issued: &'i Issued,
    /// Whether values are written into JSON strings.
    pub(super) is_json: bool,
}

/// Reading of the beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Not a token.
    Other,
    /// Perhaps a token; more text will decide.
    Undecided,
    /// A token that the end of the text cut off.
    CutOff,
    /// The token with this number, and its length in characters.
    Token { index: usize, length: usize },
    /// A token of this length that is part of an address: it stays.
    InAddress { length: usize },
}

impl Restorer {
    pub(super) fn new() -> Self {
        Self {
            held: Vec::new(),
            place: PlaceTracker::new(),
            restored: 0,
        }
    }

    /// Number of tokens replaced.
    pub(super) fn restored(&self) -> u64 {
        self.restored
    }

    /// Takes the next character and writes what is settled by it.
    pub(super) fn take(&mut self, values: Values<'_>, unit: Unit, out: &mut String) {
        if self.held.is_empty() && !self.may_begin(values.issued, &unit) {
            self.place.step(&unit);
            unit.write(out);
            return;
        }
        self.held.push(unit);
        self.settle(values, false, out);
    }

    /// Writes what is left. A token that was cut off is given out as it is.
    pub(super) fn finish(&mut self, values: Values<'_>, out: &mut String) {
        self.settle(values, true, out);
    }

    fn settle(&mut self, values: Values<'_>, is_end: bool, out: &mut String) {
        let issued = values.issued;
        let mut done = 0;
        while done < self.held.len() {
            let rest = &self.held[done..];
            let reading = if self.may_begin(issued, &rest[0]) {
                with_what_follows(read(issued, rest, is_end), rest, is_end)
            } else {
                Reading::Other
            };
            match reading {
                Reading::Undecided => break,
                Reading::Other => {
                    self.place.step(&rest[0]);
                    rest[0].write(out);
                    done += 1;
                }
                Reading::CutOff => {
                    leave(rest, &mut self.place, out);
                    done = self.held.len();
                }
                Reading::InAddress { length } => {
                    leave(&rest[..length], &mut self.place, out);
                    done += length;
                }
                Reading::Token { index, length } => {
                    values.write(index, out);
                    self.restored += 1;
                    self.place.step_over_value(issued.value(index).expose());
                    done += length;
                }
            }
        }
        self.held.drain(..done);
    }

    fn may_begin(&self, issued: &Issued, unit: &Unit) -> bool {
        matches!(unit.spot, Spot::Text | Spot::Key)
            && self.place.is_plain()
            && (matches!(unit.character, '[' | '\\')
                || self.place.is_at_word_start() && issued.may_begin_with(unit.character))
    }
}

impl Values<'_> {
    fn write(&self, index: usize, out: &mut String) {
        let value = self.issued.value(index).expose();
        if self.is_json {
            let quoted = Json::text(value).to_json_text();
            out.push_str(&quoted[1..quoted.len() - 1]);
        } else {
            out.push_str(value);
        }
    }
}

/// A token stays when what follows makes it part of an address.
fn with_what_follows(reading: Reading, units: &[Unit], is_end: bool) -> Reading {
    let Reading::Token { length, .. } = reading else {
        return reading;
    };
    match after(&units[length..], is_end) {
        After::Text => reading,
        After::Address => Reading::InAddress { length },
        After::Undecided => Reading::Undecided,
    }
}

/// Gives characters out as they came.
fn leave(units: &[Unit], place: &mut PlaceTracker, out: &mut String) {
    for unit in units {
        place.step(unit);
        unit.write(out);
    }
}

/// Reads what may be a token: in any letter case, with the escapes of Markdown (`\[NAME\_7K3QD\]`), or as a word
/// without brackets.
fn read(issued: &Issued, units: &[Unit], is_end: bool) -> Reading {
    let mut reader = TokenReader { units, at: 0 };
    let has_bracket = match reader.peek() {
        None if is_end => return Reading::CutOff,
        None => return Reading::Undecided,
        Some((character, _)) => character == '[',
    };
    if has_bracket {
        reader.advance();
    }
    let mut beginning = issued.beginning();
    loop {
        if let Some(index) = issued.complete(beginning) {
            match reader.closes(has_bracket, is_end) {
                Some(true) => {
                    let length = reader.at;
                    return Reading::Token { index, length };
                }
                Some(false) => {}
                None => return Reading::Undecided,
            }
        }
        let Some((character, _)) = reader.peek() else {
            return match (is_end, has_bracket) {
                (false, _) => Reading::Undecided,
                (true, true) => Reading::CutOff,
                (true, false) => Reading::Other,
            };
        };
        let Some(next) = issued.step(beginning, character) else {
            return Reading::Other;
        };
        beginning = next;
        reader.advance();
    }
}

/// Reads characters without their Markdown escapes.
struct TokenReader<'u> {
    units: &'u [Unit],
    at: usize,
}

impl TokenReader<'_> {
    /// Returns the next character and the number of units that write it; `None` if more text is needed.
    fn peek(&self) -> Option<(char, usize)> {
        let unit = self.units.get(self.at)?;
        if unit.spot == Spot::Structure {
            return Some(('\0', 1));
        }
        if unit.character != '\\' {
            return Some((unit.character, 1));
        }
        let escaped = self.units.get(self.at + 1)?;
        match escaped.character {
            bracket @ ('[' | ']' | '_') if escaped.spot != Spot::Structure => Some((bracket, 2)),
            _ => Some(('\\', 1)),
        }
    }

    fn advance(&mut self) {
        self.at += self.peek().map_or(1, |(_, length)| length);
    }

    /// Whether the token ends here, by its bracket or as a word; the bracket is taken with it. `None` until more text
    /// decides.
    fn closes(&mut self, has_bracket: bool, is_end: bool) -> Option<bool> {
        match self.peek() {
            Some((character, length)) if has_bracket => {
                let closes = character == ']';
                self.at += if closes { length } else { 0 };
                Some(closes)
            }
            Some((character, _)) => Some(!is_word(character)),
            // The end ends a word, but does not close a bracket.
            None if is_end => Some(!has_bracket),
            None => None,
        }
    }
}

/// Returns the byte ranges of tokens in a text. A token is not PHI; it only replaces PHI.
pub(super) fn tokens_in(issued: &Issued, text: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    if issued.is_empty() {
        return found;
    }
    let units: Vec<Unit> = text
        .chars()
        .map(|character| Unit::plain(character, Spot::Text))
        .collect();
    let (mut at, mut start, mut previous) = (0, 0, ' ');
    while at < units.len() {
        let character = units[at].character;
        let may_begin = matches!(character, '[' | '\\')
            || !is_word(previous) && issued.may_begin_with(character);
        let reading = if may_begin {
            // No token is longer than this, with a backslash before each of its characters.
            read(issued, &units[at..units.len().min(at + LOOKAHEAD)], true)
        } else {
            Reading::Other
        };
        let length = match reading {
            Reading::Token { length, .. } => length,
            _ => 1,
        };
        let bytes: usize = units[at..at + length]
            .iter()
            .map(|unit| unit.character.len_utf8())
            .sum();
        if matches!(reading, Reading::Token { .. }) {
            found.push(start..start + bytes);
        }
        previous = units[at + length - 1].character;
        (at, start) = (at + length, start + bytes);
    }
    found
}

/// More characters than any token is written with.
const LOOKAHEAD: usize = 160;
