//! Tests of documents built here, in one binary.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod archives;
mod office;
mod pdf;
mod sheets;
mod support;
mod texts;
