//! Resolves overlapping entities, as Presidio does.
//!
//! Overlapping entities of one type are merged. An entity inside another is dropped; of two in the same place, the one
//! with the lower score is dropped. Entities of one type with only spaces between them are merged.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// An entity of a request, in code points.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Given {
    pub(super) entity: String,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) score: f64,
}

/// The remaining entities, in order. `is_blank` tests whether a range of the text is all spaces.
pub(super) fn settle(given: Vec<Given>, is_blank: impl Fn(usize, usize) -> bool) -> Vec<Given> {
    let kept = without_contained(merged(given));
    let mut settled: Vec<Given> = Vec::with_capacity(kept.len());
    for mut one in kept {
        if let Some(before) = settled.last()
            && before.entity == one.entity
            && before.end < one.start
            && is_blank(before.end, one.start)
        {
            one.start = before.start;
            settled.pop();
        }
        settled.push(one);
    }
    settled
}

/// Merges overlapping entities of one type.
fn merged(given: Vec<Given>) -> Vec<Given> {
    let mut by_type: BTreeMap<String, Vec<Given>> = BTreeMap::new();
    for one in given {
        by_type.entry(one.entity.clone()).or_default().push(one);
    }
    let mut all = Vec::new();
    for mut of_type in by_type.into_values() {
        of_type.sort_by_key(|one| (one.start, one.end));
        for one in of_type {
            match all.last_mut() {
                Some(Given {
                    entity, end, score, ..
                }) if *entity == one.entity && one.start < *end => {
                    *end = one.end.max(*end);
                    *score = one.score.max(*score);
                }
                _ => all.push(one),
            }
        }
    }
    all
}

/// Drops each entity that another contains, and sorts the rest.
fn without_contained(mut all: Vec<Given>) -> Vec<Given> {
    // An outer entity sorts before its inner ones: earliest start first, then latest end, then best score.
    all.sort_by(|one, other| {
        let place = |given: &Given| (given.start, Reverse(given.end));
        place(one)
            .cmp(&place(other))
            .then(other.score.total_cmp(&one.score))
    });
    let mut reached = None;
    all.retain(|one| {
        let is_contained = reached.is_some_and(|end| one.end <= end);
        reached = reached.max(Some(one.end));
        !is_contained
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, given: &[(&str, usize, usize, f64)], expected: &[(&str, usize, usize)]) {
        let given = given.iter().map(|&(entity, start, end, score)| Given {
            entity: entity.to_owned(),
            start,
            end,
            score,
        });
        let is_blank = |from: usize, to: usize| text[from..to].bytes().all(|byte| byte == b' ');
        let settled = settle(given.collect(), is_blank);
        let settled: Vec<_> = settled
            .iter()
            .map(|one| (one.entity.as_str(), one.start, one.end))
            .collect();
        assert_eq!(settled, expected);
    }

    #[test]
    fn overlapping_entities_resolve_as_in_presidio() {
        let text = "Jane  Roe 034453334";
        // Inside another.
        check(
            text,
            &[("NAME", 0, 9, 0.8), ("FIRST", 0, 4, 0.9)],
            &[("NAME", 0, 9)],
        );
        // At the same place.
        check(text, &[("A", 0, 4, 0.5), ("B", 0, 4, 0.6)], &[("B", 0, 4)]);
        // Of one type, overlapping and side by side.
        check(text, &[("A", 0, 3, 0.5), ("A", 2, 4, 0.6)], &[("A", 0, 4)]);
        check(text, &[("A", 6, 9, 0.5), ("A", 0, 4, 0.5)], &[("A", 0, 9)]);
        // Of two types, overlapping in part: both stay.
        check(
            text,
            &[("A", 0, 7, 0.5), ("B", 4, 9, 0.5)],
            &[("A", 0, 7), ("B", 4, 9)],
        );
        check(text, &[], &[]);
    }
}
