//! Verification beside the chains: authenticated rows, numbered acts, the list of chains, the figures.

use std::collections::{BTreeSet, HashMap};

use phigate_verify::{Fault, FaultKind};

use crate::accounts::DeletedAccount;
use crate::core::Core;
use crate::guard::{Seen, Top};
use crate::item::ItemKind;
use crate::minutes;
use crate::model::{Filter, Record, RecordKind};
use crate::rows::{ChainRow, CounterRow};
use crate::store::SYSTEM;
use crate::trail::Trail;
use crate::trail::read::parse;
use crate::writer::entry;
use crate::{Result, StoreError};

/// Records looked at for the newest numbered act, at a time and in all.
const PAGE: usize = 100;
const PAGES: usize = 50;

/// Counts by hour and name.
pub(crate) type Figures = HashMap<(i64, String), i64>;

/// Sums over the records of an account.
#[derive(Default)]
pub(super) struct Sums {
    figures: Figures,
    /// Hours some of whose records were deleted.
    partial: BTreeSet<i64>,
    /// Numbers of acts.
    numbers: BTreeSet<u64>,
    deleted: usize,
}

impl Sums {
    /// Takes a record that is there.
    pub(crate) fn add(&mut self, time_us: i64, record: &Record) {
        let hour = entry::hour(time_us);
        for (name, count) in entry::counters(record) {
            *self.figures.entry((hour, name.into())).or_default() += count;
        }
        if let Record::Admin(act) = record {
            self.numbers.extend(act.number);
        }
    }

    /// Takes a place whose record was deleted.
    pub(super) fn add_deleted(&mut self, row: &ChainRow) {
        self.partial.insert(entry::hour(row.time_us));
        self.deleted += 1;
    }

    /// The acts up to this number must be there, as far as retention did not delete them.
    fn missing_act(&self, acts: u64) -> Option<u64> {
        let mut missing = (1..=acts).filter(|number| !self.numbers.contains(number));
        missing.nth(self.deleted)
    }

    /// The first hour whose figures differ from the sums of the records. The figures were read before the records and
    /// after them, so that records written meanwhile lie between.
    fn odd_hour(&self, before: &Figures, after: &Figures) -> Option<i64> {
        let count = |of: &Figures, key: &(i64, String)| of.get(key).copied().unwrap_or(0);
        let earlier = counted_earlier(after);
        let keys: BTreeSet<&(i64, String)> = self.figures.keys().chain(after.keys()).collect();
        let is_odd = |key: &&&(i64, String)| {
            let sum = count(&self.figures, key);
            let is_too_high = count(before, key) > sum && !self.partial.contains(&key.0);
            let is_late = earlier.contains(&key.0) && entry::is_late_counter(&key.1);
            is_too_high || (!is_late && sum > count(after, key))
        };
        keys.iter().find(is_odd).map(|(hour, _)| *hour)
    }
}

/// Hours some of whose requests an earlier version counted, which did not count by key.
fn counted_earlier(figures: &Figures) -> BTreeSet<i64> {
    let mut uncounted: HashMap<i64, i64> = HashMap::new();
    for ((hour, name), count) in figures {
        let sign = match name.as_str() {
            "requests" => 1,
            name if name.starts_with("key:") => -1,
            _ => continue,
        };
        *uncounted.entry(*hour).or_default() += sign * count;
    }
    let is_short = |(_, left): &(i64, i64)| *left > 0;
    let hours = uncounted.into_iter().filter(is_short);
    hours.map(|(hour, _)| hour).collect()
}

impl Trail {
    /// Refuses rows that are not as they were written, or older than the trail says. A server does this before it
    /// serves.
    pub(crate) async fn check_rows(&self) -> Result<()> {
        let seen = self.core.guard().check(None).await?;
        for (account, top) in seen.map_err(StoreError::from)? {
            if self.core.newest_number(&account).await? > top.acts {
                return Err(rolled_back(account));
            }
        }
        Ok(())
    }

    /// Checks the rows beside the trail; returns their statements about the trail, or the fault found.
    pub(super) async fn verify_rows(&self, only: Option<&str>) -> Result<Result<Seen, Fault>> {
        Ok(match self.core.guard().check(only).await? {
            Ok(mut seen) => {
                if only.is_none() {
                    self.add_deleted_accounts(&mut seen).await?;
                }
                Ok(seen)
            }
            Err(fault) => {
                let row = format!("{} {}", fault.kind.label(), fault.id);
                Err(Fault::beside(fault.what, &fault.account, row))
            }
        })
    }

    /// Adds deleted accounts, whose trail stays, with the facts known about it.
    async fn add_deleted_accounts(&self, seen: &mut Seen) -> Result<()> {
        for item in self
            .core
            .guard()
            .items(SYSTEM, ItemKind::DeletedAccount)
            .await?
        {
            let deleted: DeletedAccount = item.read()?;
            let top = Top::of_deleted(deleted.acts, deleted.chains);
            seen.insert(item.id, top);
        }
        Ok(())
    }

    /// The figures of an account now.
    pub(super) async fn figures(&self, account: &str) -> Result<Figures> {
        let mut figures = Figures::new();
        let kept = |row: &CounterRow| !minutes::is_of_minute(&row.name);
        let rows = self.core.store.all_counters(account).await?;
        for row in rows.into_iter().filter(kept) {
            *figures.entry((row.hour, row.name)).or_default() += row.count;
        }
        Ok(figures)
    }

    /// Compares the sums over an account's records with its rows and figures.
    pub(super) async fn judge_sums(
        &self,
        account: &str,
        sums: &Sums,
        top: Option<&Top>,
        before: &Figures,
    ) -> Result<Option<Fault>> {
        if let Some(top) = top {
            if let Some(number) = sums.missing_act(top.acts) {
                let row = format!("act {number}");
                return Ok(Some(Fault::beside(FaultKind::Missing, account, row)));
            }
            let now = self.core.guard().top(account).await?;
            let acts = now.map_or(top.acts, |(_, now)| now.acts);
            if sums.numbers.last().is_some_and(|newest| *newest > acts) {
                let row = format!("the rows of account {account}");
                return Ok(Some(Fault::beside(FaultKind::RolledBack, account, row)));
            }
        }
        let odd = sums.odd_hour(before, &self.figures(account).await?);
        let fault = |hour: i64| {
            let start = jiff::Timestamp::from_second(hour * 3_600).unwrap_or_default();
            Fault::beside(
                FaultKind::Changed,
                account,
                format!("the figures of {start}"),
            )
        };
        Ok(odd.map(fault))
    }
}

impl Core {
    /// Refuses the rows of an account that are older than its trail says. Called before every final deletion: rows that
    /// were put back may have lost a legal hold.
    pub(crate) async fn refuse_older_rows(&self, account: &str) -> Result<()> {
        // In this order: an act of this moment raises the top after it was looked up.
        let newest = self.newest_number(account).await?;
        match self.guard().top(account).await? {
            Some((_, top)) if newest > top.acts => Err(rolled_back(account.to_owned())),
            _ => Ok(()),
        }
    }

    /// The number of the newest numbered act of an account, or 0.
    async fn newest_number(&self, account: &str) -> Result<u64> {
        let filter = Filter {
            record: Some(RecordKind::Admin),
            ..Filter::default()
        };
        let mut after = None;
        for _ in 0..PAGES {
            let rows = self.store.list(account, &filter, after, PAGE).await?;
            for row in &rows {
                if let Record::Admin(act) = parse(row)?
                    && let Some(number) = act.number
                {
                    return Ok(number);
                }
            }
            match rows.last() {
                Some(last) => after = Some(last.cursor()),
                None => break,
            }
        }
        Ok(0)
    }
}

fn rolled_back(account: String) -> StoreError {
    StoreError::Tampered {
        kind: ItemKind::Roll.label(),
        id: "top".to_owned(),
        account,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(rows: &[(i64, i64)]) -> Figures {
        let row = |(hour, count): &(i64, i64)| ((*hour, "requests".to_owned()), *count);
        rows.iter().map(row).collect()
    }

    #[test]
    fn figures_lie_between_earlier_and_later_reads() {
        let sums = |partial: &[i64]| Sums {
            figures: figures(&[(1, 5)]),
            partial: partial.iter().copied().collect(),
            ..Sums::default()
        };
        for (before, after, partial, odd) in [
            (5, 5, None, None),
            (4, 6, None, None),
            (6, 6, None, Some(1)),
            (4, 4, None, Some(1)),
            (6, 6, Some(1), None),
            (4, 4, Some(1), Some(1)),
        ] {
            let partial: Vec<i64> = partial.into_iter().collect();
            let (before, after) = (figures(&[(1, before)]), figures(&[(1, after)]));
            assert_eq!(sums(&partial).odd_hour(&before, &after), odd);
        }
        let invented = figures(&[(1, 5), (9, 1)]);
        assert_eq!(sums(&[]).odd_hour(&invented, &invented), Some(9));
    }

    #[test]
    fn missing_number_shows_unless_retention_deleted_it() {
        let sums = |deleted| Sums {
            numbers: BTreeSet::from([2, 3, 5]),
            deleted,
            ..Sums::default()
        };
        assert_eq!(sums(0).missing_act(5), Some(1));
        assert_eq!(sums(1).missing_act(5), Some(4));
        assert_eq!(sums(2).missing_act(5), None);
        assert_eq!(sums(2).missing_act(6), Some(6));
    }
}
