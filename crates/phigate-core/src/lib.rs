//! Decides: wire formats, the walk over all text, protection modes.
//!
//! Pure: bytes and values in, values out. Time, randomness and settings arrive as arguments.
//! Read in this order: [`text`], [`json`], [`request`], [`recognizer`], [`roster`], [`protect`], [`wire`], [`egress`], [`reply`], [`doors`],
//! [`service`].

pub mod doors;
pub mod egress;
#[cfg(debug_assertions)]
pub mod fuzzing;
pub mod json;
pub mod protect;
pub mod recognizer;
pub mod reply;
pub mod request;
pub mod roster;
pub mod service;
pub mod text;
pub mod wire;
