//! Messages of OTLP, OpenTelemetry's protocol, in Protocol Buffers.
//!
//! | File | Purpose |
//! |---|---|
//! | `protobuf.rs` | fields by number, and the one kind of answer that is read |
//! | `spans.rs` | traces |
//! | `points.rs` | metrics, read from the page of `/metrics` |

pub(crate) mod points;
pub(crate) mod protobuf;
pub(crate) mod spans;

use protobuf::{Message, Value, field};

/// The `Resource` of every message: this program.
pub(crate) fn resource() -> Message {
    let mut resource = Message::default();
    resource.message(1, &attribute("service.name", &text("phigate")));
    let version = text(env!("CARGO_PKG_VERSION"));
    resource.message(1, &attribute("service.version", &version));
    resource
}

/// A request to a collector: one resource with one scope, whose items have this field.
pub(crate) fn request(scope: &str, items: impl Iterator<Item = Message>) -> Vec<u8> {
    let mut named = Message::default();
    named.text(1, scope);
    let mut of_scope = Message::default();
    of_scope.message(1, &named);
    for item in items {
        of_scope.message(2, &item);
    }
    let mut of_resource = Message::default();
    of_resource.message(1, &resource());
    of_resource.message(2, &of_scope);
    let mut request = Message::default();
    request.message(1, &of_resource);
    request.finish()
}

/// KeyValue.
pub(crate) fn attribute(key: &str, value: &Message) -> Message {
    let mut pair = Message::default();
    pair.text(1, key);
    pair.message(2, value);
    pair
}

/// AnyValue that is text.
pub(crate) fn text(text: &str) -> Message {
    let mut value = Message::default();
    value.text(1, text);
    value
}

/// AnyValue that is a whole number.
pub(crate) fn number(number: u64) -> Message {
    let mut value = Message::default();
    value.number(3, number);
    value
}

/// AnyValue that is a list with one text.
pub(crate) fn list_of(one: &str) -> Message {
    let mut list = Message::default();
    list.message(1, &text(one));
    let mut value = Message::default();
    value.message(5, &list);
    value
}

/// Items that the answer's partial success says were refused; they may not be sent again.
pub(crate) fn rejected(answer: &[u8]) -> u64 {
    match field(answer, 1) {
        Some(Value::Bytes(partial)) => match field(partial, 1) {
            Some(Value::Number(rejected)) => rejected,
            _ => 0,
        },
        _ => 0,
    }
}
