//! Provider entries: one per family, the key sealed.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use phigate_types::Act;
use serde::{Deserialize, Serialize};

use crate::access::Access;
use crate::core::{Core, about};
use crate::item::{Change, Expect, Item, ItemKind};
use crate::keys::seal::Place;
use crate::keys::wrapped::Purpose;
use crate::model::{AdminAct, ProviderInfo, ProviderKey};
use crate::{Result, SecretString, StoreError};

/// The field of keys from before they were bound to an address.
const UNBOUND: &str = "key";

#[derive(Serialize, Deserialize)]
struct ProviderBody {
    base_url: Option<String>,
    sealed: String,
    last4: String,
    updated: Timestamp,
    updated_by: String,
}

impl Access {
    /// Sets a family's key and base URL. Without a key the stored one stays; there must be one then.
    pub async fn set_provider(
        &self,
        account_id: &str,
        family: &str,
        key: Option<&SecretString>,
        base_url: Option<&str>,
        actor: &str,
    ) -> Result<()> {
        let (_, account) = self.core.account_item(account_id).await?;
        let old = self
            .core
            .guard()
            .item(account_id, ItemKind::Provider, family)
            .await?;
        let before: Option<ProviderBody> = old.as_ref().map(Item::read).transpose()?;
        let is_new = key.is_some();
        let key = match (key, &old) {
            (Some(key), _) => key.clone(),
            (None, Some(old)) => self.core.open_provider(old).await?.1,
            (None, None) => return Err(StoreError::NotFound("provider key")),
        };
        let last4 = last4(key.expose());
        let sealed = self
            .core
            .seal_key(account_id, family, base_url, &key)
            .await?;
        let stored = ProviderBody {
            base_url: base_url.map(str::to_owned),
            sealed,
            last4: last4.clone(),
            updated: self.core.now(),
            updated_by: actor.to_owned(),
        };
        let mut act = AdminAct::new(self.core.now(), &account.name, actor, Act::ProviderSet)
            .target(family)
            .detail("key", if is_new { "new" } else { "kept" })
            .detail("last4", &last4);
        let from = before.and_then(|before| before.base_url);
        if from.as_deref() != base_url {
            act = act.change(
                from.as_deref().unwrap_or("default"),
                base_url.unwrap_or("default"),
            );
        }
        let put = match &old {
            Some(old) => old.replaced_by(&stored),
            None => Change::Put(
                Item::new(account_id, ItemKind::Provider, family, None, &stored),
                Expect::Absent,
            ),
        };
        self.core
            .change(account_id, &act, vec![put], true)
            .await
            .map_err(about("provider"))
    }

    /// The provider entries of an account, by family.
    pub async fn providers(&self, account_id: &str) -> Result<Vec<ProviderInfo>> {
        let mut providers = Vec::new();
        for item in self
            .core
            .guard()
            .items(account_id, ItemKind::Provider)
            .await?
        {
            let stored: ProviderBody = item.read()?;
            providers.push(info(&item, stored));
        }
        Ok(providers)
    }

    /// Removes a family's entry.
    pub async fn remove_provider(&self, account_id: &str, family: &str, actor: &str) -> Result<()> {
        let (_, account) = self.core.account_item(account_id).await?;
        self.core
            .guard()
            .item(account_id, ItemKind::Provider, family)
            .await?
            .ok_or(StoreError::NotFound("provider"))?;
        let act = AdminAct::new(self.core.now(), &account.name, actor, Act::ProviderRemove)
            .target(family);
        let delete = Change::Delete {
            account: account_id.to_owned(),
            kind: ItemKind::Provider,
            id: family.to_owned(),
        };
        self.core
            .change(account_id, &act, vec![delete], true)
            .await
            .map_err(about("provider"))
    }
}

impl Core {
    /// An entry with its key in the clear.
    pub(crate) async fn open_provider(&self, item: &Item) -> Result<(ProviderInfo, ProviderKey)> {
        let stored: ProviderBody = item.read()?;
        let field = field(stored.base_url.as_deref());
        let key = self.unseal_key(item, &stored.sealed, &field).await?;
        Ok((info(item, stored), key))
    }

    /// The entry of an older store, its key bound to the address it is sent to.
    pub(crate) async fn bind_key(&self, item: &Item) -> Result<Item> {
        let mut stored: ProviderBody = item.read()?;
        let key = self.unseal_key(item, &stored.sealed, UNBOUND).await?;
        let base_url = stored.base_url.as_deref();
        stored.sealed = self
            .seal_key(&item.account, &item.id, base_url, &key)
            .await?;
        Ok(Item {
            version: item.version,
            ..Item::new(&item.account, item.kind, &item.id, None, &stored)
        })
    }

    async fn unseal_key(&self, item: &Item, sealed: &str, field: &str) -> Result<SecretString> {
        let unreadable = || StoreError::Unreadable("provider key");
        let sealed = STANDARD.decode(sealed).map_err(|_| unreadable())?;
        let place = place(&item.account, &item.id, field);
        let opened = self.keyring.unseal(place, &sealed).await?;
        let key = std::str::from_utf8(opened.expose()).map_err(|_| unreadable())?;
        Ok(SecretString::from(key))
    }

    async fn seal_key(
        &self,
        account_id: &str,
        family: &str,
        base_url: Option<&str>,
        key: &SecretString,
    ) -> Result<String> {
        let field = field(base_url);
        let place = place(account_id, family, &field);
        let sealed = self
            .keyring
            .seal(Purpose::Secrets, self.now(), place, key.expose().as_bytes())
            .await?;
        Ok(STANDARD.encode(sealed))
    }
}

/// A key opens only beside the address it was given for.
fn field(base_url: Option<&str>) -> String {
    format!("key for {}", base_url.unwrap_or("the family's own address"))
}

fn place<'a>(account: &'a str, family: &'a str, field: &'a str) -> Place<'a> {
    Place {
        account,
        table: "provider",
        record: family,
        field,
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
