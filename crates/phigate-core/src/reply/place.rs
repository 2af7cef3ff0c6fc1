//! Where in a text a reader stands: in plain text, or in an address.
//!
//! Nothing is restored inside an address. A page that the model read may have told it to write a picture's address
//! with a token in it; whoever shows the answer would then send the value to whoever owns that address.

use super::unit::{Spot, Unit, is_word};

/// How far back an address can announce itself: `javascript:`.
const TAIL_BYTES: usize = 12;

/// Follows a text and knows whether it is inside an address.
#[derive(Debug, Clone)]
pub(super) struct PlaceTracker {
    place: Place,
    previous: char,
    /// The last characters, in lower case; what is not ASCII stands as a zero.
    tail: [u8; TAIL_BYTES],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Plain,
    /// In a URL, until a blank, an angle bracket or a quote.
    Url,
    /// In the destination of a Markdown link, this many parentheses deep.
    Destination {
        depth: u32,
    },
    /// After `[label]:`, where the address of a reference may follow.
    AfterLabel,
}

impl PlaceTracker {
    pub(super) fn new() -> Self {
        Self {
            place: Place::Plain,
            previous: ' ',
            tail: [0; TAIL_BYTES],
        }
    }

    /// Whether this is text that is read by people, and not part of an address.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self.place, Place::Plain | Place::AfterLabel)
    }

    /// Whether a word may begin here.
    pub(super) fn is_at_word_start(&self) -> bool {
        !is_word(self.previous)
    }

    /// A character went by.
    pub(super) fn step(&mut self, unit: &Unit) {
        let character = unit.character;
        let is_outside = unit.spot == Spot::Structure;
        self.previous = if is_outside { ' ' } else { character };
        self.note(if is_outside { '\0' } else { character });
        self.place = match self.place {
            Place::Url if is_outside || ends_url(character) => Place::Plain,
            Place::Url => Place::Url,
            Place::Destination { .. } if is_outside || character == '\n' => Place::Plain,
            Place::Destination { depth } => match character {
                '(' => Place::Destination { depth: depth + 1 },
                ')' if depth == 1 => Place::Plain,
                ')' => Place::Destination { depth: depth - 1 },
                _ => Place::Destination { depth },
            },
            Place::AfterLabel if character == ' ' => Place::AfterLabel,
            Place::AfterLabel if matches!(character, '/' | '.' | '#' | '?') => Place::Url,
            Place::Plain | Place::AfterLabel => self.after_plain(character),
        };
    }

    /// A restored token went by: to what follows it was a closing bracket.
    pub(super) fn step_over_token(&mut self) {
        self.previous = ']';
        self.note(']');
        self.place = Place::Plain;
    }

    fn note(&mut self, character: char) {
        self.tail.rotate_left(1);
        let byte = u8::try_from(character).unwrap_or(0).to_ascii_lowercase();
        self.tail[TAIL_BYTES - 1] = byte;
    }

    fn after_plain(&self, character: char) -> Place {
        match character {
            '/' if self.tail.ends_with(b"//") => Place::Url,
            ':' if self.ends_with_word(b"mailto:") || self.ends_with_word(b"javascript:") => {
                Place::Url
            }
            '.' if self.ends_with_word(b"www.") => Place::Url,
            '(' if self.tail.ends_with(b"](") => Place::Destination { depth: 1 },
            ':' if self.tail.ends_with(b"]:") => Place::AfterLabel,
            _ => Place::Plain,
        }
    }

    fn ends_with_word(&self, word: &[u8]) -> bool {
        let before = TAIL_BYTES.checked_sub(word.len() + 1);
        self.tail.ends_with(word) && before.is_none_or(|at| !self.tail[at].is_ascii_alphanumeric())
    }
}

fn ends_url(character: char) -> bool {
    character.is_whitespace() || matches!(character, '<' | '>' | '"')
}
