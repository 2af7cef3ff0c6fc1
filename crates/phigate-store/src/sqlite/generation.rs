//! The number of setting changes, read again only after somebody wrote.
//!
//! A request must not act on settings older than its own arrival. Every commit of every process
//! rewrites the header of the wal-index (`phigate.db-shm`, <https://www.sqlite.org/walformat.html>)
//! before it is acknowledged, and what that holds of the log's end is never the same twice. So while
//! the header stays as it was before the last read, its answer stands. Looking takes less than a
//! microsecond and cannot wait for the disk, so that requests may do it themselves; a read may.

use std::fs::File;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::Mutex;

use rusqlite::Connection;

use crate::sqlite::lock;

/// Both copies of the header.
type Header = [u8; 96];
/// The format that is understood; with another one, every request reads.
const FORMAT: u32 = 3_007_000;

/// What was read last, and whether it still stands.
pub(super) struct Generation {
    /// Never closed: closing any handle of the file would let go of the locks that SQLite has on it.
    index: Option<ManuallyDrop<File>>,
    seen: Mutex<Option<(Header, u64)>>,
}

impl Generation {
    /// For a database that a connection has open: without one, there is no wal-index.
    pub(super) fn new(database: &Path) -> Self {
        let mut index = database.as_os_str().to_owned();
        index.push("-shm");
        Self {
            index: open(Path::new(&index)).map(ManuallyDrop::new),
            seen: Mutex::default(),
        }
    }

    /// The number, where a look shows that it still stands.
    pub(super) fn unchanged(&self) -> Option<u64> {
        self.under(&self.header()?)
    }

    /// Reads the number, unless somebody before in the line did.
    pub(super) fn read(&self, connection: &Connection) -> rusqlite::Result<u64> {
        // Looked at first, so that what is read is at least as new.
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

    /// Lets nothing stand any more.
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

/// Whether both copies say the same, in the format that is understood.
fn is_whole(header: &Header) -> bool {
    let (first, second) = header.split_at(header.len() / 2);
    let is_initialised = first[12] == 1;
    first == second && is_initialised && first[..4] == FORMAT.to_ne_bytes()
}

/// Opened so that looking notes no time of access, which may have to wait for the disk.
#[cfg(target_os = "linux")]
fn open(index: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NOATIME.bits().cast_signed();
    let opened = File::options().read(true).custom_flags(flags).open(index);
    opened.ok()
}

/// Reads the header as it stands in memory; nothing where the system would have to wait for it.
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

    /// Not every file system says what it would have to wait for.
    fn can_look(site: &Site) -> bool {
        site.generation.index.as_deref().and_then(look).is_some()
    }

    const CHANGE: &str = "UPDATE generation SET value = value + 1";

    #[test]
    fn a_read_stands_until_somebody_writes() {
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
    fn writes_after_the_log_began_anew_are_seen() {
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
            // Of the same size as the one before, at the same place of the log.
            site.writer.execute(CHANGE, []).unwrap();
            assert_eq!(site.generation.unchanged(), None, "round {round}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn whoever_stops_looking_leaves_the_locks_alone() {
        use std::collections::BTreeSet;
        use std::os::unix::fs::MetadataExt;
        let site = site();
        let index = site.folder.path().join("phigate.db-shm");
        let inode = format!(":{}", std::fs::metadata(index).unwrap().ino());
        let process = std::process::id().to_string();
        // Each line: number, kind, manner, direction, process, file, range.
        let ours = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let is_ours = words[4] == process && words[5].ends_with(&inode);
            is_ours.then(|| words[6..].join(" "))
        };
        // The file is not read in one go: while other processes take locks, a line can be missed.
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
    fn a_header_that_is_half_written_or_of_another_format_tells_nothing() {
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
