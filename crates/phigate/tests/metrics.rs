//! Metrics behind an operator's alerts: they change when the store, a key or a provider is in trouble.

use std::time::{Duration, Instant};

use crate::postgres::Postgres;
use crate::support::{CLEAN_TEXT, Gateway, Provider, Reply, ask};

/// Waits until the metrics hold a line.
fn shows(gateway: &Gateway, line: &str) {
    let started = Instant::now();
    loop {
        let page = gateway.metrics();
        if page.lines().any(|shown| shown.starts_with(line)) {
            return;
        }
        let waited = started.elapsed();
        assert!(waited < Duration::from_secs(30), "no {line} in\n{page}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn metrics_move_while_the_store_is_down() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let provider = Provider::start();
    let url = postgres.database("phigate");
    let settings = [("PHIGATE_DATABASE_URL", url.as_str())];
    let gateway = Gateway::start_counting_with(&provider, &settings);
    let key = gateway.key();
    let body = ask("gpt-4o", CLEAN_TEXT);
    assert_eq!(gateway.chat(&key, &body).status, 200);
    shows(&gateway, "phigate_store_up 1");
    postgres.crash();
    for _ in 0..3 {
        assert_eq!(gateway.chat(&key, &body).status, 503);
    }
    shows(&gateway, "phigate_store_up 0");
    let refused = [r#"code="audit_unavailable""#];
    assert!(gateway.counted("phigate_refused_total", &refused) >= 3);
    postgres.resume();
    shows(&gateway, "phigate_store_up 1");
    assert_eq!(gateway.chat(&key, &body).status, 200);
    let logs = gateway.logs.lock().unwrap().clone();
    let told = |words: &str| logs.lines().filter(|line| line.contains(words)).count();
    assert_eq!(
        told("refused until the store can be used again"),
        1,
        "{logs}"
    );
    assert_eq!(told("the store can be used again, after"), 1, "{logs}");
    assert_eq!(told("deadpool"), 0, "{logs}");
}

#[test]
fn every_refusal_is_counted_by_its_code() {
    let provider = Provider::start();
    let limit = [("PHIGATE_LIMITS_KEY_REQUESTS_PER_MINUTE", "3")];
    let gateway = Gateway::start_counting_with(&provider, &limit);
    let key = gateway.key();
    gateway.chat(&key, "no JSON");
    gateway.chat("phg_nonsense", &ask("gpt-4o", CLEAN_TEXT));
    gateway.get("/v1/files", &key);
    gateway.get("/v1/models/nonsense", &key);
    provider.answer_next(Reply::Json(500, "{}".into()));
    gateway.chat(&key, &ask("gpt-4o", CLEAN_TEXT));
    for _ in 0..2 {
        gateway.chat(&key, &ask("gpt-4o", CLEAN_TEXT));
    }
    for code in [
        "invalid_json",
        "invalid_api_key",
        "not_found",
        "model_not_found",
        "provider_error",
        "rate_limit_exceeded",
    ] {
        let label = format!(r#"code="{code}""#);
        let counted = gateway.counted("phigate_refused_total", &[&label]);
        assert_eq!(counted, 1, "{code} in\n{}", gateway.metrics());
    }
}

#[test]
fn metrics_label_providers_by_name() {
    let provider = Provider::start();
    let gateway = Gateway::start_counting_with(&provider, &[]);
    let url = provider.url();
    let set = [
        "provider", "set", "second", "--kind", "openai", "--auth", "none",
    ];
    let more = ["--base-url", &url, "--models", "house-model"];
    gateway.command(&[&set[..], &more[..]].concat());
    let key = gateway.key();
    gateway.chat(&key, &ask("gpt-4o", CLEAN_TEXT));
    gateway.chat(&key, &ask("house-model", CLEAN_TEXT));
    for name in ["openai", "second"] {
        let label = format!(r#"provider="{name}""#);
        for metric in ["phigate_requests_total", "phigate_provider_seconds_count"] {
            assert_eq!(gateway.counted(metric, &[&label]), 1, "{metric} {name}");
        }
        let input = [label.as_str(), r#"type="input""#];
        assert!(
            gateway.counted("phigate_tokens_total", &input) > 0,
            "{name}"
        );
    }
    shows(&gateway, r#"phigate_build_info{version=""#);
}

#[test]
fn ends_of_agreements_are_measured() {
    let provider = Provider::start();
    let mut gateway = Gateway::start_counting_with(&provider, &[]);
    let url = provider.url();
    gateway.command(&[
        "provider",
        "set",
        "second",
        "--kind",
        "openai",
        "--auth",
        "none",
        "--base-url",
        &url,
        "--models",
        "house-model",
        "--agreement",
        "BAA 7",
        "--agreement-expires",
        "2120-01-01",
    ]);
    gateway.signal("-TERM");
    gateway.wait();
    gateway.serve();
    shows(
        &gateway,
        r#"phigate_agreement_days_left{account="default",provider="second"} 3"#,
    );
}
