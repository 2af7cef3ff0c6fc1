//! Rolls: the rows of a kind in an account, each with a prefix of its keyed hash.
//!
//! The top roll of an account has the versions of its other rolls, the number of acts and the chains; so it covers all
//! listed rows.

use std::collections::BTreeMap;

use phigate_verify::chain::hex;
use serde::{Deserialize, Serialize};

use crate::item::{Item, ItemKind};

/// Id of the top roll; the id of another roll is the code of its kind.
pub(super) const TOP: &str = "top";

/// The rows of one kind: id, and a prefix of the keyed hash. In the installation's roll of accounts, ids alone.
pub(super) type Roll = BTreeMap<String, String>;

/// The top roll of an account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Top {
    /// Versions of the account's other rolls, by kind.
    pub(super) rolls: BTreeMap<String, i64>,
    /// Acts that changed listed rows; their records are numbered up to here.
    pub(crate) acts: u64,
    /// Chains of the account.
    pub(crate) chains: Vec<i64>,
}

impl Top {
    /// The top roll of a deleted account, for its remaining trail.
    pub(crate) fn of_deleted(acts: u64, chains: Vec<i64>) -> Self {
        Self {
            rolls: BTreeMap::new(),
            acts,
            chains,
        }
    }

    /// Adds chains; true if one was new.
    pub(super) fn note(&mut self, chains: impl IntoIterator<Item = i64>) -> bool {
        let before = self.chains.len();
        self.chains.extend(chains);
        self.chains.sort_unstable();
        self.chains.dedup();
        self.chains.len() != before
    }
}

/// All rolls of an account.
#[derive(Debug, Clone, Default)]
pub(super) struct Rolls {
    /// The top roll and its version, if it exists.
    pub(super) top: Option<(i64, Top)>,
    /// The rolls below the top roll, by kind.
    pub(super) of: BTreeMap<ItemKind, (i64, Roll)>,
}

impl Rolls {
    /// Reads authenticated rows; the error is the id of the first row that cannot be read.
    pub(super) fn read(items: &[Item]) -> Result<Self, String> {
        let mut rolls = Self::default();
        for item in items {
            let odd = |_| item.id.clone();
            if item.id == TOP {
                let top = serde_json::from_str(&item.body).map_err(odd)?;
                rolls.top = Some((item.version, top));
            } else {
                let kind = ItemKind::from_code(&item.id).ok_or_else(|| item.id.clone())?;
                let roll = serde_json::from_str(&item.body).map_err(odd)?;
                rolls.of.insert(kind, (item.version, roll));
            }
        }
        match rolls.misplaced() {
            Some(id) => Err(id),
            None => Ok(rolls),
        }
    }

    /// The first roll that is missing, older or newer than the top roll requires.
    fn misplaced(&self) -> Option<String> {
        let top = self.top();
        if self.top.is_none() && !self.of.is_empty() {
            return Some(TOP.to_owned());
        }
        let version = |code: &str| {
            let kind = ItemKind::from_code(code)?;
            self.of.get(&kind).map(|(version, _)| *version)
        };
        let listed = top.rolls.keys().map(String::as_str);
        let mut present = self.of.keys().map(|kind| kind.code()).chain(listed);
        let odd = present.find(|code| top.rolls.get(*code).copied() != version(code));
        odd.map(str::to_owned)
    }

    pub(super) fn top(&self) -> Top {
        self.top.clone().map(|(_, top)| top).unwrap_or_default()
    }

    pub(super) fn roll(&self, kind: ItemKind) -> Roll {
        let found = self.of.get(&kind);
        found.map(|(_, roll)| roll.clone()).unwrap_or_default()
    }

    /// The id of the first row of a kind that differs from the roll, is missing from it, or is listed and missing.
    pub(super) fn odd_row<'a>(
        &self,
        kind: ItemKind,
        rows: impl IntoIterator<Item = &'a Item>,
    ) -> Option<(String, Oddity)> {
        let mut roll = self.roll(kind);
        for item in rows.into_iter().filter(|item| item.kind == kind) {
            match roll.remove(&item.id) {
                Some(known) if known == entry(item) => {}
                Some(_) => return Some((item.id.clone(), Oddity::Other)),
                None => return Some((item.id.clone(), Oddity::Unlisted)),
            }
        }
        let (missing, _) = roll.into_iter().next()?;
        Some((missing, Oddity::Missing))
    }
}

/// The difference between a row and its roll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Oddity {
    /// Row that is listed in a different state.
    Other,
    /// Row that is not listed.
    Unlisted,
    /// Missing row that is listed.
    Missing,
}

/// The entry of a row in a roll.
pub(super) fn entry(item: &Item) -> String {
    let mac = item.mac.as_deref().unwrap_or_default();
    hex(mac.get(..8).unwrap_or_default())
}
