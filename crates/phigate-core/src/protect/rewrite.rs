//! Rewriting a text that is not a request, as a mode says.

use phi_detect::{Detector, Findings};
use phigate_types::{Effect, Mode, Replaced};

/// Removing one finding can bring two harmless halves together, so what is rewritten is scanned until it is clean.
pub(super) const ROUNDS_MAX: usize = 4;

/// The text rewritten until nothing is found in it. None where the mode rewrites nothing, or where that does not
/// come to an end.
pub fn rewrite_text(mode: Mode, detector: &Detector, text: &str) -> Option<String> {
    let Effect::Replace(replacement) = mode.effect else {
        return None;
    };
    let mut current = text.to_owned();
    for _ in 0..=ROUNDS_MAX {
        let findings = detector.scan(&current);
        if findings.is_empty() {
            return findings.is_complete().then_some(current);
        }
        current = replace(&current, &findings, replacement)?;
    }
    None
}

fn replace(
    text: &str,
    findings: &Findings,
    replacement: fn(Replaced<'_>) -> std::borrow::Cow<'_, str>,
) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for finding in findings {
        out.push_str(text.get(copied..finding.span.start)?);
        out.push_str(&replacement(Replaced {
            placeholder: finding.kind.placeholder(),
            text: text.get(finding.span.clone())?,
        }));
        copied = finding.span.end;
    }
    out.push_str(text.get(copied..)?);
    Some(out)
}
