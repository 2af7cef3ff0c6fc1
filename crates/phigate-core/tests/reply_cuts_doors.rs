//! However a provider's bytes are cut, callers of Messages and Responses get the same: random replies, random cuts.

use std::sync::Arc;

use crate::reply_support::chance::Chance;
use crate::reply_support::{Texts, rules};
use phigate_core::doors::{Door, MESSAGES, RESPONSES};
use phigate_core::reply::{ReplyRules, Stop, Tally};
use phigate_types::Replies;
use serde_json::{Value, json};

/// Writer and reader of a door's replies.
struct Script {
    door: &'static Door,
    whole: fn(&Texts) -> String,
    events: fn(&Texts, &mut dyn FnMut() -> usize) -> Vec<Value>,
    /// The texts of a whole reply.
    read: fn(&Value) -> Texts,
    /// The texts of a stream, and whether it came to its end.
    hear: fn(&[Value]) -> (Texts, bool),
}

const SCRIPTS: [Script; 2] = [
    Script {
        door: &MESSAGES,
        whole: message,
        events: message_events,
        read: read_message,
        hear: hear_message,
    },
    Script {
        door: &RESPONSES,
        whole: |texts| response(texts).to_string(),
        events: response_events,
        read: read_response,
        hear: hear_response,
    },
];

/// Cuts a text into deltas of this many characters.
fn deltas(text: &str, size: &mut dyn FnMut() -> usize) -> Vec<String> {
    let (mut pieces, mut letters) = (Vec::new(), text.chars().peekable());
    while letters.peek().is_some() {
        pieces.push(letters.by_ref().take(size().max(1)).collect());
    }
    pieces
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Arguments as the caller's JSON reader sees them, since whole replies hold them as values.
fn canonical(arguments: &str) -> String {
    match serde_json::from_str::<Value>(arguments) {
        Ok(value) => value.to_string(),
        Err(_) => arguments.to_owned(),
    }
}

/// Writes a message. The arguments go in as they are written: a value of ours would hold no key twice.
fn message(texts: &Texts) -> String {
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [
        {"type": "thinking", "thinking": texts.reasoning},
        {"type": "text", "text": texts.content},
        {"type": "tool_use", "id": "toolu_1", "name": "note", "input": "as written"},
    ], "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}});
    message
        .to_string()
        .replace(r#""as written""#, &texts.arguments)
}

fn read_message(message: &Value) -> Texts {
    let input = message["content"][2]["input"].to_string();
    Texts {
        reasoning: text(&message["content"][0]["thinking"]),
        content: text(&message["content"][1]["text"]),
        arguments: input,
    }
}

fn message_events(texts: &Texts, size: &mut dyn FnMut() -> usize) -> Vec<Value> {
    let mut events = vec![
        json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "m", "usage": {"input_tokens": 1, "output_tokens": 1}}}),
    ];
    let blocks = [
        (
            json!({"type": "thinking", "thinking": ""}),
            "thinking_delta",
            "thinking",
            &texts.reasoning,
        ),
        (
            json!({"type": "text", "text": ""}),
            "text_delta",
            "text",
            &texts.content,
        ),
        (
            json!({"type": "tool_use", "id": "toolu_1", "name": "note", "input": {}}),
            "input_json_delta",
            "partial_json",
            &texts.arguments,
        ),
    ];
    for (index, (block, kind, member, text)) in blocks.into_iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        for piece in deltas(text, size) {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": {"type": kind, member: piece}}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}));
    events.push(json!({"type": "message_stop"}));
    events
}

fn hear_message(events: &[Value]) -> (Texts, bool) {
    let (mut texts, mut ended) = (Texts::default(), Vec::new());
    for event in events {
        let index = event["index"].as_u64().unwrap_or_default();
        match event["type"].as_str().unwrap() {
            "content_block_delta" => {
                assert!(!ended.contains(&index), "text after the end of its block");
                let delta = &event["delta"];
                texts.reasoning += &text(&delta["thinking"]);
                texts.content += &text(&delta["text"]);
                texts.arguments += &text(&delta["partial_json"]);
            }
            "content_block_stop" => ended.push(index),
            _ => {}
        }
    }
    let is_done = events
        .last()
        .is_some_and(|event| event["type"] == "message_stop");
    (texts, is_done)
}

fn output(texts: &Texts) -> Value {
    json!([
        {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": texts.reasoning}]},
        {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": texts.content, "annotations": []}]},
        {"id": "fc_1", "type": "function_call", "status": "completed", "call_id": "call_1", "name": "note", "arguments": texts.arguments},
    ])
}

fn response(texts: &Texts) -> Value {
    json!({"id": "resp_1", "object": "response", "status": "completed", "error": null, "model": "m", "output": output(texts)})
}

fn read_response(response: &Value) -> Texts {
    let output = &response["output"];
    Texts {
        reasoning: text(&output[0]["summary"][0]["text"]),
        content: text(&output[1]["content"][0]["text"]),
        arguments: text(&output[2]["arguments"]),
    }
}

fn response_events(texts: &Texts, size: &mut dyn FnMut() -> usize) -> Vec<Value> {
    let begun = json!({"id": "resp_1", "object": "response", "status": "in_progress", "model": "m", "output": []});
    let mut events = vec![json!({"type": "response.created", "response": begun})];
    let output = output(texts);
    let rows = [
        (
            "response.reasoning_summary_text",
            "summary_index",
            "text",
            &texts.reasoning,
        ),
        (
            "response.output_text",
            "content_index",
            "text",
            &texts.content,
        ),
        (
            "response.function_call_arguments",
            "output_index",
            "arguments",
            &texts.arguments,
        ),
    ];
    for (index, (name, place, member, text)) in rows.into_iter().enumerate() {
        let mut event = |kind: String, member: &str, value: Value| {
            let mut event = json!({"type": kind, "item_id": output[index]["id"]});
            event[place] = json!(0);
            event["output_index"] = json!(index);
            event[member] = value;
            events.push(event);
        };
        let started = json!({"id": output[index]["id"], "type": output[index]["type"], "name": output[index]["name"]});
        event("response.output_item.added".into(), "item", started);
        for piece in deltas(text, size) {
            event(format!("{name}.delta"), "delta", json!(piece));
        }
        event(format!("{name}.done"), member, json!(text));
        event(
            "response.output_item.done".into(),
            "item",
            output[index].clone(),
        );
    }
    events.push(json!({"type": "response.completed", "response": response(texts)}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    events
}

/// Reads the texts of the deltas. A repeated text must be equal, and the numbers without a gap.
fn hear_response(events: &[Value]) -> (Texts, bool) {
    let mut texts = Texts::default();
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], json!(number), "{event}");
        let kind = event["type"].as_str().unwrap();
        let (name, step) = kind.rsplit_once('.').unwrap();
        let heard = match name {
            "response.reasoning_summary_text" => &mut texts.reasoning,
            "response.output_text" => &mut texts.content,
            "response.function_call_arguments" => &mut texts.arguments,
            _ => continue,
        };
        match step {
            "delta" => heard.push_str(event["delta"].as_str().unwrap()),
            _ => {
                let told = event.get("text").or(event.get("arguments"));
                assert_eq!(told.unwrap(), heard.as_str(), "{kind}");
            }
        }
    }
    let items = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.done");
    let told: Vec<&Value> = items.map(|event| &event["item"]).collect();
    let last = events
        .last()
        .filter(|event| event["type"] == "response.completed");
    if let Some(last) = last {
        let response = &last["response"];
        assert_eq!(read_response(response), texts);
        assert_eq!(
            response["output"]
                .as_array()
                .unwrap()
                .iter()
                .collect::<Vec<_>>(),
            told
        );
    }
    (texts, last.is_some())
}

/// Caller's view of a stream.
#[derive(Debug, PartialEq)]
struct Played {
    texts: Texts,
    stop: Option<Stop>,
    tally: Tally,
    is_done: bool,
}

fn play<'p>(
    script: &Script,
    rules: &Arc<ReplyRules>,
    pieces: impl IntoIterator<Item = &'p [u8]>,
    breaks_off: bool,
) -> Played {
    let mut stage = script.door.reply_stream(Arc::clone(rules), 1 << 20);
    let mut out = Vec::new();
    let mut pieces = pieces.into_iter();
    let mut pushed = pieces.try_for_each(|piece| stage.push(piece, &mut out));
    if breaks_off && pushed.is_ok() {
        pushed = stage.break_off(&mut out);
    }
    let text = String::from_utf8(out).unwrap();
    let data = text
        .split("\n\n")
        .filter_map(|event| event.split_once("data: "));
    let events: Vec<Value> = data
        .map(|(_, data)| serde_json::from_str(data).unwrap())
        .collect();
    let (texts, is_done) = (script.hear)(&events);
    Played {
        texts,
        stop: pushed.err(),
        tally: stage.tally().clone(),
        is_done,
    }
}

fn written(events: &[Value]) -> String {
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", text(&event["type"]));
    events.iter().map(event).collect()
}

/// Plays replies until there were at least this many cuts: of the text into deltas, and of the stream into pieces.
fn check(script: &Script, restores: bool, replies: Replies, seed: u64, cuts_min: usize) {
    let rules = Arc::new(rules(restores, replies));
    let (mut cuts, mut round) = (0, 0);
    while cuts < cuts_min {
        round += 1;
        let at = format!("{:?}, seed {seed}, round {round}", script.door);
        let mut chance = Chance(seed + round);
        let texts = chance.texts();
        let size_max = [1, 3, 12, 60][chance.next(4)];
        let events = (script.events)(&texts, &mut || 1 + chance.next(size_max));
        let stream = written(&events);
        let (pieces, count) = chance.cut(stream.as_bytes());
        cuts += events.len() + count;
        let played = play(script, &rules, pieces, false);
        assert_eq!(
            played,
            play(script, &rules, [stream.as_bytes()], false),
            "{at}"
        );
        // A stream that breaks off is the same for every cut as well.
        let broken = &stream.as_bytes()[..chance.next(stream.len())];
        let (pieces, count) = chance.cut(broken);
        cuts += count;
        assert_eq!(
            play(script, &rules, pieces, true),
            play(script, &rules, [broken], true),
            "{at}"
        );
        check_whole(script, &rules, &texts, played, &at);
    }
}

/// Checks a whole reply against the stream, as far as it can be written whole: cut arguments are not JSON.
fn check_whole(
    script: &Script,
    rules: &Arc<ReplyRules>,
    texts: &Texts,
    mut played: Played,
    at: &str,
) {
    if serde_json::from_str::<Value>(&texts.arguments).is_err() {
        return;
    }
    let body = (script.whole)(texts).into_bytes();
    let whole = script.door.whole_reply(rules, body);
    match whole.body {
        // A repeated key makes a whole message unreadable; in deltas arguments are only text.
        Err(Stop::Unreadable) => assert!(texts.arguments.contains(r#"","ssn":""#), "{at}"),
        Ok(body) => {
            let mut read = (script.read)(&serde_json::from_slice(&body).unwrap());
            for texts in [&mut read, &mut played.texts] {
                texts.arguments = canonical(&texts.arguments);
            }
            assert_eq!(played.texts, read, "{at}");
            assert_eq!(played.tally, whole.tally, "{at}");
            assert!(played.is_done && played.stop.is_none(), "{at}");
        }
        Err(stop) => {
            assert_eq!(played.stop, Some(stop), "{at}");
            assert!(!played.is_done, "{at}");
        }
    }
}

#[test]
fn restoring_is_cut_independent_at_every_door() {
    for (script, seed) in SCRIPTS.iter().zip([10_000_000, 11_000_000]) {
        check(script, true, Replies::Off, seed, 30_000);
    }
}

#[test]
fn scanning_is_cut_independent_at_every_door() {
    for (script, seed) in SCRIPTS.iter().zip([12_000_000, 16_000_000]) {
        check(script, false, Replies::Mask, seed, 6_000);
        check(script, false, Replies::Redact, seed + 1_000_000, 4_000);
        check(script, false, Replies::Block, seed + 2_000_000, 4_000);
        check(script, false, Replies::Flag, seed + 3_000_000, 2_000);
    }
}

#[test]
fn restoring_with_scanning_is_cut_independent() {
    for (script, seed) in SCRIPTS.iter().zip([20_000_000, 22_000_000]) {
        check(script, true, Replies::Mask, seed, 6_000);
        check(script, true, Replies::Block, seed + 1_000_000, 4_000);
    }
}
