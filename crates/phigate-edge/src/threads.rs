//! Threads that serve callers, each with its own runtime.
//!
//! A connection stays on its thread with its requests and everything they wait for. So threads seldom wake each other,
//! and the data of a request stays in the caches of one processor. The price: a request may wait for another one on its
//! thread while other threads are idle. That wait is short, because long scans and reads from a store run elsewhere.
//! HTTP/2 requests are spread over the threads like connections, because one connection may carry all requests of a
//! site.

use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::TcpStream;
use tokio::runtime::{Builder, Handle};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

thread_local! {
    /// Number of this thread among the serving ones; 0 for all other threads.
    static THREAD_NUMBER: Cell<usize> = const { Cell::new(0) };
}

/// Threads that serve callers. Empty by default, so that the current runtime serves.
#[derive(Debug, Default)]
pub struct Threads {
    threads: Vec<Thread>,
    stop: CancellationToken,
}

#[derive(Debug)]
struct Thread {
    runtime: Handle,
    /// Connections, and HTTP/2 requests.
    tasks: Arc<AtomicUsize>,
}

impl Threads {
    /// Starts a thread per processor.
    pub fn start() -> io::Result<Self> {
        let stop = CancellationToken::new();
        let threads = (1..=processors()).map(|place| Thread::start(place, stop.clone()));
        Ok(Self {
            threads: threads.collect::<io::Result<_>>()?,
            stop,
        })
    }

    /// Ends the threads without waiting for their work.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Serves a connection on the thread with the least work, or here if there are no threads.
    pub(crate) fn serve<F>(
        &self,
        tracker: &TaskTracker,
        stream: TcpStream,
        serve: impl FnOnce(TcpStream) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        if self.threads.is_empty() {
            tracker.spawn(serve(stream));
            return;
        }
        // From here on it belongs to another runtime.
        let Ok(stream) = stream.into_std() else {
            return;
        };
        self.spawn(tracker, async move {
            if let Ok(stream) = TcpStream::from_std(stream) {
                serve(stream).await;
            }
        });
    }

    /// Runs work on the thread with the least work, or here if there are no threads.
    pub(crate) fn spawn<F>(&self, tracker: &TaskTracker, work: F)
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let threads = self.threads.iter();
        match threads.min_by_key(|thread| thread.tasks.load(Ordering::Relaxed)) {
            None => drop(tracker.spawn(work)),
            Some(thread) => {
                let counted = Counted::on(thread);
                let work = async move {
                    let _counted = counted;
                    work.await;
                };
                tracker.spawn_on(work, &thread.runtime);
            }
        }
    }
}

impl Thread {
    fn start(place: usize, stop: CancellationToken) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let thread = Self {
            runtime: runtime.handle().clone(),
            tasks: Arc::default(),
        };
        let work = move || {
            THREAD_NUMBER.set(place);
            runtime.block_on(stop.cancelled());
            runtime.shutdown_background();
        };
        let named = std::thread::Builder::new().name("phigate-serve".to_owned());
        named.spawn(work)?;
        Ok(thread)
    }
}

/// A task, counted until it ends.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn on(thread: &Thread) -> Self {
        thread.tasks.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(&thread.tasks))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One value per serving thread, and one for all other threads together.
#[derive(Debug)]
pub struct PerThread<T>(Box<[T]>);

impl<T> PerThread<T> {
    /// Creates all values.
    pub fn new(make: impl Fn() -> T) -> Self {
        Self((0..=processors()).map(|_| make()).collect())
    }

    /// Value of this thread.
    pub fn mine(&self) -> &T {
        &self.0[THREAD_NUMBER.get() % self.0.len()]
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;
    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn connections_are_spread_over_threads() {
        let (threads, tracker) = (Threads::start().unwrap(), TaskTracker::new());
        let counts = Arc::new(PerThread::new(AtomicUsize::default));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (said, mut heard) = mpsc::unbounded_channel();
        let mut callers = Vec::new();
        for _ in 0..2 * processors() {
            callers.push(TcpStream::connect(address).await.unwrap());
            let (stream, _) = listener.accept().await.unwrap();
            let (counts, said) = (Arc::clone(&counts), said.clone());
            threads.serve(&tracker, stream, |stream| async move {
                stream.readable().await.unwrap();
                counts.mine().fetch_add(1, Ordering::Relaxed);
                said.send(()).unwrap();
                // Until the caller closes.
                stream.ready(tokio::io::Interest::ERROR).await.unwrap();
            });
        }
        for caller in &mut callers {
            caller.write_all(b"x").await.unwrap();
            heard.recv().await.unwrap();
        }
        let counts: Vec<usize> = counts
            .0
            .iter()
            .map(|count| count.load(Ordering::Relaxed))
            .collect();
        assert_eq!(counts[0], 0, "no connection is served by the others");
        assert_eq!(&counts[1..], vec![2; processors()]);
        threads.stop();
        tracker.close();
        tracker.wait().await;
    }
}
