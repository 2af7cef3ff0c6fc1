//! Google's generateContent and streamGenerateContent.
//!
//! The specification defines this translation: `assistant` becomes `model`, a message becomes a role and its parts, and
//! system content is prepended to the first user message. `request` translates to the provider; `reply` and `stream`
//! translate back.

mod contents;
mod models;
mod parameters;
mod partial;
mod reply;
mod request;
mod schema;
mod stream;
mod thinking;

use phigate_types::ProviderKind;

use super::failure::{FailureKind, ProviderFailure, error_object, kind_of_status, whole_seconds};
use super::parameters::Parameter;
use super::request::is_plain_identifier;
use super::{
    Call, Header, Probe, Refusal, Reply, ReplyContext, StreamTranslator, Translated, WireFormat,
};
use crate::json::Json;

const HEADERS: &[Header] = &[("content-type", "application/json")];

/// The list of models.
const PROBE: Probe = Probe {
    path: &["v1beta", "models"],
    headers: &[],
};

/// The format.
pub(super) struct Google;

impl WireFormat for Google {
    fn family(&self) -> ProviderKind {
        ProviderKind::Google
    }

    fn serves(&self, model: &str) -> bool {
        let name = bare_name(model);
        name.starts_with("gemini-") && is_plain_identifier(name)
    }

    fn default_aliases(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    fn listed_models(&self) -> &'static [&'static str] {
        &[
            "gemini-pro",
            "gemini-1.5-pro",
            "gemini-1.5-flash",
            "gemini-3-pro-preview",
            "gemini-3-flash-preview",
            "gemini-2.5-pro",
            "gemini-2.5-flash",
            "gemini-2.5-flash-lite",
            "gemini-2.0-flash",
            "gemini-3.1-pro-preview",
            "gemini-3.5-flash",
            "gemini-3.6-flash",
        ]
    }

    fn probe(&self) -> Option<Probe> {
        Some(PROBE)
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
        let failure = ProviderFailure::from_status(status, retry_after);
        match Json::read(body) {
            Ok(document) => with_error(failure, error_object(&document)),
            Err(_) => failure,
        }
    }

    fn open_stream(&self, context: &ReplyContext) -> Box<dyn StreamTranslator + Send> {
        Box::new(stream::Stream::new(context))
    }
}

/// The name of a model without the folder that Google's own lists write before it.
fn bare_name(model: &str) -> &str {
    model.strip_prefix("models/").unwrap_or(model)
}

/// The failure that an error object inside a 200 answer reports, without its message.
fn failure_of(error: &Json<'_>) -> ProviderFailure {
    let status = u16::try_from(error.count_of("code")).unwrap_or_default();
    let failure = ProviderFailure::new(kind_of_status(status));
    with_error(failure, Some(error)).with_message(None)
}

/// Adds the details of an error object: message, retry delay, and whether the key was rejected.
fn with_error(failure: ProviderFailure, error: Option<&Json<'_>>) -> ProviderFailure {
    let Some(error) = error else {
        return failure;
    };
    let mut failure = failure.with_message(error.text_of("message"));
    for detail in error.get("details").map(Json::items).unwrap_or_default() {
        if detail.text_of("reason") == Some("API_KEY_INVALID") {
            failure.kind = FailureKind::AuthFailed;
        }
        if let Some(delay) = detail.text_of("retryDelay") {
            failure.retry_after_s = whole_seconds(delay).or(failure.retry_after_s);
        }
    }
    failure
}
