//! Names in doubt: the rest of what a text says about people decides whether they are kept.

use std::cell::LazyCell;

use crate::budget::List;
use crate::candidate::Candidate;
use crate::kinds::PhiKind;
use crate::labels::Meaning;
use crate::lexicon::{LEXICON, Sense};
use crate::names;
use crate::page::Page;
use crate::people;
use crate::tidy;

/// Length from which a text can name several people: a shorter text may name just one person.
const COMPANY_TEXT_MIN: usize = 300;

/// Score below which the model has more doubts than not: one in three such names is a person's.
const DOUBTED: f32 = 0.5;
/// Distance around such a name in which a person is searched, and minimum score of that person's name.
const LONELY_BYTES: usize = 400;
const SURE_NEIGHBOUR: f32 = 0.9;

/// Leaves out names that the model doubts and that have neither an announcement nor another person nearby. In a short
/// text it leaves out only countries, and words in lower case that are not known as names ("contraindications for
/// kadian").
pub(crate) fn leave_out_lonely(page: &Page<'_>, candidates: &mut List<Candidate>) {
    let is_short = page.text.len() < COMPANY_TEXT_MIN;
    let is_name = |one: &Candidate| one.kind == PhiKind::NAME;
    let is_sure = |one: &&Candidate| is_name(one) && one.score >= SURE_NEIGHBOUR;
    let sure = candidates.iter().filter(is_sure);
    let mut sure = page.memory().collect(sure.map(|one| one.span.start));
    sure.sort_unstable();
    candidates.retain(|one| {
        let from = one.span.start.saturating_sub(LONELY_BYTES);
        let next = sure.partition_point(|&start| start < from);
        let has_company = || {
            sure.get(next)
                .is_some_and(|&start| start <= one.span.end + LONELY_BYTES)
        };
        if !is_name(one) || one.score >= DOUBTED || has_company() {
            return true;
        }
        // "travelled to Jordan" does not announce a person.
        if is_short && is_country(page, one) {
            return false;
        }
        is_short && is_written_as_name(page, one, || true) || people::is_announced(page, &one.span)
    });
}

/// Whether all of a name is a country's.
fn is_country(page: &Page<'_>, one: &Candidate) -> bool {
    LEXICON
        .sense(page.slice(one.span.clone()))
        .has(Sense::COUNTRY)
}

/// Rules that know no more of a name than its form, which brands, laws, wards and firms have too.
const BY_FORM: &[&str] = &["name.given", "name.last_first", "name.role"];

/// Distance around such a name in which people are searched, and minimum score of their names.
const COMPANY_BYTES: usize = 160;
const SURE_COMPANY: f32 = 0.95;

/// Leaves out names by form alone that the model has read and does not take for names, if it finds no person nearby.
pub(crate) fn leave_out_unseen(
    page: &Page<'_>,
    model: &[Candidate],
    candidates: &mut List<Candidate>,
) {
    let is_short = page.text.len() < COMPANY_TEXT_MIN;
    let seen = model.iter().filter(|one| one.kind == PhiKind::NAME);
    let mut seen = page.memory().collect(seen);
    seen.sort_by_key(|one| one.span.start);
    candidates.retain(|one| {
        let near = one.span.start.saturating_sub(COMPANY_BYTES)..one.span.end + COMPANY_BYTES;
        let next = seen.partition_point(|other| other.span.end <= near.start);
        // In a text about people, one more is likely.
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

/// Minimum score of a name, per length in bytes, in a text without another name; a shorter text has less room for
/// evidence.
const STRAYS: [(usize, f32); 2] = [(250, STRAY), (200, 0.7)];
const STRAY: f32 = 0.95;
const STRAY_WHOLE: f32 = 0.9;
/// Minimum score of a whole name in a program: a program rarely mentions wards, ships or songs, so such a name is a
/// person's.
const STRAY_IN_PROGRAM: f32 = 0.5;
/// Score from which a name found by both the model and a form is a person's.
const SEEN_TWICE: f32 = 0.9;

/// Leaves out names with a low score, and those by form alone, if the whole text lacks signs of people: no announced
/// or certain name, no age, no possession, and no other PHI. Wards, robots, ships, songs and eponyms have names of
/// people.
pub(crate) fn leave_out_strays(
    page: &Page<'_>,
    threshold: impl Fn(PhiKind) -> f32,
    by_rules: &mut List<Candidate>,
    model: &mut List<Candidate>,
) {
    let row = STRAYS.iter().find(|(bytes, _)| page.text.len() >= *bytes);
    let Some(&(_, needed)) = row else {
        return;
    };
    let mut all = by_rules.iter().chain(model.iter());
    if !all.any(|one| one.kind == PhiKind::NAME) {
        return;
    }
    if speaks_of_people(page, threshold, by_rules, model) {
        return;
    }
    by_rules.retain(|one| one.kind != PhiKind::NAME);
    if !model.iter().any(|one| one.kind == PhiKind::NAME) {
        return;
    }
    let needed_of_whole = if is_program(page.text) {
        STRAY_IN_PROGRAM
    } else {
        needed
    };
    let has_capitals = LazyCell::new(|| has_capitals(page.text));
    model.retain(|one| {
        // "Coder: Emmylou Sayavong": a sign before it says more of a whole name than of a word.
        let is_whole = page.slice(one.span.clone()).contains(&b' ');
        let is_enough = one.score >= needed
            || is_whole && one.score >= needed_of_whole
            || is_whole && one.score >= STRAY_WHOLE && people::is_announced(page, &one.span);
        one.kind != PhiKind::NAME
            || is_enough && is_written_as_name(page, one, || *has_capitals)
            || people::follows_person(page, &one.span)
    });
}

/// Whether so much of a text is brackets and other signs that it is a program, markup or data.
fn is_program(text: &str) -> bool {
    const BYTES_PER_SIGN: usize = 30;
    let is_sign = |byte: &u8| {
        matches!(
            byte,
            b'{' | b'}'
                | b'('
                | b')'
                | b'['
                | b']'
                | b';'
                | b'='
                | b'<'
                | b'>'
                | b'_'
                | b'/'
                | b'#'
                | b'*'
                | b'"'
                | b'$'
        )
    };
    let signs = text.bytes().filter(is_sign).count();
    signs * BYTES_PER_SIGN > text.len()
}

/// Whether anything but names in doubt says that a text is about people.
fn speaks_of_people(
    page: &Page<'_>,
    threshold: impl Fn(PhiKind) -> f32,
    by_rules: &[Candidate],
    model: &[Candidate],
) -> bool {
    let is_name = |one: &&Candidate| one.kind == PhiKind::NAME;
    let likely = model.iter();
    let likely = likely.filter(|one| is_name(one) && one.score >= SEEN_TWICE);
    let mut likely = page.memory().collect(likely.map(|one| one.span.clone()));
    likely.sort_unstable_by_key(|span| span.start);
    let is_seen_twice = |one: &Candidate| {
        let next = likely.partition_point(|span| span.end <= one.span.start);
        likely
            .get(next)
            .is_some_and(|span| span.start < one.span.end)
    };
    let has_own = |one: &Candidate| people::has_age(page, one.span.end) || owns(page, one);
    let is_evidence = |one: &Candidate| match one.kind {
        PhiKind::NAME => !BY_FORM.contains(&one.rule) || is_seen_twice(one) || has_own(one),
        other => one.score >= threshold(other),
    };
    let has_capitals = LazyCell::new(|| has_capitals(page.text));
    let is_sure = |one: &Candidate| {
        one.score >= STRAY && is_written_as_name(page, one, || *has_capitals) || has_own(one)
    };
    by_rules.iter().any(is_evidence) || model.iter().filter(is_name).any(is_sure)
}

/// Whether a whole name has a possession ("Jane Roe's account").
fn owns(page: &Page<'_>, one: &Candidate) -> bool {
    let end = one.span.end;
    page.slice(one.span.clone()).contains(&b' ')
        && page.slice(end..page.text.len().min(end + 3)) == b"'s "
        && page.byte(end + 3).is_ascii_lowercase()
}

/// Number of words with a capital that show that a text capitalises names too.
const CAPITALS_MIN: usize = 4;

/// Whether a text writes words with capitals, and not all small as a transcript does.
fn has_capitals(text: &str) -> bool {
    let is_capital = |word: &&str| {
        let mut letters = word.chars();
        letters.next().is_some_and(char::is_uppercase)
            && letters.next().is_some_and(char::is_lowercase)
    };
    text.split_whitespace()
        .filter(is_capital)
        .take(CAPITALS_MIN)
        .count()
        == CAPITALS_MIN
}

/// Whether a name has a capital or is known as a name, or the text does not capitalise names.
fn is_written_as_name(page: &Page<'_>, one: &Candidate, has_capitals: impl Fn() -> bool) -> bool {
    let text = page.text.get(one.span.clone()).unwrap_or_default();
    let is_small = !text
        .chars()
        .any(|letter| letter.is_alphabetic() && !letter.is_lowercase());
    let is_known = |word: &str| {
        names::is_only_a_name(word) || LEXICON.sense(word.as_bytes()).has(Sense::GIVEN)
    };
    !is_small || !has_capitals() || text.split(' ').any(is_known)
}

/// Score of a name that the model suspects and the text supports.
const SUPPORTED: f32 = 0.45;
/// Score from which a name shows that a text is about people.
const SURE_PERSON: f32 = 0.9;

/// Adds the names that the model suspects and the text supports: another person has a certain name or there is other
/// PHI, and the word is announced, or is written as a name and is not an ordinary word.
pub(crate) fn add_suspected(
    page: &Page<'_>,
    threshold: impl Fn(PhiKind) -> f32,
    by_rules: &[Candidate],
    mut suspected: List<Candidate>,
    model: &mut List<Candidate>,
) {
    let is_person = |one: &Candidate| {
        one.kind == PhiKind::NAME && one.score >= SURE_PERSON && !BY_FORM.contains(&one.rule)
    };
    let is_other = |one: &Candidate| one.kind != PhiKind::NAME && one.score >= threshold(one.kind);
    let has_people =
        by_rules.iter().chain(model.iter()).any(is_person) || by_rules.iter().any(is_other);
    if !has_people {
        return;
    }
    // Few are left for what costs more than a look at their words.
    suspected.retain(|one| is_supported(page, one));
    for mut one in tidy::tidy(page, &suspected) {
        one.score = SUPPORTED;
        model.push(one);
    }
}

/// Whether the words of a suspected name, or those beside it, support it.
fn is_supported(page: &Page<'_>, one: &Candidate) -> bool {
    let is_near = one.score >= names::NEARLY;
    let text = page.text.get(one.span.clone()).unwrap_or_default();
    let words = || {
        text.split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty())
    };
    let has = |sense: Sense| words().any(|word| LEXICON.sense(word.as_bytes()).has(sense));
    let is_ordinary = words().all(names::is_ordinary);
    let is_name = words().any(names::is_only_a_name) || has(Sense::GIVEN) && !is_ordinary;
    let is_shouted = !text.chars().any(char::is_lowercase);
    if !text.starts_with(char::is_uppercase) || is_shouted {
        return is_name && !is_shouted;
    }
    if people::is_of_thing(page, &one.span) {
        return false;
    }
    let opens = people::opens_sentence(page, &one.span);
    let is_announced = people::is_announced(page, &one.span);
    if is_ordinary {
        let is_given = has(Sense::GIVEN | Sense::GIVEN_WORD);
        return is_near && (is_announced || is_given);
    }
    is_name || is_announced || is_near && !opens
}
