//! A value that fits a schema, made from the words of the prompt where that is easy.

use serde_json::{Map, Value, json};

/// How deep a schema is followed.
const DEPTH_MAX: usize = 8;

/// A value that fits.
pub(super) fn value(schema: &Value, said: &str) -> Value {
    fill(schema, schema, said, "", 0)
}

fn fill(schema: &Value, root: &Value, said: &str, name: &str, depth: usize) -> Value {
    let schema = resolve(schema, root);
    if let Some(fixed) = schema.get("const").or_else(|| schema["enum"].get(0)) {
        return fixed.clone();
    }
    if let Some(first) = ["anyOf", "oneOf", "allOf"]
        .iter()
        .find_map(|key| schema[*key].get(0))
    {
        return fill(first, root, said, name, depth + 1);
    }
    let kind = schema["type"]
        .as_str()
        .or_else(|| schema["type"][0].as_str())
        .unwrap_or("object");
    match kind.to_ascii_lowercase().as_str() {
        "string" => json!(text(said, name)),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        "boolean" => json!(true),
        "array" if depth < DEPTH_MAX && schema.get("items").is_some() => {
            json!([fill(&schema["items"], root, said, name, depth + 1)])
        }
        "array" => json!([]),
        "object" if depth < DEPTH_MAX => {
            let members = schema["properties"].as_object().into_iter().flatten();
            Value::Object(
                members
                    .map(|(key, inner)| (key.clone(), fill(inner, root, said, key, depth + 1)))
                    .collect::<Map<_, _>>(),
            )
        }
        "object" => json!({}),
        _ => Value::Null,
    }
}

/// Follows a reference inside the same document.
fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let target = schema["$ref"]
        .as_str()
        .and_then(|path| root.pointer(path.strip_prefix('#')?));
    target.unwrap_or(schema)
}

/// A place if one is asked for, and otherwise the prompt.
fn text(said: &str, name: &str) -> String {
    let is_place = ["city", "place", "location", "town"]
        .iter()
        .any(|word| name.to_lowercase().contains(word));
    if is_place {
        let after = said.split(" in ").nth(1).unwrap_or("Springfield");
        return after
            .split(|letter: char| !letter.is_alphanumeric())
            .next()
            .unwrap_or_default()
            .to_owned();
    }
    said.chars().take(80).collect()
}
