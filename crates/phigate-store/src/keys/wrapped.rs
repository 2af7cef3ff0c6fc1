//! Data keys as stored: wrapped by the master key and bound to their account and purpose.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::item::{Change, Expect, Item, ItemKind};
use crate::keys::Key;
use crate::keys::master::MasterKey;
use crate::keys::seal::{self, KeyId, Place};
use crate::store::SYSTEM;
use crate::{Result, StoreError};

/// Id of the item by which the store recognises its master key.
pub(super) const MASTER: &str = "master";
/// Id of the item that marks a store during an import.
pub(crate) const IMPORT: &str = "import";
/// Replaces the month of a root key whose store authenticates its rows. The mark is sealed with the key, so that an
/// attacker cannot make such a store look like an older one.
pub(super) const GUARDED: &str = "guarded";
/// The table of wrapped keys in their seal's place.
const TABLE: &str = ItemKind::DataKey.code();

/// The purpose of a data key. Purposes never share a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Purpose {
    /// Content of requests; a new key every month.
    Content,
    /// Provider keys and second factors.
    Secrets,
    /// Keyed hashes of identifiers; one permanent key, because lookups would miss otherwise.
    Lookup,
    /// Keys of the installation: pepper, chain key, signing key.
    Root,
}

#[derive(Serialize, Deserialize)]
pub(super) struct WrappedKey {
    pub(crate) purpose: Purpose,
    pub(crate) month: String,
    pub(crate) wrapped: String,
    pub(crate) master: String,
}

#[derive(Serialize, Deserialize)]
pub(super) struct MasterMark {
    pub(crate) id: String,
    pub(crate) check: String,
}

/// The change that marks the store with its master key.
pub(super) fn put_mark(master: &MasterKey, expect: Expect) -> Change {
    let mark = MasterMark {
        id: master.id(),
        check: STANDARD.encode(master.check()),
    };
    Change::Put(
        Item::new(SYSTEM, ItemKind::Meta, MASTER, None, &mark),
        expect,
    )
}

/// A data key as an item.
pub(super) fn wrap(
    master: &MasterKey,
    account: &str,
    id: &str,
    purpose: Purpose,
    month: &str,
    key: &Key,
) -> Item {
    let field = field(purpose, month);
    let place = Place {
        account,
        table: TABLE,
        record: id,
        field: &field,
    };
    let wrapped = WrappedKey {
        purpose,
        month: month.to_owned(),
        wrapped: STANDARD.encode(seal::seal(&master.wrapping(), [0; 8], place, &**key)),
        master: master.id(),
    };
    // Two processes must never hash identifiers with different keys: the unique lookup value makes the second insert
    // fail.
    let lookup = (purpose == Purpose::Lookup).then(|| format!("lookup/{account}"));
    Item::new(account, ItemKind::DataKey, id, lookup.as_deref(), &wrapped)
}

/// A data key from its item.
pub(super) fn unwrap(master: &MasterKey, item: &Item) -> Result<(WrappedKey, Key)> {
    let unreadable = || StoreError::Unreadable("data key");
    let wrapped: WrappedKey = serde_json::from_str(&item.body).map_err(|_| unreadable())?;
    let sealed = STANDARD
        .decode(&wrapped.wrapped)
        .map_err(|_| unreadable())?;
    let field = field(wrapped.purpose, &wrapped.month);
    let place = Place {
        account: &item.account,
        table: TABLE,
        record: &item.id,
        field: &field,
    };
    let plain = seal::open(&master.wrapping(), place, &sealed)?;
    let key = Zeroizing::new(plain.expose().try_into().map_err(|_| unreadable())?);
    Ok((wrapped, key))
}

fn field(purpose: Purpose, month: &str) -> String {
    format!("{purpose:?}/{month}")
}

/// The id of a data key, from its item's.
pub(super) fn parse_id(text: &str) -> Result<KeyId> {
    let number = u64::from_str_radix(text, 16).map_err(|_| StoreError::Unreadable("data key"))?;
    Ok(number.to_be_bytes())
}
