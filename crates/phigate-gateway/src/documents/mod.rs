//! Documents as text, read by processes that can do nothing else.
//!
//! A thread per process writes a document to it, reads its text, and has the next process ready. So a process reads one
//! document in its life, at most as many run as there are threads, and no document waits for a process to start.

mod child;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use phigate_types::{DocumentText, Unread};

use child::Child;

/// Time that a process may take for a document.
pub const READING: Duration = Duration::from_secs(10);

/// Time after which a thread without documents ends, and its process with it.
const IDLE: Duration = Duration::from_secs(60);

/// Reason why there is no text of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoText {
    /// The document cannot be read.
    #[error("{}", .0.words())]
    Unread(Unread),
    /// No process could be started.
    #[error("the process that reads documents cannot be started")]
    NoReader,
}

/// Document that waits, and the receiver of its text.
struct Job {
    bytes: Vec<u8>,
    answer: Box<dyn FnOnce(Result<DocumentText, NoText>) + Send>,
}

/// Threads and waiting documents.
#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    threads: usize,
    idle: usize,
    is_over: bool,
}

struct Shared {
    /// This program.
    program: PathBuf,
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a document; `None` if the thread should end.
    fn next(&self) -> Option<Job> {
        let mut state = self.state();
        state.idle += 1;
        let is_needless = |state: &mut State| state.waiting.is_empty() && !state.is_over;
        let waited = self.changed.wait_timeout_while(state, IDLE, is_needless);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
        state.idle -= 1;
        let job = state.waiting.pop_front();
        state.threads -= usize::from(job.is_none());
        job
    }
}

/// Readers of documents.
pub struct Readers {
    shared: Arc<Shared>,
    at_most: usize,
}

impl Readers {
    /// Creates readers. At most `at_most` work at a time, and they start with the first documents.
    pub fn new(program: PathBuf, at_most: usize) -> Self {
        let shared = Shared {
            program,
            state: Mutex::default(),
            changed: Condvar::new(),
        };
        Self {
            shared: Arc::new(shared),
            at_most,
        }
    }

    /// Reads a document, and waits for its text.
    pub fn read(&self, bytes: Vec<u8>) -> Result<DocumentText, NoText> {
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        // A receiver that is gone needs no text.
        self.submit(bytes, move |text| drop(sender.send(text)));
        receiver.recv().unwrap_or(Err(NoText::NoReader))
    }

    /// Reads a document, and gives its text to `answer` on a thread of the reader.
    pub fn submit(
        &self,
        bytes: Vec<u8>,
        answer: impl FnOnce(Result<DocumentText, NoText>) + Send + 'static,
    ) {
        let mut state = self.shared.state();
        state.waiting.push_back(Job {
            bytes,
            answer: Box::new(answer),
        });
        if state.waiting.len() > state.idle && state.threads < self.at_most {
            let shared = Arc::clone(&self.shared);
            let thread = std::thread::Builder::new().name("documents".to_owned());
            state.threads += usize::from(thread.spawn(move || work(&shared)).is_ok());
        }
        if state.threads == 0 {
            // Without a thread, no document would ever be answered.
            for job in state.waiting.drain(..) {
                (job.answer)(Err(NoText::NoReader));
            }
        }
        self.shared.changed.notify_one();
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        self.shared.changed.notify_all();
    }
}

/// Reads documents one after the other. The process is killed when its thread ends, so this thread lasts.
fn work(shared: &Shared) {
    let mut ready = None;
    while let Some(job) = shared.next() {
        let child = ready
            .take()
            .map_or_else(|| Child::start(&shared.program), Ok);
        let text = child
            .map_err(|_| NoText::NoReader)
            .and_then(|child| child.read(&job.bytes, READING).map_err(NoText::Unread));
        drop(job.bytes);
        (job.answer)(text);
        ready = Child::start(&shared.program).ok();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::Instant;

    use phigate_types::{Passage, Place};

    use super::*;

    /// Writes a program that does this with its document.
    fn program(folder: &tempfile::TempDir, lines: &str) -> PathBuf {
        let path = folder.path().join("reader");
        std::fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    /// Program that answers with the text `a`.
    const ANSWERS: &str = r#"/bin/cat > /dev/null; echo '{"Ok":{"passages":[{"text":"a","stretches":[{"start":0,"place":"Whole"}],"background":false}],"sheets":[],"parts":[]}}'"#;

    #[test]
    fn answers_of_process_are_results() {
        let text = Passage::at(Place::Whole, "a".into());
        for (lines, wanted) in [
            (ANSWERS, Ok(vec![text])),
            (
                r#"/bin/cat > /dev/null; echo '{"Err":"encrypted"}'"#,
                Err(Unread::Encrypted),
            ),
            (
                "/bin/cat > /dev/null; echo '{\"Ok\":'",
                Err(Unread::Damaged),
            ),
            ("/bin/cat > /dev/null; exit 2", Err(Unread::Damaged)),
            ("/bin/cat > /dev/null; kill -9 $$", Err(Unread::Limit)),
            ("kill -9 $$", Err(Unread::Limit)),
        ] {
            // A file that runs cannot be written again.
            let folder = folder();
            let readers = Readers::new(program(&folder, lines), 1);
            let found = readers.read(vec![b' '; 1 << 20]).map(|text| text.passages);
            assert_eq!(found, wanted.map_err(NoText::Unread), "{lines}");
        }
    }

    #[test]
    fn hanging_process_is_killed() {
        for lines in [
            "exec sleep 60",
            "/bin/cat > /dev/null; exec sleep 60",
            "exec >&-; exec sleep 60",
        ] {
            let folder = folder();
            let child = Child::start(&program(&folder, lines)).unwrap();
            let started = Instant::now();
            let text = child.read(&[b' '; 1 << 20], Duration::from_millis(200));
            assert_eq!(text, Err(Unread::Limit), "{lines}");
            assert!(started.elapsed() < Duration::from_secs(20));
        }
    }

    #[test]
    fn missing_program_is_reported() {
        let readers = Readers::new(PathBuf::from("/nonexistent"), 1);
        assert_eq!(readers.read(Vec::new()), Err(NoText::NoReader));
    }

    #[test]
    fn documents_wait_for_their_turn() {
        let folder = folder();
        let readers = Readers::new(program(&folder, &format!("sleep 0.2; {ANSWERS}")), 2);
        let (sender, receiver) = std::sync::mpsc::channel();
        for _ in 0..6 {
            let sender = sender.clone();
            readers.submit(Vec::new(), move |text| sender.send(text).unwrap());
        }
        let waits = |state: MutexGuard<'_, State>| (state.threads, state.waiting.len() >= 4);
        assert_eq!(waits(readers.shared.state()), (2, true));
        for _ in 0..6 {
            assert!(receiver.recv().unwrap().is_ok());
        }
        assert_eq!(readers.shared.state().threads, 2);
    }
}
