//! Telemetry end to end: spans and metrics arrive without content, and a collector that hangs delays nothing.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use crate::support::{Answer, Gateway, Provider, Reply, SSN_TEXT, Seen, ask, exchange};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that accepts everything.
fn collector() -> Provider {
    let collector = Provider::start();
    for _ in 0..50 {
        collector.answer_next(Reply::with_headers(200, &[], ""));
    }
    collector
}

/// Whether a message holds these bytes.
fn holds(message: &Seen, bytes: &[u8]) -> bool {
    message.body.windows(bytes.len()).any(|part| part == bytes)
}

/// A request with PHI, inside a caller's trace.
fn ask_inside_a_trace(gateway: &Gateway, key: &str) -> Answer {
    let body = ask("gpt-4o", &format!("marker-of-ours {SSN_TEXT}"));
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\
         traceparent: 00-{TRACE}-00f067aa0ba902b7-01\r\ntracestate: kit=marker-of-ours\r\n\
         baggage: user=marker-of-ours\r\n\r\n",
        gateway.address,
        body.len()
    );
    exchange(
        &gateway.address,
        &[head.as_bytes(), body.as_bytes()].concat(),
    )
}

#[test]
fn spans_and_metrics_arrive_without_content() {
    let (provider, collector) = (Provider::start(), collector());
    let endpoint = collector.url() + "/base";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("headers");
    std::fs::write(&file, "x-scope: clinic of ours\n").unwrap();
    let mut gateway = Gateway::start_with(
        &provider,
        &[
            ("PHIGATE_OTEL_ENDPOINT", endpoint.as_str()),
            ("PHIGATE_OTEL_HEADERS_FILE", file.to_str().unwrap()),
            ("PHIGATE_OTEL_TRACES", "parent"),
            ("PHIGATE_OTEL_PROPAGATE", "true"),
        ],
    );
    let key = gateway.key();
    let answer = ask_inside_a_trace(&gateway, &key);
    assert_eq!(answer.status, 200);
    let asked = provider.last();
    let sent = asked.header("traceparent").unwrap().to_owned();
    assert!(sent.starts_with(&format!("00-{TRACE}-")), "{sent}");
    assert!(!sent.contains("00f067aa0ba902b7"), "{sent}");
    assert_eq!(
        (asked.header("baggage"), asked.header("tracestate")),
        (None, None)
    );
    // A request without a trace leaves no span.
    assert_eq!(gateway.chat(&key, &ask("gpt-4o", SSN_TEXT)).status, 200);
    assert_eq!(provider.last().header("traceparent"), None);
    let doctor = gateway.try_command(&["doctor"], "");
    let doctor = String::from_utf8(doctor.stdout).unwrap();
    assert!(
        doctor.contains("telemetry reaches its collector"),
        "{doctor}"
    );
    gateway.signal("-TERM");
    assert_eq!(gateway.wait(), Some(0));

    let messages = collector.seen();
    let of = |path: &str| -> Vec<&Seen> {
        let path = format!("/base/v1/{path}");
        messages.iter().filter(|seen| seen.target == path).collect()
    };
    let spans = of("traces");
    let [spans] = spans.as_slice() else {
        panic!("{} calls with spans", spans.len());
    };
    for name in [
        "request",
        "scan",
        "record",
        "attempt",
        "gen_ai.operation.name",
    ] {
        assert!(holds(spans, name.as_bytes()), "{name} is missing");
    }
    assert!(holds(spans, answer.request_id().as_bytes()));
    let metrics = of("metrics");
    for name in ["phigate_requests", "gen_ai.client.operation.duration"] {
        let has = metrics.iter().any(|page| holds(page, name.as_bytes()));
        assert!(has, "{name} is missing");
    }
    for message in &messages {
        assert_eq!(message.header("x-scope"), Some("clinic of ours"));
        assert!(!holds(message, b"marker-of-ours"));
        assert!(!holds(message, b"gpt-4o"), "no owner listed this model");
    }
}

#[test]
fn doctor_names_collector_that_is_away() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let mut gateway = Gateway::offline();
    gateway.key();
    gateway.set("PHIGATE_OTEL_ENDPOINT", &endpoint);
    let doctor = gateway.try_command(&["doctor"], "");
    assert_eq!(doctor.status.code(), Some(1));
    let told = String::from_utf8(doctor.stdout).unwrap();
    let expected = "telemetry does not reach its collector: cannot connect to the target";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn hanging_collector_delays_no_request_or_stop() {
    // The collector accepts connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let provider = Provider::start();
    let endpoint = format!("http://{}", silent.local_addr().unwrap());
    let mut gateway = Gateway::start_with(
        &provider,
        &[
            ("PHIGATE_OTEL_ENDPOINT", endpoint.as_str()),
            ("PHIGATE_OTEL_TRACES", "always"),
        ],
    );
    let key = gateway.key();
    for _ in 0..20 {
        assert_eq!(gateway.chat(&key, &ask("gpt-4o", SSN_TEXT)).status, 200);
    }
    let began = Instant::now();
    gateway.signal("-TERM");
    assert_eq!(gateway.wait(), Some(0));
    assert!(began.elapsed() < PATIENCE / 3, "{:?}", began.elapsed());
}
