//! One decision: rules, tagger and reader propose, and a fitted scorer says which proposals are findings.
//!
//! Read in this order: `doubt` (stretches to read) → `propose` (the reader's own candidates) → `features` → `trees`.

mod doubt;
mod features;
mod propose;
mod spans;
mod trees;

use std::collections::HashSet;
use std::ops::Range;

use phi_kernels::Level;

use crate::budget::Budget;
use crate::candidate::Candidate;
use crate::explanation::Explanation;
use crate::kinds::PhiKind;
use crate::page::Page;
use crate::reader;
use crate::settings::Settings;
use features::Evidence;
use spans::Spans;
use trees::Trees;

/// Names of the features, in the order of the table of trees.
pub(crate) use features::NAMES as FEATURES;

/// Least score of a finding; kinds may ask for more.
const CUT: f32 = 0.25;

/// Decides about all candidates of a page.
///
/// `candidates` are those that the fast passes keep, `offered` those that they were given. Returns the candidates to settle.
pub(crate) fn decide(
    page: &Page<'_>,
    settings: &Settings,
    candidates: Vec<Candidate>,
    offered: Vec<Candidate>,
    budget: &Budget<'_>,
    mut explained: Option<&mut Vec<Explanation>>,
) -> Vec<Candidate> {
    let is_wanted = |kind: PhiKind| settings.looks_for(kind);
    let mut all = standing_of(settings, candidates, offered);
    let stretches = doubt::stretches(page, all.iter().map(|(one, standing)| (one, *standing)));
    if stretches.is_empty() {
        return only_kept(all);
    }
    let opinions = reader::read(Level::best(), page.text, &stretches, is_wanted, budget);
    let kept = all
        .iter()
        .filter(|(_, standing)| *standing == Standing::Kept);
    let kept: HashSet<_> = kept.map(|(one, _)| (one.kind, one.span.clone())).collect();
    let read = propose::candidates(page, &opinions).into_iter();
    let read = read.filter(|one| !kept.contains(&(one.kind, one.span.clone())));
    all.extend(read.map(|one| (one, Standing::Read)));
    let is_in_time = !budget.is_spent();
    let evidence = Evidence::new(page, &all, &opinions);
    let trees = Trees::get();
    let mut decided = Vec::new();
    for (one, standing) in &all {
        let is_read = stretches.iter().any(|stretch| overlaps(stretch, &one.span));
        if !is_read {
            decided.extend((*standing == Standing::Kept).then(|| one.clone()));
            continue;
        }
        let row = evidence.row(one, *standing);
        let score = trees.score(&row);
        let is_certain = *standing == Standing::Kept && is_certain(one);
        // A text that could not be read to its end keeps what is in doubt.
        let is_found = is_certain || score >= CUT || !is_in_time && *standing != Standing::Read;
        if let Some(explained) = explained.as_deref_mut() {
            let weights = trees.weights(&row);
            explained.push(Explanation::new(
                one,
                standing.name(),
                is_found,
                score,
                &row,
                &weights,
            ));
        }
        if is_found {
            let score = if is_certain {
                one.score.max(score)
            } else {
                score.max(settings.threshold(one.kind))
            };
            decided.push(Candidate {
                score,
                ..one.clone()
            });
        }
    }
    decided
}

/// Candidates with the fast passes' view of each: those that they keep, and those offered that none of these covers.
fn standing_of(
    settings: &Settings,
    candidates: Vec<Candidate>,
    offered: Vec<Candidate>,
) -> Vec<(Candidate, Standing)> {
    let spans = candidates.iter().map(|one| (one.span.clone(), one.kind));
    let spans = Spans::new(spans.collect());
    let kept = candidates.into_iter().map(|one| {
        let is_kept = one.score >= settings.threshold(one.kind);
        let standing = if is_kept {
            Standing::Kept
        } else {
            Standing::Weak
        };
        (one, standing)
    });
    let mut all: Vec<_> = kept.collect();
    let dropped = offered.into_iter().filter(|one| {
        let mut here = spans.overlapping(&one.span);
        settings.looks_for(one.kind) && !here.any(|(_, kind)| *kind == one.kind)
    });
    all.extend(dropped.map(|one| (one, Standing::Dropped)));
    all
}

/// Whether a candidate's form or label leaves nothing to decide: check digits, site formats, labelled fields of standards.
fn is_certain(one: &Candidate) -> bool {
    const CERTAIN: f32 = 0.9;
    one.kind != PhiKind::NAME && !one.rule.ends_with(".model") && one.score >= CERTAIN
}

fn only_kept(all: Vec<(Candidate, Standing)>) -> Vec<Candidate> {
    let kept = all
        .into_iter()
        .filter(|(_, standing)| *standing == Standing::Kept);
    kept.map(|(one, _)| one).collect()
}

fn overlaps(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// The fast passes' view of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Kept, and at or above its kind's threshold.
    Kept,
    /// Kept, below the threshold.
    Weak,
    /// Proposed and left out by a later pass.
    Dropped,
    /// Proposed by the reader.
    Read,
}

impl Standing {
    fn name(self) -> &'static str {
        match self {
            Standing::Kept => "kept",
            Standing::Weak => "weak",
            Standing::Dropped => "dropped",
            Standing::Read => "read",
        }
    }
}
