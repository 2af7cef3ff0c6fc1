//! Processes under measurement: start, CPU time, stop.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Limits that do not affect a load generator with one key.
const WIDE_LIMITS: &[(&str, &str)] = &[
    ("PHIGATE_ALLOW_PRIVATE_PROVIDERS", "true"),
    ("PHIGATE_METRICS_LISTEN", "off"),
    ("PHIGATE_LOG", "warn"),
    ("PHIGATE_LIMITS_KEY_REQUESTS_PER_MINUTE", "10000000"),
    ("PHIGATE_LIMITS_KEY_CONCURRENCY", "1000"),
];

/// Time after which a stopping gateway is killed.
const ORDERLY_END_MAX: Duration = Duration::from_secs(5);

/// A listening process, killed on drop.
pub(crate) struct Listening {
    child: Child,
    pub(crate) address: String,
}

/// A gateway with a fresh store, one API key and the mock as its provider.
pub(crate) struct Gateway {
    process: Listening,
    /// File name of its binary.
    pub(crate) name: String,
    pub(crate) address: String,
    pub(crate) key: String,
    folder: PathBuf,
    binary: PathBuf,
    settings: &'static [(&'static str, &'static str)],
}

/// Starts this program in another role.
pub(crate) fn own(words: &[&str]) -> Result<Listening> {
    Listening::start(Command::new(std::env::current_exe()?).args(words))
}

impl Listening {
    fn start(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a process")?;
        let output = child.stdout.take().context("no output")?;
        let line = BufReader::new(output)
            .lines()
            .map_while(Result::ok)
            .find(|line| line.starts_with("listening on "));
        let Some(line) = line else {
            bail!("a process ended before it listened");
        };
        let address = line.trim_start_matches("listening on http://").to_owned();
        Ok(Self { child, address })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Gateway {
    /// Starts a gateway after these commands, with this provider.
    pub(crate) fn start(binary: &Path, commands: &[&[&str]], provider: &str) -> Result<Self> {
        Self::start_with(binary, commands, provider, WIDE_LIMITS, None)
    }

    /// Starts a gateway with these settings, pinned to these processors from the start, so that it has as many threads
    /// as processors.
    pub(crate) fn start_with(
        binary: &Path,
        commands: &[&[&str]],
        provider: &str,
        settings: &'static [(&'static str, &'static str)],
        processors: Option<&str>,
    ) -> Result<Self> {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let (own, number) = (std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(format!("phigate-bench-{own}-{number}"));
        let name = binary.file_name().unwrap_or_default().to_string_lossy();
        std::fs::create_dir_all(&folder)?;
        let command = |words: &[&str]| command(binary, &folder, settings, words);
        let base = format!("http://{provider}");
        let set: &[&str] = &[
            "provider",
            "set",
            "openai",
            "--key-stdin",
            "--base-url",
            &base,
        ];
        run(&mut command(set), "sk-bench\n")?;
        for words in commands {
            run(&mut command(words), "")?;
        }
        let key = run(&mut command(&["key", "create"]), "")?.trim().to_owned();
        // Standard output is dropped, standard error is kept.
        let log = folder.join("log");
        let mut serve = command(&["serve", "--listen", "127.0.0.1:0"]);
        if let Some(processors) = processors {
            serve = on_processors(&serve, processors);
        }
        serve.stderr(std::fs::File::create(&log)?);
        let complaints = || std::fs::read_to_string(&log).unwrap_or_default();
        let process = Listening::start(&mut serve).with_context(complaints)?;
        let address = process.address.clone();
        Ok(Self {
            process,
            name: name.into_owned(),
            address,
            key,
            folder,
            binary: binary.to_owned(),
            settings,
        })
    }

    /// Runs a command on the gateway's store; returns the output.
    pub(crate) fn command(&self, words: &[&str], input: &str) -> Result<String> {
        let mut command = command(&self.binary, &self.folder, self.settings, words);
        Ok(run(&mut command, input)?.trim().to_owned())
    }

    /// Stops the gateway gracefully and waits for its end.
    pub(crate) fn stop(&mut self) -> Result<()> {
        self.ask_to_stop()?;
        let status = self.process.child.wait()?;
        anyhow::ensure!(status.success(), "the gateway ended with {status}");
        Ok(())
    }

    fn ask_to_stop(&self) -> Result<()> {
        let pid = self.pid().to_string();
        Command::new("kill").args(["-TERM", &pid]).status()?;
        Ok(())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.pid()
    }
}

impl Drop for Gateway {
    /// Stops gracefully if that is quick, because an instrumented build writes its counts at the end.
    fn drop(&mut self) {
        let deadline = Instant::now() + ORDERLY_END_MAX;
        let is_running = |child: &mut Child| matches!(child.try_wait(), Ok(None));
        if is_running(&mut self.process.child) {
            let _ = self.ask_to_stop();
        }
        while is_running(&mut self.process.child) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.process.child.kill();
        let _ = self.process.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn command(
    binary: &Path,
    folder: &Path,
    settings: &[(&'static str, &'static str)],
    words: &[&str],
) -> Command {
    let mut command = Command::new(binary);
    command
        .arg("--data")
        .arg(folder.join("data"))
        .args(words)
        .envs(settings.iter().copied());
    command
}

/// A command pinned to these processors. `taskset` executes the program, so the process id is the program's.
fn on_processors(command: &Command, processors: &str) -> Command {
    let mut pinned = Command::new("taskset");
    pinned
        .args(["-c", processors])
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            pinned.env(name, value);
        }
    }
    pinned
}

fn run(command: &mut Command, input: &str) -> Result<String> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start the gateway")?;
    child
        .stdin
        .take()
        .context("no input")?
        .write_all(input.as_bytes())?;
    let done = child.wait_with_output()?;
    if !done.status.success() {
        bail!("a command of the gateway failed with {}", done.status);
    }
    Ok(String::from_utf8(done.stdout)?)
}

/// Unit of the kernel's processor times.
const TICK: Duration = Duration::from_millis(10);

/// User and system time of a process.
pub(crate) fn cpu(pid: u32) -> Result<Duration> {
    // The name in brackets may contain spaces; the fields after it do not.
    const USER: usize = 11;
    const SYSTEM: usize = 12;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields: Vec<&str> = stat
        .rsplit_once(") ")
        .context("no stat")?
        .1
        .split(' ')
        .collect();
    let ticks: u32 = fields[USER].parse::<u32>()? + fields[SYSTEM].parse::<u32>()?;
    Ok(TICK * ticks)
}

/// Stolen time of the machine: its host did not run it although it had work, summed over all processors.
pub(crate) fn stolen() -> Duration {
    /// After the name: user, nice, system, idle, waiting for the disk, two kinds of interrupts.
    const STOLEN: usize = 8;
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let ticks = stat.split_whitespace().nth(STOLEN);
    TICK * ticks.and_then(|ticks| ticks.parse().ok()).unwrap_or(0)
}

/// Limit of open files of a process.
pub(crate) fn files_max(pid: u32) -> Option<u64> {
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Current and peak memory of a process in KiB.
pub(crate) fn memory_kib(pid: u32) -> Result<(u64, u64)> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let read = |name: &str| {
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .context("no memory figure")?;
        Ok::<u64, anyhow::Error>(line.trim().trim_end_matches(" kB").parse()?)
    };
    Ok((read("VmRSS:")?, read("VmHWM:")?))
}

/// Number of open files of a process.
pub(crate) fn files(pid: u32) -> Result<usize> {
    Ok(std::fs::read_dir(format!("/proc/{pid}/fd"))?.count())
}

/// Number of requests to the mock.
pub(crate) async fn count(address: &str) -> Result<u64> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET /count HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let body = answer.rsplit("\r\n").next();
    Ok(body.context("no count")?.trim().parse()?)
}
