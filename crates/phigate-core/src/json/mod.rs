//! Strict JSON with the byte range of every value, so that rewriting is splicing.
//!
//! Parsers that disagree about a document let text slip past a scanner: one reads the first of two equal keys, the
//! other the last. So this reader refuses ambiguous documents (duplicate keys, lone surrogates, invalid UTF-8, anything
//! after the document) and records the byte range of every value. Written here, because no library does both.

mod read;
mod string;
mod tree;

use std::borrow::Cow;
use std::ops::Range;

pub(crate) use read::Tolerance;
pub use read::{JsonError, JsonProblem};
pub use string::Decoded;
pub(crate) use tree::{Json, write_escaped};

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number, kept as written.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// Index of a node of a [`Document`]; meaningless in any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

#[derive(Debug, Clone)]
struct Node {
    kind: Kind,
    /// Whether a string holds escapes, so that plain ones are read without copying.
    escaped: bool,
    /// Whether this string is the key of the node that follows it.
    is_key: bool,
    parent: u32,
    /// Position among the values (or members) of the parent.
    position: u32,
    /// Index after this node and its descendants.
    end: u32,
    span: Range<usize>,
}

/// A parsed document over the bytes it was read from. Nodes are in document order; an object's keys are nodes too.
#[derive(Clone)]
pub struct Document {
    text: String,
    nodes: Vec<Node>,
}

impl std::fmt::Debug for Document {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            out,
            "Document({} bytes, {} nodes)",
            self.text.len(),
            self.nodes.len()
        )
    }
}

/// Limits of a document.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Nesting of arrays and objects.
    pub depth_max: usize,
    /// Values and keys. A value of two bytes costs a node of thirty, so their number has a limit apart from the body's
    /// size.
    pub values_max: usize,
}

impl Bounds {
    /// Bounds without limits, for documents that were within bounds before.
    pub const NONE: Self = Self {
        depth_max: usize::MAX,
        values_max: usize::MAX,
    };
}

impl Document {
    /// Reads a document, refusing one beyond the bounds.
    pub fn parse(bytes: Vec<u8>, bounds: Bounds) -> Result<Self, JsonError> {
        let text = String::from_utf8(bytes).map_err(|error| {
            JsonError::at(JsonProblem::Syntax, error.utf8_error().valid_up_to())
        })?;
        let nodes = read::read(&text, bounds, Tolerance::default())?;
        Ok(Self { text, nodes })
    }

    /// The document as it was sent. It may hold PHI.
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// Gives the bytes back.
    pub fn into_bytes(self) -> Vec<u8> {
        self.text.into_bytes()
    }

    /// The outermost value.
    pub fn root(&self) -> Value<'_> {
        self.value(NodeId(0))
    }

    /// The value with this id.
    pub fn value(&self, id: NodeId) -> Value<'_> {
        Value { document: self, id }
    }

    /// Every node, keys included, in document order.
    pub fn nodes(&self) -> impl Iterator<Item = Value<'_>> {
        (0..self.nodes.len() as u32).map(|index| self.value(NodeId(index)))
    }

    /// The document with parts of strings, or whole strings, replaced.
    ///
    /// The ranges are in order and do not overlap. Replacements are valid JSON, so every node keeps its type and its
    /// index, and the result need not be parsed again.
    pub fn splice(&self, edits: &[(Range<usize>, impl AsRef<str>)]) -> Self {
        let mut text = String::with_capacity(self.text.len());
        let mut copied = 0;
        // End of each edit, before and after.
        let mut moved = Vec::with_capacity(edits.len());
        for (range, replacement) in edits {
            text.push_str(&self.text[copied..range.start]);
            text.push_str(replacement.as_ref());
            copied = range.end;
            moved.push((range.end, text.len()));
        }
        text.push_str(&self.text[copied..]);
        let shifted = |at: usize| match moved.partition_point(|(before, _)| *before <= at) {
            0 => at,
            after => moved[after - 1].1 + (at - moved[after - 1].0),
        };
        let nodes = self.nodes.iter().map(|node| Node {
            span: shifted(node.span.start)..shifted(node.span.end),
            // A replacement may hold escapes.
            escaped: node.escaped || !edits.is_empty(),
            ..node.clone()
        });
        Self {
            nodes: nodes.collect(),
            text,
        }
    }
}

/// A value inside a [`Document`].
#[derive(Clone, Copy)]
pub struct Value<'d> {
    document: &'d Document,
    id: NodeId,
}

impl<'d> Value<'d> {
    fn node(&self) -> &'d Node {
        &self.document.nodes[self.id.0 as usize]
    }

    /// The index of this value in its document.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// The type of the value.
    pub fn kind(&self) -> Kind {
        self.node().kind
    }

    /// Whether this is the key of an object's member.
    pub fn is_key(&self) -> bool {
        self.node().is_key
    }

    /// Position among the parent's values or members.
    pub fn position(&self) -> usize {
        self.node().position as usize
    }

    /// The array or object that contains this; `None` for the outermost value.
    pub fn parent(&self) -> Option<Value<'d>> {
        (self.id.0 != 0).then(|| self.document.value(NodeId(self.node().parent)))
    }

    /// The key of the member that has this value.
    pub fn key(&self) -> Option<Value<'d>> {
        let before = self.id.0.checked_sub(1)?;
        let key = self.document.value(NodeId(before));
        (key.is_key() && !self.is_key()).then_some(key)
    }

    /// The range of this node and its descendants.
    pub fn nodes(&self) -> Range<NodeId> {
        self.id..NodeId(self.node().end)
    }

    /// All descendants, keys included, in document order.
    pub fn descendants(&self) -> impl Iterator<Item = Value<'d>> + use<'d> {
        let document = self.document;
        (self.id.0 + 1..self.node().end).map(|index| document.value(NodeId(index)))
    }

    /// The byte range as written; a string's includes its quotes.
    pub fn span(&self) -> Range<usize> {
        self.node().span.clone()
    }

    /// The bytes as written.
    pub fn raw(&self) -> &'d str {
        &self.document.text[self.node().span.clone()]
    }

    /// A string's content, with escapes resolved.
    pub fn string(&self) -> Option<Cow<'d, str>> {
        (self.kind() == Kind::String).then(|| self.text())
    }

    /// The content of a value that is known to be a string.
    pub(crate) fn text(&self) -> Cow<'d, str> {
        string::resolved(self.inner(), self.node().escaped)
    }

    /// A string's content, with a mapping back to the bytes as written.
    pub fn decoded(&self) -> Decoded<'d> {
        let node = self.node();
        Decoded::new(self.inner(), node.span.start + 1, node.escaped)
    }

    /// The bytes between the quotes of a string.
    fn inner(&self) -> &'d str {
        let span = &self.node().span;
        &self.document.text[span.start + 1..span.end - 1]
    }

    /// A number's value.
    pub fn number(&self) -> Option<f64> {
        (self.kind() == Kind::Number)
            .then(|| self.raw().parse().ok())
            .flatten()
    }

    /// The truth value of a boolean.
    pub fn bool(&self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.raw() == "true")
    }

    /// The values of an array or of an object's members, in order.
    pub fn values(&self) -> impl Iterator<Item = Value<'d>> + use<'d> {
        let document = self.document;
        let end = self.node().end;
        let holds_values = matches!(self.kind(), Kind::Array | Kind::Object);
        let mut next = if holds_values { self.id.0 + 1 } else { end };
        std::iter::from_fn(move || {
            if next >= end {
                return None;
            }
            if document.nodes[next as usize].is_key {
                next += 1;
            }
            let value = document.value(NodeId(next));
            next = value.node().end;
            Some(value)
        })
    }

    /// The member of an object with this key.
    pub fn get(&self, key: &str) -> Option<Value<'d>> {
        let whole = self.node();
        if whole.kind != Kind::Object {
            return None;
        }
        let nodes = &self.document.nodes;
        let mut at = self.id.0 + 1;
        while at < whole.end {
            let name = self.document.value(NodeId(at));
            if name.reads(key) {
                return Some(self.document.value(NodeId(at + 1)));
            }
            at = nodes[at as usize + 1].end;
        }
        None
    }

    /// Whether a string equals `text`. Keys are compared dozens of times per request, so strings without escapes are
    /// compared as written.
    fn reads(&self, text: &str) -> bool {
        let node = self.node();
        if node.escaped {
            return self.string().is_some_and(|name| name == text);
        }
        let inner = node.span.start + 1..node.span.end - 1;
        inner.len() == text.len()
            && self.document.text.as_bytes().get(inner) == Some(text.as_bytes())
    }
}
