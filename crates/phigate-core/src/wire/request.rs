//! What goes out to a provider, and why a request may be refused before that.

use std::borrow::Cow;

use phigate_types::ErrorCode;

use crate::json::Document;
use crate::request::{Aside, Form};

/// A clean request as a format translates it. Only `write_request` makes one, so what is
/// translated has been through the account's mode.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The format that the request is written in.
    pub(super) form: &'static dyn Form,
    /// The request to translate.
    pub(super) document: &'a Document,
    /// The request as the caller sent it, where the mode changed it.
    pub(super) original: Option<&'a Document>,
    /// The model to ask the provider for, after aliases.
    pub(super) model: &'a str,
    /// The field that opens the body of a format that names its model there.
    pub(super) opening: (&'static str, &'a str),
    /// Whether a stream was asked for.
    pub(super) stream: bool,
    /// A keyed hash of the caller's end user. Who the end user is never leaves as it is in translation.
    pub(super) hash_user: &'a dyn Fn(&str) -> String,
    /// What the caller said besides the body.
    pub(super) aside: &'a Aside,
    /// Whether the mode lets nothing pass unseen, so that the form's settings are made.
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
    /// The format that its caller wrote it in.
    pub(crate) form: &'static dyn Form,
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

/// What a format makes of a call.
pub struct Translated {
    /// Path segments under the provider's address; the first is the version. The sender encodes each on its own.
    pub(crate) path: Vec<String>,
    /// The query, without the question mark.
    pub(crate) query: Option<Cow<'static, str>>,
    /// All headers to send, apart from those of HTTP itself and what proves who asks. Nothing else may be added from
    /// the caller.
    pub(crate) headers: &'static [Header],
    /// Headers that the caller gave for the provider, in place of those of the same name.
    pub(crate) given: Vec<(&'static str, String)>,
    /// The JSON body.
    pub(crate) body: Vec<u8>,
    /// Whether the body is the caller's, apart from the model's name, which is the owner's.
    pub(crate) is_as_scanned: bool,
    /// Parameters whose value was changed to one that the provider accepts.
    pub(crate) adjusted: Vec<String>,
    /// Parameters that the provider does not have.
    pub(crate) dropped: Vec<String>,
    /// What the reply needs to know.
    pub(crate) expectation: Expectation,
}

/// A header to a provider.
pub type Header = (&'static str, &'static str);

/// How to ask whether a provider answers and takes its key: a GET that costs nothing.
#[derive(Debug, Clone, Copy)]
pub struct Probe {
    /// Path segments under the provider's address.
    pub path: &'static [&'static str],
    /// The headers, apart from what proves who asks.
    pub headers: &'static [Header],
}

/// What the reply needs to know about its request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expectation {
    /// The caller asked for a usage chunk at the end of the stream.
    pub(super) include_usage: bool,
    /// A tool of this name stands for the structured answer: its input is the reply's content.
    pub(super) answer_tool: Option<String>,
}

/// Why a request cannot be translated. Never quotes content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Why, by the table of errors.
    pub code: ErrorCode,
    /// The field to blame, such as `messages[2].content[0]`.
    pub param: String,
    /// What is wrong with it, for people.
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

    /// The provider does not speak the format that the caller wrote.
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

/// Whether a model identifier has only the letters that identifiers are made of.
pub(super) fn is_plain_identifier(model: &str) -> bool {
    (1..=128).contains(&model.len())
        && model
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}
