//! One decision: rules, tagger and reader propose, and a fitted scorer says which proposals are findings.
//!
//! Read in this order: `doubt` (stretches to read) → `propose` (the reader's own candidates) → `features` → `trees`.

mod columns;
mod doubt;
mod explanation;
mod features;
mod propose;
mod spans;
mod trees;

use std::ops::Range;

use phi_kernels::Level;

use crate::budget::Budget;
use crate::candidate::Candidate;
use crate::depth::Depth;
use crate::kinds::PhiKind;
use crate::page::Page;
use crate::reader;
use crate::settings::Settings;
use features::Evidence;
use spans::Spans;
use trees::Trees;

pub use explanation::Explanation;

/// Decides about all candidates of a page.
///
/// `candidates` are those that the fast passes keep, `offered` those that they were given. Returns the findings-to-be; overlaps
/// are not yet settled.
pub(crate) fn decide(
    page: &Page<'_>,
    settings: &Settings,
    candidates: Vec<Candidate>,
    offered: Vec<Candidate>,
    budget: &Budget<'_>,
    explained: Option<&mut Vec<Explanation>>,
) -> Vec<Candidate> {
    let proposed = standing_of(settings, candidates, offered);
    let stretches = doubt::stretches(
        page,
        proposed.iter().map(|(one, standing)| (one, *standing)),
    );
    if stretches.is_empty() {
        let kept = proposed
            .into_iter()
            .filter(|(one, standing)| is_kept(settings, one, *standing));
        return kept.map(|(one, _)| one).collect();
    }
    let is_wanted = |kind: PhiKind| settings.looks_for(kind);
    let opinions = reader::read(Level::best(), page.text, &stretches, is_wanted, budget);
    let runs = propose::runs(page, &opinions);
    let mut decision = Decision {
        settings,
        stretches: &stretches,
        is_complete: !budget.is_spent(),
        evidence: Evidence::new(page, &proposed, &runs, &opinions),
        found: Vec::new(),
        explained,
    };
    for (one, standing) in &proposed {
        decision.consider(one, *standing);
    }
    let found = decision
        .found
        .iter()
        .map(|one| (one.span.clone(), one.kind));
    let found = Spans::new(found.collect());
    for run in &runs {
        let here = found
            .overlapping(&run.span)
            .filter(|(_, kind)| *kind == run.kind);
        for part in propose::left_over(page, run, here.map(|(span, _)| span)) {
            decision.consider(&part, Standing::Read);
        }
    }
    decision.found
}

/// A decision under way: what is known of the text, and what was found.
struct Decision<'a> {
    settings: &'a Settings,
    stretches: &'a [Range<usize>],
    /// Whether the reader came to the end of the stretches in time.
    is_complete: bool,
    evidence: Evidence<'a>,
    found: Vec<Candidate>,
    explained: Option<&'a mut Vec<Explanation>>,
}

impl Decision<'_> {
    /// Scores a candidate and keeps it if the score suffices.
    fn consider(&mut self, one: &Candidate, standing: Standing) {
        let first = self
            .stretches
            .partition_point(|stretch| stretch.end <= one.span.start);
        let is_read = self
            .stretches
            .get(first)
            .is_some_and(|stretch| stretch.start < one.span.end);
        if !is_read {
            let is_kept = is_kept(self.settings, one, standing);
            self.found.extend(is_kept.then(|| one.clone()));
            return;
        }
        let row = self.evidence.row(one, standing);
        let trees = Trees::get();
        let mut score = trees.score(&row);
        if standing == Standing::Kept && is_certain(one) {
            score = score.max(one.score);
        }
        let is_in_doubt = !self.is_complete && standing != Standing::Read;
        let is_found = score >= self.settings.cut(one.kind) || is_in_doubt;
        if let Some(explained) = self.explained.as_deref_mut() {
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
            self.found.push(Candidate {
                score,
                ..one.clone()
            });
        }
    }
}

/// Whether a candidate that was not read about is a finding.
fn is_kept(settings: &Settings, one: &Candidate, standing: Standing) -> bool {
    standing != Standing::Dropped && one.score >= settings.threshold(one.kind)
}

/// Returns candidates with the fast passes' view of each: those that they keep, and the offered ones that these do not
/// cover.
fn standing_of(
    settings: &Settings,
    candidates: Vec<Candidate>,
    offered: Vec<Candidate>,
) -> Vec<(Candidate, Standing)> {
    let spans = candidates.iter().map(|one| (one.span.clone(), one.kind));
    let spans = Spans::new(spans.collect());
    let kept = candidates.into_iter().map(|one| {
        let is_kept = one.score >= one.kind.default_threshold(Depth::Fast);
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
