//! JSON Schema in the subset that older Gemini models understand: no references, no alternatives but `anyOf`, one type.

use crate::json::Json;
use std::borrow::Cow;

/// The depth up to which references are followed. A recursive schema would not terminate otherwise.
const DEPTH_MAX: usize = 24;

/// Bound on the number of expanded schemas. Branching `$ref`s would not terminate otherwise.
const SCHEMAS_MAX: usize = 4_096;

/// Keywords with the same meaning in the subset.
const KEPT: &[&str] = &[
    "description",
    "enum",
    "format",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "nullable",
    "pattern",
    "required",
    "title",
];

/// Annotations: keywords that do not constrain the value.
const SILENT: &[&str] = &[
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "definitions",
    "additionalProperties",
    "default",
    "examples",
    "strict",
];

/// The schema in the subset, and whether nothing was lost.
pub(super) fn subset<'b>(schema: &Json<'b>) -> (Json<'b>, bool) {
    let mut translator = Translator {
        root: schema,
        schemas_left: SCHEMAS_MAX,
        is_whole: true,
    };
    let translated = translator.translate(schema, 0);
    (translated, translator.is_whole)
}

struct Translator<'r, 'b> {
    root: &'r Json<'b>,
    schemas_left: usize,
    is_whole: bool,
}

impl<'b> Translator<'_, 'b> {
    fn translate(&mut self, schema: &Json<'b>, depth: usize) -> Json<'b> {
        let mut out: Vec<(Cow<'b, str>, Json<'b>)> = Vec::new();
        if depth > DEPTH_MAX {
            self.is_whole = false;
            return Json::object([("type", Json::text("object"))]);
        }
        self.collect(schema, depth, &mut out);
        Json::Object(out)
    }

    fn collect(
        &mut self,
        schema: &Json<'b>,
        depth: usize,
        out: &mut Vec<(Cow<'b, str>, Json<'b>)>,
    ) {
        let Some(left) = self.schemas_left.checked_sub(1) else {
            self.is_whole = false;
            return;
        };
        self.schemas_left = left;
        for (name, value) in schema.members() {
            match name.as_ref() {
                "$ref" => match self.resolve(value) {
                    Some(target) if depth < DEPTH_MAX => self.collect(&target, depth + 1, out),
                    _ => self.is_whole = false,
                },
                "allOf" => {
                    for part in value.items() {
                        self.collect(part, depth + 1, out);
                    }
                }
                "type" => self.put_type(value, out),
                "const" => self.put_choices(std::slice::from_ref(value), out),
                "enum" => self.put_choices(value.items(), out),
                "anyOf" | "oneOf" => self.put_alternatives(value.items(), depth, out),
                "properties" => {
                    let properties = value
                        .members()
                        .iter()
                        .map(|(key, property)| (key.clone(), self.translate(property, depth + 1)))
                        .collect();
                    put(out, "properties", Json::Object(properties));
                }
                "items" => {
                    let items = self.translate(value, depth + 1);
                    put(out, "items", items);
                }
                kept if KEPT.contains(&kept) => put(out, name.clone(), value.clone()),
                silent if SILENT.contains(&silent) => {}
                _ => self.is_whole = false,
            }
        }
    }

    /// Writes a list of types as one type, with `nullable` for null.
    fn put_type(&mut self, value: &Json<'b>, out: &mut Vec<(Cow<'b, str>, Json<'b>)>) {
        let mut types: Vec<&Json<'b>> = value
            .items()
            .iter()
            .filter(|kind| kind.as_text() != Some("null"))
            .collect();
        if value.items().len() > types.len() {
            put(out, "nullable", true.into());
        }
        if value.as_text().is_some() {
            types.push(value);
        }
        self.is_whole &= types.len() == 1;
        if let Some(kind) = types.first() {
            put(out, "type", (*kind).clone());
        }
    }

    /// Writes the choices, which must be texts in the subset.
    fn put_choices(&mut self, values: &[Json<'b>], out: &mut Vec<(Cow<'b, str>, Json<'b>)>) {
        let texts: Vec<Json<'b>> = values
            .iter()
            .filter(|value| value.as_text().is_some())
            .cloned()
            .collect();
        if values.iter().any(|value| matches!(value, Json::Null)) {
            put(out, "nullable", true.into());
        }
        self.is_whole &= values
            .iter()
            .all(|value| matches!(value, Json::Null | Json::Text(_)));
        if !texts.is_empty() {
            put(out, "type", Json::text("string"));
            put(out, "enum", Json::List(texts));
        }
    }

    /// Writes alternatives. Null becomes `nullable`; a single remaining alternative is inlined.
    fn put_alternatives(
        &mut self,
        items: &[Json<'b>],
        depth: usize,
        out: &mut Vec<(Cow<'b, str>, Json<'b>)>,
    ) {
        let others: Vec<&Json<'b>> = items
            .iter()
            .filter(|item| item.text_of("type") != Some("null"))
            .collect();
        if others.len() < items.len() {
            put(out, "nullable", true.into());
        }
        if let [only] = others.as_slice() {
            self.collect(only, depth + 1, out);
        } else {
            let others = others
                .into_iter()
                .map(|item| self.translate(item, depth + 1))
                .collect();
            put(out, "anyOf", Json::List(others));
        }
    }

    /// The target of a reference inside the same document.
    fn resolve(&self, reference: &Json<'b>) -> Option<Json<'b>> {
        let path = reference.as_text()?.strip_prefix("#/")?;
        path.split('/')
            .try_fold(self.root, |place, key| {
                place.get(&key.replace("~1", "/").replace("~0", "~"))
            })
            .cloned()
    }
}

fn put<'b>(
    out: &mut Vec<(Cow<'b, str>, Json<'b>)>,
    name: impl Into<Cow<'b, str>>,
    value: Json<'b>,
) {
    let name = name.into();
    let Some((_, known)) = out.iter_mut().find(|(known, _)| *known == name) else {
        out.push((name, value));
        return;
    };
    // Parts of `allOf` add up.
    match (known, value) {
        (Json::List(known), Json::List(more)) => known.extend(more),
        (Json::Object(known), Json::Object(more)) => known.extend(more),
        (known, value) => *known = value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_that_the_provider_refuses_are_translated() {
        for (schema, expected, is_whole) in [
            (
                r#"{"$schema":"x","type":["string","null"],"const":"a"}"#,
                r#"{"nullable":true,"type":"string","enum":["a"]}"#,
                true,
            ),
            (
                r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"integer"}},"additionalProperties":false}"##,
                r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#,
                true,
            ),
            (
                r#"{"allOf":[{"type":"object","required":["a"]},{"required":["b"]}]}"#,
                r#"{"type":"object","required":["a","b"]}"#,
                true,
            ),
            (
                r#"{"oneOf":[{"type":"number"},{"type":"null"}]}"#,
                r#"{"nullable":true,"type":"number"}"#,
                true,
            ),
            (
                r#"{"oneOf":[{"type":"number"},{"type":"string"}]}"#,
                r#"{"anyOf":[{"type":"number"},{"type":"string"}]}"#,
                true,
            ),
            (
                r#"{"type":"array","items":{"type":"string"},"uniqueItems":true}"#,
                r#"{"type":"array","items":{"type":"string"}}"#,
                false,
            ),
            (
                r#"{"type":["string","number"]}"#,
                r#"{"type":"string"}"#,
                false,
            ),
        ] {
            let (subset, whole) = subset(&Json::read(schema.as_bytes()).expect("the row is JSON"));
            assert_eq!(
                (subset.to_json_text().as_str(), whole),
                (expected, is_whole),
                "{schema}"
            );
        }
    }

    #[test]
    fn a_schema_that_contains_itself_ends() {
        let many: Vec<String> = (0..50)
            .map(|number| format!(r##""p{number}":{{"$ref":"#"}}"##))
            .collect();
        for schema in [
            r##"{"type":"object","properties":{"next":{"$ref":"#"},"child":{"$ref":"#/properties/child"}}}"##.to_owned(),
            format!(r##"{{"type":"object","properties":{{{}}}}}"##, many.join(",")),
            r##"{"allOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}]}"##.to_owned(),
        ] {
            let schema = Json::read(schema.as_bytes()).expect("the row is JSON");
            let (subset, is_whole) = subset(&schema);
            assert!(!is_whole && subset.to_bytes().len() < 1_000_000);
        }
    }
}
