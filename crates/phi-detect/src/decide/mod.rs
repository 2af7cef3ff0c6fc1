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

use crate::budget::{self, Budget};
use crate::candidate::Candidate;
use crate::depth::Depth;
use crate::kinds::PhiKind;
use crate::page::Page;
use crate::reader::{self, Opinion};
use crate::settings::Settings;
use features::{Evidence, Row};
use spans::Spans;
use trees::Trees;

pub(crate) use explanation::Explained;
pub use explanation::Explanation;

/// Candidates of a page, by their origin.
pub(crate) struct Proposed {
    /// Candidates that the fast passes keep.
    pub(crate) kept: Vec<Candidate>,
    /// Candidates that the fast passes were given.
    pub(crate) offered: Vec<Candidate>,
    /// Candidates of the kinds beyond the specification.
    pub(crate) beyond: Vec<Candidate>,
}

/// Decides about all candidates of a page: by a first look, and once more behind what the reader says of those in doubt.
///
/// Returns the findings-to-be; overlaps are not yet settled.
pub(crate) fn decide(
    page: &Page<'_>,
    settings: &Settings,
    all: Proposed,
    budget: &Budget<'_>,
    explained: Option<&mut Explained>,
) -> Vec<Candidate> {
    let proposed = standing_of(settings, all.kept, all.offered);
    let reads_all = explained.as_ref().is_some_and(|one| one.reads_all);
    let looks = first_looks(page, &proposed, budget, explained.is_some());
    let likely = proposed.iter().zip(&looks).map(|((one, _), look)| {
        let likely = if reads_all { 1.0 } else { look.score };
        (one.span.clone(), likely)
    });
    let doubtful = all.beyond.iter().map(|one| {
        let likely = if reads_all {
            1.0
        } else {
            one.score.min(DOUBTFUL)
        };
        (one.span.clone(), likely)
    });
    let stretches = doubt::stretches(page, likely.chain(doubtful));
    if proposed.is_empty() && all.beyond.is_empty() && stretches.is_empty() {
        return Vec::new();
    }
    let is_wanted = |kind: PhiKind| settings.looks_for(kind);
    let opinions = reader::read(Level::best(), page.text, &stretches, is_wanted, budget);
    let runs = propose::runs(page, &opinions.core);
    let mut decision = Decision {
        settings,
        stretches: &stretches,
        is_complete: !budget.is_spent(),
        evidence: Evidence::new(page, &proposed, &runs, &opinions.core),
        trees: Trees::behind_reading(),
        found: Vec::new(),
        explained,
    };
    for ((one, standing), look) in proposed.iter().zip(&looks) {
        decision.consider(one, *standing, Some(look));
    }
    decision.consider_runs(page, &runs);
    if !settings.looks_beyond() {
        return decision.found;
    }
    decide_beyond(page, decision, all.beyond, &opinions.beyond)
}

/// Decides about the kinds beyond the specification, beside what was found.
fn decide_beyond<'a>(
    page: &'a Page<'a>,
    core: Decision<'a>,
    beyond: Vec<Candidate>,
    opinions: &'a [Opinion],
) -> Vec<Candidate> {
    let runs = propose::runs(page, opinions);
    let beyond: Vec<_> = beyond
        .into_iter()
        .map(|one| (one, Standing::Kept))
        .collect();
    let found = core.found.iter().map(|one| (one.clone(), Standing::Kept));
    let company: Vec<_> = beyond.iter().cloned().chain(found).collect();
    let mut decision = Decision {
        evidence: Evidence::new(page, &company, &runs, opinions),
        trees: Trees::beyond(),
        ..core
    };
    for (one, standing) in &beyond {
        decision.consider(one, *standing, None);
    }
    decision.consider_runs(page, &runs);
    decision.found
}

/// Most that a rule's candidate beyond the specification counts when the stretches to read are chosen.
const DOUBTFUL: f32 = 0.5;

/// The score of a candidate before reading, and the features that give it, if they are to be explained.
struct Look {
    score: f32,
    row: Option<Box<Row>>,
}

/// Scores candidates before reading. Once the budget is spent, those that the fast passes keep count as found.
fn first_looks(
    page: &Page<'_>,
    proposed: &[(Candidate, Standing)],
    budget: &Budget<'_>,
    is_explained: bool,
) -> Vec<Look> {
    if proposed.is_empty() {
        return Vec::new();
    }
    let evidence = Evidence::new(page, proposed, &[], &[]);
    let scored = budget::through(Some(budget), proposed).map(|(one, standing)| {
        let row = evidence.row(one, *standing);
        let score = Trees::first_look().score(&row);
        let row = is_explained.then(|| Box::new(row));
        Look { score, row }
    });
    let mut looks: Vec<Look> = scored.collect();
    let unscored = proposed.iter().skip(looks.len());
    looks.extend(unscored.map(|(_, standing)| Look {
        score: if *standing == Standing::Kept {
            1.0
        } else {
            0.0
        },
        row: None,
    }));
    looks
}

/// A decision under way: what is known of the text, and what was found.
struct Decision<'a> {
    settings: &'a Settings,
    stretches: &'a [Range<usize>],
    /// Whether the reader came to the end of the stretches in time.
    is_complete: bool,
    evidence: Evidence<'a>,
    /// Trees that judge what was read.
    trees: &'static Trees,
    found: Vec<Candidate>,
    explained: Option<&'a mut Explained>,
}

impl Decision<'_> {
    /// Judges the parts of the reader's runs that no finding of their kind covers.
    fn consider_runs(&mut self, page: &Page<'_>, runs: &[Candidate]) {
        let found = self.found.iter().map(|one| (one.span.clone(), one.kind));
        let found = Spans::new(found.collect());
        for run in runs {
            let here = found
                .overlapping(&run.span)
                .filter(|(_, kind)| *kind == run.kind);
            for part in propose::left_over(page, run, here.map(|(span, _)| span)) {
                self.consider(&part, Standing::Read, None);
            }
        }
    }

    /// Scores a candidate and keeps it if the score suffices. The reader's own candidates have no first look.
    fn consider(&mut self, one: &Candidate, standing: Standing, look: Option<&Look>) {
        let unread = look.filter(|_| !self.is_read(&one.span));
        let (mut score, row, trees) = if let Some(look) = unread {
            (
                look.score,
                look.row.as_deref().copied(),
                Trees::first_look(),
            )
        } else {
            let (row, trees) = (self.evidence.row(one, standing), self.trees);
            (trees.score(&row), Some(row), trees)
        };
        if standing == Standing::Kept && is_certain(one) {
            score = score.max(one.score);
        }
        let is_doubtful = look.is_some_and(|look| look.score >= doubt::ASKED_MIN);
        let is_left_open = !self.is_complete && is_doubtful;
        let is_found = score >= self.settings.cut(one.kind) || is_left_open;
        if let (Some(explained), Some(row)) = (self.explained.as_deref_mut(), row) {
            let weights = trees.weights(&row);
            let first = look.and_then(|look| look.row.as_deref());
            explained.all.push(Explanation {
                first_look: first.map(|row| row.to_vec()).unwrap_or_default(),
                ..Explanation::new(one, standing.name(), is_found, score, &row, &weights)
            });
        }
        if is_found {
            self.found.push(Candidate {
                score,
                ..one.clone()
            });
        }
    }

    fn is_read(&self, span: &Range<usize>) -> bool {
        let first = self
            .stretches
            .partition_point(|stretch| stretch.end <= span.start);
        let stretch = self.stretches.get(first);
        stretch.is_some_and(|stretch| stretch.start < span.end)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unscored_candidates_follow_fast_passes() {
        const NAME: &str = "Jane Roe ";
        let text = NAME.repeat(600);
        let standings = [Standing::Kept, Standing::Dropped].into_iter().cycle();
        let proposed: crate::budget::Few<_> = (0..600)
            .map(|at| at * NAME.len())
            .map(|start| Candidate {
                kind: PhiKind::NAME,
                span: start..start + NAME.len() - 1,
                score: 0.5,
                rule: "test",
            })
            .zip(standings)
            .collect();
        let spent = Budget::new(&|| false);
        let looks = first_looks(&Page::new(&text), &proposed, &spent, false);
        assert!(spent.is_spent());
        assert_eq!(looks.len(), proposed.len());
        let unscored = looks.iter().zip(&proposed).skip(300);
        for (look, (_, standing)) in unscored {
            assert_eq!(look.score > 0.5, *standing == Standing::Kept);
        }
    }
}
