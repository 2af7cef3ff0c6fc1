//! Reasoning parameters of the models on Bedrock.

use super::super::anthropic::{self, Room};
use super::super::request::Refusal;
use super::super::translate::draft::Draft;
use super::models::{Model, Reasoning};
use crate::json::Json;

/// Limits that the rest of the request sets for thinking.
pub(super) struct Asks {
    /// The caller's limit of tokens.
    pub(super) limit: Option<u64>,
    /// Whether a tool must be called, which excludes thinking.
    pub(super) is_forced: bool,
    /// Whether the caller lost thoughts that would have to return.
    pub(super) lacks_thoughts: bool,
}

/// Writes the reasoning parameters of the model's family. Returns the effort, if effort is a separate setting of
/// Converse.
pub(super) fn write(
    draft: &Draft<'_>,
    model: &Model,
    asks: &Asks,
    additional: &mut Json<'_>,
) -> Result<Option<&'static str>, Refusal> {
    if let Some(claude) = model.claude {
        let room = Room {
            limit: asks.limit.unwrap_or(claude.max_tokens_default),
            is_forced: asks.is_forced,
            lacks_thoughts: asks.lacks_thoughts,
        };
        let effort = anthropic::write_thinking(draft, claude, &room, additional)?;
        // A token budget is derived from the effort and not equal to it.
        let thinking = additional.get("thinking");
        if thinking.is_some_and(|thinking| thinking.get("budget_tokens").is_some()) {
            draft.adjust("reasoning_effort");
        }
        return Ok(effort);
    }
    let Some(asked) = draft.text("reasoning_effort")? else {
        return Ok(None);
    };
    let effort = match asked {
        "none" => None,
        "minimal" | "low" => Some("low"),
        "medium" => Some("medium"),
        "high" | "xhigh" | "max" => Some("high"),
        _ => {
            return Err(Refusal::value(
                "reasoning_effort",
                "this must be none, minimal, low, medium, high, xhigh or max",
            ));
        }
    };
    match (model.traits.reasoning, effort) {
        (Reasoning::OpenWeights, Some(effort)) => {
            name_change(draft, asked, effort);
            additional.insert("reasoning_effort", Json::text(effort));
        }
        (Reasoning::Nova, Some(effort)) => {
            name_change(draft, asked, effort);
            let config = Json::object([
                ("type", Json::text("enabled")),
                ("maxReasoningEffort", Json::text(effort)),
            ]);
            additional.insert("reasoningConfig", config);
        }
        // Nova models reason only if asked to.
        (Reasoning::Nova, None) => {}
        (Reasoning::Unknown | Reasoning::Claude | Reasoning::OpenWeights, _) => {
            draft.drop_parameter("reasoning_effort");
        }
    }
    Ok(None)
}

fn name_change(draft: &Draft<'_>, asked: &str, effort: &str) {
    if asked != effort {
        draft.adjust("reasoning_effort");
    }
}
