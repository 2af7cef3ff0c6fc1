//! Settles overlapping candidates: one finding per piece of text, in order.
//!
//! If two of one kind overlap, the finding covers both, because a remainder would leak. If two kinds overlap, the
//! stronger keeps its whole span and the weaker keeps only what sticks out. At the end, neighbours of a kind that reads
//! as one (a name, an address) are joined when the kind's rule says that the two read as one.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::budget::{Hold, List, Memory};
use crate::candidate::Candidate;
use crate::finding::Finding;
use crate::kinds::PhiKinds;
use crate::rules;

/// Turns candidates into findings: sorted, never overlapping.
pub(crate) fn resolve(text: &str, mut candidates: List<Candidate>) -> List<Finding> {
    candidates.retain(|one| !one.span.is_empty());
    let mut united = unite_same_kind(candidates);
    united.sort_by_key(|one| one.span.start);
    let mut findings = united.memory().list();
    findings.reserve(united.len());
    for group in overlapping_groups(&mut united) {
        match group {
            [only] => findings.push(finding(only, trim(text, only.span.clone()))),
            _ => settle(text, group, &mut findings),
        }
    }
    join_neighbours(text, findings)
}

/// Cuts candidates, sorted by their start, at places that no candidate covers. Most groups have one candidate.
fn overlapping_groups(candidates: &mut [Candidate]) -> impl Iterator<Item = &mut [Candidate]> {
    let mut reach = 0;
    candidates.chunk_by_mut(move |one, next| {
        reach = reach.max(one.span.end);
        next.span.start < reach
    })
}

fn finding(candidate: &Candidate, span: Range<usize>) -> Finding {
    Finding {
        kind: candidate.kind,
        span,
        score: candidate.score,
        rule: candidate.rule,
        hides: PhiKinds::default(),
    }
}

/// Settles candidates that overlap: the strongest first, each takes what is free. Findings come out in order.
fn settle(text: &str, group: &mut [Candidate], findings: &mut List<Finding>) {
    let first = findings.len();
    group.sort_by(|a, b| {
        weight(b)
            .total_cmp(&weight(a))
            .then(b.span.len().cmp(&a.span.len()))
            .then(a.span.start.cmp(&b.span.start))
    });
    let mut taken = Taken::new(findings.memory());
    for candidate in group.iter() {
        let free = taken.free_parts(&candidate.span, findings.memory());
        let before = findings.len();
        for span in free {
            let is_whole = span == candidate.span;
            let span = trim(text, span);
            if is_whole || has_substance(text, &span) {
                taken.insert(span.clone());
                findings.push(finding(candidate, span));
            }
        }
        if findings.len() == before {
            hide(candidate, &mut findings[first..]);
        }
    }
    findings[first..].sort_by_key(|finding| finding.span.start);
}

/// Notes a candidate that gave way in every part under the longer finding of another kind that holds it.
fn hide(candidate: &Candidate, findings: &mut [Finding]) {
    let (span, kind) = (&candidate.span, candidate.kind);
    let holds = |finding: &&mut Finding| {
        // A kind that an account defines may have been made for the very values of a stricter kind.
        let is_longer = finding.span.len() > span.len() || finding.kind.is_own();
        is_longer && finding.span.start <= span.start && span.end <= finding.span.end
    };
    for finding in findings.iter_mut().filter(holds) {
        if finding.kind != kind {
            finding.hides.insert(kind);
        }
    }
}

/// Joins overlapping candidates of one kind; the stronger lends its score and rule.
fn unite_same_kind(mut candidates: List<Candidate>) -> List<Candidate> {
    candidates.sort_by(|a, b| {
        a.kind
            .cmp(&b.kind)
            .then(a.span.start.cmp(&b.span.start))
            .then(b.span.end.cmp(&a.span.end))
    });
    candidates.join_by(|last, candidate| {
        let overlaps = last.kind == candidate.kind && candidate.span.start < last.span.end;
        if overlaps {
            last.span.end = last.span.end.max(candidate.span.end);
            if candidate.score > last.score {
                last.score = candidate.score;
                last.rule = candidate.rule;
            }
        }
        overlaps
    });
    candidates
}

/// Returns the strength with which a candidate defends its span against another kind.
fn weight(candidate: &Candidate) -> f32 {
    candidate.score + candidate.kind.rule().precedence
}

/// Spans already given away, kept apart and sorted, and what counts their memory.
struct Taken(BTreeMap<usize, usize>, Hold);

/// Memory of a span that was given away, at most.
const TAKEN_BYTES: usize = 48;

impl Taken {
    fn new(memory: &Memory) -> Self {
        Taken(BTreeMap::new(), memory.nothing())
    }

    fn insert(&mut self, span: Range<usize>) {
        if self.1.grow(TAKEN_BYTES) {
            self.0.insert(span.start, span.end);
        }
    }

    /// Returns the parts of `span` that are not taken yet, in order.
    fn free_parts(&self, span: &Range<usize>, memory: &Memory) -> List<Range<usize>> {
        let mut parts = memory.list();
        let mut from = span.start;
        if let Some((_, &end)) = self.0.range(..=span.start).next_back() {
            from = from.max(end);
        }
        for (&start, &end) in self.0.range(span.start..span.end) {
            if from < start {
                parts.push(from..start);
            }
            from = from.max(end);
        }
        if from < span.end {
            parts.push(from..span.end);
        }
        parts
    }
}

/// Cuts white space and stray punctuation off both ends of a part.
fn trim(text: &str, span: Range<usize>) -> Range<usize> {
    let Some(part) = text.get(span.clone()) else {
        return span;
    };
    let is_edge = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '|');
    let start = span.start + (part.len() - part.trim_start_matches(is_edge).len());
    let end = span.end - (part.len() - part.trim_end_matches(is_edge).len());
    if start < end { start..end } else { span }
}

/// Whether a remainder is worth a separate finding.
fn has_substance(text: &str, span: &Range<usize>) -> bool {
    text.get(span.clone())
        .is_some_and(|part| part.chars().filter(|c| c.is_alphanumeric()).count() >= 2)
}

fn join_neighbours(text: &str, mut findings: List<Finding>) -> List<Finding> {
    let found = findings.take();
    let mut joined = findings;
    for finding in found {
        if let Some(last) = joined.last_mut()
            && last.kind == finding.kind
            && may_join(text, last, &finding)
        {
            last.span.end = finding.span.end;
            last.hides.extend(&finding.hides);
            if finding.score > last.score {
                last.score = finding.score;
                last.rule = finding.rule;
            }
            continue;
        }
        joined.push(finding);
    }
    joined
}

fn may_join(text: &str, left: &Finding, right: &Finding) -> bool {
    let parts = text
        .get(left.span.clone())
        .zip(text.get(left.span.end..right.span.start))
        .zip(text.get(right.span.clone()));
    parts.is_some_and(|((before, between), after)| {
        (rules::finder(left.kind).joins)(before, between, after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Few;
    use crate::kinds::PhiKind;

    fn kind(code: &str) -> PhiKind {
        PhiKind::from_code(code).expect("the code is in the table")
    }

    fn candidate(code: &str, span: Range<usize>, score: f32) -> Candidate {
        Candidate {
            kind: kind(code),
            span,
            score,
            rule: "test",
        }
    }

    fn spans<const N: usize>(text: &str, candidates: [Candidate; N]) -> Few<(&'static str, &str)> {
        let candidates = Memory::unlimited().collect(candidates);
        resolve(text, candidates)
            .into_iter()
            .map(|finding| (finding.kind.code(), &text[finding.span]))
            .collect()
    }

    #[test]
    fn overlapping_candidates_of_one_kind_become_one() {
        let found = spans(
            "Jane Mary Roe",
            [candidate("name", 0..9, 0.9), candidate("name", 5..13, 0.6)],
        );
        assert_eq!(found, [("name", "Jane Mary Roe")]);
    }

    #[test]
    fn weaker_kind_keeps_uncovered_part() {
        let found = spans(
            "jroe@example.org Jane",
            [
                candidate("name", 0..21, 0.9),
                candidate("email", 0..16, 0.9),
            ],
        );
        assert_eq!(found, [("email", "jroe@example.org"), ("name", "Jane")]);
    }

    #[test]
    fn longer_finding_names_kinds_it_hides() {
        let text = "number is 536-22-8741";
        let hidden = |candidates: [Candidate; 2]| {
            let found = resolve(text, Memory::unlimited().collect(candidates));
            let found: Few<_> = found.into_iter().map(|one| one.hides).collect();
            found
                .iter()
                .map(|hides| hides.iter().count())
                .sum::<usize>()
        };
        let inside = [
            candidate("mrn", 0..21, 0.99),
            candidate("phone", 10..21, 0.3),
        ];
        assert_eq!(hidden(inside), 1);
        let rivals = [
            candidate("mrn", 10..21, 0.99),
            candidate("phone", 10..21, 0.3),
        ];
        assert_eq!(hidden(rivals), 0);
    }

    #[test]
    fn adjacent_name_parts_become_single_finding() {
        let found = spans(
            "Jane Roe",
            [candidate("name", 5..8, 0.9), candidate("name", 0..4, 0.8)],
        );
        assert_eq!(found, [("name", "Jane Roe")]);
    }
}
