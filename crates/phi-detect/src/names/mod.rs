//! The name model: names, addresses and birth dates that no rule could find.
//!
//! Small convolutional networks over tokens, trained by `model/` and run
//! here in integers, so that the same text gives the same candidates on every
//! machine. The text is read once, in windows; memory does not grow with it.
//!
//! Read in this order: `token` → `network` → `stack` → `decode`; `weights` is
//! the file and `simd` the arithmetic.

mod decode;
mod known;
mod network;
mod plain;
mod set;
mod simd;
mod stack;
mod token;
mod weights;

use std::cell::Cell;

use crate::budget::{Budget, List};
use crate::candidate::Candidate;
use decode::Decoder;
pub(crate) use decode::{NEARLY, SUSPECTED};
pub(crate) use known::{is_only_a_name, is_ordinary, known_share};
use network::{REACH, Window};
pub(crate) use simd::Level;
use token::{KnownWords, Tokens};
use weights::Weights;

/// Tokens a window holds.
const WINDOW: usize = 256;

/// Buffers that a thread keeps from one text to the next. The only trace of a text is the common words that it
/// contained.
struct Kept {
    window: Window,
    known: KnownWords,
}

impl Kept {
    fn new(level: Level) -> Box<Self> {
        Box::new(Kept {
            window: Window::new(level),
            known: KnownWords::new(),
        })
    }
}

/// Adds what the model finds in `text` to `out`, stretch by stretch: what it takes for PHI, then the names that it suspects.
///
/// Findings that begin at an offset for which `is_unwanted` is true may be left out, which saves looking for them.
/// Reading stops when the `budget` is spent.
pub(crate) fn tag(
    level: Level,
    text: &str,
    is_unwanted: Option<&dyn Fn(usize) -> bool>,
    budget: &Budget<'_>,
    out: &mut List<Candidate>,
) {
    thread_local! {
        /// Buffers of the text before, reused for the next.
        static KEPT: Cell<Option<Box<Kept>>> = const { Cell::new(None) };
    }
    let weights = Weights::get();
    let mut kept = KEPT.take().unwrap_or_else(|| Kept::new(level));
    let Kept { window, known } = &mut *kept;
    let mut tokens = Tokens::new(text, weights, known);
    window.clear(level);
    let mut decoder = Decoder::new(weights, out);
    let mut next = 0;
    loop {
        let is_last = window.fill(&mut tokens);
        let end = if is_last {
            window.len()
        } else {
            window.len() - REACH
        };
        window.scores(text.as_bytes(), next, end, is_unwanted, &mut decoder);
        if is_last || !budget.has_time() {
            decoder.flush();
            KEPT.set(Some(kept));
            return;
        }
        window.slide(end - REACH);
        next = REACH;
    }
}

#[cfg(test)]
mod tests;
