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

/// Codes of the kinds that the reader distinguishes, one per line, in the order of `model/reader/kinds.py`.
static KINDS: &str = include_str!("kinds.txt");

/// Number of these kinds.
const KINDS_COUNT: usize = 22;

/// Classes that the network scores: nothing, then "begins" and "goes on" per kind.
const CLASSES: usize = 1 + 2 * KINDS_COUNT;

#[cfg(test)]
mod tests;
