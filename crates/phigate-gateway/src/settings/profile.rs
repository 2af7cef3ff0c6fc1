//! Named sets of kinds of PHI, and changes of the kinds of an account. Commands and pages make them here alone.

use phi_detect::{PhiKind, Profile};
use phigate_store::{KindSettings, KindsAct};
use phigate_types::{Act, Replace, Word};

use super::kind_state::{KindState, is_on, kind_states};
use super::policy::kind_of;
use super::weaker::Weaker;
use super::{Kinds, SettingError};

/// Name of a set of kinds that no profile has.
const CUSTOM: &str = "custom";

/// The profile whose kinds are the ones that are on; `None` if there is no such profile.
pub fn profile_of(settings: &KindSettings) -> Option<Profile> {
    Profile::all()
        .find(|profile| PhiKind::all().all(|kind| is_on(settings, kind) == profile.includes(kind)))
}

/// The name of an account's profile.
pub fn profile_name(settings: &KindSettings) -> &'static str {
    profile_of(settings).map_or(CUSTOM, Profile::code)
}

/// Change of the kinds of an account.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KindEdit {
    /// Switches every kind as a profile says.
    Profile {
        /// The profile.
        profile: Profile,
        /// Replacement of its kinds in mask mode, for those that can be generalized.
        replace: Replace,
    },
    /// Sets the replacement of every kind that is on, for those that can be generalized.
    Replace(Replace),
    /// Switches a kind.
    Kind {
        /// The kind.
        kind: PhiKind,
        /// Whether it is looked for.
        is_on: bool,
        /// The score from which a finding counts; `None` keeps the present one.
        threshold: Option<f64>,
        /// Replacement in mask mode; `None` keeps the present one.
        replace: Option<Replace>,
    },
}

impl KindEdit {
    /// The change of a kind by its code. Refuses what the kind cannot do.
    pub fn of_kind(
        code: &str,
        is_on: bool,
        threshold: Option<f64>,
        replace: Option<Replace>,
    ) -> Result<Self, SettingError> {
        let kind = kind_of(&Kinds::default(), code)?;
        if threshold.is_some_and(|score| !(0.0..=1.0).contains(&score)) {
            let words = format!("the threshold of {code} must be between 0 and 1");
            return Err(SettingError(words));
        }
        if replace == Some(Replace::Generalize) && !kind.can_generalize() {
            let able = PhiKind::all().filter(|kind| kind.can_generalize());
            let able: Vec<&str> = able.map(PhiKind::code).collect();
            let words = format!(
                "values of {code} cannot be generalized; those of {} can",
                able.join(", ")
            );
            return Err(SettingError(words));
        }
        Ok(Self::Kind {
            kind,
            is_on,
            threshold,
            replace,
        })
    }

    /// Makes the change, and describes it for the record.
    pub fn apply(&self, settings: &mut KindSettings) -> KindsAct {
        let before = settings.clone();
        match *self {
            Self::Profile { profile, replace } => {
                let generalizes = replace == Replace::Generalize;
                for kind in PhiKind::all() {
                    let is_on = profile.includes(kind);
                    switch(settings, kind, is_on);
                    generalize(settings, kind, is_on && generalizes);
                }
            }
            Self::Replace(replace) => {
                for state in kind_states(settings) {
                    let to = state.is_on && replace == Replace::Generalize;
                    generalize(settings, state.kind, to);
                }
            }
            Self::Kind {
                kind,
                is_on,
                threshold,
                replace,
            } => {
                switch(settings, kind, is_on);
                if let Some(score) = threshold.filter(|_| is_on || kind.is_core()) {
                    let thresholds = &mut settings.detection.thresholds;
                    thresholds.insert(kind.code().to_owned(), score);
                }
                if let Some(replace) = replace {
                    generalize(settings, kind, replace == Replace::Generalize);
                }
            }
        }
        self.described(&before, settings)
    }

    fn described(&self, before: &KindSettings, after: &KindSettings) -> KindsAct {
        let (act, kind) = match self {
            Self::Profile { .. } | Self::Replace(_) => (Act::ProfileSet, None),
            Self::Kind { kind, .. } => (Act::KindSet, Some(*kind)),
        };
        let words = |settings: &KindSettings| match kind {
            Some(kind) => KindState::of(settings, kind).to_string(),
            None => profile_words(settings),
        };
        let switched = |to: bool| {
            let changed = |kind: &PhiKind| {
                let (old, new) = (is_on(before, *kind), is_on(after, *kind));
                old != new && new == to
            };
            PhiKind::all().filter(changed).map(PhiKind::code).collect()
        };
        KindsAct {
            act,
            kind: kind.map(PhiKind::code),
            from: words(before),
            to: words(after),
            on: switched(true),
            off: switched(false),
            is_weaker: !Weaker::of_kinds(before, after).is_empty(),
        }
    }
}

/// The profile, with the kinds that are generalized, as the form in records.
fn profile_words(settings: &KindSettings) -> String {
    let states = kind_states(settings).into_iter();
    let generalized = states.filter(|one| one.is_on && one.replace == Replace::Generalize);
    let generalized: Vec<&str> = generalized.map(|one| one.kind.code()).collect();
    let name = profile_name(settings);
    match generalized.as_slice() {
        [] => name.to_owned(),
        codes => format!("{name}, generalizing {}", codes.join(", ")),
    }
}

fn switch(settings: &mut KindSettings, kind: PhiKind, to: bool) {
    let code = kind.code();
    let detection = &mut settings.detection;
    if settings.words.get(code) == Some(&Word::Off) {
        settings.words.remove(code);
    }
    match (to, kind.is_core()) {
        (true, true) => {}
        (true, false) => {
            detection.kinds.insert(code.to_owned());
        }
        (false, true) => {
            settings.words.insert(code.into(), Word::Off);
        }
        (false, false) => {
            detection.kinds.remove(code);
            detection.thresholds.remove(code);
        }
    }
}

fn generalize(settings: &mut KindSettings, kind: PhiKind, to: bool) {
    let generalized = &mut settings.detection.generalized;
    match to && kind.can_generalize() {
        true => generalized.insert(kind.code().to_owned()),
        false => generalized.remove(kind.code()),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(code: &str) -> PhiKind {
        PhiKind::from_code(code).unwrap()
    }

    fn set(settings: &mut KindSettings, code: &str, is_on: bool) -> KindsAct {
        let edit = KindEdit::of_kind(code, is_on, None, None).unwrap();
        edit.apply(settings)
    }

    const fn profile(profile: Profile) -> KindEdit {
        KindEdit::Profile {
            profile,
            replace: Replace::Placeholder,
        }
    }

    fn on(settings: &KindSettings) -> Vec<&'static str> {
        let states = kind_states(settings).into_iter();
        let on = states.filter(|one| one.is_on);
        on.map(|one| one.kind.code()).collect()
    }

    #[test]
    fn deviating_kinds_make_a_custom_profile() {
        let mut settings = KindSettings::default();
        assert_eq!(profile_name(&settings), "eight");
        set(&mut settings, "date", true);
        assert_eq!(profile_name(&settings), CUSTOM);
        set(&mut settings, "date", false);
        assert_eq!(settings, KindSettings::default());
        for kind in PhiKind::all() {
            set(&mut settings, kind.code(), true);
        }
        assert_eq!(profile_name(&settings), "safe_harbor");
        set(&mut settings, "phone", false);
        assert_eq!(profile_name(&settings), CUSTOM);
        profile(Profile::SafeHarbor).apply(&mut settings);
        assert_eq!(profile_of(&settings), Some(Profile::SafeHarbor));
        profile(Profile::Eight).apply(&mut settings);
        assert_eq!(settings, KindSettings::default());
    }

    #[test]
    fn stored_thresholds_and_words_count_as_before() {
        let mut settings = KindSettings::default();
        settings.detection.thresholds.insert("npi".into(), 0.4);
        settings.words.insert("phone".into(), Word::Off);
        assert!(on(&settings).contains(&"npi") && !on(&settings).contains(&"phone"));
        assert_eq!(profile_name(&settings), CUSTOM);
        set(&mut settings, "npi", false);
        set(&mut settings, "phone", true);
        assert_eq!(settings, KindSettings::default());
    }

    #[test]
    fn words_about_treatment_survive_a_switch() {
        let mut settings = KindSettings::default();
        let block = Word::Treat(phigate_types::Mode::BLOCK);
        settings.words.insert("ssn".into(), block);
        set(&mut settings, "ssn", true);
        profile(Profile::SafeHarbor).apply(&mut settings);
        assert_eq!(settings.words.get("ssn"), Some(&block));
    }

    #[test]
    fn record_says_what_was_switched() {
        let mut settings = KindSettings::default();
        let said = set(&mut settings, "date", true);
        assert_eq!((said.from.as_str(), said.is_weaker), ("off", false));
        assert_eq!(said.to, "on, threshold 0.3, placeholder");
        let edit = KindEdit::Profile {
            profile: Profile::SafeHarbor,
            replace: Replace::Generalize,
        };
        let said = edit.apply(&mut settings);
        assert_eq!(said.from, CUSTOM);
        assert!(said.to.starts_with("safe_harbor, generalizing dob, "));
        assert!(said.on.contains(&"age") && !said.on.contains(&"date"));
        let said = profile(Profile::Eight).apply(&mut settings);
        assert!(said.is_weaker && said.off.contains(&"date"), "{said:?}");
        assert_eq!(said.to, "eight");
    }

    #[test]
    fn impossible_choice_is_refused() {
        for (code, threshold, replace) in [
            ("zip", None, None),
            ("date", Some(1.5), None),
            ("date", Some(f64::NAN), None),
            ("url", None, Some(Replace::Generalize)),
        ] {
            let refused = KindEdit::of_kind(code, true, threshold, replace);
            assert!(refused.unwrap_err().to_string().contains(code), "{code}");
        }
        assert!(kind("date").can_generalize());
    }
}
