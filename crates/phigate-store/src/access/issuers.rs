//! Issuers of tokens: set, listed, removed, and found by what a token says.
//!
//! Issuer and audience together belong to one account at most, so that a token never depends on which account is asked
//! first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use phigate_types::Act;
use phigate_verify::chain::{digest, hex};
use serde::{Deserialize, Serialize};

use crate::core::Core;
use crate::item::{Change, Expect, Item, ItemKind};
use crate::model::{AdminAct, IssuerConfig, IssuerInfo, TokenRule};
use crate::{Result, StoreError};

/// Most issuers of an account.
const ISSUERS_MAX: usize = 100;
/// Most rules that are remembered.
const KNOWN_MAX: usize = 10_000;

#[derive(Serialize, Deserialize)]
struct IssuerBody {
    #[serde(flatten)]
    config: IssuerConfig,
    updated: Timestamp,
    updated_by: String,
}

/// Rules under one generation of settings, by their lookup value.
#[derive(Default)]
struct Known {
    generation: u64,
    rules: HashMap<String, Arc<TokenRule>>,
}

/// Issuers whose tokens act as API keys.
#[derive(Clone)]
pub struct Issuers {
    core: Arc<Core>,
    known: Arc<Mutex<Known>>,
}

impl Issuers {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self {
            core,
            known: Arc::default(),
        }
    }

    /// Sets an issuer of an account.
    pub async fn set(
        &self,
        account_id: &str,
        name: &str,
        config: &IssuerConfig,
        actor: &str,
    ) -> Result<()> {
        let (_, account) = self.core.account_item(account_id).await?;
        let guard = self.core.guard();
        let key = guard.item(account_id, ItemKind::ApiKey, &config.key_id);
        let key = key.await?.ok_or(StoreError::NotFound("API key"))?;
        let items = guard.items(account_id, ItemKind::Issuer).await?;
        let old = items.iter().find(|item| item.id == name);
        if old.is_none() && items.len() >= ISSUERS_MAX {
            return Err(StoreError::Invalid {
                what: "token issuer",
                why: "an account has at most 100",
            });
        }
        let stored = IssuerBody {
            config: config.clone(),
            updated: self.core.now(),
            updated_by: actor.to_owned(),
        };
        let lookup = lookup(&config.issuer, &config.audience);
        let put = match old {
            Some(old) => {
                let mut moved = old.clone();
                moved.lookup = Some(lookup);
                moved.replaced_by(&stored)
            }
            None => {
                let kind = ItemKind::Issuer;
                let item = Item::new(account_id, kind, name, Some(&lookup), &stored);
                Change::Put(item, Expect::Absent)
            }
        };
        let mut act = AdminAct::new(self.core.now(), &account.name, actor, Act::JwtSet)
            .target(name)
            .detail("issuer", &config.issuer)
            .detail("audience", &config.audience)
            .detail("key", &config.key_id);
        for (claim, value) in &config.claims {
            act = act.detail(&format!("claim {claim}"), value);
        }
        let changes = vec![put, key.unchanged()];
        match self.core.change(account_id, &act, changes, true).await {
            Err(StoreError::Conflict(_)) => Err(StoreError::Conflict(
                "a token issuer with this issuer and audience",
            )),
            done => done,
        }
    }

    /// The issuers of an account, by name.
    pub async fn list(&self, account_id: &str) -> Result<Vec<IssuerInfo>> {
        let items = self.core.guard().items(account_id, ItemKind::Issuer);
        let mut issuers = Vec::new();
        for item in items.await? {
            let stored: IssuerBody = item.read()?;
            issuers.push(IssuerInfo {
                name: item.id,
                config: stored.config,
                updated: stored.updated,
                updated_by: stored.updated_by,
            });
        }
        issuers.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(issuers)
    }

    /// Removes an issuer: its tokens are refused from now on.
    pub async fn remove(&self, account_id: &str, name: &str, actor: &str) -> Result<()> {
        let (_, account) = self.core.account_item(account_id).await?;
        let guard = self.core.guard();
        let item = guard.item(account_id, ItemKind::Issuer, name).await?;
        let item = item.ok_or(StoreError::NotFound("token issuer"))?;
        let act = AdminAct::new(self.core.now(), &account.name, actor, Act::JwtRemove).target(name);
        self.core
            .change(account_id, &act, vec![item.deleted()], true)
            .await
    }

    /// The rule for tokens of an issuer and an audience, as fresh as the call.
    pub async fn rule(&self, issuer: &str, audience: &str) -> Result<Option<Arc<TokenRule>>> {
        let generation = self.core.store.generation().await?;
        let lookup = lookup(issuer, audience);
        if let Some(rule) = self.known(generation, |rules| rules.get(&lookup).cloned()) {
            return Ok(Some(rule));
        }
        let found = self.core.guard().find(ItemKind::Issuer, &lookup).await?;
        let Some(item) = found else { return Ok(None) };
        let stored: IssuerBody = item.read()?;
        // The lookup value is a digest: the texts decide.
        if stored.config.issuer != issuer || stored.config.audience != audience {
            return Ok(None);
        }
        let rule = Arc::new(TokenRule {
            account_id: item.account,
            config: stored.config,
        });
        self.known(generation, |rules| {
            if rules.len() < KNOWN_MAX {
                rules.insert(lookup, Arc::clone(&rule));
            }
        });
        Ok(Some(rule))
    }

    /// A rule for tokens of an issuer with another audience, to record a refused token. `None` if several accounts name
    /// the issuer, because the token may be for each of them.
    pub async fn rule_of_issuer(&self, issuer: &str) -> Result<Option<TokenRule>> {
        let mut found: Option<TokenRule> = None;
        for item in self.core.guard().items_of_all(ItemKind::Issuer).await? {
            let stored: IssuerBody = item.read()?;
            if stored.config.issuer != issuer {
                continue;
            }
            if found
                .as_ref()
                .is_some_and(|other| other.account_id != item.account)
            {
                return Ok(None);
            }
            found = Some(TokenRule {
                account_id: item.account,
                config: stored.config,
            });
        }
        Ok(found)
    }

    /// Works on the remembered rules, which are dropped when settings change.
    fn known<T>(
        &self,
        generation: u64,
        work: impl FnOnce(&mut HashMap<String, Arc<TokenRule>>) -> T,
    ) -> T {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.generation != generation {
            *known = Known {
                generation,
                ..Known::default()
            };
        }
        work(&mut known.rules)
    }
}

/// Digest of issuer and audience.
fn lookup(issuer: &str, audience: &str) -> String {
    hex(&digest(
        b"token issuer",
        &[issuer.as_bytes(), audience.as_bytes()],
    ))
}
