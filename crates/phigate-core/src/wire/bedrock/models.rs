//! Abilities of the models on Bedrock. They differ by maker, and a model refuses a parameter that it does not know.

use super::super::anthropic;

/// The abilities of a group of models.
#[derive(Debug, Clone, Copy)]
pub(super) struct Traits {
    /// The group: identifiers that hold this. The longest match counts.
    mark: &'static str,
    /// Accepted forced choices among tools.
    pub(super) force: Force,
    /// The way to ask for reasoning.
    pub(super) reasoning: Reasoning,
    /// Whether answers can follow a schema, and tools can be strict.
    pub(super) has_schemas: bool,
    /// Whether prompts can be marked for the cache.
    pub(super) has_cache: bool,
    /// Whether system content is accepted.
    pub(super) has_system: bool,
}

/// Forced choices among tools that a model accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Force {
    /// No forced choice.
    Nothing,
    /// A call of any tool.
    Any,
    /// A call of any tool or of a named one.
    AnyOrNamed,
}

/// The way to ask for reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reasoning {
    /// Not at all.
    Unknown,
    /// As Anthropic's API does.
    Claude,
    /// `reasoning_effort`, as OpenAI's open models do.
    OpenWeights,
    /// `reasoningConfig`, as Amazon's second generation does.
    Nova,
}

/// A model: its group, and its traits at Anthropic if it is a Claude model.
pub(super) struct Model {
    /// The group.
    pub(super) traits: &'static Traits,
    /// The traits in Anthropic's API.
    pub(super) claude: Option<&'static anthropic::Traits>,
}

/// The model for an identifier. The ARN of a profile or of provisioned throughput does not name its model, so the name
/// that the caller used is tried too.
pub(super) fn model_of(upstream: &str, asked: &str) -> Model {
    let found = [upstream, asked].into_iter().find_map(|name| {
        let traits = traits_of(name)?;
        Some((name, traits))
    });
    let (name, traits) = found.unwrap_or((upstream, &UNKNOWN));
    let claude = name.find("claude-").filter(|_| is_claude(traits));
    Model {
        traits,
        claude: claude.map(|at| anthropic::traits_of(&name[at..])),
    }
}

fn is_claude(traits: &Traits) -> bool {
    traits.mark.starts_with("claude-")
}

fn traits_of(name: &str) -> Option<&'static Traits> {
    TRAITS
        .iter()
        .filter(|row| name.contains(row.mark))
        .max_by_key(|row| row.mark.len())
}

/// Whether this looks like one of Bedrock's identifiers: a maker and a name, perhaps behind a region, or an ARN.
pub(super) fn is_identifier(model: &str) -> bool {
    let is_plain = (1..=256).contains(&model.len())
        && model.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b':' | b'/')
        });
    is_plain
        && (model.starts_with("arn:")
            || model.split('.').nth(1).is_some_and(|name| !name.is_empty()))
}

const fn row(mark: &'static str, force: Force, reasoning: Reasoning) -> Traits {
    Traits {
        mark,
        force,
        reasoning,
        has_schemas: false,
        has_cache: false,
        has_system: true,
    }
}

const fn claude(mark: &'static str, has_schemas: bool) -> Traits {
    Traits {
        has_schemas,
        has_cache: true,
        ..row(mark, Force::AnyOrNamed, Reasoning::Claude)
    }
}

const fn without_system(mark: &'static str) -> Traits {
    Traits {
        has_system: false,
        ..row(mark, Force::Nothing, Reasoning::Unknown)
    }
}

const fn with_schemas(traits: Traits) -> Traits {
    Traits {
        has_schemas: true,
        ..traits
    }
}

const fn with_cache(traits: Traits) -> Traits {
    Traits {
        has_cache: true,
        ..traits
    }
}

/// Traits of an unknown model: those of most models.
static UNKNOWN: Traits = row("", Force::AnyOrNamed, Reasoning::Unknown);

#[rustfmt::skip]
static TRAITS: &[Traits] = &[
    // By maker. Converse's page of supported features is the authority.
    row("ai21.", Force::Nothing, Reasoning::Unknown),
    with_cache(row("amazon.nova", Force::AnyOrNamed, Reasoning::Unknown)),
    with_cache(row("amazon.nova-2", Force::AnyOrNamed, Reasoning::Nova)),
    without_system("amazon.titan-text"),
    claude("claude-", true),
    claude("claude-2", false),
    claude("claude-3", false),
    claude("claude-instant", false),
    claude("claude-opus-4-1", false),
    claude("claude-opus-4-2025", false),
    claude("claude-sonnet-4-2025", false),
    row("cohere.", Force::Nothing, Reasoning::Unknown),
    row("deepseek.", Force::Nothing, Reasoning::Unknown),
    with_schemas(row("deepseek.v3", Force::Nothing, Reasoning::Unknown)),
    row("meta.", Force::Nothing, Reasoning::Unknown),
    row("mistral.", Force::Any, Reasoning::Unknown),
    without_system("mistral.mistral-7b"),
    without_system("mistral.mixtral"),
    with_schemas(row("openai.gpt-oss", Force::Nothing, Reasoning::OpenWeights)),
    with_schemas(row("qwen.", Force::Nothing, Reasoning::Unknown)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_is_found_by_identifier_or_alias() {
        for (upstream, asked, mark, is_claude) in [
            (
                "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                "m",
                "claude-",
                true,
            ),
            (
                "anthropic.claude-3-haiku-20240307-v1:0",
                "m",
                "claude-3",
                true,
            ),
            (
                "anthropic.claude-sonnet-4-20250514-v1:0",
                "m",
                "claude-sonnet-4-2025",
                true,
            ),
            (
                "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-1-20250805-v1:0",
                "m",
                "claude-opus-4-1",
                true,
            ),
            (
                "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc",
                "claude-sonnet-4-5",
                "claude-",
                true,
            ),
            (
                "arn:aws:bedrock:us-east-1:1:provisioned-model/abc",
                "m",
                "",
                false,
            ),
            ("amazon.nova-pro-v1:0", "claude-3", "amazon.nova", false),
            (
                "global.amazon.nova-2-lite-v1:0",
                "m",
                "amazon.nova-2",
                false,
            ),
        ] {
            let model = model_of(upstream, asked);
            assert_eq!(
                (model.traits.mark, model.claude.is_some()),
                (mark, is_claude),
                "{upstream}"
            );
        }
    }

    #[test]
    fn identifiers_are_maker_and_name_or_arn() {
        for (model, is_one) in [
            ("amazon.nova-pro-v1:0", true),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", true),
            ("arn:aws:bedrock:us-east-1:1:provisioned-model/abc", true),
            ("gpt-4o", false),
            ("a.b c", false),
            ("amazon.", false),
            ("", false),
        ] {
            assert_eq!(is_identifier(model), is_one, "{model}");
        }
    }
}
