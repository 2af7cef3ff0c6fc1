//! The description of the interface, for tools: served on `/openapi.json` and printed by `phigate openapi`.

/// An OpenAPI 3.1 document.
pub(crate) static DOCUMENT: &str = include_str!("../openapi.json");

#[cfg(test)]
mod tests {
    #[test]
    fn the_document_is_json_and_names_every_path() {
        let document: serde_json::Value = serde_json::from_str(super::DOCUMENT).unwrap();
        let paths = document["paths"].as_object().unwrap();
        for path in ["/v1/chat/completions", "/v1/models", "/v1/models/{id}", "/healthz", "/readyz", "/openapi.json"] {
            assert!(paths.contains_key(path), "{path}");
        }
    }
}
