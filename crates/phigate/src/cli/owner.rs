//! The link by which the installation gets its first owner, printed at every start until there is one.

use jiff::{SignedDuration, Timestamp};
use phigate_store::{SecretString, StoreError, User, Vault};

/// Validity of a link. The next start makes another.
const VALID: SignedDuration = SignedDuration::from_hours(24);

/// A link that makes the first owner.
pub(super) struct OwnerLink {
    /// Name of the account that is theirs.
    pub(super) account: String,
    pub(super) token: SecretString,
}

/// A new link, as long as no account of the installation has an owner. Links made before this process started stop
/// working; those of gateways that started together all work.
pub(super) async fn owner_link(
    vault: &Vault,
    started: Timestamp,
) -> anyhow::Result<Option<OwnerLink>> {
    let accounts = vault.accounts.accounts().await?;
    for account in &accounts {
        let users = vault.people.users(&account.id).await?;
        if users.iter().any(User::is_owner) {
            return Ok(None);
        }
    }
    let Some(first) = accounts.into_iter().min_by_key(|account| account.created) else {
        return Ok(None);
    };
    let links = &vault.links;
    match links.create_owner_link(&first.id, VALID, started).await {
        Ok(token) => Ok(Some(OwnerLink {
            account: first.name,
            token,
        })),
        // A user became the owner at this moment.
        Err(StoreError::Invalid { .. }) => Ok(None),
        // Requests are refused until then; the next start makes a link.
        Err(error @ (StoreError::Standbys(_) | StoreError::Unconfirmed | StoreError::Timeout)) => {
            tracing::warn!("no link for the first owner was made: {error}");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
