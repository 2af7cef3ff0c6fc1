//! One gateway per embedded store. A serving gateway holds a lock file with its details, so that a second gateway can
//! name the first and `phigate doctor` knows the options of the running one.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use crate::config::Config;

/// The lock in the data folder. The system releases it when its process ends, in whatever way.
const FILE: &str = "gateway.lock";
/// Largest valid content; a longer file was not written by a gateway.
const BYTES_MAX: u64 = 4096;

/// A serving gateway, as described in its lock file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Running {
    /// The process id.
    pub(super) pid: u32,
    /// Address for callers.
    pub(super) address: SocketAddr,
    /// Whether its providers may be on private addresses.
    pub(super) allow_private_providers: bool,
    /// Whether providers may use the machine's identity.
    #[serde(default)]
    pub(super) allow_ambient_credentials: bool,
}

/// The lock, held until this is dropped.
#[derive(Debug)]
pub(super) struct Instance {
    _lock: Option<File>,
}

impl Instance {
    /// Takes the lock of the configured store. A database has no lock: several gateways may share it.
    pub(super) fn claim(config: &Config, address: SocketAddr) -> anyhow::Result<Self> {
        if config.database_url.is_some() {
            return Ok(Self { _lock: None });
        }
        let running = Running {
            pid: std::process::id(),
            address,
            allow_private_providers: config.allow_private_providers,
            allow_ambient_credentials: config.allow_ambient_credentials,
        };
        let lock = claim(&config.data, &running)?;
        Ok(Self { _lock: Some(lock) })
    }
}

fn claim(folder: &Path, running: &Running) -> anyhow::Result<File> {
    let place = folder.display();
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("cannot create {place}"))?;
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(folder.join(FILE))
        .with_context(|| format!("cannot write in {place}"))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => bail!("{}", refusal(folder)),
        Err(TryLockError::Error(error)) => {
            return Err(error).with_context(|| format!("cannot lock {place}"));
        }
    }
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&serde_json::to_vec(running)?)?;
    Ok(file)
}

/// The reason why a second gateway may not start, with a way out.
fn refusal(folder: &Path) -> String {
    let holder = match read(folder) {
        Some(one) => format!("the gateway at {} (process {})", one.address, one.pid),
        None => "another gateway".to_owned(),
    };
    format!(
        "{holder} already serves the store in {}; use that one, stop it first, or give this one a folder of its own with --data DIR (gateways that share a store need PostgreSQL)",
        folder.display()
    )
}

/// The gateway that currently serves the embedded store in a folder.
pub(super) fn running(folder: &Path) -> Option<Running> {
    let file = File::open(folder.join(FILE)).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => read(folder),
        // The lock is free, so the content is from a gateway that has ended.
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

fn read(folder: &Path) -> Option<Running> {
    let file = File::open(folder.join(FILE)).ok()?;
    let mut text = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_gateway_learns_the_lock_holder() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        assert_eq!(running(&data), None);
        let first = Running {
            pid: 4711,
            address: "127.0.0.1:8080".parse().unwrap(),
            allow_private_providers: true,
            allow_ambient_credentials: false,
        };
        let lock = claim(&data, &first).unwrap();
        assert_eq!(running(&data).as_ref(), Some(&first));
        let refused = claim(&data, &first).unwrap_err().to_string();
        assert!(
            refused.contains("4711") && refused.contains("127.0.0.1:8080"),
            "{refused}"
        );
        drop(lock);
        assert_eq!(running(&data), None);
        claim(&data, &first).unwrap();
    }
}
