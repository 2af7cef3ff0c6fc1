//! A gateway with two accounts, pinned to its own processors, so that the load does not take them.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::process::{self, Gateway, Listening};

/// Limits of the installation that a load from one address would meet first.
const LIMITS: &[(&str, &str)] = &[
    ("PHIGATE_ALLOW_PRIVATE_PROVIDERS", "true"),
    ("PHIGATE_METRICS_LISTEN", "off"),
    ("PHIGATE_LOG", "warn"),
    ("PHIGATE_LIMITS_KEY_REQUESTS_PER_MINUTE", "10000000"),
];

/// Keys of the first account, each with at most 64 concurrent requests.
const KEYS: usize = 8;

/// Running processes of the bench.
pub(crate) struct Site {
    pub(crate) provider: Listening,
    pub(crate) gateway: Gateway,
    /// Keys of the account with the large load.
    pub(crate) keys: Vec<String>,
    /// A key of another account.
    pub(crate) other: Vec<String>,
}

/// Counts of the provider and of the records for the same requests.
pub(crate) struct Counted {
    pub(crate) upstream: u64,
    pub(crate) decisions: u64,
    pub(crate) outcomes: u64,
    /// Decisions without exactly one outcome.
    pub(crate) odd: u64,
}

impl Site {
    pub(crate) fn start(binary: &Path, mode: &str) -> Result<Self> {
        let provider = process::own(&["mock"])?;
        let mode: &[&str] = &["mode", "set", mode];
        let halves = halves();
        let processors = halves.as_ref().map(|(ours, _)| ours.as_str());
        let gateway = Gateway::start_with(binary, &[mode], &provider.address, LIMITS, processors)?;
        let keys = (0..KEYS)
            .map(|_| gateway.command(&["key", "create"], ""))
            .collect::<Result<Vec<_>>>()?;
        gateway.command(&["account", "create", "other"], "")?;
        let base = format!("http://{}", provider.address);
        let set: &[&str] = &[
            "provider",
            "set",
            "openai",
            "--key-stdin",
            "--base-url",
            &base,
        ];
        let of_other = |words: &[&str], input: &str| {
            gateway.command(&[words, &["--account", "other"]].concat(), input)
        };
        of_other(set, "sk-bench\n")?;
        let other = vec![of_other(&["key", "create"], "")?];
        if let Some((_, theirs)) = &halves {
            for pid in [provider.pid(), std::process::id()] {
                ensure!(
                    taskset(&["-acp", theirs, &pid.to_string()]),
                    "cannot move a process to the processors {theirs}"
                );
            }
        }
        Ok(Self {
            provider,
            gateway,
            keys,
            other,
        })
    }

    /// Current and peak memory of the gateway in MiB.
    pub(crate) fn memory_mib(&self) -> (f64, f64) {
        let (now, most) = process::memory_kib(self.gateway.pid()).unwrap_or_default();
        (now as f64 / 1024.0, most as f64 / 1024.0)
    }

    /// Processor time of the gateway, and of load and provider.
    pub(crate) fn cpu(&self) -> [Duration; 2] {
        let of = |pid| process::cpu(pid).unwrap_or_default();
        let load = of(std::process::id()) + of(self.provider.pid());
        [of(self.gateway.pid()), load]
    }

    /// Stops the gateway gracefully and compares its records with the provider's count.
    pub(crate) async fn count(&mut self) -> Result<Counted> {
        let upstream = process::count(&self.provider.address).await?;
        self.gateway.stop()?;
        let mut counted = Counted {
            upstream,
            decisions: 0,
            outcomes: 0,
            odd: 0,
        };
        for account in self.accounts()? {
            let export = ["audit", "export", "--account", &account];
            counted.add(&self.gateway.command(&export, "")?)?;
        }
        let verified = self.gateway.command(&["audit", "verify"], "")?;
        ensure!(!verified.is_empty(), "the trail is not verified");
        Ok(counted)
    }

    fn accounts(&self) -> Result<Vec<String>> {
        let listed = self.gateway.command(&["account", "list", "--json"], "")?;
        let listed: Vec<Value> = serde_json::from_str(&listed)?;
        let names = listed
            .iter()
            .map(|one| one["name"].as_str().map(str::to_owned));
        names
            .collect::<Option<_>>()
            .context("an account has no name")
    }
}

/// Processors of the gateway, and those of load and provider. `None` if they must share.
fn halves() -> Option<(String, String)> {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    if count < 2 || !taskset(&["-c", "0", "true"]) {
        println!("one processor, or no taskset: gateway and load share what there is");
        return None;
    }
    let half = count / 2;
    Some((format!("0-{}", half - 1), format!("{half}-{}", count - 1)))
}

/// Runs taskset; returns whether it succeeded.
fn taskset(words: &[&str]) -> bool {
    let mut command = Command::new("taskset");
    let done = command.args(words).stdout(Stdio::null()).status();
    done.is_ok_and(|status| status.success())
}

impl Counted {
    fn add(&mut self, export: &str) -> Result<()> {
        let mut ends = std::collections::HashMap::<String, (u64, u64)>::new();
        for line in export.lines() {
            let record: Value = serde_json::from_str(line)?;
            let id = record["request_id"].as_str().unwrap_or_default().to_owned();
            match (record["record"].as_str(), record["action"].as_str()) {
                (Some("decision"), Some("refused" | "scanned" | "blocked")) => {}
                (Some("decision"), _) => {
                    self.decisions += 1;
                    ends.entry(id).or_default().0 += 1;
                }
                (Some("outcome"), _) => {
                    self.outcomes += 1;
                    ends.entry(id).or_default().1 += 1;
                }
                _ => {}
            }
        }
        let odd = ends
            .values()
            .filter(|(decided, ended)| *decided > 1 || *ended != 1);
        self.odd += odd.count() as u64;
        Ok(())
    }
}
