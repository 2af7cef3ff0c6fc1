//! Names of the texts in a reply.

/// A text of one choice, or of one block or item of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FieldId {
    pub(crate) choice: u64,
    pub(crate) part: Part,
    /// Number of the tool call, or of the part, among several such texts.
    pub(crate) number: u64,
}

impl FieldId {
    /// The only text of its kind.
    pub(crate) fn new(choice: u64, part: Part) -> Self {
        Self::numbered(choice, part, 0)
    }

    /// Makes the id of a text among several of a kind.
    pub(crate) fn numbered(choice: u64, part: Part, number: u64) -> Self {
        Self {
            choice,
            part,
            number,
        }
    }
}

/// Text of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Part {
    /// Thinking aloud, under the name this server uses.
    Reasoning(&'static str),
    /// Thinking that the provider signs: values that were masked are not restored in it.
    Signed,
    Content,
    Refusal,
    Transcript,
    /// The arguments of the one function of old requests.
    Function,
    /// The arguments of a tool call.
    Arguments,
    /// The free text for a custom tool.
    Input,
    /// Other text of the reply.
    Other,
    /// A title, or a text that the door does not know. Values are not restored in it: a program may make an address of
    /// it.
    Beside,
}

impl Part {
    /// The member that holds such a text in a reply.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Reasoning(name) => name,
            Self::Signed => "thinking",
            Self::Content => "content",
            Self::Refusal => "refusal",
            Self::Transcript => "transcript",
            Self::Function | Self::Arguments => "arguments",
            Self::Input => "input",
            Self::Other | Self::Beside => "other",
        }
    }
}
