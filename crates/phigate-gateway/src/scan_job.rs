//! Runs a scan in its turn: short scans in place, long ones on their own thread, so that they do not delay other
//! callers.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use phigate_core::protect::Scanner;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use crate::error::GatewayError;
use crate::gateway::Gateway;
use crate::long_scans::ScanPlace;

/// Cost from which a scan gets its own thread and waits for a processor. Letters are scanned at some 20 to 30 bytes per
/// microsecond, so this is one or two milliseconds.
const INLINE_COST_MAX: usize = 64 * 1024;

/// Additional cost of a byte that may begin a finding: columns of digits are the slowest text.
const CANDIDATE_COST: usize = 16;

/// Whether a text takes long to scan.
pub(crate) fn is_long(text: &[u8]) -> bool {
    // Most texts are too short, whatever their content.
    text.len().saturating_mul(1 + CANDIDATE_COST) > INLINE_COST_MAX
        && (text.len() > INLINE_COST_MAX || scan_cost(text) > INLINE_COST_MAX)
}

/// Length of a part whose candidates can be counted in a byte, so that the compiler vectorises the count; a multiple of
/// the register size, because a remainder is counted byte by byte.
const COUNTED_IN_A_BYTE: usize = u8::MAX as usize / 32 * 32;

/// The cost of scanning a text, in bytes of plain text.
fn scan_cost(text: &[u8]) -> usize {
    let candidates = text.chunks(COUNTED_IN_A_BYTE).map(|part| {
        let candidates = part.iter().map(|byte| u8::from(is_candidate(*byte)));
        usize::from(candidates.sum::<u8>())
    });
    text.len() + CANDIDATE_COST * candidates.sum::<usize>()
}

/// Whether a byte often begins a candidate: digits, capitals and field separators.
fn is_candidate(byte: u8) -> bool {
    // Compared without a branch; the character before `A` is included.
    byte.is_ascii_digit()
        | (b'@'..=b'Z').contains(&byte)
        | (byte == b',')
        | (byte == b'|')
        | (byte == b'\\')
}

/// Runs work on its own thread, which continues if the caller disconnects. `kept` is held until the work ends.
/// Otherwise callers could exceed limits by disconnecting.
pub(crate) async fn on_its_own_thread<T: Send + 'static>(
    kept: impl Send + 'static,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let job = move || {
        let done = work();
        drop(kept);
        done
    };
    let threads = SCANNING.as_ref()?;
    threads.spawn_blocking(job).await.ok()
}

/// The threads for this work, which stay idle for a while; `None` if the system has no thread. The runtime does no
/// other work.
static SCANNING: LazyLock<Option<Runtime>> = LazyLock::new(|| {
    let threads = Builder::new_current_thread()
        .thread_name("phigate-scan")
        .on_thread_start(step_back)
        .build();
    threads.ok()
});

/// Lowers the priority of this thread: serving threads then get nine tenths of a shared processor. Otherwise one scan
/// would weigh as much as all requests of a thread together.
fn step_back() {
    #[cfg(target_os = "linux")]
    {
        let thread = Some(rustix::thread::gettid());
        // A process that was started with a lower priority keeps it: its scans step back from there.
        let own = rustix::process::getpriority_process(None).unwrap_or_default();
        let _ = rustix::process::setpriority_process(thread, (own + STEPS_BACK).min(LOWEST));
    }
}

/// Niceness that a scan adds to that of its process, and the highest that there is.
#[cfg(target_os = "linux")]
const STEPS_BACK: i32 = 10;
#[cfg(target_os = "linux")]
const LOWEST: i32 = 19;

/// Work with an account's scanner.
pub(crate) struct ScanJob<'a> {
    pub(crate) gateway: &'a Gateway,
    /// The account's id.
    pub(crate) account: &'a str,
    /// The key's id.
    pub(crate) key: &'a str,
    /// The account's scanner.
    pub(crate) scanner: Arc<Scanner>,
    /// Whether the scan is long.
    pub(crate) is_long: bool,
}

impl ScanJob<'_> {
    /// Runs work with a scanner that stops at the deadline or when the caller disconnects. `kept` is held until the
    /// work ends.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        kept: impl Send + 'static,
        work: impl FnOnce(&Scanner) -> T + Send + 'static,
    ) -> Result<T, GatewayError> {
        let time = Duration::from_millis(self.gateway.limits.scan_ms);
        if !self.is_long {
            let turns = self.gateway.short_scans.mine();
            turns.take(self.account, self.key).await;
            let done = guarded(&with_deadline(&self.scanner, time, None), work);
            // Lets the other scans of this pass run first, see `short_scans`.
            tokio::task::yield_now().await;
            return done;
        }
        let place = self.gateway.long_scans.enter(self.account).await?;
        let left = CancellationToken::new();
        let scan = LongScan {
            place,
            left: left.clone(),
        };
        // Dropped with this future when the caller disconnects.
        let _left = left.drop_guard();
        let scanner = self.scanner;
        let job = move || guarded(&with_deadline(&scanner, time, Some(scan)), work);
        let done = on_its_own_thread(kept, job).await;
        done.unwrap_or(Err(GatewayError::DetectorUnavailable))
    }
}

/// A long scan: its place, and whether the caller is still connected.
struct LongScan {
    place: ScanPlace,
    /// Set when the caller has disconnected.
    left: CancellationToken,
}

/// Turns a panic into an error: without a complete scan there is no answer. The panic hook logs the location.
fn guarded<T>(scanner: &Scanner, work: impl FnOnce(&Scanner) -> T) -> Result<T, GatewayError> {
    std::panic::catch_unwind(AssertUnwindSafe(|| work(scanner)))
        .map_err(|_| GatewayError::DetectorUnavailable)
}

/// Number of deadline checks of a short scan per reading of the clock.
const ASKED_PER_LOOK: u32 = 16;

/// The account's scanner for one request.
fn with_deadline(scanner: &Scanner, time: Duration, scan: Option<LongScan>) -> Scanner {
    let (started, asked) = (Instant::now(), AtomicU32::new(0));
    scanner.with_deadline(move || {
        // Checks come every few microseconds, and a short scan need not read the clock each time.
        let is_looked_at = asked.fetch_add(1, Ordering::Relaxed) % ASKED_PER_LOOK == 0;
        if scan.is_none() && !is_looked_at {
            return true;
        }
        // Paused time is not part of the scan's time.
        let paused = scan.as_ref().map_or(Duration::ZERO, |scan| {
            scan.place.checkpoint();
            scan.place.paused()
        });
        let is_awaited = !scan.as_ref().is_some_and(|scan| scan.left.is_cancelled());
        is_awaited && started.elapsed().saturating_sub(paused) < time
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use phi_detect::Detector;
    use phigate_core::doors::CHAT;
    use phigate_core::protect;
    use phigate_core::request::{Request, RequestLimits};

    use super::*;
    use crate::testing;

    /// Whether a scanner finishes a request.
    fn finishes(scanner: &Scanner) -> bool {
        let body = br#"{"model":"gpt-4o","messages":[{"role":"user","content":"Hi."}]}"#;
        let request = Request::read(CHAT.form, body.to_vec(), &RequestLimits::default());
        protect::scan(scanner, request.unwrap())
            .report()
            .is_complete()
    }

    #[tokio::test]
    async fn abandoned_or_late_scan_stops() {
        let (gateway, _folder) = testing::gateway().await;
        let scanner = Scanner::new(Detector::default());
        let left = CancellationToken::new();
        let scan = LongScan {
            place: gateway.long_scans.enter("one").await.unwrap(),
            left: left.clone(),
        };
        let awaited = with_deadline(&scanner, Duration::from_secs(60), Some(scan));
        assert!(finishes(&awaited));
        left.cancel();
        assert!(!finishes(&awaited));
        assert!(finishes(&with_deadline(
            &scanner,
            Duration::from_secs(60),
            None
        )));
        assert!(!finishes(&with_deadline(&scanner, Duration::ZERO, None)));
    }

    #[tokio::test]
    async fn abandoned_work_keeps_its_guards() {
        let place = Arc::new(());
        let (end, is_ended) = mpsc::channel::<()>();
        let work = on_its_own_thread(Arc::clone(&place), move || is_ended.recv());
        let left = tokio::time::timeout(Duration::from_millis(50), work).await;
        assert!(left.is_err(), "the work ended too soon");
        assert_eq!(Arc::strong_count(&place), 2, "the place was given back");
        end.send(()).unwrap();
        while Arc::strong_count(&place) > 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn scan_threads_have_lower_priority() {
        let niceness = || {
            let thread = rustix::thread::gettid();
            rustix::process::getpriority_process(Some(thread)).unwrap()
        };
        let scanning = on_its_own_thread((), niceness).await.unwrap();
        assert_eq!(scanning, (niceness() + STEPS_BACK).min(LOWEST));
    }

    #[test]
    fn digits_and_capitals_make_a_text_long() {
        for (text, expected) in [
            (" ".repeat(100), false),
            (" ".repeat(INLINE_COST_MAX), false),
            (" ".repeat(INLINE_COST_MAX + 1), true),
            ("1 ".repeat(1024), false),
            ("1".repeat(INLINE_COST_MAX / (1 + CANDIDATE_COST)), false),
            ("1".repeat(INLINE_COST_MAX / (1 + CANDIDATE_COST) + 1), true),
            ("1 ".repeat(16 * 1024), true),
        ] {
            assert_eq!(is_long(text.as_bytes()), expected, "{} bytes", text.len());
        }
    }
}
