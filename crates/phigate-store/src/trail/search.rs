//! Searching the trail, in time that does not grow with it.
//!
//! Records are found by their time. A search for something rare would read all of them, so the counters say which hours
//! hold a match, and only those hours are read. Rare combinations, and fields without a counter, can still be anywhere:
//! a page that has read many records and is not full says how far back it got.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use jiff::Timestamp;

use crate::Result;
use crate::model::{Count, Cursor, Filter, Page};
use crate::rows::{AuditRow, Names};
use crate::trail::asked::{Asked, HOUR_US, REQUESTS};
use crate::trail::{Figures, Trail};

/// Most records on one page.
const PAGE_MAX: usize = 1_000;
/// Cost of looking at one more piece of the trail, in requests.
const PIECE: i64 = 500;
/// Fewest pieces that a search looks at before it gives up.
const PIECES: i64 = 8;
/// Hours whose numbers of requests are read at once.
const HOURS: usize = 128;

impl Trail {
    /// Records of an account, newest first.
    pub(super) async fn page(
        &self,
        account_id: &str,
        filter: &Filter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<AuditRow>> {
        let store = &self.core.store;
        let limit = limit.clamp(1, PAGE_MAX);
        let Some(asked) = Asked::of(filter) else {
            let items = store.list(account_id, filter, after, limit + 1).await?;
            return Ok(full_or_last(items, limit));
        };
        let hours = asked.hours(self, account_id, filter, after).await?;
        let mut pieces = Pieces::new(self, account_id, hours, asked.looks());
        let mut items = Vec::new();
        while let Some(times_us) = pieces.next().await? {
            let here = filter.within(&times_us);
            let left = limit + 1 - items.len();
            items.extend(store.list(account_id, &here, after, left).await?);
            if items.len() > limit {
                break;
            }
            if pieces.is_tired() {
                return Ok(Page {
                    items,
                    next: Some(Cursor::before(times_us.start)),
                    looked_back_to: Timestamp::from_microsecond(times_us.start).ok(),
                });
            }
        }
        Ok(full_or_last(items, limit))
    }
}

impl Figures {
    /// Number of records of an account that a filter chooses, counted up to `most`: a page need not wait for a count of
    /// millions.
    pub async fn count(&self, account_id: &str, filter: &Filter, most: usize) -> Result<Count> {
        let store = &self.core.store;
        let Some(asked) = Asked::of(filter) else {
            let number = store.count(account_id, filter, most).await?;
            return Ok(Count {
                number,
                is_least: number >= most as u64,
            });
        };
        let trail = Trail::new(Arc::clone(&self.core));
        let hours = asked.hours(&trail, account_id, filter, None).await?;
        let (counted, hours) = asked.counted(&trail, account_id, filter, hours).await?;
        let mut number = counted.min(most as u64);
        let mut pieces = Pieces::new(&trail, account_id, hours, asked.looks());
        let mut is_least = number >= most as u64;
        while !is_least && let Some(times_us) = pieces.next().await? {
            let here = filter.within(&times_us);
            let left = most - number as usize;
            number += store.count(account_id, &here, left).await?;
            is_least = number >= most as u64 || pieces.is_tired();
        }
        Ok(Count { number, is_least })
    }
}

/// Rows of which there is one more than fit, or the last there are.
fn full_or_last(mut items: Vec<AuditRow>, limit: usize) -> Page<AuditRow> {
    let more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| more).map(AuditRow::cursor);
    Page {
        items,
        next,
        looked_back_to: None,
    }
}

/// The hours of a search, cut into pieces that are looked at one after another.
struct Pieces<'a> {
    trail: &'a Trail,
    account_id: &'a str,
    /// Hours still to come, the next one last.
    hours: Vec<i64>,
    /// Pieces of the next hours, the next one last.
    ready: Vec<Piece>,
    /// Remaining budget of the search, in requests.
    left: i64,
    /// Requests in a piece.
    size: i64,
}

/// A piece of the trail.
#[derive(Debug, PartialEq, Eq)]
struct Piece {
    times_us: Range<i64>,
    requests: i64,
}

impl<'a> Pieces<'a> {
    fn new(trail: &'a Trail, account_id: &'a str, mut hours: Vec<i64>, looks: i64) -> Self {
        hours.reverse();
        Self {
            trail,
            account_id,
            hours,
            ready: Vec::new(),
            left: looks,
            size: looks / PIECES,
        }
    }

    /// The next piece, newest first.
    async fn next(&mut self) -> Result<Option<Range<i64>>> {
        if self.ready.is_empty() {
            let next = self.hours.split_off(self.hours.len().saturating_sub(HOURS));
            let (Some(first), Some(last)) = (next.first(), next.last()) else {
                return Ok(None);
            };
            let store = &self.trail.core.store;
            let requests = Names::one(REQUESTS);
            let sums = store.sums(self.account_id, &requests, *first..=*last);
            let sums: HashMap<i64, i64> = sums.await?.into_iter().collect();
            let busy = next
                .iter()
                .map(|hour| (*hour, sums.get(hour).copied().unwrap_or(0)));
            self.ready = pieces(busy, self.size);
        }
        let piece = self.ready.pop();
        self.left -= piece.as_ref().map_or(0, |piece| piece.requests + PIECE);
        Ok(piece.map(|piece| piece.times_us))
    }

    /// Whether enough was looked at, though there is more.
    fn is_tired(&self) -> bool {
        self.left <= 0 && !(self.ready.is_empty() && self.hours.is_empty())
    }
}

/// Cuts hours, oldest first, each with its number of requests, into pieces of about a size: busy hours apart, quiet ones
/// that follow one another joined.
fn pieces(hours: impl Iterator<Item = (i64, i64)>, size: i64) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for (hour, requests) in hours {
        let start = hour * HOUR_US;
        if let Some(last) = pieces.last_mut()
            && last.times_us.end == start
            && last.requests + requests <= size
        {
            last.times_us.end += HOUR_US;
            last.requests += requests;
            continue;
        }
        let parts = (requests / size + 1).min(3_600);
        let width = HOUR_US / parts;
        pieces.extend((0..parts).map(|part| Piece {
            times_us: start + part * width..match part + 1 == parts {
                true => start + HOUR_US,
                false => start + (part + 1) * width,
            },
            requests: requests / parts,
        }));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_hours_are_joined_busy_hours_split() {
        let piece = |from: f64, to: f64, requests| Piece {
            times_us: (from * HOUR_US as f64) as i64..(to * HOUR_US as f64) as i64,
            requests,
        };
        let hours = [(1, 4), (2, 3), (3, 3), (5, 1), (6, 45), (7, 1)];
        assert_eq!(
            pieces(hours.into_iter(), 10),
            [
                piece(1.0, 4.0, 10),
                piece(5.0, 6.0, 1),
                piece(6.0, 6.2, 9),
                piece(6.2, 6.4, 9),
                piece(6.4, 6.6, 9),
                piece(6.6, 6.8, 9),
                piece(6.8, 8.0, 10),
            ]
        );
    }
}
