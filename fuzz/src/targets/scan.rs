//! Scanning any text: no panic, findings in order, disjoint and on character boundaries, in bounded time.

use std::time::{Duration, Instant};

use super::Target;
use crate::detectors::DETECTOR;

pub(super) const TARGET: Target = Target {
    name: "scan",
    run,
    seeds: TEXTS,
};

/// Texts with findings of many kinds.
pub(super) const TEXTS: &[&[u8]] = &[
    b"Patient Jane Roe, DOB 03/14/1962, MRN 00482913, SSN 536-22-8741.",
    b"Call (206) 555-0142 or write to jane@example.org, 1428 Larchmont Avenue, Spokane, WA 99205.",
    b"PID|1||00482913^^^MR||ROE^JANE||19620314|F|||12 ELM ST^^SPOKANE^WA^99205",
    b"{\"ssn\":\"536228741\",\"name\":[{\"family\":\"Roe\",\"given\":[\"Jane\"]}]}",
    b"<patient><birthDate value=\"1962-03-14\"/></patient>",
    b"name,ssn\nJane Roe,536-22-8741\n",
    "SSN ５３６-２２-８７４１, five three six two two eight seven four one, U1NOIDUzNi0yMi04NzQx"
        .as_bytes(),
];

fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let started = Instant::now();
    let mut from = 0;
    for finding in &DETECTOR.scan(text) {
        assert!(finding.span.start >= from, "overlap or disorder");
        let found = text.get(finding.span.clone());
        assert!(found.is_some_and(|found| !found.is_empty()));
        assert!((0.0..=1.0).contains(&finding.score));
        from = finding.span.end;
    }
    // The first word as the name of a field, the rest as its value.
    if let Some((name, value)) = text.split_once(' ') {
        let _ = DETECTOR.scan_field(name, value);
    }
    // Two kilobytes take milliseconds; on a busy machine perhaps a hundred.
    assert!(started.elapsed() < Duration::from_secs(3), "a slow text");
}
