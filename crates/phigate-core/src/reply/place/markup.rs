//! HTML's markup: tags, comments and the texts of elements such as `<style>`, followed as browsers read them.

use super::line_end::LineEnd;

/// Characters that are remembered: the longest name that means something, with `</` before it.
const NAMES_BYTES: usize = 12;

/// The last characters, in lower case; a zero replaces each character outside ASCII.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Names([u8; NAMES_BYTES]);

impl Names {
    pub(super) fn push(&mut self, character: char) {
        self.0.rotate_left(1);
        let byte = u8::try_from(character).unwrap_or(0);
        self.0[NAMES_BYTES - 1] = byte.to_ascii_lowercase();
    }

    pub(super) fn ends_with(&self, word: &[u8]) -> bool {
        self.0.ends_with(word)
    }

    /// Whether the last character is one of these.
    pub(super) fn is_after(&self, bytes: &[u8]) -> bool {
        bytes.contains(&self.0[NAMES_BYTES - 1])
    }

    fn last(&self, length: u8) -> &[u8] {
        &self.0[NAMES_BYTES.saturating_sub(usize::from(length))..]
    }
}

/// Elements with content that is not markup, by what ends it.
const TEXT_ELEMENTS: &[(&[u8], &[u8])] = &[
    // Alphabetical.
    (b"script", b"</script"),
    (b"style", b"</style"),
    (b"textarea", b"</textarea"),
    (b"title", b"</title"),
];

/// Elements after which markup is read by other rules, or whose texts a form sends.
const ODD_ELEMENTS: &[&[u8]] = &[
    // Alphabetical.
    b"frameset",
    b"iframe",
    b"math",
    b"noembed",
    b"noframes",
    b"noscript",
    b"plaintext",
    b"select",
    b"svg",
    b"xmp",
];

/// Markup that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup {
    /// After `<`.
    Start,
    /// After `</`.
    EndStart,
    /// In a tag. `text` is the row of the element if its content is not markup.
    Tag { at: Tag, text: Option<u8> },
    /// In a declaration or an instruction, until `>`.
    Declaration,
    /// After `<!`, with this many characters of `--` or `[CDATA[`.
    Bang(u8),
    /// In a comment.
    Comment(Comment),
    /// In character data, until `]]>`; with this many brackets.
    Data(u8),
    /// An address of electronic mail in angle brackets.
    Mail,
    /// In the content of this row of the elements that hold text.
    Text(u8),
    /// In markup without an end that every reader sees.
    Endless,
}

/// Position in a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    /// In the name of an element that begins, after this many characters.
    Name(u8),
    /// In the name of an element that ends.
    EndName,
    /// Before an attribute.
    Gap,
    Attribute,
    /// After an attribute and a blank.
    AfterAttribute,
    /// After `=`.
    Equals,
    Quoted(char),
    Unquoted,
}

/// Position in a comment, as HTML counts its hyphens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comment {
    Start,
    StartDash,
    Inside,
    Dash,
    End,
    EndBang,
}

impl Markup {
    /// Returns the state after this character; `None` when it has ended. `names` ends before the character.
    pub(super) fn step(self, character: char, names: &Names, end: LineEnd) -> Option<Self> {
        match self {
            Self::Start => match character {
                '/' => Some(Self::EndStart),
                '!' | '?' => Some(Self::Declaration),
                _ if character.is_ascii_alphabetic() => Some(Self::of_tag(Tag::Name(1), None)),
                '<' | '>' => None,
                _ => (!character.is_whitespace()).then_some(Self::Mail),
            },
            Self::EndStart => match character {
                '>' => None,
                _ if character.is_ascii_alphabetic() => Some(Self::of_tag(Tag::EndName, None)),
                _ => Some(Self::Declaration),
            },
            Self::Tag { .. } if end.cuts_tags => Some(Self::Endless),
            Self::Tag { at, text } => step_tag(at, text, character, names),
            Self::Declaration => (character != '>').then_some(self),
            Self::Bang(matched) => step_bang(matched, character),
            Self::Comment(comment) => step_comment(comment, character).map(Self::Comment),
            Self::Data(brackets) => match character {
                ']' => Some(Self::Data(brackets.saturating_add(1).min(2))),
                '>' if brackets == 2 => None,
                _ => Some(Self::Data(0)),
            },
            Self::Mail => (!character.is_whitespace() && character != '>').then_some(self),
            Self::Text(_) if end.cuts_texts => Some(Self::Endless),
            Self::Text(row) => step_text(row, character, names),
            Self::Endless => Some(self),
        }
    }

    fn of_tag(at: Tag, text: Option<u8>) -> Self {
        Self::Tag { at, text }
    }
}

fn step_tag(at: Tag, text: Option<u8>, character: char, names: &Names) -> Option<Markup> {
    if let Tag::Name(length) = at {
        return step_name(length, character, names);
    }
    let next = match (at, character) {
        (Tag::Quoted(mark), _) if character == mark => Tag::Gap,
        (Tag::Quoted(_), _) => at,
        (_, '>') => return text.map(Markup::Text),
        (Tag::Equals, '"' | '\'') => Tag::Quoted(character),
        (Tag::Attribute | Tag::AfterAttribute, '=') => Tag::Equals,
        (Tag::EndName | Tag::Gap | Tag::Attribute | Tag::AfterAttribute, '/') => Tag::Gap,
        (Tag::Attribute, _) if is_blank(character) => Tag::AfterAttribute,
        (Tag::EndName | Tag::Unquoted, _) if is_blank(character) => Tag::Gap,
        (Tag::EndName, _) => at,
        (Tag::Gap | Tag::AfterAttribute | Tag::Equals, _) if is_blank(character) => at,
        (Tag::Equals | Tag::Unquoted, _) => Tag::Unquoted,
        (Tag::Name(_) | Tag::Gap | Tag::Attribute | Tag::AfterAttribute, _) => Tag::Attribute,
    };
    Some(Markup::of_tag(next, text))
}

/// The name of a tag, and what kind of element begins with its end.
fn step_name(length: u8, character: char, names: &Names) -> Option<Markup> {
    let is_end = is_blank(character) || matches!(character, '/' | '>');
    if !is_end {
        let length = length.saturating_add(1).min(NAMES_BYTES as u8);
        return Some(Markup::of_tag(Tag::Name(length), None));
    }
    let name = names.last(length);
    if ODD_ELEMENTS.contains(&name) {
        return Some(Markup::Endless);
    }
    let row = TEXT_ELEMENTS.iter().position(|row| row.0 == name);
    let text = row.map(|row| row as u8);
    match character {
        '>' => text.map(Markup::Text),
        _ => Some(Markup::of_tag(Tag::Gap, text)),
    }
}

/// The content of an element that holds text. A renderer of Markdown escapes the end of it in code, and a script may
/// hide it in a comment: then there is none.
fn step_text(row: u8, character: char, names: &Names) -> Option<Markup> {
    let (_, end) = TEXT_ELEMENTS[usize::from(row)];
    if names.ends_with(end) {
        match character {
            '>' => return None,
            _ if is_blank(character) || character == '/' => {
                return Some(Markup::of_tag(Tag::Gap, None));
            }
            _ => {}
        }
    }
    let is_hidden = matches!(character, '`' | '~' | '\\') || names.ends_with(b"<!-");
    Some(if is_hidden {
        Markup::Endless
    } else {
        Markup::Text(row)
    })
}

fn step_bang(matched: u8, character: char) -> Option<Markup> {
    const DATA: &[u8] = b"[cdata[";
    let is_next = DATA.get(usize::from(matched)) == Some(&(character.to_ascii_lowercase() as u8));
    match (matched, character) {
        (0, '-') => Some(Markup::Bang(DASHED)),
        (DASHED, '-') => Some(Markup::Comment(Comment::Start)),
        _ if is_next && usize::from(matched) + 1 == DATA.len() => Some(Markup::Data(0)),
        _ => is_next.then_some(Markup::Bang(matched + 1)),
    }
}

/// One hyphen after `<!`.
const DASHED: u8 = 100;

fn step_comment(comment: Comment, character: char) -> Option<Comment> {
    let next = match (comment, character) {
        (Comment::Start | Comment::StartDash | Comment::End | Comment::EndBang, '>') => {
            return None;
        }
        (Comment::Start, '-') => Comment::StartDash,
        (Comment::Inside | Comment::EndBang, '-') => Comment::Dash,
        (Comment::StartDash | Comment::Dash | Comment::End, '-') => Comment::End,
        (Comment::End, '!') => Comment::EndBang,
        _ => Comment::Inside,
    };
    Some(next)
}

/// Whether HTML takes a character for a blank.
fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\u{c}')
}
