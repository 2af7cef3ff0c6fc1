//! Findings that an account adds to those of the detector.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::Detector;
use crate::budget::List;
use crate::candidate::Candidate;
use crate::kinds::PhiKind;
use crate::page::Page;

/// One more finding of an account.
#[derive(Debug, Clone, PartialEq)]
pub struct Extra {
    /// The kind.
    pub kind: PhiKind,
    /// Byte range in the text that was handed over.
    pub span: Range<usize>,
    /// Confidence, 0 to 1.
    pub score: f32,
    /// The rule that found it.
    pub rule: &'static str,
}

/// Finds what a detector cannot know: a site's own numbers, the names of its patients.
pub trait FindsExtra: Send + Sync {
    /// The kinds that the account defines, in order.
    fn kinds(&self) -> &[PhiKind];

    /// Gives every finding in a text to `found`. The text has its disguises undone; text coded within text comes
    /// in further calls. `field` is the name of the field whose value the text is. `has_time` is asked every few KiB; once
    /// it returns false, the scan counts as incomplete.
    fn find(
        &self,
        field: Option<&str>,
        text: &str,
        has_time: &dyn Fn() -> bool,
        found: &mut dyn FnMut(Extra),
    );
}

/// The finder of an account.
#[derive(Clone)]
pub(crate) struct Extras(pub(crate) Arc<dyn FindsExtra>);

impl fmt::Debug for Extras {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Extras")
    }
}

/// The kinds that an account defines, in order. `None` if it finds nothing beside the detector.
pub fn own_kinds(detector: &Detector) -> Option<&[PhiKind]> {
    detector.extras.as_ref().map(|extras| extras.0.kinds())
}

impl Extras {
    /// Adds the findings in a page to its candidates. A span that is not one of the text is dropped.
    pub(crate) fn add(
        &self,
        field: Option<&str>,
        page: &Page<'_>,
        candidates: &mut List<Candidate>,
    ) {
        let has_time = || page.has_time();
        self.0.find(field, page.text, &has_time, &mut |extra| {
            if page.text.get(extra.span.clone()).is_some() {
                candidates.push(Candidate {
                    kind: extra.kind,
                    span: extra.span,
                    score: extra.score,
                    rule: extra.rule,
                });
            }
        });
    }
}
