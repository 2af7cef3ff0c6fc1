//! A conversation in Anthropic's form: system content apart, and turns made of blocks.

use super::super::request::{Call, Refusal};
use super::super::translate::draft::Draft;
use super::super::translate::media::{Image, Inline, sniffed_type};
use super::super::translate::messages::{CacheMark, Message, Part, Role};
use super::super::translate::turns::Turns;
use crate::json::Json;
use std::borrow::Cow;

/// The field in which thoughts travel through the caller and back. They are signed, and must return unchanged.
pub(in super::super) const CARRIER: &str = "thinking_blocks";

/// Signed thoughts that may be sent back. The provider refuses a thought that was changed after signing.
pub(in super::super) struct Thoughts<'a> {
    original: Option<Json<'a>>,
}

impl<'a> Thoughts<'a> {
    /// Keeps the caller's original document to compare thoughts with.
    pub(in super::super) fn new(call: &Call<'a>) -> Self {
        let original = call.original.map(|document| Json::of(&document.root()));
        Self { original }
    }

    /// Thoughts of a message that are unchanged since the caller sent them.
    pub(in super::super) fn of<'b>(&self, message: &Message<'b>) -> Vec<&'b Json<'b>> {
        let thoughts = message
            .source
            .get(CARRIER)
            .map(Json::items)
            .unwrap_or_default();
        let Some(original) = &self.original else {
            return thoughts.iter().collect();
        };
        let before = original
            .get("messages")
            .and_then(|messages| messages.items().get(message.position))
            .and_then(|message| message.get(CARRIER))
            .map(Json::items)
            .unwrap_or_default();
        let is_unchanged = |(now, before): &(&Json<'_>, &Json<'_>)| now == before;
        let kept = thoughts.iter().zip(before).filter(is_unchanged);
        kept.map(|(now, _)| now).collect()
    }
}

/// The turns and the system content.
pub(super) struct Conversation<'b> {
    /// The value of `system`.
    pub(super) system: Option<Json<'b>>,
    /// The value of `messages`.
    pub(super) turns: Vec<Json<'b>>,
}

/// Translates the messages.
pub(super) fn write<'b>(
    draft: &Draft<'_>,
    thoughts: &Thoughts<'_>,
    messages: &[Message<'b>],
) -> Result<Conversation<'b>, Refusal> {
    let mut system: Vec<(&'b str, CacheMark)> = Vec::new();
    let mut turns = Turns::default();
    for message in messages {
        match message.role {
            Role::System => {
                for part in &message.parts {
                    let Part::Text(text, mark) = part else {
                        return Err(Refusal::value(
                            message.place("content"),
                            "system content must be text",
                        ));
                    };
                    system.push((text, *mark));
                }
            }
            Role::User => turns.add("user", user_blocks(draft, message)?),
            Role::Assistant => turns.add("assistant", assistant_blocks(draft, thoughts, message)?),
            Role::Tool => turns.add("user", vec![tool_result(draft, message)?]),
        }
    }
    system.retain(|(text, _)| !text.trim().is_empty());
    if turns.list.is_empty() {
        // The provider requires a user's turn, so system content alone is sent as one.
        if system.is_empty() {
            return Err(Refusal::value("messages", "there is no content to send"));
        }
        draft.adjust("messages");
        let blocks = system.drain(..).map(|(text, mark)| text_block(text, mark));
        turns.add("user", blocks.collect());
    }
    Ok(Conversation {
        system: system_content(&system),
        turns: turns.into_messages(draft),
    })
}

/// System content is one text, unless the caller marked parts for the cache.
fn system_content<'b>(system: &[(&'b str, CacheMark)]) -> Option<Json<'b>> {
    if system.is_empty() {
        return None;
    }
    if system.iter().all(|(_, mark)| *mark == CacheMark::Absent) {
        let texts: Vec<&str> = system.iter().map(|(text, _)| *text).collect();
        return Some(match texts.as_slice() {
            [text] => Json::text(*text),
            _ => Json::text(texts.join("\n\n")),
        });
    }
    let separated = |(number, (text, mark)): (usize, &(&'b str, CacheMark))| {
        let text = if number == 0 {
            Cow::Borrowed(*text)
        } else {
            Cow::Owned(format!("\n\n{text}"))
        };
        text_block(text, *mark)
    };
    Some(Json::List(
        system.iter().enumerate().map(separated).collect(),
    ))
}

fn user_blocks<'b>(draft: &Draft<'_>, message: &Message<'b>) -> Result<Vec<Json<'b>>, Refusal> {
    let blocks = content_blocks(draft, message)?;
    if blocks.is_empty() {
        return Err(Refusal::value(
            message.place("content"),
            "this provider does not accept an empty message",
        ));
    }
    Ok(blocks)
}

fn assistant_blocks<'b>(
    draft: &Draft<'_>,
    thoughts: &Thoughts<'_>,
    message: &Message<'b>,
) -> Result<Vec<Json<'b>>, Refusal> {
    let mut blocks = Vec::new();
    let given = message.source.get(CARRIER).map(Json::items);
    let kept = thoughts.of(message);
    if given.is_some_and(|given| given.len() > kept.len()) {
        draft.adjust("messages");
    }
    for thought in kept {
        match (
            thought.text_of("type"),
            thought.text_of("thinking"),
            thought.text_of("signature"),
            thought.text_of("data"),
        ) {
            (Some("thinking"), Some(thinking), Some(signature), _) => {
                blocks.push(Json::object([
                    ("type", Json::text("thinking")),
                    ("thinking", Json::text(thinking)),
                    ("signature", Json::text(signature)),
                ]));
            }
            (Some("redacted_thinking"), _, _, Some(data)) => {
                blocks.push(Json::object([
                    ("type", Json::text("redacted_thinking")),
                    ("data", Json::text(data)),
                ]));
            }
            _ => draft.adjust("messages"),
        }
    }
    blocks.extend(content_blocks(draft, message)?);
    for call in &message.calls {
        blocks.push(Json::object([
            ("type", Json::text("tool_use")),
            ("id", Json::text(plain_id(call.id))),
            ("name", Json::text(call.name)),
            ("input", call.arguments.clone()),
        ]));
    }
    if blocks.is_empty() {
        draft.adjust("messages");
    }
    Ok(blocks)
}

fn tool_result<'b>(draft: &Draft<'_>, message: &Message<'b>) -> Result<Json<'b>, Refusal> {
    let mut result = Json::object([
        ("type", Json::text("tool_result")),
        ("tool_use_id", Json::text(plain_id(message.answers))),
    ]);
    match message.parts.as_slice() {
        [Part::Text(text, CacheMark::Absent)] => result.insert("content", Json::text(*text)),
        _ => {
            let blocks = content_blocks(draft, message)?;
            if !blocks.is_empty() {
                result.insert("content", Json::List(blocks));
            }
        }
    }
    Ok(result)
}

/// The blocks of a message. Text of spaces alone is left out, because the provider refuses it.
fn content_blocks<'b>(draft: &Draft<'_>, message: &Message<'b>) -> Result<Vec<Json<'b>>, Refusal> {
    let mut blocks = Vec::with_capacity(message.parts.len());
    for (number, part) in message.parts.iter().enumerate() {
        let place = || message.place(&format!("content[{number}]"));
        match part {
            Part::Text(text, _) if text.trim().is_empty() => draft.adjust("messages"),
            Part::Text(text, mark) => blocks.push(text_block(*text, *mark)),
            Part::Image(image, mark) => blocks.push(image_block(draft, image, *mark, &place())?),
            Part::File(file) => blocks.push(document_block(file, &place())?),
            Part::Audio(_) => {
                return Err(Refusal::value(
                    place(),
                    "this provider does not accept sound",
                ));
            }
        }
    }
    Ok(blocks)
}

fn text_block<'b>(text: impl Into<Cow<'b, str>>, mark: CacheMark) -> Json<'b> {
    with_mark(
        Json::object([("type", Json::text("text")), ("text", Json::text(text))]),
        mark,
    )
}

fn with_mark(mut block: Json<'_>, mark: CacheMark) -> Json<'_> {
    if mark == CacheMark::Set {
        block.insert(
            "cache_control",
            Json::object([("type", Json::text("ephemeral"))]),
        );
    }
    block
}

fn image_block<'b>(
    draft: &Draft<'_>,
    image: &Image<'b>,
    mark: CacheMark,
    place: &str,
) -> Result<Json<'b>, Refusal> {
    let source = match image {
        Image::Address(address) => {
            Json::object([("type", Json::text("url")), ("url", Json::text(*address))])
        }
        Image::Inline(inline) => {
            let media_type = image_type(draft, inline).ok_or_else(|| {
                Refusal::value(
                    place,
                    "this provider accepts PNG, JPEG, GIF and WebP pictures",
                )
            })?;
            Json::object([
                ("type", Json::text("base64")),
                ("media_type", Json::text(media_type)),
                ("data", Json::text(inline.base64.clone())),
            ])
        }
    };
    Ok(with_mark(
        Json::object([("type", Json::text("image")), ("source", source)]),
        mark,
    ))
}

/// The media type that the bytes show. The provider refuses a picture whose bytes differ from the declared type.
fn image_type(draft: &Draft<'_>, inline: &Inline<'_>) -> Option<&'static str> {
    let declared = inline.media_type.to_ascii_lowercase();
    let declared = if declared == "image/jpg" {
        "image/jpeg"
    } else {
        declared.as_str()
    };
    let accepted = ["image/png", "image/jpeg", "image/gif", "image/webp"]
        .into_iter()
        .find(|media_type| *media_type == declared);
    let sniffed = sniffed_type(&inline.base64);
    if sniffed.is_some() && sniffed != accepted {
        draft.adjust("messages");
    }
    sniffed.or(accepted)
}

fn document_block<'b>(file: &Inline<'b>, place: &str) -> Result<Json<'b>, Refusal> {
    if !file.media_type.eq_ignore_ascii_case("application/pdf") {
        return Err(Refusal::value(place, "this provider accepts PDF files"));
    }
    let source = Json::object([
        ("type", Json::text("base64")),
        ("media_type", Json::text("application/pdf")),
        ("data", Json::text(file.base64.clone())),
    ]);
    Ok(Json::object([
        ("type", Json::text("document")),
        ("source", source),
    ]))
}

/// Ids may hold letters, digits, `_` and `-`; other bytes are escaped, in the same way for a call and its result.
fn plain_id(id: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if id.bytes().all(is_plain) {
        return Cow::Borrowed(id);
    }
    let spelled = id.bytes().map(|byte| {
        if is_plain(byte) {
            char::from(byte).to_string()
        } else {
            format!("_{byte:02x}")
        }
    });
    Cow::Owned(spelled.collect())
}
