//! Abilities of the Gemini models.

/// The abilities of a group of models.
#[derive(Debug, Clone, Copy)]
pub(super) struct Traits {
    /// The group: identifiers that start with this. The longest match counts.
    prefix: &'static str,
    /// The way to ask for reasoning.
    pub(super) thinking: Thinking,
    /// Whether plain JSON Schema is understood, and not only Google's subset of it.
    pub(super) has_json_schema: bool,
}

/// The way to ask for reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thinking {
    /// Not at all.
    Unknown,
    /// By a number of tokens: the least, the most, and whether zero is accepted too.
    Budget {
        least: u64,
        most: u64,
        can_rest: bool,
    },
    /// By a level; not every model knows the levels `minimal` and `medium`.
    Level { has_minimal: bool, has_medium: bool },
}

/// The traits of a model. An unknown model counts as one of the newest.
pub(super) fn traits_of(model: &str) -> &'static Traits {
    TRAITS
        .iter()
        .filter(|row| model.starts_with(row.prefix))
        .max_by_key(|row| row.prefix.len())
        .unwrap_or(&NEWEST)
}

const fn row(prefix: &'static str, thinking: Thinking, has_json_schema: bool) -> Traits {
    Traits {
        prefix,
        thinking,
        has_json_schema,
    }
}

static NEWEST: Traits = row(
    "gemini-",
    Thinking::Level {
        has_minimal: true,
        has_medium: true,
    },
    true,
);

static TRAITS: &[Traits] = &[
    // Oldest first.
    row("gemini-pro", Thinking::Unknown, false),
    row("gemini-1.", Thinking::Unknown, false),
    row("gemini-2.0-", Thinking::Unknown, true),
    row(
        "gemini-2.5-pro",
        Thinking::Budget {
            least: 128,
            most: 32_768,
            can_rest: false,
        },
        true,
    ),
    row(
        "gemini-2.5-flash",
        Thinking::Budget {
            least: 512,
            most: 24_576,
            can_rest: true,
        },
        true,
    ),
    row(
        "gemini-3-pro",
        Thinking::Level {
            has_minimal: false,
            has_medium: false,
        },
        true,
    ),
    row(
        "gemini-3.1-pro",
        Thinking::Level {
            has_minimal: false,
            has_medium: true,
        },
        true,
    ),
];
