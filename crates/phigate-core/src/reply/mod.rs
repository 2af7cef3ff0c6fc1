//! Rewriting of replies: PHI that the model produced is dealt with, and masked values are restored.
//!
//! Everything is pure. A reply in the caller's format goes in, and the reply that the caller may see comes out:
//! `whole` for a complete one, [`ReplyStream`] for a stream, which gives the same for every cut of its bytes. The door
//! says which parts of a reply are texts (`walk`), and [`crate::doors::Door`] puts the two together.
//!
//! Read in this order: `unit` (characters and how they are written), `reader`, `scan`, `restore`, `pipe` (one field
//! through all three), `field` (all fields of a reply), `walk`, `stream`.

mod after;
mod conversation;
mod echo;
mod field;
mod field_id;
mod heard;
mod known;
mod leaves;
mod pipe;
mod place;
mod reader;
mod resolve;
mod restore;
mod scan;
mod sentence;
mod stream;
mod tally;
mod token;
mod tools;
mod unit;
mod walk;
mod whole;

use std::sync::Arc;

use phigate_types::Replies;

use crate::protect::Scanner;

pub use conversation::is_conversation_name;
pub use echo::Echoes;
pub use resolve::resolve;
pub use stream::ReplyStream;
pub use tally::Tally;
pub use token::{Issued, Mint};
pub use tools::ToolNames;
pub use whole::WholeReply;

pub(crate) use field::{Fields, member};
pub(crate) use field_id::{FieldId, Part};
pub(crate) use known::KnownEvent;
pub(crate) use walk::Walk;
pub(crate) use whole::whole;

/// Rules for the reply to one request.
#[derive(Debug, Default)]
pub struct ReplyRules {
    /// The tokens issued for this request; empty if nothing is restored.
    pub issued: Issued,
    /// The tools whose arguments are restored.
    pub tools: ToolNames,
    /// Settings of the reply scan; `None` if replies are not scanned.
    pub scan: Option<ReplyScan>,
    /// Whether the content was asked for as JSON.
    pub content_is_json: bool,
}

/// Settings of a reply scan.
#[derive(Debug)]
pub struct ReplyScan {
    /// The account's detector.
    pub scanner: Arc<Scanner>,
    /// Action on new PHI.
    pub action: Replies,
    /// The values of the request.
    pub echoes: Echoes,
}

impl ReplyRules {
    /// Whether a reply would leave unchanged, so that the stage can be skipped.
    pub fn is_idle(&self) -> bool {
        self.issued.is_empty() && self.scan.is_none()
    }
}

/// Reason that no more of a reply may go out. Holds no content; the [`Tally`] says what was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The reply holds new PHI, and the owner wants such replies withheld.
    Blocked,
    /// The reply was not fully scanned.
    Unfinished,
    /// The reply is not a chat completion.
    Unreadable,
}
