//! The formats of the providers, behind one format for callers.
//!
//! A caller always speaks OpenAI's chat completions. Each format here translates such a request for its provider, and
//! translates the provider's answer, error or stream back. Everything is pure: the sender adds the address and the
//! credentials; the caller of these functions passes the time and the completion id.
//!
//! A new format is a folder, a `mod` line and the row of its kind in [`provider_kinds`], from which [`FORMATS`] is
//! built.

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
        /// Every format, in the order of its kind of provider. The type has the kind's name, in the folder that the
        /// kind's row names.
        pub static FORMATS: &[&dyn WireFormat] = &[$($(&$folder::$kind,)?)+];
    };
}

provider_kinds!(list_formats);

/// The wire format of one family of providers.
pub trait WireFormat: Sync {
    /// The kind of provider that defines this format. Records and metrics call it the family.
    fn family(&self) -> ProviderKind;

    /// Whether a model identifier belongs to this family.
    fn serves(&self, model: &str) -> bool;

    /// Model identifiers of the specification that the provider does not serve, and their replacements.
    fn default_aliases(&self) -> &'static [(&'static str, &'static str)];

    /// The identifiers to list for callers: those of the specification and current ones.
    fn listed_models(&self) -> &'static [&'static str];

    /// The treatment of each request parameter.
    fn parameters(&self) -> &'static [Parameter];

    /// A request that checks the connection and the key without asking a model, if there is one.
    fn probe(&self) -> Option<Probe> {
        None
    }

    /// Translates a clean request. Callers use `write_request`, which makes the call.
    fn translate(&self, call: &Call<'_>) -> Result<Translated, Refusal>;

    /// Translates a provider's complete answer of status 200.
    fn read_reply(&self, context: &ReplyContext, body: &[u8]) -> Result<Reply, ProviderFailure>;

    /// Reads a provider's answer with any other status. `retry_after` is that header's value.
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

    /// Whether callers of this format are served, by relay or by translation.
    pub fn takes(&self, form: &dyn Form) -> bool {
        form.id() == TRANSLATED || self.relays(form)
    }
}

/// The format that is translated into every other: chat completions.
const TRANSLATED: &str = "chat";

/// The formats that the prefix of a model's name can select. The other formats must be set for an account's provider.
pub fn family_formats() -> impl Iterator<Item = &'static dyn WireFormat> {
    let formats = FORMATS.iter().copied();
    formats.filter(|format| format.family().has_family())
}

/// The format that serves a model, if any does.
pub fn format_for_model(model: &str) -> Option<&'static dyn WireFormat> {
    family_formats().find(|format| format.serves(model))
}

/// The format defined by this kind; `None` if the kind serves formats of other vendors.
pub fn format_of_family(family: ProviderKind) -> Option<&'static dyn WireFormat> {
    let mut formats = FORMATS.iter().copied();
    formats.find(|format| format.family() == family)
}

/// Data of the request that its reply needs.
#[derive(Debug, Clone)]
pub struct ReplyContext {
    /// The id of the completion, made by the gateway, such as `chatcmpl-…`.
    pub completion_id: String,
    /// Time of creation, in Unix seconds.
    pub created: u64,
    /// The model asked for, used when the provider does not name the model that answered.
    pub model: String,
    /// The expectations from the cleared request.
    pub expectation: Expectation,
    /// The largest event of a stream that is accepted.
    pub event_bytes_max: usize,
}

/// A complete answer in the caller's format.
#[derive(Clone)]
pub struct Reply {
    /// The JSON body.
    pub body: Vec<u8>,
    /// Summary for the audit trail.
    pub summary: ReplySummary,
}

/// Summary of an answer for the audit trail, without content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplySummary {
    /// The model that answered, according to the provider.
    pub served_model: Option<String>,
    /// The first choice's finish reason, in OpenAI's words.
    pub finish_reason: Option<String>,
    /// The tokens used.
    pub usage: Option<Usage>,
    /// The failure that the provider itself reported, if it then ended its stream in an orderly way.
    pub failure: Option<FailureKind>,
    /// Set when the provider gave an unknown stop reason; the reply then has `stop`.
    pub has_unknown_stop_reason: bool,
    /// The number of the next event, in formats that number the events of a stream.
    pub next_number: Option<u64>,
}

/// Tokens used, in OpenAI's arithmetic: the prompt includes cached tokens, the completion includes reasoning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: u64,
    /// Tokens generated.
    pub completion_tokens: u64,
    /// Sum of prompt and completion tokens.
    pub total_tokens: u64,
    /// Prompt tokens read from the provider's cache.
    pub cached_tokens: u64,
    /// Prompt tokens written to the provider's cache.
    pub cache_write_tokens: u64,
    /// Completion tokens spent on reasoning.
    pub reasoning_tokens: u64,
}

/// Translates a provider's stream into chat completion chunks. The output does not depend on the cuts of the input.
pub trait StreamTranslator {
    /// Takes bytes as they arrive and appends the output for the caller.
    ///
    /// After an error nothing more may be pushed. The content of `out` may still be sent, followed by an error event
    /// and an abrupt close.
    fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), ProviderFailure>;

    /// Ends the stream after the provider ended its answer in an orderly way. Fails if the stream was not complete.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), ProviderFailure>;

    /// Whether `[DONE]` was written, so that nothing more has to be read.
    fn is_done(&self) -> bool;

    /// The summary of the answer up to now.
    fn summary(&self) -> &ReplySummary;
}
