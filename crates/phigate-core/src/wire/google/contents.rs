//! A conversation in Google's form.

use super::super::request::Refusal;
use super::super::translate::draft::Draft;
use super::super::translate::media::{Image, Inline};
use super::super::translate::messages::{CacheMark, Message, Part, Role};
use super::models::{Thinking, Traits};
use crate::json::Json;
use std::borrow::Cow;

/// The field in which signatures of thoughts travel through the caller and back, with the name that Google's
/// OpenAI-compatible API gives it.
pub(super) const CARRIER: &str = "extra_content";

/// A replacement for a signature that the caller lost: `skip_thought_signature_validator` in base64. The provider
/// accepts it.
const NO_SIGNATURE: &str = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=";

/// Translates the messages.
pub(super) fn write<'b>(
    draft: &Draft<'_>,
    traits: &Traits,
    messages: &'b [Message<'b>],
) -> Result<Vec<Json<'b>>, Refusal> {
    let mut system = system_text(messages)?;
    let mut contents = Vec::with_capacity(messages.len());
    let mut position = 0;
    while let Some(message) = messages.get(position) {
        position += 1;
        match message.role {
            Role::System => {}
            Role::User => {
                contents.push(content("user", user_parts(draft, message, system.take())?));
            }
            Role::Assistant => {
                let parts = assistant_parts(draft, traits, message)?;
                if !parts.is_empty() {
                    contents.push(content("model", parts));
                }
            }
            Role::Tool => {
                let results = messages[position - 1..]
                    .iter()
                    .take_while(|next| next.role == Role::Tool)
                    .count();
                contents.push(content(
                    "user",
                    result_parts(messages, position - 1, results)?,
                ));
                position += results - 1;
            }
        }
    }
    if let Some(system) = system {
        contents.insert(0, content("user", vec![text_part(system)]));
    }
    if contents.is_empty() {
        Err(Refusal::value("messages", "there is no content to send"))
    } else {
        Ok(contents)
    }
}

fn content<'b>(role: &'static str, parts: Vec<Json<'b>>) -> Json<'b> {
    Json::object([("role", Json::text(role)), ("parts", Json::List(parts))])
}

fn text_part<'b>(text: impl Into<Cow<'b, str>>) -> Json<'b> {
    Json::object([("text", Json::text(text))])
}

/// All system content, joined by two line feeds.
fn system_text(messages: &[Message<'_>]) -> Result<Option<String>, Refusal> {
    let mut texts = Vec::new();
    for message in messages
        .iter()
        .filter(|message| message.role == Role::System)
    {
        if message.parts.iter().any(|part| part.text().is_none()) {
            return Err(Refusal::value(
                message.place("content"),
                "system content must be text",
            ));
        }
        let text = message.joined_text();
        if !text.is_empty() {
            texts.push(text);
        }
    }
    Ok((!texts.is_empty()).then(|| texts.join("\n\n")))
}

/// The parts of a user message, with system content before the first text.
fn user_parts<'b>(
    draft: &Draft<'_>,
    message: &Message<'b>,
    system: Option<String>,
) -> Result<Vec<Json<'b>>, Refusal> {
    let mut parts = content_parts(draft, message)?;
    if parts.is_empty() {
        return Err(Refusal::value(
            message.place("content"),
            "this provider does not accept an empty message",
        ));
    }
    let Some(system) = system else {
        return Ok(parts);
    };
    match parts.iter().position(|part| part.text_of("text").is_some()) {
        Some(first) => {
            let joined = format!(
                "{system}\n\n{}",
                parts[first].text_of("text").unwrap_or_default()
            );
            parts[first] = text_part(joined);
        }
        None => parts.insert(0, text_part(system)),
    }
    Ok(parts)
}

fn assistant_parts<'b>(
    draft: &Draft<'_>,
    traits: &Traits,
    message: &Message<'b>,
) -> Result<Vec<Json<'b>>, Refusal> {
    let mut parts = content_parts(draft, message)?;
    if let (Some(signature), Some(last)) = (signature_of(message.source), parts.last_mut()) {
        last.insert("thoughtSignature", Json::text(signature));
    }
    for (number, call) in message.calls.iter().enumerate() {
        let function = Json::object([
            ("id", Json::text(call.id)),
            ("name", Json::text(call.name)),
            ("args", call.arguments.clone()),
        ]);
        let mut part = Json::object([("functionCall", function)]);
        // The newest models refuse a turn if its first call has no signature.
        let must_be_signed = number == 0 && matches!(traits.thinking, Thinking::Level { .. });
        if let Some(signature) =
            signature_of(call.source).or(must_be_signed.then_some(NO_SIGNATURE))
        {
            part.insert("thoughtSignature", Json::text(signature));
        }
        parts.push(part);
    }
    if parts.is_empty() {
        draft.adjust("messages");
    }
    Ok(parts)
}

fn signature_of<'b>(source: &'b Json<'_>) -> Option<&'b str> {
    source
        .get(CARRIER)?
        .get("google")?
        .text_of("thought_signature")
        .filter(|signature| !signature.is_empty())
}

/// The results of one turn's calls, in the order of the calls: the provider matches them by name and order.
fn result_parts<'b>(
    messages: &'b [Message<'b>],
    from: usize,
    count: usize,
) -> Result<Vec<Json<'b>>, Refusal> {
    let mut results = Vec::with_capacity(count);
    for message in &messages[from..from + count] {
        let calls = messages[..from]
            .iter()
            .rev()
            .flat_map(|earlier| earlier.calls.iter().enumerate());
        let found = calls
            .into_iter()
            .find(|(_, call)| call.id == message.answers);
        let (order, call) = found.ok_or_else(|| {
            Refusal::value(
                message.place("tool_call_id"),
                "no earlier message has a call with this id",
            )
        })?;
        if message.parts.iter().any(|part| part.text().is_none()) {
            return Err(Refusal::value(
                message.place("content"),
                "the result of a tool must be text for this provider",
            ));
        }
        let function = Json::object([
            ("id", Json::text(call.id)),
            ("name", Json::text(call.name)),
            ("response", result_object(message)),
        ]);
        results.push((order, Json::object([("functionResponse", function)])));
    }
    results.sort_by_key(|(order, _)| *order);
    Ok(results.into_iter().map(|(_, part)| part).collect())
}

/// The result as an object, which the provider requires. A result that is an object is kept; other text is wrapped.
fn result_object<'b>(message: &Message<'b>) -> Json<'b> {
    if let [Part::Text(text, _)] = message.parts.as_slice() {
        match Json::read_embedded(text) {
            Ok(object) if object.is_object() => return object,
            _ => return Json::object([("result", Json::text(*text))]),
        }
    }
    Json::object([("result", Json::text(message.joined_text()))])
}

/// The parts of a message. Adjacent texts become one part, as the specification requires.
fn content_parts<'b>(draft: &Draft<'_>, message: &Message<'b>) -> Result<Vec<Json<'b>>, Refusal> {
    let mut parts: Vec<Json<'b>> = Vec::with_capacity(message.parts.len());
    for (number, part) in message.parts.iter().enumerate() {
        if matches!(
            part,
            Part::Text(_, CacheMark::Set) | Part::Image(_, CacheMark::Set)
        ) {
            draft.adjust("messages");
        }
        match part {
            Part::Text("", _) => draft.adjust("messages"),
            Part::Text(text, _) => match parts.last_mut() {
                Some(Json::Object(members)) if members[0].0 == "text" => {
                    if let Json::Text(earlier) = &mut members[0].1 {
                        earlier.to_mut().push_str(&format!("\n{text}"));
                    }
                }
                _ => parts.push(text_part(*text)),
            },
            Part::Image(Image::Inline(image), _) => parts.push(inline_part(image)),
            Part::Image(Image::Address(_), _) => {
                let place = message.place(&format!("content[{number}].image_url.url"));
                return Err(Refusal::value(
                    place,
                    "pictures are not fetched from the web: send the picture itself, as a data: address",
                ));
            }
            Part::Audio(media) | Part::File(media) => parts.push(inline_part(media)),
        }
    }
    Ok(parts)
}

fn inline_part<'b>(media: &Inline<'b>) -> Json<'b> {
    let data = Json::object([
        ("mimeType", Json::text(media.media_type)),
        ("data", Json::text(media.base64.clone())),
    ]);
    Json::object([("inlineData", data)])
}
