//! A conversation in Converse's form: system content apart, and turns made of blocks that alternate.

use super::super::anthropic::{CARRIER, Thoughts};
use super::super::request::Refusal;
use super::super::translate::draft::Draft;
use super::super::translate::media::{Image, Inline, sniffed_type};
use super::super::translate::messages::{CacheMark, Message, Part, Role};
use super::super::translate::turns::Turns;
use super::models::Model;
use crate::json::Json;
use std::borrow::Cow;

/// The turns and the system content.
pub(super) struct Conversation<'b> {
    /// The value of `system`.
    pub(super) system: Vec<Json<'b>>,
    /// The value of `messages`.
    pub(super) turns: Vec<Json<'b>>,
}

/// Translates the messages.
pub(super) fn write<'b>(
    draft: &Draft<'_>,
    model: &Model,
    thoughts: &Thoughts<'_>,
    messages: &[Message<'b>],
) -> Result<Conversation<'b>, Refusal> {
    let mut writer = Writer {
        draft,
        has_cache: model.traits.has_cache,
        documents: 0,
    };
    let (mut system, mut turns) = (Vec::new(), Turns::default());
    for message in messages {
        match message.role {
            Role::System => system.extend(writer.system(message)?),
            Role::User => turns.add("user", writer.user(message)?),
            Role::Assistant => turns.add("assistant", writer.assistant(thoughts, message)?),
            Role::Tool => turns.add("user", vec![writer.tool_result(message)?]),
        }
    }
    let is_alone = turns.list.is_empty();
    if is_alone && system.is_empty() {
        return Err(Refusal::value("messages", "there is no content to send"));
    }
    // A user's turn is required, and some models take no system content: it then opens the first turn.
    if !system.is_empty() && (is_alone || !model.traits.has_system) {
        draft.adjust("messages");
        match turns.list.first_mut() {
            Some(("user", blocks)) => drop(blocks.splice(..0, system.drain(..))),
            _ => turns.list.insert(0, ("user", std::mem::take(&mut system))),
        }
    }
    Ok(Conversation {
        system,
        turns: turns.into_messages(draft),
    })
}

/// Writes blocks.
struct Writer<'d, 'a> {
    draft: &'d Draft<'a>,
    has_cache: bool,
    /// The number of files written; each needs a distinct name.
    documents: usize,
}

impl Writer<'_, '_> {
    fn system<'b>(&mut self, message: &Message<'b>) -> Result<Vec<Json<'b>>, Refusal> {
        if message.parts.iter().any(|part| part.text().is_none()) {
            return Err(Refusal::value(
                message.place("content"),
                "system content must be text",
            ));
        }
        self.blocks(message)
    }

    fn user<'b>(&mut self, message: &Message<'b>) -> Result<Vec<Json<'b>>, Refusal> {
        let blocks = self.blocks(message)?;
        if blocks.is_empty() {
            return Err(Refusal::value(
                message.place("content"),
                "this provider does not accept an empty message",
            ));
        }
        let has = |name: &str| blocks.iter().any(|block| block.get(name).is_some());
        if has("document") && !has("text") {
            return Err(Refusal::value(
                message.place("content"),
                "this provider wants some text beside a file",
            ));
        }
        Ok(blocks)
    }

    fn assistant<'b>(
        &mut self,
        thoughts: &Thoughts<'_>,
        message: &Message<'b>,
    ) -> Result<Vec<Json<'b>>, Refusal> {
        let given = message.source.get(CARRIER).map(Json::items);
        let kept = thoughts.of(message);
        let mut blocks: Vec<Json<'b>> = kept.iter().copied().filter_map(thought_block).collect();
        if given.is_some_and(|given| given.len() > blocks.len()) {
            self.draft.adjust("messages");
        }
        blocks.extend(self.blocks(message)?);
        for call in &message.calls {
            let tool_use = Json::object([
                ("toolUseId", Json::text(plain_id(call.id))),
                ("name", Json::text(call.name)),
                ("input", call.arguments.clone()),
            ]);
            blocks.push(Json::object([("toolUse", tool_use)]));
        }
        if blocks.is_empty() {
            self.draft.adjust("messages");
        }
        Ok(blocks)
    }

    fn tool_result<'b>(&mut self, message: &Message<'b>) -> Result<Json<'b>, Refusal> {
        let has_cache = std::mem::replace(&mut self.has_cache, false);
        let content = self.blocks(message);
        self.has_cache = has_cache;
        let result = Json::object([
            ("toolUseId", Json::text(plain_id(message.answers))),
            ("content", Json::List(content?)),
        ]);
        Ok(Json::object([("toolResult", result)]))
    }

    /// The blocks of a message. Text of spaces alone is left out, because the provider refuses it.
    fn blocks<'b>(&mut self, message: &Message<'b>) -> Result<Vec<Json<'b>>, Refusal> {
        let mut blocks = Vec::with_capacity(message.parts.len());
        for (number, part) in message.parts.iter().enumerate() {
            let place = || message.place(&format!("content[{number}]"));
            let mark = match part {
                Part::Text(text, _) if text.trim().is_empty() => {
                    self.draft.adjust("messages");
                    continue;
                }
                Part::Text(text, mark) => {
                    blocks.push(Json::object([("text", Json::text(*text))]));
                    *mark
                }
                Part::Image(image, mark) => {
                    blocks.push(self.image(image, &place())?);
                    *mark
                }
                Part::File(file) => {
                    blocks.push(self.document(file, &place())?);
                    CacheMark::Absent
                }
                Part::Audio(_) => {
                    return Err(Refusal::value(
                        place(),
                        "sound cannot be sent to this provider",
                    ));
                }
            };
            if mark == CacheMark::Set {
                self.cache_point(&mut blocks);
            }
        }
        Ok(blocks)
    }

    /// Adds a cache mark after the block that it closes.
    fn cache_point(&self, blocks: &mut Vec<Json<'_>>) {
        if self.has_cache {
            let point = Json::object([("type", Json::text("default"))]);
            blocks.push(Json::object([("cachePoint", point)]));
        } else {
            self.draft.adjust("messages");
        }
    }

    fn image<'b>(&self, image: &Image<'b>, place: &str) -> Result<Json<'b>, Refusal> {
        let Image::Inline(inline) = image else {
            return Err(Refusal::value(
                place,
                "this provider does not fetch pictures: send it inside the request, as a data: address",
            ));
        };
        let format = self.image_format(inline).ok_or_else(|| {
            Refusal::value(
                place,
                "this provider accepts PNG, JPEG, GIF and WebP pictures",
            )
        })?;
        Ok(Json::object([("image", source(format, None, inline))]))
    }

    /// The image format that the bytes show. The provider refuses a picture whose bytes differ from the declared type.
    fn image_format(&self, inline: &Inline<'_>) -> Option<&'static str> {
        let known = |media_type: &str| {
            let row = IMAGES
                .iter()
                .find(|row| row.0.eq_ignore_ascii_case(media_type));
            row.map(|row| row.1)
        };
        let declared = known(inline.media_type);
        let sniffed = sniffed_type(&inline.base64).and_then(known);
        if sniffed.is_some() && sniffed != declared {
            self.draft.adjust("messages");
        }
        sniffed.or(declared)
    }

    fn document<'b>(&mut self, file: &Inline<'b>, place: &str) -> Result<Json<'b>, Refusal> {
        let row = DOCUMENTS
            .iter()
            .find(|row| row.0.eq_ignore_ascii_case(file.media_type));
        let (_, format) = row.ok_or_else(|| {
            Refusal::value(
                place,
                "this provider accepts PDF, Word, Excel, CSV, HTML, Markdown and text files",
            )
        })?;
        self.documents += 1;
        // The model reads the name; the caller's name for it could be PHI or an instruction.
        let name = format!("document-{}", self.documents);
        Ok(Json::object([(
            "document",
            source(format, Some(name), file),
        )]))
    }
}

static IMAGES: &[(&str, &str)] = &[
    ("image/gif", "gif"),
    ("image/jpeg", "jpeg"),
    ("image/jpg", "jpeg"),
    ("image/png", "png"),
    ("image/webp", "webp"),
];

static DOCUMENTS: &[(&str, &str)] = &[
    ("application/msword", "doc"),
    ("application/pdf", "pdf"),
    ("application/vnd.ms-excel", "xls"),
    (
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "xlsx",
    ),
    (
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "docx",
    ),
    ("text/csv", "csv"),
    ("text/html", "html"),
    ("text/markdown", "md"),
    ("text/plain", "txt"),
];

fn source<'b>(format: &'static str, name: Option<String>, inline: &Inline<'b>) -> Json<'b> {
    let mut block = Json::object([("format", Json::text(format))]);
    if let Some(name) = name {
        block.insert("name", Json::text(name));
    }
    let bytes = Json::object([("bytes", Json::text(inline.base64.clone()))]);
    block.insert("source", bytes);
    block
}

/// A thought sent back unchanged.
fn thought_block<'b>(thought: &'b Json<'b>) -> Option<Json<'b>> {
    let content = match thought.text_of("type")? {
        "thinking" => {
            let text = Json::object([
                ("text", Json::text(thought.text_of("thinking")?)),
                ("signature", Json::text(thought.text_of("signature")?)),
            ]);
            Json::object([("reasoningText", text)])
        }
        "redacted_thinking" => {
            Json::object([("redactedContent", Json::text(thought.text_of("data")?))])
        }
        _ => return None,
    };
    Some(Json::object([("reasoningContent", content)]))
}

/// The longest id of a call.
const ID_BYTES_MAX: usize = 64;

/// A valid id of a call: letters, digits and `_.:-`. Other bytes are escaped and long ids shortened, in the same way
/// for a call and its result.
fn plain_id(id: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
    if id.len() <= ID_BYTES_MAX && id.bytes().all(is_plain) {
        return Cow::Borrowed(id);
    }
    let spelled: String = id
        .bytes()
        .map(|byte| {
            if is_plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("_{byte:02x}")
            }
        })
        .collect();
    if spelled.len() <= ID_BYTES_MAX {
        return Cow::Owned(spelled);
    }
    let short: String = spelled.chars().take(ID_BYTES_MAX - 17).collect();
    Cow::Owned(format!("{short}-{:016x}", fingerprint(id.as_bytes())))
}

/// FNV-1a hash. It only separates the ids of one conversation.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_ids_stay_distinct() {
        assert_eq!(plain_id("tooluse_1.a:b-c"), "tooluse_1.a:b-c");
        assert_eq!(plain_id("a b"), "a_20b");
        let (one, two) = ("x".repeat(80), format!("{}y", "x".repeat(79)));
        let (one, two) = (plain_id(&one), plain_id(&two));
        assert!(one != two && one.len() == ID_BYTES_MAX && two.len() == ID_BYTES_MAX);
    }
}
