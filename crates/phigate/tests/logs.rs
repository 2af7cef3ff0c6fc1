//! Logs for an operator at three in the morning: a line per request, causes of failures, counts of refusals.

use std::io::Write;
use std::net::TcpStream;

use crate::support::{
    Answer, CLEAN_TEXT, Gateway, Provider, Reply, SSN_TEXT, ask, exchange, next_answer,
};
use serde_json::Value;

/// The log as JSON; every line must be an object.
fn lines(gateway: &Gateway) -> Vec<Value> {
    let logs = gateway.logs.lock().unwrap().clone();
    let read =
        |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
    // The owner's link is not a log event.
    let events = logs.lines().filter(|line| !line.contains("/setup/"));
    events.map(read).collect()
}

/// The line of a request, once it is there.
fn line_of(gateway: &Gateway, id: &str) -> Value {
    for _ in 0..100 {
        let mut found = lines(gateway).into_iter();
        if let Some(line) = found.find(|line| line["request.id"] == id) {
            return line;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("no line about {id}");
}

#[test]
fn every_request_leaves_one_line_without_content() {
    let provider = Provider::start();
    let gateway = Gateway::start_with(&provider, &[("PHIGATE_LOG_FORMAT", "json")]);
    gateway.command(&["mode", "set", "mask"]);
    let key = gateway.key();
    let masked = gateway.chat(&key, &ask("gpt-4o", SSN_TEXT)).request_id();
    let line = line_of(&gateway, &masked);
    let key_id = key.split('_').nth(1).unwrap();
    let expected = serde_json::json!({
        "level": "INFO", "key.id": key_id, "model": "gpt-4o", "provider": "openai", "status": 200,
        "action": "masked", "mode": "mask", "findings": 1,
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&line[field], value, "{field} of {line}");
    }
    assert!(
        line["total_ms"].is_u64() && line["first_byte_ms"].is_u64(),
        "{line}"
    );
    let bad = gateway.chat(&key, "no JSON").request_id();
    let line = line_of(&gateway, &bad);
    assert_eq!(
        (&line["level"], &line["error"]),
        (&"INFO".into(), &"invalid_json".into())
    );
    provider.answer_next(Reply::Json(500, "{}".into()));
    let failed = gateway
        .chat(&key, &ask("claude-opus-4-5", CLEAN_TEXT))
        .request_id();
    let line = line_of(&gateway, &failed);
    assert_eq!(
        (&line["level"], &line["error"]),
        (&"WARN".into(), &"provider_error".into())
    );
    // A model that is not served is in the record, so that the mistake is found; a text in its place is not.
    let asked = |model: &str| gateway.chat(&key, &ask(model, CLEAN_TEXT)).request_id();
    let model_of = |id: String| gateway.records(&id)[0]["model"].clone();
    assert_eq!(model_of(asked("llama3.1:8b")), "llama3.1:8b");
    for text in [
        "My SSN is 536-22-8741.",
        "536-22-8741",
        "jane.roe@mail.example",
    ] {
        assert_eq!(model_of(asked(text)), Value::Null, "{text}");
    }
    let stranger = gateway
        .chat("phg_nonsense", &ask("gpt-4o", SSN_TEXT))
        .request_id();
    let line = line_of(&gateway, &stranger);
    assert_eq!(line["error"], "invalid_api_key");
    assert_eq!(line["client.address"], "127.0.0.1");
    let logs = gateway.logs.lock().unwrap();
    assert!(
        !logs.contains("536-22-8741") && !logs.contains("My SSN"),
        "{logs}"
    );
    assert!(!logs.contains('\u{1b}'), "colours in a file");
}

#[test]
fn every_request_is_counted_and_timed() {
    let provider = Provider::start();
    let gateway = Gateway::start_counting(&provider);
    gateway.command(&["mode", "set", "mask"]);
    let key = gateway.key();
    gateway.chat(&key, &ask("gpt-4o", SSN_TEXT));
    gateway.chat(&key, "no JSON");
    let texts = serde_json::json!({ "texts": [SSN_TEXT, SSN_TEXT] });
    gateway.post("/v1/scan", &key, &texts.to_string());
    for (name, labels, count) in [
        (
            "phigate_requests_total",
            &[
                r#"status="200""#,
                r#"action="masked""#,
                r#"mode="mask""#,
                r#"family="openai""#,
            ][..],
            1,
        ),
        (
            "phigate_requests_total",
            &[r#"status="400""#, r#"action="refused""#],
            1,
        ),
        (
            "phigate_requests_total",
            &[r#"status="200""#, r#"action="scanned""#],
            1,
        ),
        ("phigate_findings_total", &[r#"type="ssn""#], 3),
        // A request that was refused at once did not wait.
        ("phigate_added_seconds_count", &[], 2),
        ("phigate_provider_seconds_count", &[r#"family="openai""#], 1),
        ("phigate_audit_write_seconds_count", &[], 3),
        ("phigate_audit_write_failures_total", &[], 0),
    ] {
        assert_eq!(gateway.counted(name, labels), count, "{name} {labels:?}");
    }
}

#[test]
fn requests_refused_before_handler_are_logged() {
    let provider = Provider::start();
    let gateway = Gateway::start_with(&provider, &[("PHIGATE_LOG_FORMAT", "json")]);
    let raw = |lines: &str| {
        let request = format!(
            "{lines}\r\nHost: {}\r\nConnection: close\r\n\r\n",
            gateway.address
        );
        exchange(&gateway.address, request.as_bytes()).request_id()
    };
    for (request, status, error) in [
        (
            "GET /v1/chat/completions HTTP/1.1",
            405,
            "method_not_allowed",
        ),
        ("GET /v1/jane.roe@mail.example HTTP/1.1", 404, "not_found"),
        ("GET /v1/batches HTTP/1.1", 404, "not_found"),
        ("GET / HTTP/1.1\r\nHost: elsewhere", 400, "invalid_http"),
        (
            "POST /v1/chat/completions HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: 0",
            415,
            "unsupported_media_type",
        ),
    ] {
        let line = line_of(&gateway, &raw(request));
        assert_eq!(
            (&line["status"], &line["error"]),
            (&status.into(), &error.into()),
            "{line}"
        );
        assert_eq!(line["level"], "INFO");
    }
    assert!(!gateway.logs.lock().unwrap().contains("jane.roe"));
}

#[test]
fn unreachable_provider_warning_names_its_cause() {
    let provider = Provider::start();
    let gateway = Gateway::start_with(&provider, &[("PHIGATE_LOG_FORMAT", "json")]);
    let nowhere = "http://127.0.0.1:9";
    let set = [
        "provider",
        "set",
        "openai",
        "--key-stdin",
        "--base-url",
        nowhere,
    ];
    gateway.command_with_input(&set, "sk-test-of-no-value\n");
    let id = gateway
        .chat(&gateway.key(), &ask("gpt-4o", CLEAN_TEXT))
        .request_id();
    let line = line_of(&gateway, &id);
    assert_eq!(line["level"], "WARN");
    assert_eq!(line["error"], "provider_unreachable");
    assert_eq!(line["cause"], "the provider cannot be reached");
    let logs = gateway.logs.lock().unwrap();
    assert!(logs.contains("cannot connect to the provider"), "{logs}");
}

#[test]
fn refused_requests_are_counted_in_trail() {
    let provider = Provider::start();
    let limit = [("PHIGATE_LIMITS_KEY_REQUESTS_PER_MINUTE", "2")];
    let mut gateway = Gateway::start_with(&provider, &limit);
    let (key, revoked) = (gateway.key(), gateway.key());
    let statuses: Vec<u16> = (0..5)
        .map(|_| gateway.chat(&key, &ask("gpt-4o", CLEAN_TEXT)).status)
        .collect();
    assert_eq!(statuses, [200, 200, 429, 429, 429]);
    gateway.command(&["key", "revoke", id_of(&revoked)]);
    assert_eq!(
        gateway.chat(&revoked, &ask("gpt-4o", CLEAN_TEXT)).status,
        401
    );
    gateway.signal("-TERM");
    assert_eq!(gateway.wait(), Some(0));
    assert_eq!(counted(&gateway, &key, "rate_limit_exceeded"), 3);
    assert_eq!(counted(&gateway, &revoked, "invalid_api_key"), 1);
}

#[test]
fn refused_keys_are_visible_to_those_concerned() {
    let provider = Provider::start();
    let mut gateway = Gateway::start(&provider);
    let key = gateway.key();
    gateway.command(&["account", "create", "cardiology"]);
    let (named, other) = (["--account", "default"], ["--account", "cardiology"]);
    let last = if key.ends_with('x') { 'y' } else { 'x' };
    let wrong = format!("{}{last}", &key[..key.len() - 1]);
    let unknown = wrong.replace(id_of(&key), "aaaaaaaaaaaa");
    for tried in [wrong.as_str(), &unknown, "phg_nonsense"] {
        assert_eq!(gateway.chat(tried, &ask("gpt-4o", CLEAN_TEXT)).status, 401);
    }
    gateway.signal("-TERM");
    assert_eq!(gateway.wait(), Some(0));
    let refused = |arguments: &[&str]| -> Vec<Value> {
        let export = gateway.command(&[&["audit", "export"], arguments].concat());
        let records = export
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        records
            .filter(|record| record["act"] == "key.refused")
            .collect()
    };
    let of_account = refused(&named);
    assert_eq!(of_account.len(), 1, "{of_account:?}");
    assert_eq!(of_account[0]["target"], id_of(&key));
    assert_eq!(of_account[0]["details"]["address"], "127.0.0.1");
    assert_eq!(of_account[0]["details"]["cause"], "wrong_secret");
    assert!(refused(&other).is_empty());
    let of_nobody = refused(&["--installation"]);
    assert_eq!(of_nobody.len(), 2, "{of_nobody:?}");
    let listed = gateway.command(&["audit", "list", "--installation"]);
    let tries: Vec<&str> = listed
        .lines()
        .filter(|line| line.contains("key.refused"))
        .collect();
    assert_eq!(tries.len(), 2, "{listed}");
    assert!(tries.iter().all(|line| line.contains("127.0.0.1")));
    assert!(!listed.contains("phg_nonsense"), "{listed}");
    let json = gateway.command(&["audit", "list", "--installation", "--json", "--limit", "1"]);
    let record: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(record["record"], "admin");
    let file = gateway.folder.path().join("export.jsonl");
    let export = gateway.command(&["audit", "export", "--installation"]);
    std::fs::write(&file, export).unwrap();
    let verified = gateway.command(&["audit", "verify", file.to_str().unwrap()]);
    assert!(verified.contains("intact"), "{verified}");
    // A bad key is not treated as a forgery.
    gateway.logs.lock().unwrap().clear();
    gateway.serve();
    std::thread::sleep(std::time::Duration::from_secs(1));
    let logs = gateway.logs.lock().unwrap().clone();
    assert!(!logs.contains("retention stopped"), "{logs}");
}

fn id_of(key: &str) -> &str {
    key.split('_').nth(1).unwrap()
}

/// Number of refusals of a key that the trail counts.
fn counted(gateway: &Gateway, key: &str, code: &str) -> u64 {
    let trail = gateway.command(&["audit", "export"]);
    let records = trail
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let wanted = records.filter(|record| {
        record["act"] == "requests.refused"
            && record["target"] == id_of(key)
            && record["details"]["error_code"] == code
    });
    let number = |act: Value| act["details"]["count"].as_str().unwrap().parse::<u64>();
    wanted.map(|act| number(act).unwrap()).sum()
}

/// The guard refuses further requests on a connection; a handler refuses the first on it.
#[test]
fn guard_and_handler_refusals_are_alike() {
    let provider = Provider::start();
    let settings = [
        ("PHIGATE_LIMITS_KEY_REQUESTS_PER_MINUTE", "1"),
        ("PHIGATE_LOG_FORMAT", "json"),
    ];
    let mut gateway = Gateway::start_with(&provider, &settings);
    let key = gateway.key();
    let body = ask("gpt-4o", CLEAN_TEXT);
    assert_eq!(gateway.chat(&key, &body).status, 200);
    let doors = ["/v1/chat/completions", "/v1/messages", "/v1/responses"];
    for path in doors {
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer {key}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut socket = TcpStream::connect(&gateway.address).unwrap();
        let told = [(); 3].map(|()| {
            socket.write_all(request.as_bytes()).unwrap();
            next_answer(&mut socket)
        });
        for answer in &told {
            assert_eq!(answer.status, 429);
            let line = line_of(&gateway, &answer.request_id());
            assert_eq!(line["message"], "request not let in");
            assert_eq!(line["key.id"], id_of(&key));
            assert_eq!(without_id_and_time(answer), without_id_and_time(&told[0]));
        }
    }
    gateway.signal("-TERM");
    assert_eq!(gateway.wait(), Some(0));
    let expected = 3 * doors.len() as u64;
    assert_eq!(counted(&gateway, &key, "rate_limit_exceeded"), expected);
}

/// Parts of an answer that two refusals of a request have in common.
fn without_id_and_time(answer: &Answer) -> (Vec<(String, String)>, Value) {
    let (mut headers, mut body) = (answer.headers.clone(), answer.json());
    headers.retain(|(name, _)| !["x-gateway-request-id", "date"].contains(&name.as_str()));
    headers.sort();
    for (name, value) in &mut headers {
        if name == "retry-after" {
            assert!((1..=60).contains(&value.parse::<u64>().unwrap()), "{value}");
            value.clear();
        }
    }
    if let Some(id) = body.get_mut("request_id") {
        assert_eq!(*id, answer.request_id().as_str());
        *id = Value::Null;
    }
    (headers, body)
}
