//! Provider entries: one per family, the key sealed.

use crate::keys::seal::Place;
use crate::keys::wrapped::Purpose;
use crate::model::{AdminAct, ProviderInfo, ProviderKey};
use crate::store::{Change, Expect, Item};
use crate::vault::{Vault, about, body, item, replace};
use crate::{Result, SecretString, StoreError};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use phigate_types::Act;
use serde::{Deserialize, Serialize};

pub(crate) const PROVIDER: &str = "provider";

#[derive(Serialize, Deserialize)]
struct ProviderBody {
    base_url: Option<String>,
    sealed: String,
    last4: String,
    updated: Timestamp,
    updated_by: String,
}

impl Vault {
    /// Sets a family's key and base URL. Without a key the stored one stays; there must be one then.
    pub async fn set_provider(
        &self,
        account_id: &str,
        family: &str,
        key: Option<&SecretString>,
        base_url: Option<&str>,
        actor: &str,
    ) -> Result<()> {
        let (_, account) = self.account_item(account_id).await?;
        let old = self.store.item(account_id, PROVIDER, family).await?;
        let before: Option<ProviderBody> = old
            .as_ref()
            .map(|item| body(item, "provider"))
            .transpose()?;
        let (sealed, last4) = match (key, &before) {
            (Some(key), _) => (
                self.seal_key(account_id, family, key).await?,
                last4(key.expose()),
            ),
            (None, Some(before)) => (before.sealed.clone(), before.last4.clone()),
            (None, None) => return Err(StoreError::NotFound("provider key")),
        };
        let stored = ProviderBody {
            base_url: base_url.map(str::to_owned),
            sealed,
            last4: last4.clone(),
            updated: self.now(),
            updated_by: actor.to_owned(),
        };
        let mut act = AdminAct::new(self.now(), &account.name, actor, Act::ProviderSet)
            .target(family)
            .detail("key", if key.is_some() { "new" } else { "kept" })
            .detail("last4", &last4);
        let from = before.and_then(|before| before.base_url);
        if from.as_deref() != base_url {
            act = act.change(
                from.as_deref().unwrap_or("default"),
                base_url.unwrap_or("default"),
            );
        }
        let put = match &old {
            Some(old) => replace(old, &stored),
            None => Change::Put(
                item(account_id, PROVIDER, family, None, &stored),
                Expect::Absent,
            ),
        };
        self.change(account_id, &act, vec![put], true)
            .await
            .map_err(about("provider"))
    }

    /// The provider entries of an account, by family.
    pub async fn providers(&self, account_id: &str) -> Result<Vec<ProviderInfo>> {
        let mut providers = Vec::new();
        for item in self.store.items(Some(account_id), PROVIDER).await? {
            let stored: ProviderBody = body(&item, "provider")?;
            providers.push(info(&item, stored));
        }
        Ok(providers)
    }

    /// Removes a family's entry.
    pub async fn remove_provider(&self, account_id: &str, family: &str, actor: &str) -> Result<()> {
        let (_, account) = self.account_item(account_id).await?;
        self.store
            .item(account_id, PROVIDER, family)
            .await?
            .ok_or(StoreError::NotFound("provider"))?;
        let act =
            AdminAct::new(self.now(), &account.name, actor, Act::ProviderRemove).target(family);
        let delete = Change::Delete {
            account: account_id.to_owned(),
            kind: PROVIDER.to_owned(),
            id: family.to_owned(),
        };
        self.change(account_id, &act, vec![delete], true)
            .await
            .map_err(about("provider"))
    }

    /// An entry with its key in the clear.
    pub(crate) async fn open_provider(&self, item: &Item) -> Result<(ProviderInfo, ProviderKey)> {
        let stored: ProviderBody = body(item, "provider")?;
        let sealed = STANDARD
            .decode(&stored.sealed)
            .map_err(|_| StoreError::Unreadable("provider key"))?;
        let opened = self
            .keyring
            .unseal(place(&item.account, &item.id), &sealed)
            .await?;
        let key = std::str::from_utf8(opened.expose())
            .map_err(|_| StoreError::Unreadable("provider key"))?;
        let key = SecretString::from(key);
        Ok((info(item, stored), key))
    }

    async fn seal_key(&self, account_id: &str, family: &str, key: &SecretString) -> Result<String> {
        let place = place(account_id, family);
        let sealed = self
            .keyring
            .seal(Purpose::Secrets, self.now(), place, key.expose().as_bytes())
            .await?;
        Ok(STANDARD.encode(sealed))
    }
}

fn place<'a>(account: &'a str, family: &'a str) -> Place<'a> {
    Place {
        account,
        table: PROVIDER,
        record: family,
        field: "key",
    }
}

fn info(item: &Item, stored: ProviderBody) -> ProviderInfo {
    let ProviderBody {
        base_url,
        last4,
        updated,
        updated_by,
        ..
    } = stored;
    ProviderInfo {
        family: item.id.clone(),
        base_url,
        last4,
        updated,
        updated_by,
    }
}

/// The last four characters, of keys long enough that these give nothing away.
fn last4(key: &str) -> String {
    let characters: Vec<char> = key.chars().collect();
    match characters.len() {
        0..12 => String::new(),
        length => characters[length - 4..].iter().collect(),
    }
}
