//! Embeddings: for models of providers that speak OpenAI's format. Their replies are numbers.

use phigate_types::{ErrorFormat, ProviderKind};

use crate::json::{Document, Json, Kind, NodeId, Value};
use crate::request::check::{Checked, optional};
use crate::request::{Form, Place, RequestLimits, Turn};
use crate::wire::{ProviderFailure, ReplySummary, Usage, unreadable};

use super::silent::Silent;
use super::{Door, prompts};

/// The door.
pub static EMBEDDINGS: Door = Door {
    form: &EmbeddingsForm,
    label: "Embeddings",
    operation: "embeddings",
    path: "/v1/embeddings",
    errors: ErrorFormat::OpenAi,
    headers: &[],
    queries: &[],
    read_reply,
    watch: || Box::<Silent>::default(),
    walk: || Box::<Silent>::default(),
};

/// Format of an embeddings request.
struct EmbeddingsForm;

const TEXTS: &str = "input";

impl Form for EmbeddingsForm {
    fn id(&self) -> &'static str {
        "embeddings"
    }

    fn native(&self) -> (ProviderKind, &'static [&'static str]) {
        (ProviderKind::OpenAi, &["v1", "embeddings"])
    }

    fn check(&self, root: &Value<'_>, limits: &RequestLimits) -> Checked {
        prompts::check(root, TEXTS, limits)?;
        optional(root, "dimensions", Kind::Number, "a number")?;
        optional(root, "encoding_format", Kind::String, "a string")
    }

    fn streams(&self) -> bool {
        false
    }

    fn place(&self, value: &Value<'_>) -> Option<Place> {
        prompts::place(value)
    }

    fn unscannable<'d>(&self, document: &'d Document) -> Vec<(Value<'d>, &'static str)> {
        prompts::token_ids(document, TEXTS)
    }

    fn is_protocol_word(&self, _value: &Value<'_>) -> bool {
        false
    }

    /// Each text is embedded by itself.
    fn conversations(&self, _document: &Document) -> Vec<Vec<Turn>> {
        Vec::new()
    }

    fn results(&self, _document: &Document) -> Vec<(NodeId, String)> {
        prompts::no_results()
    }

    fn opening(&self, document: &Document) -> String {
        prompts::opening(document, TEXTS)
    }
}

fn read_reply(body: &[u8]) -> Result<ReplySummary, ProviderFailure> {
    let list = Json::read(body).map_err(|_| unreadable())?;
    let has_data = matches!(list.get("data"), Some(Json::List(_)));
    if !has_data || list.given("error").is_some() {
        return Err(unreadable());
    }
    let usage = list.given("usage").map(|usage| Usage {
        prompt_tokens: usage.count_of("prompt_tokens"),
        total_tokens: usage.count_of("total_tokens"),
        ..Usage::default()
    });
    Ok(ReplySummary {
        served_model: list.text_of("model").map(str::to_owned),
        usage,
        ..ReplySummary::default()
    })
}
