//! Figures for the dashboard, from the counters: cheap however many records there are. The last hour, which is shown by
//! minutes, is counted from its newest records.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::Result;
use crate::core::Core;
use crate::minutes::{AttemptOutcome, Minute};
use crate::model::{Bucket, Filter, ProviderHealth, Record, RequestRow, Stats, Use, Window};
use crate::trail::Trail;
use crate::writer::entry::{class_time, counters};

/// Figures of the trail.
#[derive(Clone)]
pub struct Figures {
    pub(super) core: Arc<Core>,
}

impl Figures {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }
}

/// Most requests that are counted individually: enough for any hour that a reader views in steps of five minutes.
const ONE_BY_ONE: usize = 10_000;
const ONE_BY_ONE_PAGE: usize = 1_000;

/// Quantiles shown: the middle, and the slow end.
const QUANTILES: [f64; 3] = [0.5, 0.95, 0.99];

impl Figures {
    /// Figures of an account up to now.
    pub async fn stats(&self, account_id: &str, window: Window) -> Result<Stats> {
        let (count, width) = window.buckets();
        let this = self.core.now().as_second().div_euclid(width);
        let mut tally = Tally::new(this - count + 1, count, width);
        if window == Window::Hour {
            tally.stats.newest = self.one_by_one(account_id, &mut tally).await?;
        } else {
            let first_hour = tally.start_s().div_euclid(3_600);
            for (hour, name, count) in self.core.store.counters(account_id, first_hour).await? {
                tally.add(hour * 3_600, &name, count.cast_unsigned());
            }
        }
        Ok(tally.finish())
    }

    /// Counts the last hour from its records, because counters are per hour. Returns the place where it stopped.
    async fn one_by_one(&self, account_id: &str, tally: &mut Tally) -> Result<Option<u64>> {
        let trail = Trail::new(Arc::clone(&self.core));
        let filter = Filter {
            since: Timestamp::from_second(tally.start_s()).ok(),
            requests: true,
            ..Filter::default()
        };
        let (mut cursor, mut read) = (None, 0);
        loop {
            let list = trail.request_list(account_id, &filter, cursor, ONE_BY_ONE_PAGE);
            let page = list.await?;
            read += page.items.len();
            for RequestRow { decision, outcome } in page.items {
                let time = decision.time.as_second();
                let outcome = outcome.map(Record::Outcome);
                for record in std::iter::once(Record::Decision(decision)).chain(outcome) {
                    for (name, count) in counters(&record) {
                        tally.add(time, &name, count.cast_unsigned());
                    }
                }
            }
            cursor = page.next;
            match cursor {
                None => return Ok(None),
                Some(_) if read >= ONE_BY_ONE => return Ok(Some(read as u64)),
                Some(_) => {}
            }
        }
    }
}

/// The providers of an account by name, with their health.
type HealthByProvider = BTreeMap<String, ProviderHealth>;

impl Trail {
    /// Health of an account's providers in the last sixty minutes.
    pub async fn provider_health(&self, account_id: &str) -> Result<HealthByProvider> {
        let since = Minute::of(self.core.now()).hour_ago();
        let counters = self.core.store.counters(account_id, since.hour()).await?;
        let mut providers = HealthByProvider::new();
        let mut times: BTreeMap<&str, BTreeMap<u32, u64>> = BTreeMap::new();
        for (hour, name, count) in &counters {
            let Some((minute, outcome, provider)) = Minute::read(*hour, name) else {
                continue;
            };
            if minute < since {
                continue;
            }
            let count = count.cast_unsigned();
            let health = providers.entry(provider.to_owned()).or_default();
            health.requests += count;
            match outcome {
                AttemptOutcome::Failed => health.failures += count,
                AttemptOutcome::Answered(class) => {
                    *times.entry(provider).or_default().entry(class).or_default() += count;
                }
            }
        }
        for (provider, times) in times {
            let [half, most, _] = quantiles(&times);
            let health = providers.entry(provider.to_owned()).or_default();
            (health.p50_ms, health.p95_ms) = (half, most);
        }
        Ok(providers)
    }
}

impl Stats {
    /// Adds a request that was read, by the counters of its records.
    pub fn take(&mut self, row: &RequestRow) {
        let outcome = row.outcome.clone().map(Record::Outcome);
        let decision = Record::Decision(row.decision.clone());
        for record in std::iter::once(decision).chain(outcome) {
            for (name, count) in counters(&record) {
                let (group, key) = name.split_once(':').unwrap_or((&name, ""));
                add(self, group, key, count.cast_unsigned());
            }
        }
    }
}

/// Counters on their way to figures.
struct Tally {
    stats: Stats,
    total_ms: BTreeMap<u32, u64>,
    first_byte_ms: BTreeMap<u32, u64>,
    /// The first bucket, in widths since 1970, and the width of each in seconds.
    first: i64,
    width: i64,
}

impl Tally {
    fn new(first: i64, count: i64, width: i64) -> Self {
        let start = |at: i64| Timestamp::from_second((first + at) * width).unwrap_or_default();
        let bucket = |at| Bucket {
            start: start(at),
            requests: 0,
            with_phi: 0,
            by_action: BTreeMap::new(),
            phi_by_action: BTreeMap::new(),
        };
        Self {
            stats: Stats {
                buckets: (0..count).map(bucket).collect(),
                ..Stats::default()
            },
            total_ms: BTreeMap::new(),
            first_byte_ms: BTreeMap::new(),
            first,
            width,
        }
    }

    /// Start of the first bucket, in seconds since 1970.
    fn start_s(&self) -> i64 {
        self.first * self.width
    }

    /// Adds the count of a counter at a moment.
    fn add(&mut self, time_s: i64, name: &str, count: u64) {
        let (group, key) = name.split_once(':').unwrap_or((name, ""));
        match group {
            "total_ms" => *self.total_ms.entry(class(key)).or_default() += count,
            "first_ms" => *self.first_byte_ms.entry(class(key)).or_default() += count,
            _ => add(&mut self.stats, group, key, count),
        }
        let at = time_s.div_euclid(self.width) - self.first;
        add_to_bucket(&mut self.stats, at, group, key, count);
    }

    fn finish(mut self) -> Stats {
        self.stats.total_ms = quantiles(&self.total_ms);
        self.stats.first_byte_ms = quantiles(&self.first_byte_ms);
        self.stats
    }
}

fn add(stats: &mut Stats, group: &str, key: &str, count: u64) {
    let map = match group {
        "requests" => return stats.requests += count,
        "with_phi" => return stats.with_phi += count,
        "tokens" => return stats.tokens += count,
        "action" => &mut stats.by_action,
        "phi_action" => &mut stats.phi_by_action,
        "type" => &mut stats.by_type,
        "mode" => &mut stats.by_mode,
        "family" => &mut stats.by_family,
        "status" => &mut stats.by_status,
        "error" => &mut stats.by_error,
        "key" => return used(&mut stats.by_key, key).requests += count,
        "key_phi" => return used(&mut stats.by_key, key).with_phi += count,
        "key_tokens" => return used(&mut stats.by_key, key).tokens += count,
        "model" => return used(&mut stats.by_model, key).requests += count,
        "model_phi" => return used(&mut stats.by_model, key).with_phi += count,
        _ => return,
    };
    *map.entry(key.to_owned()).or_default() += count;
}

fn used<'a>(by: &'a mut BTreeMap<String, Use>, name: &str) -> &'a mut Use {
    by.entry(name.to_owned()).or_default()
}

fn add_to_bucket(stats: &mut Stats, at: i64, group: &str, key: &str, count: u64) {
    let Some(bucket) = usize::try_from(at)
        .ok()
        .and_then(|at| stats.buckets.get_mut(at))
    else {
        return;
    };
    match group {
        "requests" => bucket.requests += count,
        "with_phi" => bucket.with_phi += count,
        "action" => *bucket.by_action.entry(key.to_owned()).or_default() += count,
        "phi_action" => *bucket.phi_by_action.entry(key.to_owned()).or_default() += count,
        _ => {}
    }
}

fn class(text: &str) -> u32 {
    text.parse().unwrap_or(0)
}

fn quantiles(classes: &BTreeMap<u32, u64>) -> [Option<u64>; 3] {
    let all: u64 = classes.values().sum();
    QUANTILES.map(|share| {
        let wanted = (all as f64 * share).ceil().max(1.0) as u64;
        let mut seen = 0;
        classes.iter().find_map(|(class, count)| {
            seen += count;
            (seen >= wanted).then(|| class_time(*class))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::entry::time_class;

    #[test]
    fn quantiles_are_read_from_the_classes() {
        let mut classes = BTreeMap::new();
        for milliseconds in 1..=1_000 {
            *classes.entry(time_class(milliseconds)).or_default() += 1;
        }
        let [half, p95, p99] = quantiles(&classes).map(Option::unwrap);
        assert!((455..=550).contains(&half), "{half}");
        assert!((860..=1_050).contains(&p95), "{p95}");
        assert!((900..=1_100).contains(&p99), "{p99}");
        assert_eq!(quantiles(&BTreeMap::new()), [None, None, None]);
    }
}
