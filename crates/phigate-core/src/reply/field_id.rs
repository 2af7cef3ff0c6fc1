//! Names of the texts in a reply.

/// A text of one choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FieldId {
    pub(super) choice: u64,
    pub(super) part: Part,
}

/// Which text of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// Thinking aloud, under the name this server uses.
    Reasoning(&'static str),
    Content,
    Refusal,
    Transcript,
    /// The arguments of the one function of old requests.
    Function,
    /// The arguments of a tool call.
    Arguments(u64),
    /// The free text for a custom tool.
    Input(u64),
}
