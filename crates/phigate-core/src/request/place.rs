//! What may be done with a piece of text.

/// What may be done with a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A string value: PHI in it can be replaced.
    Text,
    /// A number: replacing it would change the document's shape.
    Number,
    /// An object's key.
    Key,
    /// A string that routes or structures the request; changing it would change its meaning.
    Structure,
    /// A text that its provider has signed: changed, it would be refused.
    Signed,
}
