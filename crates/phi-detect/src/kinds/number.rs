//! Numbers that are known by their label: what they look like, and how much each kind of evidence proves.

use std::ops::RangeInclusive;

/// The form of a number for which a label is the only sign.
pub(crate) struct Number {
    /// How many letters and digits it has.
    pub(crate) length: RangeInclusive<usize>,
    /// How many of them are digits, at least.
    pub(crate) digits_min: usize,
    /// Whether letters and digits, in capitals and without signs between, can be such a number.
    pub(crate) is_valid: fn(&[u8]) -> bool,
}

/// What a value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The whole value of a field, or a value of a form that needs no word of its own.
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
    /// Tied by a sign to what stands beside it.
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

/// What speaks for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// It stands in a field of that name.
    Field,
    /// It stands in a field whose name may mean something else.
    VagueField,
    /// Its label is bound to it.
    Label,
    /// A label that may mean something else is bound to it, and the form agrees.
    VagueLabel,
    /// Its label opens a list in which it stands.
    List,
    /// Its label stands in the sentence.
    Near,
    /// What follows says so.
    NamedAfter,
    /// A vague label and "is" or a sign before it.
    Stated,
    /// The words say that these are the last digits.
    SaidLast,
    /// "patient #" stands before it.
    Patient,
    /// It stands between a name and a date, as in the reference of a letter.
    Reference,
    /// The word for a relative stands before it.
    Kin,
    /// It stands right after a name.
    BesideName,
    /// Nothing names it, but the text is about people.
    AmongPeople,
    /// The same value stands elsewhere in the text, where something says what it is.
    Again,
    /// It is built like another value of the text, letters included.
    Alike,
    /// Nothing but its form.
    Form,
}

/// How sure a shape and its evidence make us, and the name of that rule.
pub(crate) type Weight = (Shape, Evidence, f32, &'static str);
