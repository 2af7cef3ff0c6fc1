//! Traces: ended requests as `ExportTraceServiceRequest`.

use super::protobuf::Message;
use crate::telemetry::{Attribute, EndedTrace, Shown, Span};

/// Scope of the spans.
const SCOPE: &str = "phigate";

/// Status code of a span that failed.
const STATUS_ERROR: u64 = 2;

/// The request to a collector.
pub(crate) fn request(traces: &[EndedTrace]) -> Vec<u8> {
    let spans = traces
        .iter()
        .flat_map(|trace| trace.spans.iter().map(move |each| span(trace, each)));
    super::request(SCOPE, spans)
}

/// Span.
fn span(trace: &EndedTrace, span: &Span) -> Message {
    let mut message = Message::default();
    message.bytes(1, trace.id.bytes());
    message.bytes(2, span.id.bytes());
    if let Some(parent) = &span.parent {
        message.bytes(4, parent.bytes());
    }
    message.text(5, span.name.word());
    message.number(6, span.name.kind() as u64);
    message.fixed(7, span.start);
    message.fixed(8, span.end);
    for attribute in &span.attributes {
        message.message(9, &pair(attribute));
    }
    if span.has_failed {
        let mut status = Message::default();
        status.number(3, STATUS_ERROR);
        message.message(15, &status);
    }
    message
}

fn pair(attribute: &Attribute) -> Message {
    let value = match attribute.shown() {
        Shown::Text(text) => super::text(&text),
        Shown::List(word) => super::list_of(word),
        Shown::Number(number) => super::number(number),
    };
    super::attribute(attribute.key(), &value)
}
