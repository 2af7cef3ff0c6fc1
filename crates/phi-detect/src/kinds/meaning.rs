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
    /// Whether a label of this meaning says for sure which number follows, so that it is not another.
    pub(crate) fn is_of_number(self) -> bool {
        matches!(
            self,
            Meaning::Ssn
                | Meaning::Mrn
                | Meaning::MrnMaybe
                | Meaning::Medicare
                | Meaning::Phone
                | Meaning::Zip
                | Meaning::OtherId(_)
                | Meaning::Thing
        )
    }
}
