//! The walk over chat completions, whole and in chunks.

use std::borrow::Cow;

use crate::json::Json;
use crate::reply::{FieldId, Fields, KnownEvent, Part, Stop, Walk, member};
use crate::wire::sse::SseEvent;

use super::message::take_message;

/// Members of a completion or a chunk that hold no text.
const OF_COMPLETION: &[&str] = &[
    // Alphabetical.
    "choices",
    "created",
    "object",
    "obfuscation",
    "service_tier",
    "system_fingerprint",
    "usage",
];

/// Whether a member of a completion or a chunk holds no text.
fn is_known(name: &str) -> bool {
    OF_COMPLETION.contains(&name) || matches!(name, "id" | "model")
}

/// Members of a choice that hold no text.
const OF_CHOICE: &[&str] = &[
    // Alphabetical.
    "delta",
    "finish_reason",
    "index",
    "logprobs",
    "message",
    "text",
];

/// Walks over one reply.
#[derive(Default)]
pub(in crate::doors) struct ChatWalk {
    /// Whether choices hold a text itself and no message, as completions did before chat.
    is_plain: bool,
    /// Members that every chunk of this stream repeats, for chunks that the gateway adds.
    template: Vec<(Cow<'static, str>, Json<'static>)>,
    /// The last chunk that added to one text and said nothing else. Nearly all chunks are like the one before.
    known: Option<KnownEvent>,
}

impl Walk for ChatWalk {
    fn reply(&mut self, fields: &mut Fields, reply: &mut Json<'_>) -> Result<(), Stop> {
        let Json::Object(members) = reply else {
            return Err(Stop::Unreadable);
        };
        for (name, choices) in members.iter_mut() {
            let Json::List(choices) = choices else {
                continue;
            };
            for choice in choices.iter_mut().filter(|_| name == "choices") {
                take_whole_choice(fields, choice)?;
            }
        }
        fields.take_unknown(0, reply, OF_COMPLETION)
    }

    fn event(
        &mut self,
        fields: &mut Fields,
        event: &SseEvent,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        let data = event.data.as_deref().unwrap_or_default();
        if data == b"[DONE]" {
            self.break_off(fields, out)?;
            out.extend_from_slice(&event.raw);
            return Ok(());
        }
        let write_texts = |texts, out: &mut Vec<u8>| self.write_texts(texts, out);
        let known = self.known.as_ref();
        if let Some(taken) = known.and_then(|known| known.take(fields, event, &write_texts, out)) {
            return taken;
        }
        let chunk = Json::read(data).map_err(|_| Stop::Unreadable)?;
        self.known = only_text(&chunk)
            .and_then(|(id, text)| KnownEvent::new(data, id, text, chunk.text_of("obfuscation")));
        self.take_chunk(fields, chunk, &event.raw, out)
    }

    fn break_off(&mut self, fields: &mut Fields, out: &mut Vec<u8>) -> Result<(), Stop> {
        let mut rest = Vec::new();
        let result = fields.finish(None, &mut rest);
        self.write_texts(rest, out);
        result
    }
}

impl ChatWalk {
    /// Walks over choices that hold a text and no message.
    pub(in crate::doors) fn of_plain_texts() -> Self {
        Self {
            is_plain: true,
            ..Self::default()
        }
    }

    fn take_chunk(
        &mut self,
        fields: &mut Fields,
        mut chunk: Json<'_>,
        raw: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        self.learn(&chunk);
        fields.is_changed = false;
        let result = take_choices(fields, &mut chunk);
        let before = std::mem::take(&mut fields.before);
        self.write_texts(before, out);
        result?;
        let mut rest = Vec::new();
        let result = finish_choices(fields, &chunk, &mut rest);
        if rest.is_empty() && result.is_ok() {
            if !fields.is_changed {
                out.extend_from_slice(raw);
            } else if !says_nothing(&chunk) {
                write_chunk(&chunk, out);
            }
            return Ok(());
        }
        // The last words go out before the word that the choice is finished.
        let mut ahead = chunk.clone();
        without_end(&mut ahead);
        if !says_nothing(&ahead) {
            write_chunk(&ahead, out);
        }
        self.write_texts(rest, out);
        result?;
        without_texts(&mut chunk);
        write_chunk(&chunk, out);
        Ok(())
    }

    /// Remembers what the chunks of this stream have in common.
    fn learn(&mut self, chunk: &Json<'_>) {
        let has_choices = chunk
            .get("choices")
            .is_some_and(|list| !list.items().is_empty());
        if !self.template.is_empty() || !has_choices {
            return;
        }
        for (name, value) in chunk.members() {
            let value = match value {
                _ if matches!(name.as_ref(), "usage" | "obfuscation") || !is_known(name) => {
                    continue;
                }
                Json::Text(text) => Json::Text(Cow::Owned(text.clone().into_owned())),
                Json::Number(digits) => Json::Number(Cow::Owned(digits.clone().into_owned())),
                Json::Null => Json::Null,
                Json::Bool(_) | Json::List(_) | Json::Object(_) => continue,
            };
            self.template
                .push((Cow::Owned(name.clone().into_owned()), value));
        }
    }

    /// Writes each text as a separate chunk.
    fn write_texts(&self, texts: Vec<(FieldId, String)>, out: &mut Vec<u8>) {
        for (id, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            let said = match self.is_plain {
                true => ("text", Json::text(text)),
                false => ("delta", delta(id, text)),
            };
            let choice = Json::object([
                ("index", id.choice.into()),
                said,
                ("logprobs", Json::Null),
                ("finish_reason", Json::Null),
            ]);
            let mut members = self.template.clone();
            members.push(("choices".into(), Json::List(vec![choice])));
            write_chunk(&Json::Object(members), out);
        }
    }
}

/// The content of a chunk that says nothing else, and whose it is.
fn only_text<'j>(chunk: &'j Json<'_>) -> Option<(FieldId, &'j str)> {
    let mut choices = None;
    for (name, value) in chunk.members() {
        match name.as_ref() {
            "choices" if choices.is_none() => choices = Some(value.items()),
            "choices" => return None,
            "usage" if *value != Json::Null => return None,
            name if !is_known(name) => return None,
            _ => {}
        }
    }
    let [choice] = choices? else {
        return None;
    };
    let mut said = None;
    for (name, value) in choice.members() {
        match (name.as_ref(), value) {
            (_, Json::Null) | ("index", Json::Number(_)) => {}
            ("text", Json::Text(text)) if said.is_none() => said = Some(text.as_ref()),
            ("delta", Json::Object(members)) if said.is_none() => {
                said = Some(only_content(members)?);
            }
            _ => return None,
        }
    }
    let id = FieldId::new(choice.count_of("index"), Part::Content);
    Some((id, said.filter(|text| !text.is_empty())?))
}

fn only_content<'j>(members: &'j [(Cow<'_, str>, Json<'_>)]) -> Option<&'j str> {
    let mut members = members.iter().filter(|(_, value)| *value != Json::Null);
    match (members.next(), members.next()) {
        (Some((name, Json::Text(text))), None) if name == "content" => Some(text),
        _ => None,
    }
}

fn take_whole_choice(fields: &mut Fields, choice: &mut Json<'_>) -> Result<(), Stop> {
    let index = choice.count_of("index");
    let found = fields.tally.findings();
    let Json::Object(members) = choice else {
        return Ok(());
    };
    for (name, value) in members.iter_mut() {
        match name.as_ref() {
            "message" => take_message(fields, index, value)?,
            "text" => fields.take_text(FieldId::new(index, Part::Content), value)?,
            _ => {}
        }
    }
    fields.take_unknown(index, choice, OF_CHOICE)?;
    // Log probabilities spell the text that was found.
    if fields.withholds()
        && fields.tally.findings() > found
        && let Some(logprobs) = member(choice, "logprobs")
    {
        fields.withhold(logprobs);
    }
    Ok(())
}

fn take_choices(fields: &mut Fields, chunk: &mut Json<'_>) -> Result<(), Stop> {
    let Json::Object(members) = chunk else {
        return Err(Stop::Unreadable);
    };
    for (_, choices) in members.iter_mut().filter(|(name, _)| name == "choices") {
        let Json::List(choices) = choices else {
            continue;
        };
        for choice in choices.iter_mut() {
            take_choice(fields, choice)?;
        }
    }
    fields.take_unknown(0, chunk, OF_COMPLETION)
}

fn take_choice(fields: &mut Fields, choice: &mut Json<'_>) -> Result<(), Stop> {
    let index = choice.count_of("index");
    let Json::Object(members) = choice else {
        return Ok(());
    };
    for (name, value) in members.iter_mut() {
        match name.as_ref() {
            "delta" | "message" => take_message(fields, index, value)?,
            "text" => fields.take_text(FieldId::new(index, Part::Content), value)?,
            // They spell text that is not judged yet.
            "logprobs" if fields.withholds() => fields.withhold(value),
            _ => {}
        }
    }
    fields.take_unknown(index, choice, OF_CHOICE)
}

/// Ends the texts of choices that say they are finished.
fn finish_choices(
    fields: &mut Fields,
    chunk: &Json<'_>,
    rest: &mut Vec<(FieldId, String)>,
) -> Result<(), Stop> {
    let choices = chunk.members().iter().filter(|(name, _)| name == "choices");
    for choice in choices.flat_map(|(_, choices)| choices.items()) {
        if choice.given("finish_reason").is_some() {
            fields.finish(Some(choice.count_of("index")), rest)?;
        }
    }
    Ok(())
}

/// A delta that adds to one text.
fn delta(id: FieldId, text: String) -> Json<'static> {
    let text = Json::text(text);
    let name = id.part.name();
    match id.part {
        Part::Transcript => Json::object([("audio", Json::object([(name, text)]))]),
        Part::Function => Json::object([("function_call", Json::object([(name, text)]))]),
        Part::Arguments | Part::Input => {
            let holder = match id.part {
                Part::Input => "custom",
                _ => "function",
            };
            let call = Json::object([
                ("index", id.number.into()),
                (holder, Json::object([(name, text)])),
            ]);
            Json::object([("tool_calls", Json::List(vec![call]))])
        }
        _ => Json::object([(name, text)]),
    }
}

fn write_chunk(chunk: &Json<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"data: ");
    chunk.write(out);
    out.extend_from_slice(b"\n\n");
}

/// Sets members of every choice, and of the chunk itself, to what says nothing.
fn silence(chunk: &mut Json<'_>, of_choice: &[&str], of_chunk: &[&str]) {
    let Json::Object(members) = chunk else {
        return;
    };
    for (name, value) in members.iter_mut() {
        if of_chunk.contains(&name.as_ref()) {
            *value = Json::Null;
        }
        let Json::List(choices) = value else {
            continue;
        };
        for choice in choices.iter_mut().filter(|_| name == "choices") {
            for silenced in of_choice {
                if let Some(value) = member(choice, silenced) {
                    *value = match *silenced {
                        "delta" => Json::object([]),
                        "text" => Json::text(""),
                        _ => Json::Null,
                    };
                }
            }
        }
    }
}

/// The chunk without the word that something is finished.
fn without_end(chunk: &mut Json<'_>) {
    silence(chunk, &["finish_reason"], &["usage"]);
}

/// The chunk without its texts.
fn without_texts(chunk: &mut Json<'_>) {
    silence(chunk, &["delta", "text", "logprobs"], &[]);
}

/// Whether a chunk is empty for the caller, because all of its text is held back.
fn says_nothing(chunk: &Json<'_>) -> bool {
    chunk
        .members()
        .iter()
        .all(|(name, value)| match name.as_ref() {
            "choices" => is_blank(value),
            "usage" => matches!(value, Json::Null),
            name => is_known(name) || is_blank(value),
        })
}

fn is_blank(value: &Json<'_>) -> bool {
    match value {
        Json::Null => true,
        Json::Text(text) => text.is_empty(),
        Json::Bool(_) | Json::Number(_) => false,
        Json::List(items) => items.iter().all(is_blank),
        Json::Object(members) => members
            .iter()
            .all(|(name, value)| matches!(name.as_ref(), "index" | "type") || is_blank(value)),
    }
}
