//! Findings of one or many files, with their places and what allows them.

use std::ops::Range;
use std::path::Path;

use phi_detect::{Detector, Findings};
use phigate_types::Passage;

use super::allowed::{Allowed, Baseline, Fingerprint, context, hash, is_marked};
use super::document::Source;

/// Bytes of a line that are looked at on each side of a finding.
const AROUND: usize = 2_048;

/// A finding, without its text.
#[derive(Debug)]
pub(super) struct Hit {
    pub(super) kind: &'static str,
    /// Number of characters.
    pub(super) length: usize,
    pub(super) score: f64,
    pub(super) rule: &'static str,
    /// Code points.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) place: Place,
    pub(super) fingerprint: Fingerprint,
    /// `None` if the finding counts.
    pub(super) allowed: Option<Allowed>,
}

/// Place of a finding for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// Lines and columns of a text, from 1; the end is behind the finding.
    Text {
        start: (usize, usize),
        end: (usize, usize),
    },
    /// Place in a document, such as `#page=3`; empty if it has none.
    Document(String),
}

impl std::fmt::Display for Place {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text { start, .. } => write!(out, ":{}:{}", start.0, start.1),
            Self::Document(path) => out.write_str(path),
        }
    }
}

/// Findings of a passage. `name` is the file's in fingerprints; only files have markers.
pub(super) fn hits(
    detector: &Detector,
    (source, passage): (&Source, &Passage),
    findings: &Findings,
    name: Option<&str>,
    baseline: &mut Baseline,
) -> Vec<Hit> {
    let text = passage.text.as_str();
    let positions = source.positions(detector, passage, findings);
    let regions = regions(text, findings);
    let mut hits = Vec::with_capacity(findings.len());
    for ((finding, position), region) in findings.iter().zip(positions).zip(regions) {
        let kind = finding.kind.code();
        let line = line_of(text, &finding.span);
        let (place, context) = match source.is_document() {
            true => {
                let path = position.path.unwrap_or_default();
                let context = hash(path.as_bytes());
                (Place::Document(path), context)
            }
            false => (region, masked_line(text, &line, findings)),
        };
        let fingerprint = Fingerprint {
            file: name.unwrap_or("-").to_owned(),
            kind: kind.to_owned(),
            context,
        };
        let has_marker = name.is_some()
            && !source.is_document()
            && is_marked(text.get(line).unwrap_or_default(), kind);
        let allowed = match has_marker {
            true => Some(Allowed::Marker),
            false => baseline.take(&fingerprint).then_some(Allowed::Baseline),
        };
        let exact = text.get(finding.span.clone()).unwrap_or_default();
        hits.push(Hit {
            kind,
            length: exact.chars().count(),
            score: finding.rounded_score(),
            rule: finding.rule,
            start: position.start,
            end: position.end,
            place,
            fingerprint,
            allowed,
        });
    }
    hits
}

/// A file's name in fingerprints and reports: from the current folder, if it is there, with slashes.
pub(super) fn name_of(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let relative = path.strip_prefix(&here).unwrap_or(path);
    let parts = relative.components().filter_map(|part| match part {
        std::path::Component::CurDir => None,
        part => Some(part.as_os_str().to_string_lossy()),
    });
    let name = parts.collect::<Vec<_>>().join("/");
    name.replacen("//", "/", 1)
}

/// Lines and columns of findings, counted from finding to finding, because a large file may have very many.
fn regions(text: &str, findings: &Findings) -> Vec<Place> {
    let (mut counted, mut at) = (0, (1, 1));
    let mut upto = |place: usize, at: &mut (usize, usize)| {
        let between = text.get(counted..place).unwrap_or_default();
        counted = place.max(counted);
        at.0 += between.bytes().filter(|byte| *byte == b'\n').count();
        at.1 = match between.rsplit_once('\n') {
            Some((_, rest)) => 1 + rest.chars().count(),
            None => at.1 + between.chars().count(),
        };
        *at
    };
    let region = |finding: &phi_detect::Finding| Place::Text {
        start: upto(finding.span.start, &mut at),
        end: upto(finding.span.end, &mut at),
    };
    findings.iter().map(region).collect()
}

/// The line of a finding, or the part of it around the finding.
fn line_of(text: &str, span: &Range<usize>) -> Range<usize> {
    let least = text.floor_char_boundary(span.start.saturating_sub(AROUND));
    let most = text.ceil_char_boundary((span.end + AROUND).min(text.len()));
    let before = text.get(least..span.start).unwrap_or_default();
    let after = text.get(span.end..most).unwrap_or_default();
    let start = before.rfind('\n').map_or(least, |at| least + at + 1);
    let end = after.find('\n').map_or(most, |at| span.end + at);
    start..end
}

/// Hash of a line without all its findings.
fn masked_line(text: &str, line: &Range<usize>, findings: &Findings) -> String {
    let inside = |finding: &&phi_detect::Finding| {
        finding.span.start >= line.start && finding.span.end <= line.end
    };
    let spans = findings
        .iter()
        .skip_while(|finding| finding.span.end <= line.start)
        .take_while(|finding| finding.span.start < line.end)
        .filter(inside);
    let spans = spans.map(|finding| finding.span.start - line.start..finding.span.end - line.start);
    context(text.get(line.clone()).unwrap_or_default(), spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_have_lines_and_columns() {
        let text = "é SSN 536-22-8741\nMaria\nDelgado, SSN 536-22-8741";
        let findings = Detector::default().scan(text);
        let ends: Vec<Place> = regions(text, &findings);
        let first = Place::Text {
            start: (1, 7),
            end: (1, 18),
        };
        let last = Place::Text {
            start: (3, 14),
            end: (3, 25),
        };
        assert_eq!((ends.first(), ends.last()), (Some(&first), Some(&last)));
    }

    #[test]
    fn line_is_bounded_around_finding() {
        let text = format!("{}\nSSN 536-22-8741 é\n", "x".repeat(9_000));
        let at = text.find("536").unwrap();
        let line = line_of(&text, &(at..at + 11));
        assert_eq!(&text[line], "SSN 536-22-8741 é");
        let long = "é".repeat(9_000);
        assert!(line_of(&long, &(9_000..9_002)).len() <= 2 * AROUND + 8);
    }
}
