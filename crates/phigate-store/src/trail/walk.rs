//! Walks all chains of an account at once, oldest record first, each chain in its order.

use std::collections::VecDeque;

use crate::Result;
use crate::rows::ChainRow;
use crate::store::Store;

/// Rows read at a time.
const PAGE: usize = 500;

/// Merges the chains of an account by time.
pub(super) struct Reader<'a> {
    store: &'a dyn Store,
    account: String,
    lanes: Vec<Lane>,
}

struct Lane {
    number: i64,
    /// Last position of the walk: records written later are not part of it.
    last: i64,
    read: i64,
    rows: VecDeque<ChainRow>,
}

impl<'a> Reader<'a> {
    /// Walks the records that exist now.
    pub(crate) async fn new(store: &'a dyn Store, account: &str) -> Result<Self> {
        let lane = |head: crate::rows::Head| Lane {
            number: head.lane,
            last: head.seq,
            read: 0,
            rows: VecDeque::new(),
        };
        let lanes = store
            .heads(Some(account))
            .await?
            .into_iter()
            .map(lane)
            .collect();
        Ok(Self {
            store,
            account: account.to_owned(),
            lanes,
        })
    }

    pub(crate) fn account(&self) -> &str {
        &self.account
    }

    /// The next record; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<ChainRow>> {
        for lane in &mut self.lanes {
            if lane.rows.is_empty() && lane.read < lane.last {
                let rows = self
                    .store
                    .chain(&self.account, lane.number, lane.read, PAGE)
                    .await?;
                lane.read = rows.last().map_or(lane.last, |row| row.link.seq);
                lane.rows = rows
                    .into_iter()
                    .filter(|row| row.link.seq <= lane.last)
                    .collect();
            }
        }
        let oldest = self.lanes.iter_mut().filter(|lane| !lane.rows.is_empty());
        let oldest = oldest.min_by_key(|lane| lane.rows.front().map(|row| row.time_us));
        Ok(oldest.and_then(|lane| lane.rows.pop_front()))
    }
}
