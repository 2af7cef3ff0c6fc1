//! Makes candidates of what the model found: edges fitted to the form of the kind, nonsense left out.

use std::cell::LazyCell;
use std::ops::Range;

use crate::budget::List;
use crate::candidate::Candidate;
use crate::kinds::PhiKind;
use crate::labels::Meaning;
use crate::lexicon::{LEXICON, Sense};
use crate::names;
use crate::page::Page;
use crate::people;
use crate::rules;

/// Score from which a single letter is taken for a name.
const SURE_INITIAL: f32 = 0.6;

/// Score from which a lower-case word in a cell of a table is taken for a name.
const SURE_CELL: f32 = 0.5;

/// Scores from which a lower-case word that is an ordinary word, or that is in code, is taken for a name.
const SURE_WORD: f32 = 0.6;
const SURE_IN_CODE: f32 = 0.9;

/// The pieces of what the model found that hold up, in their whole extent.
pub(crate) fn tidy(page: &Page<'_>, found: &[Candidate]) -> List<Candidate> {
    // Asked once: asking for every candidate would take quadratic time.
    let has_markup = LazyCell::new(|| memchr::memmem::find(page.bytes(), b"</").is_some());
    let tidied = page
        .through(found)
        .flat_map(|one| pieces(page, one))
        .map(|one| without_loose_edges(page, whole(page, one)))
        .filter(|one| is_plausible(page, one, || *has_markup))
        .filter(|one| one.kind != PhiKind::NAME || is_taught(page, one));
    page.memory().collect(tidied)
}

/// Share of words around a name that the model knows, and the minimum score of the name if the share is smaller.
pub(crate) const STRANGE: (f32, f32) = (0.45, 0.6);
const UNTAUGHT: (f32, f32) = (0.3, 0.97);

/// Whether the model may judge here: in a language it was never taught it falls silent, and the rules go on.
fn is_taught(page: &Page<'_>, name: &Candidate) -> bool {
    if name.score >= UNTAUGHT.1 {
        return true;
    }
    let share = names::known_share(page.text, &name.span).unwrap_or(1.0);
    let needed = [UNTAUGHT, STRANGE]
        .into_iter()
        .find(|(below, _)| share < *below);
    needed.is_none_or(|(_, score)| name.score >= score)
}

/// Splits a span that cannot be one finding: at an empty line, between two people, at a bracket or quote that is not
/// closed in it.
fn pieces(page: &Page<'_>, candidate: &Candidate) -> List<Candidate> {
    let text = page.slice(candidate.span.clone());
    let is_open = |open: u8, close: u8, at: usize| {
        text[at] == open
            && if open == close {
                text.iter().filter(|&&byte| byte == open).count() % 2 == 1
            } else {
                !text[at..].contains(&close)
            }
    };
    let mut cuts = page.memory().list();
    for at in 1..text.len() {
        if !matches!(text[at], b'\n' | b' ' | b',' | b'(' | b'"') {
            continue;
        }
        let is_empty_line = text[at] == b'\n' && text[at - 1] == b'\n';
        let is_next_person = candidate.kind == PhiKind::NAME && people::joins_two(text, at);
        if is_empty_line || is_next_person || is_open(b'(', b')', at) || is_open(b'"', b'"', at) {
            cuts.push(at);
        }
    }
    let starts = [0].iter().chain(&cuts);
    let ends = cuts.iter().copied().chain([text.len()]);
    let pieces = starts.zip(ends).map(|(from, to)| Candidate {
        span: candidate.span.start + from..candidate.span.start + to,
        ..candidate.clone()
    });
    page.memory().collect(pieces)
}

/// Fits the span of the model's finding to its form; a value in a field of data ends with the field.
fn whole(page: &Page<'_>, mut candidate: Candidate) -> Candidate {
    if page.field_at(candidate.span.start).is_none() {
        candidate.span = (rules::finder(candidate.kind).complete)(page, candidate.span);
    } else if candidate.kind == PhiKind::NAME {
        candidate.span.end = people::with_initial(page, &candidate.span);
    }
    candidate
}

/// Cuts off a quote or bracket at an edge without a partner inside, and the text beyond a field.
fn without_loose_edges(page: &Page<'_>, mut candidate: Candidate) -> Candidate {
    candidate.span = without_tags(page, candidate.span);
    let text = page.slice(candidate.span.clone());
    let is_loose = |byte: u8| match byte {
        b'"' | b'\'' => text.iter().filter(|&&other| other == byte).count() == 1,
        b'(' => !text.contains(&b')'),
        b')' => !text.contains(&b'('),
        _ => byte.is_ascii_whitespace() || matches!(byte, b',' | b';' | b':'),
    };
    let front = text.iter().take_while(|&&byte| is_loose(byte)).count();
    let back = text
        .iter()
        .rev()
        .take_while(|&&byte| is_loose(byte))
        .count();
    if front + back < text.len() {
        candidate.span = candidate.span.start + front..candidate.span.end - back;
    }
    // A value in a field of data ends with the field.
    if let Some(field) = page
        .field_at(candidate.span.start)
        .filter(|field| field.meaning.is_some())
    {
        candidate.span.end = candidate.span.end.min(field.span.end);
    }
    candidate
}

/// Returns a value without the tags around it (`<postalCode>05301</postalCode>`).
fn without_tags(page: &Page<'_>, span: Range<usize>) -> Range<usize> {
    let text = page.slice(span.clone());
    let front = match text.first() {
        Some(b'<') => memchr::memchr(b'>', text).map_or(0, |close| close + 1),
        _ => 0,
    };
    let back = match text.last() {
        Some(b'>') => memchr::memrchr(b'<', text).unwrap_or(text.len()),
        _ => text.len(),
    };
    if front < back {
        span.start + front..span.start + back
    } else {
        span
    }
}

/// Whether a finding of the model may be PHI, and is not a mask placeholder, the name of a tag or a lone letter.
fn is_plausible(page: &Page<'_>, candidate: &Candidate, has_markup: impl Fn() -> bool) -> bool {
    let text = page.slice(candidate.span.clone());
    let letters = text
        .iter()
        .filter(|&&byte| byte.is_ascii_alphanumeric() || byte >= 0x80)
        .count();
    let is_tag = matches!(page.byte_before(candidate.span.start), b'<' | b'/')
        && page.byte(candidate.span.end) == b'>'
        && has_markup();
    // `"city": "Ewa Beach"` is not a person.
    let is_of_other = candidate.kind == PhiKind::NAME
        && page.field_at(candidate.span.start).is_some_and(|field| {
            matches!(
                field.meaning,
                Some(Meaning::City | Meaning::Zip | Meaning::Thing)
            )
        });
    let is_settled = page.field_at(candidate.span.start).is_some_and(|field| {
        field.is_settled || field.meaning.is_some() && page.has_placeholder(&field.span)
    });
    let is_contradicted =
        is_settled || (rules::finder(candidate.kind).contradicts)(page, &candidate.span);
    // Beside a placeholder the model sees its own reflection: had this been PHI, it would be masked too.
    let around = candidate.span.start.saturating_sub(1)..candidate.span.end + 1;
    // `Fields: [SSN]`: one word and a colon before a placeholder is its label.
    let is_label = page.byte(candidate.span.end) == b':'
        && !text.contains(&b' ')
        && page.has_placeholder(&(candidate.span.end..candidate.span.end + 3));
    // `"a, b.pdf"`, "choices P, Q": letters alone are variables and choices, unless they are dotted as initials are.
    let is_letters = !text.contains(&b'.')
        && text
            .split(|byte| !byte.is_ascii_alphanumeric() && *byte < 0x80)
            .all(|word| word.len() <= 1);
    // `was:\\n\\c<tab>3<tab>stend`: a small word that fills a cell is a code, unless the model is sure.
    let is_weak_cell = candidate.kind == PhiKind::NAME
        && candidate.score < SURE_CELL
        && page.byte_before(candidate.span.start) == b'\t'
        && text.iter().all(u8::is_ascii_lowercase);
    let is_weak_word = candidate.kind == PhiKind::NAME && is_weak_word(page, candidate);
    // A letter is a person's initial only with its dot ("S. denies pain").
    let is_initial = letters == 1 && text.ends_with(b".") && candidate.score >= SURE_INITIAL;
    (letters >= 2 || is_initial)
        && !is_letters
        && !is_weak_cell
        && !is_weak_word
        && !is_of_other
        && !is_tag
        && !is_label
        && !is_contradicted
        && !page.has_placeholder(&around)
}

/// Whether a word is too weak to be a name as long as the model has doubts ("major metros have risen", `Z.last=jo,`,
/// "usage: apply [STASH]").
fn is_weak_word(page: &Page<'_>, candidate: &Candidate) -> bool {
    let span = &candidate.span;
    let text = page.slice(span.clone());
    let is = |what: fn(&str) -> bool| page.text.get(span.clone()).is_some_and(what);
    if text.iter().all(u8::is_ascii_uppercase) {
        let in_brackets = page.byte_before(span.start) == b'[' && page.byte(span.end) == b']';
        // A few capitals that are not in a list of names are an abbreviation ("the CWF still shows").
        let is_acronym = (2..=4).contains(&text.len())
            && !people::is_announced(page, span)
            && !LEXICON.sense(text).has(Sense::GIVEN)
            && !is(names::is_only_a_name);
        return (in_brackets || is_acronym) && candidate.score < SURE_IN_CODE;
    }
    if people::opens_sentence(page, span) && !people::is_announced(page, span) {
        // "Pizza is in the break room": the capital is that of the sentence.
        let is_word = text.iter().all(u8::is_ascii_alphabetic)
            && !LEXICON.sense(text).has(Sense::GIVEN | Sense::GIVEN_WORD);
        let goes_on = page.byte(span.end) == b' ' && page.byte(span.end + 1).is_ascii_lowercase();
        return is_word
            && goes_on
            && candidate.score < SURE_IN_CODE
            && is(names::is_ordinary)
            && !is(names::is_only_a_name);
    }
    if !text.iter().all(u8::is_ascii_lowercase) || people::is_announced(page, span) {
        return false;
    }
    let is_bare = !matches!(page.byte(span.end), b'"' | b'\'' | b'`');
    candidate.score < SURE_WORD && is(names::is_ordinary)
        || is_bare && candidate.score < SURE_IN_CODE && people::is_in_code(page, span)
        || !is(names::is_only_a_name) && is_among_capitals(page, span)
}

/// Distance on both sides in which sentences are read, and number of them that must begin with a capital.
const SENTENCES_REACH_BYTES: usize = 400;
const SENTENCES_MIN: usize = 3;

/// Whether all sentences around begin with a capital: their author writes names so, too.
fn is_among_capitals(page: &Page<'_>, span: &Range<usize>) -> bool {
    let from = span.start.saturating_sub(SENTENCES_REACH_BYTES);
    let to = page.text.len().min(span.end + SENTENCES_REACH_BYTES);
    let ends = |part: &&[u8]| matches!(part[0], b'.' | b'?' | b'!') && part[1] == b' ';
    let mut capitals = 0;
    for sentence in page.slice(from..to).windows(3).filter(ends) {
        if sentence[2].is_ascii_lowercase() {
            return false;
        }
        capitals += usize::from(sentence[2].is_ascii_uppercase());
    }
    capitals >= SENTENCES_MIN
}
