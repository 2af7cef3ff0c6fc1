//! Reasons why a call cannot be authenticated.

use crate::fetch::FetchError;

/// Failure to get a token. Without the endpoint's text, because token endpoints quote secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// The token endpoint refused the request.
    #[error("{0}")]
    Refused(Reason),
    /// The token endpoint could not be reached, or is overloaded.
    #[error("the token endpoint cannot be reached")]
    Unreachable,
    /// The token endpoint timed out.
    #[error("the token endpoint took too long")]
    Timeout,
    /// The answer contains no token, or cannot be parsed.
    #[error("the token endpoint's answer cannot be read")]
    Unreadable,
}

/// Reason of a refusal, as far as the answer's code names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// An unknown code.
    #[error("the token endpoint refused the request")]
    Other,
    /// The secret does not belong to the application, or the key not to the service account.
    #[error("the secret is not the one that belongs to this identity")]
    WrongSecret,
    /// The secret has expired.
    #[error("the secret has expired: make a new one and store it")]
    ExpiredSecret,
    /// The application, account or role does not exist.
    #[error("the application, service account or role is not known there")]
    UnknownIdentity,
    /// The tenant does not exist.
    #[error("the tenant is not known")]
    UnknownTenant,
    /// This machine may not assume the role.
    #[error("this machine may not take the role, or no federated credential matches it")]
    NotTrusted,
    /// The clocks of this machine and the endpoint differ.
    #[error("the clock of this machine is off by {0} seconds")]
    Clock(i64),
    /// The stored secret is unusable.
    #[error("the stored secret is not what this way to authenticate needs")]
    BadSecret,
    /// The machine has no identity.
    #[error("this machine has no identity here, and no secret is stored")]
    NoIdentity,
    /// The operator does not allow accounts to use the machine's identity.
    #[error("the machine's own identity may be used only if allow_ambient_credentials = true")]
    NotAllowed,
}

impl AuthError {
    /// Error of an overloaded endpoint, which may succeed later.
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
