//! Stopping and starting: nothing is lost, and nothing unsafe is started.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use crate::support::{CLEAN_TEXT, Gateway, Provider, Reply, SSN_TEXT, ask, openai_stream};

#[test]
fn a_graceful_stop_keeps_every_record() {
    let provider = Provider::start();
    let mut gateway = Gateway::start(&provider);
    let key = gateway.key();
    let ids: Vec<String> = (0..20)
        .map(|_| gateway.chat(&key, &ask("gpt-4o", CLEAN_TEXT)).request_id())
        .collect();
    gateway.signal("-TERM");
    assert_eq!(gateway.wait(), Some(0));
    for id in ids {
        assert_eq!(gateway.records(&id).len(), 2, "{id}");
    }
}

#[test]
fn running_stream_finishes_while_gateway_drains() {
    let provider = Provider::start();
    let mut gateway = Gateway::start(&provider);
    provider.answer_next(Reply::Events(
        openai_stream(&["a", "b", "c"]),
        Duration::from_millis(200),
    ));
    let key = gateway.key();
    let body = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"Hi."}],"stream":true}"#;
    let answer = std::thread::scope(|scope| {
        let answer = scope.spawn(|| gateway.chat(&key, body));
        while provider.seen().is_empty() {
            std::thread::sleep(Duration::from_millis(10));
        }
        gateway.signal("-TERM");
        answer.join().unwrap()
    });
    assert!(answer.text().contains("[DONE]") && answer.is_whole);
    assert_eq!(gateway.wait(), Some(0));
}

#[test]
fn record_of_cut_request_names_shutdown() {
    let provider = Provider::start();
    let mut gateway = Gateway::start_with(&provider, &[("PHIGATE_LIMITS_DRAIN_MS", "300")]);
    let key = gateway.key();
    provider.answer_next(Reply::Silence(Duration::from_secs(20)));
    std::thread::scope(|scope| {
        let pending = scope
            .spawn(|| std::panic::catch_unwind(|| gateway.chat(&key, &ask("gpt-4o", SSN_TEXT))));
        while provider.seen().is_empty() {
            std::thread::sleep(Duration::from_millis(10));
        }
        gateway.signal("-TERM");
        assert!(pending.join().unwrap().is_err(), "nobody answered");
    });
    assert_eq!(gateway.wait(), Some(0));
    let export = gateway.command(&["audit", "export"]);
    let outcomes: Vec<&str> = export
        .lines()
        .filter(|line| line.contains(r#""record":"outcome""#))
        .collect();
    assert_eq!(outcomes.len(), 1, "{export}");
    assert!(outcomes[0].contains("shutting_down"), "{export}");
}

#[test]
fn a_killed_gateway_needs_no_repair() {
    let provider = Provider::start();
    let mut gateway = Gateway::start(&provider);
    let key = gateway.key();
    provider.answer_next(Reply::Silence(Duration::from_secs(60)));
    std::thread::scope(|scope| {
        let pending = scope
            .spawn(|| std::panic::catch_unwind(|| gateway.chat(&key, &ask("gpt-4o", SSN_TEXT))));
        while provider.seen().is_empty() {
            std::thread::sleep(Duration::from_millis(10));
        }
        gateway.signal("-KILL");
        assert!(pending.join().unwrap().is_err(), "nobody answered");
    });
    gateway.wait();
    gateway.serve();
    assert_eq!(gateway.chat(&key, &ask("gpt-4o", CLEAN_TEXT)).status, 200);
    // The killed process's lease must run out before its open request is closed.
    let is_closed = || {
        gateway
            .command(&["audit", "export"])
            .lines()
            .any(|line| line.contains("\"interrupted\""))
    };
    for _ in 0..100 {
        if is_closed() {
            return;
        }
        std::thread::sleep(Duration::from_millis(500));
    }
    panic!("the interrupted request was never closed");
}

#[test]
fn an_unsafe_key_file_stops_the_start() {
    let gateway = Gateway::offline();
    gateway.command(&["key", "create"]);
    let key = gateway.data().with_extension("key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let refused = gateway.try_command(&["serve", "--listen", "127.0.0.1:0"], "");
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("chmod 600"));
    std::fs::remove_file(&key).unwrap();
    assert_eq!(
        gateway
            .try_command(&["serve", "--listen", "127.0.0.1:0"], "")
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn plain_text_on_public_address_is_refused() {
    let gateway = Gateway::offline();
    let refused = gateway.try_command(
        &["serve", "--listen", "0.0.0.0:0", "--metrics-listen", "off"],
        "",
    );
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--behind-tls-proxy"));
}

#[test]
fn only_serve_needs_tls_proxy_setting() {
    let mut gateway = Gateway::offline();
    gateway.set("PHIGATE_LISTEN", "0.0.0.0:0");
    assert!(gateway.key().starts_with("phg_"));
    let serve = ["serve", "--metrics-listen", "off"];
    assert_eq!(gateway.try_command(&serve, "").status.code(), Some(2));
}
