//! Floors for the detector's results on texts that it was never tuned to.
//!
//! `model/marked.py` explains the marks in the texts of `model/unseen`. Only totals are printed: a set whose mistakes
//! were read no longer measures.

use std::ops::Range;
use std::path::Path;

use phi_detect::{Depth, Detector, PhiKind};

/// A text, the values to find in it, and values of kinds that are not looked for.
struct Document {
    text: String,
    labels: Vec<(PhiKind, Range<usize>)>,
    others: Vec<Range<usize>>,
}

/// Depth, then the limits that hold there.
const LIMITS: &[(Depth, Limits)] = &[
    (
        Depth::Careful,
        Limits {
            without_leak_min: 0.86,
            leak_max: 0.012,
            covered_max: 0.009,
            untouched_min: 0.97,
        },
    ),
    (
        Depth::Fast,
        Limits {
            without_leak_min: 0.48,
            leak_max: 0.085,
            covered_max: 0.011,
            untouched_min: 0.82,
        },
    ),
];

/// Limits a little worse than what was measured, so that a small trade passes.
struct Limits {
    /// Share of documents with PHI in which every letter and digit of it is covered.
    without_leak_min: f64,
    /// Share of the letters and digits of PHI that no finding covers.
    leak_max: f64,
    /// Share of harmless letters and digits that a finding covers.
    covered_max: f64,
    /// Share of documents without PHI in which nothing is found.
    untouched_min: f64,
}

#[test]
fn unseen_texts_stay_within_limits() {
    let documents = documents();
    assert!(documents.len() > 250, "the texts are missing");
    for (depth, limits) in LIMITS {
        let total = measured(*depth, &documents);
        assert!(total.without_leak >= limits.without_leak_min, "{depth:?}");
        assert!(total.leak <= limits.leak_max, "{depth:?}");
        assert!(total.covered <= limits.covered_max, "{depth:?}");
        assert!(total.untouched >= limits.untouched_min, "{depth:?}");
    }
}

/// Shares over all documents.
struct Total {
    without_leak: f64,
    leak: f64,
    covered: f64,
    untouched: f64,
}

fn measured(depth: Depth, documents: &[Document]) -> Total {
    let found = scanned(depth, documents);
    let all = || documents.iter().zip(&found);
    for kind in PhiKind::all().filter(|kind| kind.rule().is_on_by_default) {
        let recall = share(all().map(|(document, found)| touched(kind, &document.labels, found)));
        let precision =
            share(all().map(|(document, found)| touched(kind, found, &document.labels)));
        println!(
            "{depth:?} {}: recall {recall:.3}, precision {precision:.3}",
            kind.code()
        );
    }
    let counts: Vec<_> = all()
        .map(|(document, found)| Letters::of(document, found))
        .collect();
    let with_phi = || counts.iter().filter(|one| one.phi > 0);
    let without = || counts.iter().filter(|one| one.phi == 0);
    let total = Total {
        without_leak: share(with_phi().map(|one| (1, usize::from(one.leaked == 0)))),
        leak: share(counts.iter().map(|one| (one.phi, one.leaked))),
        covered: share(counts.iter().map(|one| (one.harmless, one.covered))),
        untouched: share(without().map(|one| (1, usize::from(one.covered == 0)))),
    };
    println!(
        "{depth:?}: {} with PHI: without leak {:.3}, leak {:.4}, covered {:.4}; {} without: untouched {:.3}",
        with_phi().count(),
        total.without_leak,
        total.leak,
        total.covered,
        without().count(),
        total.untouched
    );
    total
}

/// Letters and digits of a document.
#[derive(Default)]
struct Letters {
    phi: usize,
    leaked: usize,
    harmless: usize,
    covered: usize,
}

impl Letters {
    fn of(document: &Document, found: &[(PhiKind, Range<usize>)]) -> Self {
        let mut counts = Letters::default();
        for (at, _) in document
            .text
            .char_indices()
            .filter(|(_, letter)| letter.is_alphanumeric())
        {
            let is_found = found.iter().any(|(_, span)| span.contains(&at));
            if document.labels.iter().any(|(_, span)| span.contains(&at)) {
                counts.phi += 1;
                counts.leaked += usize::from(!is_found);
            } else if !document.others.iter().any(|span| span.contains(&at)) {
                counts.harmless += 1;
                counts.covered += usize::from(is_found);
            }
        }
        counts
    }
}

fn scanned(depth: Depth, documents: &[Document]) -> Vec<Vec<(PhiKind, Range<usize>)>> {
    let detector = Detector::default().with_depth(depth);
    let of = |finding: &phi_detect::Finding| (finding.kind, finding.span.clone());
    documents
        .iter()
        .map(|document| detector.scan(&document.text).iter().map(of).collect())
        .collect()
}

/// Counts the spans of a kind, and those of them that touch a span of the second list.
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
    let (mut labels, mut others) = (Vec::new(), Vec::new());
    let mut rest = marked;
    while let Some((before, mark)) = rest.split_once("[[") {
        text.push_str(before);
        let (mark, after) = mark.split_once("]]").expect("every mark is closed");
        let (code, value) = mark.split_once(':').expect("a mark has a kind");
        let span = text.len()..text.len() + value.len();
        let kind = PhiKind::from_code(&code.to_ascii_lowercase());
        match kind.filter(|kind| kind.rule().is_on_by_default) {
            Some(kind) => labels.push((kind, span)),
            None => others.push(span),
        }
        text.push_str(value);
        rest = after;
    }
    text.push_str(rest);
    Document {
        text,
        labels,
        others,
    }
}
