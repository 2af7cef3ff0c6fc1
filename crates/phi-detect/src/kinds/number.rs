//! Numbers that are known by their label: what they look like, and how much each kind of evidence proves.

use std::ops::RangeInclusive;

/// The form of a number for which a label is the only sign.
pub(crate) struct Number {
    /// Number of letters and digits.
    pub(crate) length: RangeInclusive<usize>,
    /// Minimum number of digits among them.
    pub(crate) digits_min: usize,
    /// Whether letters and digits, in capitals and without signs between, can be such a number.
    pub(crate) is_valid: fn(&[u8]) -> bool,
}

/// Shape of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The whole value of a field, or a value of a form without a more specific shape.
    Value,
    /// In the groups that belong to it, whatever the separator.
    Grouped,
    Dashed,
    Dotted,
    Spaced,
    /// Digits in a row.
    Unbroken,
    OddlyGrouped,
    /// The last four digits.
    LastFour,
    /// With the first digits hidden: `XXX-XX-8741`.
    Masked,
    /// Seven digits of a telephone.
    Local,
    /// As telephones abroad are written.
    Abroad,
    /// With a plus sign and the code of a country.
    International,
    /// The short number of a pager.
    Pager,
    /// In the format that a site gave.
    SiteFormat,
    /// Meant as a value of the grammar, which it breaks.
    Misspelled,
    /// Tied by a sign to the text beside it.
    Tied,
    /// An older number with a code for its holder.
    ClaimNumber,
    /// A number of railroad workers, with letters first.
    Railroad,
    /// Said in words.
    Spoken,
    /// Said or written character by character.
    Spelled,
}

/// Evidence for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// A field of that name holds the value.
    Field,
    /// A field with an ambiguous name holds the value.
    VagueField,
    /// A label of the kind is bound to the value.
    Label,
    /// A label that may mean something else is bound to it, and the form agrees.
    VagueLabel,
    /// A label opens the list that holds the value.
    List,
    /// A label is in the same sentence.
    Near,
    /// A label follows the value.
    NamedAfter,
    /// A vague label and "is" or a sign before it.
    Stated,
    /// The words say that these are the last digits.
    SaidLast,
    /// A word for a patient and "#" precede the value ("patient #").
    Patient,
    /// The value is between a name and a date, as in the reference of a letter.
    Reference,
    /// The word for a relative precedes the value.
    Kin,
    /// The value directly follows a name.
    BesideName,
    /// Nothing names it, but the text is about people.
    AmongPeople,
    /// An equal value elsewhere in the text has evidence.
    Again,
    /// Another value of the text has the same build, letters included.
    Alike,
    /// Nothing but its form.
    Form,
}

/// Score of a shape with its evidence, and the name of that rule.
pub(crate) type Weight = (Shape, Evidence, f32, &'static str);
