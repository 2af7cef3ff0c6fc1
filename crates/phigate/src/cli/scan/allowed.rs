//! Findings that people have looked at: by a marker in their line, or by a file of known findings.
//!
//! Neither holds a value, or a hash of one, which could be guessed from it: a known finding is described by its file,
//! its kind and its line without what was found there.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;

use anyhow::Context;
use aws_lc_rs::digest;
use phi_detect::PhiKind;
use serde::{Deserialize, Serialize};

/// Word that allows the findings of its line; after it, the kinds that it allows may follow.
const MARKER: &str = "phigate:allow";

/// Bytes of a line that describe its findings.
const LINE_MAX: usize = 4_096;

/// Version of the file of known findings.
const VERSION: u32 = 1;

/// Reason why a finding does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Allowed {
    /// A marker in its line.
    Marker,
    /// The file of known findings.
    Baseline,
}

/// Description of a finding that is the same when lines before it change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fingerprint {
    pub(super) file: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// Hash of the line without its findings; of the place, in a document.
    pub(super) context: String,
}

/// Known findings, with how many of each there may be.
#[derive(Debug, Default)]
pub(super) struct Baseline(BTreeMap<Fingerprint, u64>);

/// The file of known findings.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    findings: Vec<Known>,
}

#[derive(Serialize, Deserialize)]
struct Known {
    #[serde(flatten)]
    fingerprint: Fingerprint,
    count: u64,
}

impl Baseline {
    /// Reads a file of known findings.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let place = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {place}"))?;
        let stored: Stored = serde_json::from_str(&text)
            .map_err(|error| anyhow::anyhow!("{place}, line {}: not a baseline", error.line()))?;
        anyhow::ensure!(
            stored.version == VERSION,
            "{place} was written by another version: write it again with --write-baseline"
        );
        let known = stored.findings.into_iter();
        Ok(Self(
            known.map(|one| (one.fingerprint, one.count)).collect(),
        ))
    }

    /// Whether a finding is known. Each known one is found once.
    pub(super) fn take(&mut self, fingerprint: &Fingerprint) -> bool {
        match self.0.get_mut(fingerprint) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }

    /// Adds a finding.
    pub(super) fn add(&mut self, fingerprint: Fingerprint) {
        *self.0.entry(fingerprint).or_default() += 1;
    }

    /// Writes the file.
    pub(super) fn write(self, path: &Path) -> anyhow::Result<()> {
        let known = self.0.into_iter();
        let stored = Stored {
            version: VERSION,
            findings: known
                .map(|(fingerprint, count)| Known { fingerprint, count })
                .collect(),
        };
        let text = serde_json::to_string_pretty(&stored)? + "\n";
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Whether a line has a marker that allows a kind.
pub(super) fn is_marked(line: &str, kind: &str) -> bool {
    let Some((_, rest)) = line.split_once(MARKER) else {
        return false;
    };
    if rest.starts_with(|letter: char| letter.is_alphanumeric()) {
        return false;
    }
    let is_end = |letter: char| !letter.is_ascii_lowercase() && !"_,".contains(letter);
    let kinds = rest.trim_start().split(is_end).next().unwrap_or_default();
    // Words that name no kind, such as those of a comment, do not limit the marker.
    let mut named = kinds.split(',').filter_map(PhiKind::from_code).peekable();
    named.peek().is_none() || named.any(|named| named.code() == kind)
}

/// Hash of a line without its findings, whose ranges are in the line.
pub(super) fn context(line: &str, findings: impl Iterator<Item = Range<usize>>) -> String {
    let mut rest = String::new();
    let mut upto = 0;
    for finding in findings {
        rest.push_str(line.get(upto..finding.start).unwrap_or_default());
        rest.push('\0');
        upto = finding.end.max(upto);
    }
    rest.push_str(line.get(upto..).unwrap_or_default());
    let plain = rest.trim().as_bytes();
    hash(&plain[..plain.len().min(LINE_MAX)])
}

/// Hash of a place in a document.
pub(super) fn hash(bytes: &[u8]) -> String {
    let digest = digest::digest(&digest::SHA256, bytes);
    let mut text = String::new();
    for byte in &digest.as_ref()[..8] {
        // A string takes everything.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marker_allows_line_or_kinds() {
        for (line, kind, expected) in [
            ("ssn = '536-22-8741'  # phigate:allow", "ssn", true),
            ("<!-- phigate:allow -->", "phone", true),
            ("x # phigate:allow ssn,dob", "dob", true),
            ("x # phigate:allow ssn,dob", "phone", false),
            ("x # phigate:allowed", "phone", false),
            ("x", "ssn", false),
        ] {
            assert_eq!(is_marked(line, kind), expected, "{line} {kind}");
        }
    }

    #[test]
    fn context_leaves_findings_out() {
        let line = "ssn 536-22-8741 of the test";
        let same = "  ssn 078-05-1120 of the test";
        let one = context(line, std::iter::once(4..15));
        assert_eq!(one, context(same, std::iter::once(6..17)));
        assert_ne!(one, context(same, std::iter::empty()));
    }

    #[test]
    fn known_finding_counts_once() {
        let fingerprint = Fingerprint {
            file: "a.txt".to_owned(),
            kind: "ssn".to_owned(),
            context: hash(b"x"),
        };
        let mut baseline = Baseline::default();
        baseline.add(fingerprint.clone());
        assert!(baseline.take(&fingerprint));
        assert!(!baseline.take(&fingerprint));
    }
}
