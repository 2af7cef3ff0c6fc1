//! A value that fits a schema, made of the prompt's words if possible.

use serde_json::{Value, json};

/// Limits on the depth of a schema and on the number of its values, because a schema may contain itself.
const DEPTH_MAX: usize = 8;
const VALUES_MAX: usize = 256;

/// A value that fits.
pub(super) fn value(schema: &Value, said: &str) -> Value {
    let mut filler = Filler {
        root: schema,
        said,
        values_left: VALUES_MAX,
    };
    filler.fill(schema, "", 0)
}

struct Filler<'a> {
    root: &'a Value,
    said: &'a str,
    values_left: usize,
}

impl<'a> Filler<'a> {
    fn fill(&mut self, schema: &'a Value, name: &str, depth: usize) -> Value {
        let schema = self.resolve(schema);
        if let Some(fixed) = schema.get("const").or_else(|| schema["enum"].get(0)) {
            return fixed.clone();
        }
        self.values_left = self.values_left.saturating_sub(1);
        if depth > DEPTH_MAX || self.values_left == 0 {
            return Value::Null;
        }
        let first = ["anyOf", "oneOf", "allOf"]
            .iter()
            .find_map(|key| schema[*key].get(0));
        if let Some(first) = first {
            return self.fill(first, name, depth + 1);
        }
        let kind = schema["type"]
            .as_str()
            .or_else(|| schema["type"][0].as_str())
            .unwrap_or("object");
        match kind.to_ascii_lowercase().as_str() {
            "string" => json!(text(self.said, name)),
            "integer" | "number" => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
            "boolean" => json!(true),
            "array" => match schema.get("items") {
                Some(items) => json!([self.fill(items, name, depth + 1)]),
                None => json!([]),
            },
            "object" => {
                let members = schema["properties"].as_object().into_iter().flatten();
                members
                    .map(|(key, inner)| (key.clone(), self.fill(inner, key, depth + 1)))
                    .collect()
            }
            _ => Value::Null,
        }
    }

    /// Follows a reference inside the same document.
    fn resolve(&self, schema: &'a Value) -> &'a Value {
        let target = schema["$ref"]
            .as_str()
            .and_then(|path| self.root.pointer(path.strip_prefix('#')?));
        target.unwrap_or(schema)
    }
}

/// A city if the name asks for a place, and otherwise the prompt.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recursive_schema_is_filled() {
        let members: serde_json::Map<String, Value> = (0..50)
            .map(|number| (format!("p{number}"), json!({"$ref": "#"})))
            .collect();
        let filled = value(&json!({"type": "object", "properties": members}), "Hello");
        assert!(filled.is_object() && filled.to_string().len() < 100_000);
    }
}
