//! The number of setting changes, read again only after a write.
//!
//! A request must not act on settings older than its arrival. Every commit of every process rewrites the header of the
//! wal-index (`phigate.db-shm`, <https://www.sqlite.org/walformat.html>) before it is acknowledged, and the header's
//! fields about the end of the log never repeat. So the last result is valid while the header is unchanged. Reading the
//! header takes less than a microsecond and cannot block on the disk, so requests may do it themselves; a query may
//! block.

use std::fs::File;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::Mutex;

use rusqlite::Connection;

use crate::sqlite::lock;

/// The two copies of the header.
type Header = [u8; 96];
/// The supported format; with another format, every request queries.
const FORMAT: u32 = 3_007_000;

/// The last result, and the header by which it is validated.
pub(super) struct Generation {
    /// Never closed, because closing any handle of the file would release SQLite's locks on it.
    index: Option<ManuallyDrop<File>>,
    seen: Mutex<Option<(Header, u64)>>,
}

impl Generation {
    /// Opens the wal-index of a database that a connection has open. Without a connection there is no wal-index.
    pub(super) fn new(database: &Path) -> Self {
        let mut index = database.as_os_str().to_owned();
        index.push("-shm");
        Self {
            index: open(Path::new(&index)).map(ManuallyDrop::new),
            seen: Mutex::default(),
        }
    }

    /// The number, if the header shows that the last result is still valid.
    pub(super) fn unchanged(&self) -> Option<u64> {
        self.under(&self.header()?)
    }

    /// Reads the number, unless an earlier reader in the queue did.
    pub(super) fn read(&self, connection: &Connection) -> rusqlite::Result<u64> {
        // The header is read first, so that the number is at least as new as the header.
        let header = self.header();
        if let Some(generation) = header.as_ref().and_then(|header| self.under(header)) {
            return Ok(generation);
        }
        let generation: i64 = connection
            .prepare_cached("SELECT value FROM generation")?
            .query_row([], |row| row.get(0))?;
        let generation = generation.cast_unsigned();
        *lock(&self.seen) = header.map(|header| (header, generation));
        Ok(generation)
    }

    /// Invalidates the last result.
    pub(super) fn forget(&self) {
        *lock(&self.seen) = None;
    }

    fn under(&self, header: &Header) -> Option<u64> {
        let seen = *lock(&self.seen);
        seen.filter(|(before, _)| before == header)
            .map(|(_, generation)| generation)
    }

    fn header(&self) -> Option<Header> {
        look(self.index.as_deref()?).filter(is_whole)
    }
}

/// Whether both copies agree and have the supported format.
fn is_whole(header: &Header) -> bool {
    let (first, second) = header.split_at(header.len() / 2);
    let is_initialised = first[12] == 1;
    first == second && is_initialised && first[..4] == FORMAT.to_ne_bytes()
}

/// Opens the file with `O_NOATIME`, because updating the access time may block on the disk.
#[cfg(target_os = "linux")]
fn open(index: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NOATIME.bits().cast_signed();
    let opened = File::options().read(true).custom_flags(flags).open(index);
    opened.ok()
}

/// Reads the header from memory; `None` if the read would block.
#[cfg(target_os = "linux")]
fn look(index: &File) -> Option<Header> {
    use rustix::io::{ReadWriteFlags, preadv2};
    let mut header: Header = [0; 96];
    let space = &mut [std::io::IoSliceMut::new(&mut header)];
    let read = preadv2(index, space, 0, ReadWriteFlags::NOWAIT);
    (read == Ok(header.len())).then_some(header)
}

#[cfg(not(target_os = "linux"))]
fn open(_: &Path) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn look(_: &File) -> Option<Header> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::connect::{self, Access, connect};

    struct Site {
        folder: tempfile::TempDir,
        reader: Connection,
        writer: Connection,
        generation: Generation,
    }

    fn site() -> Site {
        let folder = tempfile::tempdir().unwrap();
        connect::prepare(folder.path(), true).unwrap();
        let reader = connect(folder.path(), Access::Read).unwrap();
        Site {
            writer: connect(folder.path(), Access::Write).unwrap(),
            generation: Generation::new(&connect::file(folder.path())),
            reader,
            folder,
        }
    }

    /// Whether the file system supports non-blocking reads.
    fn can_look(site: &Site) -> bool {
        site.generation.index.as_deref().and_then(look).is_some()
    }

    const CHANGE: &str = "UPDATE generation SET value = value + 1";

    #[test]
    fn cached_generation_is_valid_until_a_write() {
        let site = site();
        let before = site.generation.read(&site.reader).unwrap();
        assert_eq!(
            site.generation.unchanged(),
            can_look(&site).then_some(before)
        );
        for round in 1..50 {
            site.writer.execute(CHANGE, []).unwrap();
            assert_eq!(site.generation.unchanged(), None);
            assert_eq!(site.generation.read(&site.reader).unwrap(), before + round);
            let stands = can_look(&site).then_some(before + round);
            assert_eq!(site.generation.unchanged(), stands);
        }
        site.generation.forget();
        assert_eq!(site.generation.unchanged(), None);
    }

    #[test]
    fn writes_after_a_log_restart_are_seen() {
        let site = site();
        for round in 0..20 {
            site.writer.execute(CHANGE, []).unwrap();
            let seen = site.generation.read(&site.reader).unwrap();
            let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
            site.writer.query_row(sql, [], |_| Ok(())).unwrap();
            assert!(
                site.generation
                    .unchanged()
                    .is_none_or(|number| number == seen)
            );
            // Writes frames of the same size as before, in the same place of the log.
            site.writer.execute(CHANGE, []).unwrap();
            assert_eq!(site.generation.unchanged(), None, "round {round}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn dropping_a_generation_keeps_sqlite_locks() {
        use std::collections::BTreeSet;
        use std::os::unix::fs::MetadataExt;
        let site = site();
        let index = site.folder.path().join("phigate.db-shm");
        let inode = format!(":{}", std::fs::metadata(index).unwrap().ino());
        let process = std::process::id().to_string();
        // Format of a line: number, kind, manner, direction, process, file, range.
        let ours = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let is_ours = words[4] == process && words[5].ends_with(&inode);
            is_ours.then(|| words[6..].join(" "))
        };
        // The kernel does not read the file in one step, so a line can be missed while other processes take locks.
        let locks = || -> BTreeSet<String> {
            let read = |_| std::fs::read_to_string("/proc/locks").unwrap();
            let all: String = (0..8).map(read).collect();
            all.lines().filter_map(ours).collect()
        };
        site.writer.execute_batch("BEGIN IMMEDIATE").unwrap();
        let before = locks();
        assert!(!before.is_empty());
        {
            let other = Generation::new(&connect::file(site.folder.path()));
            other.read(&site.reader).unwrap();
        }
        let after = locks();
        assert!(after.is_superset(&before), "{before:?}, then {after:?}");
    }

    #[test]
    fn torn_or_foreign_header_is_ignored() {
        let mut header: Header = [0; 96];
        for half in [0, 48] {
            header[half..half + 4].copy_from_slice(&FORMAT.to_ne_bytes());
            header[half + 12] = 1;
        }
        assert!(is_whole(&header));
        for place in [0, 12, 20, 95] {
            let mut other = header;
            other[place] ^= 1;
            assert!(!is_whole(&other));
        }
        assert!(!is_whole(&[0; 96]));
    }
}
