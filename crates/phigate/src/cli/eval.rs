//! `phigate eval`: precision, recall, leak and over-redaction on labelled text.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use phi_detect::{Detector, PhiKind};
use serde::Deserialize;

use super::progress::Progress;

#[derive(Args)]
pub(super) struct Eval {
    /// Lines {"id","text","spans":[{"start","end","type"}]}, offsets in code points
    gold: PathBuf,
}

#[derive(Deserialize)]
struct Document {
    text: String,
    spans: Vec<Label>,
}

#[derive(Deserialize)]
struct Label {
    start: usize,
    end: usize,
    #[serde(rename = "type")]
    kind: String,
}

/// Counts for one kind.
#[derive(Default)]
struct Tally {
    labelled: usize,
    found: usize,
    /// Findings with exactly a label's edges.
    exact: usize,
    /// Labels that some finding of the kind touches.
    touched: usize,
    /// Findings that touch some label of the kind.
    right: usize,
    /// Labelled characters, and those covered by no finding of any kind.
    characters: usize,
    leaked: usize,
    /// Found characters covered by no label of any kind.
    over: usize,
}

pub(super) fn run(eval: &Eval) -> anyhow::Result<ExitCode> {
    let file = std::fs::File::open(&eval.gold)
        .with_context(|| format!("cannot read {}", eval.gold.display()))?;
    let detector = Detector::default();
    let mut tallies: BTreeMap<PhiKind, Tally> = PhiKind::all()
        .map(|kind| (kind, Tally::default()))
        .collect();
    let mut progress = Progress::new("documents");
    let mut documents = 0;
    for (index, line) in std::io::BufReader::new(file).lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let document: Document = serde_json::from_str(&line).map_err(|error| {
            anyhow::anyhow!(
                "line {}, column {}: not a labelled document",
                index + 1,
                error.column()
            )
        })?;
        score(&detector, &document, &mut tallies);
        documents += 1;
        progress.step();
    }
    progress.done();
    print(documents, &tallies);
    Ok(ExitCode::SUCCESS)
}

fn score(detector: &Detector, document: &Document, tallies: &mut BTreeMap<PhiKind, Tally>) {
    let findings = detector.scan(&document.text);
    let labels: Vec<(Option<PhiKind>, Range<usize>)> = document
        .spans
        .iter()
        .map(|label| {
            (
                PhiKind::from_code(&label.kind.to_ascii_lowercase()),
                label.start..label.end,
            )
        })
        .collect();
    let found: Vec<(PhiKind, Range<usize>)> = findings
        .iter()
        .map(|finding| {
            (
                finding.kind,
                code_points(&document.text, finding.span.clone()),
            )
        })
        .collect();
    for (kind, span) in labels
        .iter()
        .filter_map(|(kind, span)| Some(((*kind)?, span)))
    {
        let tally = tallies.entry(kind).or_default();
        tally.labelled += 1;
        tally.touched += usize::from(
            found
                .iter()
                .any(|(other, at)| *other == kind && touches(at, span)),
        );
        tally.exact += usize::from(found.iter().any(|(other, at)| *other == kind && at == span));
        tally.characters += span.len();
        tally.leaked += uncovered(span, found.iter().map(|(_, at)| at));
    }
    for (kind, span) in &found {
        let tally = tallies.entry(*kind).or_default();
        // A finding at a label of an unknown kind is neither wrong nor right.
        let is_outside_our_kinds = labels
            .iter()
            .any(|(other, at)| other.is_none() && touches(at, span));
        if is_outside_our_kinds {
            continue;
        }
        tally.found += 1;
        tally.right += usize::from(
            labels
                .iter()
                .any(|(other, at)| *other == Some(*kind) && touches(at, span)),
        );
        tally.over += uncovered(span, labels.iter().map(|(_, at)| at));
    }
}

fn code_points(text: &str, span: Range<usize>) -> Range<usize> {
    let count = |end: usize| text.get(..end).map_or(0, |piece| piece.chars().count());
    count(span.start)..count(span.end)
}

fn touches(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

fn uncovered<'a>(span: &Range<usize>, others: impl Iterator<Item = &'a Range<usize>>) -> usize {
    let covering: Vec<&Range<usize>> = others.filter(|other| touches(other, span)).collect();
    span.clone()
        .filter(|at| !covering.iter().any(|other| other.contains(at)))
        .count()
}

fn print(documents: usize, tallies: &BTreeMap<PhiKind, Tally>) {
    println!("{documents} documents");
    println!(
        "{:<12} {:>8} {:>8} {:>10} {:>8} {:>10} {:>8} {:>10}",
        "type", "labelled", "found", "precision", "recall", "strict F1", "leak", "over-redac"
    );
    for (kind, tally) in tallies {
        let share = |part: usize, whole: usize| {
            if whole == 0 {
                "-".into()
            } else {
                format!("{:.3}", part as f64 / whole as f64)
            }
        };
        println!(
            "{:<12} {:>8} {:>8} {:>10} {:>8} {:>10} {:>8} {:>10}",
            kind.code(),
            tally.labelled,
            tally.found,
            share(tally.right, tally.found),
            share(tally.touched, tally.labelled),
            share(2 * tally.exact, tally.found + tally.labelled),
            share(tally.leaked, tally.characters),
            tally.over,
        );
    }
    println!(
        "precision and recall: a finding and a label of one type that touch; leak: share of labelled characters in no finding; over-redac: characters found outside any label"
    );
}
