//! First start of phigate on a new machine.

use std::io::{BufRead, BufReader};

use crate::postgres::Postgres;
use crate::support::Gateway;

#[test]
fn fresh_owner_link_prints_until_owner_exists() {
    let mut gateway = Gateway::offline();
    let mut links = Vec::new();
    for _ in 0..2 {
        gateway.logs.lock().unwrap().clear();
        gateway.serve();
        links.push(format!("/setup/{}", gateway.logged_after("/setup/")));
        let newest = links.last().unwrap();
        assert_eq!(gateway.get(newest, "none").status, 200);
        if links.len() == 2 {
            assert_ne!(gateway.get(&links[0], "none").status, 200);
        }
        gateway.signal("-TERM");
        assert_eq!(gateway.wait(), Some(0));
    }
    gateway.command_with_input(
        &["user", "add", "owner@example.org", "--password-stdin"],
        "correct horse battery staple\n",
    );
    gateway.logs.lock().unwrap().clear();
    gateway.serve();
    gateway.logged_after("dashboard:");
    assert!(!gateway.logs.lock().unwrap().contains("/setup/"));
}

#[test]
fn owner_link_names_account_until_first_owner() {
    let mut gateway = Gateway::offline();
    gateway.set("PHIGATE_LOG_FORMAT", "json");
    // Before the account `default` by name, but not the first.
    gateway.command(&["key", "create"]);
    gateway.command(&["account", "create", "cardiology"]);
    gateway.serve();
    gateway.logged_after("/setup/");
    let logs = gateway.logs.lock().unwrap().clone();
    let line = logs.lines().find(|line| line.contains("/setup/")).unwrap();
    assert!(line.contains("account default"), "{line}");
    assert!(!line.starts_with('{'), "a log event: {line}");
    gateway.signal("-TERM");
    gateway.wait();
    gateway.command_with_input(
        &[
            "--account",
            "default",
            "user",
            "add",
            "owner@example.org",
            "--password-stdin",
        ],
        "correct horse battery staple\n",
    );
    gateway.logs.lock().unwrap().clear();
    gateway.serve();
    gateway.logged_after("dashboard:");
    assert!(!gateway.logs.lock().unwrap().contains("/setup/"));
}

#[test]
fn gateways_start_together_on_an_empty_database() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let url = postgres.database("phigate");
    let starting: Vec<_> = (0..4)
        .map(|_| {
            let mut gateway = Gateway::offline();
            gateway.set("PHIGATE_DATABASE_URL", &url);
            gateway.set("PHIGATE_MASTER_KEY_ENV", "SHARED_KEY");
            gateway.set("SHARED_KEY", &"ab".repeat(32));
            std::thread::spawn(move || {
                gateway.serve();
                gateway
            })
        })
        .collect();
    let gateways: Vec<Gateway> = starting
        .into_iter()
        .map(|one| one.join().unwrap())
        .collect();
    for gateway in &gateways {
        let link = format!("/setup/{}", gateway.logged_after("/setup/"));
        assert_eq!(gateways[0].get(&link, "none").status, 200);
        let logs = gateway.logs.lock().unwrap().clone();
        for words in ["unavailable", "exists already", " WARN ", " ERROR "] {
            assert!(!logs.contains(words), "{words}: {logs}");
        }
    }
}

#[test]
fn no_owner_link_is_printed_on_request() {
    let mut gateway = Gateway::offline();
    gateway.add_option("--no-setup-link");
    gateway.serve();
    gateway.logged_after("dashboard:");
    assert!(!gateway.logs.lock().unwrap().contains("/setup/"));
}

#[test]
fn start_on_taken_port_changes_nothing() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let port = taken.rsplit(':').next().unwrap();
    let gateway = Gateway::offline();
    let localhost = format!("localhost:{port}");
    for (callers, metrics, words) in [
        (taken.as_str(), "off", "--listen 127.0.0.1:PORT"),
        (localhost.as_str(), "off", "--listen 127.0.0.1:PORT"),
        (port, "off", "--listen 127.0.0.1:PORT"),
        (
            "127.0.0.1:0",
            taken.as_str(),
            "--metrics-listen 127.0.0.1:PORT",
        ),
    ] {
        for command in ["serve", "demo"] {
            let arguments = [command, "--listen", callers, "--metrics-listen", metrics];
            let refused = gateway.try_command(&arguments, "");
            let message = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {message}");
            assert!(message.contains(words), "{arguments:?}: {message}");
            let made = std::fs::read_dir(gateway.folder.path()).unwrap().count();
            assert_eq!(made, 0, "{arguments:?}");
        }
    }
}

#[test]
fn second_gateway_is_refused_naming_store_holder() {
    let mut gateway = Gateway::offline();
    gateway.serve();
    let arguments = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--metrics-listen",
        "off",
    ];
    let refused = gateway.try_command(&arguments, "");
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{message}");
    let pid = gateway.pid().to_string();
    assert!(
        message.contains(&gateway.address) && message.contains(&pid),
        "{message}"
    );
    // A killed process no longer holds anything.
    gateway.signal("-KILL");
    gateway.wait();
    gateway.serve();
}

#[test]
fn demo_restart_keeps_key_while_valid() {
    let mut gateway = Gateway::demo();
    let mut keys = Vec::new();
    for _ in 0..2 {
        gateway.logs.lock().unwrap().clear();
        gateway.serve();
        gateway.logged_after("Dashboard, first login:");
        let logs = gateway.logs.lock().unwrap().clone();
        let line = logs
            .lines()
            .find(|line| line.starts_with("API key:"))
            .unwrap();
        keys.push(line.split_whitespace().last().unwrap().to_owned());
        let answer = gateway.chat(
            &keys[0],
            &crate::support::ask("gpt-4o", crate::support::CLEAN_TEXT),
        );
        assert_eq!(answer.status, 200);
        gateway.signal("-TERM");
        gateway.wait();
    }
    assert_eq!(keys[0], keys[1]);
    let id = keys[0].split('_').nth(1).unwrap();
    gateway.command(&["key", "revoke", id, "--data", "phigate-demo"]);
    gateway.logs.lock().unwrap().clear();
    gateway.serve();
    gateway.logged_after("Dashboard, first login:");
    assert!(!gateway.logs.lock().unwrap().contains(&keys[0]));
}

#[test]
fn demo_describes_itself_to_programs() {
    let gateway = Gateway::offline();
    let options = ["--listen", "127.0.0.1:0", "--metrics-listen", "off"];
    let mut child = gateway.spawn(&[&["demo", "--json"][..], &options].concat());
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let told = lines.next().unwrap().unwrap();
    let listening = lines.next().unwrap().unwrap();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let url = told["url"].as_str().unwrap();
    assert_eq!(listening, format!("listening on {url}"));
    let address = url.strip_prefix("http://").unwrap();
    let key = told["key"].as_str().unwrap();
    let request = format!(
        "GET /v1/models HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n"
    );
    let models = crate::support::exchange(address, request.as_bytes()).text();
    for model in told["models"].as_array().unwrap() {
        assert!(models.contains(model.as_str().unwrap()), "{models}");
    }
    assert!(told["dashboard"].as_str().unwrap().contains("/setup/"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_link_that_the_demo_prints_opens() {
    let mut gateway = Gateway::demo();
    gateway.serve();
    let link = format!("/setup/{}", gateway.logged_after("/setup/"));
    assert_eq!(gateway.get(&link, "none").status, 200);
}

#[test]
fn unknown_page_has_common_page_headers() {
    let mut gateway = Gateway::offline();
    gateway.serve();
    let head = format!(
        "GET /nothing HTTP/1.1\r\nHost: {}\r\nAccept: text/html\r\nConnection: close\r\n\r\n",
        gateway.address
    );
    let answer = crate::support::exchange(&gateway.address, head.as_bytes());
    assert_eq!(answer.status, 404);
    assert!(answer.text().contains("<h1"), "{}", answer.text());
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
}

#[test]
fn the_demo_leaves_a_real_database_alone() {
    let mut gateway = Gateway::demo();
    // Nothing listens there: a demo that asked would not start.
    gateway.set("PHIGATE_DATABASE_URL", "postgres://nobody@127.0.0.1:1/real");
    gateway.serve();
    gateway.logged_after("Dashboard, first login:");
    let command = gateway.logged_after("--data ");
    assert_eq!(command, "phigate-demo");
}

#[test]
fn owner_link_behind_proxy_has_placeholder_address() {
    let mut gateway = Gateway::offline();
    gateway.set("PHIGATE_BEHIND_TLS_PROXY", "true");
    gateway.serve();
    let link = gateway.logged_after("https://YOUR-ADDRESS");
    assert!(link.starts_with("/setup/"), "{link}");
}
