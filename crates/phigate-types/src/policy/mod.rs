//! Policy: the treatment of each kind of PHI, said at up to five levels.
//!
//! The account speaks for every kind: by a word about the kind, otherwise by its mode. The group and the API key of the
//! caller, the provider and the request may add words. The effective treatment of a kind is the strongest that any level
//! says, so a level below the account can only tighten. Only the account may say `off`.

mod word;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use smol_str::{SmolStr, format_smolstr};

use crate::Mode;

pub use word::Word;

/// Words of one level: kind of PHI → treatment. `W` is [`Mode`] below the account, which alone may switch a kind off.
pub type Words<W> = BTreeMap<SmolStr, W>;

/// The words of a group or key, with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Name of the group, or public id of the key.
    pub name: SmolStr,
    /// Words of the group or key.
    pub words: Words<Mode>,
}

/// The stored levels for one caller: account, group and key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Levels {
    /// Treatment of every kind without a word of the account.
    pub mode: Mode,
    /// Words of the account.
    pub account: Words<Word>,
    /// The caller's group.
    pub group: Option<Named>,
    /// The caller's key.
    pub key: Option<Named>,
    /// Name of these words in records; `None` if no level has words.
    pub name: Option<SmolStr>,
}

/// Level that decides the treatment of a kind, the account first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level<'p> {
    /// The account.
    Account,
    /// The caller's group of keys.
    Group(&'p str),
    /// The caller's key.
    Key(&'p str),
    /// The agreement with the provider's operator.
    Provider(&'p str),
    /// A header of the request.
    Request,
}

impl fmt::Display for Level<'_> {
    /// The form in records: `account`, `group:NAME`, `key:ID`, `provider:NAME` or `request`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account => out.write_str("account"),
            Self::Group(name) => write!(out, "group:{name}"),
            Self::Key(id) => write!(out, "key:{id}"),
            Self::Provider(name) => write!(out, "provider:{name}"),
            Self::Request => out.write_str("request"),
        }
    }
}

impl Level<'_> {
    /// The form in records.
    pub fn code(&self) -> SmolStr {
        match self {
            Self::Account => SmolStr::new_static("account"),
            Self::Request => SmolStr::new_static("request"),
            other => format_smolstr!("{other}"),
        }
    }
}

/// Effective treatment of a kind, and the first level that says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ruling<'p> {
    /// The treatment.
    pub word: Word,
    /// The level.
    pub by: Level<'p>,
}

impl<'p> Ruling<'p> {
    /// The stronger of two rulings; of two equal ones, that of the earlier level.
    #[must_use]
    pub fn or_stronger(self, other: Self) -> Self {
        let is_stronger = (other.word.strength(), std::cmp::Reverse(other.by))
            > (self.word.strength(), std::cmp::Reverse(self.by));
        if is_stronger { other } else { self }
    }

    /// The mode by which a finding is treated. A kind that is off is not looked for, so it has no findings.
    pub fn mode(&self) -> Mode {
        match self.word {
            Word::Off => Mode::FLAG,
            Word::Treat(mode) => mode,
        }
    }
}

/// Treatment of the findings of one request, for one caller and provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    levels: Arc<Levels>,
    provider: Option<(SmolStr, Mode)>,
    request: Option<Mode>,
    allow_unscannable: bool,
}

impl Policy {
    /// The policy that treats every kind alike.
    pub fn uniform(mode: Mode) -> Self {
        Self::of_levels(Levels {
            mode,
            ..Levels::default()
        })
    }

    /// The policy of these levels.
    pub fn of_levels(levels: Levels) -> Self {
        Self {
            levels: Arc::new(levels),
            provider: None,
            request: None,
            allow_unscannable: false,
        }
    }

    /// Sets whether attachments that cannot be scanned are forwarded whatever is said of findings.
    #[must_use]
    pub fn allowing_unscannable(mut self, allowed: bool) -> Self {
        self.allow_unscannable = allowed;
        self
    }

    /// Adds the treatment that the agreement with a provider demands.
    #[must_use]
    pub fn at_provider(mut self, name: &str, demanded: Option<Mode>) -> Self {
        self.provider = demanded.map(|mode| (SmolStr::from(name), mode));
        self
    }

    /// Adds the treatment that the request demands of itself.
    #[must_use]
    pub fn on_request(mut self, demanded: Option<Mode>) -> Self {
        self.request = demanded;
        self
    }

    /// The stored levels.
    pub fn levels(&self) -> &Levels {
        &self.levels
    }

    /// Whether attachments that cannot be scanned are forwarded whatever is said of findings.
    pub fn allows_unscannable(&self) -> bool {
        self.allow_unscannable
    }

    /// Whether the account has switched a kind off.
    pub fn is_off(&self, kind: &str) -> bool {
        self.levels.account.get(kind) == Some(&Word::Off)
    }

    /// The kinds that the account has switched off.
    pub fn off(&self) -> impl Iterator<Item = &str> {
        let said = self.levels.account.iter();
        said.filter(|(_, word)| **word == Word::Off)
            .map(|(kind, _)| kind.as_str())
    }

    /// The treatment of a kind, and the level that says it.
    pub fn of(&self, kind: &str) -> Ruling<'_> {
        let mut said = self.said_of(kind);
        let account = said.next().unwrap_or(Ruling {
            word: Word::Treat(self.levels.mode),
            by: Level::Account,
        });
        match account.word {
            Word::Off => account,
            Word::Treat(_) => said.fold(account, Ruling::or_stronger),
        }
    }

    /// Every level's word on a kind, the account's first.
    fn said_of(&self, kind: &str) -> impl Iterator<Item = Ruling<'_>> {
        let levels = &*self.levels;
        let own = levels.account.get(kind).copied();
        let account = Some((own.unwrap_or(Word::Treat(levels.mode)), Level::Account));
        let of_named = |named: &Named| named.words.get(kind).copied().map(Word::Treat);
        let group = levels.group.as_ref();
        let group = group.and_then(|group| Some((of_named(group)?, Level::Group(&group.name))));
        let key = levels.key.as_ref();
        let key = key.and_then(|key| Some((of_named(key)?, Level::Key(&key.name))));
        let provider = self.provider.as_ref();
        let provider = provider.map(|(name, mode)| (Word::Treat(*mode), Level::Provider(name)));
        let request = self.request.map(|mode| (Word::Treat(mode), Level::Request));
        [account, group, key, provider, request]
            .into_iter()
            .flatten()
            .map(|(word, by)| Ruling { word, by })
    }

    /// Whether every kind is forwarded unchanged, and so what cannot be scanned may be forwarded too.
    pub fn forwards_unscanned(&self) -> bool {
        let levels = &*self.levels;
        let keeps = |mode: &Mode| mode.forwards_unscanned();
        let named = levels.group.iter().chain(&levels.key);
        let below = named.flat_map(|named| named.words.values());
        let modes = [&levels.mode].into_iter().chain(below);
        let demanded = self.provider.as_ref().map(|(_, mode)| mode);
        modes.chain(demanded).chain(&self.request).all(keeps)
            && levels.account.values().all(|word| match word {
                Word::Off => true,
                Word::Treat(mode) => keeps(mode),
            })
    }
}

#[cfg(test)]
mod tests;
