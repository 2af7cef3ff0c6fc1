//! Translation of ConverseStream's frames into chunks.

use super::super::anthropic::{CARRIER, hidden_thought, thought};
use super::super::failure::unreadable;
use super::super::translate::completion::{ChunkWriter, tool_call};
use super::super::{
    FailureKind, ProviderFailure, ReplyContext, ReplySummary, StreamTranslator, Usage,
};
use super::failure_of;
use super::frames::{Frame, FrameReader};
use super::reply::{finish_reason, is_for_caller, read_usage};
use crate::json::Json;

/// The state of a stream.
pub(super) struct Stream {
    context: ReplyContext,
    reader: FrameReader,
    /// Set once the message has started.
    writer: Option<ChunkWriter>,
    /// Blocks that have started and not stopped, by the provider's index. Texts and thoughts start with their first
    /// delta, tools with a start event.
    open: Vec<(u64, Block)>,
    calls: u64,
    has_answer: bool,
    /// The finish reason, held back until the stream is complete: a cut stream must not look finished.
    finish: Option<&'static str>,
    is_done: bool,
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
    },
    Hidden,
}

impl Stream {
    pub(super) fn new(context: &ReplyContext) -> Self {
        Self {
            context: context.clone(),
            reader: FrameReader::new(context.event_bytes_max),
            writer: None,
            open: Vec::new(),
            calls: 0,
            has_answer: false,
            finish: None,
            is_done: false,
            summary: ReplySummary::default(),
        }
    }

    fn read(&mut self, frame: Frame, out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        let (kind, payload) = match frame {
            Frame::Event(kind, payload) => (kind, payload),
            Frame::Exception(kind) => return Err(failure_of(&kind)),
            Frame::Error => return Err(unreadable()),
        };
        let event = || Json::read(&payload).map_err(|_| unreadable());
        match kind.as_str() {
            "messageStart" => self.start_message(out),
            "contentBlockStart" => self.start_block(&event()?, out)?,
            "contentBlockDelta" => self.continue_block(&event()?, out)?,
            "contentBlockStop" => self.stop_block(&event()?, out)?,
            "messageStop" => self.stop_message(&event()?)?,
            "metadata" => self.complete(&event()?, out)?,
            // Event types added later.
            _ => {}
        }
        Ok(())
    }

    fn start_message(&mut self, out: &mut Vec<u8>) {
        if self.writer.is_none() {
            let writer = ChunkWriter::new(&self.context, &self.context.model);
            writer.role(0, out);
            self.writer = Some(writer);
        }
    }

    fn start_block(&mut self, event: &Json<'_>, out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        let writer = self.writer.as_ref().ok_or_else(unreadable)?;
        let index = event.count_of("contentBlockIndex");
        let start = event.get("start").and_then(|start| start.given("toolUse"));
        let Some(call) = start.filter(|call| is_for_caller(call)) else {
            self.open.push((index, Block::Hidden));
            return Ok(());
        };
        let (id, name) = call
            .text_of("toolUseId")
            .zip(call.text_of("name"))
            .ok_or_else(unreadable)?;
        let is_answer = self.context.expectation.answer_tool.as_deref() == Some(name);
        let number = (!is_answer).then_some(self.calls);
        if let Some(number) = number {
            let call = tool_call(id.to_owned(), name, String::new());
            writer.call(0, number, call, out);
            self.calls += 1;
        }
        self.has_answer |= is_answer;
        let block = Block::Tool {
            number,
            has_input: false,
        };
        self.open.push((index, block));
        Ok(())
    }

    fn continue_block(
        &mut self,
        event: &Json<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), ProviderFailure> {
        let writer = self.writer.as_ref().ok_or_else(unreadable)?;
        let delta = event.get("delta").ok_or_else(unreadable)?;
        let block = open_block(&mut self.open, event.count_of("contentBlockIndex"), delta)?;
        if let Some(text) = delta.text_of("text") {
            writer.say("content", text, out);
        } else if let Some(reasoning) = delta.given("reasoningContent") {
            continue_thought(writer, block, reasoning, out);
        } else if let (Some(more), Block::Tool { number, has_input }) =
            (delta.given("toolUse"), block)
        {
            let fragment = more.text_of("input").unwrap_or_default();
            *has_input |= !fragment.is_empty();
            writer.input(*number, fragment, out);
        }
        Ok(())
    }

    fn stop_block(&mut self, event: &Json<'_>, out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        let writer = self.writer.as_ref().ok_or_else(unreadable)?;
        let index = event.count_of("contentBlockIndex");
        // An empty text block has no start event.
        let Some(position) = self.open.iter().rposition(|(open, _)| *open == index) else {
            return Ok(());
        };
        match self.open.swap_remove(position).1 {
            Block::Thinking { text, signature } if !signature.is_empty() => {
                let thoughts = Json::List(vec![thought(&text, &signature)]);
                writer.field(0, CARRIER, thoughts, out);
            }
            // A tool without input streams no text, and empty text is not valid JSON.
            Block::Tool {
                number,
                has_input: false,
            } => writer.input(number, "{}", out),
            Block::Text | Block::Hidden | Block::Thinking { .. } | Block::Tool { .. } => {}
        }
        Ok(())
    }

    fn stop_message(&mut self, event: &Json<'_>) -> Result<(), ProviderFailure> {
        let is_answer = self.has_answer && self.calls == 0;
        let stop = event.text_of("stopReason");
        self.finish = Some(finish_reason(stop, is_answer, &mut self.summary)?);
        Ok(())
    }

    /// Reads the token counts, which come last, after the stop reason.
    fn complete(&mut self, event: &Json<'_>, out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        let usage: Usage = read_usage(event.get("usage"));
        self.summary.usage = Some(usage);
        let (writer, reason) = self
            .writer
            .as_ref()
            .zip(self.finish)
            .ok_or_else(unreadable)?;
        self.summary.finish_reason = Some(reason.to_owned());
        writer.finish(0, reason, out);
        writer.done(&usage, out);
        self.is_done = true;
        Ok(())
    }
}

impl StreamTranslator for Stream {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        let mut input = bytes;
        while !self.is_done {
            let frame = self.reader.next_frame(&mut input);
            let Some(frame) = frame.map_err(|_| unreadable())? else {
                break;
            };
            self.read(frame, out)?;
        }
        Ok(())
    }

    fn finish(&mut self, _out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
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

/// The block that a delta continues. A block of text or thoughts begins with its first delta.
fn open_block<'a>(
    open: &'a mut Vec<(u64, Block)>,
    index: u64,
    delta: &Json<'_>,
) -> Result<&'a mut Block, ProviderFailure> {
    if let Some(position) = open.iter().rposition(|(known, _)| *known == index) {
        return Ok(&mut open[position].1);
    }
    let block = if delta.given("reasoningContent").is_some() {
        Block::Thinking {
            text: String::new(),
            signature: String::new(),
        }
    } else if delta.given("toolUse").is_some() {
        return Err(unreadable());
    } else {
        Block::Text
    };
    open.push((index, block));
    open.last_mut()
        .map(|(_, block)| block)
        .ok_or_else(unreadable)
}

fn continue_thought(
    writer: &ChunkWriter,
    block: &mut Block,
    reasoning: &Json<'_>,
    out: &mut Vec<u8>,
) {
    if let Some(data) = reasoning.text_of("redactedContent") {
        writer.field(0, CARRIER, Json::List(vec![hidden_thought(data)]), out);
    }
    if let Block::Thinking { text, signature } = block {
        let more = reasoning.text_of("text").unwrap_or_default();
        text.push_str(more);
        signature.push_str(reasoning.text_of("signature").unwrap_or_default());
        writer.say("reasoning_content", more, out);
    }
}
