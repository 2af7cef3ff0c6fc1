//! Figures for the dashboard, from the counters: cheap however many records there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::Result;
use crate::core::Core;
use crate::minutes::{Fare, Minute};
use crate::model::{Bucket, Filter, ProviderHealth, Stats, Use, Window};
use crate::trail::Trail;
use crate::writer::entry::class_time;

/// What the trail holds, in numbers.
#[derive(Clone)]
pub struct Figures {
    core: Arc<Core>,
}

impl Figures {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }
}

/// Quantiles shown: the middle, and the slow end.
const QUANTILES: [f64; 3] = [0.5, 0.95, 0.99];

impl Figures {
    /// Figures of an account up to now.
    pub async fn stats(&self, account_id: &str, window: Window) -> Result<Stats> {
        let (length, width) = window.hours();
        let this_hour = self.core.now().as_second().div_euclid(3_600);
        let first = this_hour.div_euclid(width) * width - (length - width);
        let mut stats = Stats {
            buckets: empty_buckets(first, length, width),
            ..Stats::default()
        };
        let (mut total, mut first_byte) = (BTreeMap::new(), BTreeMap::new());
        for (hour, name, count) in self.core.store.counters(account_id, first).await? {
            let count = count.cast_unsigned();
            let (group, key) = name.split_once(':').unwrap_or((name.as_str(), ""));
            match group {
                "total_ms" => *total.entry(class(key)).or_default() += count,
                "first_ms" => *first_byte.entry(class(key)).or_default() += count,
                _ => add(&mut stats, group, key, count),
            }
            add_to_bucket(&mut stats, (hour - first) / width, group, key, count);
        }
        stats.total_ms = quantiles(&total);
        stats.first_byte_ms = quantiles(&first_byte);
        Ok(stats)
    }

    /// How many records of an account a filter chooses, counted no further than `most`: a page need not wait for a
    /// count of millions.
    pub async fn count(&self, account_id: &str, filter: &Filter, most: usize) -> Result<u64> {
        self.core.store.count(account_id, filter, most).await
    }
}

/// The providers of an account by name, and how they fared.
type Fares = BTreeMap<String, ProviderHealth>;

impl Trail {
    /// How the providers of an account fared in the last sixty minutes.
    pub async fn provider_health(&self, account_id: &str) -> Result<Fares> {
        let since = Minute::of(self.core.now()).hour_ago();
        let counters = self.core.store.counters(account_id, since.hour()).await?;
        let mut fares = Fares::new();
        let mut times: BTreeMap<&str, BTreeMap<u32, u64>> = BTreeMap::new();
        for (hour, name, count) in &counters {
            let Some((minute, fare, provider)) = Minute::read(*hour, name) else {
                continue;
            };
            if minute < since {
                continue;
            }
            let count = count.cast_unsigned();
            let health = fares.entry(provider.to_owned()).or_default();
            health.requests += count;
            match fare {
                Fare::Failed => health.failures += count,
                Fare::Answered(class) => {
                    *times.entry(provider).or_default().entry(class).or_default() += count;
                }
            }
        }
        for (provider, times) in times {
            let [half, most, _] = quantiles(&times);
            let health = fares.entry(provider.to_owned()).or_default();
            (health.p50_ms, health.p95_ms) = (half, most);
        }
        Ok(fares)
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

fn empty_buckets(first: i64, length: i64, width: i64) -> Vec<Bucket> {
    let start = |at: i64| Timestamp::from_second((first + at * width) * 3_600).unwrap_or_default();
    let bucket = |at| Bucket {
        start: start(at),
        requests: 0,
        with_phi: 0,
        by_action: BTreeMap::new(),
        phi_by_action: BTreeMap::new(),
    };
    (0..length / width).map(bucket).collect()
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
