//! Permitted treatment of a piece of text.

/// Permitted treatment of a piece of text.
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
    /// A ciphertext or signature of a provider, by the type that carries it. The walk passes over it while it reads like
    /// one, and takes anything else for a [signed](Place::Signed) text.
    Opaque,
}
