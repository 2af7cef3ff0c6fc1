//! Translation of Google's stream into chunks.
//!
//! Each event is a partial answer. The stream has no end marker, so finish reasons are held back until the body ends in
//! an orderly way: a cut stream must not look finished.

use super::super::failure::unreadable;
use super::super::sse::{SseEvent, SseReader};
use super::super::translate::completion::ChunkWriter;
use super::super::{
    FailureKind, ProviderFailure, ReplyContext, ReplySummary, StreamTranslator, Usage,
};
use super::contents::CARRIER;
use super::partial::PartialArguments;
use super::reply::{
    call_id, finish_reason, is_blocked, is_thought, logprobs, parts_of, read_usage, reason_name,
    served_model, signature_json, signed_call,
};
use super::{error_object, failure_of};
use crate::json::Json;

/// The state of a stream.
pub(super) struct Stream {
    context: ReplyContext,
    reader: SseReader,
    /// Set once the first event was read.
    writer: Option<ChunkWriter>,
    choices: Vec<ChoiceState>,
    minted: u64,
    is_blocked: bool,
    is_done: bool,
    usage: Usage,
    summary: ReplySummary,
}

/// The state of one choice.
#[derive(Default)]
struct ChoiceState {
    index: u64,
    calls: u64,
    /// A call that is still receiving arguments.
    open_call: Option<PartialArguments>,
    finish: Option<&'static str>,
}

impl Stream {
    pub(super) fn new(context: &ReplyContext) -> Self {
        Self {
            context: context.clone(),
            reader: SseReader::new(context.event_bytes_max),
            writer: None,
            choices: Vec::new(),
            minted: 0,
            is_blocked: false,
            is_done: false,
            usage: Usage::default(),
            summary: ReplySummary::default(),
        }
    }

    fn read(&mut self, event: &SseEvent, out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        let Some(data) = event.data.as_deref() else {
            return Ok(());
        };
        let response = Json::read(data).map_err(|_| unreadable())?;
        if let Some(error) = error_object(&response) {
            return Err(failure_of(error));
        }
        if self.writer.is_none() {
            self.summary.served_model = served_model(&response);
            self.writer = Some(ChunkWriter::new(
                &self.context,
                self.summary
                    .served_model
                    .as_deref()
                    .unwrap_or(&self.context.model),
            ));
        }
        if let Some(metadata) = response.given("usageMetadata") {
            self.usage = read_usage(metadata);
            self.summary.usage = Some(self.usage);
        }
        self.is_blocked |= is_blocked(&response);
        for candidate in response
            .get("candidates")
            .map(Json::items)
            .unwrap_or_default()
        {
            self.read_candidate(candidate, out)?;
        }
        Ok(())
    }

    fn read_candidate(
        &mut self,
        candidate: &Json<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), ProviderFailure> {
        let writer = self.writer.as_ref().ok_or_else(unreadable)?;
        let index = candidate.count_of("index");
        let position = self
            .choices
            .iter()
            .position(|choice| choice.index == index)
            .unwrap_or_else(|| {
                writer.role(index, out);
                self.choices.push(ChoiceState {
                    index,
                    ..ChoiceState::default()
                });
                self.choices.len() - 1
            });
        let choice = &mut self.choices[position];
        let mut probabilities = logprobs(candidate);
        for part in parts_of(candidate) {
            if part.given("functionCall").is_some() {
                choice.read_call(&self.context, writer, part, &mut self.minted, out)?;
                continue;
            }
            let text = part.text_of("text").unwrap_or_default();
            if is_thought(part) {
                if !text.is_empty() {
                    writer.field(index, "reasoning_content", Json::text(text), out);
                }
                continue;
            }
            if !text.is_empty() {
                match probabilities.take() {
                    Some(probabilities) => {
                        writer.text_with_logprobs(index, text, probabilities, out);
                    }
                    None => writer.field(index, "content", Json::text(text), out),
                }
            }
            if let Some(signature) = part.text_of("thoughtSignature") {
                writer.field(index, CARRIER, signature_json(signature), out);
            }
        }
        if let Some(reason) = reason_name(candidate.get("finishReason")) {
            choice.close_call(writer, out);
            choice.finish = Some(finish_reason(
                Some(reason),
                choice.calls > 0,
                &mut self.summary,
            )?);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        let cut = || ProviderFailure::new(FailureKind::CutStream);
        let writer = self.writer.as_ref().ok_or_else(cut)?;
        if self.choices.is_empty() && self.is_blocked {
            writer.role(0, out);
            self.choices.push(ChoiceState {
                finish: Some("content_filter"),
                ..ChoiceState::default()
            });
        }
        if self.choices.is_empty() || self.choices.iter().any(|choice| choice.finish.is_none()) {
            return Err(cut());
        }
        for choice in &self.choices {
            // A call may come after the reason.
            let reason = match choice.finish {
                Some("stop") if choice.calls > 0 => "tool_calls",
                reason => reason.unwrap_or("stop"),
            };
            writer.finish(choice.index, reason, out);
            if self.summary.finish_reason.is_none() {
                self.summary.finish_reason = Some(reason.to_owned());
            }
        }
        writer.done(&self.usage, out);
        self.is_done = true;
        Ok(())
    }
}

impl ChoiceState {
    fn read_call(
        &mut self,
        context: &ReplyContext,
        writer: &ChunkWriter,
        part: &Json<'_>,
        minted: &mut u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ProviderFailure> {
        let function = part.get("functionCall").ok_or_else(unreadable)?;
        let continues = function
            .get("willContinue")
            .and_then(Json::as_bool)
            .unwrap_or(false);
        if let Some(name) = function.text_of("name") {
            self.close_call(writer, out);
            let arguments = match function.given("args") {
                _ if continues => String::new(),
                Some(args) => args.to_json_text(),
                None => "{}".to_owned(),
            };
            let call = signed_call(
                call_id(context, function, minted),
                name,
                arguments,
                part.text_of("thoughtSignature"),
            );
            writer.call(self.index, self.calls, call, out);
            self.calls += 1;
            if continues {
                self.open_call = Some(PartialArguments::new(function.get("args")));
            }
        }
        let pieces = function
            .get("partialArgs")
            .map(Json::items)
            .unwrap_or_default();
        for piece in pieces {
            self.open_call
                .as_mut()
                .and_then(|call| call.add(piece))
                .ok_or_else(unreadable)?;
        }
        if !continues {
            self.close_call(writer, out);
        }
        Ok(())
    }

    fn close_call(&mut self, writer: &ChunkWriter, out: &mut Vec<u8>) {
        if let Some(call) = self.open_call.take() {
            writer.arguments(
                self.index,
                self.calls.saturating_sub(1),
                &call.finish(),
                out,
            );
        }
    }
}

impl StreamTranslator for Stream {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        let mut input = bytes;
        while let Some(event) = self
            .reader
            .next_event(&mut input)
            .map_err(|_| unreadable())?
        {
            self.read(&event, out)?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        if let Some(event) = self.reader.finish() {
            // An unreadable rest is the start of an event that was cut off.
            self.read(&event, out)
                .map_err(|failure| match failure.kind {
                    FailureKind::Error => ProviderFailure::new(FailureKind::CutStream),
                    _ => failure,
                })?;
        }
        self.end(out)
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn summary(&self) -> &ReplySummary {
        &self.summary
    }
}
