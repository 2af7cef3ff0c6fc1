//! One gateway per embedded store. Whoever serves holds a lock and says in it who they are, so that a second one can
//! name the first, and `phigate doctor` knows how the running one was started.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use crate::config::Config;

/// The lock in the data folder. The system frees it when its process ends, however it ends.
const FILE: &str = "gateway.lock";
/// More than this was not written by us.
const BYTES_MAX: u64 = 4096;

/// A gateway that serves, as its lock tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Running {
    /// Its process.
    pub(super) pid: u32,
    /// Where callers connect.
    pub(super) address: SocketAddr,
    /// Whether its providers may be on private addresses.
    pub(super) allow_private_providers: bool,
    /// Whether the machine's own identity may be shown to them.
    #[serde(default)]
    pub(super) allow_ambient_credentials: bool,
}

/// The lock, held as long as this lives.
#[derive(Debug)]
pub(super) struct Instance {
    _lock: Option<File>,
}

impl Instance {
    /// Takes the lock of the store that the settings name. A database has none: several gateways may share it.
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

/// Why a second gateway may not start, and what to do.
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

/// The gateway that serves the embedded store in a folder now.
pub(super) fn running(folder: &Path) -> Option<Running> {
    let file = File::open(folder.join(FILE)).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => read(folder),
        // Nobody holds it: what is written there is from one that ended.
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
    fn a_second_gateway_is_told_who_holds_the_store_until_that_one_ends() {
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
