//! Graceful stop: no new work, then the grace period for running requests, then the cut.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// SIGXFSZ.
const FILE_TOO_LARGE: i32 = 25;

/// Handle of the stop. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Drain {
    /// Set at the start of the drain: no new work.
    started: CancellationToken,
    /// Set at the cut: running streams must end with an error event.
    cut: CancellationToken,
    /// Set at the end: every task must stop.
    now: CancellationToken,
}

impl Drain {
    /// Starts draining at the first SIGTERM or SIGINT; stops at once at the second.
    pub fn on_signals() -> std::io::Result<Self> {
        let drain = Self::default();
        let (mut terminate, mut interrupt) = (
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
        );
        // By default the signal for a file over its size limit would kill the process; with a handler the write fails.
        let mut file_too_large = signal(SignalKind::from_raw(FILE_TOO_LARGE))?;
        let handle = drain.clone();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    _ = file_too_large.recv() => continue,
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
                if handle.is_draining() {
                    handle.stop_now();
                } else {
                    handle.start();
                }
            }
        });
        Ok(drain)
    }

    /// Starts the drain.
    pub fn start(&self) {
        self.started.cancel();
    }

    /// Whether new requests are refused.
    pub fn is_draining(&self) -> bool {
        self.started.is_cancelled()
    }

    /// Waits for the start of the drain.
    pub async fn started(&self) {
        self.started.cancelled().await;
    }

    /// Waits for the cut: the grace period is over.
    pub async fn cut(&self) {
        self.cut.cancelled().await;
    }

    /// Whether the grace period is over.
    pub fn is_cut(&self) -> bool {
        self.cut.is_cancelled()
    }

    pub(crate) fn start_cut(&self) {
        self.cut.cancel();
    }

    pub(crate) fn stop_now(&self) {
        self.now.cancel();
    }

    /// Waits for the end of the drain.
    pub(crate) async fn now(&self) {
        self.now.cancelled().await;
    }
}
