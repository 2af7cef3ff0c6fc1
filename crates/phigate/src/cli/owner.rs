//! The link by which the first account gets its owner, printed at every start until there is one.

use jiff::SignedDuration;
use phigate_store::{Invite, LinkPurpose, Role, SecretString, Vault};

/// How long a link works. The next start makes another.
const VALID: SignedDuration = SignedDuration::from_hours(24);

/// The token of a new link that makes the owner; none where there is an owner. Earlier links stop working.
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
