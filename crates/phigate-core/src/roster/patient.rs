//! A patient as a roster keeps it: by codes alone.

use super::field::{Field, RECORD_MIN, is_mail, telephone};
use super::{dates, words};

/// Most words of a given name or a surname.
pub(super) const NAME_WORDS_MAX: usize = 5;

/// First words of the codes of a roster, which tell what the further words are.
pub(super) mod mark {
    /// A given name or a surname, or the first word of one.
    pub(crate) const NAME: &str = "n";
    /// A record number or e-mail address that identifies a patient by itself.
    pub(crate) const ALONE: &str = "a";
    /// A surname with another value of the same patient.
    pub(crate) const BOTH: &str = "b";
}

/// The reason why a value of a patient cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongValue {
    /// The field.
    pub field: Field,
    /// The reason.
    pub why: &'static str,
}

/// Gives the words of every code of a patient to `code`. `value` returns the value of a field, empty if there is none.
/// Returns whether the patient has a value that can be found.
pub fn codes_of<'v>(
    value: impl Fn(Field) -> &'v str,
    code: &mut dyn FnMut(&[&str]),
) -> Result<bool, WrongValue> {
    let mut has_any = false;
    let family = words::folded(value(Field::Family));
    if family.split(' ').count() > NAME_WORDS_MAX {
        return Err(wrong(Field::Family, "has more than 5 words"));
    }
    if !family.is_empty() {
        has_any = true;
        name_codes(&family, code);
    }
    for field in Field::all().filter(|field| *field != Field::Family) {
        for form in forms(field, value(field))? {
            if is_enough(field, &form) {
                has_any = true;
                code(&[mark::ALONE, field.name(), &form]);
            }
            if field == Field::Given && !family.is_empty() {
                name_codes(&form, code);
            }
            if !family.is_empty() {
                code(&[mark::BOTH, &family, field.name(), &form]);
            }
        }
    }
    Ok(has_any)
}

fn name_codes(name: &str, code: &mut dyn FnMut(&[&str])) {
    code(&[mark::NAME, name]);
    if let Some((first, _)) = name.split_once(' ') {
        code(&[mark::NAME, first]);
    }
}

/// Whether a value identifies a patient by itself.
fn is_enough(field: Field, form: &str) -> bool {
    match field {
        Field::Record => form.len() >= RECORD_MIN,
        Field::Mail => true,
        Field::Given | Field::Family | Field::Birth | Field::Telephone => false,
    }
}

/// The forms in which a value is compared; none of an empty value.
fn forms(field: Field, value: &str) -> Result<Vec<String>, WrongValue> {
    let value = value.trim();
    if value.is_empty() {
        return Ok(Vec::new());
    }
    let form = match field {
        Field::Given | Field::Family => words::folded(value),
        Field::Birth => return days(value),
        Field::Record => record(value),
        Field::Telephone => telephone(value),
        Field::Mail => value.to_lowercase(),
    };
    let is_right = match field {
        Field::Given | Field::Family => form.split(' ').count() <= NAME_WORDS_MAX,
        Field::Record => form.contains(|letter: char| letter.is_ascii_digit()),
        Field::Telephone => (7..=15).contains(&form.len()),
        Field::Mail => is_mail(&form),
        Field::Birth => true,
    };
    let why = match field {
        Field::Given | Field::Family => "has more than 5 words",
        Field::Record => "has no digit",
        Field::Telephone => "has not 7 to 15 digits",
        Field::Mail => "is no e-mail address",
        Field::Birth => "",
    };
    match is_right && !form.is_empty() {
        true => Ok(vec![form]),
        false => Err(wrong(field, why)),
    }
}

fn days(value: &str) -> Result<Vec<String>, WrongValue> {
    let form = words::folded(value);
    let parts: Vec<&str> = form.split(' ').collect();
    let days = match parts[..] {
        [year, month, day] => dates::days([year, month, day]),
        // A time of day behind a date.
        [year, month, day, ..] if year.len() == 4 => {
            let day = day.get(..2).unwrap_or(day);
            dates::days([year, month, day])
        }
        [digits] => dates::compact(digits),
        _ => Vec::new(),
    };
    match days.is_empty() {
        true => Err(wrong(Field::Birth, "is no date such as 1950-11-04")),
        false => Ok(days),
    }
}

/// The letters and digits of a record number.
pub(super) fn record(value: &str) -> String {
    words::folded(value).replace(' ', "")
}

fn wrong(field: Field, why: &'static str) -> WrongValue {
    WrongValue { field, why }
}
