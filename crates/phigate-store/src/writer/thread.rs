//! The thread the writer runs on. Requests are scanned and sealed on the threads of the server; a
//! writer among them would wait behind all that, and every request waits for the writer.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};

use crate::writer::Writer;
use crate::{Result, StoreError};

/// A running writer. Dropped, it stops wherever it is.
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
                // Reads that still run are of no use to anybody.
                runtime.shutdown_background();
                let _ = tell.send(());
            })
            .map_err(unavailable)?;
        Ok(Self {
            ended: Mutex::new(Some(ended)),
            stop,
        })
    }

    /// What tells that it has ended; none when somebody else has taken that already.
    pub(crate) fn ended(&self) -> Option<oneshot::Receiver<()>> {
        self.ended
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Stops it, should it not have ended within a while.
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
