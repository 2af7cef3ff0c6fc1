//! Settings: flags over environment over file over defaults, validated once.
//!
//! `RawConfig` is the settings as written; [`Config`] is valid by construction. One file per section.

mod alerts;
mod checkpoint;
mod env;
mod log;
mod otel;
mod raw;
mod store;
mod tls;

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use serde::Deserialize;

pub(crate) use alerts::AlertSettings;
pub(crate) use checkpoint::CheckpointSettings;
pub(crate) use log::{LogFormat, LogSettings};
pub(crate) use otel::OtelSettings;

use phigate_edge::{EdgeSettings, TlsFiles, TrustedProxies};
use phigate_types::{Limits, RawLimits};
use raw::RawConfig;

/// The settings file that is read if it exists and no other was named.
const DEFAULT_FILE: &str = "phigate.toml";

/// Flags of the command line. `None`: the environment or the file decides.
#[derive(Debug, Default, Clone)]
pub(crate) struct Flags {
    pub(crate) config: Option<PathBuf>,
    pub(crate) listen: Option<String>,
    pub(crate) metrics_listen: Option<String>,
    pub(crate) presidio_listen: Option<String>,
    pub(crate) presidio_account: Option<String>,
    pub(crate) data: Option<PathBuf>,
    pub(crate) database_url: Option<String>,
    pub(crate) master_key_file: Option<PathBuf>,
    pub(crate) allow_private_providers: bool,
    pub(crate) behind_tls_proxy: bool,
}

/// Validated settings.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    /// Address for callers.
    pub(crate) listen: SocketAddr,
    /// Address for metrics; `None` if disabled.
    pub(crate) metrics_listen: Option<SocketAddr>,
    /// Address for Presidio's interface; `None` if disabled.
    pub(crate) presidio_listen: Option<SocketAddr>,
    /// The account of Presidio's interface; `None` for the only account.
    pub(crate) presidio_account: Option<String>,
    /// Whether a proxy in front terminates TLS.
    pub(crate) behind_tls_proxy: bool,
    /// Proxies that are trusted to report a caller's address.
    pub(crate) trusted_proxies: TrustedProxies,
    /// Names under which the dashboard and Presidio's interface answer, in lower case.
    pub(crate) public_hosts: Vec<String>,
    /// Certificate of the server.
    pub(crate) tls: Option<TlsFiles>,
    /// The folder of the embedded store.
    pub(crate) data: PathBuf,
    /// PostgreSQL instead of the embedded store.
    pub(crate) database_url: Option<DatabaseUrl>,
    /// The source of the master key.
    pub(crate) master_key: MasterKeySource,
    /// Whether providers may be on private addresses and plain http.
    pub(crate) allow_private_providers: bool,
    /// Whether providers may use the machine's identity.
    pub(crate) allow_ambient_credentials: bool,
    /// Additional certificate authorities for providers.
    pub(crate) provider_ca_file: Option<PathBuf>,
    pub(crate) log: LogSettings,
    pub(crate) store: store::StoreSettings,
    pub(crate) checkpoint: CheckpointSettings,
    /// Telemetry; `None` without a collector.
    pub(crate) otel: Option<OtelSettings>,
    pub(crate) alerts: AlertSettings,
    pub(crate) limits: Limits,
}

/// The source of the master key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MasterKeySource {
    /// A file, by default beside the data folder and created on first start.
    File(PathBuf),
    /// The environment variable of this name.
    Env(String),
    /// A program that prints the key.
    Command(String),
}

/// A PostgreSQL address. It may hold a password, so it is never printed.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct DatabaseUrl(String);

impl DatabaseUrl {
    /// The address itself, for connecting.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DatabaseUrl(..)")
    }
}

/// The reason why the settings are not usable. Names keys, never values.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("cannot read the settings file {path}")]
    File { path: PathBuf },
    #[error("{path}, line {line}: {reason}")]
    Syntax {
        path: PathBuf,
        line: usize,
        reason: String,
    },
    #[error("{origin}: {reason}")]
    Unreadable {
        origin: &'static str,
        reason: String,
    },
    #[error("unknown environment variable {name}: every PHIGATE_ variable must be a setting")]
    UnknownVariable { name: String },
    #[error("{key} must be {expected}")]
    Value { key: String, expected: String },
    #[error("{key} is missing: {because}")]
    Missing {
        key: &'static str,
        because: &'static str,
    },
    #[error("cannot read {key} {path}")]
    Unread { key: &'static str, path: PathBuf },
    #[error("{0} and {1} are both set: choose one place for the master key")]
    TwoMasterKeys(&'static str, &'static str),
    #[error(
        "refusing to serve plain text on {listen} ({key}): set tls.cert and tls.key, or give --behind-tls-proxy \
         if a proxy in front ends TLS, or listen on 127.0.0.1"
    )]
    PlainTextInPublic {
        key: &'static str,
        listen: SocketAddr,
    },
}

impl Config {
    /// Reads flags, the process's environment and the settings file.
    pub(crate) fn load(flags: Flags) -> Result<Self, ConfigError> {
        // A variable that is not UTF-8 cannot be a setting: their values are all text.
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self::from_sources(flags, variables)
    }

    /// Refuses to serve plain text on a public address. Commands do not listen; `behind_tls_proxy` is set for the
    /// server only.
    pub(crate) fn check_listening(&self) -> Result<(), ConfigError> {
        let is_sealed = self.is_sealed();
        for (key, listen) in [
            ("listen", Some(self.listen)),
            ("presidio_listen", self.presidio_listen),
        ] {
            if let Some(listen) = listen.filter(|listen| !is_sealed && !is_loopback(listen.ip())) {
                return Err(ConfigError::PlainTextInPublic { key, listen });
            }
        }
        Ok(())
    }

    /// Whether browsers reach this process over TLS alone.
    pub(crate) fn is_sealed(&self) -> bool {
        self.tls.is_some() || self.behind_tls_proxy
    }

    /// Settings of the edge.
    pub(crate) fn edge(&self) -> EdgeSettings {
        EdgeSettings {
            listen: self.listen,
            metrics_listen: self.metrics_listen,
            presidio_listen: self.presidio_listen,
            trusted_proxies: self.trusted_proxies.clone(),
            tls: self.tls.clone(),
            limits: self.limits,
        }
    }

    /// Loads the settings with a given environment, for tests.
    fn from_sources(
        mut flags: Flags,
        variables: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let variables: Vec<(String, String)> = variables.collect();
        if flags.config.is_none() {
            let named = variables.iter().find(|(name, _)| name == "PHIGATE_CONFIG");
            flags.config = named.map(|(_, path)| PathBuf::from(path));
        }
        let mut table = read_file(flags.config.as_deref())?;
        let master_key_env = table.get("master_key_env").and_then(toml::Value::as_str);
        let overlay = env::table(variables.into_iter(), master_key_env)?;
        lay_over(&mut table, overlay);
        let mut raw = RawConfig::from_table(table, "environment")?;
        raw.apply_flags(flags);
        raw.check()
    }
}

impl RawConfig {
    /// Applies the flags, which have the highest precedence.
    fn apply_flags(&mut self, flags: Flags) {
        fn win<T>(place: &mut Option<T>, flag: Option<T>) {
            if flag.is_some() {
                *place = flag;
            }
        }
        win(&mut self.listen, flags.listen);
        win(&mut self.metrics_listen, flags.metrics_listen);
        win(&mut self.presidio_listen, flags.presidio_listen);
        win(&mut self.presidio_account, flags.presidio_account);
        win(&mut self.data, flags.data);
        win(&mut self.database_url, flags.database_url.map(DatabaseUrl));
        if flags.master_key_file.is_some() {
            self.master_key_file = flags.master_key_file;
            self.master_key_env = None;
            self.master_key_command = None;
        }
        win(
            &mut self.allow_private_providers,
            flags.allow_private_providers.then_some(true),
        );
        win(
            &mut self.behind_tls_proxy,
            flags.behind_tls_proxy.then_some(true),
        );
    }

    fn check(self) -> Result<Config, ConfigError> {
        let listen = address("listen", self.listen.as_deref().unwrap_or("127.0.0.1:8080"))?;
        let metrics_listen = self.metrics_listen.as_deref().unwrap_or("127.0.0.1:9464");
        let metrics_listen = address_or_off("metrics_listen", metrics_listen)?;
        let presidio_listen = self.presidio_listen.as_deref().unwrap_or("off");
        let presidio_listen = address_or_off("presidio_listen", presidio_listen)?;
        let tls = self.tls.check()?;
        let allow_private = self.allow_private_providers.unwrap_or(false);
        let behind_tls_proxy = self.behind_tls_proxy.unwrap_or(false);
        let data = self.data.unwrap_or_else(|| PathBuf::from("phigate-data"));
        let master_key = master_key(
            self.master_key_file,
            self.master_key_env,
            self.master_key_command,
            &data,
        )?;
        Ok(Config {
            listen,
            metrics_listen,
            presidio_listen,
            presidio_account: self.presidio_account,
            behind_tls_proxy,
            trusted_proxies: trusted_proxies(&self.trusted_proxies)?,
            public_hosts: public_hosts(&self.public_hosts)?,
            tls,
            data,
            database_url: self.database_url,
            master_key,
            allow_private_providers: allow_private,
            allow_ambient_credentials: self.allow_ambient_credentials.unwrap_or(false),
            provider_ca_file: self.provider_ca_file,
            log: self.log.check()?,
            store: self.store.check()?,
            checkpoint: self.checkpoint.check()?,
            otel: self.otel.check(allow_private)?,
            alerts: self.alerts.check()?,
            limits: limits(&self.limits)?,
        })
    }
}

/// The file's table, with validated keys, so that messages can name a line.
fn read_file(named: Option<&Path>) -> Result<toml::Table, ConfigError> {
    let path = named.unwrap_or(Path::new(DEFAULT_FILE));
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(toml::Table::new());
        }
        Err(_) => {
            return Err(ConfigError::File {
                path: path.to_owned(),
            });
        }
    };
    let syntax = |error: toml::de::Error| {
        let upto = error.span().map_or(0, |span| span.start);
        let line = 1 + text
            .bytes()
            .take(upto)
            .filter(|byte| *byte == b'\n')
            .count();
        ConfigError::Syntax {
            path: path.to_owned(),
            line,
            reason: raw::reason(error.message()),
        }
    };
    toml::from_str::<RawConfig>(&text).map_err(&syntax)?;
    toml::from_str(&text).map_err(&syntax)
}

fn lay_over(base: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(value)) => lay_over(inner, value),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// An address with a port. A port alone, or after `localhost`, means this machine; only a number can mean all
/// interfaces.
fn address(key: &str, text: &str) -> Result<SocketAddr, ConfigError> {
    let text = text.trim();
    let port = text.strip_prefix("localhost:").unwrap_or(text);
    if let Ok(port) = port.parse::<u16>() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    text.parse().map_err(|_| ConfigError::Value {
        key: key.to_owned(),
        expected: "an address and a port, such as 127.0.0.1:8080, localhost:8080 or 8080"
            .to_owned(),
    })
}

fn address_or_off(key: &str, text: &str) -> Result<Option<SocketAddr>, ConfigError> {
    match text {
        "off" => Ok(None),
        text => address(key, text).map(Some),
    }
}

fn public_hosts(names: &[String]) -> Result<Vec<String>, ConfigError> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let read = |name: &String| {
        let name = name.trim().trim_end_matches('.').to_ascii_lowercase();
        let is_name = !name.is_empty() && name.bytes().all(is_letter);
        is_name.then_some(name).ok_or_else(|| ConfigError::Value {
            key: "public_hosts".to_owned(),
            expected: "a list of host names without a port, such as gateway.example.org".to_owned(),
        })
    };
    names.iter().map(read).collect()
}

fn trusted_proxies(networks: &[String]) -> Result<TrustedProxies, ConfigError> {
    TrustedProxies::parse(networks).map_err(|_| ConfigError::Value {
        key: "trusted_proxies".to_owned(),
        expected: "a list of addresses or networks such as 10.0.0.0/8 or fd00::/8".to_owned(),
    })
}

fn limits(raw: &RawLimits) -> Result<Limits, ConfigError> {
    raw.check().map_err(|limit| ConfigError::Value {
        key: format!("limits.{}", limit.name),
        expected: format!("a number from {} to {}", limit.least, limit.most),
    })
}

fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

fn master_key(
    file: Option<PathBuf>,
    env: Option<String>,
    command: Option<String>,
    data: &Path,
) -> Result<MasterKeySource, ConfigError> {
    match (file, env, command) {
        (Some(_), Some(_), _) => Err(ConfigError::TwoMasterKeys(
            "master_key_file",
            "master_key_env",
        )),
        (Some(_), _, Some(_)) => Err(ConfigError::TwoMasterKeys(
            "master_key_file",
            "master_key_command",
        )),
        (_, Some(_), Some(_)) => Err(ConfigError::TwoMasterKeys(
            "master_key_env",
            "master_key_command",
        )),
        (Some(file), None, None) => Ok(MasterKeySource::File(file)),
        (None, Some(name), None) => Ok(MasterKeySource::Env(name)),
        (None, None, Some(command)) => Ok(MasterKeySource::Command(command)),
        (None, None, None) => Ok(MasterKeySource::File(beside(data))),
    }
}

/// The path `DIR.key` beside the data folder, because a backup of the folder must not contain the key.
fn beside(data: &Path) -> PathBuf {
    let trimmed: PathBuf = data.components().collect();
    let mut name = trimmed.into_os_string();
    name.push(".key");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests;
