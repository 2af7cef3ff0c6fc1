//! Documents as text, read by processes that can do nothing else.
//!
//! A thread per process writes a document to it, reads its text, and has the next process ready. So a process reads one
//! document in its life, at most as many run as there are threads, and no document waits for a process to start.

mod child;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use phigate_core::request::{Inline, Request};
use phigate_types::{DocumentText, NoText, Unread};
use tokio::sync::oneshot;

use child::Child;

/// Text of all documents that may be in memory at a time, in the units of [`ROOM_UNIT`].
pub(crate) const ROOM: usize = 512 << 10;

/// Bytes per unit of [`ROOM`].
pub(crate) const ROOM_UNIT: usize = 1 << 10;

/// Time that a process may take for a document.
pub const READING: Duration = Duration::from_secs(10);

/// Time after which a thread without documents ends, and its process with it.
const IDLE: Duration = Duration::from_secs(60);

/// Text of a document, or the reason why there is none.
type Answer = Result<DocumentText, NoText>;

/// Document that waits, and the sender of its text.
struct Job {
    bytes: Vec<u8>,
    answer: oneshot::Sender<Answer>,
}

impl State {
    fn add(&mut self, account: &str, job: Job) {
        let own = self.waiting.iter_mut().find(|(name, _)| name == account);
        match own {
            Some((_, jobs)) => jobs.push_back(job),
            None => self
                .waiting
                .push_back((account.to_owned(), VecDeque::from([job]))),
        }
    }

    /// Takes the next document of the account whose turn it is.
    fn take(&mut self) -> Option<Job> {
        let (account, mut jobs) = self.waiting.pop_front()?;
        let job = jobs.pop_front();
        if !jobs.is_empty() {
            self.waiting.push_back((account, jobs));
        }
        job
    }

    fn count(&self) -> usize {
        self.waiting.iter().map(|(_, jobs)| jobs.len()).sum()
    }
}

/// Threads and waiting documents.
#[derive(Default)]
struct State {
    /// Documents by account. Accounts take turns, so that none delays another.
    waiting: VecDeque<(String, VecDeque<Job>)>,
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
        let job = state.take();
        state.threads -= usize::from(job.is_none());
        job
    }
}

/// Returns the path of this program, also after its file was replaced.
pub fn program() -> std::io::Result<PathBuf> {
    match cfg!(target_os = "linux") {
        true => Ok(PathBuf::from("/proc/self/exe")),
        false => std::env::current_exe(),
    }
}

/// Readers of documents.
pub struct Readers {
    shared: Arc<Shared>,
    at_most: usize,
}

impl Readers {
    /// Creates readers that start this program, also after its file was replaced.
    pub fn of_this_program(at_most: usize) -> Self {
        // Without a path, starting it fails, and no document is read.
        Self::new(program().unwrap_or_default(), at_most)
    }

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

    /// Reads a document, and waits for its text. Not for asynchronous code.
    pub fn read(&self, bytes: Vec<u8>) -> Answer {
        let text = self.submit("", bytes).blocking_recv();
        text.unwrap_or(Err(NoText::NoReader))
    }

    /// Reads the documents of a past request. Waits for their text, also in asynchronous code.
    pub fn read_of(&self, request: Request) -> Request {
        let documents: Vec<_> = request
            .inline_documents()
            .iter()
            .map(Inline::bytes)
            .collect();
        let read = |bytes: Result<Vec<u8>, Unread>| self.read(bytes.map_err(NoText::Unread)?);
        let texts = std::thread::scope(|scope| {
            let reading = scope.spawn(|| documents.into_iter().map(read).collect());
            reading.join().unwrap_or_default()
        });
        request.with_texts(texts)
    }

    /// Reads a document of an account when it is its turn. One whose receiver was dropped is not read.
    pub fn submit(&self, account: &str, bytes: Vec<u8>) -> oneshot::Receiver<Answer> {
        let (answer, receiver) = oneshot::channel();
        let mut state = self.shared.state();
        state.add(account, Job { bytes, answer });
        if state.count() > state.idle && state.threads < self.at_most {
            let shared = Arc::clone(&self.shared);
            let thread = std::thread::Builder::new().name("documents".to_owned());
            state.threads += usize::from(thread.spawn(move || work(&shared)).is_ok());
        }
        if state.threads == 0 {
            // Without a thread, no document would ever be answered.
            for job in std::iter::from_fn(|| state.take()) {
                // A receiver that is gone needs no text.
                let _ = job.answer.send(Err(NoText::NoReader));
            }
        }
        self.shared.changed.notify_one();
        receiver
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
        if job.answer.is_closed() {
            continue;
        }
        let child = ready
            .take()
            .and_then(Child::running)
            .map_or_else(|| Child::start(&shared.program), Ok);
        let text = child
            .map_err(|_| NoText::NoReader)
            .and_then(|child| child.read(&job.bytes, READING).map_err(NoText::Unread));
        drop(job.bytes);
        // A receiver that is gone needs no text.
        let _ = job.answer.send(text);
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
    fn waiting_process_that_ended_is_replaced() {
        let folder = folder();
        let starts = folder.path().join("starts");
        let path = starts.display();
        // The second process ends before it gets a document.
        let lines = format!(
            "echo >> {path}; if [ $(/usr/bin/wc -l < {path}) = 2 ]; then exit 3; fi; {ANSWERS}"
        );
        let readers = Readers::new(program(&folder, &lines), 1);
        assert!(readers.read(Vec::new()).is_ok());
        while std::fs::read(&starts).unwrap().len() < 2 {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(200));
        assert!(readers.read(Vec::new()).is_ok());
    }

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
        let submit = |_| readers.submit("one", Vec::new());
        let waiting: Vec<_> = (0..6).map(submit).collect();
        let waits = |state: MutexGuard<'_, State>| (state.threads, state.count() >= 4);
        assert_eq!(waits(readers.shared.state()), (2, true));
        for receiver in waiting {
            assert!(receiver.blocking_recv().unwrap().is_ok());
        }
        assert_eq!(readers.shared.state().threads, 2);
    }

    #[test]
    fn accounts_take_turns() {
        let folder = folder();
        let readers = Readers::new(program(&folder, &format!("sleep 0.1; {ANSWERS}")), 1);
        let mut busy: Vec<_> = (0..6).map(|_| readers.submit("busy", Vec::new())).collect();
        let abandoned = busy.remove(1);
        drop(abandoned);
        let other = readers.submit("other", Vec::new());
        assert!(other.blocking_recv().unwrap().is_ok());
        assert!(busy.pop().unwrap().try_recv().is_err(), "it came first");
    }
}
