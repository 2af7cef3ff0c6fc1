//! Every row of the rule table proves itself: its hits are found exactly, its misses are left alone.

use phi_detect::{Detector, PhiKind, Settings};

fn detector() -> Detector {
    Detector::new(Settings::default()).expect("the default settings are fine")
}

/// Splits `SSN «536…»` into the text and the marked spans.
fn unmark(marked: &str) -> (String, Vec<std::ops::Range<usize>>) {
    let mut text = String::new();
    let mut spans = Vec::new();
    let mut start = 0;
    for c in marked.chars() {
        match c {
            '«' => start = text.len(),
            '»' => spans.push(start..text.len()),
            other => text.push(other),
        }
    }
    (text, spans)
}

fn found(text: &str, kind: PhiKind) -> Vec<std::ops::Range<usize>> {
    detector()
        .scan(text)
        .iter()
        .filter(|finding| finding.kind == kind)
        .map(|finding| finding.span.clone())
        .collect()
}

#[test]
fn every_hit_is_found_exactly() {
    let mut wrong = Vec::new();
    for kind in PhiKind::all() {
        for marked in kind.rule().hits {
            let (text, expected) = unmark(marked);
            let spans = found(&text, kind);
            if spans != expected {
                let shown: Vec<_> = spans.iter().map(|span| &text[span.clone()]).collect();
                wrong.push(format!("{}: {marked:?} gives {shown:?}", kind.code()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_miss_is_left_alone() {
    let mut wrong = Vec::new();
    for kind in PhiKind::all() {
        for text in kind.rule().misses {
            let spans = found(text, kind);
            if !spans.is_empty() {
                let shown: Vec<_> = spans.iter().map(|span| &text[span.clone()]).collect();
                wrong.push(format!("{}: {text:?} gives {shown:?}", kind.code()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_row_is_complete() {
    let mut codes = Vec::new();
    for kind in PhiKind::all() {
        let rule = kind.rule();
        assert!(
            !rule.hits.is_empty() && !rule.misses.is_empty(),
            "{} has no proof",
            rule.code
        );
        assert_eq!(rule.placeholder, format!("[{}]", rule.code.to_uppercase()));
        assert!(
            !rule.summary.is_empty() && !rule.authority.is_empty() && !rule.not_found.is_empty()
        );
        assert!((0.0..=1.0).contains(&rule.threshold));
        assert_eq!(PhiKind::from_code(rule.code), Some(kind));
        codes.push(rule.code);
    }
    assert_eq!(
        codes,
        [
            "ssn",
            "dob",
            "phone",
            "email",
            "address",
            "mrn",
            "name",
            "medicare_id"
        ]
    );
}
