//! Tests of contexts, sampling and the queue.

use std::time::Instant;

use http::HeaderValue;

use super::*;
use crate::provider::TRACEPARENT;

const KNOWN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn telemetry(traces: Traces, ratio: f64) -> (Arc<Telemetry>, Receiver<EndedTrace>) {
    Telemetry::new(TelemetrySettings {
        endpoint: BaseUrl::parse("https://collector.example", false).unwrap(),
        headers: Vec::new(),
        traces,
        ratio,
        propagate: true,
    })
}

fn headers(traceparent: &str) -> HeaderMap {
    let value = HeaderValue::from_str(traceparent).unwrap();
    HeaderMap::from_iter([(TRACEPARENT, value)])
}

#[test]
fn malformed_parent_counts_as_absent() {
    assert!(Parent::read(&headers(KNOWN)).unwrap().is_sampled);
    let later = format!("cc{}-more", &KNOWN[2..]);
    assert!(Parent::read(&headers(&later)).is_some());
    for malformed in [
        "",
        "hello",
        &KNOWN.to_uppercase(),
        &KNOWN.replace("00-4", "ff-4"),
        &format!("{KNOWN}-more"),
        &later.replace("-more", "more"),
        &KNOWN.replace("00f067aa0ba902b7", "0000000000000000"),
        &KNOWN.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
    ] {
        assert_eq!(Parent::read(&headers(malformed)), None, "{malformed}");
    }
    let mut twice = headers(KNOWN);
    twice.append(TRACEPARENT, HeaderValue::from_static(KNOWN));
    assert_eq!(Parent::read(&twice), None);
}

#[test]
fn settings_decide_which_requests_are_traced() {
    let unsampled = format!("{}00", &KNOWN[..53]);
    for (traces, ratio, parent, expected) in [
        (Traces::Off, 1.0, Some(KNOWN), false),
        (Traces::Parent, 1.0, None, false),
        (Traces::Parent, 1.0, Some(unsampled.as_str()), false),
        (Traces::Parent, 0.0, Some(KNOWN), true),
        (Traces::Always, 1.0, None, true),
        (Traces::Always, 0.0, None, false),
        (Traces::Always, 0.0, Some(KNOWN), true),
    ] {
        let (telemetry, _queue) = telemetry(traces, ratio);
        let headers = parent.map(headers);
        let begun = telemetry.begin(headers.as_ref(), Instant::now());
        assert_eq!(begun.is_some(), expected, "{traces:?} {ratio} {parent:?}");
    }
}

#[test]
fn ratio_is_the_share_of_traces() {
    let (telemetry, _queue) = telemetry(Traces::Always, 0.25);
    let begun = (0..4_000).filter(|_| telemetry.begin(None, Instant::now()).is_some());
    let share = begun.count() as f64 / 4_000.0;
    assert!((0.2..0.3).contains(&share), "{share}");
}

#[test]
fn provider_continues_the_trace_of_its_attempt() {
    let (telemetry, mut queue) = telemetry(Traces::Parent, 1.0);
    let mut trace = telemetry
        .begin(Some(&headers(KNOWN)), Instant::now())
        .unwrap();
    assert_eq!(trace.traceparent(), None);
    trace.begin_attempt();
    let sent = trace.traceparent().unwrap();
    let sent = Parent::read(&headers(sent.to_str().unwrap())).unwrap();
    trace.end_attempt(true, Vec::new());
    trace.end(false, Vec::new());
    let ended = queue.try_recv().unwrap();
    let [request, attempt] = ended.spans.as_slice() else {
        panic!("{ended:?}");
    };
    assert_eq!((ended.id, sent.span), (sent.trace, attempt.id));
    assert_eq!(attempt.parent, Some(request.id));
    let caller = Parent::read(&headers(KNOWN)).unwrap();
    assert_eq!(
        (ended.id, request.parent),
        (caller.trace, Some(caller.span))
    );
    assert!(attempt.has_failed && !request.has_failed);
    assert!(request.start <= attempt.start && attempt.end <= request.end);
}

#[test]
fn full_queue_drops_and_counts_spans() {
    let (telemetry, _queue) = telemetry(Traces::Always, 1.0);
    for _ in 0..WAITING_MAX + 5 {
        let trace = telemetry.begin(None, Instant::now()).unwrap();
        trace.end(false, Vec::new());
    }
    assert_eq!(telemetry.take_dropped(), 5);
    assert_eq!(telemetry.take_dropped(), 0);
}
