//! Scans lines of `{"id","text"}` from standard input and writes lines of `{"id","spans"}`.
//!
//! The same protocol as the gateway's `scan --jsonl`, for scoring the detector alone.
//! A line may also carry `"field"`, the name of the field that holds the text.
//! With `--rules-only` the name model stays out, with `--fast` the reader. Offsets are Unicode code points, end exclusive.

#![allow(clippy::disallowed_types, reason = "not part of a scan")]

use std::io::{BufRead, BufWriter, Write};

use phi_detect::{CodePoints, Depth, Detector, Settings};
use serde_json::{Value, json};

fn main() -> std::io::Result<()> {
    let mut detector = Detector::new(Settings::default()).map_err(std::io::Error::other)?;
    if std::env::args().any(|argument| argument == "--rules-only") {
        detector = detector.without_names();
    }
    if std::env::args().any(|argument| argument == "--fast") {
        detector = detector.with_depth(Depth::Fast);
    }
    let mut output = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let row: Value = serde_json::from_str(&line?)?;
        let text = row["text"].as_str().unwrap_or_default();
        let findings = match row["field"].as_str() {
            Some(name) => detector.scan_field(name, text),
            None => detector.scan(text),
        };
        let mut points = CodePoints::new(text);
        let spans: Vec<Value> = findings
            .iter()
            .map(|finding| {
                let span = points.range(&finding.span);
                json!({"start": span.start, "end": span.end, "type": finding.kind.code(), "score": finding.score, "rule": finding.rule})
            })
            .collect();
        writeln!(output, "{}", json!({"id": row["id"], "spans": spans}))?;
        output.flush()?;
    }
    Ok(())
}
