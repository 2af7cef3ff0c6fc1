//! A request: read strictly, and the one walk over all of its text.
//!
//! [`Request`] is a body that was read and checked. Which format it is written in is a [`Form`], one per door; what it
//! means to a provider is `wire`'s business.

mod aside;
mod binary;
pub(crate) mod check;
mod coded;
mod form;
mod inflate;
mod inline;
mod opaque;
mod path;
mod place;
pub(crate) mod together;
mod walk;

use phigate_types::{DocumentText, ErrorCode, NoText};

use crate::json::{Bounds, Document, JsonError, JsonProblem};

pub use aside::Aside;
pub(crate) use coded::coded_texts;
pub use form::{Form, Setting, Turn};
pub use inline::{Inline, ReadDocuments, inline_documents};
pub(crate) use inline::{base64_of, has_only};
pub(crate) use opaque::opaque_nodes;
pub use opaque::unscannable;
pub(crate) use path::is_known_word;
pub use path::{parameter_name, path};
pub use place::Place;
pub use together::text_groups;
pub use walk::{Slot, slots};
pub(crate) use walk::{
    has_key, id_prefix, is_id, is_neutral_key, is_parameter, label, text_place, type_of,
};

/// Limits of a request.
#[derive(Debug, Clone, Copy)]
pub struct RequestLimits {
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

impl RequestLimits {
    /// Limits for requests that were within limits before.
    const NONE: Self = Self {
        json: Bounds::NONE,
        fields_max: usize::MAX,
        messages_max: usize::MAX,
        parts_max: usize::MAX,
        tools_max: usize::MAX,
    };
}

impl Default for RequestLimits {
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
    /// Code in the table of errors.
    pub code: ErrorCode,
    /// The field, such as `messages[2].role`; `None` if the body as a whole is wrong.
    pub param: Option<String>,
    /// A sentence for the caller.
    pub message: String,
}

impl RequestError {
    /// An error about one field.
    pub fn field(code: ErrorCode, param: impl Into<String>, message: impl Into<String>) -> Self {
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
            JsonProblem::Syntax => ErrorCode::InvalidJson,
            JsonProblem::DuplicateKey => ErrorCode::DuplicateKey,
            JsonProblem::TooDeep | JsonProblem::TooMany => ErrorCode::InvalidValue,
        };
        Self {
            code,
            param: None,
            message: format!("{error}"),
        }
    }
}

/// A checked request over the bytes the caller sent.
#[derive(Clone)]
pub struct Request {
    form: &'static dyn Form,
    document: Document,
    model: String,
    is_stream: bool,
    aside: Aside,
    read: ReadDocuments,
}

/// Even the model is the caller's text.
impl std::fmt::Debug for Request {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Request({}, {:?})", self.form.id(), self.document)
    }
}

impl Request {
    /// Reads and checks a body.
    pub fn read(
        form: &'static dyn Form,
        body: Vec<u8>,
        limits: &RequestLimits,
    ) -> Result<Self, RequestError> {
        let document = Document::parse(body, limits.json)?;
        let root = document.root();
        check::body(&root, limits)?;
        form.check(&root, limits)?;
        let model = root
            .get("model")
            .and_then(|model| model.string())
            .unwrap_or_default()
            .into_owned();
        let is_stream = root
            .get("stream")
            .and_then(|stream| stream.bool())
            .unwrap_or(false)
            && form.streams();
        Ok(Self {
            form,
            document,
            model,
            is_stream,
            aside: Aside::default(),
            read: ReadDocuments::default(),
        })
    }

    /// Returns the request with the caller's data besides the body.
    pub fn with_aside(self, aside: Aside) -> Self {
        Self { aside, ..self }
    }

    /// Returns the documents inside the request.
    pub fn inline_documents(&self) -> Vec<Inline<'_>> {
        inline_documents(self.form, &self.document)
    }

    /// Returns the request with the texts of its documents, in their order.
    pub fn with_texts(mut self, texts: Vec<Result<DocumentText, NoText>>) -> Self {
        self.read = ReadDocuments::new(self.form, &self.document, texts);
        self
    }

    /// The documents that were read.
    pub(crate) fn read_documents(&self) -> &ReadDocuments {
        &self.read
    }

    /// Returns the caller's data besides the body.
    pub(crate) fn aside(&self) -> &Aside {
        &self.aside
    }

    /// Reads a body that was read before, so that it is within the limits.
    pub fn read_again(form: &'static dyn Form, body: Vec<u8>) -> Result<Self, RequestError> {
        Self::read(form, body, &RequestLimits::NONE)
    }

    /// The format it is written in.
    pub fn form(&self) -> &'static dyn Form {
        self.form
    }

    /// The body.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Puts a body in the place of this one, which is given back. Only texts may differ between the two, and parts that
    /// were documents.
    pub(crate) fn replace_document(&mut self, document: Document, read: ReadDocuments) -> Document {
        self.read = read;
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
        self.form.asks_for_json(&self.document.root())
    }

    /// The text that its conversation begins with.
    pub fn opening(&self) -> String {
        self.form.opening(&self.document)
    }
}
