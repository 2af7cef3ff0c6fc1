//! Models as callers list them, in OpenAI's words or in Anthropic's.

use http::HeaderMap;
use serde_json::{Value, json};

/// Whether a caller speaks Anthropic's format on a path that serves two formats.
pub(crate) fn is_anthropic(headers: &HeaderMap) -> bool {
    headers.contains_key("anthropic-version")
}

/// A list of models with the provider that serves each.
pub(crate) fn openai_list<'m>(models: impl Iterator<Item = (&'m str, &'m str)>) -> Value {
    let data: Vec<Value> = models
        .map(|(owner, model)| openai_model(owner, model))
        .collect();
    json!({ "object": "list", "data": data })
}

/// One model.
pub(crate) fn openai_model(owner: &str, model: &str) -> Value {
    json!({ "id": model, "object": "model", "created": 0, "owned_by": owner })
}

/// A list of models, all on one page.
pub(crate) fn anthropic_list<'m>(models: impl Iterator<Item = &'m str>) -> Value {
    let data: Vec<Value> = models.map(anthropic_model).collect();
    let id = |model: Option<&Value>| model.map_or(Value::Null, |model| model["id"].clone());
    let (first_id, last_id) = (id(data.first()), id(data.last()));
    json!({ "data": data, "has_more": false, "first_id": first_id, "last_id": last_id })
}

/// One model. When it was made is not known here, and 1970 is how the format says so.
pub(crate) fn anthropic_model(model: &str) -> Value {
    json!({
        "type": "model",
        "id": model,
        "display_name": model,
        "created_at": "1970-01-01T00:00:00Z",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anthropics_list_names_its_ends() {
        let list = anthropic_list(["claude-a", "claude-b"].into_iter());
        assert_eq!(list["first_id"], "claude-a");
        assert_eq!(list["last_id"], "claude-b");
        assert_eq!(list["data"][1]["type"], "model");
        let none = anthropic_list(std::iter::empty());
        assert_eq!(
            (&none["first_id"], &none["data"]),
            (&Value::Null, &json!([]))
        );
    }
}
