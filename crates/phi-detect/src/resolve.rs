//! Settles overlapping candidates: one finding per piece of text, in order.
//!
//! Where two of one kind overlap, the finding
//! covers both, because a remainder would leak. Where two kinds overlap, the
//! stronger keeps its whole span and the weaker keeps only what sticks out.
//! At the end, neighbours of a kind that reads as one (a name, an address) are
//! joined when the kind's rule says that the two read as one.

use std::ops::Range;

use crate::candidate::Candidate;
use crate::finding::Finding;
use crate::rules;

/// Turns candidates into findings: sorted, never overlapping.
pub(crate) fn resolve(text: &str, mut candidates: Vec<Candidate>) -> Vec<Finding> {
    candidates.retain(|one| !one.span.is_empty());
    let mut united = unite_same_kind(candidates);
    united.sort_by_key(|one| one.span.start);
    let mut findings = Vec::with_capacity(united.len());
    for group in overlapping_groups(&mut united) {
        match group {
            [only] => findings.push(finding(only, trim(text, only.span.clone()))),
            _ => settle(text, group, &mut findings),
        }
    }
    join_neighbours(text, findings)
}

/// Cuts candidates, sorted by their start, where none reaches over the cut. Most stand alone.
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
    }
}

/// Settles candidates that overlap: the strongest first, each takes what is free. Findings come out in order.
fn settle(text: &str, group: &mut [Candidate], findings: &mut Vec<Finding>) {
    let first = findings.len();
    group.sort_by(|a, b| {
        weight(b)
            .total_cmp(&weight(a))
            .then(b.span.len().cmp(&a.span.len()))
            .then(a.span.start.cmp(&b.span.start))
    });
    let mut taken = Taken::default();
    for candidate in group.iter() {
        for span in taken.free_parts(&candidate.span) {
            let is_whole = span == candidate.span;
            let span = trim(text, span);
            if is_whole || has_substance(text, &span) {
                taken.insert(span.clone());
                findings.push(finding(candidate, span));
            }
        }
    }
    findings[first..].sort_by_key(|finding| finding.span.start);
}

/// Joins overlapping candidates of one kind; the stronger lends its score and rule.
fn unite_same_kind(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates.sort_by(|a, b| {
        a.kind
            .cmp(&b.kind)
            .then(a.span.start.cmp(&b.span.start))
            .then(b.span.end.cmp(&a.span.end))
    });
    let mut united: Vec<Candidate> = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        match united.last_mut() {
            Some(last) if last.kind == candidate.kind && candidate.span.start < last.span.end => {
                last.span.end = last.span.end.max(candidate.span.end);
                if candidate.score > last.score {
                    last.score = candidate.score;
                    last.rule = candidate.rule;
                }
            }
            _ => united.push(candidate),
        }
    }
    united
}

/// How strongly a candidate defends its span against another kind.
fn weight(candidate: &Candidate) -> f32 {
    candidate.score + candidate.kind.rule().precedence
}

/// Spans already given away, kept apart and sorted.
#[derive(Default)]
struct Taken(std::collections::BTreeMap<usize, usize>);

impl Taken {
    fn insert(&mut self, span: Range<usize>) {
        self.0.insert(span.start, span.end);
    }

    /// The parts of `span` that nobody has yet, in order.
    fn free_parts(&self, span: &Range<usize>) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
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

/// Whether a remainder is worth a finding of its own.
fn has_substance(text: &str, span: &Range<usize>) -> bool {
    text.get(span.clone())
        .is_some_and(|part| part.chars().filter(|c| c.is_alphanumeric()).count() >= 2)
}

fn join_neighbours(text: &str, findings: Vec<Finding>) -> Vec<Finding> {
    let mut joined: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        if let Some(last) = joined.last_mut()
            && last.kind == finding.kind
            && may_join(text, last, &finding)
        {
            last.span.end = finding.span.end;
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

    fn spans(text: &str, candidates: Vec<Candidate>) -> Vec<(&'static str, &str)> {
        resolve(text, candidates)
            .into_iter()
            .map(|finding| (finding.kind.code(), &text[finding.span]))
            .collect()
    }

    #[test]
    fn overlapping_candidates_of_one_kind_become_one() {
        let found = spans(
            "Jane Mary Roe",
            vec![candidate("name", 0..9, 0.9), candidate("name", 5..13, 0.6)],
        );
        assert_eq!(found, [("name", "Jane Mary Roe")]);
    }

    #[test]
    fn the_weaker_kind_keeps_what_sticks_out() {
        let found = spans(
            "jroe@example.org Jane",
            vec![
                candidate("name", 0..21, 0.9),
                candidate("email", 0..16, 0.9),
            ],
        );
        assert_eq!(found, [("email", "jroe@example.org"), ("name", "Jane")]);
    }

    #[test]
    fn neighbouring_parts_of_a_name_are_one_finding() {
        let found = spans(
            "Jane Roe",
            vec![candidate("name", 5..8, 0.9), candidate("name", 0..4, 0.8)],
        );
        assert_eq!(found, [("name", "Jane Roe")]);
    }
}
