//! HTML: its text, the values of all attributes, comments, scripts and styles.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use data_encoding::BASE64;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use phigate_types::Unread;

use crate::collect::Page;
use crate::image;
use crate::sniff::{Magic, magic};

/// Elements whose text continues the line.
const INLINE: &[&str] = &[
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "q", "rb", "rp", "rt", "ruby", "s", "samp",
    "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr", "img",
    "o:p",
];

/// Reads a page.
pub(crate) fn read(source: &str) -> Result<Page, Unread> {
    let sink = Sink::default();
    let tokens = Tokenizer::new(sink, TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(source));
    // The sink runs no scripts and changes no encoding, so one call takes all input.
    let _ = tokens.feed(&input);
    tokens.end();
    let sink = tokens.sink;
    match sink.failed.get() {
        Some(reason) => Err(reason),
        None => Ok(sink.page.into_inner()),
    }
}

#[derive(Default)]
struct Sink {
    page: RefCell<Page>,
    seen: RefCell<HashSet<String>>,
    /// Whether text is of a script or style.
    is_behind: Cell<bool>,
    failed: Cell<Option<Unread>>,
}

impl Sink {
    fn note(&self, line: &str) {
        let line = line.trim();
        if !line.is_empty() && self.seen.borrow_mut().insert(line.to_owned()) {
            let mut page = self.page.borrow_mut();
            page.background.push_str(line);
            page.background.push('\n');
        }
    }

    /// Ends a line or a cell, if there is one.
    fn separate(&self, by: char) {
        let content = &mut self.page.borrow_mut().content;
        if !content.is_empty() && !content.ends_with('\n') {
            content.push(by);
        }
    }

    fn tag(&self, tag: &Tag) -> TokenSinkResult<()> {
        if tag.had_duplicate_attributes {
            self.failed.set(Some(Unread::ReadersDisagree));
        }
        let name = &*tag.name;
        match name {
            "td" | "th" if tag.kind == TagKind::EndTag => self.separate('\t'),
            "td" | "th" => {}
            _ if !INLINE.contains(&name) => self.separate('\n'),
            _ => {}
        }
        let mut line = String::new();
        for attribute in &tag.attrs {
            if let Err(reason) = check_data(&attribute.value) {
                self.failed.set(Some(reason));
            }
            line.push_str(&attribute.value);
            line.push(' ');
        }
        self.note(&line);
        self.is_behind.set(false);
        if tag.kind == TagKind::EndTag {
            return TokenSinkResult::Continue;
        }
        let kind = match name {
            "script" => RawKind::ScriptData,
            "style" | "xmp" | "iframe" | "noembed" | "noframes" => RawKind::Rawtext,
            "title" | "textarea" => RawKind::Rcdata,
            "plaintext" => return TokenSinkResult::Plaintext,
            _ => return TokenSinkResult::Continue,
        };
        self.is_behind.set(matches!(name, "script" | "style"));
        TokenSinkResult::RawData(kind)
    }
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        match token {
            Token::TagToken(tag) => return self.tag(&tag),
            Token::CharacterTokens(text) if self.is_behind.get() => {
                self.page.borrow_mut().background.push_str(&text);
            }
            Token::CharacterTokens(text) => self.page.borrow_mut().content.push_str(&text),
            Token::CommentToken(text) => self.note(&text),
            Token::DoctypeToken(doctype) => {
                for text in [doctype.public_id, doctype.system_id].into_iter().flatten() {
                    self.note(&text);
                }
            }
            Token::NullCharacterToken => self.failed.set(Some(Unread::Damaged)),
            Token::EOFToken | Token::ParseError(_) => {}
        }
        TokenSinkResult::Continue
    }
}

/// Checks an attribute that may carry a file: small images pass, other files do not.
fn check_data(value: &str) -> Result<(), Unread> {
    let value = value.trim();
    let is_data = value
        .get(..5)
        .is_some_and(|start| start.eq_ignore_ascii_case("data:"));
    let Some((head, body)) = value.split_once(',').filter(|_| is_data) else {
        return Ok(());
    };
    if !head.to_ascii_lowercase().ends_with(";base64") {
        return Ok(());
    }
    let body: String = body.split_ascii_whitespace().collect();
    let bytes = BASE64
        .decode(body.as_bytes())
        .map_err(|_| Unread::EmbeddedObject)?;
    match magic(&bytes) {
        Some(Magic::Image) => image::check(&bytes),
        _ => Err(Unread::EmbeddedObject),
    }
}
