//! Requests to a provider, and the reasons to refuse one before it is sent.

use std::borrow::Cow;

use phigate_types::ErrorCode;

use crate::json::Document;
use crate::protect::Kept;
use crate::request::{Aside, Form};

/// A clean request for a format to translate. Only `write_request` makes one, so every translated request has been
/// through the account's mode.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The format of the request.
    pub(super) form: &'static dyn Form,
    /// The request to translate.
    pub(super) document: &'a Document,
    /// The request as the caller sent it, if the mode changed it.
    pub(super) original: Option<&'a Document>,
    /// The model to ask the provider for, after aliases.
    pub(super) model: &'a str,
    /// The field that opens the body, in formats that name the model there.
    pub(super) opening: (&'static str, &'a str),
    /// Whether a stream was asked for.
    pub(super) stream: bool,
    /// A keyed hash of the caller's end user, who is never named in the clear in translation.
    pub(super) hash_user: &'a dyn Fn(&str) -> String,
    /// The caller's data outside the body.
    pub(super) aside: &'a Aside,
    /// Whether the policy lets no unscanned content pass, so that the form's settings are forced.
    pub(super) is_strict: bool,
}

/// A request in a provider's format, not yet cleared to leave: [`crate::egress::clear`] takes it.
///
/// It is written only from a clean request; bytes will not do:
///
/// ```compile_fail,E0308
/// # use phigate_core::wire::{ProviderRequest, Refusal, Site, WireFormat};
/// # use phigate_types::ProviderKind;
/// # fn raw(format: &dyn WireFormat, body: &[u8]) -> Result<ProviderRequest, Refusal> {
/// format.write_request(body, &Site::new(ProviderKind::OpenAi, "gpt-4o"), &|user| user.to_owned())
/// # }
/// ```
pub struct ProviderRequest {
    pub(crate) translated: Translated,
    /// The format of the caller's request.
    pub(crate) form: &'static dyn Form,
    /// The findings that leave as they are.
    pub(crate) kept: Kept,
    /// Whether translation changed a request that may leave only without PHI.
    pub(crate) needs_rescan: bool,
    /// Whether PHI would become part of the address.
    pub(crate) has_phi_in_path: bool,
}

impl std::fmt::Debug for ProviderRequest {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "ProviderRequest({} bytes)", self.translated.body.len())
    }
}

/// A translated call.
pub struct Translated {
    /// Path segments under the provider's address; the first is the version. The sender encodes each segment.
    pub(crate) path: Vec<String>,
    /// The query, without the question mark.
    pub(crate) query: Option<Cow<'static, str>>,
    /// All headers to send, apart from those of HTTP itself and the credentials. No caller header may be added.
    pub(crate) headers: &'static [Header],
    /// Provider headers that the caller gave; each replaces the header of that name.
    pub(crate) given: Vec<(&'static str, String)>,
    /// The JSON body.
    pub(crate) body: Vec<u8>,
    /// Whether the body is the caller's, apart from the model's name, which the account sets.
    pub(crate) is_as_scanned: bool,
    /// Parameters with a value that was changed to one that the provider accepts.
    pub(crate) adjusted: Vec<String>,
    /// Parameters that the provider does not have.
    pub(crate) dropped: Vec<String>,
    /// Data for the reply.
    pub(crate) expectation: Expectation,
}

/// A header to a provider.
pub type Header = (&'static str, &'static str);

/// A request that checks the connection and the key of a provider: a GET without cost.
#[derive(Debug, Clone, Copy)]
pub struct Probe {
    /// Path segments under the provider's address.
    pub path: &'static [&'static str],
    /// The headers, apart from the credentials.
    pub headers: &'static [Header],
}

/// Data of the request that its reply needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expectation {
    /// The caller asked for a usage chunk at the end of the stream.
    pub(super) include_usage: bool,
    /// The name of the answer tool: its input is the reply's content.
    pub(super) answer_tool: Option<String>,
}

/// The reason why a request cannot be translated. Never quotes content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The error code.
    pub code: ErrorCode,
    /// The field to blame, such as `messages[2].content[0]`.
    pub param: String,
    /// The message for people.
    pub message: Cow<'static, str>,
}

impl Refusal {
    pub(super) fn value(param: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code: ErrorCode::InvalidValue,
            param: param.into(),
            message: message.into(),
        }
    }

    pub(super) fn kind(param: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code: ErrorCode::InvalidType,
            param: param.into(),
            message: message.into(),
        }
    }

    /// Refuses a format that the provider does not speak.
    pub(super) fn not_here() -> Self {
        Self::value("model", "this model is not served at this path")
    }

    pub(super) fn missing(param: impl Into<String>) -> Self {
        Self {
            code: ErrorCode::MissingRequiredParameter,
            param: param.into(),
            message: "this field is required".into(),
        }
    }
}

/// Whether a model identifier has only the usual characters of identifiers.
pub(super) fn is_plain_identifier(model: &str) -> bool {
    (1..=128).contains(&model.len())
        && model
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}
