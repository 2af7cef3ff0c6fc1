//! Position of a reader in a text: in text that people read, or inside an address or markup.
//!
//! Nothing is restored inside an address. A page that the model read may have made it write a picture's address
//! with a token in it; the program that shows the answer would then send the value to the owner of that address.
//!
//! A browser, a Markdown renderer and a chat window disagree about which marks open something: a `<` in a code span
//! opens nothing for one of them and a tag for another. So every mark that may open an address or markup is followed to
//! its own end, whatever surrounds it, and a value is restored only when none of them is open.

mod address;
mod entity;
mod line;
mod line_end;
mod link;
mod markup;

use self::address::{Address, AddressReader};
use self::line::Line;
use self::line_end::LineEnd;
use self::link::Link;
use self::markup::{Markup, Names};
use super::unit::{Spot, Unit, is_word};

/// Follows a text and knows what is open.
#[derive(Debug, Clone)]
pub(super) struct PlaceTracker {
    open: Vec<Open>,
    previous: char,
    line: Line,
    names: Names,
    addresses: AddressReader,
}

/// Something that was opened and is not closed. Equal ones have the same end, so each is kept once and their number is
/// bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Markup(Markup),
    Link(Link),
    Address(Address),
    /// The line after the backticks or tildes of a code block: it becomes the name of a class.
    Info,
}

impl PlaceTracker {
    pub(super) fn new() -> Self {
        Self::with(AddressReader::of_text())
    }

    fn with(addresses: AddressReader) -> Self {
        Self {
            open: Vec::new(),
            previous: ' ',
            line: Line::new(),
            names: Names::default(),
            addresses,
        }
    }

    /// Whether this is text that is read by people, and not part of an address or of markup.
    pub(super) fn is_plain(&self) -> bool {
        let is_over =
            |open: &Open| matches!(open, Open::Link(link) if link.is_over_unless_titled());
        self.open.iter().all(is_over) && self.addresses.is_plain()
    }

    /// Whether a word may begin here.
    pub(super) fn is_at_word_start(&self) -> bool {
        !is_word(self.previous)
    }

    /// A character went by.
    pub(super) fn step(&mut self, unit: &Unit) {
        if unit.spot == Spot::Structure {
            // A string of JSON is a separate text.
            *self = Self::with(AddressReader::of_string());
            return;
        }
        let character = unit.character;
        let end = self.line.step(character, self.previous);
        if !self.open.is_empty() {
            self.step_open(character, end);
        }
        self.names.push(character);
        self.line.note_block(&self.names);
        self.note_opened(character);
        self.previous = character;
    }

    /// A restored value went by in place of its token. It is the caller's own, and opens nothing.
    pub(super) fn step_over_value(&mut self, value: &str) {
        self.open.clear();
        self.previous = value.chars().next_back().unwrap_or(' ');
        self.line.step_over_value();
        self.names.push('\0');
        self.addresses.step_over_value();
    }

    fn step_open(&mut self, character: char, end: LineEnd) {
        let names = &self.names;
        self.open.retain_mut(|one| {
            let next = one.after(character, names, end);
            *one = next.unwrap_or(*one);
            next.is_some()
        });
        for at in (1..self.open.len()).rev() {
            if self.open[..at].contains(&self.open[at]) {
                self.open.swap_remove(at);
            }
        }
    }

    /// Returns the construct that this character opens, together with the character before.
    fn note_opened(&mut self, character: char) {
        let opened = match (self.previous, character) {
            (_, '<') => Some(Open::Markup(Markup::Start)),
            ('<', '!') => Some(Open::Markup(Markup::Bang(0))),
            (']', '(') => Some(Open::Link(Link::destination())),
            (']', ':') => Some(Open::Link(Link::definition())),
            ('!', '[') => Some(Open::Link(Link::picture())),
            (_, '`' | '~') if self.line.is_fence() => Some(Open::Info),
            _ => None,
        };
        let address = self.addresses.step(character);
        let unquoted = address.and_then(Address::without_quote);
        let addresses = [address, unquoted].into_iter().flatten();
        for one in opened.into_iter().chain(addresses.map(Open::Address)) {
            if !self.open.contains(&one) {
                self.open.push(one);
            }
        }
    }
}

impl Open {
    /// Returns the state after this character; `None` when it has ended.
    fn after(self, character: char, names: &Names, end: LineEnd) -> Option<Self> {
        match self {
            Self::Markup(markup) => markup.step(character, names, end).map(Self::Markup),
            Self::Link(link) => link.step(character, end).map(Self::Link),
            Self::Address(address) => address.step(character).map(Self::Address),
            Self::Info => (!matches!(character, '\n' | '\r')).then_some(self),
        }
    }
}
