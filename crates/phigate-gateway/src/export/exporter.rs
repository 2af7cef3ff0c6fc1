//! One target: lines are read, sent, confirmed and tried again, in the order of each chain.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use phigate_store::{ExportBatch, ExportRun, StoreError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::sink::{Problem, Sink};
use super::target::TargetKind;
use crate::metrics::{ExportLag, Metrics};

/// Most lines and bytes of a delivery.
const LINES_MAX: usize = 500;
const BYTES_MAX: usize = 1 << 20;

/// Timeout of one delivery.
const DELIVERY: Duration = Duration::from_secs(10);

/// Timeout of the end of a connection.
const FINISH: Duration = Duration::from_secs(2);

/// First and longest wait after a failure.
const RETRY: Duration = Duration::from_millis(500);
const RETRY_MAX: Duration = Duration::from_secs(30);

/// Wait after records were refused for good: a receiver that refuses some will refuse more.
const REJECTED_PAUSE: Duration = Duration::from_secs(5);

/// Interval at which metrics are set during a wait.
const MEASURE: Duration = Duration::from_secs(1);

/// Name of a target for people and for metrics.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Label {
    pub(super) account: String,
    pub(super) target: String,
}

/// An exporter at work.
pub(super) struct Exporter {
    pub(super) label: Label,
    pub(super) kind: &'static TargetKind,
    pub(super) sink: Box<dyn Sink>,
    pub(super) run: ExportRun,
    pub(super) metrics: Arc<Metrics>,
    /// Interval of checkpoints; `None` if the target gets none.
    pub(super) checkpoints: Option<Duration>,
    /// Lines that are still to be sent.
    pub(super) queue: VecDeque<ExportBatch>,
    /// Lines that were sent and may yet be lost, with the time of their sending.
    pub(super) written: VecDeque<(Instant, ExportBatch)>,
    pub(super) failures: u32,
}

/// Reason for the end of an exporter.
enum Ended {
    /// A stop, or a change of the target.
    Stopped,
    /// Another process has taken over.
    Taken,
}

impl Exporter {
    /// Sends until it is stopped.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        let ended = tokio::select! {
            ended = self.send_all() => ended,
            () = stop.cancelled() => Ok(Ended::Stopped),
        };
        match ended {
            Ok(Ended::Stopped) => self.finish().await,
            Ok(Ended::Taken) => {}
            Err(error) => {
                tracing::warn!("export {} stopped early: {error}", self.label.target);
                let _ = self.run.release().await;
            }
        }
    }

    async fn send_all(&mut self) -> Result<Ended, StoreError> {
        let mut checkpoint_due = Instant::now();
        loop {
            if !self.confirm().await? {
                return Ok(Ended::Taken);
            }
            self.measure().await?;
            let begun = match tokio::time::timeout(DELIVERY, self.sink.begin()).await {
                Ok(begun) => begun,
                Err(_) => Err(timeout()),
            };
            let is_empty = match begun {
                Ok(is_empty) => is_empty,
                Err(problem) => {
                    if !self.fail(problem).await? {
                        return Ok(Ended::Taken);
                    }
                    continue;
                }
            };
            if self.queue.is_empty() {
                let anew = is_empty || self.kind.is_apart;
                let batch = self.run.next(LINES_MAX, BYTES_MAX, anew).await?;
                if !batch.lines.is_empty() {
                    self.queue.push_back(batch);
                }
            }
            if let Some(every) = self.checkpoints
                && Instant::now() >= checkpoint_due
                && !self.queue.is_empty()
            {
                checkpoint_due = Instant::now() + every;
                let lines = self.run.checkpoints().await?;
                if let Some(batch) = self.queue.back_mut() {
                    batch.lines.extend(lines);
                }
            }
            let was_full = match self.queue.pop_front() {
                Some(batch) => match self.deliver(batch).await? {
                    Some(was_full) => was_full,
                    None => return Ok(Ended::Taken),
                },
                None if self.run.idle().await? => false,
                None => return Ok(Ended::Taken),
            };
            if !was_full && self.queue.is_empty() {
                tokio::time::sleep(self.kind.every).await;
            }
        }
    }

    /// Sends one batch. `None` if another process has taken over, else whether the batch was full.
    async fn deliver(&mut self, batch: ExportBatch) -> Result<Option<bool>, StoreError> {
        // A pause binds at once.
        if !self.run.is_ours().await? {
            return Ok(None);
        }
        let sent = match tokio::time::timeout(DELIVERY, self.sink.deliver(&batch.lines)).await {
            Ok(sent) => sent,
            Err(_) => Err(timeout()),
        };
        let rejected = match sent {
            Ok(rejected) => rejected,
            Err(problem) => {
                self.queue.push_front(batch);
                return Ok(self.fail(problem).await?.then_some(true));
            }
        };
        if self.failures > 0 {
            tracing::info!("export {} works again", self.label.target);
            self.failures = 0;
        }
        if rejected > 0 {
            tracing::error!(
                "the receiver of export {} rejected {rejected} records for good",
                self.label.target
            );
            self.run.rejected(rejected);
        }
        let was_full = batch.lines.len() >= LINES_MAX;
        let label = (&self.label.account, &self.label.target);
        self.metrics
            .export_sent(label.0, label.1, batch.lines.len() as u64);
        self.written.push_back((Instant::now(), batch));
        let is_ours = self.confirm().await?;
        if rejected > 0 {
            tokio::time::sleep(REJECTED_PAUSE).await;
        }
        Ok(is_ours.then_some(was_full))
    }

    /// Notes what the target has by now. A broken connection puts what may be lost back into the queue. False if
    /// another process has taken over.
    async fn confirm(&mut self) -> Result<bool, StoreError> {
        if !self.written.is_empty() && !self.sink.is_open().await {
            self.send_again();
        }
        while let Some((at, _)) = self.written.front()
            && at.elapsed() >= self.kind.confirmed_after
            && let Some((_, batch)) = self.written.pop_front()
        {
            if !self.run.delivered(&batch).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn send_again(&mut self) {
        while let Some((_, batch)) = self.written.pop_back() {
            self.queue.push_front(batch);
        }
    }

    /// Notes a failure and waits. False if another process has taken over.
    async fn fail(&mut self, problem: Problem) -> Result<bool, StoreError> {
        if self.failures == 0 {
            tracing::warn!("export {} fails: {}", self.label.target, problem.words);
        }
        self.metrics
            .export_failed(&self.label.account, &self.label.target);
        self.send_again();
        if !self.run.failed(&problem.words).await? {
            return Ok(false);
        }
        let own = RETRY * 2_u32.saturating_pow(self.failures.min(8));
        let wait = own
            .min(RETRY_MAX)
            .max(problem.retry_after.unwrap_or_default());
        self.failures = self.failures.saturating_add(1);
        let until = Instant::now() + wait;
        while Instant::now() < until {
            self.measure().await?;
            tokio::time::sleep_until(until.min(Instant::now() + MEASURE)).await;
        }
        Ok(true)
    }

    /// Sets the metrics of the target.
    async fn measure(&self) -> Result<(), StoreError> {
        let waiting: usize = self.queue.iter().map(|batch| batch.lines.len()).sum();
        let oldest = self.queue.front().and_then(|batch| batch.lines.first());
        let age = oldest.map_or(0, |line| {
            Timestamp::now().duration_since(line.time).as_secs()
        });
        self.metrics.export_lags(&ExportLag {
            account: &self.label.account,
            target: &self.label.target,
            records: self.run.unread().await? + waiting as u64,
            seconds: age.max(0),
        });
        Ok(())
    }

    /// Ends the connection and frees the export.
    async fn finish(mut self) {
        let finished = tokio::time::timeout(FINISH, self.sink.finish()).await;
        if finished == Ok(true) {
            for (_, batch) in std::mem::take(&mut self.written) {
                if !matches!(self.run.delivered(&batch).await, Ok(true)) {
                    return;
                }
            }
        }
        if let Err(error) = self.run.release().await {
            tracing::warn!("export {} was not released: {error}", self.label.target);
        }
    }
}

fn timeout() -> Problem {
    Problem::new("the target did not answer in time")
}

#[cfg(test)]
mod tests;
