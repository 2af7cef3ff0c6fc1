//! OTLP: records as logs of OpenTelemetry, over HTTP with Protocol Buffers.

use async_trait::async_trait;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Uri};
use phigate_store::{ExportConfig, ExportedLine, SecretString};
use phigate_types::ExportRecord;

use super::address::over_tls;
use super::http::{Call, Way};
use super::protobuf::{Message, Value, field};
use super::sink::{Problem, Sink};
use super::target::TargetKind;

/// Path of the collector for logs.
const PATH: &str = "/v1/logs";

/// Severities of OpenTelemetry: number and text.
const INFO: (u64, &str) = (9, "INFO");
const WARN: (u64, &str) = (13, "WARN");

pub(super) static KIND: TargetKind = TargetKind::new(
    "otlp+https://",
    |config, allow_private| uri(config, allow_private).map(drop),
    open,
);

struct Otlp {
    uri: Uri,
    way: Way,
}

fn uri(config: &ExportConfig, allow_private: bool) -> Result<Uri, String> {
    let rest = KIND.rest(&config.to).trim_end_matches('/');
    if rest.contains('?') {
        return Err(
            "--to must not hold a query: the path of an OTLP collector ends in /v1/logs".to_owned(),
        );
    }
    let rest = rest.trim_end_matches(PATH);
    over_tls(&format!("{rest}{PATH}"), allow_private)
}

fn open(
    config: &ExportConfig,
    _: Option<SecretString>,
    way: &Way,
) -> Result<Box<dyn Sink>, Problem> {
    let uri = uri(config, way.allow_private).map_err(Problem::new)?;
    let way = way.clone();
    Ok(Box::new(Otlp { uri, way }))
}

#[async_trait]
impl Sink for Otlp {
    async fn deliver(&mut self, lines: &[ExportedLine]) -> Result<u64, Problem> {
        let kind = HeaderValue::from_static("application/x-protobuf");
        let call = Call {
            method: Method::POST,
            uri: &self.uri,
            headers: vec![(CONTENT_TYPE, kind)],
            body: Bytes::from(request(lines)),
        };
        let answer = self.way.call(call).await?;
        Ok(rejected(&answer))
    }
}

/// ExportLogsServiceRequest with one resource and one scope.
fn request(lines: &[ExportedLine]) -> Vec<u8> {
    let mut resource = Message::default();
    resource.message(1, &attribute("service.name", "phigate"));
    resource.message(1, &attribute("service.version", env!("CARGO_PKG_VERSION")));
    let mut scope = Message::default();
    scope.text(1, "phigate.audit");
    let mut logs = Message::default();
    logs.message(1, &scope);
    for line in lines {
        logs.message(2, &record(line));
    }
    let mut of_resource = Message::default();
    of_resource.message(1, &resource);
    of_resource.message(2, &logs);
    let mut request = Message::default();
    request.message(1, &of_resource);
    request.finish()
}

/// LogRecord of a line: the line is the body.
fn record(line: &ExportedLine) -> Message {
    let nanoseconds = u64::try_from(line.time.as_nanosecond()).unwrap_or_default();
    let (number, text) = match line.kind == ExportRecord::Alert.code() {
        true => WARN,
        false => INFO,
    };
    let mut record = Message::default();
    record.fixed(1, nanoseconds);
    record.number(2, number);
    record.text(3, text);
    record.message(5, &value(&line.json));
    record.message(6, &attribute("phigate.record", line.kind));
    record.fixed(11, nanoseconds);
    record
}

/// KeyValue.
fn attribute(key: &str, text: &str) -> Message {
    let mut pair = Message::default();
    pair.text(1, key);
    pair.message(2, &value(text));
    pair
}

/// AnyValue that is text.
fn value(text: &str) -> Message {
    let mut value = Message::default();
    value.text(1, text);
    value
}

/// Records that the answer's partial success says were refused; they may not be sent again.
fn rejected(answer: &[u8]) -> u64 {
    match field(answer, 1) {
        Some(Value::Bytes(partial)) => match field(partial, 1) {
            Some(Value::Number(rejected)) => rejected,
            _ => 0,
        },
        _ => 0,
    }
}
