//! kill -9 of the whole gateway under requests at every door, with streams and fallbacks: every request that reached a
//! provider is in the records, and every answered request has its end there.
//!
//! A short run is part of the tests; `PHIGATE_TORTURE=100` asks for as many kills, and `PHIGATE_TORTURE_LOG` names a file
//! to which the run adds its figures.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::support::{Gateway, Provider, SSN_TEXT};
use serde_json::{Value, json};

/// A model with a fallback; every other request has a separate model, by which its records are found.
const FALLS: &str = "gpt-falls";
const CAUGHT: &str = "claude-caught";

/// Time that a slow machine gets for each step.
const PATIENCE: Duration = Duration::from_secs(240);

static NEXT: AtomicU64 = AtomicU64::new(0);

fn setting(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The next request of a caller: path and body.
fn request(caller: usize) -> (&'static str, Value) {
    let number = NEXT.fetch_add(1, Ordering::SeqCst);
    let said = json!([{ "role": "user", "content": SSN_TEXT }]);
    let (gpt, claude) = (format!("gpt-{number}"), format!("claude-{number}"));
    match caller % 7 {
        0 => (
            "/v1/chat/completions",
            json!({ "model": gpt, "messages": said }),
        ),
        1 => (
            "/v1/chat/completions",
            json!({ "model": gpt, "messages": said, "stream": true }),
        ),
        2 => (
            "/v1/messages",
            json!({ "model": claude, "messages": said, "max_tokens": 9 }),
        ),
        3 => (
            "/v1/responses",
            json!({ "model": gpt, "input": SSN_TEXT, "store": false }),
        ),
        4 => ("/v1/embeddings", json!({ "model": gpt, "input": SSN_TEXT })),
        5 => ("/v1/scan", json!({ "text": SSN_TEXT })),
        _ => (
            "/v1/chat/completions",
            json!({ "model": FALLS, "messages": said }),
        ),
    }
}

/// Posts on a separate socket; returns the request's id if a complete answer came with status 200.
fn post(address: &str, key: &str, path: &str, body: &Value) -> Option<String> {
    let body = body.to_string();
    let mut socket = TcpStream::connect(address).ok()?;
    socket
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(head.as_bytes()).ok()?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer).ok()?;
    let is_whole = answer.ends_with('}') || answer.ends_with("0\r\n\r\n");
    if !answer.starts_with("HTTP/1.1 200") || !is_whole {
        return None;
    }
    let (_, rest) = answer
        .to_ascii_lowercase()
        .split_once("x-gateway-request-id: ")
        .map(|(before, after)| (before.len(), after.to_owned()))?;
    rest.split_whitespace().next().map(str::to_owned)
}

/// Waits until a request of this round arrives and a request of any round has fallen back.
fn wait_for_traffic(provider: &Provider) {
    let before = provider.count();
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
        let has_fallen_back = || {
            let seen = provider.seen();
            seen.iter().any(|request| request.json()["model"] == CAUGHT)
        };
        if provider.count() > before && has_fallen_back() {
            return;
        }
    }
    panic!("no request reached the provider, or none fell back");
}

/// Runs callers at every door for a while, then kills the gateway; returns the ids of answered requests.
fn round(gateway: &mut Gateway, provider: &Provider, key: &str, moment: Duration) -> Vec<String> {
    let is_over = AtomicBool::new(false);
    let (address, is_over) = (gateway.address.clone(), &is_over);
    std::thread::scope(|scope| {
        let callers: Vec<_> = (0..14)
            .map(|caller| {
                let address = &address;
                scope.spawn(move || {
                    let mut answered = Vec::new();
                    while !is_over.load(Ordering::SeqCst) {
                        let (path, body) = request(caller);
                        answered.extend(post(address, key, path, &body));
                    }
                    answered
                })
            })
            .collect();
        wait_for_traffic(provider);
        std::thread::sleep(moment);
        gateway.signal("-KILL");
        is_over.store(true, Ordering::SeqCst);
        let answered = callers.into_iter().map(|caller| caller.join().unwrap());
        answered.flatten().collect()
    })
}

#[test]
fn killed_gateway_has_recorded_every_provider_request() {
    let kills = setting("PHIGATE_TORTURE", 4);
    let seed = setting("PHIGATE_TORTURE_SEED", 7_919);
    let mut moment = seed;
    let provider = Provider::start();
    provider.refuse_model(FALLS);
    let mut gateway = Gateway::start_with(
        &provider,
        &[
            ("PHIGATE_LIMITS_KEY_REQUESTS_PER_MINUTE", "1000000"),
            ("PHIGATE_LIMITS_PROVIDER_RETRIES", "0"),
        ],
    );
    gateway.command(&["mode", "set", "mask"]);
    gateway.command(&["fallback", "set", FALLS, CAUGHT]);
    let key = gateway.key();
    let mut answered = Vec::new();
    for _ in 0..kills {
        moment = moment
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let after = Duration::from_micros((moment >> 33) % 150_000);
        answered.extend(round(&mut gateway, &provider, &key, after));
        gateway.wait();
        gateway.serve();
    }
    let records = closed_records(&gateway);
    check(&provider, &records, &answered);
    gateway.command(&["audit", "verify"]);
    let (reached, answered) = (provider.seen().len(), answered.len());
    println!(
        "{kills} kills: {reached} requests reached a provider, {answered} were answered, {} records; none without its record",
        records.len()
    );
    if let Ok(path) = std::env::var("PHIGATE_TORTURE_LOG") {
        let mut file = std::fs::OpenOptions::new();
        let mut file = file.append(true).create(true).open(path).unwrap();
        let now = jiff::Timestamp::now();
        writeln!(
            file,
            "{now:.0}\tgateway\t{seed}\t{kills}\t{reached}\t{answered}\t{}",
            records.len()
        )
        .unwrap();
    }
}

/// All records, once every decision has its outcome: the lease of a killed process must run out first.
fn closed_records(gateway: &Gateway) -> Vec<Value> {
    let mut records = Vec::new();
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        let export = gateway.command(&["audit", "export"]);
        records = export
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .collect();
        let count = |word: &str| records.iter().filter(|one| one["record"] == word).count();
        if count("decision") == count("outcome") {
            return records;
        }
        std::thread::sleep(Duration::from_millis(500));
    }
    panic!(
        "{} records, and some requests have no outcome",
        records.len()
    );
}

fn check(provider: &Provider, records: &[Value], answered: &[String]) {
    let mut recorded: HashMap<&str, usize> = HashMap::new();
    let mut ends: HashMap<&str, Vec<&Value>> = HashMap::new();
    for record in records {
        let word = |name: &str| record[name].as_str().unwrap_or_default();
        match word("record") {
            "decision" | "attempt" => *recorded.entry(word("model")).or_default() += 1,
            "outcome" => ends.entry(word("request_id")).or_default().push(record),
            _ => {}
        }
    }
    let mut reached: HashMap<String, usize> = HashMap::new();
    for seen in provider.seen() {
        assert!(!String::from_utf8_lossy(&seen.body).contains("8741"));
        let model = seen.json()["model"].as_str().unwrap().to_owned();
        *reached.entry(model).or_default() += 1;
    }
    for (model, count) in reached {
        let written = recorded.get(model.as_str()).copied().unwrap_or(0);
        assert!(
            written >= count,
            "{model}: asked {count} times, recorded {written} times"
        );
    }
    for id in answered {
        let end = ends.get(id.as_str()).map_or(&[][..], Vec::as_slice);
        assert_eq!(end.len(), 1, "{id} has one outcome");
    }
    assert!(ends.values().all(|end| end.len() == 1), "one outcome each");
}
