//! Parts of a reply beside the answer: repeated keys, titles, and members that no door knows.

use std::sync::Arc;

use crate::reply_support::rules;
use phigate_core::doors::{CHAT, COMPLETIONS, Door, EMBEDDINGS, MESSAGES, RESPONSES};
use phigate_core::reply::{ReplyRules, Stop};
use phigate_core::wire::{FORMATS, ReplyContext};
use phigate_types::Replies;
use serde_json::json;

/// A number that was not in the request, and one that was.
const NEW: &str = "SSN 219-09-4218";
const OLD: &str = "SSN 536-22-8741";

fn context() -> ReplyContext {
    ReplyContext {
        completion_id: "chatcmpl-1".to_owned(),
        created: 1_760_000_000,
        model: "m".to_owned(),
        expectation: Default::default(),
        event_bytes_max: 1 << 20,
    }
}

/// Replies with a repeated key, whole and as events, by door.
const REPEATED: &[(&Door, &str, &str)] = &[
    (
        &CHAT,
        r#"{"choices":[{"index":0,"message":{"content":"ok"},"message":{"content":"no"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"ok","content":"no"}}]}"#,
    ),
    (
        &MESSAGES,
        r#"{"type":"message","content":[{"type":"text","text":"ok"}],"content":[{"type":"text","text":"no"}]}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok","te\u0078t":"no"}}"#,
    ),
    (
        &RESPONSES,
        r#"{"object":"response","status":"completed","output":[],"output":[]}"#,
        r#"{"type":"response.output_text.delta","delta":"ok","delta":"no"}"#,
    ),
    (
        &COMPLETIONS,
        r#"{"choices":[{"index":0,"text":"ok","text":"no"}]}"#,
        r#"{"choices":[{"index":0,"text":"ok","text":"no"}]}"#,
    ),
    (
        &EMBEDDINGS,
        r#"{"object":"list","data":[],"data":[]}"#,
        r#"{"data":[],"data":[]}"#,
    ),
];

#[test]
fn repeated_keys_make_replies_unreadable() {
    for (door, whole, event) in REPEATED {
        let native = FORMATS.iter().find(|format| format.relays(door.form));
        let format = *native.expect("a provider speaks it");
        assert!(
            door.read_reply(format, &context(), whole.as_bytes())
                .is_err()
        );
        let rules = Arc::new(rules(true, Replies::Mask));
        let treated = door.whole_reply(&rules, whole.as_bytes().to_vec());
        assert_eq!(treated.body, Err(Stop::Unreadable), "{door:?}");
        let event = format!("data: {event}\n\n");
        let mut out = Vec::new();
        let mut stream = door.open_stream(format, &context());
        assert!(stream.push(event.as_bytes(), &mut out).is_err(), "{door:?}");
        let mut stage = door.reply_stream(rules, 1 << 20);
        let pushed = stage.push(event.as_bytes(), &mut out);
        assert_eq!((pushed, out.len()), (Err(Stop::Unreadable), 0), "{door:?}");
    }
}

/// A reply of this door with `{}` beside its answer.
const BESIDE: &[(&Door, &str)] = &[
    (
        &CHAT,
        r#"{"choices":[{"index":0,"message":{"content":"ok","annotations":[{"type":"url_citation","url_citation":{"url":"https://a.example/","title":"{}"}}]}}]}"#,
    ),
    (
        &CHAT,
        r#"{"choices":[{"index":0,"message":{"content":"ok","note":{"x":["{}"]}}}]}"#,
    ),
    (
        &CHAT,
        r#"{"choices":[{"index":0,"message":{"content":[{"type":"text","text":"ok","note":"{}"}]}}]}"#,
    ),
    (
        &CHAT,
        r#"{"choices":[{"index":0,"message":{"content":"ok"},"note":"{}"}]}"#,
    ),
    (&CHAT, r#"{"choices":[],"note":"{}"}"#),
    (
        &COMPLETIONS,
        r#"{"choices":[{"index":0,"text":"ok","note":"{}"}]}"#,
    ),
    (&EMBEDDINGS, r#"{"object":"list","data":[],"note":"{}"}"#),
    (&MESSAGES, r#"{"type":"message","content":[],"note":"{}"}"#),
    (
        &MESSAGES,
        r#"{"type":"message","content":[{"type":"text","text":"ok","note":"{}"}]}"#,
    ),
    (
        &MESSAGES,
        r#"{"type":"message","content":[{"type":"text","text":"ok","citations":[{"type":"web_search_result_location","title":"{}"}]}]}"#,
    ),
    (
        &MESSAGES,
        r#"{"type":"message","content":[{"type":"tool_use","id":"t","name":"n","input":{"a":1},"note":"{}"}]}"#,
    ),
    (
        &RESPONSES,
        r#"{"status":"completed","output":[],"note":"{}"}"#,
    ),
    (
        &RESPONSES,
        r#"{"status":"completed","output":[{"type":"message","content":[],"note":"{}"}]}"#,
    ),
    (
        &RESPONSES,
        r#"{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"ok","note":"{}"}]}]}"#,
    ),
    (
        &RESPONSES,
        r#"{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"ok","annotations":[{"type":"url_citation","title":"{}"}]}]}]}"#,
    ),
];

#[test]
fn phi_beside_the_answer_is_found() {
    for (door, form) in BESIDE {
        let treated = |restores: bool, action: Replies, text: &str| {
            let body = form.replace("{}", text).into_bytes();
            door.whole_reply(&Arc::new(rules(restores, action)), body)
        };
        let masked = treated(false, Replies::Mask, NEW);
        let body = String::from_utf8(masked.body.expect("it goes out")).unwrap();
        assert_eq!(body, form.replace("{}", "SSN [SSN]"));
        assert_eq!(masked.tally.findings(), 1, "{form}");
        assert_eq!(treated(false, Replies::Block, NEW).body, Err(Stop::Blocked));
        let echo = treated(false, Replies::Block, OLD);
        assert_eq!((echo.tally.echoes, echo.tally.findings()), (1, 0), "{form}");
        assert!(echo.body.is_ok());
        let unscanned = treated(false, Replies::Off, NEW);
        assert_eq!(unscanned.body, Ok(form.replace("{}", NEW).into_bytes()));
    }
}

#[test]
fn unknown_members_are_never_restored() {
    let form = r#"{"choices":[{"index":0,"message":{"content":"ok","note":"of [NAME_7K3QD]"}}]}"#;
    for action in [Replies::Off, Replies::Mask] {
        let rules = Arc::new(rules(true, action));
        let reply = CHAT.whole_reply(&rules, form.as_bytes().to_vec());
        assert_eq!(reply.body, Ok(form.as_bytes().to_vec()));
    }
}

/// The events of streams with `{}` beside the answer.
const BESIDE_EVENTS: &[(&Door, &str)] = &[
    (
        &CHAT,
        r#"{"choices":[{"index":0,"delta":{"content":"","annotations":[{"title":"{}"}]}}]}"#,
    ),
    (&CHAT, r#"{"choices":[{"index":0,"delta":{"note":"{}"}}]}"#),
    (&CHAT, r#"{"choices":[],"note":"{}"}"#),
    (
        &MESSAGES,
        r#"{"type":"message_start","message":{"content":[],"note":"{}"}}"#,
    ),
    (
        &MESSAGES,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","note":"{}"}}"#,
    ),
    (
        &MESSAGES,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","note":"{}"}}"#,
    ),
    (&MESSAGES, r#"{"type":"note","note":"{}"}"#),
    (&MESSAGES, r#"{"type":"note","delta":{"note":"{}"}}"#),
    (
        &MESSAGES,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"","note":"{}"}}"#,
    ),
    (
        &MESSAGES,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"},"note":"{}"}"#,
    ),
    (
        &RESPONSES,
        r#"{"type":"response.output_text.delta","delta":"x","note":"{}"}"#,
    ),
    (&RESPONSES, r#"{"type":"response.note.delta","delta":"{}"}"#),
    (
        &RESPONSES,
        r#"{"type":"response.created","response":{"status":"in_progress","output":[],"note":"{}"}}"#,
    ),
    (&RESPONSES, r#"{"type":"response.note","note":"{}"}"#),
];

#[test]
fn phi_beside_answer_is_found_in_streams() {
    for (door, form) in BESIDE_EVENTS {
        let play = |rules: ReplyRules| {
            let mut stage = door.reply_stream(Arc::new(rules), 1 << 20);
            let mut out = Vec::new();
            let event = format!("data: {}\n\n", form.replace("{}", NEW));
            // Events that are like the one before are read in another way.
            let pushed = stage.push(event.repeat(3).as_bytes(), &mut out);
            (pushed, String::from_utf8(out).unwrap())
        };
        let (pushed, out) = play(rules(false, Replies::Mask));
        assert_eq!(
            (pushed, out.matches("SSN [SSN]").count()),
            (Ok(()), 3),
            "{form}: {out}"
        );
        assert!(!out.contains("219-09"), "{form}: {out}");
        let (pushed, out) = play(rules(false, Replies::Block));
        assert_eq!((pushed, out.as_str()), (Err(Stop::Blocked), ""), "{form}");
    }
}

#[test]
fn words_of_the_protocol_stay() {
    let rules = Arc::new(rules(false, Replies::Mask));
    let completion = json!({"id": "219-09-4218", "model": NEW, "system_fingerprint": NEW, "choices": [{"index": 0, "finish_reason": NEW, "message": {"role": NEW,
        "tool_calls": [{"id": NEW, "type": "function", "function": {"name": NEW, "arguments": "{}"}}]}}]});
    let reply = CHAT.whole_reply(&rules, completion.to_string().into_bytes());
    assert_eq!(reply.body, Ok(completion.to_string().into_bytes()));
}
