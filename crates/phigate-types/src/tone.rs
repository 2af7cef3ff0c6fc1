//! Tones: how something looks on a page, from calm to alarming.

/// One colour of the dashboard. Chips, dots and charts use the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tone {
    /// Nothing to notice.
    Plain,
    /// All is well.
    Good,
    /// Over and done with, or never begun.
    Grey,
    /// Something was changed as it should be.
    Info,
    /// Something was taken out.
    Violet,
    /// Worth a look.
    Warn,
    /// Something went wrong or was stopped.
    Bad,
}

impl Tone {
    /// The class in the style sheet.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Good => "ok",
            Self::Grey => "grey",
            Self::Info => "info",
            Self::Violet => "violet",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }
}

impl std::fmt::Display for Tone {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.class())
    }
}
