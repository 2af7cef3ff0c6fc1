//! Columns of the matrix: the account, its groups, and keys with words.

use std::collections::BTreeSet;

use phi_detect::PhiKind;
use phigate_gateway::{Kinds, LevelChanges, PolicyRow};
use phigate_store::{ApiKeyInfo, PolicyLevel, PolicyWords, WordChanges};
use phigate_types::Word;

use super::{Cell, word_label};
use crate::fields::Fields;
use crate::view::{Choice, choices, counted};
use crate::visit::SignedIn;

/// A level with a column.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Account,
    Group(String),
    Key(String),
}

impl Place {
    /// Reads `account`, `group:NAME` or `key:ID`.
    fn read(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None => (text == ACCOUNT).then_some(Self::Account),
            Some((GROUP, name)) => Some(Self::Group(name.to_owned())),
            Some((KEY, id)) => Some(Self::Key(id.to_owned())),
            Some(_) => None,
        }
    }

    fn level(&self) -> PolicyLevel<'_> {
        match self {
            Self::Account => PolicyLevel::Account,
            Self::Group(name) => PolicyLevel::Group(name),
            Self::Key(id) => PolicyLevel::Key(id),
        }
    }

    /// The form in names of fields, as in records.
    fn name(&self) -> String {
        phigate_types::Level::from(self.level()).to_string()
    }
}

/// First words of the names of levels.
const ACCOUNT: &str = "account";
const GROUP: &str = "group";
const KEY: &str = "key";

/// Head of a column.
#[derive(Debug)]
pub(crate) struct ColumnHead {
    pub(crate) title: String,
    pub(crate) note: String,
}

/// A column of the matrix.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) place: Place,
    title: String,
    /// Whether the column was added to the page and says nothing yet.
    is_added: bool,
}

/// The columns: the account, its groups, keys with words, and what the viewer added.
pub(super) fn columns(
    visit: &SignedIn,
    words: &PolicyWords,
    typed: &LevelChanges,
    keys: &[ApiKeyInfo],
) -> Vec<Column> {
    let mut said = BTreeSet::from([Place::Account]);
    let groups = words.group_names().into_iter();
    said.extend(groups.map(|name| Place::Group(name.to_string())));
    let with_words = words.keys.iter().filter(|(_, key)| !key.policy.is_empty());
    let is_used = |id: &str| {
        let mut known = keys.iter();
        known.any(|key| key.id == id && key.revoked.is_none())
    };
    let of_keys = with_words.filter(|(id, _)| is_used(id));
    said.extend(of_keys.map(|(id, _)| Place::Key(id.clone())));
    let mut all = said.clone();
    all.extend(typed.groups.keys().map(|name| Place::Group(name.clone())));
    all.extend(typed.keys.keys().map(|id| Place::Key(id.clone())));
    all.extend(asked(&visit.context.query).chain(asked(visit.form())));
    let is_known = |place: &Place| match place {
        Place::Key(id) => is_used(id),
        Place::Group(name) => is_group(name),
        Place::Account => true,
    };
    let column = |place: Place| Column {
        title: title(&place, keys),
        is_added: !said.contains(&place),
        place,
    };
    all.into_iter().filter(is_known).map(column).collect()
}

/// Columns that the viewer added.
fn asked(fields: &Fields) -> impl Iterator<Item = Place> {
    let named = fields.all("column").filter_map(Place::read);
    let group = Some(fields.get("add_group")).filter(|name| !name.is_empty());
    let group = group.map(|name| Place::Group(name.to_owned()));
    let key = Some(fields.get("add_key")).filter(|id| !id.is_empty());
    let key = key.map(|id| Place::Key(id.to_owned()));
    named.chain(group).chain(key)
}

/// Whether a text can name a group, as the store sees it.
fn is_group(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    (1..=32).contains(&name.len()) && name.bytes().all(is_plain)
}

fn title(place: &Place, keys: &[ApiKeyInfo]) -> String {
    match place {
        Place::Account => "Account".to_owned(),
        Place::Group(name) => format!("Group {name}"),
        Place::Key(id) => {
            let key = keys.iter().find(|key| key.id == *id);
            let name = key.map(|key| key.name.as_str()).unwrap_or_default();
            format!("Key {}", if name.is_empty() { id } else { name })
        }
    }
}

/// Name of a level for people.
pub(crate) fn label_of(level: PolicyLevel<'_>, keys: &[ApiKeyInfo]) -> String {
    let place = match level {
        PolicyLevel::Account => Place::Account,
        PolicyLevel::Group(name) => Place::Group(name.to_owned()),
        PolicyLevel::Key(id) => Place::Key(id.to_owned()),
    };
    title(&place, keys)
}

impl Column {
    pub(super) fn level(&self) -> PolicyLevel<'_> {
        self.place.level()
    }

    /// Name of the column, if it was added to the page.
    pub(super) fn added(&self) -> Option<String> {
        self.is_added.then(|| self.place.name())
    }

    pub(super) fn head(&self, words: &PolicyWords) -> ColumnHead {
        let note = match &self.place {
            Place::Account => "every request".to_owned(),
            Place::Group(name) => {
                let is_of = |key: &&phigate_store::KeyWords| key.group.as_deref() == Some(name);
                let count = words.keys.values().filter(is_of).count();
                counted(u64::try_from(count).unwrap_or_default(), "key")
            }
            Place::Key(id) => {
                let group = words.keys.get(id).and_then(|key| key.group.as_deref());
                group.map_or_else(|| id.clone(), |group| format!("in group {group}"))
            }
        };
        ColumnHead {
            title: self.title.clone(),
            note,
        }
    }

    /// The cell of a kind, whose treatment in force at this level is given.
    pub(super) fn cell(
        &self,
        words: &PolicyWords,
        typed: &LevelChanges,
        row: &PolicyRow,
        is_off: bool,
    ) -> Cell {
        let is_account = self.place == Place::Account;
        let own = own_word(words, &self.place, row.kind);
        let shown = typed_word(typed, &self.place, row.kind).unwrap_or(own);
        let is_open = is_account || !is_off;
        let none = match is_account {
            true => format!("{}, by the mode", word_label(Word::Treat(words.mode))),
            false => "—".to_owned(),
        };
        let offered = Word::all().filter(|word| is_account || *word != Word::Off);
        let offered: Vec<(&str, &str)> = offered
            .map(|word| (word.code(), word_label(word)))
            .collect();
        let choices = [("", none.as_str())].into_iter().chain(offered);
        let holds = row.action.parse::<Word>().unwrap_or(Word::Off);
        let is_own = row.by == self.place.name();
        Cell {
            field: match is_open {
                true => format!("{}:{}", self.place.name(), row.kind),
                false => String::new(),
            },
            level: self.title.clone(),
            choices: choices_of(choices, shown),
            holds: match is_own {
                true => String::new(),
                false => format!("{}, by {}", word_label(holds), row.by.replace(':', " ")),
            },
            is_said: shown.is_some(),
            is_overruled: own.is_some() && !is_own,
        }
    }
}

fn choices_of<'a>(
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    chosen: Option<Word>,
) -> Vec<Choice> {
    choices(pairs, chosen.map_or("", Word::code))
}

/// The word of a level about a kind.
fn own_word(words: &PolicyWords, place: &Place, kind: &str) -> Option<Word> {
    match place {
        Place::Account => words.account.get(kind).copied(),
        Place::Group(name) => {
            let group = words.groups.get(name.as_str())?;
            group.get(kind).copied().map(Word::Treat)
        }
        Place::Key(id) => words
            .keys
            .get(id)?
            .policy
            .get(kind)
            .copied()
            .map(Word::Treat),
    }
}

/// The word that was typed for a kind, or that it was taken back; `None` if the form leaves it as it is.
fn typed_word(typed: &LevelChanges, place: &Place, kind: &str) -> Option<Option<Word>> {
    let changes = match place {
        Place::Account => &typed.account,
        Place::Group(name) => typed.groups.get(name)?,
        Place::Key(id) => typed.keys.get(id)?,
    };
    changes.get(kind).copied()
}

/// The words of a form that differ from the stored ones.
pub(super) fn changes(
    form: &Fields,
    words: &PolicyWords,
    kinds: &Kinds,
) -> Result<LevelChanges, String> {
    let mut changes = LevelChanges::default();
    for (name, value) in form.pairs() {
        let Some((place, code)) = name.rsplit_once(':') else {
            continue;
        };
        let (Some(place), Some(kind)) = (Place::read(place), kinds.find(code)) else {
            continue;
        };
        let word = match value {
            "" => None,
            value => Some(value.parse().map_err(|_| unknown(kind))?),
        };
        if word == own_word(words, &place, code) {
            continue;
        }
        let of: &mut WordChanges = match place {
            Place::Account => &mut changes.account,
            Place::Group(name) => changes.groups.entry(name).or_default(),
            Place::Key(id) => changes.keys.entry(id).or_default(),
        };
        of.insert(kind.code().into(), word);
    }
    Ok(changes)
}

fn unknown(kind: PhiKind) -> String {
    format!("Choose one of the treatments for {}.", kind.code())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_names_only_what_differs() {
        let mut words = PolicyWords::default();
        words.account.insert("ssn".into(), "block".parse().unwrap());
        let kinds = Kinds::default();
        let form = Fields::of(&[
            ("account:ssn", "block"),
            ("account:phone", "off"),
            ("account:name", ""),
            ("group:night.shift:name", "redact"),
            ("column", "group:night.shift"),
            ("account:animal", "block"),
        ]);
        let changed = changes(&form, &words, &kinds).unwrap();
        assert_eq!(
            changed.text(),
            "account phone=off; group:night.shift name=redact"
        );
        let wrong = Fields::of(&[("account:ssn", "hide")]);
        assert!(changes(&wrong, &words, &kinds).is_err());
    }

    #[test]
    fn levels_are_read_as_written() {
        for name in ["account", "group:wards", "key:k3j2h1g4f5d6"] {
            assert_eq!(Place::read(name).unwrap().name(), name);
        }
        assert_eq!(Place::read("provider:x"), None);
        assert!(is_group("night.shift-2") && !is_group("night shift") && !is_group(""));
    }
}
