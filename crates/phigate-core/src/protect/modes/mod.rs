//! The handling modes: one file and one row each.

mod block;
mod flag;
mod mask;
mod redact;

use phi_detect::{Detector, Findings, PhiKind};

/// What a mode does to a request in which PHI was found.
#[derive(Debug, Clone, Copy)]
pub enum Effect {
    /// The request goes on as it is.
    Keep,
    /// The request is refused.
    Block,
    /// Each finding is replaced by what the function says.
    Replace(fn(PhiKind) -> &'static str),
}

/// A row of the table of modes.
#[derive(Debug)]
pub struct ModeRule {
    /// The word used in settings, the audit trail and the command line.
    pub id: &'static str,
    /// The name people read.
    pub label: &'static str,
    /// What happens when PHI is found, for the owner who chooses.
    pub summary: &'static str,
    /// What happens when PHI is found.
    pub effect: Effect,
    /// The action that the audit record names when PHI was found.
    pub action: &'static str,
}

/// Every mode; the first is the default.
pub static MODES: &[&ModeRule] = &[
    // From the gentlest to the strictest reading of "keep going".
    &flag::MODE,
    &block::MODE,
    &redact::MODE,
    &mask::MODE,
];

/// Removing one finding can bring two harmless halves together, so what is rewritten is scanned until it is clean.
pub(super) const ROUNDS_MAX: usize = 4;

/// A handling mode: a row of [`MODES`].
pub type Mode = &'static ModeRule;

/// The mode with this id.
pub fn mode(id: &str) -> Option<Mode> {
    MODES.iter().find(|mode| mode.id == id).copied()
}

impl ModeRule {
    /// Whether what cannot be scanned may go on: only where findings go on as well.
    pub fn forwards_unscanned(&self) -> bool {
        matches!(self.effect, Effect::Keep)
    }

    /// A text that is no request, rewritten until nothing is found in it. None where the mode rewrites nothing, or where
    /// that does not come to an end.
    pub fn rewrite(&self, detector: &Detector, text: &str) -> Option<String> {
        let Effect::Replace(replacement) = self.effect else {
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
}

fn replace(
    text: &str,
    findings: &Findings,
    replacement: fn(PhiKind) -> &'static str,
) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for finding in findings {
        out.push_str(text.get(copied..finding.span.start)?);
        out.push_str(replacement(finding.kind));
        copied = finding.span.end;
    }
    out.push_str(text.get(copied..)?);
    Some(out)
}
