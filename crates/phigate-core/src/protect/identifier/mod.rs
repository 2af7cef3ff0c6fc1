//! Forms of an identifier, for lookup in every spelling.
//!
//! The trail keeps keyed hashes of findings, so that an administrator can look up later whether an identifier was ever
//! sent. A hash matches only the same characters, so each kind has stored forms for a finding and tried forms for a
//! lookup. Earlier versions stored letters and digits as written; the tried forms include the usual spellings, so that
//! those records are found too.

mod address;
mod date;
mod mail;
mod name;
mod number;

use std::borrow::Cow;
use std::collections::BTreeSet;

use phi_detect::PhiKind;

/// The spellings of a kind's identifiers.
struct Writing {
    /// The kind's code.
    code: &'static str,
    /// The stored forms of a finding.
    stored: fn(&str) -> Vec<String>,
    /// The forms that a lookup tries; `None` if the text cannot be such an identifier.
    tried: fn(&str) -> Option<Vec<String>>,
    /// The expected format, for an error message.
    looks: &'static str,
    /// Ways of the search, in words.
    ways: &'static str,
    /// Digits, which a text may call by another kind's name.
    is_number: bool,
}

static WRITINGS: &[Writing] = &[
    // Alphabetical, one row per kind of PHI.
    Writing {
        code: "address",
        stored: address::stored,
        tried: address::tried,
        looks: "a street address has a house number or a PO box, and a street: 12 Elm Street, Springfield, IL 62704",
        ways: "as written, with and without abbreviations, and by its street line alone, so look whether the place is the right one",
        is_number: false,
    },
    Writing {
        code: "dob",
        stored: date::stored,
        tried: date::tried,
        looks: "a date has a day, a month and a year: 1961-03-04, 03/04/1961 or March 4, 1961",
        ways: "as this date in figures and in words, with the day or the month first",
        is_number: false,
    },
    Writing {
        code: "email",
        stored: mail::stored,
        tried: mail::tried,
        looks: "an e-mail address looks like jane.roe@example.org",
        ways: "with @ and dots as signs and as words, whatever the case",
        is_number: false,
    },
    Writing {
        code: "medicare_id",
        stored: number::stored_code,
        tried: number::tried_medicare,
        looks: "a Medicare number has ten to twelve letters and digits: 1EG4-TE5-MK72",
        ways: "with any separators, whatever the case",
        is_number: true,
    },
    Writing {
        code: "mrn",
        stored: number::stored_record,
        tried: number::tried_record,
        looks: "a medical record number has digits, perhaps after a few letters: 00412345",
        ways: "with any separators, with and without leading zeros",
        is_number: true,
    },
    Writing {
        code: "name",
        stored: name::stored,
        tried: name::tried,
        looks: "a name has letters and no digits: Jane Roe",
        ways: "in either order, without titles, with and without a middle initial",
        is_number: false,
    },
    Writing {
        code: "phone",
        stored: number::stored_phone,
        tried: number::tried_phone,
        looks: "a phone number has 7 to 15 digits: 415-555-0134",
        ways: "with any separators, with and without country code and extension",
        is_number: true,
    },
    Writing {
        code: "ssn",
        stored: number::stored_ssn,
        tried: number::tried_ssn,
        looks: "a social security number has nine digits: 000-00-0000",
        ways: "with any separators, with and without leading zeros",
        is_number: true,
    },
];

/// Search for an identifier, to answer where it occurred.
pub struct Question {
    kind: PhiKind,
    forms: Vec<String>,
    ways: &'static str,
}

impl Question {
    /// The kind that it may have been found as.
    pub fn kind(&self) -> PhiKind {
        self.kind
    }

    /// Every form that is tried; each is PHI.
    pub fn forms(&self) -> &[String] {
        &self.forms
    }

    /// A description of the tried spellings.
    pub fn ways(&self) -> &'static str {
        self.ways
    }
}

/// Error: the typed text cannot be an identifier of this kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{looks}")]
pub struct Misfit {
    looks: &'static str,
}

/// The stored forms of a finding: one, or two for some kinds.
pub fn stored_forms(kind: PhiKind, exact: &str) -> Vec<String> {
    match writing(kind) {
        Some(writing) => (writing.stored)(&folded(exact)),
        None => vec![plain(exact)],
    }
}

/// Returns everything to try for an identifier: as the kind that is asked for, and if that is a number, as every other
/// kind of number that it can be. A telephone number after an MRN may have been found as another MRN.
pub fn questions(kind: PhiKind, typed: &str) -> Result<Vec<Question>, Misfit> {
    let asked = question(kind, typed)?;
    let may_be_number = |kind: PhiKind| writing(kind).is_none_or(|writing| writing.is_number);
    let others = PhiKind::all().filter(|other| {
        let has_digits = typed.contains(|letter: char| letter.is_ascii_digit());
        *other != kind && has_digits && may_be_number(kind) && may_be_number(*other)
    });
    let others = others.filter_map(|other| question(other, typed).ok());
    Ok(std::iter::once(asked).chain(others).collect())
}

/// Returns everything to try for an identifier of this kind as it was typed.
pub fn question(kind: PhiKind, typed: &str) -> Result<Question, Misfit> {
    let Some(writing) = writing(kind) else {
        let ways = "as written";
        let forms = vec![plain(typed)];
        return Ok(Question { kind, forms, ways });
    };
    let Writing { looks, ways, .. } = *writing;
    let text = folded(typed.trim());
    let tried = (writing.tried)(&text).ok_or(Misfit { looks })?;
    // The text as written stays among the forms, because earlier versions stored it.
    let forms: BTreeSet<String> = tried.into_iter().chain([plain(typed)]).collect();
    let forms = forms.into_iter().filter(|form| !form.is_empty()).collect();
    Ok(Question { kind, forms, ways })
}

fn writing(kind: PhiKind) -> Option<&'static Writing> {
    WRITINGS.iter().find(|writing| writing.code == kind.code())
}

/// Letters and digits in lower case: `536-22-8741` and `536 22 8741` are one identifier.
pub fn plain(text: &str) -> String {
    // Fast path: nearly every identifier is ASCII, and every finding passes here.
    if text.is_ascii() {
        return ascii(text, u8::is_ascii_alphanumeric);
    }
    text.chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// The kept ASCII bytes, in lower case.
fn ascii(text: &str, is_kept: impl Fn(&u8) -> bool) -> String {
    let mut kept = String::with_capacity(text.len());
    let bytes = text.bytes().filter(is_kept);
    kept.extend(bytes.map(|byte| char::from(byte.to_ascii_lowercase())));
    kept
}

/// The text in lower case, with the full-width letters and digits of East Asian keyboards as the usual ones.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let narrow = |letter: char| match letter {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(letter) - 0xfee0).unwrap_or(letter),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2019}' | '\u{02bc}' => '\'',
        other => other,
    };
    text.chars()
        .map(narrow)
        .flat_map(char::to_lowercase)
        .collect()
}

/// The text without apostrophes, which do not separate words.
fn without_apostrophes(text: &str) -> Cow<'_, str> {
    if text.contains('\'') {
        Cow::Owned(text.replace('\'', ""))
    } else {
        Cow::Borrowed(text)
    }
}

/// The words of a text [without apostrophes](without_apostrophes): runs of letters and digits.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests;
