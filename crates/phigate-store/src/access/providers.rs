//! Provider entries: any number per account, by name, each with its secret sealed.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use phigate_types::{Act, Secret};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::access::Access;
use crate::core::{Core, about};
use crate::item::{Change, Expect, Item, ItemKind};
use crate::keys::seal::Place;
use crate::keys::wrapped::Purpose;
use crate::model::{
    AdminAct, By, NewSecret, Provider, ProviderConfig, ProviderInfo, ProviderSecret,
};
use crate::{Result, SecretString, StoreError};

/// The field of keys from before they were bound to an address.
const UNBOUND: &str = "key";

/// An entry as stored.
#[derive(Serialize, Deserialize)]
struct ProviderBody {
    #[serde(flatten)]
    config: ProviderConfig,
    #[serde(default)]
    sealed: Option<String>,
    last4: String,
    updated: Timestamp,
    updated_by: String,
}

impl ProviderBody {
    /// Reads an entry. In entries from before kinds existed, the name is the kind.
    fn read(item: &Item) -> Result<Self> {
        let mut stored: Map<String, Value> = item.read()?;
        let kind = stored.entry("kind");
        kind.or_insert_with(|| Value::String(item.id.clone()));
        serde_json::from_value(Value::Object(stored))
            .map_err(|error| StoreError::of_stored(item.kind.label(), &error))
    }
}

impl Access {
    /// Sets all that is said about a provider, and its secret.
    pub async fn set_provider<'a>(
        &self,
        account_id: &str,
        name: &str,
        config: &ProviderConfig,
        secret: NewSecret<'_>,
        by: impl Into<By<'a>>,
    ) -> Result<()> {
        let by = by.into();
        let (_, account) = self.core.account_item(account_id).await?;
        let old = self
            .core
            .guard()
            .item(account_id, ItemKind::Provider, name)
            .await?;
        let before = old.as_ref().map(ProviderBody::read).transpose()?;
        let (kept, word) = self.core.secret_to_keep(secret, old.as_ref()).await?;
        let body = self
            .core
            .provider_body(account_id, (name, config), kept.as_ref(), by);
        let stored = body.await?;
        let act = by
            .act(self.core.now(), &account.name, Act::ProviderSet)
            .target(name)
            .detail("key", word)
            .detail("last4", &stored.last4);
        let act = with_changes(act, before.as_ref().map(|before| &before.config), config);
        let put = put(account_id, name, old.as_ref(), &stored);
        self.core
            .change(account_id, &act, vec![put], true)
            .await
            .map_err(about(ItemKind::Provider.label()))
    }

    /// The providers of an account, by name.
    pub async fn providers(&self, account_id: &str) -> Result<Vec<ProviderInfo>> {
        let guard = self.core.guard();
        let items = guard.items(account_id, ItemKind::Provider).await?;
        items.iter().map(info).collect()
    }

    /// One provider of an account.
    pub async fn provider(&self, account_id: &str, name: &str) -> Result<Option<ProviderInfo>> {
        let guard = self.core.guard();
        let item = guard.item(account_id, ItemKind::Provider, name).await?;
        item.as_ref().map(info).transpose()
    }

    /// Removes a provider.
    pub async fn remove_provider(&self, account_id: &str, name: &str, actor: &str) -> Result<()> {
        let (_, account) = self.core.account_item(account_id).await?;
        let guard = self.core.guard();
        let item = guard.item(account_id, ItemKind::Provider, name).await?;
        let item = item.ok_or(StoreError::NotFound(ItemKind::Provider.label()))?;
        let act =
            AdminAct::new(self.core.now(), &account.name, actor, Act::ProviderRemove).target(name);
        self.core
            .change(account_id, &act, vec![item.deleted()], true)
            .await
            .map_err(about(ItemKind::Provider.label()))
    }
}

/// The row of an entry as a change.
fn put(account_id: &str, name: &str, old: Option<&Item>, stored: &ProviderBody) -> Change {
    match old {
        Some(old) => old.replaced_by(stored),
        None => Change::Put(
            Item::new(account_id, ItemKind::Provider, name, None, stored),
            Expect::Absent,
        ),
    }
}

impl Core {
    /// The configuration of a stored entry.
    pub(crate) fn provider_config(item: &Item) -> Result<ProviderConfig> {
        Ok(ProviderBody::read(item)?.config)
    }

    /// The row of an entry with another configuration and the stored secret, if that is still of use.
    pub(crate) async fn provider_put(
        &self,
        account_id: &str,
        (name, config): (&str, &ProviderConfig),
        old: Option<&Item>,
        by: By<'_>,
    ) -> Result<Change> {
        let before = old.map(ProviderBody::read).transpose()?;
        let fits = |before: &ProviderBody| {
            before.config.kind == config.kind && before.config.auth() == config.auth()
        };
        let given = match before.as_ref().is_some_and(fits) {
            true => NewSecret::Keep,
            false => NewSecret::Remove,
        };
        let (kept, _) = self.secret_to_keep(given, old).await?;
        let body = self.provider_body(account_id, (name, config), kept.as_ref(), by);
        Ok(put(account_id, name, old, &body.await?))
    }

    async fn provider_body(
        &self,
        account_id: &str,
        (name, config): (&str, &ProviderConfig),
        secret: Option<&ProviderSecret>,
        by: By<'_>,
    ) -> Result<ProviderBody> {
        let form = config.auth().secret();
        if secret.is_none() && form == Secret::Key {
            return Err(StoreError::NotFound("provider key"));
        }
        let last4 = match (secret, form) {
            (Some(secret), Secret::Key | Secret::Text) => last4(secret.expose()),
            _ => String::new(),
        };
        let sealed = match secret {
            Some(secret) => Some(self.seal_secret(account_id, name, config, secret).await?),
            None => None,
        };
        Ok(ProviderBody {
            config: config.clone(),
            sealed,
            last4,
            updated: self.now(),
            updated_by: by.actor.to_owned(),
        })
    }

    /// The secret that is stored from now on, and its description for the record.
    async fn secret_to_keep(
        &self,
        given: NewSecret<'_>,
        old: Option<&Item>,
    ) -> Result<(Option<ProviderSecret>, &'static str)> {
        let (secret, word) = match (given, old) {
            (NewSecret::Set(secret), _) => (Some(secret.clone()), "new"),
            (NewSecret::Keep, Some(old)) => (self.open_provider(old).await?.secret, "kept"),
            (NewSecret::Keep, None) | (NewSecret::Remove, _) => (None, "none"),
        };
        let word = if secret.is_some() { word } else { "none" };
        Ok((secret, word))
    }

    /// An entry with its secret in the clear.
    pub(crate) async fn open_provider(&self, item: &Item) -> Result<Provider> {
        let stored = ProviderBody::read(item)?;
        let secret = match &stored.sealed {
            Some(sealed) => {
                let field = field(&item.id, &stored.config);
                Some(self.unseal_secret(item, sealed, &field).await?)
            }
            None => None,
        };
        Ok(Provider {
            config: stored.config,
            secret,
            last4: stored.last4,
            version: item.version,
        })
    }

    /// The entry of an older store, its key bound to the address it is sent to.
    pub(crate) async fn bind_key(&self, item: &Item) -> Result<Item> {
        let mut stored = ProviderBody::read(item)?;
        if let Some(sealed) = &stored.sealed {
            let key = self.unseal_secret(item, sealed, UNBOUND).await?;
            let bound = self.seal_secret(&item.account, &item.id, &stored.config, &key);
            stored.sealed = Some(bound.await?);
        }
        Ok(Item {
            version: item.version,
            ..Item::new(&item.account, item.kind, &item.id, None, &stored)
        })
    }

    async fn unseal_secret(
        &self,
        item: &Item,
        sealed: &str,
        field: &str,
    ) -> Result<ProviderSecret> {
        let unreadable = || StoreError::Unreadable("provider key");
        let sealed = STANDARD.decode(sealed).map_err(|_| unreadable())?;
        let place = place(&item.account, &item.id, field);
        let opened = self.keyring.unseal(place, &sealed).await?;
        let secret = std::str::from_utf8(opened.expose()).map_err(|_| unreadable())?;
        Ok(SecretString::from(secret))
    }

    async fn seal_secret(
        &self,
        account_id: &str,
        name: &str,
        config: &ProviderConfig,
        secret: &ProviderSecret,
    ) -> Result<String> {
        let field = field(name, config);
        let place = place(account_id, name, &field);
        let (now, bytes) = (self.now(), secret.expose().as_bytes());
        let sealed = self.keyring.seal(Purpose::Secrets, now, place, bytes);
        Ok(STANDARD.encode(sealed.await?))
    }
}

/// A secret opens only beside the addresses it was given for. An entry that says no more than older versions could is
/// bound in their words.
fn field(name: &str, config: &ProviderConfig) -> String {
    let said = json!([
        config.auth,
        config.region,
        config.project,
        config.tenant,
        config.token_url,
    ]);
    let is_as_before = config.kind.code() == name
        && said
            .as_array()
            .is_some_and(|said| said.iter().all(Value::is_null));
    let address = config.base_url.as_deref();
    if is_as_before {
        return format!("key for {}", address.unwrap_or("the family's own address"));
    }
    json!(["secret for", config.kind, address, said]).to_string()
}

fn place<'a>(account: &'a str, name: &'a str, field: &'a str) -> Place<'a> {
    Place {
        account,
        table: ItemKind::Provider.code(),
        record: name,
        field,
    }
}

/// Adds the changes to a record: the address as the value before and after, other fields by name.
fn with_changes(
    act: AdminAct,
    before: Option<&ProviderConfig>,
    after: &ProviderConfig,
) -> AdminAct {
    let address = |config: Option<&ProviderConfig>| {
        let base_url = config.and_then(|config| config.base_url.as_deref());
        base_url.unwrap_or("default").to_owned()
    };
    let (from, to) = (address(before), address(Some(after)));
    let mut act = if from == to {
        act
    } else {
        act.change(&from, &to)
    };
    let fresh = ProviderConfig::new(after.kind);
    let fields = |config: &ProviderConfig| {
        let value = serde_json::to_value(config).expect("entries are plain values");
        value.as_object().cloned().unwrap_or_default()
    };
    let known = fields(before.unwrap_or(&fresh));
    for (name, value) in fields(after) {
        let is_news = known.get(&name) != Some(&value);
        let is_first_word = before.is_none() && (name == "kind" || name == "phi");
        if (is_news || is_first_word) && name != "base_url" {
            act = act.detail(&name, &in_words(&value));
        }
    }
    act
}

/// Shows a value as text for a record.
fn in_words(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(in_words).collect();
            items.join(",")
        }
        other => other.to_string(),
    }
}

fn info(item: &Item) -> Result<ProviderInfo> {
    let stored = ProviderBody::read(item)?;
    Ok(ProviderInfo {
        name: item.id.clone(),
        config: stored.config,
        has_secret: stored.sealed.is_some(),
        last4: stored.last4,
        updated: stored.updated,
        updated_by: stored.updated_by,
    })
}

/// The last four characters, of keys long enough that these give nothing away.
fn last4(key: &str) -> String {
    let characters: Vec<char> = key.chars().collect();
    match characters.len() {
        0..12 => String::new(),
        length => characters[length - 4..].iter().collect(),
    }
}
