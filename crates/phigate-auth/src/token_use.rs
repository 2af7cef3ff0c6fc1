//! Purposes of JSON Web Tokens.

/// Longest token of a caller that is read, in bytes.
const TOKEN_BYTES_MAX: usize = 16 * 1024;
/// Longest token about a person, which may name many groups.
const ID_TOKEN_BYTES_MAX: usize = 96 * 1024;

/// Purpose of a token, which its header may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenUse {
    /// A caller's access.
    Access,
    /// A person's login.
    Id,
    /// The end of a person's sessions.
    Logout,
}

impl TokenUse {
    /// Longest token that is read, in bytes.
    pub(crate) fn bytes_max(self) -> usize {
        match self {
            Self::Access => TOKEN_BYTES_MAX,
            Self::Id | Self::Logout => ID_TOKEN_BYTES_MAX,
        }
    }

    /// Whether the type in a header, in lower case, is one of this purpose.
    pub(crate) fn has_type(self, name: &str) -> bool {
        name == "jwt"
            || match self {
                Self::Access => matches!(name, "at+jwt" | "application/at+jwt"),
                Self::Id => false,
                Self::Logout => matches!(name, "logout+jwt" | "application/logout+jwt"),
            }
    }
}
