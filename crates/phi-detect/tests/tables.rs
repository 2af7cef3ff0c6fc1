//! Every row of the rule table proves itself: its hits are found exactly, its misses are left alone.

use std::collections::BTreeSet;
use std::path::Path;

use phi_detect::{Depth, Detector, PhiKind, Settings};

/// A detector that looks for every kind, also for those that are off by default.
fn detector() -> Detector {
    let optional = PhiKind::all().filter(|kind| !kind.rule().is_on_by_default);
    let all = optional.map(|kind| (kind, kind.default_threshold(Depth::Careful)));
    let settings = Settings {
        thresholds: all.collect(),
        mrn_formats: vec!["ZQ-9999999".to_owned()],
        ..Settings::default()
    };
    Detector::new(settings).expect("the settings are fine")
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
    // Those of the specification come first, in its order; a further kind is nothing but its row.
    assert_eq!(
        codes[..8],
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

#[test]
fn kinds_that_are_off_are_silent() {
    let detector = Detector::default();
    let off = || PhiKind::all().filter(|kind| !kind.rule().is_on_by_default);
    assert!(off().count() > 0);
    for kind in off() {
        for marked in kind.rule().hits {
            let (text, _) = unmark(marked);
            let findings = detector.scan(&text);
            assert!(
                findings.iter().all(|finding| finding.kind != kind),
                "{text}"
            );
        }
    }
}

/// Every name of a rule in the sources: `"ssn.labelled"`.
fn rules_in_sources() -> BTreeSet<String> {
    let mut rules = BTreeSet::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the sources can be read") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            for literal in text.split('"') {
                let is_rule = PhiKind::all().any(|kind| {
                    let rest = literal.strip_prefix(kind.code());
                    let name = rest.and_then(|rest| rest.strip_prefix('.'));
                    name.is_some_and(|name| {
                        !name.is_empty()
                            && name
                                .bytes()
                                .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
                    })
                });
                if is_rule {
                    rules.insert(literal.to_owned());
                }
            }
        }
    }
    rules
}

#[test]
fn every_rule_is_reached_by_an_example() {
    // If the model has the higher score, only the rules alone show which of them said so.
    let detectors = [detector(), detector().without_names()];
    let mut missing = rules_in_sources();
    assert!(missing.len() > 50, "{missing:?}");
    for kind in PhiKind::all() {
        for marked in kind.rule().hits {
            let (text, _) = unmark(marked);
            for finding in detectors
                .iter()
                .flat_map(|one| one.scan(&text).iter().cloned().collect::<Vec<_>>())
            {
                missing.remove(finding.rule);
            }
        }
    }
    for finding in &detectors[0].scan_identifier("maria_delgado") {
        missing.remove(finding.rule);
    }
    assert!(missing.is_empty(), "no example reaches {missing:?}");
}
