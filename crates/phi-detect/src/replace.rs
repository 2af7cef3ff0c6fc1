//! Replacing what was found, until nothing is found any more.

use std::borrow::Cow;

use crate::Detector;
use crate::finding::{Finding, Findings};
use crate::kinds::PhiKind;

/// Removing one finding can bring two harmless halves together, so what is rewritten is scanned until it is clean.
const ROUNDS_MAX: usize = 4;

/// Error of a text that could not be rewritten: it still holds PHI, or may, since it was not scanned completely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StillHoldsPhi;

impl std::fmt::Display for StillHoldsPhi {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("the text still holds PHI after several rounds of replacing it, or was not scanned completely")
    }
}

impl std::error::Error for StillHoldsPhi {}

impl Detector {
    /// The text with each finding replaced by the placeholder of its kind, such as `[NAME]`. Everything else
    /// stays as it is.
    ///
    /// ```
    /// let detector = phi_detect::Detector::default();
    /// let masked = detector.mask("My SSN is 536-22-8741.")?;
    /// assert_eq!(masked, "My SSN is [SSN].");
    /// # Ok::<(), phi_detect::StillHoldsPhi>(())
    /// ```
    pub fn mask(&self, text: &str) -> Result<String, StillHoldsPhi> {
        self.replace(text, |kind, _| Cow::Borrowed(kind.placeholder()))
    }

    /// The text with each finding removed. Nothing around it is tidied.
    ///
    /// ```
    /// let detector = phi_detect::Detector::default();
    /// assert_eq!(detector.redact("My SSN is 536-22-8741.")?, "My SSN is .");
    /// # Ok::<(), phi_detect::StillHoldsPhi>(())
    /// ```
    pub fn redact(&self, text: &str) -> Result<String, StillHoldsPhi> {
        self.replace(text, |_, _| Cow::Borrowed(""))
    }

    /// The text with each finding replaced by what `stand_in` makes of its kind and its text. The result is
    /// scanned again, and whatever shows only then is replaced too: masking twice is masking once.
    ///
    /// ```
    /// use std::borrow::Cow;
    ///
    /// let detector = phi_detect::Detector::default();
    /// let starred = detector.replace("SSN 536-22-8741", |_, found| {
    ///     Cow::Owned("*".repeat(found.chars().count()))
    /// })?;
    /// assert_eq!(starred, "SSN ***********");
    /// # Ok::<(), phi_detect::StillHoldsPhi>(())
    /// ```
    pub fn replace(
        &self,
        text: &str,
        stand_in: impl for<'t> Fn(PhiKind, &'t str) -> Cow<'t, str>,
    ) -> Result<String, StillHoldsPhi> {
        let mut current = text.to_owned();
        for _ in 0..=ROUNDS_MAX {
            let findings = self.scan(&current);
            if !findings.is_complete() {
                return Err(StillHoldsPhi);
            }
            if findings.is_empty() {
                return Ok(current);
            }
            current = replaced(&current, &findings, &stand_in);
        }
        Err(StillHoldsPhi)
    }
}

fn replaced(
    text: &str,
    findings: &Findings,
    stand_in: &impl for<'t> Fn(PhiKind, &'t str) -> Cow<'t, str>,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for Finding { kind, span, .. } in findings {
        out.push_str(&text[copied..span.start]);
        out.push_str(&stand_in(*kind, &text[span.clone()]));
        copied = span.end;
    }
    out.push_str(&text[copied..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masking_is_idempotent_and_keeps_other_text() {
        let detector = Detector::default();
        let masked = detector.mask("👩‍⚕️ Reach Jane Roe at jane.roe@example.com – SSN 536-22-8741!");
        let masked = masked.unwrap();
        assert!(
            masked.starts_with("👩‍⚕️ Reach ") && masked.ends_with(" – SSN [SSN]!"),
            "{masked}"
        );
        assert_eq!(detector.mask(&masked).unwrap(), masked);
    }

    #[test]
    fn phi_joined_by_redaction_is_removed() {
        let detector = Detector::default();
        let text = "SSN 536-2jane.roe@example.com2-8741";
        let redacted = detector.redact(text).unwrap();
        assert!(detector.scan(&redacted).is_empty(), "{redacted}");
    }

    #[test]
    fn replacement_holding_phi_is_refused() {
        let detector = Detector::default();
        let replaced = detector.replace("SSN 536-22-8741", |_, _| Cow::Borrowed("536-22-8741"));
        assert_eq!(replaced, Err(StillHoldsPhi));
    }
}
