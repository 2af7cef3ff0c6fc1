//! Tones on a page, from calm to alarming.

/// A colour of the dashboard, shared by chips, dots and charts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tone {
    /// Nothing special.
    Plain,
    /// Success.
    Good,
    /// Finished, or never started.
    Grey,
    /// Changed as intended.
    Info,
    /// Removed.
    Violet,
    /// Needs attention.
    Warn,
    /// Failed or stopped.
    Bad,
}

impl Tone {
    /// Class in the style sheet.
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
