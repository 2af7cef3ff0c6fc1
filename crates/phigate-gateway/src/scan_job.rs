//! A scan and its place: short ones where they are, long ones on a thread of their own when it is their turn, so that
//! they do not hold up other callers.

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

/// What costs more than this to scan is scanned on a thread of its own, when there is a processor for it. Text of a
/// letter is scanned at some 20 to 30 bytes per microsecond, so this is a millisecond or two.
const INLINE_COST_MAX: usize = 64 * 1024;

/// How much more a byte costs that may begin a finding: digits in columns are the slowest text there is.
const CANDIDATE_COST: usize = 16;

/// Whether a text takes long to scan.
pub(crate) fn is_long(text: &[u8]) -> bool {
    // Most texts are too short for that, whatever stands in them.
    text.len().saturating_mul(1 + CANDIDATE_COST) > INLINE_COST_MAX
        && (text.len() > INLINE_COST_MAX || scan_cost(text) > INLINE_COST_MAX)
}

/// Candidates are counted in bytes, so that the compiler can look at many at once: as many as these can count, and
/// whole registers of them, since what is left over is looked at one by one.
const COUNTED_IN_A_BYTE: usize = u8::MAX as usize / 32 * 32;

/// What a text costs to scan, in bytes of plain text.
fn scan_cost(text: &[u8]) -> usize {
    let candidates = text.chunks(COUNTED_IN_A_BYTE).map(|part| {
        let candidates = part.iter().map(|byte| u8::from(is_candidate(*byte)));
        usize::from(candidates.sum::<u8>())
    });
    text.len() + CANDIDATE_COST * candidates.sum::<usize>()
}

/// Whether a byte often begins a candidate: digits, capitals, and what separates fields.
fn is_candidate(byte: u8) -> bool {
    // All are compared, without a branch; the sign before `A` is one of them.
    byte.is_ascii_digit()
        | (b'@'..=b'Z').contains(&byte)
        | (byte == b',')
        | (byte == b'|')
        | (byte == b'\\')
}

/// Works on a thread of its own, which goes on when the caller leaves. What the work takes is kept until it ends:
/// callers who come and go must not be able to pile it up.
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

/// The threads for such work, which are kept for a while; none where the system has none to give. The runtime has no other
/// work.
static SCANNING: LazyLock<Option<Runtime>> = LazyLock::new(|| {
    let threads = Builder::new_current_thread()
        .thread_name("phigate-scan")
        .on_thread_start(step_back)
        .build();
    threads.ok()
});

/// Makes this thread step back for those that serve, which then have nine parts in ten of a processor that both need.
/// Otherwise one scan would weigh as much as all requests of a thread together.
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
    /// The key's.
    pub(crate) key: &'a str,
    /// The account's scanner.
    pub(crate) scanner: Arc<Scanner>,
    /// Whether it takes long.
    pub(crate) is_long: bool,
}

impl ScanJob<'_> {
    /// Does the work with a scanner that stops at the deadline, and when nobody waits any more. What the work takes of
    /// any limit is `kept` until it ends.
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
            // The scans of others come first, see there.
            tokio::task::yield_now().await;
            return done;
        }
        let place = self.gateway.long_scans.enter(self.account).await?;
        let left = CancellationToken::new();
        let scan = LongScan {
            place,
            left: left.clone(),
        };
        // Dropped with this future, when the caller leaves.
        let _left = left.drop_guard();
        let scanner = self.scanner;
        let job = move || guarded(&with_deadline(&scanner, time, Some(scan)), work);
        let done = on_its_own_thread(kept, job).await;
        done.unwrap_or(Err(GatewayError::DetectorUnavailable))
    }
}

/// A long scan: its place among others, and whether it is still awaited.
struct LongScan {
    place: ScanPlace,
    /// Set when nobody waits for the result any more.
    left: CancellationToken,
}

/// The panic hook tells where; what could not be scanned is not answered.
fn guarded<T>(scanner: &Scanner, work: impl FnOnce(&Scanner) -> T) -> Result<T, GatewayError> {
    std::panic::catch_unwind(AssertUnwindSafe(|| work(scanner)))
        .map_err(|_| GatewayError::DetectorUnavailable)
}

/// How often a short scan asks whether it may go on, for each look at the clock.
const ASKED_PER_LOOK: u32 = 16;

/// The account's scanner for one request.
fn with_deadline(scanner: &Scanner, time: Duration, scan: Option<LongScan>) -> Scanner {
    let (started, asked) = (Instant::now(), AtomicU32::new(0));
    scanner.with_deadline(move || {
        // It is asked every few microseconds, which is more often than a short scan needs the time of day.
        let is_looked_at = asked.fetch_add(1, Ordering::Relaxed) % ASKED_PER_LOOK == 0;
        if scan.is_none() && !is_looked_at {
            return true;
        }
        // Time in which other accounts had the processor is not the scan's.
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

    /// Whether a scanner gets to the end of a request.
    fn finishes(scanner: &Scanner) -> bool {
        let body = br#"{"model":"gpt-4o","messages":[{"role":"user","content":"Hi."}]}"#;
        let request = Request::read(CHAT.form, body.to_vec(), &RequestLimits::default());
        protect::scan(scanner, request.unwrap())
            .report()
            .is_complete()
    }

    #[tokio::test]
    async fn a_scan_for_nobody_is_given_up_and_so_is_one_out_of_time() {
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
    async fn work_whose_caller_has_left_keeps_its_place_until_it_ends() {
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
    async fn scans_step_back_for_those_who_serve() {
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
