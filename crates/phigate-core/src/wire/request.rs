//! What goes out to a provider, and why a request may be refused before that.

use super::tree::{Json, span_of_member};
use std::borrow::Cow;

/// A caller's request, checked and after the mode was applied.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The JSON object to translate.
    pub body: &'a [u8],
    /// The object as the caller sent it, where the mode changed it.
    pub original: Option<&'a [u8]>,
    /// The model to ask the provider for, after aliases.
    pub model: &'a str,
    /// Whether a stream was asked for.
    pub stream: bool,
    /// A keyed hash of the caller's end user. Who the end user is never leaves as it is in translation.
    pub hash_user: &'a dyn Fn(&str) -> String,
}

/// A request ready to be sent, but for the address and the key.
#[derive(Clone)]
pub struct ProviderRequest {
    /// Path segments under the provider's address; the first is the version. The sender encodes each on its own.
    pub path: Vec<String>,
    /// The query, without the question mark.
    pub query: Option<&'static str>,
    /// All headers to send, apart from those of HTTP itself. Nothing else may be added from the caller.
    pub headers: Vec<(&'static str, HeaderValue)>,
    /// The JSON body.
    pub body: Vec<u8>,
    /// Parameters whose value was changed to one that the provider accepts.
    pub adjusted: Vec<String>,
    /// Parameters that the provider has no word for.
    pub dropped: Vec<String>,
    /// What the reply needs to know.
    pub expectation: Expectation,
}

/// The value of a header to a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderValue {
    /// This text.
    Fixed(&'static str),
    /// The provider's key.
    Key,
    /// `Bearer ` and the provider's key.
    BearerKey,
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
    /// The error code.
    pub code: RefusalCode,
    /// The field to blame, such as `messages[2].content[0]`.
    pub param: String,
    /// What is wrong with it, for people.
    pub message: Cow<'static, str>,
}

/// The codes of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalCode {
    /// The value has the wrong JSON type.
    InvalidType,
    /// The value cannot be sent to this provider.
    InvalidValue,
    /// A field is missing.
    MissingRequiredParameter,
}

impl RefusalCode {
    /// The code as callers see it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidType => "invalid_type",
            Self::InvalidValue => "invalid_value",
            Self::MissingRequiredParameter => "missing_required_parameter",
        }
    }
}

impl Refusal {
    pub(super) fn value(param: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code: RefusalCode::InvalidValue,
            param: param.into(),
            message: message.into(),
        }
    }

    pub(super) fn kind(param: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code: RefusalCode::InvalidType,
            param: param.into(),
            message: message.into(),
        }
    }

    pub(super) fn missing(param: impl Into<String>) -> Self {
        Self {
            code: RefusalCode::MissingRequiredParameter,
            param: param.into(),
            message: "this field is required".into(),
        }
    }
}

/// The caller's body as text.
pub(super) fn body_text<'a>(call: &Call<'a>) -> Result<&'a str, Refusal> {
    std::str::from_utf8(call.body).map_err(|_| Refusal::value("", "the body is not UTF-8"))
}

/// The caller's body as a tree.
pub(super) fn body_tree<'a>(call: &Call<'a>) -> Result<Json<'a>, Refusal> {
    let tree =
        Json::read(body_text(call)?).map_err(|_| Refusal::value("", "the body is not JSON"))?;
    if tree.is_object() {
        Ok(tree)
    } else {
        Err(Refusal::kind("", "the body is not an object"))
    }
}

/// The body with the model replaced when an alias says so, and otherwise untouched.
pub(super) fn with_model(call: &Call<'_>) -> Result<Vec<u8>, Refusal> {
    let text = body_text(call)?;
    let span = span_of_member(text, "model").ok_or_else(|| Refusal::missing("model"))?;
    let is_as_sent =
        Json::read(&text[span.clone()]).is_ok_and(|model| model.as_text() == Some(call.model));
    if is_as_sent {
        return Ok(call.body.to_vec());
    }
    let mut body = call.body[..span.start].to_vec();
    super::tree::write_text(call.model, &mut body);
    body.extend_from_slice(&call.body[span.end..]);
    Ok(body)
}

/// Whether a model identifier has only the letters that identifiers are made of.
pub(super) fn is_plain_identifier(model: &str) -> bool {
    (1..=128).contains(&model.len())
        && model
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}
