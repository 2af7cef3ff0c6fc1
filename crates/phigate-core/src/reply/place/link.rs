//! Markdown's links: destinations with their titles, definitions of references, and the texts of pictures.

use super::line_end::LineEnd;

/// Parentheses and brackets that are counted; Markdown allows 32.
const DEPTH_MAX: u8 = 40;

/// A part of a link that people do not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    part: Part,
    /// Whether the next character is escaped by a backslash.
    is_escaped: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// After `](`, this many parentheses deep.
    Destination { depth: u8, inside: Inside },
    /// After `]:`, before the address.
    BeforeAddress { has_break: bool },
    /// In the address of a definition, until a blank or, if it is in angle brackets, until their end.
    Address { is_angled: bool },
    /// After the address: a title may follow.
    AfterAddress { has_break: bool },
    /// In the title of a definition, until this mark.
    Title(char),
    /// After `![`, this many brackets deep: the alternative text of a picture.
    Picture { depth: u8 },
}

/// Position in a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// Before the address.
    Start,
    /// In a word.
    Word,
    /// After a blank: a title may begin.
    Gap,
    /// In angle brackets.
    Angle,
    /// In the quotes of a title.
    Quote(char),
}

impl Link {
    pub(super) fn destination() -> Self {
        Self::of(Part::Destination {
            depth: 1,
            inside: Inside::Start,
        })
    }

    pub(super) fn definition() -> Self {
        Self::of(Part::BeforeAddress { has_break: false })
    }

    pub(super) fn picture() -> Self {
        Self::of(Part::Picture { depth: 1 })
    }

    /// Whether it has ended unless a title follows.
    pub(super) fn is_over_unless_titled(&self) -> bool {
        matches!(self.part, Part::AfterAddress { .. })
    }

    /// Returns the state after this character; `None` when it has ended. An empty line ends it.
    pub(super) fn step(self, character: char, end: LineEnd) -> Option<Self> {
        if end.is_blank {
            return None;
        }
        if self.is_escaped && !is_line_end(character) {
            return Some(Self::of(self.part));
        }
        if character == '\\' {
            let part = match self.part {
                Part::BeforeAddress { .. } => Part::Address { is_angled: false },
                Part::AfterAddress { .. } => return None,
                Part::Destination {
                    depth,
                    inside: Inside::Start | Inside::Gap,
                } => Part::Destination {
                    depth,
                    inside: Inside::Word,
                },
                part => part,
            };
            return Some(Self {
                part,
                is_escaped: true,
            });
        }
        let part = match self.part {
            Part::Destination { depth, inside } => step_destination(depth, inside, character),
            Part::Picture { depth } => match character {
                '[' => Some(depth.saturating_add(1).min(DEPTH_MAX)),
                ']' if depth == 1 => None,
                ']' => Some(depth - 1),
                _ => Some(depth),
            }
            .map(|depth| Part::Picture { depth }),
            part => step_definition(part, character),
        };
        part.map(Self::of)
    }

    fn of(part: Part) -> Self {
        Self {
            part,
            is_escaped: false,
        }
    }
}

fn step_destination(depth: u8, inside: Inside, character: char) -> Option<Part> {
    let (depth, inside) = match (inside, character) {
        (Inside::Angle, '>') => (depth, Inside::Word),
        (Inside::Angle, _) if is_line_end(character) => (depth, Inside::Gap),
        (Inside::Quote(mark), _) if character == mark => (depth, Inside::Word),
        (Inside::Angle | Inside::Quote(_), _) => (depth, inside),
        (Inside::Start, '<') => (depth, Inside::Angle),
        (Inside::Gap, '"' | '\'') => (depth, Inside::Quote(character)),
        (_, '(') => (depth.saturating_add(1).min(DEPTH_MAX), Inside::Word),
        (_, ')') if depth == 1 => return None,
        (_, ')') => (depth - 1, Inside::Word),
        (Inside::Start, _) if character.is_whitespace() => (depth, Inside::Start),
        _ if character.is_whitespace() => (depth, Inside::Gap),
        _ => (depth, Inside::Word),
    };
    Some(Part::Destination { depth, inside })
}

/// Steps through a definition: an address, and perhaps a title, each on the same line or on the next. Marks of
/// quotations may precede them there.
fn step_definition(part: Part, character: char) -> Option<Part> {
    let is_end = is_line_end(character);
    match part {
        Part::BeforeAddress { has_break } => match character {
            '\n' if has_break => None,
            _ if is_end => Some(Part::BeforeAddress {
                has_break: character == '\n',
            }),
            '>' if has_break => Some(part),
            '<' => Some(Part::Address { is_angled: true }),
            _ if character.is_whitespace() => Some(part),
            _ => Some(Part::Address { is_angled: false }),
        },
        Part::Address { is_angled: true } => match character {
            '>' => Some(Part::AfterAddress { has_break: false }),
            _ => (!is_end).then_some(part),
        },
        Part::Address { is_angled: false } => match character {
            _ if character.is_whitespace() => Some(Part::AfterAddress { has_break: is_end }),
            _ => Some(part),
        },
        Part::AfterAddress { has_break } => match character {
            '"' | '\'' => Some(Part::Title(character)),
            '(' => Some(Part::Title(')')),
            '>' if has_break => Some(part),
            _ if is_end => Some(Part::AfterAddress { has_break: true }),
            _ => character.is_whitespace().then_some(part),
        },
        Part::Title(mark) => (character != mark).then_some(part),
        Part::Destination { .. } | Part::Picture { .. } => None,
    }
}

fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r')
}
