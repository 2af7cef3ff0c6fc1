//! Codes of values, by account and conversation.
//!
//! Masked values are distinguished by keyed codes. The key is the installation's secret, so that all replicas and
//! restarts give equal codes; another account or conversation gives different codes.

use crate::access::Access;
use crate::codes::{short_code, short_key, sign};
use aws_lc_rs::{cmac, hmac};
use phigate_verify::chain::hex;

/// Name of a conversation, unique in its account.
#[derive(Clone, Copy)]
pub enum ConversationName<'a> {
    /// Name given by the caller.
    Given(&'a str),
    /// First text of the conversation.
    Opening(&'a str),
    /// Id from an earlier record.
    Recorded(&'a str),
}

/// A conversation: gives codes to its values.
pub struct Conversation {
    id: String,
    coder: Coder,
}

/// Keyed function from values to codes.
enum Coder {
    Cmac(cmac::Key),
    /// Conversations that earlier versions recorded.
    Hmac(Box<hmac::Key>),
}

/// The key is a secret.
impl std::fmt::Debug for Conversation {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Conversation({})", self.id)
    }
}

impl Conversation {
    /// Id in records: a keyed hash, which does not reveal the conversation.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The code of a value of a kind.
    pub fn code(&self, kind: &str, value: &str) -> [u8; 16] {
        match &self.coder {
            Coder::Cmac(key) => short_code(key, &[kind, value]),
            Coder::Hmac(key) => first_half(sign(key, &[kind, value])),
        }
    }
}

/// Prefix of the ids of conversations with short codes.
const SHORT: &str = "s";

impl Access {
    /// A conversation of an account.
    pub fn conversation(&self, account_id: &str, name: ConversationName<'_>) -> Conversation {
        let pepper = &self.core.keyring.root.pepper;
        let id_of = |what: &str, text: &str| {
            let key = short_key(sign(pepper, &[what, account_id]));
            format!("{SHORT}{}", hex(&short_code(&key, &[text])))
        };
        let id = match name {
            ConversationName::Recorded(id) => id.to_owned(),
            ConversationName::Given(name) => id_of("conversation given", name),
            ConversationName::Opening(text) => id_of("conversation opening", text),
        };
        let key = sign(pepper, &["conversation key", account_id, &id]);
        let coder = match id.starts_with(SHORT) {
            true => Coder::Cmac(short_key(key)),
            false => Coder::Hmac(Box::new(hmac::Key::new(hmac::HMAC_SHA256, &key))),
        };
        Conversation { id, coder }
    }
}

fn first_half(hash: [u8; 32]) -> [u8; 16] {
    std::array::from_fn(|position| hash[position])
}
