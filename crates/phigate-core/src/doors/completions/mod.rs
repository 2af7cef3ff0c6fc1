//! Completions as they were before chat: a prompt, and how it goes on. For providers that speak OpenAI's format.

use phigate_types::{ErrorFormat, ProviderKind};

use crate::json::{Document, Kind, NodeId, Value};
use crate::request::check::{Checked, number_between, optional, strings, whole_number_from_one};
use crate::request::{Form, Place, RequestLimits, Turn};
use crate::wire::openai::{ChunkWatch, read_completion};

use super::chat::ChatWalk;
use super::{Door, prompts};

/// The door.
pub static COMPLETIONS: Door = Door {
    form: &CompletionsForm,
    label: "Completions",
    operation: "text_completion",
    path: "/v1/completions",
    errors: ErrorFormat::OpenAi,
    headers: &[],
    queries: &[],
    read_reply: read_completion,
    watch: || Box::<ChunkWatch>::default(),
    walk: || Box::new(ChatWalk::of_plain_texts()),
};

/// Format of a completion request.
struct CompletionsForm;

const TEXTS: &str = "prompt";

impl Form for CompletionsForm {
    fn id(&self) -> &'static str {
        "completions"
    }

    fn native(&self) -> (ProviderKind, &'static [&'static str]) {
        (ProviderKind::OpenAi, &["v1", "completions"])
    }

    fn check(&self, root: &Value<'_>, limits: &RequestLimits) -> Checked {
        prompts::check(root, TEXTS, limits)?;
        for (name, low, high) in [("temperature", 0.0, 2.0), ("top_p", 0.0, 1.0)] {
            number_between(root, name, low, high)?;
        }
        for name in ["n", "best_of"] {
            whole_number_from_one(root, name)?;
        }
        for name in ["stream", "echo"] {
            optional(root, name, Kind::Bool, "a boolean")?;
        }
        optional(root, "max_tokens", Kind::Number, "a number")?;
        optional(root, "suffix", Kind::String, "a string")?;
        strings(root, "stop")
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

    /// A model reads the prompt and what is to come after the gap; several prompts have nothing to do with each other.
    fn conversations(&self, document: &Document) -> Vec<Vec<Turn>> {
        let gap = self.gap(document).into_iter();
        gap.map(|(prompt, suffix)| vec![vec![prompt], vec![suffix]])
            .collect()
    }

    fn gap(&self, document: &Document) -> Option<(NodeId, NodeId)> {
        let root = document.root();
        let text = |name: &str| {
            let text = root.get(name).filter(|text| text.kind() == Kind::String);
            text.map(|text| text.id())
        };
        Some((text(TEXTS)?, text("suffix")?))
    }

    fn results(&self, _document: &Document) -> Vec<(NodeId, String)> {
        prompts::no_results()
    }

    fn opening(&self, document: &Document) -> String {
        prompts::opening(document, TEXTS)
    }
}
