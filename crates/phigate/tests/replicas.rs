//! Several gateways on one PostgreSQL: a saved change binds every later request on every replica.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::postgres::Postgres;
use crate::support::{CLEAN_TEXT, Gateway, Provider, SSN_TEXT, ask};
use phigate_store::{MasterKeySource, Options, Target, Vault};
use phigate_types::Mode;

const REPLICAS: usize = 3;
const CHANGES: u64 = 1000;
const RESTARTS: usize = 6;

/// Gateways on one database with one master key.
fn replicas(provider: &Provider, url: &str) -> Vec<Gateway> {
    let limits = [
        ("PHIGATE_LIMITS_KEY_REQUESTS_PER_MINUTE", "1000000"),
        ("PHIGATE_DATABASE_URL", url),
        // A busy machine must not look like a fault of a replica.
        ("PHIGATE_LIMITS_DECISION_MS", "30000"),
    ];
    let first = Gateway::start_with(provider, &limits);
    let key = first.data().with_extension("key");
    let key = key.to_str().unwrap().to_owned();
    let mut all = vec![first];
    for _ in 1..REPLICAS {
        let more = [
            limits[0],
            limits[1],
            limits[2],
            ("PHIGATE_MASTER_KEY_FILE", key.as_str()),
        ];
        all.push(Gateway::start_with(provider, &more));
    }
    all
}

/// Whether the settled mode of this number is block. Even numbers are settled modes, odd ones are changes under way.
fn is_block(settled: u64) -> bool {
    settled % 4 == 2
}

#[test]
fn saved_mode_binds_later_requests_on_replicas() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let url = postgres.database("phigate");
    let provider = Provider::start();
    let gateways = replicas(&provider, &url);
    let key = gateways[0].key();
    let (step, is_over, judged) = (AtomicU64::new(0), AtomicBool::new(false), AtomicU64::new(0));
    let body = ask("gpt-4o", SSN_TEXT);
    std::thread::scope(|scope| {
        for gateway in &gateways {
            scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    let before = step.load(Ordering::SeqCst);
                    let status = gateway.chat(&key, &body).status;
                    let after = step.load(Ordering::SeqCst);
                    if before % 2 == 0 && before == after {
                        let wanted = if is_block(before) { 403 } else { 200 };
                        assert_eq!(status, wanted, "after change {before}");
                        judged.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
        change_modes(&gateways[0], &url, &step, &judged);
        is_over.store(true, Ordering::SeqCst);
    });
    let judged = judged.load(Ordering::SeqCst);
    assert!(
        judged > CHANGES / 2,
        "only {judged} requests fell between two changes"
    );
}

/// Changes the mode again and again, each time after a request was judged by the change before.
fn change_modes(gateway: &Gateway, url: &str, step: &AtomicU64, judged: &AtomicU64) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let master_key = MasterKeySource::File(gateway.data().with_extension("key"));
        let vault = Vault::open(Options::new(Target::Url(url.into()), master_key))
            .await
            .unwrap();
        let account = vault.accounts.find_account(None).await.unwrap().id;
        for change in 0..CHANGES {
            step.fetch_add(1, Ordering::SeqCst);
            let mode = if is_block(2 * (change + 1)) {
                Mode::BLOCK
            } else {
                Mode::FLAG
            };
            vault
                .accounts
                .set_mode(&account, mode, "test")
                .await
                .unwrap();
            step.fetch_add(1, Ordering::SeqCst);
            let (seen, deadline) = (
                judged.load(Ordering::SeqCst),
                Instant::now() + Duration::from_millis(500),
            );
            while judged.load(Ordering::SeqCst) == seen && Instant::now() < deadline {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        vault.close(Duration::from_secs(10)).await.unwrap();
    });
}

#[test]
fn key_revoked_on_replica_is_refused_everywhere() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let provider = Provider::start();
    let gateways = replicas(&provider, &postgres.database("phigate"));
    for _ in 0..5 {
        let key = gateways[1].key();
        for gateway in &gateways {
            assert_eq!(gateway.chat(&key, &ask("gpt-4o", CLEAN_TEXT)).status, 200);
        }
        gateways[2].command(&["key", "revoke", key.split('_').nth(1).unwrap()]);
        for gateway in &gateways {
            assert_eq!(gateway.chat(&key, &ask("gpt-4o", CLEAN_TEXT)).status, 401);
        }
    }
    let verified = gateways[0].command(&["audit", "verify"]);
    assert!(verified.contains("intact"), "{verified}");
}

/// Result of one attempt, as a caller sees it.
#[derive(Debug)]
enum Try {
    Answered,
    /// Refused connection or stopping replica: nothing was forwarded, another may be asked.
    Elsewhere,
    /// Any other answer.
    Failed(String),
}

fn try_at(address: &str, key: &str, body: &str) -> Try {
    let Ok(mut socket) = TcpStream::connect(address) else {
        return Try::Elsewhere;
    };
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let mut answer = String::new();
    let asked = socket.write_all((head + body).as_bytes());
    let read = asked.and_then(|()| socket.read_to_string(&mut answer));
    let is_whole = answer.ends_with('}') || answer.ends_with("0\r\n\r\n");
    if read.is_err() || !is_whole {
        return Try::Failed(format!("{read:?} {answer}"));
    }
    match answer.get(..12) {
        Some("HTTP/1.1 200") => Try::Answered,
        Some("HTTP/1.1 503") if answer.contains("shutting_down") => Try::Elsewhere,
        _ => Try::Failed(answer),
    }
}

/// Results of a caller's requests.
#[derive(Default)]
struct Calls {
    answered: u64,
    failed: Vec<String>,
}

/// Sends to one replica after the other, as a balancer does, until the test is over.
fn call(addresses: &[Mutex<String>], key: &str, body: &str, is_over: &AtomicBool) -> Calls {
    let mut calls = Calls::default();
    for turn in 0.. {
        if is_over.load(Ordering::SeqCst) {
            break;
        }
        let address = addresses[turn % addresses.len()].lock().unwrap().clone();
        match try_at(&address, key, body) {
            Try::Answered => calls.answered += 1,
            Try::Elsewhere => {}
            Try::Failed(words) => calls.failed.push(words),
        }
    }
    calls
}

/// Warnings and errors in the logs of the replicas.
fn complaints(gateways: &[Gateway]) -> String {
    let logs = gateways.iter().map(|one| one.logs.lock().unwrap().clone());
    let lines = logs.collect::<String>();
    let is_complaint = |line: &&str| line.contains(" WARN ") || line.contains(" ERROR ");
    lines
        .lines()
        .filter(is_complaint)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn replicas_restarted_in_turn_fail_no_request() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let provider = Provider::start();
    let mut gateways = replicas(&provider, &postgres.database("phigate"));
    let key = gateways[0].key();
    let addresses = gateways
        .iter()
        .map(|gateway| Mutex::new(gateway.address.clone()));
    let (addresses, is_over) = (addresses.collect::<Vec<_>>(), AtomicBool::new(false));
    let plain = ask("gpt-4o", SSN_TEXT);
    let stream = plain.replacen('{', r#"{"stream":true,"#, 1);
    let Calls { answered, failed } = std::thread::scope(|scope| {
        let bodies = [&plain, &stream].into_iter().cycle().take(6);
        let callers: Vec<_> = bodies
            .map(|body| scope.spawn(|| call(&addresses, &key, body, &is_over)))
            .collect();
        for restart in 0..RESTARTS {
            let gateway = &mut gateways[restart % REPLICAS];
            gateway.signal("-TERM");
            assert_eq!(gateway.wait(), Some(0));
            gateway.serve();
            *addresses[restart % REPLICAS].lock().unwrap() = gateway.address.clone();
            std::thread::sleep(Duration::from_millis(200));
        }
        is_over.store(true, Ordering::SeqCst);
        let ends = callers.into_iter().map(|caller| caller.join().unwrap());
        ends.fold(Calls::default(), |mut all, one| {
            all.answered += one.answered;
            all.failed.extend(one.failed);
            all
        })
    });
    assert!(
        failed.is_empty(),
        "{answered} answered, failed: {failed:?}\n{}",
        complaints(&gateways)
    );
    assert!(answered > 100, "only {answered} requests in all restarts");
    // Nothing that was turned away had been forwarded.
    assert_eq!(provider.seen().len() as u64, answered);
    let verified = gateways[0].command(&["audit", "verify"]);
    assert!(verified.contains("intact"), "{verified}");
}
