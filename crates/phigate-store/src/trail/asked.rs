//! Hours that a search has to look at, found by the counters of each hour.
//!
//! A search may rely on the counters because verification compares them with the records.

use std::collections::HashSet;
use std::ops::{Range, RangeInclusive};

use jiff::Timestamp;
use phigate_types::ErrorCode;

use crate::Result;
use crate::model::{Cursor, Filter, RecordKind};
use crate::rows::Names;
use crate::trail::Trail;
use crate::writer::entry::hour;

/// Requests that one page looks at if the index answers all questions.
const LOOKS: i64 = 200_000;
/// Requests that one page looks at if it has to read the records.
const READS: i64 = 20_000;
/// Most hours between a request's begin and its end: no request may take longer than a day (`limits.request_ms`).
const LONGEST_HOURS: i64 = 25;
/// Hours for which an earlier version, with fewer counters, may have served beside this one.
const ROLLOUT_HOURS: i64 = 48;
/// Counts every request.
pub(super) const REQUESTS: &str = "requests";
/// Counts requests by key, in every version that counts as much as this one.
const BY_KEY: &str = "key:";

/// An hour, in microseconds.
pub(super) const HOUR_US: i64 = 3_600_000_000;

/// Counters that a search can use.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// Every hour with a match has one of each.
    counters: Vec<Counter>,
    /// Whether the counters and times cover the whole filter.
    is_all: bool,
    /// Whether the filter needs fields that only the records hold.
    reads: bool,
}

/// A counter that an hour with a match has.
#[derive(Debug, PartialEq, Eq)]
struct Counter {
    names: Names,
    /// Whether it counts in the hour in which the request ended.
    is_of_end: bool,
}

impl Asked {
    /// Reads a filter. `None` if every request or every act matches, or if the request is known, because then there is
    /// nothing to narrow.
    pub(super) fn of(filter: &Filter) -> Option<Self> {
        if filter.request_id.is_some() || filter.act.is_some() || filter.actor.is_some() {
            return None;
        }
        let counter = |is_of_end| move |names| Counter { names, is_of_end };
        let begun = counted_at_the_beginning(filter).map(counter(false));
        let ended = counted_at_the_end(filter).map(counter(true));
        let counters: Vec<Counter> = begun.chain(ended).collect();
        let is_elsewhere = filter.provider.is_some() || filter.door.is_some();
        let reads = is_elsewhere || filter.is_about_outcomes();
        let asks = !counters.is_empty() || reads || filter.phi_detected.is_some();
        asks.then(|| Self {
            counters,
            is_all: is_counted(filter),
            reads,
        })
    }

    pub(super) fn looks(&self) -> i64 {
        if self.reads { READS } else { LOOKS }
    }

    /// Hours in which there may be a match, newest first.
    pub(super) async fn hours(
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
        // If the very first hour is counted completely, there was no earlier version.
        let is_first = store.first_hour(account_id, &all).await? == Some(hour);
        let requests = store.sums(account_id, &all, hour..=hour).await?;
        let is_whole = requests == store.sums(account_id, &by_key, hour..=hour).await?;
        Ok(match is_first && is_whole {
            true => i64::MIN,
            false => hour + ROLLOUT_HOURS,
        })
    }

    /// Number of matches that the counters know, and the hours for which they do not know it.
    pub(super) async fn counted(
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

/// Counters of a request's decision. Some count all requests, and again those with PHI.
fn counted_at_the_beginning(filter: &Filter) -> impl Iterator<Item = Names> {
    let with_phi = filter.phi_type.is_some() || filter.phi_detected == Some(true);
    let [actions, keys, models] = match with_phi {
        true => ["phi_action", "key_phi", "model_phi"],
        false => ["action", "key", "model"],
    };
    let prefix = filter.model_prefix.as_ref();
    let by_phi = [
        filter.action.map(|action| one(actions, action.code())),
        filter.key_id.as_ref().map(|key| one(keys, key)),
        filter.model.as_ref().map(|name| one(models, name)),
        prefix.map(|prefix| Names::beginning(format!("{models}:{prefix}"))),
        filter.phi_type.as_ref().map(|kind| one("type", kind)),
    ];
    let only_phi = with_phi && by_phi.iter().all(Option::is_none);
    let others = [
        only_phi.then(|| Names::one("with_phi")),
        filter.mode.map(|mode| one("mode", mode.code())),
    ];
    by_phi.into_iter().chain(others).flatten()
}

/// Counters of a request's end. The end of an interrupted request is recorded when the next process starts, however
/// much later.
fn counted_at_the_end(filter: &Filter) -> impl Iterator<Item = Names> {
    let error = filter
        .error
        .filter(|error| *error != ErrorCode::Interrupted);
    let class = filter.status_class;
    let ends = [
        error.map(|error| one("error", error.code())),
        class.map(|class| Names::one(format!("status:{class}xx"))),
    ];
    ends.into_iter().flatten()
}

/// Whether all that a filter asks for is counted at the beginning, besides times.
fn is_counted(filter: &Filter) -> bool {
    let rest = Filter {
        since: None,
        until: None,
        record: filter.record.filter(|kind| *kind != RecordKind::Decision),
        requests: false,
        action: None,
        mode: None,
        key_id: None,
        model: None,
        model_prefix: None,
        phi_type: None,
        phi_detected: filter.phi_detected.filter(|phi| !phi),
        ..filter.clone()
    };
    rest == Filter::default()
}

fn one(group: &str, name: &str) -> Names {
    Names::one(format!("{group}:{name}"))
}

/// Hours in which a request that ended in this one can have begun.
fn may_have_begun(end: i64) -> RangeInclusive<i64> {
    end - LONGEST_HOURS..=end
}

/// The hours that a filter's times touch, up to the start of a page.
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

#[cfg(test)]
mod tests {
    use phigate_types::{Action, Mode};

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
    fn filter_maps_to_counter_names() {
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
}
