//! From the fields of a body to the words of a command.

use clap::ArgAction;
use clap::builder::{Arg, ValueParser};
use phigate_store::SecretString;
use phigate_types::ErrorCode;
use serde_json::{Map, Value};

use super::Asked;
use super::answer::{Refusal, form};
use super::table::{Body, Name, Work};
use crate::cli::{self, Session};

/// Fields whose value is read from standard input on the command line, and the option that says so.
pub(super) const SECRETS: [(&str, &str); 3] = [
    ("key", "key_stdin"),
    ("password", "password_stdin"),
    ("client_secret", "client_secret_stdin"),
];

/// Longest value of a field, in bytes.
const VALUE_BYTES_MAX: usize = 64 * 1024;

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A string, or a list of strings.
    Text,
    /// A list of strings, each of which may hold commas.
    List,
    /// A whole number.
    Number,
    /// `true` or `false`.
    Switch,
}

/// A field of a body, as the command's description has it.
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) words: String,
    pub(super) is_required: bool,
    pub(super) is_secret: bool,
    /// Option such as `--base-url`; `None` for an argument without a name.
    option: Option<String>,
}

/// The fields of a command, without those that the address or the call gives.
pub(super) fn fields(words: &[&str], has_name: bool) -> Vec<Field> {
    let described = cli::described();
    let mut command = &described;
    for word in words.iter().filter(|word| !word.starts_with('-')) {
        let Some(found) = command.find_subcommand(word) else {
            return Vec::new();
        };
        command = found;
    }
    let is_given = |arg: &Arg| {
        let long = arg.get_long().map(|long| format!("--{long}"));
        long.is_some_and(|long| words.contains(&long.as_str()))
    };
    let positionals = command.get_positionals().map(Arg::get_id);
    let name = positionals.take(usize::from(has_name)).next().cloned();
    let arguments = command.get_arguments();
    arguments
        .filter(|arg| Some(arg.get_id()) != name.as_ref() && !is_given(arg))
        .map(field)
        .collect()
}

fn field(arg: &Arg) -> Field {
    let id = arg.get_id().as_str();
    let secret = SECRETS.iter().find(|(_, option)| *option == id);
    let is_number = |parser: &ValueParser| {
        let ids = [
            ValueParser::from(clap::value_parser!(u32)).type_id(),
            ValueParser::from(clap::value_parser!(u64)).type_id(),
        ];
        ids.contains(&parser.type_id())
    };
    let kind = match secret {
        Some(_) => Kind::Text,
        None if !arg.get_action().takes_values() => Kind::Switch,
        None if is_number(arg.get_value_parser()) => Kind::Number,
        None if is_repeated(arg) => Kind::List,
        None => Kind::Text,
    };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    Field {
        name: secret.map_or(id, |(name, _)| name).to_owned(),
        kind,
        words: help,
        is_required: arg.is_required_set(),
        is_secret: secret.is_some(),
        option: arg.get_long().map(|long| format!("--{long}")),
    }
}

/// Whether an option is given once for each value, because values may hold commas.
fn is_repeated(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Append)
        && arg.get_value_delimiter().is_none()
        && arg.get_long().is_some()
}

/// Takes the secret of a command out of a body.
pub(super) fn take_secret(
    command: &[&str],
    body: &mut Map<String, Value>,
) -> Result<Option<SecretString>, Refusal> {
    let known = fields(command, false);
    for field in known.iter().filter(|field| field.is_secret) {
        let name = field.name.as_str();
        match body.get_mut(name) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => {
                // The field stays, to say that there is a secret.
                let text = std::mem::take(text);
                if text.is_empty() {
                    let code = ErrorCode::InvalidValue;
                    return Err(Refusal::field(code, name, "is empty"));
                }
                return Ok(Some(SecretString::new(text)));
            }
            // The JSON of credentials.
            Some(value @ Value::Object(_)) => {
                let text = value.to_string();
                *value = Value::String(String::new());
                return Ok(Some(SecretString::new(text)));
            }
            Some(_) => {
                let code = ErrorCode::InvalidType;
                return Err(Refusal::field(code, name, "must be a string"));
            }
        }
    }
    Ok(None)
}

/// The words of a call's command; `None` if there is nothing to change.
pub(super) async fn words(
    session: &Session,
    asked: &Asked<'_>,
    command: &[&str],
    body: &Map<String, Value>,
    query: &str,
) -> Result<Option<Vec<String>>, Refusal> {
    let Work::Run {
        name, body: form, ..
    } = &asked.call.work
    else {
        return Ok(None);
    };
    let mut words: Vec<String> = vec!["phigate".to_owned()];
    words.extend(command.iter().map(|word| (*word).to_owned()));
    let mut arguments = Vec::new();
    if let (Name::First, Some(name)) = (name, &asked.name) {
        arguments.push(name.clone());
    }
    if let (Name::Option(option), Some(name)) = (name, &asked.name) {
        words.push(format!("{option}={name}"));
    }
    match form {
        Body::None => words.extend(from_query(command, query)?),
        Body::Options => {
            let (options, rest) = options(command, *name == Name::First, body)?;
            words.extend(options);
            arguments.extend(rest);
        }
        Body::Value => {
            let (options, value) = assigned(asked, body)?;
            words.extend(options);
            arguments.push(value);
        }
        Body::Words => {
            let changes = changes(session, asked, body).await?;
            let Some((options, changes)) = changes else {
                return Ok(None);
            };
            words.extend(options);
            arguments.push(changes);
        }
    }
    words.push("--".to_owned());
    words.extend(arguments);
    Ok(Some(words))
}

/// Options of a call without a body: a reason, or that the last owner may go.
fn from_query(command: &[&str], query: &str) -> Result<Vec<String>, Refusal> {
    let known = fields(command, true);
    form(query)
        .map(|(name, value)| {
            let field = known.iter().find(|field| field.name == name);
            match field.and_then(|field| Some((field.kind, field.option.as_ref()?))) {
                Some((Kind::Switch, option)) if value == "true" => Ok(option.clone()),
                Some((Kind::Text, option)) => Ok(format!("{option}={value}")),
                _ => {
                    let words = "has a parameter that this call does not take";
                    Err(Refusal::field(ErrorCode::InvalidValue, "query", words))
                }
            }
        })
        .collect()
}

/// Options and further arguments of a command, from the fields of a body.
fn options(
    command: &[&str],
    has_name: bool,
    body: &Map<String, Value>,
) -> Result<(Vec<String>, Vec<String>), Refusal> {
    let known = fields(command, has_name);
    if let Some(name) = body
        .keys()
        .find(|name| known.iter().all(|field| field.name != **name))
    {
        let words = "is not a field of this call";
        return Err(Refusal::field(ErrorCode::InvalidValue, shown(name), words));
    }
    let (mut options, mut arguments) = (Vec::new(), Vec::new());
    for field in &known {
        let value = body.get(&field.name).filter(|value| !value.is_null());
        let Some(value) = value else { continue };
        if let (Kind::List, Some(option)) = (field.kind, &field.option) {
            let texts = list_of(field, value)?.into_iter();
            options.extend(texts.map(|text| format!("{option}={text}")));
            continue;
        }
        let text = text_of(field, value)?;
        match (&field.option, text) {
            (_, None) => {}
            (Some(option), Some(_)) if field.is_secret || field.kind == Kind::Switch => {
                options.push(option.clone());
            }
            (Some(option), Some(text)) => options.push(format!("{option}={text}")),
            (None, Some(text)) => arguments.push(text),
        }
    }
    Ok((options, arguments))
}

/// The texts of a list: an array, one string, or an object of lists, whose names become `NAME=VALUE`.
fn list_of(field: &Field, value: &Value) -> Result<Vec<String>, Refusal> {
    let wrong = || {
        let words = "must be a string, a list of strings or an object of such lists";
        Refusal::field(ErrorCode::InvalidType, &field.name, words)
    };
    let texts = |value: &Value| match value {
        Value::String(text) => Ok(vec![text.clone()]),
        Value::Array(items) => {
            let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<_>>>().ok_or_else(wrong)
        }
        _ => Err(wrong()),
    };
    let mut all = Vec::new();
    match value {
        Value::Object(named) => {
            for (name, value) in named {
                let named = texts(value)?.into_iter();
                all.extend(named.map(|text| format!("{name}={text}")));
            }
        }
        value => all = texts(value)?,
    }
    let is_fine = |text: &String| text.len() <= VALUE_BYTES_MAX && !text.contains('\0');
    match all.iter().all(is_fine) {
        true => Ok(all),
        false => {
            let words = "is too long, or holds a character that is not text";
            Err(Refusal::field(ErrorCode::InvalidValue, &field.name, words))
        }
    }
}

/// The text of a field's value; `None` for a switch that is off.
fn text_of(field: &Field, value: &Value) -> Result<Option<String>, Refusal> {
    let wrong = |words: &str| Err(Refusal::field(ErrorCode::InvalidType, &field.name, words));
    let text = match (field.kind, value) {
        (Kind::Switch, Value::Bool(is_on)) => return Ok(is_on.then(String::new)),
        (Kind::Switch, _) => return wrong("must be true or false"),
        (Kind::Number, Value::Number(number)) => number.to_string(),
        (Kind::Number, _) => return wrong("must be a whole number"),
        (Kind::Text, Value::String(text)) => text.clone(),
        (Kind::Text, Value::Array(items)) => {
            let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            match texts {
                Some(texts) => texts.join(","),
                None => return wrong("must be a string or a list of strings"),
            }
        }
        (Kind::Text | Kind::List, _) => return wrong("must be a string or a list of strings"),
    };
    if text.len() > VALUE_BYTES_MAX || text.contains('\0') {
        let words = "is too long, or holds a character that is not text";
        return Err(Refusal::field(ErrorCode::InvalidValue, &field.name, words));
    }
    Ok(Some(text))
}

/// `NAME=VALUE` of a setting, and the reason as an option.
fn assigned(
    asked: &Asked<'_>,
    body: &Map<String, Value>,
) -> Result<(Vec<String>, String), Refusal> {
    let (mut value, mut options) = (None, Vec::new());
    for (name, given) in body {
        match (name.as_str(), given) {
            ("value", Value::String(text)) => value = Some(text.clone()),
            ("value", Value::Bool(is_on)) => value = Some(if *is_on { "on" } else { "off" }.into()),
            ("value", Value::Number(number)) => value = Some(number.to_string()),
            ("value", Value::Null) => value = Some(String::new()),
            ("value", Value::Array(items)) => {
                let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
                let texts = texts.ok_or_else(|| {
                    Refusal::field(ErrorCode::InvalidType, "value", "must be a list of strings")
                })?;
                value = Some(texts.join(","));
            }
            ("reason", Value::String(text)) => options.push(format!("--reason={text}")),
            ("value" | "reason", _) => {
                let words = "has the wrong type";
                return Err(Refusal::field(ErrorCode::InvalidType, name, words));
            }
            _ => {
                let words = "is not a field of this call";
                return Err(Refusal::field(ErrorCode::InvalidValue, shown(name), words));
            }
        }
    }
    let missing = || Refusal::field(ErrorCode::MissingRequiredParameter, "value", "is required");
    let value = value.ok_or_else(missing)?;
    let name = asked.name.as_deref().unwrap_or_default();
    Ok((options, format!("{name}={value}")))
}

/// Changes that lead from the words of a level to those of the body, and the reason as an option.
async fn changes(
    session: &Session,
    asked: &Asked<'_>,
    body: &Map<String, Value>,
) -> Result<Option<(Vec<String>, String)>, Refusal> {
    let stored = session.vault.accounts.policy(&asked.admission.account_id);
    let stored = stored.await.map_err(anyhow::Error::from)?;
    let now: Vec<String> = match &asked.name {
        None => stored.account.keys().map(ToString::to_string).collect(),
        Some(group) => {
            let words = stored.groups.get(group.as_str());
            words.map(|words| words.keys().map(ToString::to_string).collect())
        }
        .unwrap_or_default(),
    };
    let (mut wanted, mut options) = (Vec::new(), Vec::new());
    let words = match (&asked.name, body.get("words")) {
        (Some(_), Some(Value::Object(words))) => words.clone(),
        (Some(_), None) => Map::new(),
        (None, _) => body.clone(),
        (Some(_), Some(_)) => {
            let words = "must be an object";
            return Err(Refusal::field(ErrorCode::InvalidType, "words", words));
        }
    };
    if let Some(name) = body.keys().find(|name| {
        asked.name.is_some() && !["words", "reason", "name", "keys"].contains(&name.as_str())
    }) {
        let words = "is not a field of this call";
        return Err(Refusal::field(ErrorCode::InvalidValue, shown(name), words));
    }
    if let Some(reason) = body.get("reason") {
        let reason = reason
            .as_str()
            .ok_or_else(|| Refusal::field(ErrorCode::InvalidType, "reason", "must be a string"))?;
        options.push(format!("--reason={reason}"));
    }
    for (kind, word) in words.iter().filter(|(kind, _)| *kind != "reason") {
        let word = word.as_str().ok_or_else(|| {
            Refusal::field(ErrorCode::InvalidType, shown(kind), "must be a string")
        })?;
        wanted.push(format!("{kind}={word}"));
    }
    let is_kept = |kind: &String| words.contains_key(kind);
    let taken_back = now.iter().filter(|kind| !is_kept(kind));
    wanted.extend(taken_back.map(|kind| format!("{kind}=inherit")));
    Ok((!wanted.is_empty()).then(|| (options, wanted.join(","))))
}

/// Whether the fields of a body say what an entry has.
pub(super) fn is_same(entry: &Value, body: &Map<String, Value>) -> bool {
    body.iter()
        .filter(|(name, _)| SECRETS.iter().all(|(secret, _)| secret != name))
        .all(|(name, value)| match (&entry[name.as_str()], value) {
            (Value::Array(items), Value::String(text)) => {
                let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                items.join(",") == *text
            }
            (stored, value) => stored == value,
        })
}

/// A field's name in an error: it is the caller's text.
fn shown(name: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || character == '_';
    match name.len() <= 40 && name.chars().all(is_plain) {
        true => name.to_owned(),
        false => "a field".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(body: &Value) -> Result<(Vec<String>, Vec<String>), Refusal> {
        let body = body.as_object().unwrap();
        options(&["provider", "set"], true, body)
    }

    #[test]
    fn fields_become_options() {
        let body = json!({"kind": "openai", "models": ["a", "b"], "priority": 7, "key": ""});
        let (options, arguments) = read(&body).unwrap();
        for option in [
            "--kind=openai",
            "--models=a,b",
            "--priority=7",
            "--key-stdin",
        ] {
            assert!(
                options.iter().any(|known| known == option),
                "{option}: {options:?}"
            );
        }
        assert!(arguments.is_empty());
    }

    #[test]
    fn wrong_types_are_refused() {
        for body in [
            json!({"kind": 7}),
            json!({"priority": "7"}),
            json!({"models": 7}),
            json!({"models": [1]}),
            json!({"kit": 1}),
            json!({"name": "other"}),
        ] {
            assert!(read(&body).is_err(), "{body}");
        }
    }

    #[test]
    fn secret_is_taken_out_of_the_body() {
        let mut body = json!({"key": "sk-invented"}).as_object().unwrap().clone();
        let secret = take_secret(&["provider", "set"], &mut body)
            .unwrap()
            .unwrap();
        assert_eq!(secret.expose(), "sk-invented");
        assert_eq!(body["key"], "");
        let mut wrong = json!({"key": 7}).as_object().unwrap().clone();
        assert!(take_secret(&["provider", "set"], &mut wrong).is_err());
        // The `key` of a token issuer is a key id, not a secret.
        let mut id = json!({"key": "abcdefghijkl"}).as_object().unwrap().clone();
        assert!(take_secret(&["jwt", "set"], &mut id).unwrap().is_none());
    }
}
