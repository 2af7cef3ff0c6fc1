//! Watches a stream of chat completion chunks or of completions.

use super::super::failure::unreadable;
use super::super::frame::Frame;
use super::super::relay::{Flow, Watch};
use super::super::sse::SseEvent;
use super::super::{ProviderFailure, ReplySummary};
use super::watch;
use crate::json::Json;

/// Reads chunks up to the `[DONE]` after them.
#[derive(Default)]
pub(crate) struct ChunkWatch {
    summary: ReplySummary,
    /// Frame of the last chunk that was parsed. A chunk that fits the frame differs only in the model's words.
    known: Option<Frame>,
}

impl Watch for ChunkWatch {
    fn event(&mut self, event: &SseEvent) -> Result<Flow, ProviderFailure> {
        let data = event.data.as_deref().unwrap_or_default();
        if data == b"[DONE]" {
            return Ok(Flow::Last);
        }
        let is_error = event.name == b"error";
        if !is_error && self.known.as_ref().is_some_and(|known| known.fits(data)) {
            return Ok(Flow::Pass);
        }
        let chunk = Json::read(data).map_err(|_| unreadable())?;
        // An error's text may quote the prompt, so the event itself is not passed on.
        if is_error || chunk.given("error").is_some() || !chunk.is_object() {
            return Err(unreadable());
        }
        watch(&chunk, &mut self.summary);
        self.known = Frame::around(data, words(&chunk));
        Ok(Flow::Pass)
    }

    fn summary(&self) -> &ReplySummary {
        &self.summary
    }
}

/// The texts of a chunk that do not affect the summary: the model's words and padding.
fn words<'a>(chunk: &'a Json<'_>) -> impl Iterator<Item = &'a str> {
    let choices = chunk.get("choices").map(Json::items).unwrap_or_default();
    let of_choice = |choice: &'a Json<'_>| {
        let delta = choice.get("delta");
        let said = ["content", "reasoning_content", "refusal"];
        let said = said
            .into_iter()
            .filter_map(move |name| delta?.text_of(name));
        said.chain(choice.text_of("text"))
    };
    let padding = chunk.text_of("obfuscation");
    choices.iter().flat_map(of_choice).chain(padding)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(data: &str) -> SseEvent {
        SseEvent {
            name: Vec::new(),
            data: Some(data.as_bytes().to_vec()),
            raw: Vec::new(),
        }
    }

    #[test]
    fn only_chunks_with_new_fields_are_parsed() {
        let chunk = |model: &str, words: &str, end: &str| {
            format!(
                r#"{{"model":"{model}","choices":[{{"index":0,"delta":{{"content":"{words}"}},"finish_reason":{end}}}],"obfuscation":"{words}"}}"#
            )
        };
        let mut watch = ChunkWatch::default();
        for words in ["one", "two", "", "\\n", "three"] {
            let passed = watch.event(&event(&chunk("gpt-4o", words, "null")));
            assert!(matches!(passed, Ok(Flow::Pass)), "{words}");
            assert_eq!(watch.known.is_some(), words != "\\n", "{words}");
        }
        assert_eq!(watch.summary.finish_reason, None);
        assert!(
            watch
                .event(&event(&chunk("gpt-5", "x", "\"stop\"")))
                .is_ok()
        );
        assert_eq!(watch.summary.served_model.as_deref(), Some("gpt-5"));
        assert_eq!(watch.summary.finish_reason.as_deref(), Some("stop"));
        let broken = chunk("gpt-5", "x", "\"stop\"").replace("\"x\"}", "\"x\"");
        assert!(watch.event(&event(&broken)).is_err());
        let error = r#"{"error":{"message":"Jane Roe"}}"#;
        assert!(watch.event(&event(error)).is_err());
        let named = SseEvent {
            name: b"error".to_vec(),
            ..event(&chunk("gpt-5", "x", "\"stop\""))
        };
        assert!(watch.event(&named).is_err());
    }
}
