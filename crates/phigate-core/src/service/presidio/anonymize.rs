//! `POST /anonymize`: replaces the entities that it is given.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::json::{Kind, Value};
use crate::protect::Report;
use crate::request::RequestError;
use crate::service::fields::{given, missing, object, of_kind, wrong_type, wrong_value};
use crate::service::{Answer, Answered, ServiceContext};
use crate::text::PhiText;

use super::entities;
use super::operators::{self, Hash, Operator};
use super::overlap::{Given, settle};

/// The key of the operator for entities without an operator.
const DEFAULT: &str = "DEFAULT";

/// Answers `/anonymize`. Nothing is scanned: the report repeats the given entities.
pub fn anonymize(context: &ServiceContext<'_>, body: Vec<u8>, hash: Hash) -> Answered {
    let asked = object(body, context.bounds)?;
    let root = asked.root();
    let text = match given(&root, "text") {
        Some(text) => {
            of_kind(&text, Kind::String, "text", "a string")?;
            text.string().unwrap_or_default()
        }
        None => "".into(),
    };
    let configs = configs(&root)?;
    let given = results(&root)?;
    let report = report(context, &given, text.len());
    let offsets = Offsets::of(&text, &given)?;
    let is_blank = |from: usize, to: usize| {
        let between = offsets.slice(&text, from, to);
        !between.is_empty() && between.bytes().all(|byte| byte == b' ')
    };
    let settled = settle(given, is_blank);
    let changed = change(&text, &offsets, &settled, &configs, hash)?;
    let body = serde_json::to_string(&changed).expect("texts and numbers always serialise");
    let body = PhiText::new(body);
    Ok(Answer { body, report })
}

/// The answer of `/anonymize`.
#[derive(Serialize)]
struct Changed {
    text: String,
    items: Vec<Item>,
}

/// One entity in the new text.
#[derive(Serialize)]
struct Item {
    start: usize,
    end: usize,
    entity_type: String,
    text: String,
    operator: &'static str,
}

/// The operators by entity, unparsed. Each is parsed when it is used, as in Presidio.
fn configs<'d>(root: &Value<'d>) -> Result<BTreeMap<String, Value<'d>>, RequestError> {
    let mut configs = BTreeMap::new();
    let Some(all) = given(root, "anonymizers") else {
        return Ok(configs);
    };
    of_kind(&all, Kind::Object, "anonymizers", "an object")?;
    for config in all.values() {
        operators::kind_of(&config, &place_of(&config))?;
        let name = config.key().and_then(|key| key.string());
        configs.insert(name.unwrap_or_default().into_owned(), config);
    }
    Ok(configs)
}

/// The path of an operator. Its key is text of the caller, so the path has its position.
fn place_of(config: &Value<'_>) -> String {
    format!("anonymizers.{{{}}}", config.position())
}

fn results(root: &Value<'_>) -> Result<Vec<Given>, RequestError> {
    const LIST: &str = "analyzer_results";
    let list = given(root, LIST).ok_or_else(|| missing(LIST))?;
    of_kind(&list, Kind::Array, LIST, "an array")?;
    let results = list.values().enumerate();
    results
        .map(|(index, result)| result_at(&result, &format!("{LIST}[{index}]")))
        .collect()
}

fn result_at(result: &Value<'_>, at: &str) -> Result<Given, RequestError> {
    of_kind(result, Kind::Object, at, "an object")?;
    let whole = |name: &str| {
        let number = given(result, name).and_then(|value| value.number());
        let number = number.filter(|number| number.fract() == 0.0 && *number >= 0.0);
        let wrong = || wrong_type(format_args!("{at}.{name}"), "a whole number from 0");
        number.map(|number| number as usize).ok_or_else(wrong)
    };
    let (start, end) = (whole("start")?, whole("end")?);
    if start > end {
        let words = "must not be before its start";
        return Err(wrong_value(format_args!("{at}.end"), words));
    }
    let entity = given(result, "entity_type").and_then(|name| name.string());
    let entity = entity.filter(|name| !name.is_empty());
    let score = given(result, "score").and_then(|score| score.number());
    Ok(Given {
        entity: entity
            .ok_or_else(|| wrong_type(format_args!("{at}.entity_type"), "a name"))?
            .into_owned(),
        start,
        end,
        score: score.ok_or_else(|| wrong_type(format_args!("{at}.score"), "a number"))?,
    })
}

/// Reports the given entities, for the record. An unknown name may be any text, so it is not repeated.
fn report(context: &ServiceContext<'_>, given: &[Given], text_bytes: usize) -> Report {
    let known = given.iter().filter_map(|one| {
        let kind = entities::kind_of(context.scanner.detector(), &one.entity)?;
        Some((kind, one.start..one.end, one.score))
    });
    Report::given(context.scanner, "text", text_bytes, known)
}

/// Byte offsets of all code points at which the text or an entity begins or ends, found in one pass.
struct Offsets(BTreeMap<usize, usize>);

impl Offsets {
    fn of(text: &str, given: &[Given]) -> Result<Self, RequestError> {
        let places = given.iter().flat_map(|one| [one.start, one.end]);
        let places = std::iter::once(0).chain(places);
        let mut offsets: BTreeMap<usize, usize> = places.map(|point| (point, 0)).collect();
        let length = || text.chars().count();
        let mut letters = text.char_indices();
        let mut passed = 0;
        for (point, byte) in &mut offsets {
            *byte = match letters.nth(point - passed) {
                Some((byte, _)) => byte,
                None if *point == length() => text.len(),
                None => return Err(beyond(given, length())),
            };
            passed = point + 1;
        }
        Ok(Self(offsets))
    }

    fn byte(&self, point: usize) -> usize {
        self.0.get(&point).copied().unwrap_or_default()
    }

    fn slice<'t>(&self, text: &'t str, from: usize, to: usize) -> &'t str {
        text.get(self.byte(from)..self.byte(to)).unwrap_or_default()
    }
}

fn beyond(given: &[Given], length: usize) -> RequestError {
    let index = given.iter().position(|one| one.end > length);
    let at = format!("analyzer_results[{}].end", index.unwrap_or_default());
    wrong_value(at, &format!("lies behind the end of the text, at {length}"))
}

/// Replaces the entities by the operators' results. If two overlap in part, the first ends at the start of the second.
fn change(
    text: &str,
    offsets: &Offsets,
    settled: &[Given],
    configs: &BTreeMap<String, Value<'_>>,
    hash: Hash,
) -> Result<Changed, RequestError> {
    let (mut out, mut points, mut copied) = (String::with_capacity(text.len()), 0, 0);
    let mut items = Vec::with_capacity(settled.len());
    let mut read: BTreeMap<&str, Operator> = BTreeMap::new();
    for (index, one) in settled.iter().enumerate() {
        let before = offsets.slice(text, copied, one.start);
        out.push_str(before);
        points += before.chars().count();
        let next = settled.get(index + 1).map_or(one.end, |next| next.start);
        copied = one.end.min(next);
        if !read.contains_key(one.entity.as_str()) {
            read.insert(&one.entity, operator(configs, &one.entity)?);
        }
        let operator = &read[one.entity.as_str()];
        let exact = offsets.slice(text, one.start, one.end);
        let stand_in = operator.apply(&one.entity, exact, hash);
        let start = points;
        points += stand_in.chars().count();
        out.push_str(&stand_in);
        items.push(Item {
            start,
            end: points,
            entity_type: one.entity.clone(),
            text: stand_in,
            operator: operator.name(),
        });
    }
    out.push_str(&text[offsets.byte(copied)..]);
    // Presidio replaces from the end, and lists its items in that order.
    items.reverse();
    Ok(Changed { text: out, items })
}

fn operator(configs: &BTreeMap<String, Value<'_>>, entity: &str) -> Result<Operator, RequestError> {
    let config = configs.get(entity).or_else(|| configs.get(DEFAULT));
    match config {
        Some(config) => Operator::read(config, &place_of(config)),
        None => Ok(Operator::Replace(None)),
    }
}
