//! Reasoning parameters of Google's models.

use super::super::request::Refusal;
use super::super::translate::draft::Draft;
use super::models::{Thinking, Traits};
use crate::json::Json;

/// Asks for reasoning in the way of the model.
pub(super) fn write(
    draft: &Draft<'_>,
    traits: &Traits,
    config: &mut Json<'_>,
) -> Result<(), Refusal> {
    let Some(asked) = draft.text("reasoning_effort")? else {
        return Ok(());
    };
    // The budgets are those of Google's OpenAI-compatible API.
    let budget = match asked {
        "none" | "minimal" => 0,
        "low" => 1_024,
        "medium" => 8_192,
        "high" | "xhigh" | "max" => 24_576,
        _ => {
            return Err(Refusal::value(
                "reasoning_effort",
                "this must be none, minimal, low, medium, high, xhigh or max",
            ));
        }
    };
    let thinking = match traits.thinking {
        Thinking::Unknown => None,
        Thinking::Budget { can_rest, .. } if asked == "none" => {
            can_rest.then(|| Json::object([("thinkingBudget", 0.into())]))
        }
        Thinking::Budget { most, .. } if asked == "max" => Some(with_budget(most)),
        Thinking::Budget { least, .. } => Some(with_budget(budget.max(least))),
        Thinking::Level {
            has_minimal,
            has_medium,
        } => with_level(draft, asked, has_minimal, has_medium),
    };
    match thinking {
        Some(thinking) => config.insert("thinkingConfig", thinking),
        None if asked == "none" && traits.thinking == Thinking::Unknown => {}
        None => draft.drop_parameter("reasoning_effort"),
    }
    Ok(())
}

fn with_budget(budget: u64) -> Json<'static> {
    Json::object([
        ("includeThoughts", true.into()),
        ("thinkingBudget", budget.into()),
    ])
}

/// The nearest supported level; `None` for `none` if the model cannot switch reasoning off.
fn with_level(
    draft: &Draft<'_>,
    asked: &str,
    has_minimal: bool,
    has_medium: bool,
) -> Option<Json<'static>> {
    let level = match asked {
        "none" | "minimal" if has_minimal => "minimal",
        "none" => return None,
        "minimal" | "low" => "low",
        "medium" if has_medium => "medium",
        _ => "high",
    };
    if level != asked {
        draft.adjust("reasoning_effort");
    }
    Some(Json::object([
        ("includeThoughts", true.into()),
        ("thinkingLevel", Json::text(level)),
    ]))
}
