//! Masking any text converges: after a few rounds there are no findings.

use super::Target;
use super::scan::TEXTS;
use crate::detectors::DETECTOR;

pub(super) const TARGET: Target = Target {
    name: "mask",
    run,
    seeds: TEXTS,
};

fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let mut text = text.to_owned();
    for _ in 0..6 {
        let findings = DETECTOR.scan(&text);
        if findings.is_empty() {
            return;
        }
        let mut masked = String::with_capacity(text.len());
        let mut from = 0;
        for finding in &findings {
            masked.push_str(&text[from..finding.span.start]);
            masked.push_str(finding.kind.placeholder());
            from = finding.span.end;
        }
        masked.push_str(&text[from..]);
        text = masked;
    }
    panic!("masking does not come to rest");
}
