//! Definition of a recognizer, as an owner writes it.

use std::fmt;

use phi_detect::PhiKind;
use serde_json::{Map, Value, json};

use super::check::{CHECKS, Check};

/// Characters of the longest pattern.
const PATTERN_MAX: usize = 500;

/// Limits of the lists.
const WORDS_MAX: usize = 500;
const LABELS_MAX: usize = 20;
const EXAMPLES_MAX: usize = 50;

/// Characters of the longest word, label and example.
const WORD_MAX: usize = 100;
const EXAMPLE_MAX: usize = 1000;

/// Field of texts in which no value is found.
pub const NOT_FOUND: &str = "not_found";

/// Fields of a definition.
const FIELDS: [&str; 9] = [
    "code",
    "label",
    "pattern",
    "words",
    "labels",
    "require_label",
    "check",
    "found",
    NOT_FOUND,
];

/// A kind of PHI that an account defines, and how its values are found.
#[derive(Clone)]
pub struct Definition {
    /// The kind.
    pub kind: PhiKind,
    /// The name people read.
    pub label: String,
    pub(super) finds: Finds,
    /// Words that introduce a value.
    pub(super) labels: Vec<String>,
    /// Whether a value counts only behind one of these words.
    pub(super) require_label: bool,
    pub(super) check: &'static Check,
    /// Texts in which a value is found.
    pub(super) found: Vec<String>,
    /// Texts in which no value is found.
    pub(super) not_found: Vec<String>,
}

/// Values to find.
#[derive(Clone)]
pub(super) enum Finds {
    /// A regular expression.
    Pattern(String),
    /// These words.
    Words(Vec<String>),
}

/// Shows the code alone. Examples may hold what they are examples of.
impl fmt::Debug for Definition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Definition({})", self.kind.code())
    }
}

/// The reason why a definition is refused, with the field. Never repeats what the field says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongDefinition {
    /// The field.
    pub field: &'static str,
    /// The reason.
    pub why: String,
}

impl fmt::Display for WrongDefinition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.field, self.why)
    }
}

impl std::error::Error for WrongDefinition {}

pub(super) fn wrong(field: &'static str, why: impl Into<String>) -> WrongDefinition {
    let why = why.into();
    WrongDefinition { field, why }
}

impl Definition {
    /// Reads a definition from its fields. The examples are not tried: see [`super::Recognizer::new`].
    pub fn read(fields: &Map<String, Value>) -> Result<Self, WrongDefinition> {
        if let Some(unknown) = fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
            let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
            let name = match unknown.len() <= WORD_MAX && unknown.chars().all(is_plain) {
                true => unknown,
                false => "of the file",
            };
            let known = FIELDS.join(", ");
            let why = format!("{name} is unknown; there are {known}");
            return Err(wrong("field", why));
        }
        let code = text(fields, "code")?.ok_or_else(|| wrong("code", "is missing"))?;
        let kind = PhiKind::own(code).ok_or_else(|| {
            wrong(
                "code",
                "must be x_ and up to 30 lower-case letters, digits and underscores, such as x_study",
            )
        })?;
        let label = text(fields, "label")?.unwrap_or(code);
        if label.trim().is_empty() || label.chars().count() > WORD_MAX {
            return Err(wrong("label", format!("has 1 to {WORD_MAX} characters")));
        }
        let labels = texts(fields, "labels", LABELS_MAX, WORD_MAX)?.unwrap_or_default();
        let require_label = match fields.get("require_label") {
            None => false,
            Some(Value::Bool(is)) => *is,
            Some(_) => return Err(wrong("require_label", "must be true or false")),
        };
        if require_label && labels.is_empty() {
            return Err(wrong("require_label", "needs labels"));
        }
        let given = |name, list: Option<Vec<String>>| match list {
            Some(list) if !list.is_empty() => Ok(list),
            _ => Err(wrong(name, "needs at least one example")),
        };
        let found = texts(fields, "found", EXAMPLES_MAX, EXAMPLE_MAX)?;
        let not_found = texts(fields, NOT_FOUND, EXAMPLES_MAX, EXAMPLE_MAX)?;
        Ok(Self {
            kind,
            label: label.to_owned(),
            finds: finds(fields)?,
            labels,
            require_label,
            check: check(fields)?,
            found: given("found", found)?,
            not_found: given(NOT_FOUND, not_found)?,
        })
    }

    /// The definition as it is stored, which [`Definition::read`] reads.
    pub fn fields(&self) -> Value {
        let mut fields = json!({
            "code": self.kind.code(),
            "label": self.label,
            "labels": self.labels,
            "require_label": self.require_label,
            "check": self.check.code,
            "found": self.found,
            NOT_FOUND: self.not_found,
        });
        match &self.finds {
            Finds::Pattern(pattern) => fields["pattern"] = json!(pattern),
            Finds::Words(words) => fields["words"] = json!(words),
        }
        fields
    }
}

fn finds(fields: &Map<String, Value>) -> Result<Finds, WrongDefinition> {
    let pattern = text(fields, "pattern")?;
    let words = texts(fields, "words", WORDS_MAX, WORD_MAX)?;
    match (pattern, words) {
        (Some(_), Some(_)) => Err(wrong(
            "pattern",
            "cannot stand beside words: give one of them",
        )),
        (None, None) => Err(wrong("pattern", "or words must be given")),
        (Some(""), None) => Err(wrong("pattern", "is empty")),
        (Some(pattern), None) if pattern.chars().count() > PATTERN_MAX => {
            let why = format!("is longer than {PATTERN_MAX} characters");
            Err(wrong("pattern", why))
        }
        (Some(pattern), None) => Ok(Finds::Pattern(pattern.to_owned())),
        (None, Some(words)) => {
            let is_word = |word: &String| word.contains(char::is_alphanumeric);
            match !words.is_empty() && words.iter().all(is_word) {
                true => Ok(Finds::Words(words)),
                false => Err(wrong("words", "needs words, each with a letter or digit")),
            }
        }
    }
}

fn check(fields: &Map<String, Value>) -> Result<&'static Check, WrongDefinition> {
    let Some(code) = text(fields, "check")? else {
        return Ok(&CHECKS[0]);
    };
    let known = CHECKS.iter().find(|check| check.code == code);
    known.ok_or_else(|| {
        let codes: Vec<&str> = CHECKS.iter().map(|check| check.code).collect();
        wrong("check", format!("must be one of {}", codes.join(", ")))
    })
}

fn text<'f>(
    fields: &'f Map<String, Value>,
    name: &'static str,
) -> Result<Option<&'f str>, WrongDefinition> {
    match fields.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(wrong(name, "must be a text")),
    }
}

fn texts(
    fields: &Map<String, Value>,
    name: &'static str,
    count_max: usize,
    length_max: usize,
) -> Result<Option<Vec<String>>, WrongDefinition> {
    let Some(value) = fields.get(name) else {
        return Ok(None);
    };
    let refused = || {
        let why =
            format!("must be a list of at most {count_max} texts of up to {length_max} characters");
        wrong(name, why)
    };
    let list = value.as_array().filter(|list| list.len() <= count_max);
    let text = |value: &Value| {
        let text = value.as_str()?;
        (text.chars().count() <= length_max).then(|| text.to_owned())
    };
    let list: Option<Vec<String>> = list.ok_or_else(refused)?.iter().map(text).collect();
    list.map(Some).ok_or_else(refused)
}
