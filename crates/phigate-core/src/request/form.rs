//! Description of a request format, for the walk over a request.

use phigate_types::ProviderKind;

use crate::json::{Document, NodeId, Value};

use super::place::Place;
use super::{RequestError, RequestLimits};

/// The texts of one turn of a conversation, in order.
pub type Turn = Vec<NodeId>;

/// A parameter that has one value only in modes that let nothing pass unseen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The top-level parameter.
    pub name: &'static str,
    /// Value, as JSON.
    pub value: &'static str,
}

/// Format of requests. Every string, number and key is scanned; a form names the content that cannot be.
pub trait Form: Sync {
    /// The word for it in settings, records and metrics.
    fn id(&self) -> &'static str;

    /// Native home of the format: the family of providers that speak it themselves, and the path under their address.
    fn native(&self) -> (ProviderKind, &'static [&'static str]);

    /// Checks whether a body is such a request.
    fn check(&self, root: &Value<'_>, limits: &RequestLimits) -> Result<(), RequestError>;

    /// Whether answers can be asked for as streams.
    fn streams(&self) -> bool {
        true
    }

    /// Returns the permitted treatment of a string value; `None` for media, which [`Form::unscannable`] names.
    fn place(&self, value: &Value<'_>) -> Option<Place>;

    /// Returns the content that a text scanner cannot judge: attachments, and references to content stored elsewhere.
    fn unscannable<'d>(&self, document: &'d Document) -> Vec<(Value<'d>, &'static str)>;

    /// The string with the bytes of a document, if a part that cannot be scanned is one and holds nothing else that is
    /// not text.
    fn document<'d>(&self, _part: &Value<'d>) -> Option<Value<'d>> {
        None
    }

    /// Type of a part that is text.
    fn text_type(&self) -> &'static str {
        "text"
    }

    /// Whether a value is a name or an id of the protocol, so that its key says nothing about it.
    fn is_protocol_word(&self, value: &Value<'_>) -> bool;

    /// Conversations: turn after turn, each with its texts.
    fn conversations(&self, document: &Document) -> Vec<Vec<Turn>>;

    /// Two texts between which a model is to write, so that the second continues the first.
    fn gap(&self, _document: &Document) -> Option<(NodeId, NodeId)> {
        None
    }

    /// The texts that functions returned, each with what its function is about: `date_of_birth`.
    fn results(&self, document: &Document) -> Vec<(NodeId, String)>;

    /// The text that a conversation begins with. A caller resends it in every turn, so it identifies the conversation
    /// if the caller does not name it.
    fn opening(&self, document: &Document) -> String;

    /// Whether the caller wants the answer to be JSON.
    fn asks_for_json(&self, _root: &Value<'_>) -> bool {
        false
    }

    /// Parameters that are set outside of modes that let everything pass.
    fn settings(&self) -> &'static [Setting] {
        &[]
    }
}

/// The outermost parts that cannot be scanned as text, in order, and what they are.
pub(super) fn outermost<'d>(
    form: &dyn Form,
    document: &'d Document,
) -> Vec<(Value<'d>, &'static str)> {
    let mut parts = form.unscannable(document);
    parts.sort_by_key(|(part, _)| part.id());
    parts.dedup_by(|late, early| early.0.nodes().contains(&late.0.id()));
    parts
}
