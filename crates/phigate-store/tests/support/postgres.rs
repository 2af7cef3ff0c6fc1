//! A temporary PostgreSQL server: made in a temporary folder, removed with the test.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A running server.
pub struct Postgres {
    folder: TempDir,
    bin: PathBuf,
    owner: Option<(u32, u32)>,
    port: u16,
    /// More for the command line of the server.
    settings: Vec<&'static str>,
    server: Mutex<Option<Child>>,
}

/// Message if PostgreSQL is not installed.
const MISSING: &str = "PostgreSQL is not installed: these tests start a server of their own and need `initdb`, \
`postgres` and `psql` (Debian: apt-get install postgresql). Name their folder with PHIGATE_PG_BIN, or leave these tests out \
with PHIGATE_SKIP_POSTGRES=1.";

impl Postgres {
    /// Starts a server; `None` if the tests are to be left out.
    pub fn start() -> Option<Self> {
        Self::start_with(Vec::new())
    }

    /// Starts a server with these settings.
    pub fn start_with(settings: Vec<&'static str>) -> Option<Self> {
        let postgres = Self::make(settings)?;
        postgres.resume();
        Some(postgres)
    }

    /// Starts a server that accepts only TLS connections, with this certificate and its key.
    pub fn start_tls(certificate: &str, key: &str) -> Option<Self> {
        let postgres = Self::make(vec!["ssl=on"])?;
        postgres.write("server.crt", certificate);
        postgres.write("server.key", key);
        postgres.write(
            "pg_hba.conf",
            "local all all trust\nhostssl all all 127.0.0.1/32 trust\n",
        );
        postgres.resume();
        Some(postgres)
    }

    /// Starts a standby of this server, connected under this name.
    pub fn standby(&self, name: &str) -> Self {
        let standby = Self::empty(Vec::new());
        let mut backup = standby.command("pg_basebackup");
        let source = format!(
            "host=127.0.0.1 port={} user=postgres application_name={name}",
            self.port
        );
        backup.args(["-X", "stream", "-c", "fast", "-R", "-d", &source, "-D"]);
        assert!(backup.arg(standby.data()).status().unwrap().success());
        standby.resume();
        let streaming = format!(
            "SELECT count(*) FROM pg_stat_replication WHERE application_name = '{name}' AND state = 'streaming'"
        );
        self.wait(&streaming, "1");
        standby
    }

    /// Makes a standby the primary.
    pub fn promote(&self) {
        assert_eq!(self.value("SELECT pg_promote()"), "t");
    }

    /// Changes a setting of the running server.
    pub fn set(&self, name: &str, value: &str) {
        let sql = format!("ALTER SYSTEM SET {name} = '{value}'");
        assert!(self.psql("postgres", &sql));
        assert!(self.psql("postgres", "SELECT pg_reload_conf()"));
        let shown = format!("SHOW {name}");
        self.wait(&shown, value);
    }

    /// Waits until a statement gives a value.
    pub fn wait(&self, sql: &str, expected: &str) {
        let started = Instant::now();
        while self.value(sql) != expected {
            assert!(started.elapsed() < Duration::from_secs(30), "{sql}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The result of a statement, as text.
    pub fn value(&self, sql: &str) -> String {
        let mut command = self.command("psql");
        command.arg("-h").arg(self.folder.path());
        let port = self.port.to_string();
        command.args(["-U", "postgres", "-p", &port, "-X", "-A", "-t", "-c", sql]);
        let output = command.stderr(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    fn make(settings: Vec<&'static str>) -> Option<Self> {
        if std::env::var_os("PHIGATE_SKIP_POSTGRES").is_some() {
            println!("left out: PHIGATE_SKIP_POSTGRES is set");
            return None;
        }
        let postgres = Self::empty(settings);
        let mut initdb = postgres.command("initdb");
        initdb
            .args([
                "-U",
                "postgres",
                "-A",
                "trust",
                "-N",
                "-E",
                "UTF8",
                "--locale=C",
                "-D",
            ])
            .arg(postgres.data());
        assert!(
            initdb.stdout(Stdio::null()).status().unwrap().success(),
            "initdb failed"
        );
        Some(postgres)
    }

    /// A server without data, not started.
    fn empty(settings: Vec<&'static str>) -> Self {
        let bin = find_bin().unwrap_or_else(|| panic!("{MISSING}"));
        let folder = tempfile::Builder::new()
            .prefix("phigate-pg")
            .tempdir()
            .unwrap();
        let owner = unprivileged();
        if let Some((user, group)) = owner {
            chown(folder.path(), Some(user), Some(group)).unwrap();
        }
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        Self {
            folder,
            bin,
            owner,
            port,
            settings,
            server: Mutex::new(None),
        }
    }

    /// Starts the server again after a stop.
    pub fn resume(&self) {
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.log())
            .unwrap();
        let mut command = self.command("postgres");
        command
            .arg("-D")
            .arg(self.data())
            .arg("-k")
            .arg(self.folder.path());
        command.args([
            "-p",
            &self.port.to_string(),
            "-c",
            "listen_addresses=127.0.0.1",
            "-c",
            "max_connections=200",
        ]);
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        let child = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        *self.server.lock().unwrap() = Some(child);
        let started = Instant::now();
        while !self.psql("postgres", "SELECT 1") {
            assert!(
                started.elapsed() < Duration::from_secs(20),
                "PostgreSQL does not start: {}",
                std::fs::read_to_string(self.log()).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Stops the server at once, as a crash does.
    pub fn crash(&self) {
        self.signal("QUIT");
        if let Some(mut child) = self.server.lock().unwrap().take() {
            child.wait().unwrap();
        }
    }

    /// Freezes every process of the server (`STOP`), or lets them go on (`CONT`).
    pub fn signal_all(&self, signal: &str) {
        let Some(parent) = self.server.lock().unwrap().as_ref().map(Child::id) else {
            return;
        };
        let children = Command::new("ps")
            .args(["-o", "pid=", "--ppid", &parent.to_string()])
            .output()
            .unwrap();
        let children = String::from_utf8(children.stdout).unwrap();
        for process in std::iter::once(parent.to_string())
            .chain(children.split_whitespace().map(str::to_owned))
        {
            let _ = Command::new("kill")
                .args(["-s", signal, &process])
                .stderr(Stdio::null())
                .status();
        }
    }

    /// A new database and its address.
    pub fn database(&self, name: &str) -> String {
        assert!(self.psql("postgres", &format!("CREATE DATABASE {name}")));
        self.url(name)
    }

    /// The address by host name, with parameters.
    pub fn url_with(&self, database: &str, parameters: &str) -> String {
        format!(
            "postgres://postgres@localhost:{}/{database}?hostaddr=127.0.0.1&{parameters}",
            self.port
        )
    }

    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// The server's first process; the others are its children.
    pub fn process(&self) -> u32 {
        self.server.lock().unwrap().as_ref().unwrap().id()
    }

    /// Runs a statement; whether that worked.
    pub fn psql(&self, database: &str, sql: &str) -> bool {
        let mut command = self.command("psql");
        command.arg("-h").arg(self.folder.path());
        command.args([
            "-U",
            "postgres",
            "-p",
            &self.port.to_string(),
            "-v",
            "ON_ERROR_STOP=1",
        ]);
        command
            .args(["-q", "-d", database, "-c", sql])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status().unwrap().success()
    }

    /// Copies a database the way the documentation says: `pg_dump`, then `pg_restore`.
    pub fn dump_and_restore(&self, from: &str, to: &str) {
        let url = self.database(to);
        let dump = self.folder.path().join("dump");
        let mut tool = self.command("pg_dump");
        assert!(
            tool.args(["-Fc", "-d", &self.url(from), "-f"])
                .arg(&dump)
                .status()
                .unwrap()
                .success()
        );
        let mut tool = self.command("pg_restore");
        assert!(
            tool.args(["--exit-on-error", "-d", &url])
                .arg(&dump)
                .status()
                .unwrap()
                .success()
        );
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// Writes a file of the server, readable by its user alone.
    fn write(&self, name: &str, text: &str) {
        let path = self.data().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        if let Some((user, group)) = self.owner {
            chown(&path, Some(user), Some(group)).unwrap();
        }
    }

    fn signal(&self, signal: &str) {
        if let Some(child) = self.server.lock().unwrap().as_ref() {
            let _ = Command::new("kill")
                .args(["-s", signal, &child.id().to_string()])
                .status();
        }
    }

    fn command(&self, tool: &str) -> Command {
        let mut command = Command::new(self.bin.join(tool));
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.signal_all("CONT");
        self.crash();
    }
}

fn find_bin() -> Option<PathBuf> {
    let tools = ["initdb", "postgres", "psql"];
    let has_tools = |folder: &PathBuf| tools.iter().all(|tool| folder.join(tool).exists());
    let named = std::env::var_os("PHIGATE_PG_BIN").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).collect::<Vec<_>>();
    let mut debian: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|versions| {
            versions
                .flatten()
                .map(|version| version.path().join("bin"))
                .collect()
        })
        .unwrap_or_default();
    debian.sort();
    named
        .into_iter()
        .chain(on_path)
        .chain(debian.into_iter().rev())
        .find(has_tools)
}

/// PostgreSQL refuses to run as root; then another user runs it.
fn unprivileged() -> Option<(u32, u32)> {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let ids = |name: &str| {
        let line = users
            .lines()
            .find(|line| line.starts_with(&format!("{name}:")))?;
        let fields: Vec<&str> = line.split(':').collect();
        Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
    };
    is_root.then(|| {
        ids("postgres")
            .or_else(|| ids("nobody"))
            .unwrap_or((65_534, 65_534))
    })
}

/// Whether a file holds some bytes.
pub fn holds(path: &Path, needle: &[u8]) -> bool {
    let bytes = std::fs::read(path).unwrap_or_default();
    bytes.windows(needle.len()).any(|window| window == needle)
}
