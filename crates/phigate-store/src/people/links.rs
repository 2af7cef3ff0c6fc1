//! One-time links: the first owner, invitations. Hashed, single use, expiring.

use jiff::{SignedDuration, Timestamp};
use phigate_types::{Act, Role};
use serde::{Deserialize, Serialize};

use crate::core::{Core, about};
use crate::guard::TRIES;
use crate::item::{Change, Expect, Item, ItemKind};
use crate::keys::{random_base62, random_id};
use crate::model::{AdminAct, Invite, Link, LinkPurpose, User};
use crate::people::Links;
use crate::people::sessions::{TOKEN, token_hash};
use crate::people::users::{check_email, normal_email};
use crate::{Result, SecretString, StoreError};

#[derive(Serialize, Deserialize)]
pub(crate) struct LinkBody {
    pub(crate) purpose: LinkPurpose,
    role: Role,
    email: Option<String>,
    expires: Timestamp,
    /// Time of creation; missing in links of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made: Option<Timestamp>,
}

impl Links {
    /// Creates a one-time link and returns its token. Earlier unused owner links, or invitations of this address, are
    /// revoked.
    pub async fn create_link(
        &self,
        account_id: &str,
        invite: &Invite,
        actor: &str,
    ) -> Result<SecretString> {
        self.create(account_id, invite, None, actor).await
    }

    /// Makes a link for the account's first owner. Earlier ones stop working, except those made since then: gateways
    /// that start together each print one.
    pub async fn create_owner_link(
        &self,
        account_id: &str,
        valid: SignedDuration,
        since: Timestamp,
    ) -> Result<SecretString> {
        let invite = Invite {
            purpose: LinkPurpose::Owner,
            role: Role::Owner,
            email: None,
            valid,
        };
        self.create(account_id, &invite, Some(since), "system")
            .await
    }

    /// Makes a link. Another process may be changing these links, so the changes are worked out anew for each try.
    async fn create(
        &self,
        account_id: &str,
        invite: &Invite,
        kept_since: Option<Timestamp>,
        actor: &str,
    ) -> Result<SecretString> {
        for _ in 0..TRIES {
            let created = self.try_to_create(account_id, invite, kept_since, actor);
            match created.await {
                Err(StoreError::Conflict(_)) => {}
                done => return done,
            }
        }
        Err(StoreError::Conflict(ItemKind::Link.label()))
    }

    async fn try_to_create(
        &self,
        account_id: &str,
        invite: &Invite,
        kept_since: Option<Timestamp>,
        actor: &str,
    ) -> Result<SecretString> {
        let (_, account) = self.core.account_item(account_id).await?;
        if invite.purpose == LinkPurpose::Owner && self.core.has_owner(account_id).await? {
            return Err(StoreError::Invalid {
                what: "owner link",
                why: "the account has an owner, who can invite others",
            });
        }
        let email = invite.email.as_deref().map(normal_email);
        // An invalid address must fail here, and not when the link is used.
        if let Some(email) = &email {
            check_email(email)?;
        }
        let token = random_base62(TOKEN);
        let now = self.core.now();
        let stored = LinkBody {
            purpose: invite.purpose,
            role: invite.role,
            email: email.clone(),
            expires: self.core.expiry(Some(invite.valid))?.unwrap_or(now),
            made: Some(now),
        };
        let id = random_id(12);
        let replaced = self.replaced(account_id, invite.purpose, email.as_deref(), kept_since);
        let mut changes = replaced.await?;
        changes.push(Change::Put(
            Item::new(
                account_id,
                ItemKind::Link,
                &id,
                Some(&token_hash(&token)),
                &stored,
            ),
            Expect::Absent,
        ));
        let mut act = AdminAct::new(now, &account.name, actor, Act::LinkCreate)
            .target(&id)
            .detail("role", invite.role.code());
        if let Some(email) = &email {
            act = act.detail("email", email);
        }
        self.core
            .change(account_id, &act, changes, false)
            .await
            .map_err(about(ItemKind::Link.label()))?;
        Ok(SecretString::new(token))
    }

    /// Changes that withdraw expired links and those that a new one replaces.
    async fn replaced(
        &self,
        account_id: &str,
        purpose: LinkPurpose,
        email: Option<&str>,
        kept_since: Option<Timestamp>,
    ) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        for old in self.core.guard().items(account_id, ItemKind::Link).await? {
            let known: LinkBody = old.read()?;
            let is_kept = kept_since.is_some_and(|since| known.made >= Some(since));
            // Owner links are not bound to an address.
            let is_replaced =
                purpose == known.purpose && email == known.email.as_deref() && !is_kept;
            if is_replaced || known.expires <= self.core.now() {
                changes.push(old.deleted());
            }
        }
        Ok(changes)
    }

    /// Whether a link for the account's first owner was ever made and not used, expired or not.
    pub async fn has_owner_link(&self, account_id: &str) -> Result<bool> {
        for known in self.core.guard().items(account_id, ItemKind::Link).await? {
            let known: LinkBody = known.read()?;
            if known.purpose == LinkPurpose::Owner {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The purpose of a link, if it is valid.
    pub async fn link(&self, token: &str) -> Result<Option<Link>> {
        Ok(self.link_item(token).await?.map(|(_, link)| link))
    }

    /// Redeems a link and creates its user; of two attempts with one link only one succeeds.
    pub async fn redeem_link(
        &self,
        token: &str,
        email: &str,
        password: &SecretString,
    ) -> Result<User> {
        let (used, link) = self
            .link_item(token)
            .await?
            .ok_or(StoreError::NotFound(ItemKind::Link.label()))?;
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
        let (_, account) = self.core.account_item(&link.account_id).await?;
        let (put, user) = self
            .people
            .new_user(&link.account_id, email, Some(password), link.role)
            .await?;
        let act = AdminAct::new(self.core.now(), &account.name, &user.email, Act::UserCreate)
            .target(&user.email)
            .detail("role", link.role.code())
            .detail("link", &used.id);
        // Deleted first: if the link was used meanwhile, the whole change fails.
        let mut changes = vec![used.deleted()];
        if link.role == Role::Owner {
            let others = self
                .core
                .withdraw_owner_links(&link.account_id, Some(&used.id));
            changes.extend(others.await?);
        }
        changes.push(put);
        self.core
            .change(&link.account_id, &act, changes, false)
            .await
            .map_err(about("a user with this e-mail address"))?;
        Ok(user)
    }

    /// The valid invitations of an account, by e-mail address.
    pub async fn invitations(&self, account_id: &str) -> Result<Vec<Link>> {
        let mut open = Vec::new();
        for known in self.core.guard().items(account_id, ItemKind::Link).await? {
            let link = read(&known)?;
            if link.purpose == LinkPurpose::Invite && self.core.now() < link.expires {
                open.push(link);
            }
        }
        open.sort_by(|one, other| one.email.cmp(&other.email));
        Ok(open)
    }

    /// Revokes the invitation of an address.
    pub async fn withdraw_invitation(
        &self,
        account_id: &str,
        email: &str,
        actor: &str,
    ) -> Result<()> {
        let email = normal_email(email);
        let changes = self.core.withdraw_links(account_id, &email).await?;
        if changes.is_empty() {
            return Err(StoreError::NotFound("invitation"));
        }
        let (_, account) = self.core.account_item(account_id).await?;
        let act =
            AdminAct::new(self.core.now(), &account.name, actor, Act::LinkRemove).target(&email);
        self.core
            .change(account_id, &act, changes, false)
            .await
            .map_err(about("invitation"))
    }

    async fn link_item(&self, token: &str) -> Result<Option<(Item, Link)>> {
        if token.len() != TOKEN {
            return Ok(None);
        }
        let Some(item) = self
            .core
            .guard()
            .find(ItemKind::Link, &token_hash(token))
            .await?
        else {
            return Ok(None);
        };
        let link = read(&item)?;
        if link.expires <= self.core.now() {
            return Ok(None);
        }
        // A leaked old link must not create a second owner.
        let is_late =
            link.purpose == LinkPurpose::Owner && self.core.has_owner(&link.account_id).await?;
        Ok((!is_late).then_some((item, link)))
    }
}

impl Core {
    /// The changes that revoke the invitations of an address.
    pub(super) async fn withdraw_links(
        &self,
        account_id: &str,
        email: &str,
    ) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        for known in self.guard().items(account_id, ItemKind::Link).await? {
            let link: LinkBody = known.read()?;
            if link.email.as_deref() == Some(email) {
                changes.push(known.deleted());
            }
        }
        Ok(changes)
    }

    /// The changes that revoke the owner links of an account, except one, because it has an owner now.
    pub(super) async fn withdraw_owner_links(
        &self,
        account_id: &str,
        except: Option<&str>,
    ) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        for known in self.guard().items(account_id, ItemKind::Link).await? {
            let link: LinkBody = known.read()?;
            if link.purpose == LinkPurpose::Owner && except != Some(known.id.as_str()) {
                changes.push(known.deleted());
            }
        }
        Ok(changes)
    }
}

fn read(item: &Item) -> Result<Link> {
    let LinkBody {
        purpose,
        role,
        email,
        expires,
        made: _,
    } = item.read()?;
    Ok(Link {
        account_id: item.account.clone(),
        purpose,
        role,
        email,
        expires,
    })
}
