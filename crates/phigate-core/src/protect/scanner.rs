//! The detector of an account, with its memory and its limits.

use std::sync::Arc;

use phi_detect::{Detector, Finding, Findings, Profile};

use super::allowed::AllowList;
use super::generalized::Generalizing;

/// Cache of the findings of earlier texts. Chat clients send the whole conversation in every turn; with the cache a
/// turn costs only its new text.
pub trait ScanMemory: Send + Sync {
    /// The findings of a text, cached or made by `scan`.
    ///
    /// Two different pairs of reading and text must never share an entry, and an incomplete scan must not be kept.
    fn recall_or(
        &self,
        reading: Reading<'_>,
        text: &str,
        scan: &mut dyn FnMut() -> Findings,
    ) -> Findings;
}

/// The context in which a text is read; the findings depend on it. Names of fields are text of the caller, so this has
/// no debug output.
#[derive(Clone, Copy)]
pub enum Reading<'a> {
    /// Text without a label.
    Text,
    /// The value of a field with this name.
    Field(&'a str),
    /// An identifier without spaces, in which a name may be hidden.
    Identifier,
}

/// The detector of an account, with a cache of findings.
#[derive(Clone)]
pub struct Scanner {
    detector: Arc<Detector>,
    memory: Option<Arc<dyn ScanMemory>>,
    pub(super) listed_max: usize,
    has_time: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
    allowed: Option<AllowList>,
    generalizing: Option<Generalizing>,
}

/// Default limit on findings that a report lists.
const LISTED_MAX: usize = 10_000;

impl std::fmt::Debug for Scanner {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Scanner({:?})", self.detector)
    }
}

impl Scanner {
    /// A scanner without a cache.
    pub fn new(detector: Detector) -> Self {
        Self {
            detector: Arc::new(detector),
            memory: None,
            listed_max: LISTED_MAX,
            has_time: None,
            allowed: None,
            generalizing: None,
        }
    }

    /// A scanner that caches the findings of long texts.
    pub fn with_memory(detector: Detector, memory: impl ScanMemory + 'static) -> Self {
        Self {
            memory: Some(Arc::new(memory)),
            ..Self::new(detector)
        }
    }

    /// Sets the limit on findings that a report lists.
    pub fn with_report_limit(self, listed_max: usize) -> Self {
        Self { listed_max, ..self }
    }

    /// The scanner for one request: it stops when `has_time` returns false, also inside a text.
    pub fn with_deadline(&self, has_time: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self {
            has_time: Some(Arc::new(has_time)),
            ..self.clone()
        }
    }

    /// The scanner at another depth, without the cache.
    pub fn at_depth(&self, depth: phigate_types::Depth) -> Self {
        let detector = Detector::clone(&self.detector).with_depth(depth_of(depth));
        Self {
            detector: Arc::new(detector),
            memory: None,
            ..self.clone()
        }
    }

    /// The scanner for the kinds of a profile, without the cache. Values are generalized as before.
    pub fn with_profile(&self, profile: Profile) -> Self {
        let detector = Detector::clone(&self.detector).with_profile(profile);
        Self {
            detector: Arc::new(detector),
            memory: None,
            ..self.clone()
        }
    }

    /// Sets the kinds whose values are generalized where a placeholder would be written.
    pub fn with_generalizing(self, generalizing: Option<Generalizing>) -> Self {
        Self {
            generalizing,
            ..self
        }
    }

    /// The kinds whose values are generalized, if there are any.
    pub(super) fn generalizing(&self) -> Option<&Generalizing> {
        self.generalizing.as_ref()
    }

    /// Sets the values that the account does not count as PHI.
    pub fn with_allowed(self, allowed: Option<AllowList>) -> Self {
        Self { allowed, ..self }
    }

    /// The values that the account does not count as PHI, if it lists any.
    pub(super) fn allowed(&self) -> Option<&AllowList> {
        self.allowed.as_ref()
    }

    /// The detector. Its findings include allowed values.
    pub fn detector(&self) -> &Detector {
        &self.detector
    }

    /// Finds PHI in a text that is not part of a request, perhaps the value of a field. Allowed values are left out.
    pub fn scan_text(&self, label: Option<&str>, text: &str) -> Findings {
        let mut findings = self.detector.scan_while(label, text, &|| true);
        if let Some(list) = &self.allowed {
            findings.retain(|one| {
                let value = text.get(one.span.clone()).unwrap_or_default();
                list.entry_of(one, value).is_none()
            });
        }
        findings
    }

    /// The findings of a text; `None` if there was no time to scan it.
    pub(super) fn find(&self, label: Option<&str>, text: &str) -> Option<Findings> {
        let has_time = || self.has_time.as_ref().is_none_or(|has_time| has_time());
        if !has_time() {
            return None;
        }
        let scan = || self.detector.scan_while(label, text, &has_time);
        let reading = label.map_or(Reading::Text, Reading::Field);
        Some(self.recall_or(reading, text, scan))
    }

    /// The name of a person in an identifier without spaces, such as a key or the name of a function.
    pub(super) fn find_in_identifier(&self, text: &str) -> Findings {
        if !phi_detect::may_be_joined_name(text) {
            return Findings::default();
        }
        let scan = || self.detector.scan_identifier(text);
        self.recall_or(Reading::Identifier, text, scan)
    }

    fn recall_or(
        &self,
        reading: Reading<'_>,
        text: &str,
        mut scan: impl FnMut() -> Findings,
    ) -> Findings {
        let Some(memory) = &self.memory else {
            return scan();
        };
        let findings = memory.recall_or(reading, text, &mut scan);
        // The cache may return findings of a different text, so every range is checked.
        let fits = |finding: &Finding| text.get(finding.span.clone()).is_some();
        if findings.iter().all(fits) {
            findings
        } else {
            scan()
        }
    }
}

/// The detector's word for a depth.
pub fn depth_of(depth: phigate_types::Depth) -> phi_detect::Depth {
    match depth {
        phigate_types::Depth::Careful => phi_detect::Depth::Careful,
        phigate_types::Depth::Fast => phi_detect::Depth::Fast,
    }
}
