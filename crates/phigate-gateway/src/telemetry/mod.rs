//! Telemetry of requests for the operator's OpenTelemetry collector: spans, and how many could not be sent.
//!
//! | File | Purpose |
//! |---|---|
//! | `attribute.rs` | attributes, made from closed types only |
//! | `context.rs` | `traceparent`, in and out |
//! | `trace.rs` | spans of one request while it is answered |
//!
//! A request never waits for the collector: the spans of an ended request go into a bounded queue, and are dropped and
//! counted if it is full. The exporter is `export/telemetry.rs`.

mod attribute;
mod context;
mod trace;

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::sync::mpsc::{self, Receiver, Sender};

pub(crate) use attribute::Shown;
pub use attribute::{Attribute, ListedModel, Operation};
use context::{Parent, SpanId, TraceId};
pub(crate) use trace::{EndedTrace, Span, SpanName, Trace};

use crate::provider::BaseUrl;

/// Requests whose spans wait for the collector.
const WAITING_MAX: usize = 2_048;

/// The operator's settings of telemetry.
#[derive(Debug, Clone)]
pub struct TelemetrySettings {
    /// The collector; paths of OTLP are appended.
    pub endpoint: BaseUrl,
    /// Headers of every call to it.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Requests that are traced.
    pub traces: Traces,
    /// Share of the traces that begin here.
    pub ratio: f64,
    /// Whether providers get `traceparent`.
    pub propagate: bool,
}

/// Requests that are traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traces {
    /// No request.
    Off,
    /// Requests that continue a sampled trace.
    Parent,
    /// Those, and a share of all others.
    Always,
}

/// Beginning and end of the telemetry of requests.
#[derive(Debug)]
pub(crate) struct Telemetry {
    pub(crate) settings: TelemetrySettings,
    queue: Sender<EndedTrace>,
    /// Spans that did not reach the collector.
    dropped: AtomicU64,
    /// Ids are a keyed hash of this count.
    count: AtomicU64,
    keys: RandomState,
}

impl Telemetry {
    /// Telemetry with its queue of ended traces, for the one exporter.
    pub(crate) fn new(settings: TelemetrySettings) -> (Arc<Self>, Receiver<EndedTrace>) {
        let (queue, ended) = mpsc::channel(WAITING_MAX);
        let telemetry = Self {
            settings,
            queue,
            dropped: AtomicU64::new(0),
            count: AtomicU64::new(0),
            keys: RandomState::new(),
        };
        (Arc::new(telemetry), ended)
    }

    /// Begins the trace of a request, if it is to be traced.
    pub(crate) fn begin(
        self: &Arc<Self>,
        headers: Option<&HeaderMap>,
        received: Instant,
    ) -> Option<Box<Trace>> {
        if self.settings.traces == Traces::Off {
            return None;
        }
        let parent = headers.and_then(Parent::read);
        let is_sampled = parent.as_ref().is_some_and(|parent| parent.is_sampled);
        let trace_id = match &parent {
            Some(parent) => parent.trace,
            None => TraceId::new(self.random(), self.random()),
        };
        let is_chosen =
            || self.settings.traces == Traces::Always && trace_id.is_within(self.settings.ratio);
        if !is_sampled && !is_chosen() {
            return None;
        }
        let parent = parent.map(|parent| parent.span);
        Some(Box::new(Trace::new(
            Arc::clone(self),
            trace_id,
            parent,
            received,
        )))
    }

    /// Hands over the spans of an ended request. They are dropped if the collector is too slow.
    fn end(&self, trace: EndedTrace) {
        let spans = trace.spans.len();
        if self.queue.try_send(trace).is_err() {
            self.drop_spans(spans);
        }
    }

    /// Counts spans that do not reach the collector.
    pub(crate) fn drop_spans(&self, spans: usize) {
        self.dropped.fetch_add(spans as u64, Ordering::Relaxed);
    }

    /// Number of dropped spans since the last call.
    pub(crate) fn take_dropped(&self) -> u64 {
        self.dropped.swap(0, Ordering::Relaxed)
    }

    fn span_id(&self) -> SpanId {
        SpanId::new(self.random())
    }

    /// A number that no caller can guess.
    fn random(&self) -> u64 {
        self.keys
            .hash_one(self.count.fetch_add(1, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests;
