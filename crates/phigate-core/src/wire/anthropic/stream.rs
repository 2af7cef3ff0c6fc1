//! Translation of Anthropic's stream into chunks.

use super::super::failure::unreadable;
use super::super::sse::{SseEvent, SseReader};
use super::super::translate::completion::{ChunkWriter, tool_call};
use super::super::{FailureKind, ProviderFailure, ReplyContext, ReplySummary, StreamTranslator};
use super::conversation::CARRIER;
use super::failure_of;
use super::reply::{Counts, explanation, finish_reason, hidden_thought, thought};
use crate::json::Json;

/// The state of a stream.
pub(super) struct Stream {
    context: ReplyContext,
    reader: SseReader,
    /// Set once the message has started.
    writer: Option<ChunkWriter>,
    /// Blocks that have started and not stopped, by the provider's index.
    open: Vec<(u64, Block)>,
    calls: u64,
    has_answer: bool,
    /// The finish reason, held back until the stream is complete: a cut stream must not look finished.
    finish: Option<&'static str>,
    is_done: bool,
    counts: Counts,
    summary: ReplySummary,
}

/// A block in progress.
enum Block {
    Text,
    Thinking {
        text: String,
        signature: String,
    },
    /// A tool call: its number among the calls, or `None` if it is the answer tool; and whether any input has come yet.
    Tool {
        number: Option<u64>,
        has_input: bool,
        start_input: String,
    },
    Hidden,
}

impl Stream {
    pub(super) fn new(context: &ReplyContext) -> Self {
        Self {
            context: context.clone(),
            reader: SseReader::new(context.event_bytes_max),
            writer: None,
            open: Vec::new(),
            calls: 0,
            has_answer: false,
            finish: None,
            is_done: false,
            counts: Counts::default(),
            summary: ReplySummary::default(),
        }
    }

    fn read(&mut self, event: &SseEvent, out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        let Some(data) = event.data.as_deref() else {
            return Ok(());
        };
        let event = Json::read(data).map_err(|_| unreadable())?;
        match event.text_of("type").unwrap_or_default() {
            "message_start" => self.start_message(&event, out),
            "content_block_start" => self.start_block(&event, out)?,
            "content_block_delta" => self.continue_block(&event, out)?,
            "content_block_stop" => self.stop_block(&event, out)?,
            "message_delta" => self.finish_message(&event, out)?,
            "message_stop" => self.stop_message(out)?,
            "error" => return Err(event.given("error").map_or_else(unreadable, failure_of)),
            // Pings, and event types added later.
            _ if event.given("error").is_some() => {
                return Err(event.given("error").map_or_else(unreadable, failure_of));
            }
            _ => {}
        }
        Ok(())
    }

    fn start_message(&mut self, event: &Json<'_>, out: &mut Vec<u8>) {
        if self.writer.is_some() {
            return;
        }
        let message = event.get("message");
        self.counts
            .read(message.and_then(|message| message.get("usage")));
        self.summary.served_model = message
            .and_then(|message| message.text_of("model"))
            .map(str::to_owned);
        let writer = ChunkWriter::new(
            &self.context,
            self.summary
                .served_model
                .as_deref()
                .unwrap_or(&self.context.model),
        );
        writer.role(0, out);
        self.writer = Some(writer);
    }

    fn start_block(&mut self, event: &Json<'_>, out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        let writer = self.writer.as_ref().ok_or_else(unreadable)?;
        let block = event.get("content_block").ok_or_else(unreadable)?;
        let text = |field: &str| block.text_of(field).unwrap_or_default();
        let open = match text("type") {
            "text" => {
                writer.say("content", text("text"), out);
                Block::Text
            }
            "thinking" => {
                writer.say("reasoning_content", text("thinking"), out);
                Block::Thinking {
                    text: text("thinking").to_owned(),
                    signature: text("signature").to_owned(),
                }
            }
            "redacted_thinking" => {
                writer.field(
                    0,
                    CARRIER,
                    Json::List(vec![hidden_thought(text("data"))]),
                    out,
                );
                Block::Hidden
            }
            "tool_use" => {
                let start_input = block
                    .get("input")
                    .filter(|input| !input.members().is_empty())
                    .map(Json::to_json_text)
                    .unwrap_or_default();
                let is_answer =
                    self.context.expectation.answer_tool.as_deref() == Some(text("name"));
                let number = (!is_answer).then_some(self.calls);
                if let Some(number) = number {
                    let (id, name) = block
                        .text_of("id")
                        .zip(block.text_of("name"))
                        .ok_or_else(unreadable)?;
                    writer.call(
                        0,
                        number,
                        tool_call(id.to_owned(), name, String::new()),
                        out,
                    );
                    self.calls += 1;
                }
                self.has_answer |= is_answer;
                Block::Tool {
                    number,
                    has_input: false,
                    start_input,
                }
            }
            _ => Block::Hidden,
        };
        self.open.push((event.count_of("index"), open));
        Ok(())
    }

    fn continue_block(
        &mut self,
        event: &Json<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), ProviderFailure> {
        let writer = self.writer.as_ref().ok_or_else(unreadable)?;
        let delta = event.get("delta").ok_or_else(unreadable)?;
        let index = event.count_of("index");
        let block = self
            .open
            .iter_mut()
            .rev()
            .find(|(open, _)| *open == index)
            .map(|(_, block)| block)
            .ok_or_else(unreadable)?;
        match (block, delta.text_of("type").unwrap_or_default()) {
            (Block::Text, "text_delta") => {
                let more = delta.text_of("text").unwrap_or_default();
                writer.say("content", more, out);
            }
            (Block::Thinking { text, .. }, "thinking_delta") => {
                let more = delta.text_of("thinking").unwrap_or_default();
                text.push_str(more);
                writer.say("reasoning_content", more, out);
            }
            (Block::Thinking { signature, .. }, "signature_delta") => {
                signature.push_str(delta.text_of("signature").unwrap_or_default());
            }
            (
                Block::Tool {
                    number, has_input, ..
                },
                "input_json_delta",
            ) => {
                let fragment = delta.text_of("partial_json").unwrap_or_default();
                *has_input |= !fragment.is_empty();
                writer.input(*number, fragment, out);
            }
            _ => {}
        }
        Ok(())
    }

    fn stop_block(&mut self, event: &Json<'_>, out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        let writer = self.writer.as_ref().ok_or_else(unreadable)?;
        let index = event.count_of("index");
        let position = self
            .open
            .iter()
            .rposition(|(open, _)| *open == index)
            .ok_or_else(unreadable)?;
        match self.open.swap_remove(position).1 {
            Block::Text | Block::Hidden => {}
            Block::Thinking { text, signature } => writer.field(
                0,
                CARRIER,
                Json::List(vec![thought(&text, &signature)]),
                out,
            ),
            Block::Tool {
                has_input: true, ..
            } => {}
            Block::Tool {
                number,
                start_input,
                ..
            } => {
                // A tool without input streams no text, and empty text is not valid JSON.
                let input = if start_input.is_empty() {
                    "{}"
                } else {
                    &start_input
                };
                writer.input(number, input, out);
            }
        }
        Ok(())
    }

    fn finish_message(
        &mut self,
        event: &Json<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), ProviderFailure> {
        let writer = self.writer.as_ref().ok_or_else(unreadable)?;
        self.counts.read(event.get("usage"));
        self.summary.usage = Some(self.counts.usage());
        let delta = event.get("delta").ok_or_else(unreadable)?;
        let Some(stop) = delta
            .text_of("stop_reason")
            .filter(|_| self.finish.is_none())
        else {
            return Ok(());
        };
        if stop == "refusal" {
            writer.field(0, "refusal", Json::text(explanation(delta)), out);
        }
        let reason = finish_reason(
            Some(stop),
            self.has_answer && self.calls == 0,
            &mut self.summary,
        );
        self.finish = Some(reason);
        Ok(())
    }

    fn stop_message(&mut self, out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        let (writer, reason) = self
            .writer
            .as_ref()
            .zip(self.finish)
            .ok_or_else(unreadable)?;
        self.summary.finish_reason = Some(reason.to_owned());
        writer.finish(0, reason, out);
        writer.done(&self.counts.usage(), out);
        self.is_done = true;
        Ok(())
    }
}

impl StreamTranslator for Stream {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        let mut input = bytes;
        while !self.is_done {
            let Some(event) = self
                .reader
                .next_event(&mut input)
                .map_err(|_| unreadable())?
            else {
                break;
            };
            self.read(&event, out)?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        if !self.is_done
            && let Some(event) = self.reader.finish()
        {
            // An unreadable rest is the start of an event that was cut off.
            self.read(&event, out)
                .map_err(|failure| match failure.kind {
                    FailureKind::Error => ProviderFailure::new(FailureKind::CutStream),
                    _ => failure,
                })?;
        }
        if self.is_done {
            Ok(())
        } else {
            Err(ProviderFailure::new(FailureKind::CutStream))
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn summary(&self) -> &ReplySummary {
        &self.summary
    }
}
