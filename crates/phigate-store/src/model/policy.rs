//! Words of an account's policy at every level.

use std::collections::{BTreeMap, BTreeSet};

use phigate_types::{Level, Levels, Mode, Named, Policy, Word, Words};
use phigate_verify::chain::{digest, hex};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// Level whose words are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyLevel<'a> {
    /// The account.
    Account,
    /// A group of keys.
    Group(&'a str),
    /// A key.
    Key(&'a str),
}

impl<'a> From<PolicyLevel<'a>> for Level<'a> {
    fn from(level: PolicyLevel<'a>) -> Self {
        match level {
            PolicyLevel::Account => Self::Account,
            PolicyLevel::Group(name) => Self::Group(name),
            PolicyLevel::Key(id) => Self::Key(id),
        }
    }
}

/// New words, by kind of PHI; `None` takes a word back.
pub type WordChanges = BTreeMap<SmolStr, Option<Word>>;

/// All words of an account's policy.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PolicyWords {
    /// Treatment of every kind without a word of the account.
    pub mode: Mode,
    /// Words of the account.
    pub account: Words<Word>,
    /// Words of each group.
    pub groups: BTreeMap<SmolStr, Words<Mode>>,
    /// Group and words of each key, by its public id.
    pub keys: BTreeMap<String, KeyWords>,
}

/// Group and words of a key.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KeyWords {
    /// The group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<SmolStr>,
    /// Words of the key itself.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub policy: Words<Mode>,
}

impl PolicyWords {
    /// Whether a group has words or keys.
    pub fn has_group(&self, name: &str) -> bool {
        let is_of = |key: &KeyWords| key.group.as_deref() == Some(name);
        self.groups.contains_key(name) || self.keys.values().any(is_of)
    }

    /// The policy at a level, with the levels above it. `None` for an unknown key.
    pub fn at(&self, level: PolicyLevel<'_>) -> Option<Policy> {
        let levels = match level {
            PolicyLevel::Account => self.levels(None, None),
            PolicyLevel::Group(name) => self.levels(Some(name), None),
            PolicyLevel::Key(id) => {
                let key = self.keys.get(id)?;
                self.levels(key.group.as_deref(), Some((id, key)))
            }
        };
        Some(Policy::of_levels(levels))
    }

    /// Names of all policies in force, each with its text.
    pub(crate) fn texts(&self) -> BTreeMap<SmolStr, String> {
        let keys = self.keys.iter();
        let of_keys = keys.map(|(id, key)| self.levels(key.group.as_deref(), Some((id, key))));
        let groups = self.groups.keys().map(|name| self.levels(Some(name), None));
        let all = of_keys.chain(groups).chain([self.levels(None, None)]);
        let named = all.filter_map(|levels| Some((levels.name.clone()?, text(&levels)?)));
        named.collect()
    }

    /// The levels of a key, or of a group, or of the account alone.
    pub(crate) fn levels(&self, group: Option<&str>, key: Option<(&str, &KeyWords)>) -> Levels {
        let group = group.map(|name| Named {
            name: name.into(),
            words: self.groups.get(name).cloned().unwrap_or_default(),
        });
        let key = key.map(|(id, key)| Named {
            name: id.into(),
            words: key.policy.clone(),
        });
        let mut levels = Levels {
            mode: self.mode,
            account: self.account.clone(),
            group,
            key,
            name: None,
        };
        levels.name = text(&levels).map(|text| name_of(&text));
        levels
    }

    /// The words after a change of a level. `None` for an unknown key, and for `Off` below the account.
    pub fn changed(&self, level: PolicyLevel<'_>, changes: &WordChanges) -> Option<Self> {
        let mut after = self.clone();
        after.change(level, changes)?;
        Some(after)
    }

    fn change(&mut self, level: PolicyLevel<'_>, changes: &WordChanges) -> Option<()> {
        let below = match level {
            PolicyLevel::Account => {
                for (kind, word) in changes {
                    match word {
                        Some(word) => self.account.insert(kind.clone(), *word),
                        None => self.account.remove(kind),
                    };
                }
                return Some(());
            }
            PolicyLevel::Group(name) => self.groups.entry(name.into()).or_default(),
            PolicyLevel::Key(id) => &mut self.keys.get_mut(id)?.policy,
        };
        for (kind, word) in changes {
            match word {
                Some(Word::Treat(mode)) => below.insert(kind.clone(), *mode),
                Some(Word::Off) => return None,
                None => below.remove(kind),
            };
        }
        self.groups.retain(|_, words| !words.is_empty());
        Some(())
    }

    /// The words without those about a kind.
    pub fn without(&self, kind: &str) -> Self {
        let mut after = self.clone();
        after.account.remove(kind);
        for words in after.groups.values_mut() {
            words.remove(kind);
        }
        after.groups.retain(|_, words| !words.is_empty());
        for key in after.keys.values_mut() {
            key.policy.remove(kind);
        }
        after
    }

    /// The word of a level by itself. A group or key without a word is as weak as one that flags.
    pub fn own_word(&self, level: PolicyLevel<'_>, kind: &str) -> Word {
        let below = |words: Option<&Words<Mode>>| {
            let mode = words.and_then(|words| words.get(kind).copied());
            Word::Treat(mode.unwrap_or(Mode::FLAG))
        };
        match level {
            PolicyLevel::Account => {
                let own = self.account.get(kind).copied();
                own.unwrap_or(Word::Treat(self.mode))
            }
            PolicyLevel::Group(name) => below(self.groups.get(name)),
            PolicyLevel::Key(id) => below(self.keys.get(id).map(|key| &key.policy)),
        }
    }

    /// Whether a key is treated less strictly by other words.
    pub fn is_stricter_for(&self, key_id: &str, after: &Self) -> bool {
        let level = PolicyLevel::Key(key_id);
        let (Some(before), Some(after)) = (self.at(level), after.at(level)) else {
            return false;
        };
        let mut kinds = self.groups.values().flat_map(Words::keys);
        kinds.any(|kind| after.of(kind).word.strength() < before.of(kind).word.strength())
    }

    /// The words of a level as `KIND=ACTION,…`.
    pub(crate) fn written(&self, level: PolicyLevel<'_>) -> String {
        let write =
            |words: &Words<Mode>| join(words.iter().map(|(kind, mode)| (kind, mode.code())));
        match level {
            PolicyLevel::Account => {
                join(self.account.iter().map(|(kind, word)| (kind, word.code())))
            }
            PolicyLevel::Group(name) => self.groups.get(name).map(write).unwrap_or_default(),
            PolicyLevel::Key(id) => {
                let key = self.keys.get(id);
                key.map(|key| write(&key.policy)).unwrap_or_default()
            }
        }
    }

    /// The names of all groups.
    pub fn group_names(&self) -> BTreeSet<SmolStr> {
        let of_keys = self.keys.values().filter_map(|key| key.group.clone());
        of_keys.chain(self.groups.keys().cloned()).collect()
    }
}

fn join<'w>(words: impl Iterator<Item = (&'w SmolStr, &'static str)>) -> String {
    let words: Vec<String> = words.map(|(kind, code)| format!("{kind}={code}")).collect();
    words.join(",")
}

/// The words of levels in a fixed form, without the name of the key, so that a rotated key keeps its policy's name.
/// `None` without words.
fn text(levels: &Levels) -> Option<String> {
    let mut said = serde_json::Map::new();
    if !levels.account.is_empty() {
        said.insert("account".to_owned(), serde_json::json!(levels.account));
    }
    if let Some(group) = levels
        .group
        .as_ref()
        .filter(|group| !group.words.is_empty())
    {
        said.insert(
            "group".to_owned(),
            serde_json::json!({ group.name.as_str(): group.words }),
        );
    }
    if let Some(key) = levels.key.as_ref().filter(|key| !key.words.is_empty()) {
        said.insert("key".to_owned(), serde_json::json!(key.words));
    }
    (!said.is_empty()).then(|| serde_json::Value::Object(said).to_string())
}

/// Length of the name of a policy.
const NAME_CHARS: usize = 16;

fn name_of(text: &str) -> SmolStr {
    let hash = hex(&digest(b"phigate policy", &[text.as_bytes()]));
    SmolStr::from(&hash[..NAME_CHARS])
}
