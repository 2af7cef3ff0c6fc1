//! How long a scan may take: the caller is asked now and then, every few KiB of text.

use std::cell::Cell;

/// Time for one scan, as the caller grants it.
pub(crate) struct Budget<'a> {
    has_time: &'a dyn Fn() -> bool,
    is_spent: Cell<bool>,
}

/// How many steps are gone for each look at the budget: words or lines, some KiB of text.
const STEPS_PER_LOOK: usize = 256;

impl<'a> Budget<'a> {
    pub(crate) fn new(has_time: &'a dyn Fn() -> bool) -> Self {
        Budget {
            has_time,
            is_spent: Cell::new(false),
        }
    }

    /// Asks the caller. Once the answer was no, it stays no.
    pub(crate) fn has_time(&self) -> bool {
        if !self.is_spent.get() && !(self.has_time)() {
            self.is_spent.set(true);
        }
        !self.is_spent.get()
    }

    /// Asks now and then while steps are counted; never at the first, since most texts are short.
    fn has_time_after(&self, steps: usize) -> bool {
        steps == 0 || !steps.is_multiple_of(STEPS_PER_LOOK) || self.has_time()
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.is_spent.get()
    }
}

/// Goes through something for as long as there is time.
pub(crate) fn through<'b, I: IntoIterator>(
    budget: Option<&'b Budget<'b>>,
    steps: I,
) -> impl Iterator<Item = I::Item> + use<'b, I> {
    let steps = steps.into_iter().enumerate();
    let in_time = steps
        .take_while(move |(count, _)| budget.is_none_or(|budget| budget.has_time_after(*count)));
    in_time.map(|(_, step)| step)
}

/// A way through a text in steps of any length, with a look at the budget every few KiB.
pub(crate) struct Way<'b> {
    budget: Option<&'b Budget<'b>>,
    next_look: usize,
}

/// How far a reader goes between two looks.
const BYTES_PER_LOOK: usize = 8 << 10;

impl<'b> Way<'b> {
    pub(crate) fn new(budget: Option<&'b Budget<'b>>) -> Self {
        let next_look = BYTES_PER_LOOK;
        Way { budget, next_look }
    }

    /// Whether there is time to go on from here.
    pub(crate) fn goes_on(&mut self, at: usize) -> bool {
        if at < self.next_look {
            return true;
        }
        self.next_look = at + BYTES_PER_LOOK;
        self.budget.is_none_or(Budget::has_time)
    }
}
