//! Telemetry: spans of ended requests and the metrics leave for the operator's OpenTelemetry collector.
//!
//! Spans wait in a bounded queue. A batch that the collector does not take is tried again for a minute and then dropped
//! and counted, so that a collector that is down costs neither time nor memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Uri};
use tokio::sync::mpsc::Receiver;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::http::{Call, Way};
use super::sink::Problem;
use crate::gateway::Gateway;
use crate::metrics::Metrics;
use crate::otlp::{self, points, spans};
use crate::telemetry::{EndedTrace, Telemetry, TelemetrySettings};

/// Interval between two batches of spans.
const SPANS_EVERY: Duration = Duration::from_secs(1);

/// Interval between two calls with the metrics.
const METRICS_EVERY: Duration = Duration::from_secs(15);

/// Most requests of a batch, each with some four spans.
const BATCH_MAX: usize = 256;

/// Timeout of one call.
const CALL: Duration = Duration::from_secs(10);

/// Timeout of the last calls when the gateway stops.
const FLUSH: Duration = Duration::from_secs(3);

/// First and longest wait before a batch is tried again, and the time after which it is dropped.
const RETRY: Duration = Duration::from_millis(500);
const RETRY_MAX: Duration = Duration::from_secs(5);
const GIVE_UP: Duration = Duration::from_secs(60);

/// Statuses after which the convention has a call tried again.
const BUSY: &[u16] = &[429, 502, 503, 504];

impl Gateway {
    /// Begins to trace and measure for a collector, beside the requests. `None` if telemetry has begun before, or if the
    /// collector's address cannot be written.
    pub fn begin_telemetry(
        self: &Arc<Self>,
        settings: TelemetrySettings,
    ) -> Option<TelemetryExporter> {
        let spans_uri = uri(&settings, "traces")?;
        let metrics_uri = uri(&settings, "metrics")?;
        let (telemetry, queue) = Telemetry::new(settings);
        self.telemetry.set(Arc::clone(&telemetry)).ok()?;
        let collector = Collector {
            way: Way::of(self),
            metrics: Arc::clone(&self.metrics),
            telemetry,
            spans_uri,
            metrics_uri,
            started: now(),
            works: AtomicBool::new(true),
        };
        let stop = CancellationToken::new();
        let task = tokio::spawn(collector.run(queue, stop.clone()));
        Some(TelemetryExporter { stop, task })
    }
}

impl TelemetrySettings {
    /// Tries the collector with a call that holds no metric. The error says why it does not work.
    pub async fn try_through(&self, gateway: &Gateway) -> Result<(), String> {
        let uri = uri(self, "metrics").ok_or("its address cannot be written")?;
        let tried = post(&Way::of(gateway), self, &uri, Vec::new()).await;
        tried
            .map(drop)
            .map_err(|problem| problem.words.into_owned())
    }
}

/// Address of the collector for one kind of telemetry.
fn uri(settings: &TelemetrySettings, signal: &str) -> Option<Uri> {
    let path = ["v1".to_owned(), signal.to_owned()];
    settings.endpoint.join(&path, None)
}

async fn post(
    way: &Way,
    settings: &TelemetrySettings,
    uri: &Uri,
    body: Vec<u8>,
) -> Result<Bytes, Problem> {
    let kind = HeaderValue::from_static("application/x-protobuf");
    let mut headers = settings.headers.clone();
    headers.push((CONTENT_TYPE, kind));
    let call = way.call(Call {
        method: Method::POST,
        uri,
        headers,
        body: body.into(),
    });
    match tokio::time::timeout(CALL, call).await {
        Ok(answer) => answer,
        Err(_) => Err(Problem::new("the target did not answer in time")),
    }
}

/// The way of telemetry from this process.
pub struct TelemetryExporter {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl TelemetryExporter {
    /// Sends what is left, in bounded time. To be called when all requests have ended.
    pub async fn finish(self) {
        self.stop.cancel();
        let _ = self.task.await;
    }
}

struct Collector {
    way: Way,
    metrics: Arc<Metrics>,
    telemetry: Arc<Telemetry>,
    spans_uri: Uri,
    metrics_uri: Uri,
    /// Start of the process, in nanoseconds since 1970.
    started: u64,
    /// Whether the last call succeeded.
    works: AtomicBool,
}

impl Collector {
    async fn run(self, queue: Receiver<EndedTrace>, stop: CancellationToken) {
        tokio::join!(self.send_spans(queue, &stop), self.send_metrics(&stop));
    }

    async fn send_spans(&self, mut queue: Receiver<EndedTrace>, stop: &CancellationToken) {
        let mut batch = Vec::new();
        loop {
            let sent = tokio::select! {
                sent = self.send_batch(&mut queue, &mut batch) => sent,
                () = stop.cancelled() => break,
            };
            if sent.is_err() {
                self.drop_batch(&batch);
            }
            batch.clear();
        }
        let flushed = async {
            while self.call_with(&batch).await.is_ok() {
                batch.clear();
                if !fill(&mut queue, &mut batch) {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(FLUSH, flushed).await;
    }

    /// Waits for spans and sends them, for as long as it makes sense.
    async fn send_batch(
        &self,
        queue: &mut Receiver<EndedTrace>,
        batch: &mut Vec<EndedTrace>,
    ) -> Result<(), Problem> {
        if let Some(trace) = queue.recv().await {
            batch.push(trace);
        }
        tokio::time::sleep(SPANS_EVERY).await;
        fill(queue, batch);
        let begun = Instant::now();
        let mut wait = RETRY;
        loop {
            let Err(problem) = self.call_with(batch).await else {
                return Ok(());
            };
            let is_passing = problem.status.is_none_or(|status| BUSY.contains(&status));
            let wanted = problem.retry_after.unwrap_or_default().max(wait);
            if !is_passing || begun.elapsed() + wanted > GIVE_UP {
                return Err(problem);
            }
            tokio::time::sleep(wanted).await;
            wait = (wait * 2).min(RETRY_MAX);
        }
    }

    async fn call_with(&self, batch: &[EndedTrace]) -> Result<(), Problem> {
        if batch.is_empty() {
            return Ok(());
        }
        let answer = self.call(&self.spans_uri, spans::request(batch)).await?;
        let rejected = otlp::rejected(&answer);
        self.telemetry.drop_spans(rejected as usize);
        Ok(())
    }

    /// Sends the metrics now and then, and a last time at the stop. What was missed is in the next ones.
    async fn send_metrics(&self, stop: &CancellationToken) {
        let at_times = async {
            loop {
                tokio::time::sleep(METRICS_EVERY).await;
                // Noted where it fails; the next page holds what this one did.
                let _ = self.send_page().await;
            }
        };
        tokio::select! {
            () = at_times => {}
            () = stop.cancelled() => {}
        }
        let _ = tokio::time::timeout(FLUSH, self.send_page()).await;
    }

    async fn send_page(&self) -> Result<(), Problem> {
        self.metrics.spans_dropped(self.telemetry.take_dropped());
        let times = points::Times {
            start: self.started,
            now: now(),
        };
        let page = self.metrics.text_for_collectors();
        let body = points::request(&page, times);
        self.call(&self.metrics_uri, body).await.map(drop)
    }

    async fn call(&self, uri: &Uri, body: Vec<u8>) -> Result<Bytes, Problem> {
        let answer = post(&self.way, &self.telemetry.settings, uri, body).await;
        self.note(answer.as_ref().err());
        answer
    }

    /// Counts failures, and logs the first of several and the end of them.
    fn note(&self, problem: Option<&Problem>) {
        let worked = self.works.swap(problem.is_none(), Ordering::Relaxed);
        if problem.is_some() {
            self.metrics.telemetry_failed();
        }
        match problem {
            Some(problem) if worked => {
                tracing::warn!("telemetry does not reach its collector: {}", problem.words);
            }
            None if !worked => tracing::info!("telemetry reaches its collector again"),
            _ => {}
        }
    }

    fn drop_batch(&self, batch: &[EndedTrace]) {
        let spans = batch.iter().map(|trace| trace.spans.len()).sum();
        self.telemetry.drop_spans(spans);
    }
}

/// Takes what waits, up to a whole batch. False if there is nothing to send.
fn fill(queue: &mut Receiver<EndedTrace>, batch: &mut Vec<EndedTrace>) -> bool {
    while batch.len() < BATCH_MAX
        && let Ok(trace) = queue.try_recv()
    {
        batch.push(trace);
    }
    !batch.is_empty()
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_nanos() as u64
}
