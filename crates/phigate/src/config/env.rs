//! Environment variables over the settings file: `PHIGATE_LIMITS_BODY_BYTES` is `limits.body_bytes`.

use phigate_types::LIMIT_NAMES;
use toml::{Table, Value};

use super::ConfigError;

/// The type of a variable's value.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    /// Text that an empty value unsets. An image names a place of the key, and orchestrators cannot remove variables.
    Place,
    Number,
    /// Number with a fraction.
    Share,
    Bool,
    /// Separated by commas.
    List,
}

/// Settings besides `[limits]`: section, key, kind.
const SETTINGS: &[(&str, &str, Kind)] = &[
    // In the order of phigate.example.toml.
    ("", "listen", Kind::Text),
    ("", "metrics_listen", Kind::Text),
    ("", "presidio_listen", Kind::Text),
    ("", "presidio_account", Kind::Text),
    ("", "behind_tls_proxy", Kind::Bool),
    ("", "trusted_proxies", Kind::List),
    ("", "public_hosts", Kind::List),
    ("", "data", Kind::Text),
    ("", "database_url", Kind::Text),
    ("", "master_key_file", Kind::Place),
    ("", "master_key_env", Kind::Place),
    ("", "master_key_command", Kind::Place),
    ("", "allow_private_providers", Kind::Bool),
    ("", "allow_ambient_credentials", Kind::Bool),
    ("", "provider_ca_file", Kind::Text),
    ("tls", "cert", Kind::Text),
    ("tls", "key", Kind::Text),
    ("log", "level", Kind::Text),
    ("log", "format", Kind::Text),
    ("store", "standbys", Kind::Number),
    ("checkpoint", "files", Kind::List),
    ("checkpoint", "command", Kind::Text),
    ("checkpoint", "every_s", Kind::Number),
    ("checkpoint", "every_records", Kind::Number),
    ("otel", "endpoint", Kind::Place),
    ("otel", "headers_file", Kind::Place),
    ("otel", "traces", Kind::Text),
    ("otel", "ratio", Kind::Share),
    ("otel", "propagate", Kind::Bool),
    ("alerts", "blocked_percent", Kind::Number),
    ("alerts", "blocked_requests", Kind::Number),
    ("alerts", "agreement_days", Kind::Number),
    ("alerts", "export_behind_s", Kind::Number),
    ("alerts", "verify_at_hour", Kind::Number),
];

/// Variables that are read elsewhere: the path of the settings file and the default account.
const READ_ELSEWHERE: &[&str] = &["PHIGATE_CONFIG", "PHIGATE_ACCOUNT"];

/// Turns `PHIGATE_*` variables into a table like the file's. Other variables are ignored.
///
/// `master_key_env` may name any variable that holds a secret, so that one is accepted here.
pub(super) fn table(
    variables: impl Iterator<Item = (String, String)>,
    master_key_env: Option<&str>,
) -> Result<Table, ConfigError> {
    let mut table = Table::new();
    let mut unknown = Vec::new();
    for (name, text) in variables {
        if !name.starts_with("PHIGATE_") || READ_ELSEWHERE.contains(&name.as_str()) {
            continue;
        }
        match find(&name) {
            Some((_, _, Kind::Place)) if text.is_empty() => {}
            Some((section, key, kind)) => {
                insert(&mut table, section, key, value(&name, &text, kind)?);
            }
            None => unknown.push(name),
        }
    }
    let key_variable = table
        .get("master_key_env")
        .and_then(Value::as_str)
        .or(master_key_env);
    match unknown
        .into_iter()
        .find(|name| Some(name.as_str()) != key_variable)
    {
        Some(name) => Err(ConfigError::UnknownVariable { name }),
        None => Ok(table),
    }
}

/// The section, key and type of a variable.
fn find(name: &str) -> Option<(&'static str, &'static str, Kind)> {
    if name == "PHIGATE_LOG" {
        return Some(("log", "level", Kind::Text));
    }
    let limits = LIMIT_NAMES.iter().map(|key| ("limits", *key, Kind::Number));
    SETTINGS
        .iter()
        .copied()
        .chain(limits)
        .find(|(section, key, _)| variable(section, key) == name)
}

/// The variable of a setting.
fn variable(section: &str, key: &str) -> String {
    let joined = if section.is_empty() {
        key.to_owned()
    } else {
        format!("{section}_{key}")
    };
    format!("PHIGATE_{}", joined.to_ascii_uppercase())
}

fn value(name: &str, text: &str, kind: Kind) -> Result<Value, ConfigError> {
    let wrong = |expected: &str| ConfigError::Value {
        key: name.to_owned(),
        expected: expected.to_owned(),
    };
    match kind {
        Kind::Text | Kind::Place => Ok(Value::String(text.to_owned())),
        Kind::Number => text
            .parse()
            .map(Value::Integer)
            .map_err(|_| wrong("a whole number")),
        Kind::Share => text
            .parse()
            .map(Value::Float)
            .map_err(|_| wrong("a number from 0 to 1")),
        Kind::Bool => match text {
            "true" | "1" => Ok(Value::Boolean(true)),
            "false" | "0" | "" => Ok(Value::Boolean(false)),
            _ => Err(wrong("true or false")),
        },
        Kind::List => {
            let items = text
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty());
            Ok(Value::Array(
                items.map(|item| Value::String(item.to_owned())).collect(),
            ))
        }
    }
}

fn insert(table: &mut Table, section: &str, key: &str, value: Value) {
    if section.is_empty() {
        table.insert(key.to_owned(), value);
        return;
    }
    let inner = table
        .entry(section)
        .or_insert_with(|| Value::Table(Table::new()));
    if let Value::Table(inner) = inner {
        inner.insert(key.to_owned(), value);
    }
}

/// All settings as `section.key`, for the test that keeps the example file complete.
#[cfg(test)]
pub(super) fn all_keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    let limits = LIMIT_NAMES.iter().map(|key| ("limits", *key));
    SETTINGS
        .iter()
        .map(|(section, key, _)| (*section, *key))
        .chain(limits)
}
