//! Numbers that are known by their label: their shapes, and the score of each kind of evidence.

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
    /// Grouped as usual for the number, with any separator.
    Grouped,
    Dashed,
    Dotted,
    Spaced,
    /// Digits in a row.
    Unbroken,
    OddlyGrouped,
    /// The last four digits.
    LastFour,
    /// A value with masked first digits (`XXX-XX-8741`).
    Masked,
    /// Seven digits of a telephone.
    Local,
    /// The grouping of telephone numbers of other countries.
    Abroad,
    /// A plus sign and the code of a country.
    International,
    /// The short number of a pager.
    Pager,
    /// The format that a site gave.
    SiteFormat,
    /// Meant as a value of the grammar, which it breaks.
    Misspelled,
    /// A value tied by a sign to the text beside it.
    Tied,
    /// An older number with a code for its holder.
    ClaimNumber,
    /// A number of railroad workers, with letters first.
    Railroad,
    /// A value said in words.
    Spoken,
    /// Characters said or written one by one.
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
    /// The text is about people, but the value has no label.
    AmongPeople,
    /// An equal value elsewhere in the text has evidence.
    Again,
    /// Another value of the text has the same build, letters included.
    Alike,
    /// The form of the value alone.
    Form,
}

/// Score of a shape with its evidence, and the name of that rule.
pub(crate) type Weight = (Shape, Evidence, f32, &'static str);
