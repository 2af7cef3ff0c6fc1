//! How long a scan may take: the caller is asked now and then, every few KiB of text.

use std::cell::Cell;

/// Time for one scan, as the caller grants it.
pub(crate) struct Budget<'a> {
    has_time: &'a dyn Fn() -> bool,
    is_spent: Cell<bool>,
}

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

    pub(crate) fn is_spent(&self) -> bool {
        self.is_spent.get()
    }
}
