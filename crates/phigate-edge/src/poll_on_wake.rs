//! A future that is polled only after its own waker fired.
//!
//! One task serves a connection and is woken for every piece of data. Polling rare events (such as the stop of the
//! server) each time would take locks that all connections share. So a rare event has its own waker and is polled only
//! after that fired.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;

/// Future that is polled once, and then only after its own waker fired.
#[derive(Debug)]
pub struct PollOnWake<F> {
    future: Pin<Box<F>>,
    waker: Arc<OwnWaker>,
}

#[derive(Debug)]
struct OwnWaker {
    has_fired: AtomicBool,
    /// Waker of the polling task.
    owner: AtomicWaker,
}

impl<F: Future> PollOnWake<F> {
    /// Wraps a future.
    pub fn new(future: F) -> Self {
        let waker = OwnWaker {
            has_fired: AtomicBool::new(true),
            owner: AtomicWaker::new(),
        };
        Self {
            future: Box::pin(future),
            waker: Arc::new(waker),
        }
    }
}

impl Wake for OwnWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.has_fired.store(true, Ordering::Release);
        self.owner.wake();
    }
}

impl<F: Future> Future for PollOnWake<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // Registered before the check, so that a wake-up in between is not lost.
        self.waker.owner.register(cx.waker());
        if !self.waker.has_fired.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        let waker = Waker::from(Arc::clone(&self.waker));
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use tokio_util::sync::CancellationToken;

    use super::*;

    #[tokio::test]
    async fn future_is_polled_only_when_woken() {
        let token = CancellationToken::new();
        let asked = Cell::new(0);
        let mut happened = Box::pin(token.cancelled());
        let mut waiting = PollOnWake::new(std::future::poll_fn(|cx| {
            asked.set(asked.get() + 1);
            happened.as_mut().poll(cx)
        }));
        for _ in 0..100 {
            assert!(futures_util::poll!(&mut waiting).is_pending());
        }
        assert_eq!(asked.get(), 1);
        let rings = async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            token.cancel();
        };
        tokio::join!(&mut waiting, rings);
        assert_eq!(asked.get(), 2);
    }

    #[tokio::test]
    async fn timers_wake_the_waiting_task() {
        let waiting = PollOnWake::new(tokio::time::sleep(Duration::from_millis(5)));
        let waited = tokio::time::timeout(Duration::from_secs(5), waiting).await;
        assert!(waited.is_ok());
    }
}
