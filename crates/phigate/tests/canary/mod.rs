//! A marker in every string of every kind of request, reply and error, at every door: afterwards it is found nowhere.
//!
//! The marker is PHI by itself (an e-mail address), so that it must not be shown. It is sent in every value and every
//! key of a request to every door, in paths, queries, headers, forms and broken HTTP, and said by the provider in
//! replies, errors and streams, whole and cut. Then every place where it must not be is searched: error bodies,
//! headers, logs at trace level, metrics, temporary files, the files of the store with its write-ahead log, and the
//! output of commands. A panic would be in the logs; `a_panic_is_answered_without_its_message` shows that its message
//! would not.
#![allow(
    unreachable_pub,
    clippy::too_many_lines,
    reason = "tables of a test may be long"
)]

mod bodies;
mod sweep;

use std::time::Duration;

use crate::postgres::Postgres;
use crate::support::{Answer, Gateway, Provider, Reply, exchange};
use serde_json::{Value, json};

/// Marker to search for.
const MARKER: &str = "qzxcanary7719";
/// Marker as sent: PHI in any context.
const SENT: &str = "qzxcanary7719@example.org";

const WIDE: &[(&str, &str)] = &[
    ("PHIGATE_LOG", "trace"),
    ("PHIGATE_PRESIDIO_LISTEN", "127.0.0.1:0"),
    ("PHIGATE_LIMITS_KEY_REQUESTS_PER_MINUTE", "1000000"),
    ("PHIGATE_LIMITS_BAD_KEYS_PER_MINUTE", "1000000"),
    ("PHIGATE_LIMITS_PROVIDER_RETRIES", "0"),
    // For a busy machine.
    ("PHIGATE_LIMITS_DECISION_MS", "30000"),
];

#[test]
fn sent_marker_leaks_nowhere_on_sqlite() {
    let scene = Scene::start(&[]);
    scene.play();
    scene.sweep();
    assert!(sweep::folder(scene.gateway.folder.path(), MARKER) > 100_000);
}

#[test]
fn sent_marker_leaks_nowhere_on_postgresql() {
    // The server writes every statement with its parameters into its own log.
    let Some(server) = Postgres::start_with(vec!["log_statement=all", "log_min_messages=debug1"])
    else {
        return;
    };
    let scene = Scene::start(&[("PHIGATE_DATABASE_URL", &server.database("canary"))]);
    scene.play();
    scene.sweep();
    sweep::folder(scene.gateway.folder.path(), MARKER);
    assert!(server.psql("canary", "CHECKPOINT"));
    assert!(sweep::folder(server.data().parent().unwrap(), MARKER) > 1_000_000);
}

/// A gateway with everything switched on that could write something down.
struct Scene {
    provider: Provider,
    gateway: Gateway,
    key: String,
    metrics: String,
    temporary: tempfile::TempDir,
}

impl Scene {
    fn start(settings: &[(&str, &str)]) -> Self {
        let (provider, temporary) = (Provider::start(), tempfile::tempdir().unwrap());
        // The port is given back here, for the gateway to take.
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let metrics = free.local_addr().unwrap().to_string();
        drop(free);
        let own = [
            ("PHIGATE_METRICS_LISTEN", metrics.as_str()),
            ("TMPDIR", temporary.path().to_str().unwrap()),
        ];
        let gateway = Gateway::start_with(&provider, &[WIDE, &own, settings].concat());
        let key = gateway.key();
        Self {
            provider,
            gateway,
            key,
            metrics,
            temporary,
        }
    }

    fn play(&self) {
        for mode in ["flag", "mask", "block", "redact"] {
            self.gateway.set_mode(mode);
            let is_restoring = if mode == "mask" { "on" } else { "off" };
            self.gateway.command(&["restore", "set", is_restoring]);
            let scan = if mode == "redact" { "mask" } else { "flag" };
            let reason = ["--reason", "a test of replies"];
            let set = ["replies", "set", scan];
            self.gateway.command(&[&set[..], &reason].concat());
            self.every_request();
            self.documents();
        }
        self.every_reply();
        self.around_requests();
        self.people();
        self.presidio();
        let seen = self.provider.seen();
        let has_marker = |body: &[u8]| sweep::place(body, MARKER).is_some();
        // Only a marker that was really sent proves anything.
        assert!(
            seen.iter().filter(|seen| has_marker(&seen.body)).count() > 50,
            "flag mode sends what it gets"
        );
    }

    /// The marker in every string of every request.
    fn every_request(&self) {
        for sample in bodies::samples() {
            let sent = self.post(sample.path, &sample.body);
            let (path, status) = (sample.path, sent.status);
            assert!(status < 500, "{path}: {status} {}", sent.text());
            for body in bodies::marked(&sample.body, SENT) {
                self.check(sample.path, &self.post(sample.path, &body));
            }
        }
    }

    /// The marker in documents: read, damaged and of an unknown type.
    fn documents(&self) {
        self.gateway.command(&["documents", "set", "text"]);
        for document in bodies::documents(SENT) {
            let sent = self.post("/v1/chat/completions", &document);
            assert!(matches!(sent.status, 200 | 400 | 403), "{}", sent.text());
            self.check("a document", &sent);
        }
        self.gateway.command(&["documents", "set", "refuse"]);
    }

    /// The marker in every kind of reply, whole and streamed, of every format.
    fn every_reply(&self) {
        self.gateway.set_mode("flag");
        for scan in ["off", "flag", "mask"] {
            let reason = ["--reason", "a test of replies"];
            let set = ["replies", "set", scan];
            self.gateway.command(&[&set[..], &reason].concat());
            for sample in bodies::samples() {
                let is_service = sample.path.contains("scan") || sample.path.contains("guardrail");
                for reply in replies().into_iter().filter(|_| !is_service) {
                    let mut body = sample.body.clone();
                    body["stream"] =
                        matches!(reply, Reply::Events(..) | Reply::CutEvents(_)).into();
                    self.provider.answer_next(reply);
                    self.check(sample.path, &self.post(sample.path, &body));
                    // Too many failures in a row, and the provider is left alone for a while.
                    body["stream"] = false.into();
                    self.post(sample.path, &body);
                }
            }
        }
    }

    /// Sends the marker outside of bodies: in paths, queries, headers, and malformed requests.
    fn around_requests(&self) {
        let address = &self.gateway.address;
        let key = &self.key;
        let ok = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"Hi."}]}"#;
        for path in [
            format!("/v1/{SENT}"),
            format!("/v1/models/{SENT}"),
            format!("/v1/chat/completions?user={SENT}"),
            format!("/{SENT}"),
            format!("/setup/{SENT}"),
            format!("/audit/{SENT}?q={SENT}"),
            format!("/assets/{SENT}"),
        ] {
            self.check(&path, &self.gateway.get(&path, key));
            self.check(&path, &self.gateway.post(&path, key, ok));
        }
        for header in [
            "Authorization",
            "X-Api-Key",
            "User-Agent",
            "Cookie",
            "Content-Type",
            "Origin",
            "Referer",
            "X-Forwarded-For",
            "Traceparent",
            "X-Request-Id",
            "Anthropic-Beta",
            "Anthropic-Version",
            "Idempotency-Key",
            "OpenAI-Organization",
            "X-Stainless-Lang",
            "Expect",
            "Upgrade",
            "X-New",
        ] {
            for path in ["/v1/chat/completions", "/v1/messages", "/v1/responses"] {
                let own = if header == "Authorization" {
                    String::new()
                } else {
                    format!("Authorization: Bearer {key}\r\n")
                };
                let head = format!(
                    "POST {path} HTTP/1.1\r\nHost: {address}\r\n{own}{header}: {SENT}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{ok}",
                    ok.len()
                );
                self.check(header, &exchange(address, head.as_bytes()));
            }
        }
        for raw in [
            format!("{SENT} / HTTP/1.1\r\nHost: a\r\n\r\n"),
            format!("GET / {SENT}\r\nHost: a\r\n\r\n"),
            format!("GET / HTTP/1.1\r\nHost: a\r\n{SENT}\r\n\r\n"),
            format!("POST /v1/scan HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: {SENT}\r\n\r\n"),
        ] {
            self.check(&raw, &exchange(address, raw.as_bytes()));
        }
        for body in [
            SENT.to_owned(),
            format!("\"{SENT}\""),
            format!(r#"{{"model":"gpt-4o","messages":[{{"role":"user","content":"{SENT}"#),
            format!(r#"{{"model":"gpt-4o","{SENT}":1,"{SENT}":2,"messages":[]}}"#),
            format!(r#"{{"model":{{"{SENT}":1}}}}"#),
            format!("{{\"model\":\"{SENT}\u{0}\"}}"),
        ] {
            for sample in bodies::samples() {
                self.check("a broken body", &self.gateway.post(sample.path, key, &body));
            }
        }
    }

    /// The marker typed into the forms of people.
    fn people(&self) {
        let address = &self.gateway.address;
        for (path, form) in [
            (
                "/login",
                format!("email={SENT}&password={SENT}&code={SENT}"),
            ),
            ("/setup/abc", format!("email={SENT}&password={SENT}")),
            ("/playground", format!("text={SENT}")),
        ] {
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{form}",
                form.len()
            );
            exchange(address, head.as_bytes());
        }
    }

    /// Presidio's interface, which listens elsewhere.
    fn presidio(&self) {
        let address = self.gateway.logged_after("Presidio's interface on ");
        let address = address.trim_end_matches(',');
        let analyze = json!({ "text": "Hi.", "language": "en", "entities": ["US_SSN"], "correlation_id": "c" });
        let anonymize = json!({ "text": "Hi.", "anonymizers": { "DEFAULT": { "type": "replace", "new_value": "x" } },
            "analyzer_results": [{ "entity_type": "X", "start": 0, "end": 1, "score": 1 }] });
        for (path, body) in [("/analyze", analyze), ("/anonymize", anonymize)] {
            for body in bodies::marked(&body, SENT) {
                let body = body.to_string();
                let head = format!(
                    "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
                self.check(path, &exchange(address, head.as_bytes()));
            }
        }
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        self.gateway.post(path, &self.key, &body.to_string())
    }

    /// Checks that no error and none of our headers hold the marker; an answer may, because it was asked for.
    fn check(&self, what: &str, answer: &Answer) {
        // The way to the login leads back to the page that was asked for.
        let told = answer.headers.iter().filter(|(name, _)| name != "location");
        for (name, value) in told {
            sweep::text(&format!("{what}: header {name}"), value, MARKER);
        }
        if answer.status >= 400 {
            let told = String::from_utf8_lossy(&answer.body);
            sweep::text(&format!("{what}: error {}", answer.status), &told, MARKER);
        }
    }

    /// Searches every place where the marker must not be.
    fn sweep(&self) {
        let get = b"GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let metrics = exchange(&self.metrics, get).text();
        assert!(metrics.contains("phigate_requests"), "{metrics}");
        sweep::text("the metrics", &metrics, MARKER);
        let logs = self.gateway.logs.lock().unwrap().clone();
        assert!(logs.contains("Presidio"), "the log was read");
        sweep::text("the log", &logs, MARKER);
        sweep::folder(self.temporary.path(), MARKER);
        for command in [
            &["audit", "export"][..],
            &["audit", "list", "--limit", "10000"],
            &["audit", "verify"],
            &["key", "list"],
            &["provider", "list"],
            &["user", "list"],
            &["account", "list"],
            // Files in the folder that is looked through last.
            &["export", "whole.export"],
            &["backup", "copy.db"],
        ] {
            let output = self.gateway.try_command(command, "");
            for bytes in [&output.stdout, &output.stderr] {
                let told = String::from_utf8_lossy(bytes);
                sweep::text(&format!("{command:?}"), &told, MARKER);
            }
        }
        let exported = self.gateway.command(&["audit", "export"]);
        assert!(exported.lines().count() > 500);
    }
}

/// Replies with the marker in every string: as errors, as answers of every format, as streams that end well or badly.
fn replies() -> Vec<Reply> {
    let error = json!({ "error": { "message": SENT, "type": SENT, "param": SENT, "code": SENT, "status": SENT }, "type": SENT });
    let answer = json!({
        "id": SENT, "object": SENT, "type": "message", "role": "assistant", "model": SENT, "modelVersion": SENT, "responseId": SENT,
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": SENT, "refusal": SENT }, "text": SENT, "finish_reason": SENT }],
        "content": [{ "type": "text", "text": SENT }], "stop_reason": SENT, "status": SENT,
        "candidates": [{ "content": { "role": "model", "parts": [{ "text": SENT }] }, "finishReason": SENT, "index": 0 }],
        "output": [{ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": SENT }] }],
        "system_fingerprint": SENT, SENT: SENT,
    });
    let chunk = json!({ "id": SENT, "object": "chat.completion.chunk", "model": SENT, "type": SENT,
        "choices": [{ "index": 0, "delta": { "content": SENT }, "finish_reason": null }],
        "candidates": [{ "content": { "role": "model", "parts": [{ "text": SENT }] } }] });
    let events = vec![format!("event: {SENT}\nid: {SENT}\ndata: {chunk}\n\n")];
    vec![
        Reply::Json(400, error.to_string()),
        Reply::Json(401, error.to_string()),
        Reply::Json(429, error.to_string()),
        Reply::Json(500, error.to_string()),
        Reply::Json(502, format!("<html>{SENT}</html>")),
        Reply::Json(200, SENT.to_owned()),
        Reply::Json(200, answer.to_string()),
        Reply::Json(200, format!("{{\"id\":\"{SENT}")),
        Reply::Events(events.clone(), Duration::ZERO),
        Reply::CutEvents(events),
        Reply::Events(vec![format!("data: {error}\n\n")], Duration::ZERO),
        Reply::Events(vec![format!("data: {SENT}\n\n")], Duration::ZERO),
        Reply::Events(
            vec![format!("{SENT}\n\n: {SENT}\n\ndata: {{\"a\":\n\n")],
            Duration::ZERO,
        ),
    ]
}
