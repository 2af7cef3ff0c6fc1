//! Deletions that the trail itself records, as places in its chains.

use std::collections::{BTreeMap, HashMap};

/// Recorded deletions: places by lane.
#[derive(Default)]
pub struct Deletions {
    ranges: HashMap<(String, i64), Vec<(i64, i64)>>,
}

impl Deletions {
    /// Notes an act that names deleted places.
    pub fn note(&mut self, account: &str, details: &BTreeMap<String, String>) {
        for range in details
            .get("places")
            .into_iter()
            .flat_map(|places| places.split(' '))
        {
            if let Some((lane, from, to)) = parse_range(range) {
                self.ranges
                    .entry((account.to_owned(), lane))
                    .or_default()
                    .push((from, to));
            }
        }
    }

    /// Whether a place was recorded as deleted.
    pub fn covers(&self, account: &str, lane: i64, seq: i64) -> bool {
        let ranges = self.ranges.get(&(account.to_owned(), lane));
        ranges.is_some_and(|ranges| ranges.iter().any(|(from, to)| (*from..=*to).contains(&seq)))
    }
}

/// Writes places as `lane:from-to`, joined by spaces.
pub fn write_ranges(mut places: Vec<(i64, i64)>) -> String {
    places.sort_unstable();
    let mut ranges: Vec<(i64, i64, i64)> = Vec::new();
    for (lane, seq) in places {
        match ranges.last_mut() {
            Some((of, _, to)) if *of == lane && *to + 1 == seq => *to = seq,
            _ => ranges.push((lane, seq, seq)),
        }
    }
    let words: Vec<String> = ranges
        .iter()
        .map(|(lane, from, to)| format!("{lane}:{from}-{to}"))
        .collect();
    words.join(" ")
}

fn parse_range(text: &str) -> Option<(i64, i64, i64)> {
    let (lane, range) = text.split_once(':')?;
    let (from, to) = range.split_once('-')?;
    Some((lane.parse().ok()?, from.parse().ok()?, to.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deleted_places_round_trip_as_ranges() {
        // Chain 3 begins where chain 2 ends, and still is a separate range.
        let text = write_ranges(vec![(2, 5), (1, 2), (1, 1), (1, 3), (1, 7), (3, 6)]);
        assert_eq!(text, "1:1-3 1:7-7 2:5-5 3:6-6");
        let mut deletions = Deletions::default();
        deletions.note("a", &BTreeMap::from([("places".to_owned(), text)]));
        for (account, lane, seq, is_covered) in [
            ("a", 1, 1, true),
            ("a", 1, 3, true),
            ("a", 1, 4, false),
            ("a", 2, 5, true),
            ("a", 2, 2, false),
            ("b", 1, 2, false),
        ] {
            let covers = deletions.covers(account, lane, seq);
            assert_eq!(covers, is_covered, "{account} {lane} {seq}");
        }
    }
}
