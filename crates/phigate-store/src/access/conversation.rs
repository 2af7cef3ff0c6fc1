//! Codes of values, by account and conversation.
//!
//! Masked values are told apart by keyed codes. They come from the installation's own secret, so that every replica
//! and every start gives the same; another account or conversation gives others.

use crate::access::Access;
use aws_lc_rs::hmac;
use phigate_verify::chain::hex;

/// What tells conversations of an account apart.
#[derive(Clone, Copy)]
pub enum ConversationName<'a> {
    /// The caller named it.
    Given(&'a str),
    /// It begins with this text.
    Opening(&'a str),
    /// An earlier record names it by its id.
    Recorded(&'a str),
}

/// A conversation: gives codes to its values.
pub struct Conversation {
    id: String,
    key: hmac::Key,
}

/// The key is a secret.
impl std::fmt::Debug for Conversation {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Conversation({})", self.id)
    }
}

impl Conversation {
    /// What records call it: a keyed hash, which says nothing about the conversation.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The code of a value of a kind.
    pub fn code(&self, kind: &str, value: &str) -> [u8; 32] {
        sign(&self.key, &[kind, value])
    }
}

impl Access {
    /// A conversation of an account.
    pub fn conversation(&self, account_id: &str, name: ConversationName<'_>) -> Conversation {
        let pepper = &self.core.keyring.root.pepper;
        let id = match name {
            ConversationName::Recorded(id) => id.to_owned(),
            ConversationName::Given(name) => id(pepper, &["conversation given", account_id, name]),
            ConversationName::Opening(text) => {
                id(pepper, &["conversation opening", account_id, text])
            }
        };
        let key = sign(pepper, &["conversation key", account_id, &id]);
        Conversation {
            id,
            key: hmac::Key::new(hmac::HMAC_SHA256, &key),
        }
    }
}

fn id(pepper: &hmac::Key, parts: &[&str]) -> String {
    hex(&sign(pepper, parts)[..16])
}

/// Keyed hash of several texts. A NUL between them stands in no account id, kind or id, so that they cannot run into
/// each other; the last may hold anything.
fn sign(key: &hmac::Key, parts: &[&str]) -> [u8; 32] {
    let mut context = hmac::Context::with_key(key);
    for (position, part) in parts.iter().enumerate() {
        if position > 0 {
            context.update(&[0]);
        }
        context.update(part.as_bytes());
    }
    let mut out = [0; 32];
    out.copy_from_slice(context.sign().as_ref());
    out
}
