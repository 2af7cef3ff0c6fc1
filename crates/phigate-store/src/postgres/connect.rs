//! Connections: TLS unless the server is on this machine, durable commits, migrations.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use deadpool::Runtime;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::config::{Config, Host, SslMode, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::migrations::{Migration, pending};
use crate::postgres::connections::{Connected, Connections, Pool};
use crate::postgres::{client, standbys, unavailable};
use crate::{Result, StoreError};

const MIGRATIONS: &[Migration] = &[
    // In order. Rows may be added but never edited.
    Migration {
        version: 1,
        sql: include_str!("migrations/0001_first.sql"),
    },
    Migration {
        version: 2,
        sql: include_str!("migrations/0002_row_mac.sql"),
    },
    Migration {
        version: 3,
        sql: include_str!("migrations/0003_search.sql"),
    },
];

/// Replicas that start together migrate one after the other.
const MIGRATION_LOCK: i64 = 0x0070_6869_6761_7465;
/// Properties of the connections to one database.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// The database address.
    pub(super) url: &'a str,
    /// Standbys that must confirm each commit.
    pub(super) standbys: u32,
    /// Counts connections as they are opened.
    pub(super) opened: &'a Arc<AtomicU64>,
}

/// A pool of connections, all unopened. `limit` is the longest wait for a connection.
pub(super) fn pool(wanted: Wanted<'_>, connections: usize, limit: Duration) -> Result<Pool> {
    let (url, root) = split_root_certificate(wanted.url);
    let mut config: Config = url.parse().map_err(|_| invalid())?;
    config
        .application_name("phigate")
        .connect_timeout(limit)
        .keepalives_idle(Duration::from_secs(30));
    let is_local = config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => {
            name == "localhost"
                || name
                    .parse()
                    .is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
        }
        Host::Unix(_) => true,
    });
    let said_nothing = config.get_ssl_mode() == SslMode::Prefer;
    if said_nothing {
        // On one machine TLS is optional, because PostgreSQL's default certificate is self-signed. If a certificate is
        // named, it is verified.
        let needs_tls = !is_local || root.is_some();
        config.ssl_mode(if needs_tls {
            SslMode::Require
        } else {
            SslMode::Disable
        });
    }
    let tls = MakeRustlsConnect::new(tls_config(root.as_deref())?);
    let hosts = hosts(&config)?;
    let opened = Arc::clone(wanted.opened);
    let manager = Connections::new(hosts, tls, limit, wanted.standbys, opened);
    Pool::builder(manager)
        .max_size(connections)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(limit))
        .create_timeout(Some(limit))
        .recycle_timeout(Some(Duration::from_secs(1)))
        .build()
        .map_err(|_| invalid())
}

fn invalid() -> StoreError {
    StoreError::Invalid {
        what: "database address",
        why: "not a postgres:// address that can be read",
    }
}

/// One configuration per host. Of several hosts only one can be written, and each has its own timeout: the driver would
/// wait for a frozen one without end.
fn hosts(config: &Config) -> Result<Vec<Config>> {
    let (names, addresses) = (config.get_hosts(), config.get_hostaddrs());
    let (ports, count) = (config.get_ports(), names.len().max(addresses.len()));
    if count <= 1 {
        return Ok(vec![config.clone()]);
    }
    let fits = |length: usize| length <= 1 || length == count;
    if !fits(names.len()) || !fits(addresses.len()) || !fits(ports.len()) {
        return Err(invalid());
    }
    let one = |at: usize| {
        let mut host = without_hosts(config);
        match names.get(at) {
            Some(Host::Tcp(name)) => drop(host.host(name)),
            Some(Host::Unix(path)) => drop(host.host_path(path)),
            None => {}
        }
        if let Some(address) = addresses.get(at) {
            host.hostaddr(*address);
        }
        if let Some(port) = ports.get(at).or(ports.first()) {
            host.port(*port);
        }
        host.target_session_attrs(TargetSessionAttrs::ReadWrite);
        host
    };
    Ok((0..count).map(one).collect())
}

/// The settings of an address apart from its hosts and ports.
fn without_hosts(config: &Config) -> Config {
    let mut other = Config::new();
    if let Some(user) = config.get_user() {
        other.user(user);
    }
    if let Some(password) = config.get_password() {
        other.password(password);
    }
    if let Some(database) = config.get_dbname() {
        other.dbname(database);
    }
    if let Some(options) = config.get_options() {
        other.options(options);
    }
    if let Some(name) = config.get_application_name() {
        other.application_name(name);
    }
    if let Some(limit) = config.get_connect_timeout() {
        other.connect_timeout(*limit);
    }
    if let Some(limit) = config.get_tcp_user_timeout() {
        other.tcp_user_timeout(*limit);
    }
    other
        .ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .channel_binding(config.get_channel_binding())
        .keepalives(config.get_keepalives())
        .keepalives_idle(config.get_keepalives_idle());
    other
}

/// Checks durability and brings the schema up to date.
pub(super) async fn prepare(pool: &Pool, create: bool, standbys: u32) -> Result<()> {
    refuse_shared_backends(pool).await?;
    let mut client = client(pool).await?;
    if standbys > 0 {
        standbys::must_see(&client).await?;
    }
    let fault = |error: tokio_postgres::Error| unavailable(&error);
    for (name, needed) in [
        ("fsync", "on"),
        ("full_page_writes", "on"),
        ("synchronous_commit", "on"),
    ] {
        let row = client
            .query_one(&format!("SHOW {name}"), &[])
            .await
            .map_err(fault)?;
        let found: String = row.get(0);
        if found != needed {
            return Err(StoreError::WeakDurability(format!(
                "{name} is {found} in PostgreSQL; needed is {needed}"
            )));
        }
    }
    let exists: bool = client
        .query_one("SELECT to_regclass('schema_migration') IS NOT NULL", &[])
        .await
        .map_err(fault)?
        .get(0);
    if !exists && !create {
        return Err(StoreError::Missing("this PostgreSQL database".to_owned()));
    }
    let transaction = client.transaction().await.map_err(fault)?;
    transaction
        // Building a new index on a long trail takes time.
        .batch_execute("SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = 0")
        .await
        .map_err(fault)?;
    transaction
        .execute("SELECT pg_advisory_xact_lock($1)", &[&MIGRATION_LOCK])
        .await
        .map_err(fault)?;
    transaction
        .batch_execute("CREATE TABLE IF NOT EXISTS schema_migration (version bigint PRIMARY KEY, checksum text NOT NULL)")
        .await
        .map_err(fault)?;
    let rows = transaction
        .query("SELECT version, checksum FROM schema_migration", &[])
        .await
        .map_err(fault)?;
    let applied: Vec<(i64, String)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    for step in pending(MIGRATIONS, &applied)? {
        transaction.batch_execute(step.sql).await.map_err(fault)?;
        let sql = "INSERT INTO schema_migration (version, checksum) VALUES ($1, $2)";
        transaction
            .execute(sql, &[&step.version, &step.checksum()])
            .await
            .map_err(fault)?;
    }
    transaction.commit().await.map_err(fault)
}

/// Refuses a pooler that gives each transaction another backend. Statements are prepared once per connection, and a
/// transaction that got no answer is settled by ending its backend.
async fn refuse_shared_backends(pool: &Pool) -> Result<()> {
    let (one, other) = (pool.manager().bare().await?, pool.manager().bare().await?);
    let before = backend(&one).await?;
    // Another connection cannot hold the locks of this transaction as well.
    let fault = |error: tokio_postgres::Error| unavailable(&error);
    other.batch_execute("BEGIN").await.map_err(fault)?;
    let is_shared = backend(&other).await? == before || backend(&one).await? != before;
    other.batch_execute("ROLLBACK").await.map_err(fault)?;
    if is_shared {
        return Err(StoreError::Invalid {
            what: "database address",
            why: "a pooler there gives each transaction another connection (PgBouncer: pool_mode = transaction), \
                  which phigate cannot work with; set pool_mode = session, or name PostgreSQL itself",
        });
    }
    Ok(())
}

/// The process that serves a connection, asked without preparing a statement.
async fn backend(client: &Connected) -> Result<String> {
    let answers = client.simple_query("SELECT pg_backend_pid()").await;
    let answers = answers.map_err(|error| unavailable(&error))?;
    let pid = answers.iter().find_map(|answer| match answer {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    pid.ok_or(StoreError::Unreadable("answer of PostgreSQL"))
}

/// Certificates are always checked: against the system's, or against the file `sslrootcert` names.
fn tls_config(root: Option<&str>) -> Result<rustls::ClientConfig> {
    let unreadable = || StoreError::Invalid {
        what: "sslrootcert",
        why: "no certificates could be read from it",
    };
    let mut roots = rustls::RootCertStore::empty();
    match root {
        Some(path) => {
            let certificates = CertificateDer::pem_file_iter(path).map_err(|_| unreadable())?;
            for certificate in certificates {
                let certificate = certificate.map_err(|_| unreadable())?;
                roots.add(certificate).map_err(|_| unreadable())?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has the default protocol versions");
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// Removes `sslrootcert=…` from an address, because the driver does not know it.
fn split_root_certificate(url: &str) -> (String, Option<String>) {
    let Some((base, query)) = url.split_once('?') else {
        return (url.to_owned(), None);
    };
    let (mut kept, mut root) = (Vec::new(), None);
    for pair in query.split('&') {
        match pair.split_once('=') {
            Some(("sslrootcert", path)) => {
                root = Some(path.replace("%2F", "/").replace("%2f", "/"));
            }
            // The driver always verifies the name when it uses TLS.
            Some(("sslmode", "verify-full" | "verify-ca")) => kept.push("sslmode=require"),
            _ => kept.push(pair),
        }
    }
    let url = if kept.is_empty() {
        base.to_owned()
    } else {
        format!("{base}?{}", kept.join("&"))
    };
    (url, root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_certificate_is_removed_from_the_address() {
        let rows = [
            // Address, its remainder, certificate.
            ("postgres://h/d", "postgres://h/d", None),
            (
                "postgres://h/d?sslrootcert=%2Fetc%2Fca.pem",
                "postgres://h/d",
                Some("/etc/ca.pem"),
            ),
            (
                "postgres://h/d?sslmode=verify-full&sslrootcert=ca.pem",
                "postgres://h/d?sslmode=require",
                Some("ca.pem"),
            ),
        ];
        for (given, url, root) in rows {
            assert_eq!(
                split_root_certificate(given),
                (url.to_owned(), root.map(str::to_owned))
            );
        }
    }
}
