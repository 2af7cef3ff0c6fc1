//! The formats of the providers, behind one format for callers.
//!
//! A caller always speaks OpenAI's chat completions. Each format here turns such a request into what its provider
//! understands, and the provider's answer, error or stream back. Everything is pure: the sender adds the address
//! and what proves who asks, the caller of these functions the time and the completion id.
//!
//! A new format is a folder, a `mod` line and the row of its kind in [`provider_kinds`], from which [`FORMATS`] is built.

pub(crate) mod anthropic;
mod bedrock;
mod failure;
mod frame;
mod google;
mod kinds;
pub(crate) mod openai;
mod parameters;
pub(crate) mod relay;
mod request;
pub(crate) mod sse;
mod translate;

use phigate_types::{ProviderKind, provider_kinds};

#[cfg(debug_assertions)]
pub use bedrock::event_stream_frames;
pub(crate) use failure::unreadable;
pub use failure::{FailureKind, ProviderFailure};
pub(crate) use frame::Frame;
pub use kinds::{Site, format_of_kind, probe_of_kind};
pub use parameters::{Parameter, Treatment, parameters_page};
use request::Call;
pub(crate) use request::Translated;
pub use request::{Expectation, Header, Probe, ProviderRequest, Refusal};

use crate::request::Form;

macro_rules! list_formats {
    ($($(#[$doc:meta])+ $kind:ident $code:literal $(speaks $folder:ident)? { $($facts:tt)+ })+) => {
        /// Every format, in the order of the kinds of provider whose own they are: the type of a kind's name in the
        /// folder that its row names.
        pub static FORMATS: &[&dyn WireFormat] = &[$($(&$folder::$kind,)?)+];
    };
}

provider_kinds!(list_formats);

/// How one family of providers is spoken to.
pub trait WireFormat: Sync {
    /// The kind of provider whose own format this is. Records and metrics call it the family.
    fn family(&self) -> ProviderKind;

    /// Whether a model identifier belongs to this family.
    fn serves(&self, model: &str) -> bool;

    /// Identifiers of the specification that the provider itself does not serve, and what is asked for instead.
    fn default_aliases(&self) -> &'static [(&'static str, &'static str)];

    /// The identifiers to list for callers: those of the specification and current ones.
    fn listed_models(&self) -> &'static [&'static str];

    /// What happens to each request parameter.
    fn parameters(&self) -> &'static [Parameter];

    /// How to ask for nothing but whether the provider answers and knows us, where there is a way.
    fn probe(&self) -> Option<Probe> {
        None
    }

    /// Translates a clean request. Callers use `write_request`, which makes the call.
    fn translate(&self, call: &Call<'_>) -> Result<Translated, Refusal>;

    /// Translates a provider's complete answer of status 200.
    fn read_reply(&self, context: &ReplyContext, body: &[u8]) -> Result<Reply, ProviderFailure>;

    /// Understands a provider's answer of any other status. `retry_after` is that header's value.
    fn read_failure(&self, status: u16, retry_after: Option<&str>, body: &[u8]) -> ProviderFailure;

    /// Starts translating a streamed answer of status 200.
    fn open_stream(&self, context: &ReplyContext) -> Box<dyn StreamTranslator + Send>;
}

impl dyn WireFormat + '_ {
    /// The family's code.
    pub fn id(&self) -> &'static str {
        self.family().code()
    }

    /// Whether the provider speaks the format of these callers itself.
    pub fn relays(&self, form: &dyn Form) -> bool {
        form.native().0 == self.family()
    }

    /// Whether callers of this format are served: as they are, or translated.
    pub fn takes(&self, form: &dyn Form) -> bool {
        form.id() == TRANSLATED || self.relays(form)
    }
}

/// The format that is translated into every other: chat completions.
const TRANSLATED: &str = "chat";

/// The formats to which the prefix of a model's name leads. An account's provider must say that it speaks the others.
pub fn family_formats() -> impl Iterator<Item = &'static dyn WireFormat> {
    let formats = FORMATS.iter().copied();
    formats.filter(|format| format.family().has_family())
}

/// The format that serves a model, if any does.
pub fn format_for_model(model: &str) -> Option<&'static dyn WireFormat> {
    family_formats().find(|format| format.serves(model))
}

/// The format that is this kind's own; none where the kind speaks the formats of others.
pub fn format_of_family(family: ProviderKind) -> Option<&'static dyn WireFormat> {
    let mut formats = FORMATS.iter().copied();
    formats.find(|format| format.family() == family)
}

/// What a reply needs to know about its request.
#[derive(Debug, Clone)]
pub struct ReplyContext {
    /// The id of the completion, ours, such as `chatcmpl-…`.
    pub completion_id: String,
    /// When it was created, in Unix seconds.
    pub created: u64,
    /// The model that was asked for, used when the provider does not say which one answered.
    pub model: String,
    /// What the cleared request said to expect.
    pub expectation: Expectation,
    /// The largest event of a stream that is accepted.
    pub event_bytes_max: usize,
}

/// A complete answer in the caller's format.
#[derive(Clone)]
pub struct Reply {
    /// The JSON body.
    pub body: Vec<u8>,
    /// What it says about itself.
    pub summary: ReplySummary,
}

/// What the audit trail keeps of an answer. Holds no content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplySummary {
    /// The model that answered, by the provider's word.
    pub served_model: Option<String>,
    /// The first choice's finish reason, in OpenAI's words.
    pub finish_reason: Option<String>,
    /// The tokens used.
    pub usage: Option<Usage>,
    /// How the provider failed, where it said so itself and ended its stream in an orderly way.
    pub failure: Option<FailureKind>,
    /// Set when the provider gave a stop reason that we do not know; the reply says `stop`.
    pub has_unknown_stop_reason: bool,
    /// The number that the next event would have, in formats that number the events of a stream.
    pub next_number: Option<u64>,
}

/// Tokens used, in OpenAI's arithmetic: the prompt includes cached tokens, the completion includes reasoning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: u64,
    /// Tokens generated.
    pub completion_tokens: u64,
    /// Their sum.
    pub total_tokens: u64,
    /// Of the prompt, those read from the provider's cache.
    pub cached_tokens: u64,
    /// Of the prompt, those written to the provider's cache.
    pub cache_write_tokens: u64,
    /// Of the completion, those spent on reasoning.
    pub reasoning_tokens: u64,
}

/// Turns a provider's stream into chat completion chunks. The same output comes from any cut of the input.
pub trait StreamTranslator {
    /// Takes bytes as they arrive and appends what the caller may see now.
    ///
    /// After an error nothing more may be pushed; what `out` holds by then may still be sent, followed by
    /// an error event and an abrupt close.
    fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), ProviderFailure>;

    /// Call when the provider ended its answer in an orderly way. Fails if the stream was not complete.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), ProviderFailure>;

    /// Whether `[DONE]` was written, so that nothing more is to be read.
    fn is_done(&self) -> bool;

    /// What is known about the answer so far.
    fn summary(&self) -> &ReplySummary;
}
