//! A streamed reply, between a family's translator and the caller: bytes in, bytes out.
//!
//! What is not changed goes on byte for byte. What is held back of a text goes out before the choice ends.

use std::borrow::Cow;
use std::sync::Arc;

use super::field::{Fields, member};
use super::field_id::{FieldId, Part};
use super::heard::part_name;
use super::{ReplyRules, Stop, Tally};
use crate::json::Json;
use crate::text::PhiText;
use crate::wire::sse::{SseEvent, SseReader};

/// Deals with a stream of chat completion chunks. The same output comes from any cut of the input.
pub struct ReplyStream {
    reader: SseReader,
    fields: Fields,
    /// What every chunk of this stream says, for chunks of our own.
    template: Vec<(Cow<'static, str>, Json<'static>)>,
}

impl ReplyStream {
    /// A stage for the reply to one request. Events come from a translator, so their size was checked before; they
    /// may be a little larger after translation.
    pub fn new(rules: Arc<ReplyRules>, event_bytes_max: usize) -> Self {
        Self {
            reader: SseReader::new(event_bytes_max.saturating_mul(4)),
            fields: Fields::new(rules, true),
            template: Vec::new(),
        }
    }

    /// Takes bytes as they come and appends what the caller may see now. After an error nothing more may be pushed;
    /// what `out` holds by then may still be sent.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Stop> {
        let mut input = bytes;
        while let Some(event) = self
            .reader
            .next_event(&mut input)
            .map_err(|_| Stop::Unreadable)?
        {
            self.take_event(&event, out)?;
        }
        Ok(())
    }

    /// The stream broke off: what was held is judged and given out.
    pub fn break_off(&mut self, out: &mut Vec<u8>) -> Result<(), Stop> {
        let mut rest = Vec::new();
        let result = self.fields.finish(None, &mut rest);
        self.write_texts(rest, out);
        result
    }

    /// What was found and done so far.
    pub fn tally(&self) -> &Tally {
        &self.fields.tally
    }

    /// What the provider said, if it held new PHI.
    pub fn heard(&self) -> Option<PhiText> {
        self.fields.heard()
    }

    fn take_event(&mut self, event: &SseEvent, out: &mut Vec<u8>) -> Result<(), Stop> {
        match event.data.as_deref() {
            None => out.extend_from_slice(&event.raw),
            Some(b"[DONE]") => {
                self.break_off(out)?;
                out.extend_from_slice(&event.raw);
            }
            Some(data) => {
                let chunk = Json::read(data).map_err(|_| Stop::Unreadable)?;
                self.take_chunk(chunk, &event.raw, out)?;
            }
        }
        Ok(())
    }

    fn take_chunk(
        &mut self,
        mut chunk: Json<'_>,
        raw: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        self.learn(&chunk);
        self.fields.is_changed = false;
        let result = self.take_choices(&mut chunk);
        let before = std::mem::take(&mut self.fields.before);
        self.write_texts(before, out);
        result?;
        let mut rest = Vec::new();
        let result = self.finish_choices(&chunk, &mut rest);
        if rest.is_empty() && result.is_ok() {
            if !self.fields.is_changed {
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

    fn take_choices(&mut self, chunk: &mut Json<'_>) -> Result<(), Stop> {
        let Json::Object(members) = chunk else {
            return Err(Stop::Unreadable);
        };
        for (_, choices) in members.iter_mut().filter(|(name, _)| name == "choices") {
            let Json::List(choices) = choices else {
                continue;
            };
            for choice in choices.iter_mut() {
                self.take_choice(choice)?;
            }
        }
        Ok(())
    }

    fn take_choice(&mut self, choice: &mut Json<'_>) -> Result<(), Stop> {
        let index = choice.count_of("index");
        let Json::Object(members) = choice else {
            return Ok(());
        };
        for (name, value) in members.iter_mut() {
            match name.as_ref() {
                "delta" | "message" => self.fields.take_message(index, value)?,
                // They spell text that is not judged yet.
                "logprobs" if self.fields.withholds() => self.fields.withhold(value),
                _ => {}
            }
        }
        Ok(())
    }

    /// Ends the texts of choices that say they are finished.
    fn finish_choices(
        &mut self,
        chunk: &Json<'_>,
        rest: &mut Vec<(FieldId, String)>,
    ) -> Result<(), Stop> {
        let choices = chunk.members().iter().filter(|(name, _)| name == "choices");
        for choice in choices.flat_map(|(_, choices)| choices.items()) {
            if choice.given("finish_reason").is_some() {
                self.fields.finish(Some(choice.count_of("index")), rest)?;
            }
        }
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
                _ if matches!(name.as_ref(), "usage" | "obfuscation") => continue,
                Json::Text(text) => Json::Text(Cow::Owned(text.clone().into_owned())),
                Json::Number(digits) => Json::Number(Cow::Owned(digits.clone().into_owned())),
                Json::Null => Json::Null,
                Json::Bool(_) | Json::List(_) | Json::Object(_) => continue,
            };
            self.template
                .push((Cow::Owned(name.clone().into_owned()), value));
        }
    }

    /// Writes texts as chunks of their own.
    fn write_texts(&self, texts: Vec<(FieldId, String)>, out: &mut Vec<u8>) {
        for (id, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            let choice = Json::object([
                ("index", id.choice.into()),
                ("delta", delta(id.part, text)),
                ("logprobs", Json::Null),
                ("finish_reason", Json::Null),
            ]);
            let mut members = self.template.clone();
            members.push(("choices".into(), Json::List(vec![choice])));
            write_chunk(&Json::Object(members), out);
        }
    }
}

/// A delta that adds to one text.
fn delta(part: Part, text: String) -> Json<'static> {
    let text = Json::text(text);
    let name = part_name(part);
    match part {
        Part::Reasoning(_) | Part::Content | Part::Refusal => Json::object([(name, text)]),
        Part::Transcript => Json::object([("audio", Json::object([(name, text)]))]),
        Part::Function => Json::object([("function_call", Json::object([(name, text)]))]),
        Part::Arguments(number) | Part::Input(number) => {
            let holder = match part {
                Part::Input(_) => "custom",
                _ => "function",
            };
            let call = Json::object([
                ("index", number.into()),
                (holder, Json::object([(name, text)])),
            ]);
            Json::object([("tool_calls", Json::List(vec![call]))])
        }
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
    silence(chunk, &["delta", "logprobs"], &[]);
}

/// Whether a chunk tells the caller nothing, because all of its text is held back.
fn says_nothing(chunk: &Json<'_>) -> bool {
    chunk
        .members()
        .iter()
        .all(|(name, value)| match name.as_ref() {
            "choices" => is_blank(value),
            "usage" => matches!(value, Json::Null),
            _ => true,
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
