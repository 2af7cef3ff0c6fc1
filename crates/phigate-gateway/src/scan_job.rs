//! A scan and its place: short ones where they are, long ones on a thread of their own when it is their turn.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use phigate_core::protect::Scanner;
use phigate_store::Account;
use tokio_util::sync::CancellationToken;

use crate::decide::{is_long, on_its_own_thread};
use crate::error::GatewayError;
use crate::gateway::Gateway;
use crate::scan_queue::ScanPlace;

/// Works on a text with the account's scanner, which stops at the deadline and when nobody waits any more. What the
/// work takes of any limit is `kept` until it ends.
pub(crate) async fn scan<T: Send + 'static>(
    gateway: &Gateway,
    account: &Account,
    text: &[u8],
    kept: impl Send + 'static,
    work: impl FnOnce(&Scanner) -> T + Send + 'static,
) -> Result<T, GatewayError> {
    let scanner = gateway.scanners.of(account)?;
    let time = Duration::from_millis(gateway.limits.scan_ms);
    if !is_long(text) {
        return guarded(&with_deadline(&scanner, time, None, None), work);
    }
    let place = Arc::new(gateway.long_scans.enter(&account.id).await?);
    let left = CancellationToken::new();
    let awaited = left.clone();
    // Dropped with this future, when the caller leaves.
    let _left = left.drop_guard();
    let job = move || {
        let scanner = with_deadline(&scanner, time, Some(place), Some(awaited));
        guarded(&scanner, work)
    };
    let done = on_its_own_thread(kept, job).await;
    done.unwrap_or(Err(GatewayError::DetectorUnavailable))
}

/// The panic hook tells where; what could not be scanned is not answered.
fn guarded<T>(scanner: &Scanner, work: impl FnOnce(&Scanner) -> T) -> Result<T, GatewayError> {
    std::panic::catch_unwind(AssertUnwindSafe(|| work(scanner)))
        .map_err(|_| GatewayError::DetectorUnavailable)
}

/// The account's scanner for one request.
fn with_deadline(
    scanner: &Scanner,
    time: Duration,
    place: Option<Arc<ScanPlace>>,
    left: Option<CancellationToken>,
) -> Scanner {
    let started = Instant::now();
    scanner.with_deadline(move || {
        // Time in which other accounts had the processor is not the scan's.
        let paused = place.as_ref().map_or(Duration::ZERO, |place| {
            place.checkpoint();
            place.paused()
        });
        let is_awaited = !left.as_ref().is_some_and(CancellationToken::is_cancelled);
        is_awaited && started.elapsed().saturating_sub(paused) < time
    })
}
