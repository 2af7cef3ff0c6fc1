//! Roles of people and admin keys, and the rights that each has.
//!
//! One table: the command line, the pages and their buttons, the admin API and the documents follow from it.

use crate::code::coded;

macro_rules! rights {
    ($($(#[$attribute:meta])* $name:ident $words:literal;)*) => {
        /// Permission to do one kind of thing in an account.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Right {
            $($(#[$attribute])* #[doc = $words] $name,)*
        }

        const RIGHTS: &[(Right, &str)] = &[$((Right::$name, $words),)*];
    };
}

rights! {
    // From the least to the most: variant, words.
    Figures "see the figures and the health of the account";
    Requests "read requests with their findings, without values";
    Trail "read and export all records, and verify them";
    Reveal "reveal content and look up identifiers, with a reason";
    Settings "read settings, providers and keys";
    Configure "change providers, keys, policy and limits";
    SeePeople "see users, their sessions and the way they sign in";
    Retention "change retention and the legal hold";
    Exports "send records to targets outside";
    People "change users, how they sign in, and admin keys";
}

impl Right {
    /// Every right.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        RIGHTS.iter().map(|row| row.0)
    }

    /// Words for people, after "may".
    pub fn words(self) -> &'static str {
        RIGHTS[self as usize].1
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// Set of rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rights(u16);

impl Rights {
    /// Set of these rights.
    const fn of(rights: &[Right]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < rights.len() {
            bits |= rights[at].bit();
            at += 1;
        }
        Self(bits)
    }

    /// Whether a right is in the set.
    pub const fn has(self, right: Right) -> bool {
        self.0 & right.bit() != 0
    }

    /// Rights of either set: of a person with several roles.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Role of a person or an admin key in an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Every right.
    Owner,
    /// Runs the account; never sees content, users or retention.
    Operator,
    /// Reads everything; changes nothing.
    Auditor,
    /// Reads findings and counts, without values.
    Reviewer,
    /// Sees figures.
    Viewer,
}

struct Row {
    role: Role,
    code: &'static str,
    label: &'static str,
    summary: &'static str,
    rights: Rights,
}

const ROWS: &[Row] = &[
    // From the most rights to the fewest.
    Row {
        role: Role::Owner,
        code: "owner",
        label: "Owner",
        summary: "Everything: settings, keys, providers, users, and content with a reason.",
        rights: Rights::of(&[
            Right::Figures,
            Right::Requests,
            Right::Trail,
            Right::Reveal,
            Right::Settings,
            Right::Configure,
            Right::SeePeople,
            Right::Retention,
            Right::Exports,
            Right::People,
        ]),
    },
    Row {
        role: Role::Operator,
        code: "operator",
        label: "Operator",
        summary: "Providers, keys, policy and limits. Never content, users, retention or the legal hold.",
        rights: Rights::of(&[
            Right::Figures,
            Right::Requests,
            Right::Settings,
            Right::Configure,
        ]),
    },
    Row {
        role: Role::Auditor,
        code: "auditor",
        label: "Auditor",
        summary: "Reads all records and settings, and reveals content with a reason. Changes nothing.",
        rights: Rights::of(&[
            Right::Figures,
            Right::Requests,
            Right::Trail,
            Right::Reveal,
            Right::Settings,
            Right::SeePeople,
        ]),
    },
    Row {
        role: Role::Reviewer,
        code: "reviewer",
        label: "Reviewer",
        summary: "Reads requests with their findings and counts, without values.",
        rights: Rights::of(&[Right::Figures, Right::Requests]),
    },
    Row {
        role: Role::Viewer,
        code: "viewer",
        label: "Viewer",
        summary: "Sees figures.",
        rights: Rights::of(&[Right::Figures]),
    },
];

impl Role {
    /// Every role, from the most rights to the fewest.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        ROWS.iter().map(|row| row.role)
    }

    /// Code on the command line, in the admin API and in records.
    pub fn code(self) -> &'static str {
        ROWS[self as usize].code
    }

    /// Label on a page.
    pub fn label(self) -> &'static str {
        ROWS[self as usize].label
    }

    /// Summary of the rights, in a sentence or two.
    pub fn summary(self) -> &'static str {
        ROWS[self as usize].summary
    }

    /// Rights of the role.
    pub fn rights(self) -> Rights {
        ROWS[self as usize].rights
    }

    /// Whether the role has a right.
    pub fn may(self, right: Right) -> bool {
        self.rights().has(right)
    }

    /// Labels of the roles that have a right, such as "owner or operator".
    pub fn labels_with(right: Right) -> String {
        let roles = Self::all().filter(|role| role.may(right));
        roles.map(Self::code).collect::<Vec<_>>().join(" or ")
    }
}

coded!(Role, "role");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_and_rights_parse_back() {
        for (at, role) in Role::all().enumerate() {
            assert_eq!(role as usize, at);
            assert_eq!(role.code().parse(), Ok(role));
        }
        for (at, right) in Right::all().enumerate() {
            assert_eq!(right as usize, at);
        }
        assert_eq!("Owner".parse::<Role>().unwrap_err().noun, "role");
    }

    #[test]
    fn operations_page_has_table_of_rights() {
        let page = include_str!("../../../docs/operations.md");
        let cells = |cells: Vec<&str>| format!("| {} |", cells.join(" | "));
        let codes = Role::all().map(Role::code);
        let mut rows = vec![cells([""].into_iter().chain(codes).collect()).replace("|  |", "| |")];
        for right in Right::all() {
            let may = Role::all().map(|role| if role.may(right) { "yes" } else { "–" });
            rows.push(cells([right.words()].into_iter().chain(may).collect()));
        }
        for row in rows {
            assert!(page.contains(&row), "docs/operations.md lacks: {row}");
        }
    }

    #[test]
    fn owner_has_every_right() {
        assert!(Right::all().all(|right| Role::Owner.may(right)));
    }

    #[test]
    fn content_is_for_owners_and_auditors() {
        assert_eq!(Role::labels_with(Right::Reveal), "owner or auditor");
        assert_eq!(Role::labels_with(Right::Configure), "owner or operator");
        assert_eq!(Role::labels_with(Right::People), "owner");
        assert_eq!(Role::labels_with(Right::Retention), "owner");
    }

    #[test]
    fn union_has_rights_of_both() {
        let both = Role::Operator.rights().union(Role::Auditor.rights());
        assert!(both.has(Right::Configure) && both.has(Right::Reveal));
        assert!(!both.has(Right::People));
    }
}
