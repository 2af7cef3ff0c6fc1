//! `POST /v1/chat/completions`, end to end: the real binary, a recording provider, bytes on sockets.

use std::time::{Duration, Instant};

use crate::support::{
    CLEAN_TEXT, Gateway, Provider, Reply, SSN_TEXT, ask, exchange, openai_stream,
};

const NOTE: &str = "Patient John Smith, SSN 536-22-8741, has a cough";

#[test]
fn clean_request_is_forwarded_byte_for_byte() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let body = "{ \"messages\" : [ {\"content\":\"caf\\u00e9 \\/ dose?\" , \"role\":\"user\"} ],\n\t\"model\":\"gpt-4o\", \"x\":1.50 }\n";
    let answer = gateway.chat(&gateway.key(), body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.json()["choices"][0]["message"]["content"], "Hello.");
    assert_eq!(answer.header("x-gateway-phi-detected"), Some("false"));
    assert_eq!(answer.header("x-gateway-phi-types"), Some(""));
    let seen = provider.last();
    assert_eq!(String::from_utf8(seen.body.clone()).unwrap(), body);
    assert_eq!(seen.target, "/v1/chat/completions");
    assert_eq!(
        seen.header("authorization"),
        Some("Bearer sk-test-of-no-value")
    );
}

#[test]
fn each_mode_handles_phi_as_specified() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    for (mode, sent) in [
        ("flag", NOTE),
        ("redact", "Patient , SSN , has a cough"),
        ("mask", "Patient [NAME], SSN [SSN], has a cough"),
    ] {
        gateway.set_mode(mode);
        let answer = gateway.chat(&key, &ask("gpt-4o", NOTE));
        assert_eq!(answer.status, 200, "{mode}: {}", answer.text());
        assert_eq!(answer.header("x-gateway-phi-types"), Some("ssn,name"));
        assert_eq!(
            provider.last().json()["messages"][0]["content"],
            sent,
            "{mode}"
        );
        let revealed =
            gateway.command(&["audit", "reveal", &answer.request_id(), "--reason", "test"]);
        let revealed: serde_json::Value = serde_json::from_str(&revealed).unwrap();
        assert!(
            revealed["original"].as_str().unwrap().contains(NOTE),
            "{mode}"
        );
        assert_eq!(
            revealed["sent"].as_str().unwrap().as_bytes(),
            provider.last().body,
            "{mode}"
        );
    }
    assert!(!gateway.is_on_disk(b"536-22-8741") && !gateway.is_on_disk(b"John Smith"));
    assert!(!gateway.is_on_disk(b"sk-test-of-no-value"));
}

#[test]
fn block_refuses_and_opens_no_connection() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    gateway.command(&["mode", "set", "block"]);
    let answer = gateway.chat(&gateway.key(), &ask("gpt-4o", SSN_TEXT));
    assert_eq!(
        answer.error(),
        (403, "phi_error".into(), "phi_blocked".into())
    );
    assert_eq!(
        answer.json()["error"]["phi_types"],
        serde_json::json!(["ssn"])
    );
    assert_eq!(answer.header("x-gateway-phi-detected"), Some("true"));
    assert_eq!(provider.connections(), 0);
    let records = gateway.records(&answer.request_id());
    let told: Vec<&str> = records
        .iter()
        .filter_map(|record| record["record"].as_str())
        .collect();
    assert_eq!(told, ["decision", "outcome"]);
    assert_eq!(records[0]["action"], "blocked");
    assert_eq!(records[0]["phi_detected"], true);
    assert_eq!(records[1]["status"], 403);
    let unread = gateway.chat(&gateway.key(), "{").request_id();
    let list = gateway.command(&["audit", "list"]);
    let line = |id: &str| list.lines().find(|line| line.contains(id)).unwrap();
    assert!(line(&answer.request_id()).contains("ssn"), "{list}");
    assert!(line(&unread).contains("not scanned"), "{list}");
}

#[test]
fn each_model_family_gets_own_format() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    for (model, target, key_header) in [
        ("gpt-4o", "/v1/chat/completions", "authorization"),
        ("claude-3-5-sonnet", "/v1/messages", "x-api-key"),
        (
            "gemini-2.5-flash",
            "/v1beta/models/gemini-2.5-flash:generateContent",
            "x-goog-api-key",
        ),
    ] {
        let answer = gateway.chat(&key, &ask(model, CLEAN_TEXT));
        assert_eq!(
            answer.json()["choices"][0]["message"]["content"],
            "Hello.",
            "{model}"
        );
        let seen = provider.last();
        assert_eq!(seen.target, target);
        assert!(
            seen.header(key_header)
                .is_some_and(|value| value.ends_with("sk-test-of-no-value")),
            "{model}"
        );
    }
}

#[test]
fn refusals_before_scan_have_status_and_code() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    gateway.command(&["provider", "remove", "google"]);
    let rows = [
        ("{".to_owned(), (400, "invalid_json")),
        (
            r#"{"model":"gpt-4o","model":"x","messages":[]}"#.to_owned(),
            (400, "duplicate_key"),
        ),
        (
            r#"{"model":"gpt-4o"}"#.to_owned(),
            (400, "missing_required_parameter"),
        ),
        (ask("llama-3", CLEAN_TEXT), (404, "model_not_found")),
        (
            ask("gemini-2.5-flash", CLEAN_TEXT),
            (400, "provider_not_configured"),
        ),
    ];
    // Clients show the message to people who then look for a model: it says how models are added.
    let unknown = gateway.chat(&key, &ask("llama3.1:8b", CLEAN_TEXT)).json();
    let message = unknown["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("GET /v1/models") && message.contains("provider set"),
        "{message}"
    );
    for (body, (status, code)) in rows {
        let answer = gateway.chat(&key, &body);
        assert_eq!(
            answer.error(),
            (status, "invalid_request_error".into(), code.into())
        );
        assert_eq!(
            answer.header("x-gateway-phi-detected"),
            None,
            "not scanned: {code}"
        );
        let records = gateway.records(&answer.request_id());
        assert_eq!(records[0]["action"], "refused", "{code}");
        assert_eq!(records.len(), 2, "{code}");
    }
    assert_eq!(
        gateway.chat("phg_nonsense", "{}").error().2,
        "invalid_api_key"
    );
    let no_key = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        gateway.address
    );
    assert_eq!(
        exchange(&gateway.address, no_key.as_bytes()).error().2,
        "missing_api_key"
    );
    assert!(provider.seen().is_empty());
}

#[test]
fn a_stream_arrives_piece_by_piece() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    provider.answer_next(Reply::Events(
        openai_stream(&["Hel", "lo."]),
        Duration::from_millis(150),
    ));
    let body = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"Hi."}],"stream":true}"#;
    let started = Instant::now();
    let mut socket = std::net::TcpStream::connect(&gateway.address).unwrap();
    let key = gateway.key();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    std::io::Write::write_all(&mut socket, head.as_bytes()).unwrap();
    let (mut text, mut pieces, mut buffer) = (String::new(), 0, [0; 4096]);
    loop {
        let count = std::io::Read::read(&mut socket, &mut buffer).unwrap();
        if count == 0 {
            break;
        }
        pieces += 1;
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    assert!(pieces >= 4, "{pieces} pieces in {:?}", started.elapsed());
    assert!(
        text.contains("text/event-stream") && text.contains("Hel") && text.contains("data: [DONE]")
    );
}

#[test]
fn an_unfinished_stream_never_looks_finished() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let mut events = openai_stream(&["Hel", "lo."]);
    events.truncate(2);
    provider.answer_next(Reply::CutEvents(events));
    let body = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"Hi."}],"stream":true}"#;
    let answer = gateway.chat(&gateway.key(), body);
    assert!(answer.text().contains("\"error\""), "{}", answer.text());
    assert!(!answer.text().contains("[DONE]"));
    assert!(!answer.is_whole, "the connection must break off");
    let records = gateway.records(&answer.request_id());
    assert_eq!(records[1]["error_code"], "provider_error");
}

#[test]
fn caller_hangup_cancels_provider_call() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    provider.answer_next(Reply::Events(
        openai_stream(&["a"; 200]),
        Duration::from_millis(50),
    ));
    let body = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"Hi."}],"stream":true}"#;
    let key = gateway.key();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut socket = std::net::TcpStream::connect(&gateway.address).unwrap();
    std::io::Write::write_all(&mut socket, head.as_bytes()).unwrap();
    let mut first = [0; 512];
    std::io::Read::read(&mut socket, &mut first).unwrap();
    drop(socket);
    let deadline = Instant::now() + Duration::from_secs(5);
    while provider.closed_early() == 0 {
        assert!(Instant::now() < deadline, "the provider's stream goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    let export = gateway.command(&["audit", "export"]);
    assert!(export.contains("client_disconnected"), "{export}");
}

#[test]
fn provider_error_message_passes_without_phi() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let words = format!("cannot work with: {SSN_TEXT}");
    let error =
        serde_json::json!({ "error": { "message": words, "type": "invalid_request_error" } });
    provider.answer_next(Reply::Json(400, error.to_string()));
    let answer = gateway.chat(&gateway.key(), &ask("gpt-4o", SSN_TEXT));
    assert_eq!(
        answer.error(),
        (
            400,
            "invalid_request_error".into(),
            "provider_rejected".into()
        )
    );
    assert!(
        answer.text().contains("[SSN]") && !answer.text().contains("8741"),
        "{}",
        answer.text()
    );
    assert!(!gateway.logs.lock().unwrap().contains("8741"));
}

#[test]
fn a_revoked_key_is_refused_at_once() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    assert_eq!(gateway.chat(&key, &ask("gpt-4o", CLEAN_TEXT)).status, 200);
    gateway.command(&["key", "revoke", key.split('_').nth(1).unwrap()]);
    assert_eq!(
        gateway.chat(&key, &ask("gpt-4o", CLEAN_TEXT)).error().2,
        "invalid_api_key"
    );
}

#[test]
fn models_are_those_of_the_configured_families() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    gateway.command(&["provider", "remove", "anthropic"]);
    let list = gateway.get("/v1/models", &key).json();
    let ids: Vec<&str> = list["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|model| model["id"].as_str())
        .collect();
    assert!(
        ids.contains(&"gpt-4o") && ids.contains(&"gemini-2.5-flash"),
        "{ids:?}"
    );
    assert!(!ids.iter().any(|id| id.starts_with("claude")), "{ids:?}");
    assert_eq!(
        gateway.get("/v1/models/gpt-4o", &key).json()["id"],
        "gpt-4o"
    );
    assert_eq!(
        gateway.get("/v1/models/claude-3-opus", &key).error().2,
        "model_not_found"
    );
}

#[test]
fn an_agent_of_many_steps_passes_unchanged() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    for mode in ["mask", "block"] {
        gateway.command(&["mode", "set", mode]);
        let mut messages =
            vec![serde_json::json!({"role": "user", "content": "Tidy up the open tickets."})];
        for step in 0..20 {
            let id = format!("call_{step:04}");
            let path = format!("src/modules/report_{step}.rs");
            let arguments = serde_json::json!({"path": path, "case_number": 2_024_000 + step});
            let result = serde_json::json!({"inode": 13_107_200 + step * 7, "contact_id": 7_340_000 + step, "mtime": 1_731_974_400 + step * 60});
            messages.push(serde_json::json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": {"name": "stat_file", "arguments": arguments.to_string()}}]}));
            messages.push(serde_json::json!({"role": "tool", "tool_call_id": id, "content": result.to_string()}));
            let body = serde_json::json!({"model": "gpt-4o", "messages": messages}).to_string();
            let answer = gateway.chat(&key, &body);
            assert_eq!(answer.status, 200, "{mode}, step {step}");
            assert_eq!(provider.last().body, body.as_bytes(), "{mode}, step {step}");
        }
    }
}

#[test]
fn numbers_in_tool_arguments_are_masked() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    gateway.command(&["mode", "set", "mask"]);
    let body = r#"{"model":"gpt-4o","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"ssn\":536228741}"}}]},{"role":"tool","tool_call_id":"c","content":"Done."}]}"#;
    let answer = gateway.chat(&key, body);
    assert_eq!(answer.status, 200);
    let sent = provider.last().json();
    let arguments = &sent["messages"][0]["tool_calls"][0]["function"]["arguments"];
    assert_eq!(arguments, r#"{"ssn":"[SSN]"}"#);
}

#[test]
fn model_with_personal_name_is_withheld_everywhere() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    for mode in ["flag", "mask", "block"] {
        gateway.command(&["mode", "set", mode]);
        let answer = gateway.chat(&key, &ask("gpt-kofi-okonkwo", CLEAN_TEXT));
        let status = match mode {
            "flag" => 200,
            "mask" => 400,
            _ => 403,
        };
        assert_eq!(answer.status, status, "{mode}");
        let records = gateway.records(&answer.request_id());
        assert_eq!(records[0]["model"], "[withheld]", "{mode}");
        assert!(!format!("{records:?}").contains("okonkwo"), "{mode}");
    }
    // Nor that of a model that is not served.
    let answer = gateway.chat(&key, &ask("kofi-okonkwo", CLEAN_TEXT));
    assert_eq!(answer.error().2, "model_not_found");
    assert!(!format!("{:?}", gateway.records(&answer.request_id())).contains("okonkwo"));
    assert!(!gateway.logs.lock().unwrap().contains("okonkwo"));
    assert!(!gateway.is_on_disk(b"okonkwo"), "index, counters, records");
}

#[test]
fn phi_formed_by_translation_is_blocked() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    // Google's format puts the system's text before the user's first text.
    let halves =
        r#"[{"role":"user","content":"536228741"},{"role":"system","content":"My SSN is"}]"#;
    let body = format!(r#"{{"model":"gemini-2.5-flash","messages":{halves}}}"#);
    gateway.command(&["mode", "set", "block"]);
    let answer = gateway.chat(&key, &body);
    assert_eq!(
        answer.error(),
        (403, "phi_error".into(), "phi_blocked".into())
    );
    assert_eq!(answer.header("x-gateway-phi-types"), Some("ssn"));
    assert_eq!(gateway.records(&answer.request_id())[0]["types"]["ssn"], 1);
    gateway.command(&["mode", "set", "mask"]);
    assert_eq!(gateway.chat(&key, &body).error().2, "phi_not_rewritable");
    assert_eq!(provider.connections(), 0);
}

#[test]
fn model_with_phi_never_enters_url() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let answer = gateway.chat(&gateway.key(), &ask("gemini-536-22-8741", CLEAN_TEXT));
    assert_eq!(
        answer.error(),
        (400, "invalid_request_error".into(), "invalid_value".into())
    );
    assert_eq!(provider.connections(), 0);
}
