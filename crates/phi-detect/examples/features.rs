//! Prints the features of all candidates of labelled texts, for fitting the decision.
//!
//!     features < texts.jsonl > features.jsonl       (lines {"id","text"}; spans are in bytes)
//!     features examples > texts.jsonl               (the examples of the kinds' tables as labelled texts)

#![allow(clippy::disallowed_types, reason = "not part of a scan")]

use std::io::{BufRead, Write};

use phi_detect::{Detector, PhiKind, Settings};
use serde_json::{Value, json};

fn main() -> std::io::Result<()> {
    if std::env::args().nth(1).as_deref() == Some("examples") {
        return print_examples();
    }
    let further = PhiKind::all().filter(|kind| !kind.is_core());
    let settings = Settings {
        thresholds: further.map(|kind| (kind, 0.5)).collect(),
        ..Settings::default()
    };
    let detector = Detector::new(settings).unwrap_or_default();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line: Value = serde_json::from_str(&line?)?;
        let text = line["text"].as_str().unwrap_or_default();
        let rows: Vec<_> = detector.evidence(text).iter().map(candidate).collect();
        writeln!(out, "{}", json!({"id": line["id"], "candidates": rows}))?;
    }
    Ok(())
}

fn candidate(one: &phi_detect::Explanation) -> Value {
    let values: Vec<i32> = one.features.iter().map(|(_, value)| *value).collect();
    json!({"kind": one.kind.code(), "rule": one.rule, "standing": one.standing, "start": one.span.start, "end": one.span.end, "features": values, "first_look": one.first_look})
}

fn print_examples() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for kind in PhiKind::all() {
        let marked = kind.rule().hits.iter().map(|text| (*text).to_owned());
        let plain = kind
            .rule()
            .misses
            .iter()
            .map(|text| text.replace(['«', '»'], ""));
        for text in marked.chain(plain) {
            let (mut bare, mut spans, mut start, mut count) = (String::new(), Vec::new(), 0, 0);
            for letter in text.chars() {
                match letter {
                    '«' => start = count,
                    '»' => spans.push(
                        json!({"start": start, "end": count, "type": kind.code().to_uppercase()}),
                    ),
                    letter => {
                        bare.push(letter);
                        count += 1;
                    }
                }
            }
            writeln!(
                out,
                "{}",
                json!({"id": "", "text": bare, "spans": spans, "only": kind.code()})
            )?;
        }
    }
    Ok(())
}
