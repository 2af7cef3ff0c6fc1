//! A deadline that may be stopped.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

#[derive(Default)]
pub(crate) struct Timer(Option<Pin<Box<Sleep>>>);

impl Timer {
    pub(crate) fn start(&mut self, after: Duration) {
        self.0 = Some(Box::pin(tokio::time::sleep(after)));
    }

    pub(crate) fn start_at(&mut self, deadline: Instant) {
        self.0 = Some(Box::pin(tokio::time::sleep_until(deadline)));
    }

    pub(crate) fn stop(&mut self) {
        self.0 = None;
    }

    pub(crate) fn is_running(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|sleep| sleep.deadline() <= Instant::now())
    }

    /// Ready when the deadline has passed; pending if it is stopped.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.0 {
            Some(sleep) => sleep.as_mut().poll(cx),
            None => Poll::Pending,
        }
    }
}
