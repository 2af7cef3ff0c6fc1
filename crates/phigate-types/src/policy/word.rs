//! The word of an account about a kind of PHI.

use crate::Mode;
use crate::code::coded;

/// Treatment of a kind of PHI, as an account says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// The kind is not looked for.
    Off,
    /// The kind is treated as in this mode.
    Treat(Mode),
}

const OFF: &str = "off";

impl Word {
    /// Every word, from the weakest to the strongest.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        let of_strength = |strength| Mode::all().find(|mode| mode.strength == strength);
        let modes = (1..).map_while(of_strength);
        std::iter::once(Self::Off).chain(modes.map(Self::Treat))
    }

    /// Code in settings, records and on the command line.
    pub fn code(self) -> &'static str {
        match self {
            Self::Off => OFF,
            Self::Treat(mode) => mode.code(),
        }
    }

    /// Place in the order of strength: `off`, then `flag`, `mask`, `redact`, `block`.
    pub fn strength(self) -> u8 {
        match self {
            Self::Off => 0,
            Self::Treat(mode) => mode.strength,
        }
    }
}

coded!(Word, "action of a policy");
