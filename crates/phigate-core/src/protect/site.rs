//! Findings that an account adds to those of the detector: by its recognizers and its rosters.

use phi_detect::{Extra, FindsExtra, PhiKind};

use crate::recognizer::Recognizers;
use crate::roster::Roster;

/// Finder of an account's own values.
#[derive(Debug)]
pub struct SiteFinder {
    recognizers: Recognizers,
    roster: Option<Roster>,
}

impl SiteFinder {
    /// The finder of these recognizers and rosters; `None` if there is nothing to find.
    pub fn new(recognizers: Recognizers, roster: Option<Roster>) -> Option<Self> {
        let has_any = !recognizers.is_empty() || roster.is_some();
        has_any.then_some(Self {
            recognizers,
            roster,
        })
    }
}

impl FindsExtra for SiteFinder {
    fn kinds(&self) -> &[PhiKind] {
        self.recognizers.kinds()
    }

    fn find(
        &self,
        field: Option<&str>,
        text: &str,
        has_time: &dyn Fn() -> bool,
        found: &mut dyn FnMut(Extra),
    ) {
        self.recognizers.find(field, text, has_time, found);
        if let Some(roster) = &self.roster {
            roster.find(text, has_time, found);
        }
    }
}
