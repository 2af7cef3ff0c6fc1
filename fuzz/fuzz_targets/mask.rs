//! Masking any text comes to rest: after a few rounds nothing more is found.
//!
//! Run with `cargo +nightly fuzz run mask` in the folder above.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use phi_detect::{Detector, Settings};

static DETECTOR: LazyLock<Detector> =
    LazyLock::new(|| Detector::new(Settings::default()).expect("the default settings are fine"));

fuzz_target!(|text: &str| {
    let mut text = text.to_owned();
    for _ in 0..6 {
        let mut masked = String::with_capacity(text.len());
        let mut from = 0;
        let findings = DETECTOR.scan(&text);
        if findings.is_empty() {
            return;
        }
        for finding in &findings {
            masked.push_str(&text[from..finding.span.start]);
            masked.push_str(finding.kind.placeholder());
            from = finding.span.end;
        }
        masked.push_str(&text[from..]);
        text = masked;
    }
    panic!("masking does not come to rest");
});
