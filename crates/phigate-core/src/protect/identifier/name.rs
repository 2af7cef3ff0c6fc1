//! Names, compared without titles, initials and the order of the words.

use super::{without_apostrophes, words};

/// Words around a name that are not part of it.
const TITLES: [&str; 33] = [
    "mr",
    "mrs",
    "ms",
    "mx",
    "miss",
    "mister",
    "madam",
    "dr",
    "doctor",
    "prof",
    "professor",
    "sir",
    "dame",
    "rev",
    "fr",
    "hon",
    "capt",
    "sgt",
    "patient",
    "pt",
    "md",
    "do",
    "phd",
    "rn",
    "np",
    "pa",
    "dds",
    "esq",
    "jr",
    "sr",
    "ii",
    "iii",
    "iv",
];
/// The longest name, in words, of which all orders are tried. Longer names are tried as written and reversed.
const PERMUTED_MAX: usize = 4;

pub(super) fn stored(text: &str) -> Vec<String> {
    let text = without_apostrophes(text);
    let mut parts = significant(&text);
    parts.sort_unstable();
    vec![parts.concat()]
}

pub(super) fn tried(text: &str) -> Option<Vec<String>> {
    let text = &*without_apostrophes(text);
    let has_digits = text.contains(|letter: char| letter.is_ascii_digit());
    let given: Vec<&str> = words(text).collect();
    let parts = significant(text);
    let letters: usize = parts.iter().map(|part| part.chars().count()).sum();
    if has_digits || parts.is_empty() || letters < 2 {
        return None;
    }
    let mut forms = orders(&parts);
    forms.extend(orders(&given));
    // First and last name alone: a middle name may have been shortened to its initial.
    if let [first, _, .., last] = parts.as_slice() {
        forms.extend(orders(&[*first, *last]));
    }
    // Earlier versions stored a middle initial with the name.
    if let [first, .., last] = in_order(text).as_slice() {
        forms.extend(('a'..='z').map(|initial| format!("{first}{initial}{last}")));
        forms.extend(('a'..='z').map(|initial| format!("{last}{first}{initial}")));
    }
    Some(forms)
}

/// The words of a name that are compared: no titles, and no initials unless little else is left.
fn significant(text: &str) -> Vec<&str> {
    let is_title = |word: &&str| TITLES.contains(word);
    let mut parts: Vec<&str> = words(text).filter(|word| !is_title(word)).collect();
    if parts.is_empty() {
        return words(text).collect();
    }
    let is_long = |word: &&str| word.chars().nth(1).is_some();
    // Initials are dropped only if two longer words are left: `J. Roe` is more specific than `Roe`.
    if parts.iter().filter(|word| is_long(word)).count() > 1 {
        parts.retain(is_long);
    }
    parts
}

/// The words with the first name first, also if the last name comes first with a comma.
fn in_order(text: &str) -> Vec<&str> {
    match text.split_once(',') {
        Some((last, first)) => [significant(first), significant(last)].concat(),
        None => significant(text),
    }
}

/// The words joined in every order, and once sorted, which is the stored form.
fn orders(parts: &[&str]) -> Vec<String> {
    let mut sorted = parts.to_vec();
    sorted.sort_unstable();
    let mut all = vec![parts.concat(), sorted.concat()];
    all.push(parts.iter().rev().copied().collect());
    if parts.len() <= PERMUTED_MAX {
        permute(&mut parts.to_vec(), 0, &mut all);
    }
    all
}

fn permute(parts: &mut [&str], from: usize, all: &mut Vec<String>) {
    if from + 1 >= parts.len() {
        all.push(parts.concat());
        return;
    }
    for at in from..parts.len() {
        parts.swap(from, at);
        permute(parts, from + 1, all);
        parts.swap(from, at);
    }
}
