//! The master key: read from a file, a variable or a command; created on first start.
//!
//! The key is never stored with the data, because a copy of the data folder must not include the key.

use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use phigate_verify::chain::hex;
use zeroize::Zeroizing;

use crate::keys::{Key, derive, random};
use crate::{Result, StoreError};

/// The source of the master key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MasterKeySource {
    /// A file that only its owner can read. Created on first start.
    File(PathBuf),
    /// An environment variable.
    Env(String),
    /// The output of a command, such as a vault's client.
    Command(String),
}

/// The key that wraps all data keys.
#[derive(Clone)]
pub(crate) struct MasterKey(Key);

impl MasterKey {
    /// A new random key.
    pub(crate) fn generate() -> Self {
        Self(Zeroizing::new(random()))
    }

    /// A public label, so that operators can distinguish keys.
    pub(crate) fn id(&self) -> String {
        hex(&derive(&self.0, "master key id")[..6])
    }

    /// A check value by which the store recognises its key.
    pub(crate) fn check(&self) -> [u8; 32] {
        *derive(&self.0, "master key check")
    }

    /// The key that wraps data keys.
    pub(super) fn wrapping(&self) -> Key {
        derive(&self.0, "wrap data keys")
    }

    fn parse(text: &str, place: &str) -> Result<Self> {
        let wrong = |why: &str| StoreError::MasterKey {
            place: place.to_owned(),
            why: why.to_owned(),
        };
        let text = text.trim();
        let bytes = Zeroizing::new(if text.len() == 64 {
            from_hex(text).ok_or_else(|| wrong("not 64 hexadecimal digits"))?
        } else {
            STANDARD
                .decode(text)
                .map_err(|_| wrong("not 32 bytes as base64 or hexadecimal"))?
        });
        let key: [u8; 32] = bytes
            .as_slice()
            .try_into()
            .map_err(|_| wrong("not 32 bytes as base64 or hexadecimal"))?;
        Ok(Self(Zeroizing::new(key)))
    }

    /// The key as written to the key file.
    fn text(&self) -> Zeroizing<String> {
        Zeroizing::new(format!("{}\n", STANDARD.encode(*self.0)))
    }
}

impl MasterKeySource {
    /// Reads the key; `None` if the file does not exist.
    pub(crate) fn read(&self, data: Option<&Path>) -> Result<Option<MasterKey>> {
        match self {
            Self::File(path) => read_file(path, data),
            Self::Env(name) => {
                let place = format!("${name}");
                let text =
                    std::env::var(name)
                        .map(Zeroizing::new)
                        .map_err(|_| StoreError::MasterKey {
                            place: place.clone(),
                            why: "the variable is not set".to_owned(),
                        })?;
                MasterKey::parse(&text, &place).map(Some)
            }
            Self::Command(command) => run(command).map(Some),
        }
    }

    /// Creates the key file. If another process just did, its key is used.
    pub(crate) fn create(&self, data: Option<&Path>) -> Result<MasterKey> {
        let Self::File(path) = self else {
            return self.read(data)?.ok_or(StoreError::NotFound("master key"));
        };
        refuse_inside(path, data)?;
        let key = MasterKey::generate();
        write_new(path, &key).map_err(|error| StoreError::MasterKey {
            place: path.display().to_string(),
            why: error.kind().to_string(),
        })?;
        read_file(path, data)?.ok_or_else(|| StoreError::MissingMasterKey(path.clone()))
    }

    /// The source, for messages.
    pub(super) fn describe(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Env(name) => PathBuf::from(format!("${name}")),
            Self::Command(command) => PathBuf::from(command),
        }
    }
}

/// Writes a key to a new file, completely or not at all. An existing file is not overwritten.
pub(crate) fn write_new(path: &Path, key: &MasterKey) -> std::io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let draft = folder.join(format!(".phigate-key-{}", hex(&random::<8>())));
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)?;
    file.write_all(key.text().as_bytes())?;
    file.sync_all()?;
    // A hard link fails if the name exists, so of two first starts only one wins.
    let linked = fs::hard_link(&draft, path);
    fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => fs::File::open(folder)?.sync_all(),
    }
}

fn read_file(path: &Path, data: Option<&Path>) -> Result<Option<MasterKey>> {
    refuse_inside(path, data)?;
    let place = path.display().to_string();
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|error| StoreError::MasterKey {
            place: place.clone(),
            why: error.kind().to_string(),
        })?,
    };
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(StoreError::KeyReadable {
            path: path.to_owned(),
            mode,
        });
    }
    let text = fs::read_to_string(path)
        .map(Zeroizing::new)
        .map_err(|error| StoreError::MasterKey {
            place: place.clone(),
            why: error.kind().to_string(),
        })?;
    MasterKey::parse(&text, &place).map(Some)
}

fn refuse_inside(path: &Path, data: Option<&Path>) -> Result<()> {
    let Some(data) = data else { return Ok(()) };
    let real = |path: &Path| {
        // The file and its folder may not exist yet.
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let known = absolute.ancestors().find_map(|known| {
            let rest = absolute.strip_prefix(known).ok()?;
            Some(fs::canonicalize(known).ok()?.join(rest))
        });
        known.unwrap_or(absolute)
    };
    if real(path).starts_with(real(data)) {
        return Err(StoreError::KeyInsideData(path.to_owned()));
    }
    Ok(())
}

fn run(command: &str) -> Result<MasterKey> {
    let wrong = |why: String| StoreError::MasterKey {
        place: "the key command".to_owned(),
        why,
    };
    let done = Command::new("sh")
        .args(["-c", command])
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|error| wrong(error.kind().to_string()))?;
    if !done.status.success() {
        return Err(wrong(format!("it ended with {}", done.status)));
    }
    let text =
        Zeroizing::new(String::from_utf8(done.stdout).map_err(|_| wrong("not text".to_owned()))?);
    MasterKey::parse(&text, "the key command")
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    (0..text.len() / 2)
        .map(|at| u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_file_is_private_and_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let source = MasterKeySource::File(folder.path().join("data.key"));
        let made = source.create(Some(&folder.path().join("data"))).unwrap();
        let again = source.create(Some(&folder.path().join("data"))).unwrap();
        assert_eq!(
            made.id(),
            again.id(),
            "a second start takes the key that is there"
        );
        assert_eq!(
            fs::metadata(folder.path().join("data.key"))
                .unwrap()
                .permissions()
                .mode()
                & 0o777,
            0o600
        );
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "no draft stays behind"
        );
    }

    #[test]
    fn readable_key_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k");
        let source = MasterKeySource::File(path.clone());
        source.create(None).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(
            source.read(None),
            Err(StoreError::KeyReadable { mode: 0o640, .. })
        ));
    }

    #[test]
    fn key_inside_the_data_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        std::os::unix::fs::symlink(&data, folder.path().join("elsewhere")).unwrap();
        for path in [
            data.join("k"),
            folder.path().join("elsewhere/k"),
            data.join("../data/deep/k"),
        ] {
            let made = MasterKeySource::File(path).create(Some(&data));
            assert!(matches!(made, Err(StoreError::KeyInsideData(_))));
        }
    }

    #[test]
    fn keys_come_as_base64_or_hexadecimal() {
        let hex_key = MasterKey::parse(&"ab".repeat(32), "test").unwrap();
        let base64_key = MasterKey::parse(&STANDARD.encode([0xab; 32]), "test").unwrap();
        assert_eq!(hex_key.id(), base64_key.id());
        for wrong in ["", "short", &"zz".repeat(32)] {
            assert!(MasterKey::parse(wrong, "test").is_err());
        }
    }

    #[test]
    fn key_is_read_from_a_command() {
        let source = MasterKeySource::Command(format!("echo {}", "0f".repeat(32)));
        assert!(source.read(None).unwrap().is_some());
        assert!(
            MasterKeySource::Command("exit 3".to_owned())
                .read(None)
                .is_err()
        );
    }
}
