//! The chat request: read strictly, and the one walk over all of its text.
//!
//! [`ChatRequest`] is a body that was read and checked. What it means to a
//! provider is `wire`'s business; what may be in it is decided here.

mod binary;
mod check;
mod conversation;
mod opaque;
mod path;
mod walk;

use crate::json::{Bounds, Document, JsonError, JsonProblem};

pub use conversation::text_groups;
pub(crate) use conversation::{Calls, conversations};
pub(crate) use opaque::opaque_nodes;
pub use opaque::unscannable;
pub(crate) use path::is_known_word;
pub use path::{parameter_name, path};
pub use walk::{Place, Slot, slots};
pub(crate) use walk::{id_prefix, is_neutral_key, label, message_of};

/// How much a request may hold.
#[derive(Debug, Clone, Copy)]
pub struct ChatLimits {
    /// The JSON body.
    pub json: Bounds,
    /// Fields of the body itself. Those that a provider does not have are named in a response header, which must stay short.
    pub fields_max: usize,
    /// Messages in a conversation.
    pub messages_max: usize,
    /// Parts in one message.
    pub parts_max: usize,
    /// Tools offered to the model.
    pub tools_max: usize,
}

impl Default for ChatLimits {
    fn default() -> Self {
        Self {
            json: Bounds {
                depth_max: 64,
                values_max: 500_000,
            },
            fields_max: 256,
            messages_max: 4096,
            parts_max: 256,
            tools_max: 128,
        }
    }
}

/// A request that cannot be taken: what is wrong and with which field, never what it held.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RequestError {
    /// The code of the error table, such as `invalid_type`.
    pub code: &'static str,
    /// The field, such as `messages[2].role`; none when the body as a whole is wrong.
    pub param: Option<String>,
    /// A sentence for the caller.
    pub message: String,
}

impl RequestError {
    /// An error about one field.
    pub fn field(code: &'static str, param: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code,
            param: Some(param.into()),
            message: message.into(),
        }
    }
}

impl From<JsonError> for RequestError {
    fn from(error: JsonError) -> Self {
        let code = match error.problem {
            JsonProblem::Syntax => "invalid_json",
            JsonProblem::DuplicateKey => "duplicate_key",
            JsonProblem::TooDeep | JsonProblem::TooMany => "invalid_value",
        };
        Self {
            code,
            param: None,
            message: format!("{error}"),
        }
    }
}

/// A checked chat-completion request over the bytes the caller sent.
#[derive(Clone)]
pub struct ChatRequest {
    document: Document,
    model: String,
    is_stream: bool,
}

/// Even the model is the caller's text.
impl std::fmt::Debug for ChatRequest {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "ChatRequest({:?})", self.document)
    }
}

impl ChatRequest {
    /// Reads and checks a body.
    pub fn read(body: Vec<u8>, limits: &ChatLimits) -> Result<Self, RequestError> {
        let document = Document::parse(body, limits.json)?;
        let root = document.root();
        check::request(&root, limits)?;
        let model = root
            .get("model")
            .and_then(|model| model.string())
            .unwrap_or_default()
            .into_owned();
        let is_stream = root
            .get("stream")
            .and_then(|stream| stream.bool())
            .unwrap_or(false);
        Ok(Self {
            document,
            model,
            is_stream,
        })
    }

    /// Reads a body that was read before, so that it is within the limits.
    pub(crate) fn read_again(body: Vec<u8>) -> Result<Self, RequestError> {
        let unlimited = ChatLimits {
            json: Bounds::NONE,
            fields_max: usize::MAX,
            messages_max: usize::MAX,
            parts_max: usize::MAX,
            tools_max: usize::MAX,
        };
        Self::read(body, &unlimited)
    }

    /// The body.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Puts a document in the place of this one, which is given back. Only texts may differ between the two.
    pub(crate) fn replace_document(&mut self, document: Document) -> Document {
        std::mem::replace(&mut self.document, document)
    }

    /// The model asked for.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Whether the caller wants a stream.
    pub fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// Whether the caller wants the answer to be JSON.
    pub fn asks_for_json(&self) -> bool {
        let format = self.document.root().get("response_format");
        let kind = format.and_then(|format| format.get("type"));
        let kind = kind.and_then(|kind| kind.string());
        kind.is_some_and(|kind| matches!(kind.as_ref(), "json_object" | "json_schema"))
    }
}
