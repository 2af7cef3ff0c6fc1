//! Why a call cannot be shown as ours.

use crate::fetch::FetchError;

/// What went wrong between us and whoever hands out tokens. Holds nothing that was said: token endpoints quote secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// The token endpoint refused us.
    #[error("{0}")]
    Refused(Reason),
    /// The token endpoint could not be reached, or has too much to do.
    #[error("the token endpoint cannot be reached")]
    Unreachable,
    /// The token endpoint took too long.
    #[error("the token endpoint took too long")]
    Timeout,
    /// The token endpoint's answer holds no token, or is not an answer at all.
    #[error("the token endpoint's answer cannot be read")]
    Unreadable,
}

/// Why we were refused, as far as the answer's code says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// No code that we know.
    #[error("the token endpoint refused the request")]
    Other,
    /// The secret is not the application's, or the key not the service account's.
    #[error("the secret is not the one that belongs to this identity")]
    WrongSecret,
    /// The secret was right once.
    #[error("the secret has expired: make a new one and store it")]
    ExpiredSecret,
    /// Nobody of that name is known there.
    #[error("the application, service account or role is not known there")]
    UnknownIdentity,
    /// The directory is not known.
    #[error("the tenant is not known")]
    UnknownTenant,
    /// The role may not be taken by this machine.
    #[error("this machine may not take the role, or no federated credential matches it")]
    NotTrusted,
    /// The times in our request are not theirs.
    #[error("the clock of this machine is off by {0} seconds")]
    Clock(i64),
    /// The stored secret cannot be used.
    #[error("the stored secret is not what this way to authenticate needs")]
    BadSecret,
    /// The machine has no identity.
    #[error("this machine has no identity of its own here, and no secret is stored")]
    NoIdentity,
    /// The operator does not let accounts use the machine's identity.
    #[error("the machine's own identity may be used only where allow_ambient_credentials = true")]
    NotAllowed,
}

impl AuthError {
    /// The error of an endpoint that has too much to do: another time it may work.
    pub(crate) fn of_busy(status: u16) -> Option<Self> {
        (status == 429 || status >= 500).then_some(Self::Unreachable)
    }
}

impl From<FetchError> for AuthError {
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::Unreachable => Self::Unreachable,
            FetchError::Timeout => Self::Timeout,
            FetchError::Unreadable => Self::Unreadable,
        }
    }
}
