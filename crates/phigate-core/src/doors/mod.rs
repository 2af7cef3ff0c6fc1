//! The ways in: one folder and one row per format in which callers ask.
//!
//! A door gives its path, the format of its requests ([`Form`]: what a body must be, what is not text, which texts
//! are read as one), the format of its errors, and the walk over its replies. Everything else is the same for all of
//! them: the walk over every leaf, modes, records, limits.

mod aside;
mod chat;
mod completions;
mod embeddings;
mod messages;
mod prompts;
mod responses;
mod silent;

use std::sync::Arc;

use phigate_types::ErrorFormat;

use crate::reply::{self, ReplyRules, ReplyStream, Walk, WholeReply};
use crate::request::Form;
use crate::wire::relay::{Relay, Watch};
use crate::wire::{
    ProviderFailure, Reply, ReplyContext, ReplySummary, StreamTranslator, WireFormat,
};

pub use aside::PassedHeader;
pub use chat::CHAT;
pub use completions::COMPLETIONS;
pub use embeddings::EMBEDDINGS;
pub use messages::{COUNT_TOKENS, MESSAGES};
pub use responses::RESPONSES;

/// Every door.
pub static DOORS: &[&Door] = &[
    // In the order in which people list them.
    &CHAT,
    &MESSAGES,
    &COUNT_TOKENS,
    &RESPONSES,
    &EMBEDDINGS,
    &COMPLETIONS,
];

/// A way in.
pub struct Door {
    /// Format of its requests.
    pub form: &'static dyn Form,
    /// Name shown to people.
    pub label: &'static str,
    /// Operation of the model by OpenTelemetry's convention.
    pub operation: &'static str,
    /// Path of the endpoint.
    pub path: &'static str,
    /// Format of its errors.
    pub errors: ErrorFormat,
    /// Headers of the caller that go on to a provider of the same format.
    pub(crate) headers: &'static [PassedHeader],
    /// Queries that go on, each as a whole.
    pub(crate) queries: &'static [&'static str],
    /// Understands a complete reply in its format.
    pub(crate) read_reply: fn(&[u8]) -> Result<ReplySummary, ProviderFailure>,
    /// Understands a stream in its format.
    pub(crate) watch: fn() -> Box<dyn Watch>,
    /// Finds the texts of a reply.
    pub(crate) walk: fn() -> Box<dyn Walk>,
}

impl std::fmt::Debug for Door {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Door({})", self.id())
    }
}

impl Door {
    /// The door of this id.
    pub fn with_id(id: &str) -> Option<&'static Self> {
        DOORS.iter().copied().find(|door| door.id() == id)
    }

    /// The door at this path.
    pub fn at(path: &str) -> Option<&'static Self> {
        DOORS.iter().copied().find(|door| door.path == path)
    }

    /// The word for it in settings, records and metrics.
    pub fn id(&self) -> &'static str {
        self.form.id()
    }

    /// Reads a provider's complete answer of status 200: as it came, or translated.
    pub fn read_reply(
        &self,
        format: &dyn WireFormat,
        context: &ReplyContext,
        body: &[u8],
    ) -> Result<Reply, ProviderFailure> {
        if !format.relays(self.form) {
            return format.read_reply(context, body);
        }
        Ok(Reply {
            body: body.to_vec(),
            summary: (self.read_reply)(body)?,
        })
    }

    /// Starts reading a streamed answer of status 200.
    pub fn open_stream(
        &self,
        format: &dyn WireFormat,
        context: &ReplyContext,
    ) -> Box<dyn StreamTranslator + Send> {
        if format.relays(self.form) {
            Box::new(Relay::new(context, (self.watch)()))
        } else {
            format.open_stream(context)
        }
    }

    /// Restores and scans a complete reply.
    pub fn whole_reply(&self, rules: &Arc<ReplyRules>, body: Vec<u8>) -> WholeReply {
        reply::whole(rules, &mut *(self.walk)(), body)
    }

    /// A stage that restores and scans a streamed reply.
    pub fn reply_stream(&self, rules: Arc<ReplyRules>, event_bytes_max: usize) -> ReplyStream {
        ReplyStream::new(rules, (self.walk)(), event_bytes_max)
    }
}
