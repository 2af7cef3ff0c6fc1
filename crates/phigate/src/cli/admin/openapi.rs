//! The description of the admin API, made from its table and from the options of its commands.

use std::sync::LazyLock;

use axum::response::{IntoResponse, Response};
use http::header;
use phigate_types::{ErrorCode, Role};
use serde_json::{Map, Value, json};

use super::BASE;
use super::body::{Field, Kind, fields};
use super::table::{At, Body, Call, Name, Put, RESOURCES, Resource, Verb, Work};

/// The description, as an answer.
pub(super) fn description() -> Response {
    static TEXT: LazyLock<String> = LazyLock::new(|| written().to_string());
    let json = (header::CONTENT_TYPE, "application/json");
    ([json], TEXT.as_str()).into_response()
}

fn written() -> Value {
    let mut paths = Map::new();
    let describe = json!({
        "operationId": "describe",
        "summary": "This description",
        "responses": {
            "200": {"description": "OpenAPI", "content": {"application/json": {"schema": {"type": "object"}}}},
            "default": {"$ref": "#/components/responses/Error"},
        },
    });
    paths.insert(format!("{BASE}/openapi.json"), json!({ "get": describe }));
    for resource in RESOURCES {
        for call in resource.calls {
            let path = format!("{BASE}{}", resource.path(call));
            let item = paths.entry(path).or_insert_with(|| json!({}));
            item[call.verb.code().to_lowercase()] = operation(resource, call);
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "phigate admin API",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Sets what the command line sets. Keys: phigate admin-key create --role ROLE.",
        },
        "security": [{"adminKey": []}],
        "paths": paths,
        "components": components(),
    })
}

fn components() -> Value {
    let codes: Vec<&str> = ErrorCode::all().map(ErrorCode::code).collect();
    let text = json!({"type": "string"});
    let optional = json!({"type": ["string", "null"]});
    let mut error = Map::new();
    error.insert("message".to_owned(), text.clone());
    error.insert("type".to_owned(), text.clone());
    error.insert("param".to_owned(), optional);
    error.insert("code".to_owned(), json!({"type": "string", "enum": codes}));
    let names: Vec<&String> = error.keys().collect();
    let inner = json!({"type": "object", "required": names, "properties": error});
    let mut schemas = Map::new();
    let outer = json!({"type": "object", "required": ["error"], "properties": {"error": inner}});
    schemas.insert("Error".to_owned(), outer);
    for resource in RESOURCES {
        schemas.insert(schema_name(resource), entry_schema(resource));
    }
    json!({
        "securitySchemes": {
            "adminKey": {"type": "http", "scheme": "bearer", "description": "An admin key (pha_…)"},
        },
        "responses": {
            "Error": {
                "description": "Refused; nothing was changed",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
            },
        },
        "schemas": schemas,
    })
}

/// Name of the schema of an entry, such as `AdminKey`.
fn schema_name(resource: &Resource) -> String {
    let words = resource
        .one
        .split(' ')
        .filter(|word| *word != "of" && *word != "the");
    words.map(capital).collect()
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Schema of an entry: its name is required, further fields are added as commands get options.
fn entry_schema(resource: &Resource) -> Value {
    match resource.is_single {
        true => json!({"type": "object", "additionalProperties": true}),
        false => json!({
            "type": "object",
            "required": [resource.id],
            "properties": {resource.id: {"type": "string"}},
            "additionalProperties": true,
        }),
    }
}

fn operation(resource: &Resource, call: &Call) -> Value {
    let subject = match call.at {
        At::All if !call.sets() && !resource.is_single => resource.name.to_owned(),
        _ => resource.one.to_owned(),
    };
    let right = resource.right(call, None);
    let mut told = json!({
        "operationId": operation_id(resource, call),
        "summary": format!("{} the {subject}", capital(call.summary)),
        "description": format!("For keys with the role {}.", Role::labels_with(right)),
        "tags": [resource.name],
        "responses": responses(resource, call),
    });
    let parameters = parameters(resource, call);
    if !parameters.is_empty() {
        told["parameters"] = parameters.into();
    }
    if let Some(schema) = body(call) {
        told["requestBody"] =
            json!({"required": true, "content": {"application/json": {"schema": schema}}});
    }
    told
}

/// A name such as `setProvider` or `pauseExport`.
fn operation_id(resource: &Resource, call: &Call) -> String {
    let verb = match (call.at, call.verb) {
        (At::Act(act), _) => act,
        (At::All, Verb::Get) if !resource.is_single => "list",
        (_, Verb::Get) => "get",
        (_, Verb::Put) => "set",
        (_, Verb::Post) => "create",
        (_, Verb::Delete) => "delete",
    };
    let all = if verb == "list" { "s" } else { "" };
    format!("{verb}{}{all}", schema_name(resource))
}

fn parameters(resource: &Resource, call: &Call) -> Vec<Value> {
    let parameter = |name: &str, place: &str, schema: Value, words: &str| {
        let is_path = place == "path";
        json!({"name": name, "in": place, "required": is_path, "schema": schema, "description": words})
    };
    let text = || json!({"type": "string"});
    let mut told = Vec::new();
    if call.at != At::All {
        let words = format!("Name of the {}", resource.one);
        told.push(parameter(resource.id, "path", text(), &words));
    }
    if call.sets() && call.verb != Verb::Post {
        let words = "Change the entry only if it has this tag";
        told.push(parameter("If-Match", "header", text(), words));
    }
    if call.verb == Verb::Put {
        let words = "* to make a new entry only";
        told.push(parameter("If-None-Match", "header", text(), words));
    }
    if !call.sets() && call.at == At::All && !resource.is_single {
        let limit = json!({"type": "integer", "minimum": 1, "maximum": 1000});
        told.push(parameter("limit", "query", limit, "Entries in a page"));
        told.push(parameter(
            "after",
            "query",
            text(),
            "`next` of the page before",
        ));
    }
    if call.verb == Verb::Delete
        && let Work::Run { words, .. } = &call.work
    {
        for field in fields(words, true) {
            let (schema, words) = (property(&field), field.words.clone());
            told.push(parameter(&field.name, "query", schema, &words));
        }
    }
    told
}

fn responses(resource: &Resource, call: &Call) -> Value {
    let entry = json!({"$ref": format!("#/components/schemas/{}", schema_name(resource))});
    let is_list = !call.sets() && call.at == At::All && !resource.is_single;
    let schema = match is_list {
        true => json!({
            "type": "object",
            "required": ["items", "next"],
            "properties": {
                "items": {"type": "array", "items": entry},
                "next": {"type": ["string", "null"]},
            },
        }),
        false => entry,
    };
    let content = json!({"application/json": {"schema": schema}});
    let tag = json!({"ETag": {"schema": {"type": "string"}, "description": "Tag of the entry"}});
    let done = |words: &str| match is_list {
        true => json!({"description": words, "content": content}),
        false => json!({"description": words, "content": content, "headers": tag}),
    };
    let mut told = Map::new();
    match call.verb {
        Verb::Delete => {
            told.insert("204".to_owned(), json!({"description": "Removed"}));
        }
        Verb::Post => {
            told.insert("200".to_owned(), done("Done"));
            told.insert(
                "201".to_owned(),
                done("Created; a new key is shown this once"),
            );
        }
        Verb::Put => {
            told.insert("200".to_owned(), done("Set"));
            told.insert("201".to_owned(), done("Created"));
        }
        Verb::Get => {
            told.insert("200".to_owned(), done("As it is now"));
        }
    }
    let error = json!({"$ref": "#/components/responses/Error"});
    for status in ["400", "401", "403", "404", "412", "429", "503", "default"] {
        told.insert(status.to_owned(), error.clone());
    }
    told.into()
}

/// Schema of a body; `None` for a call without.
fn body(call: &Call) -> Option<Value> {
    let Work::Run {
        words,
        name,
        put,
        body,
    } = &call.work
    else {
        return None;
    };
    let reason = json!({"type": "string", "description": "Why, if protection becomes weaker"});
    let word = json!({"type": "string"});
    match body {
        Body::None => None,
        Body::Value => {
            let types = ["string", "boolean", "number", "array", "null"];
            let value = json!({"type": types, "items": {"type": "string"}});
            Some(json!({
                "type": "object",
                "required": ["value"],
                "properties": {"value": value, "reason": reason},
            }))
        }
        Body::Words if *name == Name::None => {
            let kinds =
                phi_detect::PhiKind::all().map(|kind| (kind.code().to_owned(), word.clone()));
            let mut properties: Map<String, Value> = kinds.collect();
            properties.insert("reason".to_owned(), reason);
            Some(json!({"type": "object", "properties": properties, "additionalProperties": word}))
        }
        Body::Words => {
            let words = json!({"type": "object", "additionalProperties": word});
            Some(json!({"type": "object", "properties": {"words": words, "reason": reason}}))
        }
        Body::Options => {
            let mut known = fields(words, *name == Name::First);
            if let Put::Anew(new) = put {
                let more = fields(new, *name == Name::First);
                let is_new = |field: &Field| known.iter().all(|known| known.name != field.name);
                let more: Vec<Field> = more.into_iter().filter(is_new).collect();
                known.extend(more);
            }
            Some(object(&known))
        }
    }
}

fn object(fields: &[Field]) -> Value {
    let described = |field: &Field| {
        let mut schema = property(field);
        schema["description"] = field.words.clone().into();
        if field.is_secret {
            schema["writeOnly"] = true.into();
        }
        (field.name.clone(), schema)
    };
    let properties: Map<String, Value> = fields.iter().map(described).collect();
    let required = fields.iter().filter(|field| field.is_required);
    let required: Vec<&str> = required.map(|field| field.name.as_str()).collect();
    let mut schema =
        json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

fn property(field: &Field) -> Value {
    match field.kind {
        Kind::Number => json!({"type": "integer", "minimum": 0}),
        Kind::Switch => json!({"type": "boolean"}),
        Kind::Text if field.is_secret => json!({"type": ["string", "object"]}),
        Kind::List => json!({
            "type": ["string", "array", "object"],
            "items": {"type": "string"},
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        }),
        Kind::Text => json!({"type": ["string", "array"], "items": {"type": "string"}}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_call_is_described_once() {
        let told = written();
        let calls = RESOURCES.iter().flat_map(|resource| resource.calls).count();
        let paths = told["paths"].as_object().unwrap().values();
        let operations: Vec<&Value> = paths
            .flat_map(|item| item.as_object().unwrap().values())
            .collect();
        let ids: BTreeSet<&str> = operations
            .iter()
            .map(|operation| operation["operationId"].as_str().unwrap())
            .collect();
        assert_eq!((operations.len(), ids.len()), (calls + 1, calls + 1));
    }

    #[test]
    fn options_of_commands_are_fields() {
        let told = written();
        let put = &told["paths"]["/admin/v1/providers/{name}"]["put"];
        let schema = &put["requestBody"]["content"]["application/json"]["schema"];
        let properties = schema["properties"].as_object().unwrap();
        for name in [
            "kind", "base_url", "key", "models", "priority", "phi", "reason",
        ] {
            assert!(properties.contains_key(name), "{name}");
        }
        for name in ["name", "key_stdin", "account", "data"] {
            assert!(!properties.contains_key(name), "{name}");
        }
        assert_eq!(properties["key"]["writeOnly"], true);
    }
}
