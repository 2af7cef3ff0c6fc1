//! Named sets of kinds.

use crate::Detector;
use crate::kinds::PhiKind;
use crate::settings::Settings;

/// Named set of kinds to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Profile {
    /// The eight kinds of the specification.
    #[default]
    Eight,
    /// Every kind of the table.
    SafeHarbor,
}

/// A row of the table of profiles.
struct Row {
    profile: Profile,
    code: &'static str,
    label: &'static str,
    removes: &'static str,
    leaves: &'static str,
}

static ROWS: &[Row] = &[
    // In the order of the enum.
    Row {
        profile: Profile::Eight,
        code: "eight",
        label: "Eight kinds",
        removes: "Names, birth dates, phone numbers, e-mail and street addresses, and social security, medical record and Medicare numbers are removed as detected.",
        leaves: "Other dates, ages, cities, hospitals, employers, web addresses and all other numbers stay in the text.",
    },
    Row {
        profile: Profile::SafeHarbor,
        code: "safe_harbor",
        label: "Safe Harbor list",
        removes: "The identifiers of the Safe Harbor list are removed as detected: the eight kinds, and also dates of care, ages over 89, places smaller than a state, hospitals and employers, web and IP addresses, login names, and numbers of records, accounts, licenses, vehicles, devices, health plans and fingerprints.",
        leaves: "Years alone, ages up to 89, states, doses, lab values and diagnoses stay. Photographs and any other unusual code or fact that points to a person are not looked for.",
    },
];

impl Profile {
    /// Every profile, in the order in which they are offered.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        ROWS.iter().map(|row| row.profile)
    }

    /// The profile with this code, if there is one.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::all().find(|profile| profile.code() == code)
    }

    /// Returns the code in settings, requests and records and on the command line.
    pub fn code(self) -> &'static str {
        self.row().code
    }

    /// Returns the name people read.
    pub fn label(self) -> &'static str {
        self.row().label
    }

    /// Describes what is removed, for the owner who chooses.
    pub fn removes(self) -> &'static str {
        self.row().removes
    }

    /// Describes what stays in the text, for the owner who chooses.
    pub fn leaves(self) -> &'static str {
        self.row().leaves
    }

    /// Whether a kind is looked for.
    pub fn includes(self, kind: PhiKind) -> bool {
        match self {
            Self::Eight => kind.is_core(),
            Self::SafeHarbor => true,
        }
    }

    /// The kinds that are looked for, in table order.
    pub fn kinds(self) -> impl Iterator<Item = PhiKind> {
        PhiKind::all().filter(move |kind| self.includes(*kind))
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

impl Settings {
    /// Looks for the kinds of a profile and no others; everything else stays as it is set.
    #[must_use]
    pub fn with_profile(mut self, profile: Profile) -> Self {
        self.thresholds.retain(|(kind, _)| profile.includes(*kind));
        self.on = profile.kinds().filter(|kind| !kind.is_core()).collect();
        self.off = PhiKind::all()
            .filter(|kind| kind.is_core() && !profile.includes(*kind))
            .collect();
        self
    }
}

impl Detector {
    /// Looks for the kinds of a profile and no others; the other settings stay.
    #[must_use]
    pub fn with_profile(mut self, profile: Profile) -> Self {
        self.settings = self.settings.with_profile(profile);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_switch_exactly_their_kinds() {
        let kind = |code| PhiKind::from_code(code).unwrap();
        let settings = Settings {
            thresholds: vec![(kind("npi"), 0.4), (kind("ssn"), 0.7)],
            off: vec![kind("phone")],
            ..Settings::default()
        };
        let detector = Detector::new(settings).unwrap();
        for profile in Profile::all() {
            let own = detector.clone().with_profile(profile);
            for kind in PhiKind::all() {
                assert_eq!(own.looks_for(kind), profile.includes(kind), "{kind:?}");
            }
            assert!(own.threshold(kind("ssn")) > 0.6, "a threshold was lost");
            assert_eq!(Profile::from_code(profile.code()), Some(profile));
        }
        assert!(
            detector
                .with_profile(Profile::SafeHarbor)
                .threshold(kind("npi"))
                > 0.3
        );
    }

    #[test]
    fn profile_eight_is_the_default() {
        let default = Detector::default();
        let eight = default.clone().with_profile(Profile::Eight);
        assert_eq!(eight.settings, default.settings);
        assert_eq!(Profile::default(), Profile::Eight);
    }

    #[test]
    fn rows_match_their_variants() {
        for (at, profile) in Profile::all().enumerate() {
            assert_eq!(profile as usize, at);
        }
    }
}
