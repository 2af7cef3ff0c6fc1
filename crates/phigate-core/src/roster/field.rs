//! Values of a patient that a roster may have.

use phi_detect::PhiKind;

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
