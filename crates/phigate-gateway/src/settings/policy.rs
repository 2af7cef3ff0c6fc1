//! Words of a policy as people write them, and the checks before they are set.

use phi_detect::PhiKind;
use phigate_store::{Account, Detection, PolicyLevel, PolicyWords, WordChanges};
use phigate_types::{Level, Policy, Ruling, Word};
use serde_json::{Value, json};

use super::kind_state::is_looked_for;
use super::weaker::Weaker;
use super::{Kinds, SettingError};

/// Word that takes back what a level says.
const INHERIT: &str = "inherit";

/// Reads `KIND=ACTION,…`; each kind once, and `inherit` to take a word back. Whether the account has a kind that is not of
/// the table is checked by [`changed_policy`].
pub fn read_words(text: &str) -> Result<WordChanges, SettingError> {
    let mut changes = WordChanges::new();
    for part in text.split(',') {
        let (kind, action) = part
            .trim()
            .split_once('=')
            .ok_or_else(|| refused(format!("write KIND=ACTION, not {part:?}")))?;
        let is_own = kind.starts_with(PhiKind::OWN_PREFIX);
        if !is_own && PhiKind::from_code(kind).is_none() {
            return Err(unknown_kind(&Kinds::default(), kind));
        }
        let word = match action {
            INHERIT => None,
            action => Some(action.parse().map_err(|_| unknown_action(action))?),
        };
        if changes.insert(kind.into(), word).is_some() {
            return Err(refused(format!("{kind} is named twice")));
        }
    }
    Ok(changes)
}

/// The kind of an account with this code.
pub(super) fn kind_of(kinds: &Kinds, code: &str) -> Result<PhiKind, SettingError> {
    kinds.find(code).ok_or_else(|| unknown_kind(kinds, code))
}

fn refused(message: String) -> SettingError {
    SettingError(message)
}

fn unknown_kind(kinds: &Kinds, kind: &str) -> SettingError {
    let codes: Vec<&str> = kinds.all().map(|(kind, _)| kind.code()).collect();
    refused(format!(
        "there is no kind {kind:?}; there are {}",
        codes.join(", ")
    ))
}

fn unknown_action(action: &str) -> SettingError {
    let codes: Vec<&str> = Word::all().map(Word::code).collect();
    refused(format!(
        "there is no action {action:?}; there are {} and {INHERIT}",
        codes.join(", ")
    ))
}

/// The words after a change of a level, and the ways in which they protect less. Refuses words that a level may not say.
pub fn changed_policy(
    words: &PolicyWords,
    (detection, kinds): (&Detection, &Kinds),
    level: PolicyLevel<'_>,
    changes: &WordChanges,
) -> Result<(PolicyWords, Vec<Weaker>), SettingError> {
    for (code, word) in changes {
        let kind = kind_of(kinds, code)?;
        let is_off_by_word = words.account.get(code) == Some(&Word::Off);
        let is_looked_for = is_looked_for(detection, kind);
        match (level, word) {
            (_, None) | (PolicyLevel::Account, Some(Word::Off)) => {}
            (_, Some(Word::Off)) => {
                let message = format!("{code} can be switched off for the whole account only");
                return Err(refused(message));
            }
            (PolicyLevel::Account, Some(_)) if is_looked_for => {}
            (_, Some(_)) if is_looked_for && !is_off_by_word => {}
            (_, Some(_)) => {
                let message = format!(
                    "{code} is off for the account, which alone can switch it on: phigate kind set {code} on"
                );
                return Err(refused(message));
            }
        }
    }
    let unknown = || refused("there is no such key or level".to_owned());
    let after = words.changed(level, changes).ok_or_else(unknown)?;
    let weaker = changes.keys().filter_map(|code| {
        let kind = kinds.find(code)?;
        let (before, now) = (words.own_word(level, code), after.own_word(level, code));
        let is_weaker = now.strength() < before.strength();
        is_weaker.then(|| Weaker::Kind {
            kind,
            level: Level::from(level).to_string(),
        })
    });
    let weaker = weaker.collect();
    Ok((after, weaker))
}

/// Effective treatment of a kind, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyRow {
    /// Code of the kind.
    pub kind: &'static str,
    /// Code of the treatment.
    pub action: &'static str,
    /// Level that says so.
    pub by: String,
}

impl PolicyRow {
    /// The row as JSON.
    pub fn json(&self) -> Value {
        json!({ "kind": self.kind, "action": self.action, "by": self.by })
    }
}

/// The effective treatment of every kind of the account, in order. A kind that is not looked for is off.
pub fn policy_table(account: &Account, policy: &Policy) -> Vec<PolicyRow> {
    let detection = &account.settings.detection;
    let row = |kind: PhiKind| {
        let off = Ruling {
            word: Word::Off,
            by: Level::Account,
        };
        let ruling = match is_looked_for(detection, kind) {
            true => policy.of(kind.code()),
            false => off,
        };
        PolicyRow {
            kind: kind.code(),
            action: ruling.word.code(),
            by: ruling.by.to_string(),
        }
    };
    let kinds = Kinds::of(&account.recognizers);
    kinds.all().map(|(kind, _)| row(kind)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(text: &str) -> WordChanges {
        read_words(text).unwrap()
    }

    #[test]
    fn wrong_words_are_refused() {
        for (text, named) in [
            ("animal=mask", "animal"),
            ("ssn=hide", "hide"),
            ("ssn", "ssn"),
            ("ssn=", ""),
            ("=mask", ""),
            ("", ""),
            ("ssn=mask;phone=mask", "phone"),
            ("ssn=mask,ssn=block", "ssn"),
            ("ssn=Mask", "Mask"),
        ] {
            let error = read_words(text).unwrap_err().to_string();
            assert!(error.contains(named), "{text}: {error}");
        }
        assert_eq!(changes("ssn=inherit")["ssn"], None);
    }

    #[test]
    fn weaker_word_of_a_level_is_seen() {
        let detection = Detection::default();
        let mut words = PolicyWords {
            mode: phigate_types::Mode::MASK,
            ..PolicyWords::default()
        };
        let mut say = |level, text: &str| {
            let changed = changed_policy(
                &words,
                (&detection, &Kinds::default()),
                level,
                &changes(text),
            );
            let (after, weaker) = changed.unwrap();
            words = after;
            weaker.len()
        };
        let wards = PolicyLevel::Group("wards");
        assert_eq!(say(PolicyLevel::Account, "ssn=block,name=redact"), 0);
        assert_eq!(say(PolicyLevel::Account, "ssn=inherit,name=redact"), 1);
        assert_eq!(say(PolicyLevel::Account, "phone=off,email=flag"), 2);
        assert_eq!(say(wards, "ssn=flag,name=redact"), 0);
        assert_eq!(say(wards, "ssn=inherit"), 0);
        assert_eq!(say(wards, "name=inherit"), 1);
    }

    #[test]
    fn only_the_account_switches_kinds() {
        let detection = Detection::default();
        let words = PolicyWords {
            account: [("name".into(), Word::Off)].into(),
            ..PolicyWords::default()
        };
        let kinds = Kinds::default();
        let set = |level, text| {
            changed_policy(&words, (&detection, &kinds), level, &changes(text)).is_ok()
        };
        assert!(!set(PolicyLevel::Account, "x_study=mask"));
        let wards = PolicyLevel::Group("wards");
        assert!(!set(wards, "ssn=off"));
        assert!(!set(wards, "name=mask") && set(wards, "name=inherit"));
        assert!(!set(wards, "npi=mask") && !set(PolicyLevel::Account, "npi=mask"));
        assert!(set(PolicyLevel::Account, "name=mask"));
    }
}
