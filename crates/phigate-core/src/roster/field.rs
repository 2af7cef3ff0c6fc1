//! Values of a patient that a roster may have.

use phi_detect::PhiKind;

/// Letters and digits of the shortest record number that identifies a patient by itself.
pub(super) const RECORD_MIN: usize = 5;

/// A value of a patient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// The given names.
    Given,
    /// The surname.
    Family,
    /// The date of birth.
    Birth,
    /// The medical record number.
    Record,
    /// The telephone number.
    Telephone,
    /// The e-mail address.
    Mail,
}

/// Every field: name in the mapping of columns, and the code of the kind as which its values are found.
const ROWS: [(Field, &str, &str); 6] = [
    // In the order of the enum.
    (Field::Given, "given", "name"),
    (Field::Family, "family", "name"),
    (Field::Birth, "dob", "dob"),
    (Field::Record, "mrn", "mrn"),
    (Field::Telephone, "phone", "phone"),
    (Field::Mail, "email", "email"),
];

impl Field {
    /// Every field.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.0)
    }

    /// Name in the mapping of columns.
    pub const fn name(self) -> &'static str {
        ROWS[self as usize].1
    }

    /// The kind as which values are found.
    pub(super) fn kind(self) -> Option<PhiKind> {
        PhiKind::from_code(ROWS[self as usize].2)
    }
}

/// The digits of a telephone number, without the country code of North America.
pub(super) fn telephone(value: &str) -> String {
    let digits: String = value.chars().filter(char::is_ascii_digit).collect();
    match digits.strip_prefix('1') {
        Some(national) if national.len() == 10 => national.to_owned(),
        _ => digits,
    }
}

/// Whether a text is an e-mail address.
pub(super) fn is_mail(form: &str) -> bool {
    let parts = form.split_once('@');
    parts.is_some_and(|(name, domain)| {
        !name.is_empty()
            && domain.contains('.')
            && !domain.contains('@')
            && form.len() >= RECORD_MIN
    })
}
