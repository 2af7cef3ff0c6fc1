//! Meanings of labels.

use super::PhiKind;

/// Meaning of a label for its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    Ssn,
    /// An SSN if the shape agrees ("social", "SS").
    SsnMaybe,
    Dob,
    /// A date of birth if a full date follows ("born", "turned").
    Born,
    Phone,
    /// A weak sign of a telephone number ("call", "at", "ext").
    PhoneMaybe,
    Email,
    Address,
    Zip,
    City,
    Mrn,
    /// An MRN unless the text says otherwise ("chart", "patient id", "account").
    MrnMaybe,
    /// `record_id` as a key: an MRN beside another sign of a person, since any program has records.
    MrnBeside,
    /// A person's name ("patient", "patient name", "family").
    Name,
    /// A name in data, of a person or a thing ("name").
    NameMaybe,
    Medicare,
    /// An address if a street follows ("lives", "resides").
    Dwelling,
    /// Two streets that follow ("corner of").
    Corner,
    /// A person's number that is known only by its label, of a known kind or another: claim, licence, account.
    OtherId(Option<PhiKind>),
    /// A number about no person: order, lot, ticket, study.
    Thing,
    /// Any date that is not a date of birth.
    OtherDate,
}

impl Meaning {
    /// Whether values of this meaning are written in figures.
    pub(crate) fn is_number(self) -> bool {
        matches!(
            self,
            Meaning::Ssn
                | Meaning::SsnMaybe
                | Meaning::Dob
                | Meaning::Born
                | Meaning::Phone
                | Meaning::Mrn
                | Meaning::MrnMaybe
                | Meaning::Medicare
        )
    }

    /// The meaning in a record about a person: its "name" is that person's name.
    pub(crate) fn of_person(self) -> Meaning {
        match self {
            Meaning::NameMaybe => Meaning::Name,
            Meaning::MrnBeside => Meaning::MrnMaybe,
            other => other,
        }
    }

    /// Whether a label of this meaning says for sure which number follows, so that it is not another.
    pub(crate) fn is_of_number(self) -> bool {
        matches!(
            self,
            Meaning::Ssn
                | Meaning::Mrn
                | Meaning::MrnMaybe
                | Meaning::MrnBeside
                | Meaning::Medicare
                | Meaning::Phone
                | Meaning::Zip
                | Meaning::OtherId(_)
                | Meaning::Thing
        )
    }
}
