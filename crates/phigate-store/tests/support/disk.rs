//! Disks that can be filled up and frozen, gone with the test. Only root can make them.

use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A small separate disk.
pub struct Disk {
    folder: TempDir,
    /// The file that holds a disk other than one in memory.
    _image: Option<TempDir>,
}

impl Disk {
    /// Mounts a disk of this many megabytes in memory; `None` if that is not permitted.
    pub fn in_memory(megabytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={megabytes}m");
        let options = ["-t", "tmpfs", "-o", &size, "tmpfs"];
        let is_there = run(Command::new("mount").args(options).arg(folder.path()));
        Self::or_say(is_there, folder, None)
    }

    /// Makes a disk that can be frozen: ext4 in a file; `None` if that is not permitted.
    pub fn real() -> Option<Self> {
        let (folder, image) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = image.path().join("disk");
        let made = std::fs::File::create(&file).unwrap();
        made.set_len(48 << 20).unwrap();
        let is_there = run(Command::new("mkfs.ext4").arg("-q").arg(&file))
            && run(Command::new("mount")
                .args(["-o", "loop"])
                .arg(&file)
                .arg(folder.path()));
        Self::or_say(is_there, folder, Some(image))
    }

    fn or_say(is_there: bool, folder: TempDir, image: Option<TempDir>) -> Option<Self> {
        if !is_there {
            eprintln!("LEFT OUT: this test mounts a disk of its own, which only root may do");
            return None;
        }
        Some(Self {
            folder,
            _image: image,
        })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Blocks every write and every sync from now on, as on a disk that hangs, until the guard is dropped. Processes
    /// that wait for it cannot be killed meanwhile.
    pub fn freeze(&self) -> Frozen<'_> {
        let frozen = Frozen(self);
        assert!(run(Command::new("fsfreeze")
            .arg("--freeze")
            .arg(self.path())));
        frozen
    }
}

/// A disk that hangs.
pub struct Frozen<'a>(&'a Disk);

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        run(Command::new("fsfreeze")
            .arg("--unfreeze")
            .arg(self.0.path()));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: a test that failed may still have files open.
        run(Command::new("umount").arg("-l").arg(self.path()));
    }
}

/// Makes files read-only for all processes, also for those that have them open. False if that is not possible.
pub fn forbid_writing(files: &[&Path]) -> bool {
    let done = run(Command::new("chattr").arg("+i").args(files));
    if !done {
        eprintln!("LEFT OUT: this test makes files immutable, which only root may do");
    }
    done
}

/// Allows it again.
pub fn allow_writing(files: &[&Path]) {
    assert!(run(Command::new("chattr").arg("-i").args(files)));
}

fn run(command: &mut Command) -> bool {
    let done = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    done.is_ok_and(|status| status.success())
}
