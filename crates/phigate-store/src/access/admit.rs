//! Admission: from an API key to the current state of its account.
//!
//! Every call asks the store whether settings changed; the cache is used only if they did not. So a change that was
//! acknowledged anywhere binds every call that starts afterwards.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, MutexGuard, OnceLock, PoisonError};

use crate::access::Access;
use crate::accounts::{ACCOUNT_ROWS, AccountBody};
use phigate_types::Policy;

use crate::error::AdmitError;
use crate::item::{Item, ItemKind};
use crate::keys::api_key;
use crate::model::{Account, Admission, KeyBody, PolicyWords, TokenRule};
use crate::{Result, StoreError};

/// Precision of the recorded last use of a key.
const USED_US: i64 = 10_000_000;
/// Most rotations of a key that are followed.
const ROTATIONS_MAX: usize = 64;
/// Keys remembered at most; beyond that they are read again.
const KEYS_MAX: usize = 100_000;

/// Cache of keys and accounts under one generation of settings.
#[derive(Default)]
pub(super) struct Cache {
    generation: u64,
    keys: HashMap<String, Arc<Known>>,
    /// Accounts that were asked for without a key.
    accounts: HashMap<String, Arc<Account>>,
}

struct Known {
    stored: KeyBody,
    hash: Vec<u8>,
    /// Hash of the key itself, once it has matched.
    matched: OnceLock<[u64; 2]>,
    account: Arc<Account>,
    policy: Policy,
    used_us: AtomicI64,
}

impl Access {
    /// Admits the caller with this API key, or says why not.
    pub async fn admit(&self, key: &str) -> Result<Admission, AdmitError> {
        let key_id = match api_key::public_id(api_key::CALLER, key) {
            Err(AdmitError::Malformed) => return Err(Box::pin(self.malformed(key)).await),
            checked => checked?,
        };
        let known = self.known(key_id).await?.ok_or(AdmitError::Unknown)?;
        self.admit_known(key, key_id, &known)
    }

    /// Error for a malformed key: a caller who guesses secrets for a key's id need not know how its checksum is made.
    async fn malformed(&self, key: &str) -> AdmitError {
        let is_plain = |id: &&str| id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let Some(key_id) = api_key::claimed_id(key).filter(is_plain) else {
            return AdmitError::Malformed;
        };
        match self.known(key_id).await {
            Ok(Some(known)) => wrong_secret(key_id, &known),
            Ok(None) | Err(_) => AdmitError::Malformed,
        }
    }

    /// Admits a caller from the cache. `None` if the cache is stale or the caller is not admitted.
    pub fn admit_at_once(&self, key: &str) -> Option<Admission> {
        let key_id = api_key::public_id(api_key::CALLER, key).ok()?;
        let generation = self.core.store.generation_at_once()?;
        let known = self.cache_of(generation).keys.get(key_id)?.clone();
        self.admit_known(key, key_id, &known).ok()
    }

    /// Text at the place of a key's public id. The key need not exist.
    pub fn claimed_id(key: &str) -> Option<&str> {
        api_key::claimed_id(key)
    }

    fn admit_known(&self, key: &str, key_id: &str, known: &Known) -> Result<Admission, AdmitError> {
        let fingerprint = api_key::fingerprint(key);
        if known.matched.get() != Some(&fingerprint) {
            if !api_key::matches(&self.core.keyring.root.pepper, key, &known.hash) {
                return Err(wrong_secret(key_id, known));
            }
            known.matched.get_or_init(|| fingerprint);
        }
        self.admit_valid(key_id, known)
    }

    /// Admits the caller of a key, unless the key has ended.
    fn admit_valid(&self, key_id: &str, known: &Known) -> Result<Admission, AdmitError> {
        let (now, key_id) = (self.core.now(), key_id.to_owned());
        if known.stored.revoked.is_some_and(|revoked| revoked <= now) {
            let account_id = known.account.id.clone();
            return Err(AdmitError::Revoked { key_id, account_id });
        }
        if known.stored.expires.is_some_and(|expires| expires <= now) {
            let account_id = known.account.id.clone();
            return Err(AdmitError::Expired { key_id, account_id });
        }
        self.note_use(&key_id, known, now.as_microsecond());
        Ok(Admission {
            key_id,
            account: known.account.clone(),
            policy: known.policy.clone(),
            subject: None,
        })
    }

    /// Admits the caller whose token acts as a key, or says why not. A key that has ended after it was rotated is
    /// followed to its replacement.
    pub async fn admit_subject(
        &self,
        rule: &TokenRule,
        subject: &str,
    ) -> Result<Admission, AdmitError> {
        let mut key_id = rule.config.key_id.clone();
        for _ in 0..ROTATIONS_MAX {
            let known = self.known(&key_id).await?;
            let known = known.filter(|known| known.account.id == rule.account_id);
            let known = known.ok_or(AdmitError::Unknown)?;
            match (self.admit_valid(&key_id, &known), &known.stored.rotated_to) {
                (Err(AdmitError::Expired { .. }), Some(next)) => key_id.clone_from(next),
                (admitted, _) => {
                    return admitted.map(|admission| Admission {
                        subject: Some(subject.to_owned()),
                        ..admission
                    });
                }
            }
        }
        Err(AdmitError::Unknown)
    }

    /// The current state of an account, for actors without a key.
    pub async fn account(&self, account_id: &str) -> Result<Arc<Account>> {
        let generation = self.core.store.generation().await?;
        if let Some(account) = self.cache_of(generation).accounts.get(account_id) {
            return Ok(account.clone());
        }
        let rows = self.core.guard().rows(account_id, &ACCOUNT_ROWS).await?;
        let account = Arc::new(self.core.assemble(rows, generation).await?);
        let mut cache = self.cache();
        if cache.generation == generation {
            let known = account.clone();
            cache.accounts.insert(account_id.to_owned(), known);
        }
        Ok(account)
    }

    async fn known(&self, key_id: &str) -> Result<Option<Arc<Known>>> {
        let generation = self.core.store.generation().await?;
        if let Some(known) = self.cache_of(generation).keys.get(key_id) {
            return Ok(Some(known.clone()));
        }
        // Boxed: rare, and inline it would enlarge every request's future.
        Box::pin(self.look_up(key_id, generation)).await
    }

    /// Looks up a key. Its claim to an account counts only if that account's rows confirm it.
    async fn look_up(&self, key_id: &str, generation: u64) -> Result<Option<Arc<Known>>> {
        let Some(found) = self.core.store.find(ItemKind::ApiKey, key_id).await? else {
            return Ok(None);
        };
        let known = match self.read_account(&found.account, generation).await {
            Err(StoreError::NotFound(_)) => return Ok(None),
            read => read?,
        };
        let wanted = known.get(key_id).cloned();
        let mut cache = self.cache();
        // Rows were read after the generation, so they are at least as new as it says.
        if cache.generation == generation && cache.keys.len() + known.len() <= KEYS_MAX {
            cache.keys.extend(known);
        }
        Ok(wanted)
    }

    /// The keys of an account, all of them seen at one moment with its settings and providers.
    async fn read_account(
        &self,
        account_id: &str,
        generation: u64,
    ) -> Result<HashMap<String, Arc<Known>>> {
        let kinds = [&ACCOUNT_ROWS[..], &[ItemKind::ApiKey]].concat();
        let rows = self.core.guard().rows(account_id, &kinds).await?;
        let (keys, rows): (Vec<Item>, Vec<Item>) = rows
            .into_iter()
            .partition(|item| item.kind == ItemKind::ApiKey);
        let words = match rows.iter().find(|item| item.kind == ItemKind::Account) {
            Some(item) => item.read::<AccountBody>()?.words(),
            None => PolicyWords::default(),
        };
        let account = Arc::new(self.core.assemble(rows, generation).await?);
        let known = |item: &Item| {
            let stored: KeyBody = item.read()?;
            let (group, key) = (stored.words.group.as_deref(), (&*item.id, &stored.words));
            let allows_unscannable = account.settings.allow_unscannable;
            let policy = Policy::of_levels(words.levels(group, Some(key)));
            let known = Known {
                policy: policy.allowing_unscannable(allows_unscannable),
                hash: stored.hash_bytes(),
                matched: OnceLock::new(),
                stored,
                account: account.clone(),
                used_us: AtomicI64::new(0),
            };
            Ok::<_, StoreError>(Arc::new(known))
        };
        keys.iter()
            .map(|item| Ok((item.id.clone(), known(item)?)))
            .collect()
    }

    /// Remembers the use of a key for the next heartbeat.
    fn note_use(&self, key_id: &str, known: &Known, now_us: i64) {
        let last = known.used_us.load(Ordering::Relaxed);
        let is_due = (now_us - last).abs() >= USED_US;
        if is_due
            && known
                .used_us
                .compare_exchange(last, now_us, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        {
            let mut used = self
                .core
                .writer
                .used
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            used.insert(key_id.to_owned(), (known.account.id.clone(), now_us));
        }
    }

    /// Locks the cache, cleared if it is from an older generation of settings.
    fn cache_of(&self, generation: u64) -> MutexGuard<'_, Cache> {
        let mut cache = self.cache();
        if cache.generation != generation {
            *cache = Cache {
                generation,
                ..Cache::default()
            };
        }
        cache
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wrong_secret(key_id: &str, known: &Known) -> AdmitError {
    AdmitError::WrongSecret {
        key_id: key_id.to_owned(),
        account_id: known.account.id.clone(),
    }
}
