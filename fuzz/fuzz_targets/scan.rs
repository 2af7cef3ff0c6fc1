//! Any text can be scanned: no panic, findings in order, apart and on character boundaries.
//!
//! Run with `cargo +nightly fuzz run scan` in the folder above.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use phi_detect::{Detector, Settings};

static DETECTOR: LazyLock<Detector> =
    LazyLock::new(|| Detector::new(Settings::default()).expect("the default settings are fine"));

fuzz_target!(|text: &str| {
    let mut from = 0;
    for finding in &DETECTOR.scan(text) {
        assert!(finding.span.start >= from, "overlap or disorder");
        assert!(text.get(finding.span.clone()).is_some_and(|found| !found.is_empty()));
        assert!((0.0..=1.0).contains(&finding.score));
        from = finding.span.end;
    }
    // The first word as the name of a field, the rest as its value.
    if let Some((name, value)) = text.split_once(' ') {
        let _ = DETECTOR.scan_field(name, value);
    }
});
