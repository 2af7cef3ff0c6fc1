//! Holds the detector to what it reaches on texts that nobody tuned it to.
//!
//! The texts of `model/unseen` are marked as `model/marked.py` explains. Only totals are looked at
//! here: whoever reads the mistakes takes from the texts what makes them worth having.

use std::ops::Range;
use std::path::Path;

use phi_detect::{Detector, PhiKind};

/// A text, and what is to be found in it.
struct Document {
    text: String,
    labels: Vec<(PhiKind, Range<usize>)>,
}

/// Kind, least share of labels touched by a finding, least share of findings that touch a label.
/// A little below what is reached, so that a change for the worse is seen and a small trade is not.
const FLOORS: &[(&str, f64, f64)] = &[
    ("ssn", 0.91, 0.97),
    ("dob", 0.89, 0.96),
    ("phone", 0.93, 0.97),
    ("email", 0.98, 0.98),
    ("address", 0.95, 0.96),
    ("mrn", 0.85, 0.95),
    ("name", 0.955, 0.95),
    ("medicare_id", 0.95, 0.98),
];

#[test]
fn unseen_texts_are_read_as_well_as_they_were() {
    let documents = documents();
    assert!(documents.len() > 250, "the texts are missing");
    let detector = Detector::default();
    let found: Vec<Vec<(PhiKind, Range<usize>)>> = documents
        .iter()
        .map(|document| {
            let findings = detector.scan(&document.text);
            let of = |finding: &phi_detect::Finding| (finding.kind, finding.span.clone());
            findings.iter().map(of).collect()
        })
        .collect();
    for &(code, recall_min, precision_min) in FLOORS {
        let kind = PhiKind::from_code(code).expect("the code is in the table");
        let pairs = || documents.iter().zip(&found);
        let recall = share(pairs().map(|(document, found)| touched(kind, &document.labels, found)));
        let precision =
            share(pairs().map(|(document, found)| touched(kind, found, &document.labels)));
        assert!(recall >= recall_min, "recall of {code}: {recall:.3}");
        assert!(
            precision >= precision_min,
            "precision of {code}: {precision:.3}"
        );
    }
}

/// How many of these spans of a kind there are, and how many of them touch one of the others.
fn touched(
    kind: PhiKind,
    these: &[(PhiKind, Range<usize>)],
    others: &[(PhiKind, Range<usize>)],
) -> (usize, usize) {
    let of_kind = |spans: &[(PhiKind, Range<usize>)]| -> Vec<Range<usize>> {
        spans
            .iter()
            .filter(|(one, _)| *one == kind)
            .map(|(_, span)| span.clone())
            .collect()
    };
    let others = of_kind(others);
    let these = of_kind(these);
    let hits = these
        .iter()
        .filter(|span| {
            others
                .iter()
                .any(|other| other.start < span.end && span.start < other.end)
        })
        .count();
    (these.len(), hits)
}

fn share(counts: impl Iterator<Item = (usize, usize)>) -> f64 {
    let (all, hits) = counts.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    hits as f64 / all as f64
}

fn documents() -> Vec<Document> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../model/unseen");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is part of the project")
        .map(|entry| entry.expect("a file").path())
        .collect();
    files.sort();
    files
        .iter()
        .flat_map(|path| {
            let text = std::fs::read_to_string(path).expect("the texts are UTF-8");
            text.split("\n----\n").map(parse).collect::<Vec<_>>()
        })
        .collect()
}

/// Takes the marks `[[NAME:Jane Roe]]` out of a text.
fn parse(marked: &str) -> Document {
    let mut text = String::new();
    let mut labels = Vec::new();
    let mut rest = marked;
    while let Some((before, mark)) = rest.split_once("[[") {
        text.push_str(before);
        let (mark, after) = mark.split_once("]]").expect("every mark is closed");
        let (code, value) = mark.split_once(':').expect("a mark has a kind");
        let kind = PhiKind::from_code(&code.to_ascii_lowercase()).expect("a kind of the table");
        labels.push((kind, text.len()..text.len() + value.len()));
        text.push_str(value);
        rest = after;
    }
    text.push_str(rest);
    Document { text, labels }
}
