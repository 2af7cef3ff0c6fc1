//! Spans of one request.

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use http::HeaderValue;

use super::Telemetry;
use super::attribute::Attribute;
use super::context::{self, SpanId, TraceId};

/// Name of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpanName {
    /// The request as a whole.
    Request,
    /// The scan of its text.
    Scan,
    /// Writing a record.
    Record,
    /// One provider's turn.
    Attempt,
}

impl SpanName {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Scan => "scan",
            Self::Record => "record",
            Self::Attempt => "attempt",
        }
    }

    pub(crate) fn kind(self) -> SpanKind {
        match self {
            Self::Request => SpanKind::Server,
            Self::Scan | Self::Record => SpanKind::Internal,
            Self::Attempt => SpanKind::Client,
        }
    }
}

/// Kind of a span, with its number in OTLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpanKind {
    Internal = 1,
    Server = 2,
    Client = 3,
}

/// A finished span.
#[derive(Debug)]
pub(crate) struct Span {
    pub(crate) name: SpanName,
    pub(crate) id: SpanId,
    pub(crate) parent: Option<SpanId>,
    /// Nanoseconds since 1970.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) has_failed: bool,
    pub(crate) attributes: Vec<Attribute>,
}

/// The spans of an ended request. They are sent or dropped together.
#[derive(Debug)]
pub(crate) struct EndedTrace {
    pub(crate) id: TraceId,
    pub(crate) spans: Vec<Span>,
}

/// The trace of a request that is being answered. The first span is that of the request.
#[derive(Debug)]
pub(crate) struct Trace {
    telemetry: Arc<Telemetry>,
    id: TraceId,
    received: Instant,
    /// `received` in nanoseconds since 1970.
    clock: u64,
    root: SpanId,
    spans: Vec<Span>,
    /// Span and start of the provider that has its turn.
    attempt: Option<(SpanId, Instant)>,
}

impl Trace {
    pub(super) fn new(
        telemetry: Arc<Telemetry>,
        id: TraceId,
        parent: Option<SpanId>,
        received: Instant,
    ) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let since = received.elapsed();
        let clock = now.unwrap_or_default().saturating_sub(since).as_nanos() as u64;
        let root = telemetry.span_id();
        let request = Span {
            name: SpanName::Request,
            id: root,
            parent,
            start: clock,
            end: clock,
            has_failed: false,
            attributes: Vec::new(),
        };
        Self {
            telemetry,
            id,
            received,
            clock,
            root,
            spans: vec![request],
            attempt: None,
        }
    }

    /// Adds a step that began and ended then.
    pub(crate) fn add(
        &mut self,
        name: SpanName,
        (started, ended): (Instant, Instant),
        attributes: Vec<Attribute>,
    ) {
        let span = Span {
            name,
            id: self.telemetry.span_id(),
            parent: Some(self.root),
            start: self.time(started),
            end: self.time(ended),
            has_failed: false,
            attributes,
        };
        self.spans.push(span);
    }

    /// Notes that a provider has its turn.
    pub(crate) fn begin_attempt(&mut self) {
        self.attempt = Some((self.telemetry.span_id(), Instant::now()));
    }

    /// `traceparent` for the provider that has its turn, if the operator wants it.
    pub(crate) fn traceparent(&self) -> Option<HeaderValue> {
        let (span, _) = self.attempt?;
        let propagates = self.telemetry.settings.propagate;
        propagates
            .then(|| context::traceparent(self.id, span))
            .flatten()
    }

    /// Ends the turn of the provider, unless it has ended.
    pub(crate) fn end_attempt(&mut self, has_failed: bool, attributes: Vec<Attribute>) {
        if let Some((id, started)) = self.attempt.take() {
            self.add(SpanName::Attempt, (started, Instant::now()), attributes);
            if let Some(span) = self.spans.last_mut() {
                (span.id, span.has_failed) = (id, has_failed);
            }
        }
    }

    /// Ends the request, and hands its spans over.
    pub(crate) fn end(mut self, has_failed: bool, attributes: Vec<Attribute>) {
        let end = self.time(Instant::now());
        if let Some(request) = self.spans.first_mut() {
            (request.end, request.has_failed) = (end, has_failed);
            request.attributes = attributes;
        }
        self.telemetry.end(EndedTrace {
            id: self.id,
            spans: self.spans,
        });
    }

    fn time(&self, at: Instant) -> u64 {
        self.clock + at.saturating_duration_since(self.received).as_nanos() as u64
    }
}
