//! Adopts the rows of a store from before rows were authenticated. Happens once; the root key is then marked.

use std::collections::BTreeMap;

use crate::guard::change::expect;
use crate::guard::roll::{Roll, TOP, Top, entry};
use crate::guard::{Guard, is_exempt, is_listed};
use crate::item::{Change, Expect, Item, ItemKind, Protection};
use crate::rows::Head;
use crate::store::SYSTEM;

impl Guard {
    /// The changes that give every row its keyed hash and its roll entry.
    pub(crate) fn adopt(&self, items: &[Item], heads: &[Head]) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut rolls: BTreeMap<(String, ItemKind), Roll> = BTreeMap::new();
        for item in items {
            if item.kind.protection() == Protection::None || is_exempt(&item.account, item.kind) {
                continue;
            }
            let put = self.hashed(&Change::Put(item.clone(), expect(Some(item.version))));
            if let Change::Put(hashed, _) = &put
                && is_listed(&item.account, item.kind)
            {
                let roll = rolls.entry((item.account.clone(), item.kind)).or_default();
                roll.insert(item.id.clone(), entry(hashed));
            }
            if item.kind == ItemKind::Account {
                let roll = rolls.entry((SYSTEM.to_owned(), ItemKind::Account));
                roll.or_default().insert(item.id.clone(), String::new());
            }
            changes.push(put);
        }
        let mut tops: BTreeMap<String, Top> = BTreeMap::new();
        for ((account, kind), roll) in &rolls {
            let top = tops.entry(account.clone()).or_default();
            top.rolls
                .insert(kind.code().to_owned(), Expect::Absent.next_version());
            let item = Item::new(account, ItemKind::Roll, kind.code(), None, roll);
            changes.push(self.hashed(&Change::Put(item, Expect::Absent)));
        }
        for (account, mut top) in tops {
            let own = heads.iter().filter(|head| head.account == account);
            top.note(own.map(|head| head.lane));
            let item = Item::new(&account, ItemKind::Roll, TOP, None, &top);
            changes.push(self.hashed(&Change::Put(item, Expect::Absent)));
        }
        changes
    }
}
