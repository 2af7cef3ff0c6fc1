//! Equal PHI in equal disguises, wherever a door allows text.
//!
//! One more disguise, or one more place, is one more row: every disguise is tried at every place of every door.

use std::sync::LazyLock;

use phi_detect::{Detector, PhiKind};
use phigate_core::doors::{
    CHAT, COMPLETIONS, COUNT_TOKENS, DOORS, Door, EMBEDDINGS, MESSAGES, RESPONSES,
};
use phigate_core::egress;
use phigate_core::protect::{self, Outcome, Policy, Scanned, Scanner};
use phigate_core::request::{Request, RequestLimits};
use phigate_core::wire::{self, Site};
use phigate_types::ProviderKind;
use serde_json::{Value, json};

/// One for all tests of a process: every disguise is tried at every place.
fn scanner() -> Scanner {
    static SCANNER: LazyLock<Scanner> = LazyLock::new(|| Scanner::new(Detector::default()));
    SCANNER.clone()
}

/// The provider that serves a model by its family.
fn site(model: &str) -> Site<'_> {
    let family = wire::format_for_model(model).unwrap().id();
    Site::new(family.parse().unwrap(), model)
}

/// A body of a door, with what it needs besides these fields.
fn body(door: &Door, fields: &Value) -> Value {
    let mut body = match door.id() {
        "chat" => json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi."}]}),
        "messages" => {
            json!({"model": "claude-opus-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi."}]})
        }
        "count_tokens" => {
            json!({"model": "claude-opus-4-5", "messages": [{"role": "user", "content": "Hi."}]})
        }
        "responses" => json!({"model": "gpt-4o", "input": "Hi.", "store": false}),
        "embeddings" => json!({"model": "text-embedding-3-small", "input": "Hi."}),
        _ => json!({"model": "gpt-3.5-turbo-instruct", "prompt": "Hi."}),
    };
    for (name, value) in fields.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

fn scanned(door: &Door, body: &Value) -> Scanned {
    let bytes = body.to_string().into_bytes();
    let request = Request::read(door.form, bytes, &RequestLimits::default());
    protect::scan(
        &scanner(),
        request.unwrap_or_else(|error| panic!("{error}: {body}")),
    )
}

fn outcome(door: &Door, mode: &str, body: &Value) -> Outcome {
    let policy = Policy::uniform(mode.parse().unwrap());
    protect::apply(&policy, &scanner(), scanned(door, body))
}

/// Returns the body that reaches the provider, or the code of the refusal.
fn sent(door: &Door, mode: &str, body: &Value) -> Result<String, &'static str> {
    let clean = match outcome(door, mode, body) {
        Outcome::Forward(clean) => clean,
        Outcome::Refuse(error, _) => return Err(error.code.code()),
        Outcome::Block(_) => return Err("phi_blocked"),
        Outcome::Unfinished(_) => return Err("unfinished"),
    };
    let model = body["model"].as_str().unwrap();
    let format = wire::format_for_model(model).unwrap();
    let request = format.write_request(&clean, &site(model), &|_| String::new());
    let cleared = egress::clear(&scanner(), request.unwrap()).unwrap();
    Ok(String::from_utf8(cleared.into_body()).unwrap())
}

/// Texts with PHI in them, in disguise: kind, text, and what must not reach a provider in mask mode.
const DISGUISES: &[(&str, &str, &str)] = &[
    ("ssn", "Her SSN is 536-22-8741, thanks.", "22-8741"),
    ("ssn", "SSN ５３６-２２-８７４１ on file", "８７４１"),
    ("ssn", "SSN 5\u{200b}36-22-8\u{200b}741", "8\u{200b}741"),
    ("ssn", "SSN 536\u{2011}22\u{2011}8741", "8741"),
    ("ssn", "SSN 536%2D22%2D8741", "8741"),
    ("ssn", "SSN &#53;36-22-8741", "8741"),
    ("ssn", r"SSN \u0035\u0033\u0036-22-8741", "8741"),
    ("ssn", "SSN <b>536</b>-22-8741", "8741"),
    ("ssn", "SSN 536★22★8741", "8741"),
    ("ssn", r#"{"ssn":"536228741"}"#, "536228741"),
    ("ssn", r#"{"a":"{\"ssn\":\"536228741\"}"}"#, "536228741"),
    ("ssn", "U1NOIDUzNi0yMi04NzQx", "U1NOIDUzNi0yMi04NzQx"),
    // Letters and digits of other alphabets, and what is not seen between them.
    ("ssn", "SSN 𝟝𝟛𝟞-𝟚𝟚-𝟠𝟟𝟜𝟙", "𝟠𝟟𝟜𝟙"),
    ("ssn", "SSN ٥٣٦-٢٢-٨٧٤١", "٨٧٤١"),
    ("ssn", "SSN ५३६-२२-८७४१", "८७४१"),
    ("ssn", "SSN ⑤③⑥-②②-⑧⑦④①", "⑧⑦④①"),
    (
        "ssn",
        "SSN 5\u{200d}3\u{200d}6-22-87\u{200d}41",
        "87\u{200d}41",
    ),
    ("ssn", "SSN 536\u{ad}-22-87\u{ad}41", "87\u{ad}41"),
    ("ssn", "SSN 5\u{2060}36-22-8741", "8741"),
    ("ssn", "SSN \u{202e}536-22-8741\u{202c}", "8741"),
    ("ssn", "SSN 5\u{336}3\u{336}6\u{336}-22-8741", "22-8741"),
    ("ssn", "ЅЅN 536-22-8741", "22-8741"),
    ("ssn", "SSN 536\u{a0}22\u{a0}8741", "8741"),
    // Written apart, or in words.
    ("ssn", "SSN 5 3 6 - 2 2 - 8 7 4 1", "8 7 4 1"),
    ("ssn", "SSN 536.22.8741", "8741"),
    ("ssn", "SSN 536/22/8741", "8741"),
    (
        "ssn",
        "SSN: five three six two two eight seven four one",
        "eight seven four one",
    ),
    ("ssn", "SSN 536-22-\n8741", "8741"),
    // In another writing.
    ("ssn", "SSN &#x35;&#x33;&#x36;-22-8741", "8741"),
    ("ssn", "SSN%20536%2D22%2D8741", "8741"),
    ("ssn", "SSN 536<!-- x -->-22-8741", "8741"),
    ("ssn", "SSN `536`-`22`-`8741`", "8741"),
    ("ssn", "53534e203533362d32322d38373431", "32322d38373431"),
    ("ssn", "VGhlIFNTTiBpcyA1MzYtMjItODc0MQ==", "ODc0MQ"),
    ("ssn", "VGhlIFNTTiBpcyA1MzYtMjItODc0MQ", "ODc0MQ"),
    (
        "ssn",
        "<patient><ssn>536228741</ssn></patient>",
        "536228741",
    ),
    ("ssn", "name,ssn\nsam,536228741", "536228741"),
    (
        "ssn",
        "| name | ssn |\n|---|---|\n| sam | 536228741 |",
        "536228741",
    ),
    ("mrn", "PID|1||48291378^^^HOSP^MR||DOE^JANE", "48291378"),
    (
        "email",
        "Write to kofi.asante [at] example [dot] org",
        "kofi.asante",
    ),
    (
        "email",
        "Write to kofi.asante\u{200b}@example.org",
        "kofi.asante",
    ),
    ("phone", "Call (206) 555-0142 now", "555-0142"),
    ("phone", "Call ２０６-５５５-０１４２ now", "０１４２"),
    ("phone", "Call **206**-555-0142 now", "555-0142"),
    ("dob", "DOB: **07**/**02**/**1971**", "1971"),
    ("mrn", "MRN: 48291378", "48291378"),
    (
        "email",
        "Write to kofi.asante@example.org today",
        "kofi.asante",
    ),
    (
        "medicare_id",
        "Her Medicare number is 1EG4-TE5-MK73.",
        "MK73",
    ),
    ("name", "Patient Maria Delgado has a cough.", "Delgado"),
];

/// Places of a door that take any text.
fn places(door: &Door, text: &str) -> Vec<Value> {
    match door.id() {
        "chat" => chat_places(text),
        "messages" | "count_tokens" => message_places(text),
        "responses" => response_places(text),
        "embeddings" => vec![
            json!({"input": text}),
            json!({"input": ["Hi.", text]}),
            json!({"user": text}),
            json!({"x_future": [{"note": text}]}),
        ],
        _ => vec![
            json!({"prompt": text}),
            json!({"prompt": ["Hi.", text]}),
            json!({"suffix": text}),
            json!({"stop": [text]}),
            json!({"user": text}),
            json!({"x_future": [{"note": text}]}),
        ],
    }
}

fn chat_places(text: &str) -> Vec<Value> {
    let say = |message: Value| json!({"messages": [{"role": "user", "content": "Hi."}, message]});
    vec![
        say(json!({"role": "user", "content": text})),
        say(json!({"role": "user", "content": [{"type": "text", "text": text}]})),
        say(json!({"role": "system", "content": text})),
        json!({"metadata": {"note": text}}),
        json!({"stop": [text]}),
        json!({"x_future": [{"note": text}]}),
    ]
}

fn message_places(text: &str) -> Vec<Value> {
    let hi = json!({"role": "user", "content": "Hi."});
    let user = |block: Value| json!({"messages": [{"role": "user", "content": [block]}]});
    let said =
        |block: Value| json!({"messages": [hi, {"role": "assistant", "content": [block]}, hi]});
    let source = json!({"type": "text", "media_type": "text/plain", "data": text});
    let cited = json!({"type": "char_location", "cited_text": text, "document_index": 0});
    vec![
        json!({"system": text}),
        json!({"system": [{"type": "text", "text": text}]}),
        json!({"messages": [{"role": "user", "content": text}]}),
        user(json!({"type": "text", "text": text})),
        said(json!({"type": "text", "text": text})),
        said(json!({"type": "text", "text": "x", "citations": [cited]})),
        said(json!({"type": "thinking", "thinking": text, "signature": ""})),
        said(json!({"type": "tool_use", "id": "toolu_1", "name": "note", "input": {"q": text}})),
        said(
            json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": text}}),
        ),
        user(json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": text})),
        user(
            json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": text}]}),
        ),
        user(json!({"type": "document", "source": source, "title": "A"})),
        user(json!({"type": "document", "source": {"type": "text", "data": "A"}, "context": text})),
        user(json!({"type": "search_result", "source": "a", "title": text, "content": []})),
        user(json!({"type": "future_block", "payload": {"note": text}})),
        json!({"tools": [{"name": "note", "description": text, "input_schema": {"type": "object"}}]}),
        json!({"tools": [{"name": "note", "input_schema": {"type": "object", "properties": {"q": {"description": text}}}}]}),
        json!({"metadata": {"user_id": text}}),
        json!({"stop_sequences": [text]}),
        json!({"x_future": [{"note": text}]}),
    ]
}

fn response_places(text: &str) -> Vec<Value> {
    let item = |item: Value| json!({"input": [{"role": "user", "content": "Hi."}, item]});
    let call = |fields: Value| item(fields);
    vec![
        json!({"instructions": text}),
        json!({"input": text}),
        item(json!({"role": "user", "content": text})),
        item(json!({"role": "user", "content": [{"type": "input_text", "text": text}]})),
        item(
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}),
        ),
        item(
            json!({"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": text}]}),
        ),
        call(
            json!({"type": "function_call", "call_id": "c", "name": "note", "arguments": json!({"q": text}).to_string()}),
        ),
        call(json!({"type": "function_call_output", "call_id": "c", "output": text})),
        call(
            json!({"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": text}]}),
        ),
        call(json!({"type": "custom_tool_call", "call_id": "c", "name": "note", "input": text})),
        call(
            json!({"type": "mcp_call", "id": "m", "name": "f", "arguments": "{}", "output": text}),
        ),
        item(
            json!({"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": text}]}),
        ),
        item(
            json!({"type": "file_search_call", "id": "f", "results": [{"filename": "a", "text": text}]}),
        ),
        item(json!({"type": "future_call", "id": "f", "detail": {"note": text}})),
        json!({"tools": [{"type": "function", "name": "note", "description": text, "parameters": {}}]}),
        json!({"metadata": {"note": text}}),
        json!({"user": text}),
        json!({"x_future": [{"note": text}]}),
    ]
}

/// Documents whose lines say what they hold. Inside of JSON inside of a string their lines are escaped twice, and the
/// detector does not read them there yet.
const LINES: &[&str] = &["name,ssn", "| name | ssn |", "PID|"];

/// Whether a place is inside of JSON that is itself a string.
fn is_nested(door: &Door, fields: &Value) -> bool {
    door.id() == "responses" && fields["input"][1]["arguments"].is_string()
}

#[test]
fn disguised_phi_is_found_at_every_door() {
    let mut wrong = Vec::new();
    for door in DOORS {
        for (kind, text, value) in DISGUISES {
            for fields in places(door, text) {
                if is_nested(door, &fields) && LINES.iter().any(|words| text.contains(words)) {
                    continue;
                }
                let body = body(door, &fields);
                let kinds: Vec<&str> = scanned(door, &body)
                    .report()
                    .kinds()
                    .map(PhiKind::code)
                    .collect();
                let masked = sent(door, "mask", &body);
                let is_gone = match &masked {
                    Ok(sent) => !sent.contains(value),
                    Err(code) => *code == "phi_not_rewritable",
                };
                let is_blocked = sent(door, "block", &body) == Err("phi_blocked");
                if !kinds.contains(kind) || !is_gone || !is_blocked {
                    wrong.push(format!("{door:?} {kinds:?} {masked:?} {body}"));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} are missed:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Texts that a model reads as one, and what must not reach a provider.
#[test]
fn texts_read_together_are_scanned_together() {
    let parts = |kind: &str, texts: [&str; 2]| json!([{"type": kind, "text": texts[0]}, {"type": kind, "text": texts[1]}]);
    let split = ["SSN 536-2", "2-8741"];
    let asked = ["What is your MRN?", "48291378"];
    let turns =
        json!([{"role": "assistant", "content": asked[0]}, {"role": "user", "content": asked[1]}]);
    let used = json!({"type": "tool_use", "id": "t", "name": "get_ssn", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "531228742"});
    let call =
        json!({"type": "function_call", "call_id": "c", "name": "get_ssn", "arguments": "{}"});
    let output = json!({"type": "function_call_output", "call_id": "c", "output": "531228742"});
    let rows = [
        (
            &CHAT,
            json!({"messages": [{"role": "user", "content": parts("text", split)}]}),
            "2-8741",
        ),
        (&CHAT, json!({"messages": turns}), "48291378"),
        (
            &MESSAGES,
            json!({"messages": [{"role": "user", "content": parts("text", split)}]}),
            "2-8741",
        ),
        (&MESSAGES, json!({"system": parts("text", split)}), "2-8741"),
        (&MESSAGES, json!({"messages": turns}), "48291378"),
        (
            &MESSAGES,
            json!({"system": "The patient's MRN:", "messages": [{"role": "user", "content": "48291378"}]}),
            "48291378",
        ),
        (
            &MESSAGES,
            json!({"messages": [{"role": "assistant", "content": [used]}, {"role": "user", "content": [result]}]}),
            "531228742",
        ),
        (&COUNT_TOKENS, json!({"messages": turns}), "48291378"),
        (
            &RESPONSES,
            json!({"input": [{"role": "user", "content": parts("input_text", split)}]}),
            "2-8741",
        ),
        (&RESPONSES, json!({"input": turns}), "48291378"),
        (
            &RESPONSES,
            json!({"instructions": "The patient's MRN:", "input": "48291378"}),
            "48291378",
        ),
        (&RESPONSES, json!({"input": [call, output]}), "531228742"),
        (
            &COMPLETIONS,
            json!({"prompt": "The patient's MRN:", "suffix": "48291378"}),
            "48291378",
        ),
    ];
    for (door, fields, value) in rows {
        let body = body(door, &fields);
        assert!(scanned(door, &body).report().has_phi(), "{door:?} {body}");
        let masked = sent(door, "mask", &body).unwrap();
        assert!(!masked.contains(value), "{door:?} {masked}");
    }
}

#[test]
fn phi_numbers_and_keys_are_not_rewritable() {
    for door in DOORS {
        for fields in [
            json!({"x_future": {"ssn": 536_228_741}}),
            json!({"x_future": {"maria.delgado@example.org": true}}),
        ] {
            let body = body(door, &fields);
            assert_eq!(
                sent(door, "mask", &body),
                Err("phi_not_rewritable"),
                "{body}"
            );
            assert_eq!(sent(door, "flag", &body).unwrap(), body.to_string());
        }
    }
}

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[test]
fn provider_ciphertext_is_forwarded_unchanged() {
    let hidden =
        "EuYBCkQIBxgCKkBZ3mHqj0vXw8TzPdR5kLcQ1aFyNbUeGo2iMsJt9+VfK/xE4lDpC7rWhSgYnOuA6ZvBqIX3TmHP";
    let said = |block: Value| json!({"messages": [{"role": "assistant", "content": [block]}, {"role": "user", "content": "Hi."}]});
    for (door, fields) in [
        (
            &MESSAGES,
            said(json!({"type": "thinking", "thinking": "Hm.", "signature": hidden})),
        ),
        (
            &MESSAGES,
            said(json!({"type": "redacted_thinking", "data": hidden})),
        ),
        (
            &MESSAGES,
            said(
                json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"type": "web_search_result", "url": "https://a.example", "title": "A", "encrypted_content": hidden}]}),
            ),
        ),
        (
            &RESPONSES,
            json!({"input": [{"type": "reasoning", "id": "r", "summary": [], "encrypted_content": hidden}]}),
        ),
        (
            &RESPONSES,
            json!({"input": [{"type": "compaction", "id": "c", "encrypted_content": hidden}]}),
        ),
        (
            &CHAT,
            json!({"messages": [{"role": "assistant", "content": "Hm.", "extra_content": {"google": {"thought_signature": hidden}}}]}),
        ),
        (
            &CHAT,
            json!({"messages": [{"role": "assistant", "content": "Hm.", "thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": hidden}]}]}),
        ),
    ] {
        let body = body(door, &fields);
        let scanned = scanned(door, &body);
        assert!(!scanned.report().has_phi(), "{body}");
        assert_eq!(scanned.report().unscannable(), [], "{body}");
        assert_eq!(sent(door, "mask", &body).unwrap(), body.to_string());
    }
}

#[test]
fn readable_text_in_ciphertext_field_is_refused() {
    let said = |block: Value| json!({"messages": [{"role": "assistant", "content": [block]}, {"role": "user", "content": "Hi."}]});
    for text in [
        "SSN 536-22-8741",
        "U1NOIDUzNi0yMi04NzQxLCBNYXJpYSBEZWxnYWRv",
        "UwBTAE4AIAA1ADMANgAtADIAMgAtADgANwA0ADEA",
        "EuYBCkQIBxgCKkBZ3mHqj0vXw8TzPdR5kLcQ1aFyNbUeGo2i SSN 536-22-8741",
    ] {
        for (door, fields) in [
            (
                &MESSAGES,
                said(json!({"type": "thinking", "thinking": "Hm.", "signature": text})),
            ),
            (
                &MESSAGES,
                said(json!({"type": "redacted_thinking", "data": text})),
            ),
            (
                &MESSAGES,
                said(
                    json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"type": "web_search_result", "url": "https://a.example", "title": "A", "encrypted_content": text}]}),
                ),
            ),
            (
                &RESPONSES,
                json!({"input": [{"type": "reasoning", "id": "r", "summary": [], "encrypted_content": text}]}),
            ),
            (
                &RESPONSES,
                json!({"input": [{"type": "compaction", "id": "c", "encrypted_content": text}]}),
            ),
            (
                &CHAT,
                json!({"messages": [{"role": "assistant", "content": "Hm.", "thinking_blocks": [{"type": "redacted_thinking", "data": text}]}]}),
            ),
        ] {
            let body = body(door, &fields);
            for mode in ["mask", "redact"] {
                assert_eq!(sent(door, mode, &body), Err("phi_not_rewritable"), "{body}");
            }
            assert_eq!(sent(door, "block", &body), Err("phi_blocked"), "{body}");
        }
    }
}

#[test]
fn the_same_words_elsewhere_are_text() {
    let text = "SSN 536-22-8741";
    for (door, fields) in [
        (
            &MESSAGES,
            json!({"messages": [{"role": "user", "content": [{"type": "thinking", "thinking": "Hm.", "signature": text}]}]}),
        ),
        (
            &MESSAGES,
            json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "Hm.", "signature": text}]}]}),
        ),
        (
            &MESSAGES,
            json!({"messages": [{"role": "user", "content": [{"type": "redacted_thinking", "data": text}]}]}),
        ),
        (&MESSAGES, json!({"signature": text})),
        (&MESSAGES, json!({"encrypted_content": text})),
        (
            &MESSAGES,
            json!({"metadata": {"source": {"type": "base64", "data": text}}}),
        ),
        (&RESPONSES, json!({"encrypted_content": text})),
        (&RESPONSES, json!({"metadata": {"encrypted_content": text}})),
        (
            &RESPONSES,
            json!({"input": [{"role": "user", "content": [{"type": "input_text", "text": "x", "encrypted_content": text}]}]}),
        ),
        (
            &RESPONSES,
            json!({"input": [{"type": "message", "role": "user", "content": "hi", "encrypted_content": text}]}),
        ),
        (
            &RESPONSES,
            json!({"input": [{"type": "function_call_output", "call_id": "c", "output": "1", "encrypted_content": text}]}),
        ),
        (&CHAT, json!({"encrypted_content": text})),
        (
            &CHAT,
            json!({"messages": [{"role": "user", "content": "hi", "thought_signature": text}]}),
        ),
    ] {
        let body = body(door, &fields);
        assert!(scanned(door, &body).report().has_phi(), "{door:?} {body}");
    }
}

#[test]
fn signed_thought_with_phi_is_refused() {
    let thought =
        json!({"type": "thinking", "thinking": "Her SSN is 536-22-8741.", "signature": "c2ln"});
    let fields = json!({"messages": [{"role": "assistant", "content": [thought]}, {"role": "user", "content": "Go on."}]});
    for door in [&MESSAGES, &COUNT_TOKENS] {
        let body = body(door, &fields);
        for mode in ["mask", "redact"] {
            assert_eq!(sent(door, mode, &body), Err("phi_not_rewritable"));
        }
        assert_eq!(sent(door, "block", &body), Err("phi_blocked"));
        assert_eq!(sent(door, "flag", &body).unwrap(), body.to_string());
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn unscannable_content_is_named_and_refused() {
    let user = |block: Value| json!({"messages": [{"role": "user", "content": [block]}]});
    let item = |item: Value| json!({"input": [item]});
    let part = |part: Value| json!({"input": [{"role": "user", "content": [part]}]});
    let picture = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}});
    let rows = [
        (&MESSAGES, user(picture.clone()), "messages[0].content[0]"),
        (
            &MESSAGES,
            user(
                json!({"type": "image", "source": {"type": "url", "url": "https://a.example/a.png"}}),
            ),
            "messages[0].content[0]",
        ),
        (
            &MESSAGES,
            user(json!({"type": "document", "source": {"type": "file", "file_id": "file_1"}})),
            "messages[0].content[0]",
        ),
        (
            &MESSAGES,
            user(json!({"type": "container_upload", "file_id": "file_1"})),
            "messages[0].content[0]",
        ),
        (
            &MESSAGES,
            user(json!({"type": "tool_result", "tool_use_id": "t", "content": [picture]})),
            "messages[0].content[0].content[0]",
        ),
        (
            &MESSAGES,
            user(json!({"type": "future_block", "content": [picture]})),
            "messages[0].content[0].content[0]",
        ),
        (
            &MESSAGES,
            json!({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
            "tools[0]",
        ),
        (
            &MESSAGES,
            json!({"tools": [{"type": "new_tool_2030", "name": "new"}]}),
            "tools[0]",
        ),
        (
            &MESSAGES,
            json!({"mcp_servers": [{"type": "url", "url": "https://a.example", "name": "a"}]}),
            "mcp_servers",
        ),
        (&MESSAGES, json!({"container": "container_1"}), "container"),
        (
            &COUNT_TOKENS,
            user(picture.clone()),
            "messages[0].content[0]",
        ),
        (
            &RESPONSES,
            json!({"previous_response_id": "resp_1"}),
            "previous_response_id",
        ),
        (
            &RESPONSES,
            json!({"conversation": {"id": "conv_1"}}),
            "conversation",
        ),
        (&RESPONSES, json!({"prompt": {"id": "pmpt_1"}}), "prompt"),
        (
            &RESPONSES,
            item(json!({"type": "item_reference", "id": "msg_1"})),
            "input[0]",
        ),
        (&RESPONSES, item(json!({"id": "msg_1"})), "input[0]"),
        (
            &RESPONSES,
            part(json!({"type": "input_file", "file_id": "file-1"})),
            "input[0].content[0]",
        ),
        (
            &RESPONSES,
            part(json!({"type": "input_image", "image_url": "https://a.example/a.png"})),
            "input[0].content[0]",
        ),
        (
            &RESPONSES,
            item(
                json!({"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot", "image_url": "https://a.example"}}),
            ),
            "input[0].output",
        ),
        (
            &RESPONSES,
            json!({"tools": [{"type": "web_search"}]}),
            "tools[0]",
        ),
        (
            &RESPONSES,
            json!({"tools": [{"type": "mcp", "server_label": "a", "server_url": "https://a.example"}]}),
            "tools[0]",
        ),
        (
            &RESPONSES,
            json!({"tools": [{"type": "shell", "environment": {"type": "container_auto"}}]}),
            "tools[0]",
        ),
        (
            &RESPONSES,
            json!({"tools": [{"type": "namespace", "name": "n", "tools": [{"type": "web_search"}]}]}),
            "tools[0]",
        ),
        (&EMBEDDINGS, json!({"input": [1820, 8415]}), "input"),
        (&EMBEDDINGS, json!({"input": [[1820], [8415]]}), "input"),
        (&COMPLETIONS, json!({"prompt": ["a", [1820]]}), "prompt"),
    ];
    for (door, fields, path) in rows {
        let body = body(door, &fields);
        let scanned = scanned(door, &body);
        let paths: Vec<&str> = scanned
            .report()
            .unscannable()
            .iter()
            .map(|part| part.path.as_str())
            .collect();
        assert_eq!(paths, [path], "{door:?} {body}");
        assert_eq!(
            sent(door, "mask", &body),
            Err("unscannable_content"),
            "{body}"
        );
        assert_eq!(sent(door, "flag", &body).unwrap(), body.to_string());
    }
}

#[test]
fn caller_run_tools_count_as_scannable() {
    let exec = json!({"type": "function", "name": "exec", "parameters": {"type": "object"}});
    for (door, fields) in [
        (
            &MESSAGES,
            json!({"tools": [{"type": "bash_20250124", "name": "bash"}, {"type": "custom", "name": "a", "input_schema": {}}, {"name": "b", "input_schema": {"properties": {"image": {"type": "string"}}}}]}),
        ),
        (
            &MESSAGES,
            json!({"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "draw", "input": {"type": "image", "file_id": "x"}}]}, {"role": "user", "content": "Go on."}]}),
        ),
        (
            &RESPONSES,
            json!({"tools": [exec, {"type": "custom", "name": "a"}, {"type": "local_shell"}, {"type": "shell"}, {"type": "namespace", "name": "n", "tools": [exec]}]}),
        ),
    ] {
        let body = body(door, &fields);
        assert_eq!(scanned(door, &body).report().unscannable(), [], "{body}");
    }
}

/// Returns the request that reaches Claude at Vertex: the end of its path, and its body.
fn at_vertex(door: &Door, mode: &str, body: &str) -> (String, String) {
    let request = Request::read(door.form, body.into(), &RequestLimits::default()).unwrap();
    let policy = Policy::uniform(mode.parse().unwrap());
    let scanned = protect::scan(&scanner(), request);
    let Outcome::Forward(clean) = protect::apply(&policy, &scanner(), scanned) else {
        panic!("{body}")
    };
    let site = Site {
        project: Some("ward"),
        region: Some("us-east5"),
        ..Site::new(ProviderKind::Vertex, "claude-sonnet-4-5@20250929")
    };
    let format = wire::format_of_kind(site.kind, site.model).unwrap();
    let written = format.write_request(&clean, &site, &|_| String::new());
    let cleared = egress::clear(&scanner(), written.unwrap()).unwrap();
    assert_eq!(
        cleared.path()[..5],
        ["v1", "projects", "ward", "locations", "us-east5"]
    );
    assert_eq!(
        (cleared.query(), cleared.headers()),
        (None, &[("content-type", "application/json")][..])
    );
    let path = cleared.path()[5..].join("/");
    (path, String::from_utf8(cleared.into_body()).unwrap())
}

#[test]
fn vertex_claude_receives_messages_body_as_written() {
    let path = "publishers/anthropic/models/claude-sonnet-4-5@20250929";
    let said = r#""messages" : [{"role":"user","content":"SSN 536-22-8741"}], "max_tokens":9"#;
    let masked = said.replace("536-22-8741", "[SSN]");
    let version = r#""anthropic_version":"vertex-2023-10-16""#;
    for (mode, sent) in [("flag", said), ("mask", masked.as_str())] {
        for (stream, method) in [
            ("", "rawPredict"),
            (r#","stream": true"#, "streamRawPredict"),
        ] {
            let body = format!(r#"{{ "model" : "claude-sonnet-4-5", {said}{stream} }}"#);
            let expected = format!(r"{{ {version}, {sent}{stream} }}");
            assert_eq!(
                at_vertex(&MESSAGES, mode, &body),
                (format!("{path}:{method}"), expected)
            );
        }
        // What only counts names its model in the body.
        let body = format!(r#"{{ "model" : "claude-sonnet-4-5", {said} }}"#);
        let expected = format!(r#"{{{version}, "model" : "claude-sonnet-4-5@20250929", {sent} }}"#);
        let path = "publishers/anthropic/models/count-tokens:rawPredict".to_owned();
        assert_eq!(at_vertex(&COUNT_TOKENS, mode, &body), (path, expected));
    }
}

#[test]
fn responses_are_stored_only_in_flag_mode() {
    for (fields, strict, is_adjusted) in [
        (
            r#"{ "model":"gpt-4o","input" : "Hi.","store": true,"temperature":1.0 }"#,
            r#"{ "model":"gpt-4o","input" : "Hi.","store": false,"temperature":1.0 }"#,
            true,
        ),
        (
            r#"{ "model":"gpt-4o","input" : "Hi." }"#,
            r#"{"store":false, "model":"gpt-4o","input" : "Hi." }"#,
            true,
        ),
        (
            r#"{"store":null,"model":"gpt-4o","input":"Hi."}"#,
            r#"{"store":false,"model":"gpt-4o","input":"Hi."}"#,
            true,
        ),
        (
            r#"{"store":false,"model":"gpt-4o","input":"Hi."}"#,
            r#"{"store":false,"model":"gpt-4o","input":"Hi."}"#,
            false,
        ),
    ] {
        for mode in ["flag", "block", "mask", "redact"] {
            let request =
                Request::read(RESPONSES.form, fields.into(), &RequestLimits::default()).unwrap();
            let policy = Policy::uniform(mode.parse().unwrap());
            let Outcome::Forward(clean) =
                protect::apply(&policy, &scanner(), protect::scan(&scanner(), request))
            else {
                panic!("{mode} {fields}")
            };
            let format = wire::format_for_model("gpt-4o").unwrap();
            let written = format
                .write_request(&clean, &site("gpt-4o"), &|_| String::new())
                .unwrap();
            let cleared = egress::clear(&scanner(), written).unwrap();
            let (body, named) = if mode == "flag" {
                (fields, false)
            } else {
                (strict, is_adjusted)
            };
            assert_eq!(std::str::from_utf8(cleared.body()).unwrap(), body, "{mode}");
            assert_eq!(
                cleared.adjusted(),
                if named {
                    vec!["store".to_owned()]
                } else {
                    Vec::new()
                },
                "{mode}"
            );
        }
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn invalid_field_is_named_at_every_door() {
    for (door, text, code, param) in [
        (
            &MESSAGES,
            r#"{"messages":[]}"#,
            "missing_required_parameter",
            Some("model"),
        ),
        (
            &MESSAGES,
            r#"{"model":"claude-a","max_tokens":1,"messages":[]}"#,
            "invalid_value",
            Some("messages"),
        ),
        (
            &MESSAGES,
            r#"{"model":"claude-a","messages":[{"role":"user","content":"a"}]}"#,
            "missing_required_parameter",
            Some("max_tokens"),
        ),
        (
            &MESSAGES,
            r#"{"model":"claude-a","max_tokens":1,"messages":[{"role":"nurse","content":"a"}]}"#,
            "invalid_value",
            Some("messages[0].role"),
        ),
        (
            &MESSAGES,
            r#"{"model":"claude-a","max_tokens":1,"messages":[{"role":"user","content":["a"]}]}"#,
            "invalid_type",
            Some("messages[0].content[0]"),
        ),
        (
            &MESSAGES,
            r#"{"model":"claude-a","max_tokens":1,"system":5,"messages":[{"role":"user","content":"a"}]}"#,
            "invalid_type",
            Some("system"),
        ),
        (
            &COUNT_TOKENS,
            r#"{"model":"claude-a","messages":[{"role":"user"}]}"#,
            "missing_required_parameter",
            Some("messages[0].content"),
        ),
        (
            &RESPONSES,
            r#"{"model":"gpt-4o","input":5}"#,
            "invalid_type",
            Some("input"),
        ),
        (
            &RESPONSES,
            r#"{"model":"gpt-4o","input":["a"]}"#,
            "invalid_type",
            Some("input[0]"),
        ),
        (
            &RESPONSES,
            r#"{"model":"gpt-4o","input":"a","store":"no"}"#,
            "invalid_type",
            Some("store"),
        ),
        (
            &EMBEDDINGS,
            r#"{"model":"text-embedding-3-small"}"#,
            "missing_required_parameter",
            Some("input"),
        ),
        (
            &EMBEDDINGS,
            r#"{"model":"text-embedding-3-small","input":[{}]}"#,
            "invalid_type",
            Some("input[0]"),
        ),
        (
            &COMPLETIONS,
            r#"{"model":"gpt-4o","prompt":{}}"#,
            "invalid_type",
            Some("prompt"),
        ),
        (
            &COMPLETIONS,
            r#"{"model":"gpt-4o","prompt":"a","a":1,"a":2}"#,
            "duplicate_key",
            None,
        ),
    ] {
        let error = Request::read(door.form, text.into(), &RequestLimits::default()).unwrap_err();
        assert_eq!(
            (error.code.code(), error.param.as_deref()),
            (code, param),
            "{text}"
        );
    }
}

#[test]
fn doors_have_their_own_paths_and_words() {
    for (index, door) in DOORS.iter().enumerate() {
        assert_eq!(Door::with_id(door.id()).unwrap().path, door.path);
        assert_eq!(Door::at(door.path).unwrap().id(), door.id());
        assert!(
            DOORS[..index]
                .iter()
                .all(|other| other.path != door.path && other.id() != door.id())
        );
    }
}
