//! Rules that find each kind of PHI: one file or folder per kind that a label alone does not settle.

mod address;
mod again;
mod dob;
mod email;
mod labelled;
mod medicare_id;
mod mrn;
mod name;
mod named_people;
mod phone;
mod ssn;

use std::ops::Range;
use std::sync::LazyLock;

use crate::budget::{Few, List};
use crate::candidate::Candidate;
use crate::kinds::{Evidence, PhiKind, Shape};
use crate::page::Page;
use crate::settings::Settings;

use named_people::NamedPeople;

/// Functions that find a kind of PHI.
pub(crate) struct Finder {
    /// Whether two findings form one, given the left text, the text between, and the right text.
    pub(crate) joins: fn(&str, &str, &str) -> bool,
    pub(crate) find: fn(&Page<'_>, &mut Collector<'_>),
    /// Finds values directly after a name: a record number, a date of birth.
    pub(crate) beside: fn(&Page<'_>, &Range<usize>, &mut Collector<'_>),
    /// Finds unlabelled values in a text about people; `None` for kinds to which people in the text are not evidence.
    pub(crate) among: Option<fn(&Page<'_>, &NamedPeople<'_>, &mut Collector<'_>)>,
    /// Returns the span of the model's finding, with the following text that belongs to it by its form.
    pub(crate) complete: fn(&Page<'_>, Range<usize>) -> Range<usize>,
    /// Whether the words around the model's finding say that it is something else.
    pub(crate) contradicts: fn(&Page<'_>, &Range<usize>) -> bool,
}

/// Never contradicts the model, for kinds that the words around say little about.
fn never(_: &Page<'_>, _: &Range<usize>) -> bool {
    false
}

/// Finds nothing beside a name, for kinds to which a name is not evidence.
fn no_neighbour(_: &Page<'_>, _: &Range<usize>, _: &mut Collector<'_>) {}

/// Returns the span unchanged, for kinds that the model finds whole.
fn as_found(_: &Page<'_>, span: Range<usize>) -> Range<usize> {
    span
}

/// Refuses to join: the findings of such kinds are never parts of one finding.
fn stand_alone(_: &str, _: &str, _: &str) -> bool {
    false
}

/// Kinds with specific rules. A label alone finds every other kind.
static FINDERS: &[(&str, &Finder)] = &[
    // By code, one row per file.
    ("ssn", &ssn::FINDER),
    ("dob", &dob::FINDER),
    ("phone", &phone::FINDER),
    ("email", &email::FINDER),
    ("address", &address::FINDER),
    ("mrn", &mrn::FINDER),
    ("name", &name::FINDER),
    ("medicare_id", &medicare_id::FINDER),
];

/// Returns the functions that find a kind.
pub(crate) fn finder(kind: PhiKind) -> &'static Finder {
    static BY_KIND: LazyLock<Few<&'static Finder>> = LazyLock::new(|| {
        let of = |kind: PhiKind| FINDERS.iter().find(|(code, _)| *code == kind.code());
        PhiKind::all()
            .map(|kind| of(kind).map_or(&labelled::FINDER, |(_, finder)| finder))
            .collect()
    });
    kind.index().map_or(&labelled::FINDER, |at| BY_KIND[at])
}

/// Runs every rule over the page.
pub(crate) fn find_all(page: &Page<'_>, settings: &Settings, candidates: &mut List<Candidate>) {
    for kind in PhiKind::all().filter(|kind| settings.looks_for(*kind)) {
        if !page.has_time() {
            return;
        }
        let mut out = Collector {
            kind,
            settings,
            candidates,
        };
        (finder(kind).find)(page, &mut out);
    }
}

/// Finds the numbers found so far at their other positions.
pub(crate) use again::find as find_numbers_again;

/// A rule that finds further names from the people named in a text.
pub(crate) type ByNames = fn(&Page<'_>, &[Range<usize>], &mut Collector<'_>);

/// The people named in the text, wherever else it names them.
pub(crate) const AGAIN: ByNames = name::find_again;

/// Names in the beds of a list with known names.
pub(crate) const BEDS: ByNames = name::find_beds;

/// Names of people who speak or sign beside people named in the text.
pub(crate) const SPEAKERS: ByNames = name::find_speakers;

/// Finds more people by means of those named before.
pub(crate) fn find_by_names(
    page: &Page<'_>,
    settings: &Settings,
    names: &[Range<usize>],
    find: ByNames,
    candidates: &mut List<Candidate>,
) {
    let mut out = Collector {
        kind: PhiKind::NAME,
        settings,
        candidates,
    };
    find(page, names, &mut out);
}

/// Runs every rule over the text beside the names found so far, or in a text with people; the names are in order.
pub(crate) fn find_beside_names(
    page: &Page<'_>,
    settings: &Settings,
    names: &[Range<usize>],
    candidates: &mut List<Candidate>,
) {
    // Several rules and the model find the same name, and the text beside it is the same.
    let is_first = |(index, name): &(usize, &Range<usize>)| {
        let before = names[..*index].iter().rev();
        let mut same_start = before.take_while(|one| one.start == name.start);
        !same_start.any(|one| one == *name)
    };
    let distinct = names.iter().enumerate().filter(is_first);
    let distinct = page.memory().collect(distinct.map(|(_, name)| name));
    // Who is named, and by how many candidates it was made.
    let mut named: Option<(NamedPeople<'_>, usize)> = None;
    for kind in PhiKind::all().filter(|kind| settings.looks_for(*kind)) {
        let mut out = Collector {
            kind,
            settings,
            candidates,
        };
        for name in page.through(&distinct) {
            (finder(kind).beside)(page, name, &mut out);
        }
        if let Some(among) = finder(kind).among.filter(|_| !names.is_empty()) {
            let count = out.candidates.len();
            let current = named.take().filter(|(_, made_by)| *made_by == count);
            let current = current
                .unwrap_or_else(|| (NamedPeople::of(names, out.candidates, settings), count));
            among(page, &current.0, &mut out);
            named = Some(current);
        }
    }
}

/// Collector of a rule's candidates.
pub(crate) struct Collector<'a> {
    pub(crate) kind: PhiKind,
    pub(crate) settings: &'a Settings,
    candidates: &'a mut List<Candidate>,
}

impl Collector<'_> {
    /// One more candidate of the rule's kind, as sure as the kind's row says.
    pub(crate) fn weigh(&mut self, span: Range<usize>, shape: Shape, evidence: Evidence) {
        let weights = self.kind.rule().weights;
        let weight = weights
            .iter()
            .find(|weight| weight.0 == shape && weight.1 == evidence);
        debug_assert!(
            weight.is_some(),
            "{:?} lacks {shape:?}, {evidence:?}",
            self.kind
        );
        if let Some(&(_, _, score, rule)) = weight {
            self.push(span, score, rule);
        }
    }

    /// One more candidate of the rule's kind.
    pub(crate) fn push(&mut self, span: Range<usize>, score: f32, rule: &'static str) {
        self.candidates.push(Candidate {
            kind: self.kind,
            span,
            score,
            rule,
        });
    }
}
