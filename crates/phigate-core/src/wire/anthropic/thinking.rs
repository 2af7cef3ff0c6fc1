//! Reasoning parameters of Anthropic's models.

use super::super::request::Refusal;
use super::super::translate::draft::Draft;
use super::super::translate::messages::{Message, Role};
use super::conversation::Thoughts;
use super::models::{Thinking, Traits};
use crate::json::Json;

/// Limits that the rest of the request sets for thinking.
pub(in super::super) struct Room {
    /// The limit of tokens.
    pub(in super::super) limit: u64,
    /// Whether a tool must be called, which excludes thinking.
    pub(in super::super) is_forced: bool,
    /// Whether the caller lost thoughts that would have to return.
    pub(in super::super) lacks_thoughts: bool,
}

/// The smallest budget that the provider accepts.
const BUDGET_MIN: u64 = 1_024;

/// Writes the model's reasoning parameters. Returns the effort, if effort is a separate setting.
pub(in super::super) fn write(
    draft: &Draft<'_>,
    traits: &Traits,
    room: &Room,
    body: &mut Json<'_>,
) -> Result<Option<&'static str>, Refusal> {
    let Some(asked) = draft.text("reasoning_effort")? else {
        return Ok(None);
    };
    let (budget, effort) = match asked {
        "none" => {
            rest(draft, traits, body);
            return Ok(None);
        }
        "minimal" | "low" => (BUDGET_MIN, "low"),
        "medium" => (2_048, "medium"),
        "high" => (4_096, "high"),
        "xhigh" => (8_192, "xhigh"),
        "max" => (16_384, "max"),
        _ => {
            return Err(Refusal::value(
                "reasoning_effort",
                "this must be none, minimal, low, medium, high, xhigh or max",
            ));
        }
    };
    match traits.thinking {
        Thinking::Unknown => draft.drop_parameter("reasoning_effort"),
        _ if room.is_forced => draft.drop_parameter("reasoning_effort"),
        Thinking::Budget => write_budget(draft, room, budget, body),
        Thinking::Effort | Thinking::EffortShown | Thinking::Always => {
            return Ok(Some(write_adaptive(draft, traits, asked, effort, body)));
        }
    }
    Ok(None)
}

/// Asks for no reasoning.
fn rest(draft: &Draft<'_>, traits: &Traits, body: &mut Json<'_>) {
    match traits.thinking {
        Thinking::Unknown | Thinking::Budget => {}
        Thinking::Effort | Thinking::EffortShown => {
            body.insert("thinking", Json::object([("type", Json::text("disabled"))]));
        }
        Thinking::Always => draft.drop_parameter("reasoning_effort"),
    }
}

/// Writes a token budget, unless the limit is too short or thoughts were lost on the way.
fn write_budget(draft: &Draft<'_>, room: &Room, budget: u64, body: &mut Json<'_>) {
    if room.limit <= BUDGET_MIN || room.lacks_thoughts {
        draft.drop_parameter("reasoning_effort");
        return;
    }
    if budget >= room.limit {
        draft.adjust("reasoning_effort");
    }
    let thinking = Json::object([
        ("type", Json::text("enabled")),
        ("budget_tokens", budget.min(room.limit - 1).into()),
    ]);
    body.insert("thinking", thinking);
}

/// Writes an effort, which the model turns into a budget itself.
fn write_adaptive(
    draft: &Draft<'_>,
    traits: &Traits,
    asked: &str,
    effort: &'static str,
    body: &mut Json<'_>,
) -> &'static str {
    let is_shown_unasked = traits.thinking == Thinking::Effort;
    let effort = if is_shown_unasked && effort == "xhigh" {
        "high"
    } else {
        effort
    };
    if effort != asked {
        draft.adjust("reasoning_effort");
    }
    let mut thinking = Json::object([("type", Json::text("adaptive"))]);
    if !is_shown_unasked {
        thinking.insert("display", Json::text("summarized"));
    }
    body.insert("thinking", thinking);
    effort
}

/// Whether the turn that called the last tools lacks its thoughts. With a budget it must bring them back; a caller that
/// lost them cannot.
pub(in super::super) fn lacks_thoughts(thoughts: &Thoughts<'_>, messages: &[Message<'_>]) -> bool {
    let last_turn = messages
        .iter()
        .rev()
        .take_while(|message| message.role != Role::User);
    last_turn
        .filter(|message| !message.calls.is_empty())
        .any(|message| thoughts.of(message).is_empty())
}
