//! A simulated OpenAI for texts instead of conversations: completions and embeddings.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, StatusCode, header};
use serde_json::{Value, json};

use super::openai::{error, finish_reason, now, usage};
use super::script::{self, Answer, Asked};
use super::{Family, id};

/// Default number of dimensions of an embedding.
const DIMENSIONS: u64 = 1536;

/// Continues a text.
#[derive(Clone, Copy)]
pub(super) struct Completions;

impl Family for Completions {
    fn key_header(self) -> HeaderName {
        header::AUTHORIZATION
    }

    fn read(self, body: &Value) -> Asked {
        Asked {
            limit: body["max_tokens"].as_u64(),
            stops: script::strings(&body["stop"]),
            ..read(&body["prompt"])
        }
    }

    fn whole(self, model: &str, body: &Value, answer: &Answer) -> Value {
        let prompts = script::strings(&body["prompt"]).len().max(1);
        let finish = finish_reason(answer.end);
        let choices: Vec<Value> = (0..prompts)
            .map(|index| choice(index, &answer.text, Some(finish)))
            .collect();
        json!({"id": id("cmpl-"), "object": "text_completion", "created": now(), "model": model, "choices": choices, "usage": usage(answer)})
    }

    fn events(self, model: &str, _body: &Value, answer: &Answer) -> Vec<String> {
        let (id, created) = (id("cmpl-"), now());
        let event = |choice: Value| {
            let chunk = json!({"id": id, "object": "text_completion", "created": created, "model": model, "choices": [choice]});
            format!("data: {chunk}\n\n")
        };
        let pieces = script::pieces(&answer.text).map(|piece| event(choice(0, piece, None)));
        let mut events: Vec<String> = pieces.collect();
        events.push(event(choice(0, "", Some(finish_reason(answer.end)))));
        events.push("data: [DONE]\n\n".to_owned());
        events
    }

    fn error(self, status: StatusCode, message: &str) -> Value {
        error(status, message)
    }
}

/// Makes embeddings that are deterministic and have no meaning.
#[derive(Clone, Copy)]
pub(super) struct Embeddings;

impl Family for Embeddings {
    fn key_header(self) -> HeaderName {
        header::AUTHORIZATION
    }

    fn read(self, body: &Value) -> Asked {
        read(&body["input"])
    }

    fn whole(self, model: &str, body: &Value, answer: &Answer) -> Value {
        let dimensions = body["dimensions"].as_u64().unwrap_or(DIMENSIONS);
        let is_base64 = body["encoding_format"] == "base64";
        let texts = script::strings(&body["input"]);
        let data: Vec<Value> = texts
            .iter()
            .enumerate()
            .map(|(index, text)| {
                let numbers = embed(text, dimensions.min(DIMENSIONS));
                let written = if is_base64 {
                    let bytes: Vec<u8> = numbers
                        .iter()
                        .flat_map(|number| number.to_le_bytes())
                        .collect();
                    json!(STANDARD.encode(bytes))
                } else {
                    json!(numbers)
                };
                json!({"object": "embedding", "index": index, "embedding": written})
            })
            .collect();
        let tokens = answer.prompt_tokens;
        json!({"object": "list", "data": data, "model": model, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}})
    }

    fn events(self, _model: &str, _body: &Value, _answer: &Answer) -> Vec<String> {
        Vec::new()
    }

    fn error(self, status: StatusCode, message: &str) -> Value {
        error(status, message)
    }
}

/// A text, or several.
fn read(texts: &Value) -> Asked {
    let said = script::strings(texts).join("\n");
    Asked {
        prompt_chars: script::count_chars(texts),
        wish: said.clone(),
        said,
        ..Asked::default()
    }
}

fn choice(index: usize, text: &str, finish: Option<&str>) -> Value {
    json!({"index": index, "text": text, "logprobs": null, "finish_reason": finish})
}

/// Deterministic numbers between -1 and 1 for a text.
fn embed(text: &str, dimensions: u64) -> Vec<f32> {
    let mut state = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |state: u64, byte| {
            (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let mut number = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        f32::from((state >> 48) as u16 as i16) / 32_768.0
    };
    (0..dimensions).map(|_| number()).collect()
}
