//! `POST /analyze`: finds the entities in a text, or in each text of a list.

use std::borrow::Cow;
use std::collections::HashSet;

use phigate_types::ErrorCode;
use serde::Serialize;

use crate::doors::CHAT;
use crate::json::{Bounds, Kind, Value};
use crate::protect::{Found, ScannedDocument, scan_plain};
use crate::request::RequestError;
use crate::service::fields::{given, object, of_kind, strings, wrong_type, wrong_value};
use crate::service::{Answer, Answered, Refused, ServiceContext};
use crate::text::PhiText;

use super::entities;

/// The supported language.
const LANGUAGE: &str = "en";

/// Answers `/analyze`. Fields that only tune Presidio's recognisers (`context`, `correlation_id`, …) are ignored;
/// fields that would add findings are refused.
pub fn analyze(context: &ServiceContext<'_>, body: Vec<u8>) -> Answered {
    let asked = object(body, context.bounds)?;
    let wanted = Wanted::read(&asked.root())?;
    let text = text(&asked.root())?;
    // Only the texts are scanned: the other fields may quote PHI on purpose, such as an allow list.
    let content = object(
        format!("{{\"text\":{}}}", text.raw()).into_bytes(),
        Bounds::NONE,
    )?;
    let scanned = scan_plain(context.scanner, CHAT.form, content);
    let report = scanned.report().clone();
    if !report.is_complete() {
        return Err(Refused::unfinished(&report));
    }
    let body = PhiText::new(wanted.answer(&scanned));
    Ok(Answer { body, report })
}

/// The options of a request.
struct Wanted<'d> {
    /// The entities to find; all if absent.
    entities: Option<HashSet<Cow<'d, str>>>,
    score_min: f64,
    allowed: HashSet<Cow<'d, str>>,
    explains: bool,
}

impl<'d> Wanted<'d> {
    fn read(root: &Value<'d>) -> Result<Self, RequestError> {
        language(root)?;
        for name in ["ad_hoc_recognizers", "allow_list_match"] {
            refuse_what_we_lack(root, name)?;
        }
        let entities = words(root, "entities")?.filter(|names| !names.is_empty());
        let score_min = match given(root, "score_threshold") {
            None => 0.0,
            Some(score) => score
                .number()
                .ok_or_else(|| wrong_type("score_threshold", "a number"))?,
        };
        Ok(Self {
            entities,
            score_min,
            allowed: words(root, "allow_list")?.unwrap_or_default(),
            explains: given(root, "return_decision_process").is_some_and(|flag| is_true(&flag)),
        })
    }

    fn answer(&self, scanned: &ScannedDocument) -> String {
        let document = scanned.document();
        let text = document.root().get("text").unwrap_or(document.root());
        let written = if text.kind() == Kind::Array {
            let lists: Vec<_> = text
                .values()
                .map(|one| self.results(scanned, &one))
                .collect();
            serde_json::to_string(&lists)
        } else {
            serde_json::to_string(&self.results(scanned, &text))
        };
        written.expect("words and numbers always serialise")
    }

    fn results(&self, scanned: &ScannedDocument, text: &Value<'_>) -> Vec<Entity> {
        let content = text.string().unwrap_or_default();
        let found = scanned.found_in(text).into_iter();
        found
            .filter(|one| self.wants(one, &content))
            .map(|one| Entity::new(&one, self.explains))
            .collect()
    }

    fn wants(&self, found: &Found<'_>, text: &str) -> bool {
        let name = entities::name_of(found.finding.kind);
        let is_asked_for = self
            .entities
            .as_ref()
            .is_none_or(|names| names.contains(name));
        let exact = text.get(found.finding.span.clone()).unwrap_or_default();
        is_asked_for
            && found.finding.rounded_score() >= self.score_min
            && !self.allowed.contains(exact)
    }
}

fn text<'d>(root: &Value<'d>) -> Result<Value<'d>, RequestError> {
    let missing = || {
        let message = "No text provided";
        RequestError::field(ErrorCode::MissingRequiredParameter, "text", message)
    };
    let text = given(root, "text").ok_or_else(missing)?;
    match text.kind() {
        Kind::String if text.string().is_some_and(|text| text.is_empty()) => Err(missing()),
        Kind::Array if text.values().next().is_none() => Err(missing()),
        Kind::String => Ok(text),
        Kind::Array => strings(&text, "text").map(|()| text),
        _ => Err(wrong_type("text", "a string or an array of strings")),
    }
}

fn language(root: &Value<'_>) -> Result<(), RequestError> {
    let Some(language) = given(root, "language") else {
        let message = "No language provided";
        let code = ErrorCode::MissingRequiredParameter;
        return Err(RequestError::field(code, "language", message));
    };
    of_kind(&language, Kind::String, "language", "a string")?;
    supports(&language.string().unwrap_or_default())
}

/// Refuses an unsupported language.
pub fn supports(language: &str) -> Result<(), RequestError> {
    if language == LANGUAGE {
        return Ok(());
    }
    Err(wrong_value(
        "language",
        "must be en: no other language is supported",
    ))
}

/// Refuses recognisers of the caller and allow lists of patterns, which are not supported.
fn refuse_what_we_lack(root: &Value<'_>, name: &str) -> Result<(), RequestError> {
    let Some(value) = given(root, name) else {
        return Ok(());
    };
    let is_harmless = match name {
        "allow_list_match" => {
            value.string().is_some_and(|word| word == "exact")
                || given(root, "allow_list").is_none_or(|list| list.values().next().is_none())
        }
        _ => value.values().next().is_none(),
    };
    let words = match name {
        "allow_list_match" => "must be exact: patterns are not supported",
        _ => "is not supported: site formats of record numbers are a setting of the account",
    };
    if is_harmless {
        Ok(())
    } else {
        Err(wrong_value(name, words))
    }
}

fn words<'d>(root: &Value<'d>, name: &str) -> Result<Option<HashSet<Cow<'d, str>>>, RequestError> {
    let Some(list) = given(root, name) else {
        return Ok(None);
    };
    strings(&list, name)?;
    Ok(Some(
        list.values().filter_map(|word| word.string()).collect(),
    ))
}

/// Whether a flag is true; like Presidio, this accepts 1 too.
fn is_true(flag: &Value<'_>) -> bool {
    flag.bool()
        .unwrap_or_else(|| flag.number().is_some_and(|number| number != 0.0))
}

/// A finding in Presidio's form, with its order of keys.
#[derive(Serialize)]
struct Entity {
    analysis_explanation: Option<Explanation>,
    end: usize,
    entity_type: &'static str,
    score: f64,
    start: usize,
}

/// The explanation of a finding. Findings do not come from Presidio's patterns or context words, so those fields are
/// empty.
#[derive(Serialize)]
struct Explanation {
    original_score: f64,
    pattern: Option<&'static str>,
    pattern_name: &'static str,
    recognizer: &'static str,
    regex_flags: Option<u32>,
    score: f64,
    score_context_improvement: f64,
    supportive_context_word: &'static str,
    textual_explanation: String,
    validation_result: Option<bool>,
}

impl Entity {
    fn new(found: &Found<'_>, explains: bool) -> Self {
        let (finding, score) = (found.finding, found.finding.rounded_score());
        Self {
            analysis_explanation: explains.then(|| Explanation {
                original_score: score,
                pattern: None,
                pattern_name: finding.rule,
                recognizer: entities::recognizer_of(finding.kind),
                regex_flags: None,
                score,
                score_context_improvement: 0.0,
                supportive_context_word: "",
                textual_explanation: format!(
                    "found by the rule {} of {}",
                    finding.rule,
                    phi_detect::VERSION
                ),
                validation_result: None,
            }),
            end: found.end,
            entity_type: entities::name_of(finding.kind),
            score,
            start: found.start,
        }
    }
}
