//! Accounts: create, list, read, delete.

mod allow;
mod declared;
mod kinds;
mod policy;
mod recognizers;
mod rosters;
mod settings;

pub(crate) use allow::AllowBody;
pub use allow::AllowLists;
pub use declared::{declare, declared};
pub(crate) use policy::check_group;
pub use recognizers::RecognizerLists;
pub use rosters::RosterLists;
pub(crate) use rosters::part_ids;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use phigate_types::{Act, Mode, Policy, Word, Words};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::core::{Core, about};
use crate::item::{Change, Expect, Item, ItemKind};
use crate::keys::random_id;
use crate::model::{Account, AccountInfo, AdminAct, PolicyWords, Settings};
use crate::store::SYSTEM;
use crate::{Result, StoreError};

const NAME_MAX: usize = 64;

/// Kinds of rows that make up the state of an account.
pub(crate) const ACCOUNT_ROWS: [ItemKind; 4] = [
    ItemKind::Account,
    ItemKind::Provider,
    ItemKind::Recognizer,
    ItemKind::Roster,
];

/// Accounts, their modes, settings and aliases.
#[derive(Clone)]
pub struct Accounts {
    core: Arc<Core>,
}

/// An account as stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AccountBody {
    pub(crate) name: String,
    pub(crate) created: Timestamp,
    pub(crate) mode: Mode,
    pub(crate) previous_mode: Option<Mode>,
    pub(crate) mode_changed_by: Option<String>,
    pub(crate) mode_changed: Option<Timestamp>,
    #[serde(default)]
    pub(crate) settings: Settings,
    #[serde(default)]
    pub(crate) aliases: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) fallbacks: BTreeMap<String, Vec<String>>,
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub(crate) policy: Words<Word>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) groups: BTreeMap<SmolStr, Words<Mode>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) allowed: Vec<AllowBody>,
}

impl AccountBody {
    /// The words of account and groups.
    pub(crate) fn words(&self) -> PolicyWords {
        PolicyWords {
            mode: self.mode,
            account: self.policy.clone(),
            groups: self.groups.clone(),
            keys: BTreeMap::new(),
        }
    }
}

impl Accounts {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }

    /// Creates an account in flag mode, without keys or users.
    pub async fn create_account(&self, name: &str, actor: &str) -> Result<AccountInfo> {
        check_name(name)?;
        let (id, created) = (random_id(12), self.core.now());
        let stored = AccountBody {
            name: name.to_owned(),
            created,
            mode: Mode::default(),
            previous_mode: None,
            mode_changed_by: None,
            mode_changed: None,
            settings: Settings::default(),
            aliases: BTreeMap::new(),
            fallbacks: BTreeMap::new(),
            policy: Words::new(),
            groups: BTreeMap::new(),
            allowed: Vec::new(),
        };
        let act = AdminAct::new(created, name, actor, Act::AccountCreate).target(name);
        let put = Change::Put(
            Item::new(&id, ItemKind::Account, &id, Some(name), &stored),
            Expect::Absent,
        );
        self.core
            .change(&id, &act, vec![put], true)
            .await
            .map_err(about("an account of this name"))?;
        Ok(AccountInfo {
            id,
            name: name.to_owned(),
            created,
        })
    }

    /// All accounts, by name.
    pub async fn accounts(&self) -> Result<Vec<AccountInfo>> {
        let mut accounts = Vec::new();
        for item in self.core.guard().items_of_all(ItemKind::Account).await? {
            let stored: AccountBody = item.read()?;
            accounts.push(AccountInfo {
                id: item.id,
                name: stored.name,
                created: stored.created,
            });
        }
        accounts.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(accounts)
    }

    /// The account with this name, or the only account.
    pub async fn find_account(&self, name: Option<&str>) -> Result<AccountInfo> {
        let accounts = self.accounts().await?;
        match name {
            Some(name) => accounts
                .into_iter()
                .find(|account| account.name == name)
                .ok_or(StoreError::NotFound(ItemKind::Account.label())),
            None => match <[AccountInfo; 1]>::try_from(accounts) {
                Ok([only]) => Ok(only),
                Err(_) => Err(StoreError::Invalid {
                    what: ItemKind::Account.label(),
                    why: "there are several; name one with --account",
                }),
            },
        }
    }

    /// The current state of an account.
    pub async fn account(&self, account_id: &str) -> Result<Arc<Account>> {
        let version = self.core.store.generation().await?;
        let items = self.core.guard().rows(account_id, &ACCOUNT_ROWS).await?;
        self.core.assemble(items, version).await.map(Arc::new)
    }

    /// Deletes an account: users, keys and settings, and its data keys, so that sealed content is unreadable
    /// everywhere, also in backups without these keys. Its records stay until they expire.
    pub async fn delete_account(&self, account_id: &str, actor: &str) -> Result<()> {
        let (found, stored) = self.core.account_item(account_id).await?;
        if stored.settings.retention.legal_hold {
            return Err(StoreError::Invalid {
                what: ItemKind::Account.label(),
                why: "it is under legal hold; lift that first",
            });
        }
        self.core.refuse_older_rows(account_id).await?;
        let now = self.core.now();
        let act = AdminAct::new(now, &stored.name, actor, Act::AccountDelete).target(account_id);
        let top = self.core.guard().top(account_id).await?;
        let mark = DeletedAccount {
            name: stored.name.clone(),
            deleted: now,
            acts: top.as_ref().map_or(0, |(_, top)| top.acts),
            chains: top
                .as_ref()
                .map(|(_, top)| top.chains.clone())
                .unwrap_or_default(),
        };
        let changes = vec![
            found.unchanged(),
            Change::Shred {
                account: account_id.to_owned(),
            },
            Change::Put(
                Item::new(SYSTEM, ItemKind::DeletedAccount, account_id, None, &mark),
                Expect::Absent,
            ),
        ];
        self.core
            .change(account_id, &act, changes, true)
            .await
            .map_err(about(ItemKind::Account.label()))?;
        self.core.keyring.forget(account_id);
        self.core.guard().forget(account_id);
        Ok(())
    }

    /// Reads, changes and records an account; retries after a concurrent change.
    async fn edit_account(
        &self,
        account_id: &str,
        edit: impl Fn(&mut AccountBody) -> Result<Option<AdminAct>>,
    ) -> Result<()> {
        for _ in 0..16 {
            let (old, mut stored) = self.core.account_item(account_id).await?;
            let Some(act) = edit(&mut stored)? else {
                return Ok(());
            };
            match self
                .core
                .change(account_id, &act, vec![old.replaced_by(&stored)], true)
                .await
            {
                Err(StoreError::Conflict(_)) => {}
                done => return done,
            }
        }
        Err(StoreError::Conflict(ItemKind::Account.label()))
    }
}

impl Core {
    pub(crate) async fn account_item(&self, account_id: &str) -> Result<(Item, AccountBody)> {
        let item = self
            .guard()
            .item(account_id, ItemKind::Account, account_id)
            .await?
            .ok_or(StoreError::NotFound(ItemKind::Account.label()))?;
        let stored = item.read()?;
        Ok((item, stored))
    }

    /// Assembles an account from its items.
    pub(crate) async fn assemble(&self, items: Vec<Item>, version: u64) -> Result<Account> {
        let mut account = None;
        let (mut providers, mut recognizers) = (BTreeMap::new(), Vec::new());
        let mut rosters = Vec::new();
        for item in &items {
            match item.kind {
                ItemKind::Account => {
                    account = Some((item.id.clone(), item.read::<AccountBody>()?));
                }
                ItemKind::Roster => rosters.push(item),
                ItemKind::Recognizer => recognizers.push(self.open_recognizer(item).await?),
                _ => {
                    let provider = self.open_provider(item).await?;
                    providers.insert(item.id.clone(), provider);
                }
            }
        }
        let (id, stored) = account.ok_or(StoreError::NotFound(ItemKind::Account.label()))?;
        let policy = Policy::of_levels(stored.words().levels(None, None))
            .allowing_unscannable(stored.settings.allow_unscannable);
        let allowed = self.allowed_values(&id, &stored.allowed)?;
        let rosters = self.open_rosters(&id, &rosters).await?;
        let AccountBody {
            name,
            mode,
            settings,
            aliases,
            fallbacks,
            ..
        } = stored;
        Ok(Account {
            id,
            name,
            mode,
            policy,
            settings,
            allowed,
            recognizers: recognizers.into(),
            rosters,
            providers,
            aliases,
            fallbacks,
            version,
        })
    }
}

/// The remains of a deleted account.
#[derive(Serialize, Deserialize)]
pub(crate) struct DeletedAccount {
    pub(crate) name: String,
    pub(crate) deleted: Timestamp,
    /// Numbered acts and chains of the remaining trail.
    #[serde(default)]
    pub(crate) acts: u64,
    #[serde(default)]
    pub(crate) chains: Vec<i64>,
}

fn check_name(name: &str) -> Result<()> {
    let fine = !name.is_empty()
        && name.len() <= NAME_MAX
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if fine {
        Ok(())
    } else {
        Err(StoreError::Invalid {
            what: "account name",
            why: "use 1 to 64 letters, digits, dots, hyphens or underscores",
        })
    }
}
