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
    ("dob", 0.94, 0.97),
    ("phone", 0.95, 0.97),
    ("email", 0.98, 0.98),
    ("address", 0.86, 0.95),
    ("mrn", 0.70, 0.97),
    ("name", 0.95, 0.95),
];

/// Least share of documents with PHI in which every letter and digit of it is covered.
const WITHOUT_LEAK_MIN: f64 = 0.76;
/// Least share of documents without PHI in which nothing is found.
const UNTOUCHED_MIN: f64 = 0.94;

#[test]
fn unseen_texts_are_read_as_well_as_they_were() {
    let documents = documents();
    assert!(documents.len() > 130, "the texts are missing");
    let found = scanned(&documents);
    for &(code, recall_min, precision_min) in FLOORS {
        let kind = PhiKind::from_code(code).expect("the code is in the table");
        let pairs = || documents.iter().zip(&found);
        let recall = share(pairs().map(|(document, found)| touched(kind, &document.labels, found)));
        let precision =
            share(pairs().map(|(document, found)| touched(kind, found, &document.labels)));
        println!("{code}: recall {recall:.3}, precision {precision:.3}");
        assert!(recall >= recall_min, "recall of {code}: {recall:.3}");
        assert!(
            precision >= precision_min,
            "precision of {code}: {precision:.3}"
        );
    }
}

#[test]
fn whole_documents_are_read_as_well_as_they_were() {
    let documents = documents();
    let found = scanned(&documents);
    let (harmless, with_phi): (Vec<_>, Vec<_>) = documents
        .iter()
        .zip(&found)
        .partition(|(document, _)| document.labels.is_empty());
    let without_leak = with_phi
        .iter()
        .filter(|(document, found)| is_covered(document, found))
        .count() as f64
        / with_phi.len() as f64;
    let untouched = harmless
        .iter()
        .filter(|(_, found)| found.is_empty())
        .count() as f64
        / harmless.len() as f64;
    println!("without leak {without_leak:.3}, untouched {untouched:.3}");
    assert!(without_leak >= WITHOUT_LEAK_MIN, "{without_leak:.3}");
    assert!(untouched >= UNTOUCHED_MIN, "{untouched:.3}");
}

fn scanned(documents: &[Document]) -> Vec<Vec<(PhiKind, Range<usize>)>> {
    let detector = Detector::default();
    let of = |finding: &phi_detect::Finding| (finding.kind, finding.span.clone());
    documents
        .iter()
        .map(|document| detector.scan(&document.text).iter().map(of).collect())
        .collect()
}

/// Whether every letter and digit of the document's labels lies in a finding.
fn is_covered(document: &Document, found: &[(PhiKind, Range<usize>)]) -> bool {
    document.labels.iter().all(|(_, label)| {
        document.text[label.clone()]
            .char_indices()
            .filter(|(_, letter)| letter.is_alphanumeric())
            .all(|(at, _)| {
                found
                    .iter()
                    .any(|(_, span)| span.contains(&(label.start + at)))
            })
    })
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
