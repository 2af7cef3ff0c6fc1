//! Number of people that a look at content takes.

use crate::code::coded;

/// Number of people that revealing content takes in an account.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Approvals {
    /// A person with the right, alone.
    #[default]
    One,
    /// A second person approves.
    Two,
}

/// Code, label and effect of each choice.
const ROWS: &[(Approvals, &str, &str, &str)] = &[
    // One row per choice.
    (
        Approvals::One,
        "1",
        "One person",
        "An owner or auditor reveals content alone, with a reason.",
    ),
    (
        Approvals::Two,
        "2",
        "Two people",
        "One owner or auditor asks with a reason, another approves within 30 minutes. Alone, content is revealed only as an emergency, which raises an alert.",
    ),
];

impl Approvals {
    /// Every choice, in the order in which they are offered.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        ROWS.iter().map(|row| row.0)
    }

    /// Code in settings and on the command line.
    pub const fn code(self) -> &'static str {
        ROWS[self as usize].1
    }

    /// Name for people.
    pub const fn label(self) -> &'static str {
        ROWS[self as usize].2
    }

    /// Effect, for the owner who chooses.
    pub const fn summary(self) -> &'static str {
        ROWS[self as usize].3
    }
}

coded!(Approvals, "number of approvals");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn approvals_parse_back() {
        for (number, choice) in Approvals::all().enumerate() {
            assert_eq!(choice as usize, number);
            assert_eq!(choice.code().parse(), Ok(choice));
        }
        assert!("3".parse::<Approvals>().is_err());
    }
}
