//! Forms of a chat request, and the walk over every piece of its text.

use phigate_core::doors::CHAT;
use phigate_core::request::{self, Place, Request, RequestLimits};

fn read(body: &str) -> Result<Request, (&'static str, Option<String>)> {
    Request::read(
        CHAT.form,
        body.as_bytes().to_vec(),
        &RequestLimits::default(),
    )
    .map_err(|error| (error.code.code(), error.param))
}

/// A request with these messages and further fields.
fn with(messages: &str, fields: &str) -> String {
    format!(r#"{{"model":"gpt-4o","messages":{messages}{fields}}}"#)
}

const HI: &str = r#"[{"role":"user","content":"Hi."}]"#;

#[test]
#[expect(clippy::too_many_lines, reason = "a table, one row per rule")]
fn a_wrong_field_is_named() {
    let rows = [
        (
            r#"{"messages":[]}"#.into(),
            "missing_required_parameter",
            Some("model"),
        ),
        (
            r#"{"model":4,"messages":[]}"#.into(),
            "invalid_type",
            Some("model"),
        ),
        (
            r#"{"model":"gpt-4o"}"#.into(),
            "missing_required_parameter",
            Some("messages"),
        ),
        ("[]".into(), "invalid_type", None),
        (with("[]", ""), "invalid_value", Some("messages")),
        (with(r#""Hi.""#, ""), "invalid_type", Some("messages")),
        (with(r#"["Hi."]"#, ""), "invalid_type", Some("messages[0]")),
        (
            with(r#"[{"content":"a"}]"#, ""),
            "missing_required_parameter",
            Some("messages[0].role"),
        ),
        (
            with(r#"[{"role":"nurse","content":"a"}]"#, ""),
            "invalid_value",
            Some("messages[0].role"),
        ),
        (
            with(r#"[{"role":"user"}]"#, ""),
            "missing_required_parameter",
            Some("messages[0].content"),
        ),
        (
            with(r#"[{"role":"user","content":null}]"#, ""),
            "invalid_type",
            Some("messages[0].content"),
        ),
        (
            with(r#"[{"role":"user","content":5}]"#, ""),
            "invalid_type",
            Some("messages[0].content"),
        ),
        (
            with(r#"[{"role":"user","content":[{"type":"text"}]}]"#, ""),
            "missing_required_parameter",
            Some("messages[0].content[0].text"),
        ),
        (
            with(r#"[{"role":"tool","content":"x"}]"#, ""),
            "missing_required_parameter",
            Some("messages[0].tool_call_id"),
        ),
        (
            with(HI, r#","temperature":2.1"#),
            "invalid_value",
            Some("temperature"),
        ),
        (
            with(HI, r#","temperature":"hot""#),
            "invalid_type",
            Some("temperature"),
        ),
        (with(HI, r#","top_p":-0.1"#), "invalid_value", Some("top_p")),
        (
            with(HI, r#","max_tokens":0"#),
            "invalid_value",
            Some("max_tokens"),
        ),
        (
            with(HI, r#","max_tokens":1.5"#),
            "invalid_type",
            Some("max_tokens"),
        ),
        (
            with(HI, r#","stream":"yes""#),
            "invalid_type",
            Some("stream"),
        ),
        (with(HI, r#","stop":[1]"#), "invalid_type", Some("stop[0]")),
        (with(HI, r#","tools":{}"#), "invalid_type", Some("tools")),
    ];
    for (body, code, param) in rows {
        let error = read(&body).err();
        assert_eq!(error, Some((code, param.map(str::to_owned))), "{body}");
    }
}

#[test]
fn valid_openai_bodies_are_accepted() {
    let rows = [
        with(
            HI,
            r#","temperature":null,"max_tokens":1,"stop":null,"x_future":{"a":[1.50]}"#,
        ),
        with(
            r#"[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}]"#,
            "",
        ),
        with(r#"[{"role":"assistant","refusal":"no"}]"#, ""),
        with(
            r#"[{"role":"developer","content":[{"type":"text","text":"a"}]}]"#,
            "",
        ),
    ];
    for body in rows {
        assert!(read(&body).is_ok(), "{body}");
    }
}

#[test]
fn counts_are_limited() {
    let limits = RequestLimits {
        messages_max: 2,
        ..RequestLimits::default()
    };
    let three = with(
        r#"[{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"user","content":"c"}]"#,
        "",
    );
    let error = Request::read(CHAT.form, three.into_bytes(), &limits).unwrap_err();
    assert_eq!(
        (error.code.code(), error.param.as_deref()),
        ("invalid_value", Some("messages"))
    );
}

#[test]
fn values_and_fields_are_limited_too() {
    let zeros = format!(r#","x":[{}0]"#, "0,".repeat(600_000));
    assert_eq!(
        read(&with(HI, &zeros)).unwrap_err(),
        ("invalid_value", None)
    );
    let fields: String = (0..300)
        .map(|number| format!(r#","x{number}":1"#))
        .collect();
    assert_eq!(
        read(&with(HI, &fields)).unwrap_err(),
        ("invalid_value", None)
    );
}

#[test]
fn strings_numbers_and_keys_are_slots() {
    let request = read(&with(HI, r#","metadata":{"note":"x","n":[12345,true]}"#)).unwrap();
    let slots: Vec<(String, Place)> = request::slots(CHAT.form, request.document())
        .map(|slot| {
            (
                request::path(&request.document().value(slot.node)),
                slot.place,
            )
        })
        .collect();
    for (path, place) in [
        ("model", Place::Structure),
        ("messages[0].role", Place::Structure),
        ("messages[0].content", Place::Text),
        ("metadata.note", Place::Text),
        ("metadata.n[0]", Place::Number),
        ("metadata.{0}", Place::Key),
        ("metadata.{1}", Place::Key),
    ] {
        assert!(
            slots.contains(&(path.to_owned(), place)),
            "{path} {place:?}"
        );
    }
}

#[test]
fn a_path_never_spells_an_unusual_key() {
    let request = read(&with(
        HI,
        r#","metadata":{"Jane Roe, ward 7":{"note":"x"}}"#,
    ))
    .unwrap();
    let paths: Vec<String> = request::slots(CHAT.form, request.document())
        .map(|slot| request::path(&request.document().value(slot.node)))
        .collect();
    assert!(paths.contains(&"metadata.{0}.note".to_owned()));
    assert!(!paths.iter().any(|path| path.contains("Jane")));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table, one row per shape")]
fn non_text_content_is_named() {
    let rows = [
        (
            r#"[{"type":"image_url","image_url":{"url":"https://example.org/a.png"}}]"#,
            "messages[0].content[0]",
            "image_url",
        ),
        (
            r#"[{"type":"text","text":"a"},{"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}}]"#,
            "messages[0].content[1]",
            "input_audio",
        ),
        (
            r#"[{"type":"hologram","data":"x"}]"#,
            "messages[0].content[0]",
            "unknown",
        ),
        (
            r#""see data:image/png;base64,iVBORw0KGgo= here""#,
            "messages[0].content",
            "data_uri",
        ),
        // What a reader makes of it counts, not how it is written.
        (
            r#""see \u0064ata:image\/png;base64\u002ciVBORw0KGgo= here""#,
            "messages[0].content",
            "data_uri",
        ),
        (
            r#""DATA:IMAGE/PNG;name=x;BASE64,iVBORw0KGgo=""#,
            "messages[0].content",
            "data_uri",
        ),
        (
            r#"[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]"#,
            "messages[0].content[0]",
            "image_url",
        ),
    ];
    for (content, path, kind) in rows {
        let body = with(&format!(r#"[{{"role":"user","content":{content}}}]"#), "");
        let parts = request::unscannable(CHAT.form, read(&body).unwrap().document());
        let named: Vec<(&str, &str)> = parts
            .iter()
            .map(|part| (part.path.as_str(), part.kind.as_ref()))
            .collect();
        assert_eq!(named, [(path, kind)], "{content}");
    }
    // Not in a message's content, or hidden beside or inside a text.
    let picture = r#"{"type":"image_url","image_url":{"url":"https://example.org/a.png"}}"#;
    let hi = |more: &str| format!(r#"[{{"role":"user","content":"Hi."{more}}}]"#);
    let part = |more: &str| {
        format!(r#"[{{"role":"user","content":[{{"type":"text","text":"a",{more}}}]}}]"#)
    };
    for (messages, fields, path) in [
        (
            HI.to_owned(),
            format!(r#","prediction":{{"type":"content","content":[{picture}]}}"#),
            "prediction.content[0]",
        ),
        (
            HI.to_owned(),
            format!(r#","x_input":[[{picture}]]"#),
            "x_input[0][0]",
        ),
        (
            part(&format!(r#""content":[{picture}]"#)),
            String::new(),
            "messages[0].content[0].content[0]",
        ),
        (
            part(r#""image_url":{"url":"https://example.org/a.png"}"#),
            String::new(),
            "messages[0].content[0].image_url",
        ),
        (
            hi(r#","images":["iVBORw0KGgo="]"#),
            String::new(),
            "messages[0].images",
        ),
    ] {
        let body = with(&messages, &fields);
        let parts = request::unscannable(CHAT.form, read(&body).unwrap().document());
        let paths: Vec<&str> = parts.iter().map(|part| part.path.as_str()).collect();
        assert_eq!(paths, [path], "{body}");
    }
    let schema = r#","tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"image_url":{"type":"string"},"file":{"type":"string"}}}}}],"metadata":{"type":"document"}"#;
    assert!(
        request::unscannable(CHAT.form, read(&with(HI, schema)).unwrap().document()).is_empty()
    );
    let text = with(
        r#"[{"role":"user","content":[{"type":"text","text":"data:text/plain;base64,aGk="}]}]"#,
        "",
    );
    assert!(request::unscannable(CHAT.form, read(&text).unwrap().document()).is_empty());
    let prose = with(
        r#"[{"role":"user","content":"our data: encode it as; base64, then send"}]"#,
        "",
    );
    assert!(request::unscannable(CHAT.form, read(&prose).unwrap().document()).is_empty());
}
