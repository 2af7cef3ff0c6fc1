//! What labels say about values.

use super::PhiKind;

/// What a label says about the value that belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    Ssn,
    /// "social", "SS": an SSN when the shape agrees.
    SsnMaybe,
    Dob,
    /// "born", "turned": a date of birth when a full date follows.
    Born,
    Phone,
    /// "call", "at", "ext": weak signs of a telephone number.
    PhoneMaybe,
    Email,
    Address,
    Zip,
    City,
    Mrn,
    /// "chart", "patient id", "account": an MRN when nothing says otherwise.
    MrnMaybe,
    /// `record_id` as a key: an MRN beside another sign of a person, since any program has records.
    MrnBeside,
    /// "patient", "patient name", "family".
    Name,
    /// "name" in data, which may be anybody's or anything's.
    NameMaybe,
    Medicare,
    /// "lives", "resides": an address when a street follows.
    Dwelling,
    /// "corner of": two streets follow.
    Corner,
    /// A person's number of a kind that only its label gives away, or of none of ours: claim, licence, account.
    OtherId(Option<PhiKind>),
    /// A number about no person: order, lot, ticket, study.
    Thing,
    /// Any date that is not a date of birth.
    OtherDate,
}

impl Meaning {
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
