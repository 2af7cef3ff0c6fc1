//! Shared set-up of the end-to-end tests: the real binary with a temporary store, a provider that records, and plain
//! sockets.
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "each test file uses its own part of this"
)]

mod http;
mod pdf;
mod provider;
pub mod sources;

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};

pub use http::{Answer, exchange, next_answer, read_answer};
pub use pdf::{pages, pdf, stream};
pub use provider::{Provider, Reply, Seen, openai_stream};

/// The sentence of the specification's example.
pub const SSN_TEXT: &str = "My SSN is 536-22-8741.";
/// A body that asks nothing of interest.
pub const CLEAN_TEXT: &str = "What is the usual dose of amoxicillin?";

/// A request with one user message.
pub fn ask(model: &str, text: &str) -> String {
    serde_json::json!({ "model": model, "messages": [{ "role": "user", "content": text }] })
        .to_string()
}

/// A gateway process with a temporary folder. It is killed when dropped.
pub struct Gateway {
    pub folder: tempfile::TempDir,
    pub address: String,
    pub logs: Arc<Mutex<String>>,
    child: Option<Child>,
    settings: Vec<(String, String)>,
    options: Vec<String>,
    metrics: String,
}

impl Gateway {
    /// A store without a server.
    pub fn offline() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            address: String::new(),
            logs: Arc::default(),
            child: None,
            settings: vec![("PHIGATE_ALLOW_PRIVATE_PROVIDERS".into(), "true".into())],
            options: vec!["serve".into()],
            metrics: "off".into(),
        }
    }

    /// The demo, not started yet.
    pub fn demo() -> Self {
        let mut gateway = Self::offline();
        gateway.options = vec!["demo".into()];
        gateway
    }

    /// A setting from the environment, for the next start.
    pub fn set(&mut self, name: &str, value: &str) {
        self.settings.push((name.into(), value.into()));
    }

    /// An option of the command line, for the next start.
    pub fn add_option(&mut self, option: &str) {
        self.options.push(option.into());
    }

    /// Serves metrics from the next start on.
    pub fn set_metrics(&mut self) {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        self.metrics = free.local_addr().unwrap().to_string();
    }

    /// The metrics as they stand.
    pub fn metrics(&self) -> String {
        let get = b"GET /metrics HTTP/1.1\r\nHost: m\r\nConnection: close\r\n\r\n";
        exchange(&self.metrics, get).text()
    }

    /// The sum of the metrics of this name that have all of these labels.
    pub fn counted(&self, name: &str, labels: &[&str]) -> u64 {
        let page = self.metrics();
        let lines = page.lines().filter(|line| {
            let is_named = line
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with([' ', '{']));
            is_named && labels.iter().all(|label| line.contains(label))
        });
        let count = |line: &str| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap();
        lines.map(count).sum()
    }

    /// Waits for the logs to hold these words, and returns the word after them.
    pub fn logged_after(&self, words: &str) -> String {
        for _ in 0..100 {
            if let Some((_, rest)) = self.logs.lock().unwrap().split_once(words) {
                let rest = rest.split(char::is_whitespace).next();
                return rest.unwrap_or_default().to_owned();
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("not logged: {words}");
    }

    /// Starts a gateway whose three families lead to `provider`.
    pub fn start(provider: &Provider) -> Self {
        Self::start_with(provider, &[])
    }

    /// Starts a gateway for this provider, with further settings from the environment.
    pub fn start_with(provider: &Provider, settings: &[(&str, &str)]) -> Self {
        let mut gateway = Self::offline();
        gateway.settings.extend(
            settings
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into())),
        );
        gateway.set_providers(provider);
        gateway.serve();
        gateway
    }

    /// Starts a gateway for this provider, with metrics.
    pub fn start_counting(provider: &Provider) -> Self {
        Self::start_counting_with(provider, &[])
    }

    /// Starts a gateway for this provider, with metrics and further settings from the environment.
    pub fn start_counting_with(provider: &Provider, settings: &[(&str, &str)]) -> Self {
        let mut gateway = Self::offline();
        for (name, value) in settings {
            gateway.set(name, value);
        }
        gateway.set_metrics();
        gateway.set_providers(provider);
        gateway.serve();
        gateway
    }

    /// Leads three families to `provider`.
    fn set_providers(&self, provider: &Provider) {
        for family in ["openai", "anthropic", "google"] {
            let url = provider.url();
            self.command_with_input(
                &["provider", "set", family, "--key-stdin", "--base-url", &url],
                "sk-test-of-no-value\n",
            );
        }
    }

    /// The data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Starts (or starts again) the server.
    pub fn serve(&mut self) {
        let mut command = self.base();
        command
            .args(&self.options)
            .args(["--listen", "127.0.0.1:0"]);
        let has_metrics = |(name, _): &(String, String)| name == "PHIGATE_METRICS_LISTEN";
        if !self.settings.iter().any(has_metrics) {
            command.args(["--metrics-listen", &self.metrics]);
        }
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        self.address = line
            .trim()
            .strip_prefix("listening on http://")
            .unwrap_or_default()
            .to_owned();
        let logs = Arc::clone(&self.logs);
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                logs.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        self.child = Some(child);
        assert!(
            !self.address.is_empty(),
            "the server did not start: {}",
            self.logs.lock().unwrap()
        );
    }

    fn base(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_phigate"));
        command.current_dir(self.folder.path());
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PHIGATE_")) {
            command.env_remove(name);
        }
        command.env("PHIGATE_DATA", self.data());
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command on this store and expects it to work; gives its standard output.
    pub fn command(&self, arguments: &[&str]) -> String {
        self.command_with_input(arguments, "")
    }

    /// Sets the account's mode, whichever it was.
    pub fn set_mode(&self, mode: &str) {
        self.command(&["mode", "set", mode, "--reason", "a test of modes"]);
    }

    /// Runs a command with this standard input, which must succeed.
    pub fn command_with_input(&self, arguments: &[&str], input: &str) -> String {
        let output = self.try_command(arguments, input);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command and returns its output, successful or not.
    pub fn try_command(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = self.spawn(arguments);
        child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
        child.wait_with_output().unwrap()
    }

    /// Starts a command.
    pub fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.base();
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// A new API key.
    pub fn key(&self) -> String {
        self.command(&["key", "create"]).trim().to_owned()
    }

    /// Sends a chat request.
    pub fn chat(&self, key: &str, body: &str) -> Answer {
        self.post("/v1/chat/completions", key, body)
    }

    /// Posts JSON.
    pub fn post(&self, path: &str, key: &str, body: &str) -> Answer {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.address,
            body.len()
        );
        exchange(&self.address, &[head.as_bytes(), body.as_bytes()].concat())
    }

    /// Gets a path.
    pub fn get(&self, path: &str, key: &str) -> Answer {
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n",
            self.address
        );
        exchange(&self.address, head.as_bytes())
    }

    /// The records of one request, as `audit export` writes them.
    pub fn records(&self, request_id: &str) -> Vec<serde_json::Value> {
        let export = self.command(&["audit", "export"]);
        let records = export
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        records
            .filter(|record| record["request_id"] == request_id)
            .collect()
    }

    /// The server's process.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Sends a signal to the server.
    pub fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        assert!(
            Command::new("kill")
                .args([name, &pid])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Waits for the server to end; gives its exit code.
    pub fn wait(&mut self) -> Option<i32> {
        self.child
            .take()
            .and_then(|mut child| child.wait().unwrap().code())
    }

    /// Whether any file of the installation holds these bytes.
    pub fn is_on_disk(&self, needle: &[u8]) -> bool {
        fn search(folder: &std::path::Path, needle: &[u8]) -> bool {
            std::fs::read_dir(folder).unwrap().flatten().any(|entry| {
                let path = entry.path();
                if path.is_dir() {
                    return search(&path, needle);
                }
                std::fs::read(&path)
                    .is_ok_and(|bytes| bytes.windows(needle.len()).any(|window| window == needle))
            })
        }
        search(self.folder.path(), needle)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().ok();
            child.wait().ok();
        }
    }
}
