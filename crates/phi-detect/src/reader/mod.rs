//! The larger reader: an encoder that says of each piece of a text which kind of value it belongs to.
//!
//! Trained by `model/reader`, run here with the same bits on every processor. It is asked only about stretches of text in doubt.
//!
//! Read in this order: `pieces` → `network` → `opinion`; `weights` is the file.

mod network;
mod opinion;
mod pieces;
mod weights;

pub(crate) use opinion::{Opinion, read};

/// Kinds that the reader tells apart, by the code of the detector's kind; the order is that of `model/reader/kinds.py`.
const KINDS: [&str; 22] = [
    "ssn",
    "dob",
    "phone",
    "email",
    "address",
    "mrn",
    "name",
    "medicare_id",
    "health_plan_id",
    "npi",
    "date",
    "age",
    "place",
    "facility",
    "record_id",
    "account",
    "license",
    "vehicle",
    "device",
    "url",
    "ip",
    "username",
];

/// Classes that the network scores: nothing, then "begins" and "goes on" per kind.
const CLASSES: usize = 1 + 2 * KINDS.len();

#[cfg(test)]
mod tests;
