//! The tests of the detector from outside, in one binary: a dozen would be linked a dozen times.
//! `instructions` runs itself under Valgrind and stays alone.

mod budget;
mod disguises;
mod docs;
mod documents;
mod identifiers;
mod imports;
mod neighbours;
mod properties;
mod structures;
mod tables;
mod unseen;
