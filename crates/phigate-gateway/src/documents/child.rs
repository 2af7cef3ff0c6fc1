//! One process that reads one document.

use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use phigate_types::{DocumentText, Unread};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The most bytes that a process may answer.
const ANSWER: usize = 256 << 20;

/// Bytes per read.
const CHUNK: usize = 64 << 10;

/// Time between two looks whether a process has ended, which it does right after its answer.
const BETWEEN_LOOKS: Duration = Duration::from_micros(200);

/// Process that waits for its document. It is killed when it is dropped.
pub(super) struct Child(std::process::Child);

impl Child {
    /// Starts a process. It gets no environment and no files but its three pipes.
    pub(super) fn start(program: &Path) -> std::io::Result<Self> {
        let mut command = Command::new(program);
        command
            .arg0("phigate")
            .arg("extract")
            .env_clear()
            // Without this the allocator of the child reserves a gigabyte at once, more than its memory limit.
            .env("MIMALLOC_ARENA_EAGER_COMMIT", "0")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        command.spawn().map(Self)
    }

    /// Returns the process if it still runs. One that waited may have been killed, for example for memory.
    pub(super) fn running(mut self) -> Option<Self> {
        matches!(self.0.try_wait(), Ok(None)).then_some(self)
    }

    /// Returns the text of a document.
    ///
    /// # Errors
    ///
    /// The reason of the process; [`Unread::Limit`] if it was killed for one of its limits, and [`Unread::Damaged`] if it
    /// failed otherwise.
    pub(super) fn read(
        mut self,
        document: &[u8],
        within: Duration,
    ) -> Result<DocumentText, Unread> {
        let until = Instant::now() + within;
        let answer = self.exchange(document, until);
        let answer = answer.map_err(|_| Unread::Limit)?;
        let status = self.end(until).ok_or(Unread::Limit)?;
        match (status.success(), status.code()) {
            (true, _) => {
                serde_json::from_slice::<Result<_, _>>(&answer).unwrap_or(Err(Unread::Damaged))
            }
            (false, Some(_)) => Err(Unread::Damaged),
            (false, None) => Err(Unread::Limit),
        }
    }

    /// Waits for the end of the process; `None` if it does not end in time.
    fn end(&mut self, until: Instant) -> Option<ExitStatus> {
        loop {
            if let Some(status) = self.0.try_wait().ok()? {
                return Some(status);
            }
            if Instant::now() > until {
                return None;
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }

    /// Writes the document and reads the answer, until the process closes it.
    fn exchange(&mut self, document: &[u8], until: Instant) -> std::io::Result<Vec<u8>> {
        let late = || std::io::Error::from(std::io::ErrorKind::TimedOut);
        let mut input = self.0.stdin.take().ok_or_else(late)?;
        let mut output = self.0.stdout.take().ok_or_else(late)?;
        rustix::io::ioctl_fionbio(&input, true)?;
        rustix::io::ioctl_fionbio(&output, true)?;
        let mut rest = document;
        while !rest.is_empty() {
            wait(input.as_fd(), PollFlags::OUT, until)?;
            match input.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(error),
            }
        }
        drop(input);
        let (mut answer, mut chunk) = (Vec::new(), vec![0; CHUNK]);
        loop {
            wait(output.as_fd(), PollFlags::IN, until)?;
            match output.read(&mut chunk) {
                Ok(0) => return Ok(answer),
                Ok(length) => answer.extend_from_slice(&chunk[..length]),
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(error),
            }
            if answer.len() > ANSWER {
                return Err(late());
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Fails only if it has ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn is_passing(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::Interrupted
    )
}

/// Waits until a pipe can be used.
fn wait(pipe: BorrowedFd<'_>, flags: PollFlags, until: Instant) -> std::io::Result<()> {
    let late = || std::io::Error::from(std::io::ErrorKind::TimedOut);
    let left = until
        .checked_duration_since(Instant::now())
        .ok_or_else(late)?;
    let left = Timespec::try_from(left).map_err(|_| late())?;
    match poll(&mut [PollFd::from_borrowed_fd(pipe, flags)], Some(&left)) {
        Ok(0) => Err(late()),
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
