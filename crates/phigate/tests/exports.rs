//! Exports end to end: nothing is missing after kills, and a target that hangs delays nothing.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::{CLEAN_TEXT, Gateway, Provider, SSN_TEXT, ask};

const PATIENCE: Duration = Duration::from_secs(60);

/// Lines of a file, each once.
fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let whole = text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    let mut seen = BTreeSet::new();
    let first = whole.filter(|line| seen.insert((*line).to_owned()));
    first.map(str::to_owned).collect()
}

fn wait_for(path: &Path, requests: &[String]) -> Vec<String> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let found = lines(path);
        let all = found.concat();
        let has = |request: &String| all.matches(request.as_str()).count() >= 2;
        if requests.iter().all(has) {
            return found;
        }
        assert!(Instant::now() < deadline, "not every record arrived: {all}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn every_record_arrives_after_kills() {
    let provider = Provider::start();
    let mut gateway = Gateway::start(&provider);
    let key = gateway.key();
    let path = gateway.folder.path().join("lines of ours.jsonl");
    let to = format!("file://{}", path.display()).replace(' ', "%20");
    gateway.command(&["export-to", "add", "archive", "--to", &to]);
    let mut requests = Vec::new();
    for _ in 0..3 {
        for text in [SSN_TEXT, CLEAN_TEXT] {
            let answer = gateway.chat(&key, &ask("gpt-4o", text));
            assert_eq!(answer.status, 200);
            requests.push(answer.header("x-gateway-request-id").unwrap().to_owned());
        }
        // The last, clean request may be recorded a moment after its answer; a kill could take it along.
        wait_for_record(&gateway, requests.last().unwrap());
        gateway.signal("-KILL");
        gateway.wait();
        gateway.serve();
    }
    let found = wait_for(&path, &requests);
    let received = gateway.folder.path().join("received.jsonl");
    std::fs::write(&received, found.concat()).unwrap();
    let public_key = gateway.command(&["audit", "public-key"]);
    let received = received.to_str().unwrap();
    let verified = [
        "audit",
        "verify",
        received,
        "--public-key",
        public_key.trim(),
    ];
    let verified = gateway.command(&verified);
    assert!(
        verified.contains("intact") && verified.contains("a part"),
        "{verified}"
    );
    let listed = gateway.command(&["export-to", "list"]);
    assert!(
        listed.contains("archive") && !listed.contains("failing"),
        "{listed}"
    );
}

fn wait_for_record(gateway: &Gateway, request: &str) {
    let deadline = Instant::now() + PATIENCE;
    while gateway.records(request).len() < 2 {
        assert!(Instant::now() < deadline, "{request} was not recorded");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn hanging_target_delays_no_request_or_stop() {
    // The target accepts connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let provider = Provider::start();
    let mut gateway = Gateway::start_counting(&provider);
    let to = format!("https://{}/in", silent.local_addr().unwrap());
    let add = ["export-to", "add", "siem", "--to", &to, "--key-stdin"];
    gateway.command_with_input(&add, "a secret of some length\n");
    let key = gateway.key();
    let began = Instant::now();
    for _ in 0..20 {
        assert_eq!(gateway.chat(&key, &ask("gpt-4o", SSN_TEXT)).status, 200);
    }
    // The target's own timeout is ten seconds; a busy machine may need some for the requests.
    assert!(began.elapsed() < Duration::from_secs(60));
    let deadline = Instant::now() + PATIENCE;
    let label = [r#"target="siem""#];
    let count = |name| gateway.counted(name, &label);
    while count("phigate_export_failures_total") == 0 || count("phigate_export_lag_records") < 40 {
        assert!(Instant::now() < deadline, "the target does not lag behind");
        std::thread::sleep(Duration::from_millis(100));
    }
    let doctor = gateway.try_command(&["doctor"], "");
    let doctor = String::from_utf8(doctor.stdout).unwrap();
    assert!(doctor.contains("export siem is failing"), "{doctor}");
    assert!(!doctor.contains("a secret of"), "{doctor}");
    gateway.signal("-TERM");
    assert_eq!(gateway.wait(), Some(0));
}
