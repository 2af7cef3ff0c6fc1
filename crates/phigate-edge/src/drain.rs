//! Stopping in order: no new work, then time for the running requests, then the cut.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// SIGXFSZ.
const FILE_TOO_LARGE: i32 = 25;

/// A handle on the stop. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Drain {
    /// No new work from here on.
    started: CancellationToken,
    /// Running streams must end now, with an error event.
    cut: CancellationToken,
    /// Nobody waits any longer.
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
        // A file that grows over a limit would end the process; with a handler the write fails.
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

    /// Asks for no new work.
    pub fn start(&self) {
        self.started.cancel();
    }

    /// Whether new requests are to be refused.
    pub fn is_draining(&self) -> bool {
        self.started.is_cancelled()
    }

    /// Waits for the start of the drain.
    pub async fn started(&self) {
        self.started.cancelled().await;
    }

    /// Waits until running streams must end: the grace period is over.
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

    /// Waits until nobody waits any longer.
    pub(crate) async fn now(&self) {
        self.now.cancelled().await;
    }
}
