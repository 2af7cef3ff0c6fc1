//! The link that creates the first account's owner, printed at every start until the account has an owner.

use jiff::SignedDuration;
use phigate_store::{Invite, LinkPurpose, Role, SecretString, Vault};

/// Validity of a link. The next start makes another.
const VALID: SignedDuration = SignedDuration::from_hours(24);

/// The token of a new owner link; `None` if the account has an owner. Earlier links are revoked.
pub(super) async fn owner_link(vault: &Vault) -> anyhow::Result<Option<SecretString>> {
    let accounts = vault.accounts.accounts().await?;
    let Some(account) = accounts.first() else {
        return Ok(None);
    };
    let users = vault.people.users(&account.id).await?;
    if users.iter().any(|user| user.role == Role::Owner) {
        return Ok(None);
    }
    let invite = Invite {
        purpose: LinkPurpose::Owner,
        role: Role::Owner,
        email: None,
        valid: VALID,
    };
    let link = vault
        .links
        .create_link(&account.id, &invite, "system")
        .await?;
    Ok(Some(link))
}
