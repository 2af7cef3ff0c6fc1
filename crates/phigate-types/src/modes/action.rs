//! Actions on a request, as its audit record names them.
//!
//! Each mode defines its own action in its file; the others are here.

use crate::code::coded;
use crate::{Mode, Tone};

/// Action on a request.
#[derive(Debug, Clone, Copy)]
pub struct Action {
    code: &'static str,
    label: &'static str,
    tone: Tone,
}

impl Action {
    /// The request is invalid in every mode: malformed, not scannable, not routable.
    pub const REFUSED: Self = Self::row("refused", "Refused", Tone::Grey);

    /// Texts were scanned for the caller and not forwarded.
    pub const SCANNED: Self = Self::row("scanned", "Scanned", Tone::Good);

    pub(crate) const fn row(code: &'static str, label: &'static str, tone: Tone) -> Self {
        Self { code, label, tone }
    }

    /// Every action, in the order in which a filter lists them.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        Mode::all()
            .map(|mode| mode.action)
            .chain([Self::REFUSED, Self::SCANNED])
    }

    /// Code in records, filters and on the command line.
    pub const fn code(self) -> &'static str {
        self.code
    }

    /// Name for people.
    pub const fn label(self) -> &'static str {
        self.label
    }

    /// Tone on a page.
    pub const fn tone(self) -> Tone {
        self.tone
    }
}

coded!(Action, "action");

impl PartialEq for Action {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
    }
}

impl Eq for Action {}

impl PartialOrd for Action {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Action {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.code.cmp(other.code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_found_by_its_code() {
        assert!(Action::all().count() > Mode::all().len());
        for action in Action::all() {
            assert_eq!(action.code().parse(), Ok(action));
        }
        assert!("shredded".parse::<Action>().is_err());
    }
}
