//! One-time links: the first owner, invitations. Hashed, single use, expiring.

use crate::keys::{random_base62, random_id};
use crate::model::{AdminAct, Invite, Link, LinkPurpose, Role, User};
use crate::store::{Change, Expect, Item};
use crate::vault::sessions::{TOKEN, token_hash};
use crate::vault::{Vault, about, body, item};
use crate::{Result, SecretString, StoreError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

const LINK: &str = "link";

#[derive(Serialize, Deserialize)]
struct LinkBody {
    purpose: LinkPurpose,
    role: Role,
    email: Option<String>,
    expires: Timestamp,
}

impl Vault {
    /// Makes a one-time link; the result is its token. Unused owner links made before stop working.
    pub async fn create_link(
        &self,
        account_id: &str,
        invite: &Invite,
        actor: &str,
    ) -> Result<SecretString> {
        let (_, account) = self.account_item(account_id).await?;
        let token = random_base62(TOKEN);
        let stored = LinkBody {
            purpose: invite.purpose,
            role: invite.role,
            email: invite.email.clone(),
            expires: self
                .expiry(Some(invite.valid))?
                .unwrap_or_else(|| self.now()),
        };
        let id = random_id(12);
        let mut changes = Vec::new();
        for old in self.store.items(Some(account_id), LINK).await? {
            let known: LinkBody = body(&old, "link")?;
            let replaced =
                invite.purpose == LinkPurpose::Owner && known.purpose == LinkPurpose::Owner;
            if replaced || known.expires <= self.now() {
                changes.push(delete(&old));
            }
        }
        changes.push(Change::Put(
            item(account_id, LINK, &id, Some(&token_hash(&token)), &stored),
            Expect::Absent,
        ));
        let act = AdminAct::new(self.now(), &account.name, actor, "link.create")
            .target(&id)
            .detail("role", invite.role.code());
        self.change(account_id, &act, changes, false)
            .await
            .map_err(about("link"))?;
        Ok(SecretString::new(token))
    }

    /// Whether a link for the account's first owner was ever made and not used, expired or not.
    pub async fn has_owner_link(&self, account_id: &str) -> Result<bool> {
        for known in self.store.items(Some(account_id), LINK).await? {
            let known: LinkBody = body(&known, "link")?;
            if known.purpose == LinkPurpose::Owner {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What a link is good for, if it still is.
    pub async fn link(&self, token: &str) -> Result<Option<Link>> {
        Ok(self.link_item(token).await?.map(|(_, link)| link))
    }

    /// Uses up a link and makes its user; of two attempts with one link only one succeeds.
    pub async fn redeem_link(
        &self,
        token: &str,
        email: &str,
        password: &SecretString,
    ) -> Result<User> {
        let (used, link) = self
            .link_item(token)
            .await?
            .ok_or(StoreError::NotFound("link"))?;
        if link
            .email
            .as_deref()
            .is_some_and(|fixed| !fixed.eq_ignore_ascii_case(email.trim()))
        {
            return Err(StoreError::Invalid {
                what: "e-mail address",
                why: "the invitation is for another one",
            });
        }
        let (_, account) = self.account_item(&link.account_id).await?;
        let (put, user) = self
            .new_user(&link.account_id, email, password, link.role)
            .await?;
        let act = AdminAct::new(self.now(), &account.name, &user.email, "user.create")
            .target(&user.email)
            .detail("role", link.role.code())
            .detail("link", &used.id);
        // Deleting comes first: a link used meanwhile fails the whole change.
        self.change(&link.account_id, &act, vec![delete(&used), put], false)
            .await
            .map_err(about("a user with this e-mail address"))?;
        Ok(user)
    }

    async fn link_item(&self, token: &str) -> Result<Option<(Item, Link)>> {
        if token.len() != TOKEN {
            return Ok(None);
        }
        let Some(item) = self.store.find(LINK, &token_hash(token)).await? else {
            return Ok(None);
        };
        let LinkBody {
            purpose,
            role,
            email,
            expires,
        } = body(&item, "link")?;
        let link = Link {
            account_id: item.account.clone(),
            purpose,
            role,
            email,
            expires,
        };
        Ok((self.now() < expires).then_some((item, link)))
    }
}

fn delete(item: &Item) -> Change {
    Change::Delete {
        account: item.account.clone(),
        kind: item.kind.clone(),
        id: item.id.clone(),
    }
}
