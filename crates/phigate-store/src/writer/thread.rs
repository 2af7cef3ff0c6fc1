//! The thread of the writer.
//!
//! Requests are scanned and sealed on the server's threads. A writer among them would be delayed by that work, and
//! every request waits for the writer.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};

use crate::writer::Writer;
use crate::{Result, StoreError};

/// A running writer. Dropping it stops the writer at once.
pub(crate) struct Running {
    ended: Mutex<Option<oneshot::Receiver<()>>>,
    stop: Arc<Notify>,
}

impl Running {
    pub(crate) fn start(writer: Arc<Writer>) -> Result<Self> {
        let unavailable =
            |error: std::io::Error| StoreError::Unavailable(format!("no thread: {}", error.kind()));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(unavailable)?;
        let (tell, ended) = oneshot::channel();
        let stop = Arc::new(Notify::new());
        let stopped = stop.clone();
        std::thread::Builder::new()
            .name("phigate-writer".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        () = writer.run() => {}
                        () = stopped.notified() => {}
                    }
                });
                // The results of running reads are no longer needed.
                runtime.shutdown_background();
                let _ = tell.send(());
            })
            .map_err(unavailable)?;
        Ok(Self {
            ended: Mutex::new(Some(ended)),
            stop,
        })
    }

    /// The receiver of the end; `None` if it was taken before.
    pub(crate) fn ended(&self) -> Option<oneshot::Receiver<()>> {
        self.ended
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Stops the writer if it has not ended within `patience`.
    pub(crate) async fn stop_after(&self, patience: Duration, ended: &mut oneshot::Receiver<()>) {
        if tokio::time::timeout(patience, &mut *ended).await.is_err() {
            self.stop.notify_one();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.notify_one();
    }
}
