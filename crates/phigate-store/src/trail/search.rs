//! Searching the trail, in time that does not grow with it.
//!
//! Records are found by their time. Something rare would be looked for among all of them, so the counters say which
//! hours hold any of it, and only those are looked at. What is rare only in combination, and what is not counted, can
//! still be anywhere: a page that has looked at many records and is not full says how far back it came.

use std::collections::{HashMap, HashSet};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use jiff::Timestamp;
use phigate_types::{Action, ErrorCode, Mode};

use crate::Result;
use crate::model::{Count, Cursor, Filter, Page};
use crate::rows::{AuditRow, Names};
use crate::trail::{Figures, Trail};
use crate::writer::entry::hour;

/// Most records on one page.
const PAGE_MAX: usize = 1_000;
/// Requests that one page looks at, as long as the index answers all questions.
const LOOKS: i64 = 200_000;
/// The same where the records themselves are asked.
const READS: i64 = 20_000;
/// What looking at one more piece of the trail costs, in requests.
const PIECE: i64 = 500;
/// A search looks at so many pieces at least before it gives up.
const PIECES: i64 = 8;
/// Hours of which it is asked at once how many requests they had.
const HOURS: usize = 128;

const HOUR_US: i64 = 3_600_000_000;
/// A request that began in one hour ends no more than so many later: none may take longer than a day (`limits.request_ms`).
const LONGEST_HOURS: i64 = 25;
/// Versions that counted less may have served beside this one for so long.
const ROLLOUT_HOURS: i64 = 48;
/// Counts every request.
const REQUESTS: &str = "requests";
/// Likewise, in every version that counts as much as this one.
const BY_KEY: &str = "key:";

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
    /// How many records of an account a filter chooses, counted no further than `most`: a page need not wait for a
    /// count of millions.
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

/// What a search asks for, as far as it is counted.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    /// Every hour with a match has one of each.
    counters: Vec<Counter>,
    /// It asks for nothing else, besides times.
    is_all: bool,
    /// It asks for what only the records themselves say.
    reads: bool,
}

/// A counter that an hour with a match has.
#[derive(Debug, PartialEq, Eq)]
struct Counter {
    names: Names,
    /// Of the hour in which the request ended.
    is_of_end: bool,
}

impl Asked {
    /// Nothing where every request or every act will do, or where the request is known: there is nothing to look for.
    fn of(filter: &Filter) -> Option<Self> {
        let Filter {
            since: _,
            until: _,
            record: _,
            phi_type,
            action,
            mode,
            key_id,
            model,
            model_prefix,
            provider,
            error,
            status_class,
            door,
            request_id,
            act,
            actor,
            phi_detected,
            requests: _,
        } = filter;
        if request_id.is_some() || act.is_some() || actor.is_some() {
            return None;
        }
        let with_phi = phi_type.is_some() || *phi_detected == Some(true);
        // Some things are counted for all requests, and for those with PHI.
        let one = |group: &str, name: &str| Names::one(format!("{group}:{name}"));
        let [actions, keys, models] = match with_phi {
            true => ["phi_action", "key_phi", "model_phi"],
            false => ["action", "key", "model"],
        };
        let begins = |prefix: &String| Names::beginning(format!("{models}:{prefix}"));
        let by_phi = [
            action.map(|action| one(actions, Action::code(action))),
            key_id.as_ref().map(|key| one(keys, key)),
            model.as_ref().map(|name| one(models, name)),
            model_prefix.as_ref().map(begins),
            phi_type.as_ref().map(|kind| one("type", kind)),
        ];
        let only_phi = with_phi && by_phi.iter().all(Option::is_none);
        let others = [
            only_phi.then(|| Names::one("with_phi")),
            mode.map(|mode| one("mode", Mode::code(mode))),
        ];
        // The end of an interrupted request is recorded when the next process starts, however much later.
        let error_counted = error.filter(|error| *error != ErrorCode::Interrupted);
        let ends = [
            error_counted.map(|error| one("error", ErrorCode::code(error))),
            status_class.map(|class| Names::one(format!("status:{class}xx"))),
        ];
        let counter = |is_of_end| move |names| Counter { names, is_of_end };
        let begun = by_phi.into_iter().chain(others).flatten();
        let ends = ends.into_iter().flatten();
        let counters: Vec<Counter> = begun
            .map(counter(false))
            .chain(ends.map(counter(true)))
            .collect();
        let of_end = error.is_some() || status_class.is_some();
        let reads = provider.is_some() || door.is_some() || of_end;
        let is_all = !reads && *phi_detected != Some(false);
        let asks = !counters.is_empty() || reads || phi_detected.is_some();
        asks.then_some(Self {
            counters,
            is_all,
            reads,
        })
    }

    fn looks(&self) -> i64 {
        if self.reads { READS } else { LOOKS }
    }

    /// Hours in which there may be a match, newest first.
    async fn hours(
        &self,
        trail: &Trail,
        account_id: &str,
        filter: &Filter,
        after: Option<Cursor>,
    ) -> Result<Vec<i64>> {
        let store = &trail.core.store;
        let within = hours_of(filter, after);
        let requests = Names::one(REQUESTS);
        let mut hours = store.hours(account_id, &requests, within.clone()).await?;
        let uncounted = self.uncounted(trail, account_id).await?;
        for counter in &self.counters {
            let (first, last) = (*within.start(), *within.end());
            let ends = last.saturating_add(if counter.is_of_end { LONGEST_HOURS } else { 0 });
            let found = store
                .hours(account_id, &counter.names, first..=ends)
                .await?;
            let found: HashSet<i64> = match counter.is_of_end {
                true => found.into_iter().flat_map(may_have_begun).collect(),
                false => found.into_iter().collect(),
            };
            hours.retain(|hour| *hour <= uncounted || found.contains(hour));
        }
        Ok(hours)
    }

    /// The last hour that an earlier version may have counted, which counted less.
    async fn uncounted(&self, trail: &Trail, account_id: &str) -> Result<i64> {
        let store = &trail.core.store;
        let (all, by_key) = (Names::one(REQUESTS), Names::beginning(BY_KEY));
        let Some(hour) = store.first_hour(account_id, &by_key).await? else {
            return Ok(i64::MAX);
        };
        // Where the very first hour is counted whole, there was no earlier version.
        let is_first = store.first_hour(account_id, &all).await? == Some(hour);
        let requests = store.sums(account_id, &all, hour..=hour).await?;
        let is_whole = requests == store.sums(account_id, &by_key, hour..=hour).await?;
        Ok(match is_first && is_whole {
            true => i64::MIN,
            false => hour + ROLLOUT_HOURS,
        })
    }

    /// How many matches the counters know of, and the hours of which they do not know it.
    async fn counted(
        &self,
        trail: &Trail,
        account_id: &str,
        filter: &Filter,
        hours: Vec<i64>,
    ) -> Result<(u64, Vec<i64>)> {
        let (true, [counter]) = (self.is_all, self.counters.as_slice()) else {
            return Ok((0, hours));
        };
        let store = &trail.core.store;
        let (Some(newest), Some(first)) = (hours.first(), hours.last()) else {
            return Ok((0, hours));
        };
        // Of older hours, and perhaps of this one, records were deleted.
        let oldest = store.old_records(account_id, i64::MAX, 1).await?;
        let oldest = oldest.first().map_or(i64::MAX, |row| hour(row.time_us));
        let uncounted = self.uncounted(trail, account_id).await?;
        let whole = whole_hours_of(filter);
        let is_known = |hour: &i64| *hour > oldest.max(uncounted) && whole.contains(hour);
        let sums = store.sums(account_id, &counter.names, *first..=*newest);
        let sums = sums.await?;
        let known = sums.iter().filter(|(hour, _)| is_known(hour));
        let number: i64 = known.map(|(_, count)| *count).sum();
        let rest = hours.into_iter().filter(|hour| !is_known(hour)).collect();
        Ok((number.cast_unsigned(), rest))
    }
}

/// Hours in which a request that ended in this one can have begun.
fn may_have_begun(end: i64) -> RangeInclusive<i64> {
    end - LONGEST_HOURS..=end
}

/// The hours that a filter's times touch, up to where a page begins.
fn hours_of(filter: &Filter, after: Option<Cursor>) -> RangeInclusive<i64> {
    let of = |time: Timestamp| hour(time.as_microsecond());
    let first = filter.since.map_or(i64::MIN, of);
    let last = filter.until.map_or(i64::MAX, of);
    let after = after.map_or(i64::MAX, |after| hour(after.time_us));
    first..=last.min(after)
}

/// The hours that lie wholly within a filter's times.
fn whole_hours_of(filter: &Filter) -> Range<i64> {
    let since = filter.since.map(Timestamp::as_microsecond);
    let until = filter.until.map(Timestamp::as_microsecond);
    let first = since.map_or(i64::MIN, |since| hour(since.saturating_add(HOUR_US - 1)));
    first..until.map_or(i64::MAX, hour)
}

/// The hours of a search, cut into pieces that are looked at one after another.
struct Pieces<'a> {
    trail: &'a Trail,
    account_id: &'a str,
    /// Hours still to come, the next one last.
    hours: Vec<i64>,
    /// Pieces of the next hours, the next one last.
    ready: Vec<Piece>,
    /// What may still be looked at.
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

    fn named(filter: &Filter) -> Option<(Vec<String>, bool)> {
        let asked = Asked::of(filter)?;
        let names = asked
            .counters
            .into_iter()
            .map(|counter| counter.names.first);
        Some((names.collect(), asked.is_all))
    }

    #[test]
    fn a_filter_is_told_by_what_is_counted() {
        let all = Filter {
            requests: true,
            ..Filter::default()
        };
        assert_eq!(named(&all), None);
        for (filter, names, is_all) in [
            (
                Filter {
                    action: Some(Action::BLOCKED),
                    ..all.clone()
                },
                vec!["action:blocked"],
                true,
            ),
            (
                Filter {
                    action: Some(Action::FORWARDED),
                    key_id: Some("k".into()),
                    phi_type: Some("ssn".into()),
                    ..all.clone()
                },
                vec!["phi_action:forwarded", "key_phi:k", "type:ssn"],
                true,
            ),
            (
                Filter {
                    phi_detected: Some(true),
                    mode: Some(Mode::MASK),
                    ..all.clone()
                },
                vec!["with_phi", "mode:mask"],
                true,
            ),
            (
                Filter {
                    phi_detected: Some(false),
                    ..all.clone()
                },
                vec![],
                false,
            ),
            (
                Filter {
                    error: Some(ErrorCode::Interrupted),
                    status_class: Some(5),
                    ..all.clone()
                },
                vec!["status:5xx"],
                false,
            ),
        ] {
            let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
            assert_eq!(named(&filter), Some((names, is_all)), "{filter:?}");
        }
    }

    #[test]
    fn quiet_hours_are_joined_and_busy_ones_cut() {
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
