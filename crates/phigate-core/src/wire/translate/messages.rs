//! The conversation of a caller's request, checked once for every translating format.

use super::super::request::Refusal;
use super::draft::Draft;
use super::media::{Image, Inline, read_audio, read_file, read_image};
use crate::json::Json;

/// One message.
pub(in super::super) struct Message<'b> {
    /// Position in the request.
    pub(in super::super) position: usize,
    /// The role.
    pub(in super::super) role: Role,
    /// The content, in order.
    pub(in super::super) parts: Vec<Part<'b>>,
    /// The tools that the assistant calls.
    pub(in super::super) calls: Vec<ToolCall<'b>>,
    /// The call that a tool message answers; empty in other messages.
    pub(in super::super) answers: &'b str,
    /// The message unchanged, for fields of one format alone.
    pub(in super::super) source: &'b Json<'b>,
}

/// The role of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Role {
    /// The operator of the conversation, also called developer.
    System,
    /// The end user.
    User,
    /// The model.
    Assistant,
    /// A tool that the model called.
    Tool,
}

/// One piece of content.
pub(in super::super) enum Part<'b> {
    /// Text, and whether the caller marked the prompt as worth caching up to here.
    Text(&'b str, CacheMark),
    /// A picture.
    Image(Image<'b>, CacheMark),
    /// Recorded sound.
    Audio(Inline<'b>),
    /// A file.
    File(Inline<'b>),
}

/// Whether the prompt is worth caching up to a part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum CacheMark {
    /// The caller marked the part.
    Set,
    /// No mark.
    Absent,
}

/// A tool call of the assistant.
pub(in super::super) struct ToolCall<'b> {
    /// The caller's id of the call.
    pub(in super::super) id: &'b str,
    /// The tool.
    pub(in super::super) name: &'b str,
    /// The input, an object.
    pub(in super::super) arguments: Json<'b>,
    /// The call unchanged, for fields of one format alone.
    pub(in super::super) source: &'b Json<'b>,
}

impl Message<'_> {
    /// The path of a field, for refusals.
    pub(in super::super) fn place(&self, field: &str) -> String {
        format!("messages[{}].{field}", self.position)
    }

    /// All text of the message, its parts joined by a line feed.
    pub(in super::super) fn joined_text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().filter_map(Part::text).collect();
        texts.join("\n")
    }
}

impl<'b> Part<'b> {
    /// The text, if this is text.
    pub(in super::super) fn text(&self) -> Option<&'b str> {
        match self {
            Self::Text(text, _) => Some(text),
            Self::Image(..) | Self::Audio(_) | Self::File(_) => None,
        }
    }
}

/// Reads all messages. `carriers` are the fields that the format itself added to messages in earlier replies.
pub(in super::super) fn read_messages<'b>(
    draft: &'b Draft<'b>,
    carriers: &[&str],
) -> Result<Vec<Message<'b>>, Refusal> {
    let Some(Json::List(items)) = draft.body().get("messages") else {
        return Err(Refusal::missing("messages"));
    };
    let mut messages = Vec::with_capacity(items.len());
    for (position, source) in items.iter().enumerate() {
        let message = read_message(draft, position, source)?;
        let is_lost = |(name, value): &(std::borrow::Cow<'_, str>, Json<'_>)| {
            !KNOWN_FIELDS.contains(&name.as_ref())
                && !carriers.contains(&name.as_ref())
                && !says_nothing(value)
        };
        if source.members().iter().any(is_lost) {
            draft.adjust("messages");
        }
        messages.push(message);
    }
    Ok(messages)
}

const KNOWN_FIELDS: &[&str] = &["role", "content", "refusal", "tool_calls", "tool_call_id"];

fn says_nothing(value: &Json<'_>) -> bool {
    match value {
        Json::Null => true,
        Json::Text(text) => text.is_empty(),
        Json::List(items) => items.is_empty(),
        Json::Bool(_) | Json::Number(_) | Json::Object(_) => false,
    }
}

fn read_message<'b>(
    draft: &Draft<'_>,
    position: usize,
    source: &'b Json<'b>,
) -> Result<Message<'b>, Refusal> {
    let place = |field: &str| format!("messages[{position}].{field}");
    let role = match source.text_of("role") {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool") => Role::Tool,
        Some(_) => {
            return Err(Refusal::value(
                place("role"),
                "this role cannot be sent to this provider",
            ));
        }
        None => return Err(Refusal::missing(place("role"))),
    };
    for field in ["function_call", "audio"] {
        if source.given(field).is_some() {
            return Err(Refusal::value(
                place(field),
                "this cannot be sent to this provider",
            ));
        }
    }
    let mut message = Message {
        position,
        role,
        parts: Vec::new(),
        calls: Vec::new(),
        answers: "",
        source,
    };
    read_content(draft, &mut message)?;
    if role == Role::Assistant {
        if let Some(refusal) = source.text_of("refusal") {
            message.parts.push(Part::Text(refusal, CacheMark::Absent));
        }
        read_calls(&mut message)?;
    }
    if role == Role::Tool {
        let id = source.text_of("tool_call_id").filter(|id| !id.is_empty());
        message.answers = id.ok_or_else(|| Refusal::missing(place("tool_call_id")))?;
    }
    Ok(message)
}

fn read_content(draft: &Draft<'_>, message: &mut Message<'_>) -> Result<(), Refusal> {
    match message.source.get("content") {
        None | Some(Json::Null) if message.role == Role::Assistant => Ok(()),
        None | Some(Json::Null) => Err(Refusal::missing(message.place("content"))),
        Some(Json::Text(text)) => {
            message.parts.push(Part::Text(text, CacheMark::Absent));
            Ok(())
        }
        Some(Json::List(items)) => {
            for (number, item) in items.iter().enumerate() {
                let part = read_part(draft, item, &message.place(&format!("content[{number}]")))?;
                message.parts.push(part);
            }
            Ok(())
        }
        Some(_) => Err(Refusal::kind(
            message.place("content"),
            "this must be a string or a list of parts",
        )),
    }
}

fn read_part<'b>(draft: &Draft<'_>, part: &'b Json<'_>, place: &str) -> Result<Part<'b>, Refusal> {
    let is_marked =
        part.given("cache_control").is_some() || part.given("prompt_cache_breakpoint").is_some();
    let mark = if is_marked {
        CacheMark::Set
    } else {
        CacheMark::Absent
    };
    let text = |field: &str| {
        part.text_of(field)
            .ok_or_else(|| Refusal::missing(format!("{place}.{field}")))
    };
    match part.text_of("type") {
        Some("text") => Ok(Part::Text(text("text")?, mark)),
        Some("refusal") => Ok(Part::Text(text("refusal")?, mark)),
        Some("image_url") => {
            if part
                .get("image_url")
                .and_then(|image| image.text_of("detail"))
                .is_some_and(|detail| detail != "auto")
            {
                draft.adjust("messages");
            }
            read_image(part, place).map(|image| Part::Image(image, mark))
        }
        Some("input_audio") => read_audio(part, place).map(Part::Audio),
        Some("file") => read_file(part, place).map(Part::File),
        Some(_) => Err(Refusal::value(
            format!("{place}.type"),
            "this kind of part cannot be sent to this provider",
        )),
        None => Err(Refusal::missing(format!("{place}.type"))),
    }
}

fn read_calls(message: &mut Message<'_>) -> Result<(), Refusal> {
    let Some(calls) = message.source.given("tool_calls") else {
        return Ok(());
    };
    for (number, call) in calls.items().iter().enumerate() {
        let place = |field: &str| message.place(&format!("tool_calls[{number}].{field}"));
        if call.text_of("type").is_some_and(|kind| kind != "function") {
            return Err(Refusal::value(
                place("type"),
                "only calls of functions can be sent to this provider",
            ));
        }
        let id = call
            .text_of("id")
            .filter(|id| !id.is_empty())
            .ok_or_else(|| Refusal::missing(place("id")))?;
        let function = call
            .given("function")
            .ok_or_else(|| Refusal::missing(place("function")))?;
        let name = function
            .text_of("name")
            .filter(|name| !name.is_empty())
            .ok_or_else(|| Refusal::missing(place("function.name")))?;
        let written = function
            .text_of("arguments")
            .ok_or_else(|| Refusal::missing(place("function.arguments")))?;
        // A tool without input is often written as an empty string.
        let written = if written.trim().is_empty() {
            "{}"
        } else {
            written
        };
        let arguments = Json::read_embedded(written).ok().filter(Json::is_object);
        let arguments = arguments.ok_or_else(|| {
            Refusal::value(
                place("function.arguments"),
                "this must be a JSON object in a string",
            )
        })?;
        message.calls.push(ToolCall {
            id,
            name,
            arguments,
            source: call,
        });
    }
    Ok(())
}
