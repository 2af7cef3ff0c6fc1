//! Amazon Bedrock's Converse and ConverseStream.
//!
//! One format for models of many makers: shared parameters have fields in Converse, and parameters of one family go
//! into `additionalModelRequestFields`. `request` translates to the provider; `reply` and `stream` translate back.
//! Streams are binary frames, which `frames` reads.

mod conversation;
mod frames;
#[cfg(debug_assertions)]
pub use frames::event_stream_frames;
mod models;
mod parameters;
mod reply;
mod request;
mod stream;
mod thinking;
mod toolbox;

use phigate_types::ProviderKind;

use super::failure::{FailureKind, ProviderFailure};
use super::parameters::Parameter;
use super::{Call, Header, Refusal, Reply, ReplyContext, StreamTranslator, Translated, WireFormat};
use crate::json::Json;

const HEADERS: &[Header] = &[("content-type", "application/json")];

/// The format.
pub(super) struct Bedrock;

impl WireFormat for Bedrock {
    fn family(&self) -> ProviderKind {
        ProviderKind::Bedrock
    }

    fn serves(&self, model: &str) -> bool {
        models::is_identifier(model)
    }

    fn default_aliases(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    fn listed_models(&self) -> &'static [&'static str] {
        &[
            "amazon.nova-lite-v1:0",
            "amazon.nova-pro-v1:0",
            "meta.llama3-70b-instruct-v1:0",
            "mistral.mistral-large-2407-v1:0",
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "global.anthropic.claude-opus-4-6-v1",
            "openai.gpt-oss-120b-1:0",
        ]
    }

    fn parameters(&self) -> &'static [Parameter] {
        parameters::PARAMETERS
    }

    fn translate(&self, call: &Call<'_>) -> Result<Translated, Refusal> {
        request::write(call)
    }

    fn read_reply(&self, context: &ReplyContext, body: &[u8]) -> Result<Reply, ProviderFailure> {
        reply::read(context, body)
    }

    fn read_failure(&self, status: u16, retry_after: Option<&str>, body: &[u8]) -> ProviderFailure {
        let mut failure = ProviderFailure::from_status(status, retry_after);
        if status == MODEL_TIMEOUT {
            failure.kind = FailureKind::Timeout;
        }
        let Ok(document) = Json::read(body) else {
            return failure;
        };
        let message = document
            .text_of("message")
            .or_else(|| document.text_of("Message"));
        failure.with_message(message)
    }

    fn open_stream(&self, context: &ReplyContext) -> Box<dyn StreamTranslator + Send> {
        Box::new(stream::Stream::new(context))
    }
}

/// The status of `ModelTimeoutException`: the model, not the caller, was too slow.
const MODEL_TIMEOUT: u16 = 408;

/// The failure that an exception inside a stream reports, without its message.
fn failure_of(exception: &str) -> ProviderFailure {
    let kind = match exception {
        "throttlingException" => FailureKind::RateLimited,
        "serviceUnavailableException" | "modelNotReadyException" => FailureKind::Overloaded,
        "modelTimeoutException" => FailureKind::Timeout,
        "validationException" => FailureKind::Rejected(400),
        "resourceNotFoundException" => FailureKind::Rejected(404),
        "accessDeniedException" | "expiredTokenException" => FailureKind::AuthFailed,
        _ => FailureKind::Error,
    };
    ProviderFailure::new(kind)
}
