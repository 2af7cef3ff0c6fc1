//! A file laid over the state of an account. Everything is checked before anything is written.

use std::collections::BTreeMap;

use anyhow::{Context, bail, ensure};
use phi_detect::PhiKind;
use phigate_gateway::{
    AccountSettings, GivenSecret, Kinds, LevelChanges, SetupRules, account_field, check_setup,
    read_recognizer,
};
use phigate_store::{Declared, PolicyLevel, ProviderConfig, ProviderInfo};
use phigate_types::{Replace, Word, is_provider_name};
use serde_json::{Map, Value as Json};
use toml::{Table, Value};

use super::document::{
    ALLOW, FALLBACKS, GROUPS, KINDS, POLICY, PROVIDERS, RECOGNIZERS, SETTINGS, TABLES, provider,
};
use crate::cli::{fallback, policy};

/// Facts about an account that are not in its state.
pub(super) struct Site {
    pub(super) rules: SetupRules,
    pub(super) providers: Vec<ProviderInfo>,
}

/// The state after a file. With `prune`, what the file does not name is removed, except settings.
pub(super) fn laid(
    file: &Table,
    before: &Declared,
    prune: bool,
    site: &Site,
) -> anyhow::Result<Declared> {
    for (name, value) in file {
        ensure!(
            TABLES.contains(&name.as_str()),
            "there is no table [{name}]; there are {}",
            TABLES.join(", ")
        );
        ensure!(value.is_table(), "{name} is not a table");
    }
    let table = |name: &str| match file.get(name) {
        Some(Value::Table(table)) => table.clone(),
        _ => Table::new(),
    };
    let mut after = before.clone();
    settings(&table(SETTINGS), &mut after)?;
    kinds(&table(KINDS), &mut after, prune)?;
    recognizers(&table(RECOGNIZERS), &mut after, prune)?;
    words(table(POLICY), before, &mut after, prune)?;
    groups(&table(GROUPS), &mut after, prune)?;
    fallbacks(&table(FALLBACKS), &mut after, prune)?;
    providers(&table(PROVIDERS), &mut after, prune, site)?;
    allowed(&table(ALLOW), &mut after, prune)?;
    Ok(after)
}

/// The text of a value, as settings are written.
fn text_of(value: &Value) -> Option<String> {
    Some(match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(is) => if *is { "on" } else { "off" }.to_owned(),
        Value::Array(items) => {
            let texts: Option<Vec<String>> = items.iter().map(text_of).collect();
            texts?.join(",")
        }
        Value::Datetime(_) | Value::Table(_) => return None,
    })
}

fn settings(table: &Table, after: &mut Declared) -> anyhow::Result<()> {
    let mut all = AccountSettings {
        mode: after.mode,
        settings: after.settings.clone(),
    };
    for (name, value) in table {
        let place = format!("{SETTINGS}.{name}");
        let field = account_field(name).with_context(|| {
            format!("{place}: there is no such setting; phigate settings get lists them")
        })?;
        let text = text_of(value).with_context(|| format!("{place} is not a value"))?;
        field.set(&mut all, &text).context(place)?;
    }
    (after.mode, after.settings) = (all.mode, all.settings);
    Ok(())
}

fn kinds(table: &Table, after: &mut Declared, prune: bool) -> anyhow::Result<()> {
    let detection = &mut after.settings.detection;
    if prune {
        detection.kinds.clear();
        detection.generalized.clear();
    }
    for (code, value) in table {
        let place = format!("{KINDS}.{code}");
        let kind = PhiKind::from_code(code).with_context(|| {
            format!("{place}: there is no such kind; phigate kind list shows them")
        })?;
        let word = value.as_str().unwrap_or_default();
        detection.kinds.remove(code);
        detection.generalized.remove(code);
        if word == Word::Off.code() {
            ensure!(
                !kind.is_core(),
                "{place}: this kind is switched off by {POLICY}.{code}"
            );
            detection.thresholds.remove(code);
            continue;
        }
        let replace: Replace = word.parse().ok().with_context(|| {
            let words: Vec<&str> = Replace::all().map(Replace::code).collect();
            format!("{place} is one of off, {}", words.join(", "))
        })?;
        if !kind.is_core() {
            detection.kinds.insert(code.clone());
        }
        if replace == Replace::Generalize {
            ensure!(
                kind.can_generalize(),
                "{place}: values of this kind cannot be generalized"
            );
            detection.generalized.insert(code.clone());
        }
    }
    Ok(())
}

fn recognizers(table: &Table, after: &mut Declared, prune: bool) -> anyhow::Result<()> {
    if prune {
        after
            .recognizers
            .retain(|code, _| table.contains_key(code.as_str()));
    }
    for (code, value) in table {
        let place = format!("{RECOGNIZERS}.{code}");
        let fields = value
            .as_table()
            .with_context(|| format!("{place} is not a table"))?;
        let mut fields: Map<String, Json> = fields
            .iter()
            .map(|(name, value)| (name.clone(), json_of(value)))
            .collect();
        fields.insert("code".to_owned(), Json::String(code.clone()));
        let known = after.recognizers.get(code.as_str());
        let known: Option<Map<String, Json>> =
            known.and_then(|known| serde_json::from_str(known.expose()).ok());
        // A definition that is stored was tried before.
        if known.is_some_and(|known| filled(known) == filled(fields.clone())) {
            continue;
        }
        let (_, stored) = read_recognizer(&fields).context(place)?;
        after.recognizers.insert(stored.code, stored.definition);
    }
    Ok(())
}

/// Fields without empty lists, which a file leaves out.
fn filled(mut fields: Map<String, Json>) -> Map<String, Json> {
    fields.retain(|_, value| value.as_array().is_none_or(|items| !items.is_empty()));
    fields
}

fn json_of(value: &Value) -> Json {
    match value {
        Value::String(text) => Json::String(text.clone()),
        Value::Integer(number) => Json::from(*number),
        Value::Float(number) => Json::from(*number),
        Value::Boolean(is) => Json::Bool(*is),
        Value::Array(items) => items.iter().map(json_of).collect(),
        Value::Datetime(time) => Json::String(time.to_string()),
        Value::Table(fields) => {
            let fields = fields.iter();
            fields
                .map(|(name, value)| (name.clone(), json_of(value)))
                .collect()
        }
    }
}

/// Words of all levels. The words of a recognizer that is removed go with it.
fn words(table: Table, before: &Declared, after: &mut Declared, prune: bool) -> anyhow::Result<()> {
    let mut changes = policy::changes_of(table)?;
    if prune {
        take_back(before, &mut changes);
    }
    let mut known = before.stored_recognizers();
    known.extend(after.stored_recognizers());
    known.sort_by(|one, other| one.code.cmp(&other.code));
    known.dedup_by(|one, other| one.code == other.code);
    let kinds = Kinds::of(&known);
    let (words, _) = changes
        .over(&before.words, (after.detection(), &kinds))
        .context(POLICY)?;
    after.words = words;
    after.words.mode = after.mode;
    let gone = before.recognizers.keys();
    for code in gone.filter(|code| !after.recognizers.contains_key(*code)) {
        after.words = after.words.without(code);
    }
    Ok(())
}

/// Adds that words are taken back which the changes do not name.
fn take_back(before: &Declared, changes: &mut LevelChanges) {
    let words = &before.words;
    for kind in words.account.keys() {
        changes.account.entry(kind.clone()).or_insert(None);
    }
    for (name, group) in &words.groups {
        let of = changes.groups.entry(name.to_string()).or_default();
        for kind in group.keys() {
            of.entry(kind.clone()).or_insert(None);
        }
    }
    for (id, key) in &words.keys {
        let of = changes.keys.entry(id.clone()).or_default();
        for kind in key.policy.keys() {
            of.entry(kind.clone()).or_insert(None);
        }
    }
    changes.keys.retain(|_, words| !words.is_empty());
}

fn groups(table: &Table, after: &mut Declared, prune: bool) -> anyhow::Result<()> {
    let mut of_keys = BTreeMap::new();
    for (name, value) in table {
        let ids = value
            .as_array()
            .with_context(|| format!("{GROUPS}.{name} is not a list of keys"))?;
        for id in ids {
            let id = id
                .as_str()
                .with_context(|| format!("{GROUPS}.{name} is not a list of keys"))?;
            ensure!(
                after.words.at(PolicyLevel::Key(id)).is_some(),
                "{GROUPS}.{name}: there is no API key {id}"
            );
            if of_keys.insert(id.to_owned(), name.as_str()).is_some() {
                bail!("{GROUPS}: the key {id} is named twice");
            }
        }
    }
    for (id, key) in &mut after.words.keys {
        match of_keys.get(id) {
            Some(name) => key.group = Some((*name).into()),
            None if prune => key.group = None,
            None => {}
        }
    }
    Ok(())
}

fn fallbacks(table: &Table, after: &mut Declared, prune: bool) -> anyhow::Result<()> {
    if prune {
        after.fallbacks.clear();
    }
    for (model, value) in table {
        let place = || format!("{FALLBACKS}.{model}");
        let targets = value.as_array().into_iter().flatten();
        let targets: Option<Vec<String>> = targets
            .map(|target| target.as_str().map(str::to_owned))
            .collect();
        let targets = targets.filter(|targets| !targets.is_empty());
        let targets = targets.with_context(|| format!("{} is not a list of models", place()))?;
        fallback::check(model, &targets).with_context(place)?;
        after.fallbacks.insert(model.clone(), targets);
    }
    Ok(())
}

fn providers(table: &Table, after: &mut Declared, prune: bool, site: &Site) -> anyhow::Result<()> {
    if prune {
        after.providers.retain(|name, _| table.contains_key(name));
    }
    for (name, value) in table {
        let place = format!("{PROVIDERS}.{name}");
        ensure!(is_provider_name(name), "{place} is no name of a provider");
        let given = value
            .as_table()
            .with_context(|| format!("{place} is not a table"))?;
        let before = after.providers.get(name);
        let mut fields = before.map(provider).unwrap_or_default();
        fields.extend(given.clone());
        let known = serde_json::to_value(ProviderConfig::new(phigate_types::ProviderKind::OpenAi));
        let known = known.unwrap_or_default();
        let unknown = fields
            .keys()
            .find(|field| known.get(field.as_str()).is_none());
        if let Some(unknown) = unknown {
            bail!("{place}.{unknown}: there is no such field");
        }
        let config = serde_json::from_value(json_of(&Value::Table(fields)));
        let config: ProviderConfig = config
            .map_err(|error| anyhow::anyhow!("{place} cannot be read: {}", field_of(&error)))?;
        if before == Some(&config) {
            continue;
        }
        let stored = site.providers.iter().find(|stored| stored.name == *name);
        let fits = |stored: &&ProviderInfo| {
            let is_same =
                stored.config.kind == config.kind && stored.config.auth() == config.auth();
            stored.has_secret && is_same
        };
        let secret = match stored.filter(fits) {
            Some(_) => GivenSecret::Stored,
            None => GivenSecret::Missing,
        };
        check_setup(&config, secret, site.rules).with_context(|| {
            format!("{place}; a secret is never in a file: phigate provider set {name} --key-stdin")
        })?;
        after.providers.insert(name.clone(), config);
    }
    Ok(())
}

/// The first words of an error about a field, without the value.
fn field_of(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let end = text.find(['`', '"', ',']).unwrap_or(text.len());
    text[..end].trim().to_owned()
}

fn allowed(table: &Table, after: &mut Declared, prune: bool) -> anyhow::Result<()> {
    for hash in table.keys() {
        ensure!(
            after.allowed.contains_key(hash),
            "{ALLOW}: a file has hashes alone, and the value of one is not stored here; add it with phigate allow add"
        );
    }
    if prune {
        after.allowed.retain(|hash, _| table.contains_key(hash));
    }
    Ok(())
}
