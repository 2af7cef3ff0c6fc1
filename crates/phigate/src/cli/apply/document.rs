//! The state of an account as a TOML document, and its differences from another.

use std::collections::BTreeMap;

use phi_detect::PhiKind;
use phigate_gateway::{AccountSettings, account_fields};
use phigate_store::{Declared, ProviderConfig};
use phigate_types::{Replace, Word};
use serde_json::Value as Json;
use toml::{Table, Value};

/// Tables of a file.
pub(super) const TABLES: [&str; 8] = [
    SETTINGS,
    KINDS,
    POLICY,
    GROUPS,
    FALLBACKS,
    PROVIDERS,
    RECOGNIZERS,
    ALLOW,
];

pub(super) const SETTINGS: &str = "settings";
pub(super) const KINDS: &str = "kinds";
pub(super) const POLICY: &str = "policy";
pub(super) const GROUPS: &str = "groups";
pub(super) const FALLBACKS: &str = "fallbacks";
pub(super) const PROVIDERS: &str = "providers";
pub(super) const RECOGNIZERS: &str = "recognizers";
pub(super) const ALLOW: &str = "allow";

/// The tables below `[policy]` for groups and keys.
pub(super) const OF_GROUPS: &str = "groups";
pub(super) const OF_KEYS: &str = "keys";

/// The document of a state. It holds no secret.
pub(super) fn document(state: &Declared) -> Table {
    let tables = [
        (SETTINGS, settings(state)),
        (KINDS, kinds(state)),
        (POLICY, policy(state)),
        (GROUPS, groups(state)),
        (FALLBACKS, fallbacks(state)),
        (PROVIDERS, providers(state)),
        (RECOGNIZERS, recognizers(state)),
        (ALLOW, allowed(state)),
    ];
    let tables = tables.into_iter().filter(|(_, table)| !table.is_empty());
    let tables = tables.map(|(name, table)| (name.to_owned(), Value::Table(table)));
    tables.collect()
}

fn settings(state: &Declared) -> Table {
    let all = AccountSettings {
        mode: state.mode,
        settings: state.settings.clone(),
    };
    let mut table = Table::new();
    for field in account_fields() {
        let text = field.get(&all);
        if text.is_empty() {
            continue;
        }
        let value = match (field.is_switch(), text.parse::<i64>()) {
            (true, _) => Value::Boolean(text == "on"),
            (false, Ok(number)) => Value::Integer(number),
            (false, Err(_)) => Value::String(text),
        };
        table.insert(field.name(), value);
    }
    table
}

/// Kinds that are looked for although they are off by default, or whose values are generalized.
fn kinds(state: &Declared) -> Table {
    let detection = state.detection();
    let mut table = Table::new();
    for kind in PhiKind::all() {
        let code = kind.code();
        let replace = match detection.generalized.contains(code) {
            true => Replace::Generalize,
            false if detection.kinds.contains(code) => Replace::Placeholder,
            false => continue,
        };
        table.insert(code.to_owned(), replace.code().into());
    }
    table
}

fn policy(state: &Declared) -> Table {
    let words = &state.words;
    let own = words.account.iter();
    let mut table: Table = own.map(|(kind, word)| said(kind, *word)).collect();
    let below = |words: &phigate_types::Words<phigate_types::Mode>| {
        let words = words.iter();
        let words = words.map(|(kind, mode)| said(kind, Word::Treat(*mode)));
        Value::Table(words.collect())
    };
    let groups = words.groups.iter();
    let groups: Table = groups
        .map(|(name, words)| (name.to_string(), below(words)))
        .collect();
    let keys = words.keys.iter().filter(|(_, key)| !key.policy.is_empty());
    let keys: Table = keys
        .map(|(id, key)| (id.clone(), below(&key.policy)))
        .collect();
    for (name, of) in [(OF_GROUPS, groups), (OF_KEYS, keys)] {
        if !of.is_empty() {
            table.insert(name.to_owned(), Value::Table(of));
        }
    }
    table
}

fn said(kind: &str, word: Word) -> (String, Value) {
    (kind.to_owned(), word.code().into())
}

fn groups(state: &Declared) -> Table {
    let mut members: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (id, key) in &state.words.keys {
        if let Some(group) = &key.group {
            let of = members.entry(group.to_string()).or_default();
            of.push(id.as_str().into());
        }
    }
    let lists = members.into_iter();
    lists.map(|(name, ids)| (name, Value::Array(ids))).collect()
}

fn fallbacks(state: &Declared) -> Table {
    let list = |targets: &Vec<String>| {
        let targets = targets.iter().map(|target| target.as_str().into());
        Value::Array(targets.collect())
    };
    let fallbacks = state.fallbacks.iter();
    fallbacks
        .map(|(model, targets)| (model.clone(), list(targets)))
        .collect()
}

fn providers(state: &Declared) -> Table {
    let providers = state.providers.iter();
    providers
        .map(|(name, config)| (name.clone(), Value::Table(provider(config))))
        .collect()
}

/// The configuration of a provider, without what is not set.
pub(super) fn provider(config: &ProviderConfig) -> Table {
    let fields = serde_json::to_value(config).unwrap_or_default();
    table_of(&fields)
}

fn recognizers(state: &Declared) -> Table {
    let recognizers = state.recognizers.iter();
    let fields = recognizers.map(|(code, definition)| {
        let mut fields: Json = serde_json::from_str(definition.expose()).unwrap_or_default();
        if let Some(fields) = fields.as_object_mut() {
            fields.remove("code");
        }
        (code.to_string(), Value::Table(table_of(&fields)))
    });
    fields.collect()
}

fn allowed(state: &Declared) -> Table {
    let allowed = state.allowed.iter();
    allowed
        .map(|(hash, kind)| (hash.clone(), kind.as_str().into()))
        .collect()
}

/// A JSON object as a table. TOML has no null, and an empty list says nothing.
fn table_of(fields: &Json) -> Table {
    let fields = fields.as_object().into_iter().flatten();
    fields
        .filter_map(|(name, value)| Some((name.clone(), value_of(value)?)))
        .collect()
}

fn value_of(value: &Json) -> Option<Value> {
    Some(match value {
        Json::Null => return None,
        Json::Bool(is) => Value::Boolean(*is),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::Integer(whole),
            None => Value::Float(number.as_f64()?),
        },
        Json::String(text) => Value::String(text.clone()),
        Json::Array(items) if items.is_empty() => return None,
        Json::Array(items) => Value::Array(items.iter().filter_map(value_of).collect()),
        Json::Object(_) => Value::Table(table_of(value)),
    })
}

/// A key in a place, in quotes if it needs them.
fn key(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    match !name.is_empty() && name.bytes().all(is_plain) {
        true => name.to_owned(),
        false => Value::from(name).to_string(),
    }
}

/// The differences between two documents, each as a line: `+`, `-` or `~`, its place, and its value.
pub(super) fn differences(before: &Table, after: &Table) -> Vec<String> {
    let (before, after) = (leaves(before), leaves(after));
    let mut lines = Vec::new();
    for (place, value) in &after {
        match before.get(place) {
            None => lines.push(format!("+ {place} = {value}")),
            Some(old) if old != value => lines.push(format!("~ {place} = {old} -> {value}")),
            Some(_) => {}
        }
    }
    let gone = before
        .iter()
        .filter(|(place, _)| !after.contains_key(*place));
    lines.extend(gone.map(|(place, value)| format!("- {place} = {value}")));
    lines
}

fn leaves(document: &Table) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    collect(document, "", &mut all);
    all
}

fn collect(table: &Table, path: &str, into: &mut BTreeMap<String, String>) {
    for (name, value) in table {
        let place = match path {
            "" => key(name),
            path => format!("{path}.{}", key(name)),
        };
        match value {
            Value::Table(inner) => collect(inner, &place, into),
            // Examples of a recognizer may look like what they are examples of.
            value if path.starts_with(RECOGNIZERS) => {
                into.insert(
                    place,
                    format!("({} characters)", value.to_string().chars().count()),
                );
            }
            value => {
                into.insert(place, value.to_string());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_is_read_as_written() {
        let text_of = r#"[settings]
mode = "mask"
content_days = 30

[policy]
ssn = "block"

[policy.groups."night.shift"]
name = "redact"

[providers.openai]
models = ["gpt-4o", "gpt-4o-mini"]
agreement = "a \"quoted\" word"
"#;
        let document: Table = text_of.parse().unwrap();
        let written = document.to_string();
        assert_eq!(written.parse::<Table>().unwrap(), document);
        assert!(differences(&document, &document).is_empty());
    }

    #[test]
    fn differences_are_lines_with_places() {
        let before: Table = "[policy]\nssn = \"block\"\nname = \"mask\""
            .parse()
            .unwrap();
        let after: Table = "[policy]\nssn = \"redact\"\nphone = \"mask\""
            .parse()
            .unwrap();
        assert_eq!(
            differences(&before, &after),
            [
                "+ policy.phone = \"mask\"",
                "~ policy.ssn = \"block\" -> \"redact\"",
                "- policy.name = \"mask\"",
            ]
        );
    }
}
