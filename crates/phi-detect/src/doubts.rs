//! Names in doubt: what else a text says about people decides whether they stay.

use crate::candidate::Candidate;
use crate::kinds::PhiKind;
use crate::labels::Meaning;
use crate::names;
use crate::page::Page;
use crate::people;
use crate::tidy;

/// A shorter text has no room for company: whom it names, it may name alone.
const COMPANY_TEXT_MIN: usize = 300;

/// Below this score the model has more doubts than not, and one of three such names is somebody's.
const DOUBTED: f32 = 0.5;
/// How far around it somebody is looked for, and how sure the model must be of them.
const LONELY_BYTES: usize = 400;
const SURE_NEIGHBOUR: f32 = 0.9;

/// Leaves out names that the model doubts where nothing announces them and nobody else is near.
pub(crate) fn leave_out_lonely(page: &Page<'_>, candidates: &mut Vec<Candidate>) {
    if page.text.len() < COMPANY_TEXT_MIN {
        return;
    }
    let is_name = |one: &Candidate| one.kind == PhiKind::NAME;
    let is_sure = |one: &&Candidate| is_name(one) && one.score >= SURE_NEIGHBOUR;
    let mut sure: Vec<usize> = candidates
        .iter()
        .filter(is_sure)
        .map(|one| one.span.start)
        .collect();
    sure.sort_unstable();
    candidates.retain(|one| {
        let from = one.span.start.saturating_sub(LONELY_BYTES);
        let next = sure.partition_point(|&start| start < from);
        let has_company = || {
            sure.get(next)
                .is_some_and(|&start| start <= one.span.end + LONELY_BYTES)
        };
        !is_name(one)
            || one.score >= DOUBTED
            || has_company()
            || people::is_announced(page, &one.span)
    });
}

/// Rules that know no more of a name than its form, which brands, laws, wards and firms have too.
const BY_FORM: &[&str] = &["name.given", "name.last_first", "name.role"];

/// How far around such a name people are looked for, and how sure the model must be of them.
const COMPANY_BYTES: usize = 160;
const SURE_COMPANY: f32 = 0.95;

/// Leaves out names by form alone that the model has read and does not take for one, where it sees nobody around.
pub(crate) fn leave_out_unseen(
    page: &Page<'_>,
    model: &[Candidate],
    candidates: &mut Vec<Candidate>,
) {
    let is_short = page.text.len() < COMPANY_TEXT_MIN;
    let mut seen: Vec<&Candidate> = model
        .iter()
        .filter(|one| one.kind == PhiKind::NAME)
        .collect();
    seen.sort_by_key(|one| one.span.start);
    candidates.retain(|one| {
        let near = one.span.start.saturating_sub(COMPANY_BYTES)..one.span.end + COMPANY_BYTES;
        let next = seen.partition_point(|other| other.span.end <= near.start);
        // Where people are spoken of, one more is likely.
        let is_seen = || {
            let mut around = seen[next..]
                .iter()
                .take_while(|other| other.span.start < near.end);
            around.any(|other| {
                let is_same = other.span.start < one.span.end && one.span.start < other.span.end;
                is_same || other.score >= SURE_COMPANY
            })
        };
        let is_of_place = || {
            let field = page.field_at(one.span.start);
            field.is_some_and(|field| field.meaning == Some(Meaning::City))
        };
        let is_read = || {
            let is_settled = page
                .field_at(one.span.start)
                .is_some_and(|field| field.is_settled);
            let share = names::known_share(page.text, &one.span).unwrap_or(1.0);
            !is_settled && share >= tidy::STRANGE.0
        };
        // A list of words with capitals names brands, trials and towns as often as people.
        let is_trusted = || is_short && !people::is_listed(page, &one.span);
        !BY_FORM.contains(&one.rule) || !is_of_place() && (is_trusted() || is_seen() || !is_read())
    });
}

/// Below this score a name says too little in a text of so many bytes that names nobody else; a shorter one has less room
/// to say more about anybody.
const STRAYS: [(usize, f32); 2] = [(250, STRAY), (200, 0.7)];
const STRAY: f32 = 0.95;
/// From this score on what the model and a form both take for a name is somebody.
const SEEN_TWICE: f32 = 0.9;

/// Leaves out names that the model is not sure of where nothing in the whole text speaks of people: nobody is announced or
/// surely named, nobody has an age, and there is no other PHI. Wards, robots, ships, songs and eponyms are called like people.
pub(crate) fn leave_out_strays(
    page: &Page<'_>,
    by_rules: &[Candidate],
    threshold: impl Fn(PhiKind) -> f32,
    model: &mut Vec<Candidate>,
) {
    let is_name = |one: &&Candidate| one.kind == PhiKind::NAME;
    let mut likely: Vec<_> = model
        .iter()
        .filter(|one| is_name(one) && one.score >= SEEN_TWICE)
        .map(|one| one.span.clone())
        .collect();
    likely.sort_unstable_by_key(|span| span.start);
    let is_seen_twice = |one: &Candidate| {
        let next = likely.partition_point(|span| span.end <= one.span.start);
        likely
            .get(next)
            .is_some_and(|span| span.start < one.span.end)
    };
    let speaks_of_people = |one: &Candidate| match one.kind {
        PhiKind::NAME => !BY_FORM.contains(&one.rule) || is_seen_twice(one),
        other => one.score >= threshold(other),
    };
    let is_sure = |one: &Candidate| one.score >= STRAY || people::has_age(page, one.span.end);
    if by_rules.iter().any(speaks_of_people) || model.iter().filter(is_name).any(is_sure) {
        return;
    }
    let row = STRAYS.iter().find(|(bytes, _)| page.text.len() >= *bytes);
    let needed = row.map_or(0.0, |(_, score)| *score);
    model.retain(|one| {
        one.kind != PhiKind::NAME || one.score >= needed || people::is_announced(page, &one.span)
    });
}
