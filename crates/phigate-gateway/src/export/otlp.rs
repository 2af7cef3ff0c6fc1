//! OTLP: records as logs of OpenTelemetry, over HTTP with Protocol Buffers.

use async_trait::async_trait;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Uri};
use phigate_store::{ExportConfig, ExportedLine, SecretString};
use phigate_types::ExportRecord;

use super::address::over_tls;
use super::http::{Call, Way};
use super::sink::{Problem, Sink};
use super::target::TargetKind;
use crate::otlp::{self, protobuf::Message};

/// Path of the collector for logs.
const PATH: &str = "/v1/logs";

/// Scope of the log records.
const SCOPE: &str = "phigate.audit";

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
            body: Bytes::from(otlp::request(SCOPE, lines.iter().map(record))),
        };
        let answer = self.way.call(call).await?;
        Ok(otlp::rejected(&answer))
    }
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
    record.message(5, &otlp::text(&line.json));
    let kind = otlp::text(line.kind);
    record.message(6, &otlp::attribute("phigate.record", &kind));
    record.fixed(11, nanoseconds);
    record
}
