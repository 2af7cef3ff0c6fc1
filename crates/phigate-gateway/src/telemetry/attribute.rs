//! Attributes of spans and metrics. They can only be made from closed types, so that no text of a caller or provider
//! can become one:
//!
//! ```
//! use phigate_gateway::Attribute;
//! use phigate_types::ErrorCode;
//!
//! let attribute = Attribute::error(ErrorCode::InvalidJson);
//! assert_eq!(attribute.key(), "error.type");
//! ```
//!
//! Text is not a value:
//!
//! ```compile_fail
//! use phigate_gateway::Attribute;
//!
//! let attribute = Attribute::error("Jane Roe");
//! ```
//!
//! A model that a caller asked for is not a listed model:
//!
//! ```compile_fail
//! use phigate_gateway::{Attribute, ListedModel};
//!
//! let attribute = Attribute::model(&ListedModel("gpt-jane-roe".into()));
//! ```
//!
//! An attribute cannot be put together by hand:
//!
//! ```compile_fail
//! use phigate_gateway::Attribute;
//!
//! let attribute = Attribute { key: "note", value: "Jane Roe".into() };
//! ```

use http::StatusCode;
use phigate_core::doors::Door;
use phigate_store::ProviderConfig;
use phigate_types::{Action, ErrorCode, Mode, ProviderKind};
use smol_str::SmolStr;
use uuid::Uuid;

use crate::finish_reason::FinishReason;

/// A fact about a request that holds no content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    key: &'static str,
    value: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Word(&'static str),
    /// List with one word.
    Words(&'static str),
    /// Name that an owner gave.
    Name(SmolStr),
    Number(u64),
    Id(Uuid),
}

/// Value of an attribute, for encoding.
pub(crate) enum Shown<'a> {
    Text(std::borrow::Cow<'a, str>),
    List(&'static str),
    Number(u64),
}

/// Identifier of a model that an owner listed at a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedModel(SmolStr);

impl ListedModel {
    /// The identifier as the owner wrote it; `None` if the model is not listed by name.
    pub(crate) fn find(config: &ProviderConfig, model: &str) -> Option<Self> {
        let mut listed = config.models.iter().filter(|entry| !entry.is_pattern());
        let entry = listed.find(|entry| entry.id() == model)?;
        Some(Self(entry.id().into()))
    }
}

/// Operation of a model, by the convention for generative AI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation(&'static str);

impl Operation {
    /// Operation of a door.
    pub fn at(door: &'static Door) -> Self {
        Self(door.operation)
    }
}

impl Attribute {
    /// Name of the attribute.
    pub fn key(&self) -> &'static str {
        self.key
    }

    pub(crate) fn shown(&self) -> Shown<'_> {
        match &self.value {
            Value::Word(word) => Shown::Text((*word).into()),
            Value::Words(word) => Shown::List(word),
            Value::Name(name) => Shown::Text(name.as_str().into()),
            Value::Number(number) => Shown::Number(*number),
            Value::Id(id) => Shown::Text(id.to_string().into()),
        }
    }

    /// Reason of a failure.
    pub fn error(code: ErrorCode) -> Self {
        Self::word("error.type", code.code())
    }

    /// Status of an answer.
    pub fn status(status: StatusCode) -> Self {
        let value = Value::Number(status.as_u16().into());
        Self {
            key: "http.response.status_code",
            value,
        }
    }

    /// Path of a door.
    pub fn route(door: &'static Door) -> Self {
        Self::word("http.route", door.path)
    }

    /// Operation of the model.
    pub fn operation(operation: Operation) -> Self {
        Self::word("gen_ai.operation.name", operation.0)
    }

    /// Kind of the provider.
    pub fn provider(kind: ProviderKind) -> Self {
        Self::word("gen_ai.provider.name", kind.convention())
    }

    /// Model that was asked for.
    pub fn model(model: &ListedModel) -> Self {
        Self {
            key: "gen_ai.request.model",
            value: Value::Name(model.0.clone()),
        }
    }

    /// Reason why the answer ended, in OpenAI's words.
    pub fn finish_reason(reason: FinishReason) -> Self {
        Self {
            key: "gen_ai.response.finish_reasons",
            value: Value::Words(reason.word()),
        }
    }

    /// Type of tokens in a metric.
    pub(crate) fn token_type(is_input: bool) -> Self {
        let word = if is_input { "input" } else { "output" };
        Self::word("gen_ai.token.type", word)
    }

    /// Tokens of the prompt.
    pub fn input_tokens(tokens: u64) -> Self {
        Self::number("gen_ai.usage.input_tokens", tokens)
    }

    /// Tokens of the answer.
    pub fn output_tokens(tokens: u64) -> Self {
        Self::number("gen_ai.usage.output_tokens", tokens)
    }

    /// Mode of the account.
    pub fn mode(mode: Mode) -> Self {
        Self::word("phigate.mode", mode.code())
    }

    /// Action of the decision.
    pub fn action(action: Action) -> Self {
        Self::word("phigate.action", action.code())
    }

    /// Number of findings.
    pub fn findings(count: usize) -> Self {
        Self::number("phigate.findings", count as u64)
    }

    /// Id of the request, under which its records are found.
    pub fn request_id(id: Uuid) -> Self {
        Self {
            key: "phigate.request_id",
            value: Value::Id(id),
        }
    }

    fn word(key: &'static str, word: &'static str) -> Self {
        let value = Value::Word(word);
        Self { key, value }
    }

    fn number(key: &'static str, number: u64) -> Self {
        let value = Value::Number(number);
        Self { key, value }
    }
}
