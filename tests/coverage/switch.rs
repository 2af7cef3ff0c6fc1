//! Switches in the decisions of the detector, and a memory of what its models said. Part of the copy that
//! `tests/coverage/run.py` measures, never of the detector itself.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::budget::List;
use crate::candidate::Candidate;
use crate::reader::Opinion;

/// Number of switches.
pub const COUNT: usize = 0;
/// Answers after which a scan is taken to run for ever.
const STEPS_MAX: u64 = 100_000_000;

/// Answers of the switches: 0 their own, 1 false, 2 true.
static HELD: [AtomicU8; COUNT] = [const { AtomicU8::new(0) }; COUNT];

thread_local! {
    /// Answers of each switch since the last look: 1 false, 2 true.
    static SEEN: Box<[Cell<u8>]> = (0..COUNT).map(|_| Cell::new(0)).collect();
    static STEPS: Cell<u64> = const { Cell::new(0) };
    static TAGGED: RefCell<HashMap<u64, Vec<Candidate>>> = RefCell::default();
    static READ: RefCell<HashMap<u64, Vec<Opinion>>> = RefCell::default();
}

/// Holds a switch at an answer.
pub fn hold(number: usize, answer: Option<bool>) {
    HELD[number].store(answer.map_or(0, |answer| 1 + u8::from(answer)), Relaxed);
}

/// Takes the answers given since the last call.
pub fn seen() -> Vec<u8> {
    STEPS.set(0);
    SEEN.with(|seen| seen.iter().map(|one| one.replace(0)).collect())
}

/// Begins a scan.
pub fn begin() {
    STEPS.set(0);
}

/// Gives the answer of a decision.
pub(crate) fn value(number: usize, answer: bool) -> bool {
    let steps = STEPS.get() + 1;
    STEPS.set(steps);
    assert!(steps < STEPS_MAX, "a scan without end");
    SEEN.with(|seen| seen[number].set(seen[number].get() | 1 << u8::from(answer)));
    match HELD[number].load(Relaxed) {
        0 => answer,
        held => held == 2,
    }
}

/// Gives the answer of a function.
pub(crate) fn of(number: usize, answer: impl FnOnce() -> bool) -> bool {
    value(number, answer())
}

/// Whether a pass runs.
pub(crate) fn on(number: usize) -> bool {
    value(number, true)
}

/// The tagger's candidates, computed once per text.
pub(crate) fn tagged(
    text: &str,
    is_unwanted: Option<&dyn Fn(usize) -> bool>,
    out: &mut List<Candidate>,
    tag: impl FnOnce(&mut List<Candidate>),
) {
    let mut key = DefaultHasher::new();
    text.hash(&mut key);
    if let Some(is_unwanted) = is_unwanted {
        (0..text.len()).for_each(|at| is_unwanted(at).hash(&mut key));
    }
    let key = key.finish();
    if let Some(known) = TAGGED.with_borrow(|known| known.get(&key).cloned()) {
        out.extend(known);
        return;
    }
    let before = out.len();
    tag(out);
    TAGGED.with_borrow_mut(|known| known.insert(key, out[before..].to_vec()));
}

/// The reader's opinions, computed once per text and stretches.
pub(crate) fn read(
    text: &str,
    stretches: &[Range<usize>],
    read: impl FnOnce() -> Vec<Opinion>,
) -> Vec<Opinion> {
    let mut key = DefaultHasher::new();
    text.hash(&mut key);
    stretches.hash(&mut key);
    let key = key.finish();
    if let Some(known) = READ.with_borrow(|known| known.get(&key).cloned()) {
        return known;
    }
    let opinions = read();
    READ.with_borrow_mut(|known| known.insert(key, opinions.clone()));
    opinions
}
