//! Numbers: social security, phone, medical record and Medicare numbers.
//!
//! Separators are left out, and so are parts that are often omitted or added: leading zeros, a country code, an
//! extension.

use super::{ascii, plain};

/// Number of leading zeros that a spreadsheet may have dropped from a social security number.
const ZEROS_LOST: usize = 2;
/// Record numbers are padded with zeros up to this length.
const RECORD_DIGITS: usize = 12;
/// Labels that are often copied along with a record number.
const LABELS: [&str; 9] = [
    "medical", "record", "number", "patient", "chart", "mrn", "no", "id", "nr",
];

fn digits(text: &str) -> String {
    ascii(text, u8::is_ascii_digit)
}

fn has_letters(text: &str) -> bool {
    text.chars().any(char::is_alphabetic)
}

pub(super) fn stored_ssn(text: &str) -> Vec<String> {
    let number = digits(text);
    vec![if number.len() == 9 {
        number
    } else {
        plain(text)
    }]
}

pub(super) fn tried_ssn(text: &str) -> Option<Vec<String>> {
    let label = text
        .trim_start_matches("ssn")
        .trim_start_matches([':', '#', ' ']);
    let number = digits(label);
    let fits = !has_letters(label) && (9 - ZEROS_LOST..=9).contains(&number.len());
    let full = format!("{number:0>9}");
    fits.then(|| vec![full.trim_start_matches('0').to_owned(), number, full])
}

pub(super) fn stored_code(text: &str) -> Vec<String> {
    vec![plain(text)]
}

pub(super) fn tried_medicare(text: &str) -> Option<Vec<String>> {
    let code = plain(text);
    let is_code = (10..=12).contains(&code.len()) && digits(&code).len() >= 4;
    is_code.then(|| vec![code])
}

pub(super) fn stored_record(text: &str) -> Vec<String> {
    let (all, at) = record(text);
    let (letters, number) = all.split_at(at);
    vec![[letters, number.trim_start_matches('0')].concat()]
}

pub(super) fn tried_record(text: &str) -> Option<Vec<String>> {
    let (all, at) = record(text);
    let (letters, number) = all.split_at(at);
    let bare = number.trim_start_matches('0');
    let has_digits = number.contains(|digit: char| digit.is_ascii_digit());
    if !has_digits || !(3..=32).contains(&all.len()) {
        return None;
    }
    let padded = (bare.len()..=RECORD_DIGITS.max(bare.len()))
        .map(|width| format!("{letters}{bare:0>width$}"));
    Some(padded.collect())
}

/// A record number without its label, and the offset after its leading letters.
fn record(text: &str) -> (String, usize) {
    let mut rest = text.trim_start();
    while let Some(label) = LABELS.iter().find(|label| is_label(rest, label)) {
        rest = rest[label.len()..].trim_start_matches([' ', ':', '#', '.']);
    }
    let all = plain(rest);
    let at = all
        .find(|letter: char| letter.is_ascii_digit())
        .unwrap_or(all.len());
    (all, at)
}

/// Whether the text begins with a label as a word: `id 17` does, `id17` does not.
fn is_label(text: &str, label: &str) -> bool {
    text.strip_prefix(label)
        .is_some_and(|rest| rest.starts_with([' ', ':', '#', '.']))
}

pub(super) fn stored_phone(text: &str) -> Vec<String> {
    let number = phone(text);
    let is_number = (7..=15).contains(&number.national.len());
    vec![if is_number {
        number.national
    } else {
        plain(text)
    }]
}

pub(super) fn tried_phone(text: &str) -> Option<Vec<String>> {
    let number = phone(text);
    let (all, national) = (number.all, number.national);
    if number.has_words || !(7..=15).contains(&national.len()) {
        return None;
    }
    // Earlier versions stored the digits as written.
    let mut forms = vec![format!("0{national}"), format!("1{national}")];
    if let Some(code) = number.country {
        forms.push(format!("{code}{national}"));
        forms.push(format!("{code}0{national}"));
        forms.push(format!("00{code}{national}"));
        forms.push(format!("011{code}{national}"));
    }
    forms.extend([all, national]);
    Some(forms)
}

/// The parts of a phone number.
struct Phone {
    /// Every digit but the extension's.
    all: String,
    /// Digits without country code and trunk zero.
    national: String,
    country: Option<String>,
    has_words: bool,
}

fn phone(text: &str) -> Phone {
    let text = before_extension(text)
        .trim_start_matches("tel")
        .trim_start_matches([':', '.', ' ']);
    let all = digits(text);
    let abroad = if text.trim_start_matches('(').starts_with('+') {
        Some(all.as_str())
    } else {
        all.strip_prefix("011").or_else(|| all.strip_prefix("00"))
    };
    let (country, rest) = match abroad {
        Some(number) => {
            let (code, rest) = number.split_at(country_code(number).min(number.len()));
            // `+44 (0)20` has country code and trunk zero.
            (Some(code.to_owned()), rest.trim_start_matches('0'))
        }
        None if all.len() == 11 && all.starts_with('1') => (Some("1".to_owned()), &all[1..]),
        None => (None, all.strip_prefix('0').unwrap_or(&all)),
    };
    Phone {
        national: rest.to_owned(),
        country,
        has_words: has_letters(text),
        all,
    }
}

/// The text before `extension`, `ext` or `x`.
fn before_extension(text: &str) -> &str {
    match text.split_once('x') {
        Some((before, after)) if after.starts_with('t') => {
            before.strip_suffix('e').unwrap_or(before)
        }
        Some((before, _)) => before,
        None => text,
    }
}

/// The number of digits of a phone number's country code (ITU-T E.164).
fn country_code(number: &str) -> usize {
    const TWO: [&str; 44] = [
        "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46",
        "47", "48", "49", "51", "52", "53", "54", "55", "56", "57", "58", "60", "61", "62", "63",
        "64", "65", "66", "81", "82", "84", "86", "90", "91", "92", "93", "94", "95", "98",
    ];
    if number.starts_with(['1', '7']) {
        1
    } else if TWO.iter().any(|code| number.starts_with(code)) {
        2
    } else {
        3
    }
}
