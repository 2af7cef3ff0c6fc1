//! A scan asks its caller for more time every few KiB, ends early when there is none, and says so.

use std::cell::Cell;

use phi_detect::Detector;

/// Texts of 256 KiB that keep different parts of the detector busy.
fn long_texts() -> impl Iterator<Item = String> {
    let patterns = [
        "1 ",
        "a@b.co ",
        "536-22-8741 ",
        "Maria Delgado ",
        "the cough is worse at night ",
        "DOB 03/14/1962 ",
        "a,b,c\n",
        "QUJD ",
    ];
    patterns
        .into_iter()
        .map(|pattern| pattern.repeat((256 << 10) / pattern.len()))
}

#[test]
fn a_long_scan_asks_often() {
    for text in long_texts() {
        let asked = Cell::new(0);
        let has_time = || {
            asked.set(asked.get() + 1);
            true
        };
        let findings = Detector::default().scan_while(None, &text, &has_time);
        assert!(findings.is_complete());
        let start = &text[..12];
        assert!(asked.get() >= 16, "{start:?} asked {} times", asked.get());
    }
}

#[test]
fn a_scan_without_time_ends_and_says_so() {
    for text in long_texts() {
        for looks in [0, 1, 20] {
            let left = Cell::new(looks);
            let has_time = || {
                let had = left.get();
                left.set(had.max(1) - 1);
                had > 0
            };
            let findings = Detector::default().scan_while(None, &text, &has_time);
            assert!(!findings.is_complete(), "{:?} {looks}", &text[..12]);
        }
    }
}

#[test]
fn what_was_found_in_time_is_kept() {
    let text = format!("SSN 536-22-8741. {}", "1 ".repeat(100_000));
    let left = Cell::new(2);
    let has_time = || {
        left.set(left.get() - 1);
        left.get() > 0
    };
    let findings = Detector::default().scan_while(None, &text, &has_time);
    assert!(!findings.is_complete());
    assert_eq!(
        findings.iter().next().map(|one| one.span.clone()),
        Some(4..15)
    );
}

#[test]
fn short_texts_are_complete_in_any_field() {
    let findings = Detector::default().scan_while(Some("ssn"), "536228741", &|| true);
    assert!(findings.is_complete());
    assert_eq!(findings.len(), 1);
}
