//! Answers of the admin API: entries with their tags, lists in pages, and refusals.

use axum::response::{IntoResponse, Response};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use phigate_edge::{EdgeError, ErrorBody};
use phigate_store::StoreError;
use phigate_types::ErrorCode;
use serde_json::{Value, json};

use crate::cli::NeedsReason;

/// Entries in a page of a list, if the call does not say.
const PAGE: usize = 100;
/// Most entries in a page.
const PAGE_MAX: usize = 1_000;

/// Fields that change by use and not by a setting: an entry's tag does not depend on them.
const VOLATILE: [&str; 7] = [
    "hits",
    "lag_records",
    "lag_s",
    "last_login",
    "last_used",
    "state",
    "has_totp",
];

/// A call that was refused.
#[derive(Debug)]
pub(super) struct Refusal {
    body: Box<ErrorBody>,
    /// Methods for `Allow`.
    allow: Option<String>,
}

impl From<ErrorBody> for Refusal {
    fn from(body: ErrorBody) -> Self {
        Self {
            body: Box::new(body),
            allow: None,
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = self.body.into_response();
        let allow = self
            .allow
            .and_then(|allow| HeaderValue::from_str(&allow).ok());
        if let Some(allow) = allow {
            response.headers_mut().insert(header::ALLOW, allow);
        }
        response
    }
}

impl Refusal {
    /// No such path or entry.
    pub(super) fn not_found() -> Self {
        EdgeError::NotFound.body().into()
    }

    /// An entry that cannot be changed is there with other values.
    pub(super) fn exists() -> Self {
        let message = "the entry exists with other values, and cannot be changed: delete it first";
        Self::precondition(message)
    }

    fn precondition(message: &'static str) -> Self {
        let (status, code) = (
            StatusCode::PRECONDITION_FAILED,
            ErrorCode::PreconditionFailed,
        );
        ErrorBody::new(status, code, message).into()
    }

    /// A field that is wrong.
    pub(super) fn field(
        code: ErrorCode,
        param: impl Into<String>,
        words: impl std::fmt::Display,
    ) -> Self {
        let param = param.into();
        let message = format!("{param} {words}");
        Self::about(code, Some(param), message)
    }

    fn about(code: ErrorCode, param: Option<String>, message: String) -> Self {
        let mut body = ErrorBody::new(StatusCode::BAD_REQUEST, code, message);
        body.param = param;
        body.into()
    }
}

/// A method that the path does not support.
pub(super) fn wrong_method(allowed: &str) -> Refusal {
    let mut refusal = Refusal::from(EdgeError::MethodNotAllowed.body());
    refusal.allow = Some(allowed.to_owned());
    refusal
}

impl From<clap::Error> for Refusal {
    /// An option that the command line refuses. Only its name and the reason are repeated.
    fn from(error: clap::Error) -> Self {
        let option = match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(option)) => Some(option.clone()),
            Some(ContextValue::Strings(options)) => options.first().cloned(),
            _ => None,
        };
        let param = option.map(|option| param(&option));
        let named = param.clone().unwrap_or_else(|| "the body".to_owned());
        let (code, words) = match error.kind() {
            ErrorKind::MissingRequiredArgument => {
                let code = ErrorCode::MissingRequiredParameter;
                (code, "is required".to_owned())
            }
            _ => {
                let source = std::error::Error::source(&error);
                let words = source.map(|source| format!("is not valid: {source}"));
                let words = words.unwrap_or_else(|| "is not valid".to_owned());
                (ErrorCode::InvalidValue, words)
            }
        };
        Self::about(code, param, format!("{named} {words}"))
    }
}

/// The field of an option such as `--base-url <URL>` or `<NAME>`.
fn param(option: &str) -> String {
    let word = option.split([' ', '=']).next().unwrap_or_default();
    let word = word.trim_matches(|character| "-<>[]".contains(character));
    match word.to_lowercase().replace('-', "_").as_str() {
        "key_stdin" => "key".to_owned(),
        "password_stdin" => "password".to_owned(),
        name => name.to_owned(),
    }
}

impl From<anyhow::Error> for Refusal {
    fn from(error: anyhow::Error) -> Self {
        if error.is::<NeedsReason>() {
            let code = ErrorCode::MissingRequiredParameter;
            return Self::about(code, Some("reason".to_owned()), error.to_string());
        }
        let store = error
            .chain()
            .find_map(|cause| cause.downcast_ref::<StoreError>());
        match store {
            Some(StoreError::NotFound("provider key")) | None => {
                Self::about(ErrorCode::InvalidValue, None, format!("{error:#}"))
            }
            Some(StoreError::NotFound(_)) => Self::not_found(),
            Some(StoreError::Conflict(_)) => {
                Self::precondition("the entry exists already or was changed at the same moment")
            }
            Some(StoreError::Invalid { .. } | StoreError::LegalHold) => {
                Self::about(ErrorCode::InvalidValue, None, format!("{error:#}"))
            }
            Some(_) => {
                tracing::warn!("a call of the admin API failed: {error:#}");
                let code = ErrorCode::AuditUnavailable;
                let message = "the store does not answer: nothing was changed";
                ErrorBody::new(StatusCode::SERVICE_UNAVAILABLE, code, message).into()
            }
        }
    }
}

/// Conditions of a call about the entry as it is.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    /// Tags of `If-Match`; `*` matches every entry.
    matches: Option<Vec<String>>,
    /// Whether `If-None-Match: *` asks for no entry.
    is_absent: bool,
}

impl Conditions {
    /// Reads the conditions of a call.
    pub(super) fn read(headers: &HeaderMap) -> Result<Self, Refusal> {
        let wrong = |name: &str| {
            let words = "takes entity tags in quotes, separated by commas, or *";
            Refusal::field(ErrorCode::InvalidValue, name, words)
        };
        let text = |name| headers.get(name).map(|value: &HeaderValue| value.to_str());
        let matches = match text(header::IF_MATCH).transpose() {
            Err(_) => return Err(wrong("If-Match")),
            Ok(None) => None,
            Ok(Some(text)) => Some(tags(text).ok_or_else(|| wrong("If-Match"))?),
        };
        let is_absent = match text(header::IF_NONE_MATCH).transpose() {
            Ok(None) => false,
            Ok(Some(text)) if text.trim() == "*" => true,
            _ => return Err(wrong("If-None-Match")),
        };
        Ok(Self { matches, is_absent })
    }

    /// Refuses a call whose conditions do not hold.
    pub(super) fn check(&self, entry: Option<&Value>) -> Result<(), Refusal> {
        let tag = entry.map(tag);
        let is_matched = match (&self.matches, &tag) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(tags), Some(tag)) => tags.iter().any(|wanted| wanted == "*" || wanted == tag),
        };
        if is_matched && !(self.is_absent && tag.is_some()) {
            return Ok(());
        }
        Err(Refusal::precondition(
            "the entry is not as If-Match or If-None-Match says: read it again",
        ))
    }
}

/// The tags of a header; `None` if it is malformed. Weak tags never match a condition for a change.
fn tags(text: &str) -> Option<Vec<String>> {
    let is_tag = |tag: &str| {
        let tag = tag.strip_prefix("W/").unwrap_or(tag);
        tag.len() >= 2 && tag.starts_with('"') && tag.ends_with('"')
    };
    let tags: Vec<String> = text.split(',').map(|tag| tag.trim().to_owned()).collect();
    tags.iter()
        .all(|tag| tag == "*" || is_tag(tag))
        .then_some(tags)
}

/// The tag of an entry: it changes with every change of a setting.
fn tag(entry: &Value) -> String {
    let mut entry = entry.clone();
    if let Some(fields) = entry.as_object_mut() {
        fields.retain(|name, _| !VOLATILE.contains(&name.as_str()));
    }
    let digest =
        aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, entry.to_string().as_bytes());
    let hex: String = digest.as_ref()[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("\"{hex}\"")
}

/// An entry with its tag.
pub(super) fn entry(status: StatusCode, value: &Value) -> Response {
    let mut response = (status, axum::Json(value)).into_response();
    if let Ok(tag) = HeaderValue::from_str(&tag(value)) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// An entry that is no longer there.
pub(super) fn gone() -> Response {
    StatusCode::NO_CONTENT.into_response()
}

/// A page of a list, by the names of its entries.
pub(super) fn list(mut entries: Vec<(String, Value)>, query: &str) -> Result<Response, Refusal> {
    let (mut limit, mut after) = (PAGE, None);
    for (name, value) in form(query) {
        match name.as_str() {
            "limit" => {
                let number = value.parse().ok();
                limit = number
                    .filter(|number| (1..=PAGE_MAX).contains(number))
                    .ok_or_else(|| {
                        let words = format!("takes a number from 1 to {PAGE_MAX}");
                        Refusal::field(ErrorCode::InvalidValue, "limit", words)
                    })?;
            }
            "after" => after = Some(value),
            _ => {
                let words = "is not a parameter of this list; there are limit and after";
                return Err(Refusal::field(ErrorCode::InvalidValue, "query", words));
            }
        }
    }
    entries.sort_by(|one, other| one.0.cmp(&other.0));
    let start = after.map_or(0, |after| entries.partition_point(|(id, _)| *id <= after));
    let has_more = entries.len() > start + limit;
    let page: Vec<(String, Value)> = entries.into_iter().skip(start).take(limit).collect();
    let next = page.last().filter(|_| has_more).map(|(id, _)| id.clone());
    let items: Vec<Value> = page.into_iter().map(|(_, value)| value).collect();
    Ok(axum::Json(json!({ "items": items, "next": next })).into_response())
}

/// The pairs of a query.
pub(super) fn form(query: &str) -> impl Iterator<Item = (String, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let text = |text: &str| decoded(&text.replace('+', " ")).unwrap_or_default();
        (text(name), text(value))
    })
}

/// Text of an address without its escapes; `None` if it is not text.
pub(super) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
        bytes.push((high * 16 + low) as u8);
    }
    let text = String::from_utf8(bytes).ok()?;
    (!text.chars().any(char::is_control)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_addresses_are_decoded() {
        assert_eq!(decoded("a%40b.example").as_deref(), Some("a@b.example"));
        for text in ["%00", "%", "%4", "%zz", "%ff"] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }

    #[test]
    fn option_gives_its_field() {
        for (option, field) in [
            ("--base-url <URL>", "base_url"),
            ("<NAME>", "name"),
            ("--key-stdin", "key"),
            ("[TARGET]", "target"),
        ] {
            assert_eq!(param(option), field);
        }
    }

    #[test]
    fn use_does_not_change_the_tag() {
        let tag_of = |value: Value| tag(&value);
        let before = tag_of(json!({"name": "a", "last_used": null}));
        assert_eq!(tag_of(json!({"name": "a", "last_used": "now"})), before);
        assert_ne!(tag_of(json!({"name": "b", "last_used": null})), before);
    }

    #[test]
    fn conditions_compare_strong_tags() {
        let value = json!({"name": "a"});
        let right = tag(&value);
        for (text, holds) in [
            (right.clone(), true),
            (format!("\"other\", {right}"), true),
            ("*".to_owned(), true),
            ("\"other\"".to_owned(), false),
            (format!("W/{right}"), false),
        ] {
            let conditions = Conditions {
                matches: tags(&text),
                is_absent: false,
            };
            assert_eq!(conditions.check(Some(&value)).is_ok(), holds, "{text}");
            assert!(conditions.check(None).is_err(), "{text}");
        }
        assert!(tags("kit").is_none() && tags("").is_none());
    }

    #[test]
    fn list_is_read_in_pages() {
        let entries = || {
            let names = ["c", "a", "b"];
            names.map(|name| (name.to_owned(), json!(name))).to_vec()
        };
        assert!(list(entries(), "limit=2&after=a").is_ok());
        for query in ["limit=0", "limit=x", "limit=1001", "account=default"] {
            assert!(list(entries(), query).is_err(), "{query}");
        }
    }
}
