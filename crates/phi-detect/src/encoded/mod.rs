//! Text in another coding: base64 and its kin, hexadecimal, lists of character codes, dumps.
//!
//! What decodes to readable text is scanned like any other. A finding covers the
//! whole coded run, since what is left of it would decode to nonsense or to PHI.

mod alphabets;
mod codes;
mod dump;

pub(crate) use dump::dumps;

use std::ops::Range;

use crate::Finding;
use crate::budget::{Few, List, Text};
use crate::candidate::Candidate;
use crate::page::Page;

/// A coded run that decodes to text.
struct Coded {
    span: Range<usize>,
    text: Text,
    /// Bytes of the run, and the bytes of text that they encode.
    ratio: (usize, usize),
}

/// Decodes every coded run of the page and scans it with `scan`.
pub(crate) fn find(
    page: &Page<'_>,
    scan: &dyn Fn(&str) -> List<Finding>,
    candidates: &mut List<Candidate>,
) {
    let mut found = runs(page);
    alphabets::delimited(page, &mut found);
    codes::find(page, &mut found);
    for coded in found {
        spread(&coded, scan(&coded.text), candidates);
    }
    dump::find(page, scan, candidates);
}

/// Gives each finding its share of the run; together they cover all of it.
fn spread(coded: &Coded, findings: List<Finding>, candidates: &mut List<Candidate>) {
    let (coded_bytes, text_bytes) = coded.ratio;
    let place = |at: usize| (coded.span.start + at / text_bytes * coded_bytes).min(coded.span.end);
    let starts = findings.iter().enumerate().map(|(index, finding)| {
        if index == 0 {
            coded.span.start
        } else {
            place(finding.span.start)
        }
    });
    let starts = findings.memory().collect(starts);
    for (index, finding) in findings.into_iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(coded.span.end);
        if let Some(&start) = starts.get(index).filter(|start| **start < end) {
            candidates.push(Candidate {
                kind: finding.kind,
                span: start..end,
                score: finding.score,
                rule: "encoded",
            });
        }
    }
}

/// The long runs of the page that decode to text.
fn runs(page: &Page<'_>) -> List<Coded> {
    let mut found = page.memory().list();
    let mut free_from = 0;
    for long in page.through(&page.long_runs) {
        if long.start < free_from {
            continue;
        }
        let span = widen(page.bytes(), long.clone(), free_from);
        free_from = span.end;
        found.extend(pieces(page, span));
    }
    found
}

/// Takes the other characters of base64 on both sides into the run.
fn widen(bytes: &[u8], span: Range<usize>, floor: usize) -> Range<usize> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || is_joint(*byte) || *byte == b'+';
    let before = bytes[floor.min(span.start)..span.start]
        .iter()
        .rev()
        .take_while(|byte| is_part(byte))
        .count();
    let after = bytes[span.end..]
        .iter()
        .take_while(|byte| is_part(byte))
        .count();
    let end = span.end + after;
    let padding = bytes[end..]
        .iter()
        .take(2)
        .take_while(|&&byte| byte == b'=')
        .count();
    span.start - before..end + padding
}

/// Whether a character of base64 may also join it to other text (`/p/U1NO…`, `patient_U1NO…`, `id-U1NO…`).
fn is_joint(byte: u8) -> bool {
    matches!(byte, b'/' | b'-' | b'_')
}

/// A run with more joints than this is a path or a phrase.
const JOINTS_MAX: usize = 16;

/// Returns the run if it decodes as a whole, or else the parts of it that do.
fn pieces(page: &Page<'_>, span: Range<usize>) -> Few<Coded> {
    let bytes = page.bytes();
    let joints: Few<usize> = span
        .clone()
        .filter(|&at| is_joint(bytes[at]))
        .take(JOINTS_MAX)
        .collect();
    let decoded = |span: Range<usize>| {
        let (text, ratio) = alphabets::decode(page.slice(span.clone()))?;
        let text = Text::of(page.memory(), text)?;
        Some(Coded { span, text, ratio })
    };
    let mut found = Few::new();
    let mut free_from = span.start;
    let starts = std::iter::once(span.start).chain(joints.iter().map(|joint| joint + 1));
    for start in starts {
        if start < free_from {
            continue;
        }
        let next_joint = joints.iter().copied().find(|&joint| joint > start);
        let piece =
            decoded(start..span.end).or_else(|| next_joint.and_then(|end| decoded(start..end)));
        if let Some(piece) = piece {
            free_from = piece.span.end;
            found.push(piece);
        }
    }
    found
}
