//! Limits of one scan: time, for which the caller is asked every few KiB of text, and memory, of which a text grants so much
//! per byte.
//!
//! Everything that may grow with the text is a [`List`] or is counted by a [`Hold`]. A list without room drops what it is
//! given, and the scan is then not complete. A [`Few`] has a length that a constant bounds, whatever the text.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// A list whose length a constant of the program bounds: the cells of a line of bounded length, the parts of a value.
#[expect(clippy::disallowed_types, reason = "this is what stands for it")]
pub(crate) type Few<T> = Vec<T>;

/// Memory that any text is granted, and what each of its bytes adds.
const BYTES_FOR_ANY: usize = 60 << 20;
const BYTES_PER_BYTE: usize = 12;

/// Time and memory for one scan.
pub(crate) struct Budget<'a> {
    has_time: &'a dyn Fn() -> bool,
    memory: Memory,
}

/// Steps between two checks of the budget: words or lines, some KiB of text.
const STEPS_PER_LOOK: usize = 256;

impl<'a> Budget<'a> {
    /// Makes a budget of time alone.
    #[cfg(test)]
    pub(crate) fn new(has_time: &'a dyn Fn() -> bool) -> Self {
        Budget {
            has_time,
            memory: Memory::unlimited(),
        }
    }

    /// Makes the budget for a text of this size.
    pub(crate) fn for_text(has_time: &'a dyn Fn() -> bool, bytes: usize) -> Self {
        Budget {
            has_time,
            memory: Memory::of(BYTES_FOR_ANY.saturating_add(bytes.saturating_mul(BYTES_PER_BYTE))),
        }
    }

    /// Memory that counts for this budget.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Asks the caller. After the first "no", or when memory ran out, it stays spent.
    pub(crate) fn has_time(&self) -> bool {
        if !self.is_spent() && !(self.has_time)() {
            self.memory.0.is_spent.set(true);
        }
        !self.is_spent()
    }

    /// Asks now and then while steps are counted; never at the first, since most texts are short.
    fn has_time_after(&self, steps: usize) -> bool {
        steps == 0 || !steps.is_multiple_of(STEPS_PER_LOOK) || self.has_time()
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.memory.0.is_spent.get()
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

/// Bytes that a reader reads between two checks.
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

/// The memory of a scan. Clones count together.
#[derive(Clone)]
pub(crate) struct Memory(Rc<Counts>);

struct Counts {
    held: Cell<usize>,
    most: usize,
    is_spent: Cell<bool>,
}

impl Memory {
    fn of(most: usize) -> Self {
        Memory(Rc::new(Counts {
            held: Cell::new(0),
            most,
            is_spent: Cell::new(false),
        }))
    }

    /// Makes memory without a limit.
    #[cfg(test)]
    pub(crate) fn unlimited() -> Self {
        Memory::of(usize::MAX)
    }

    /// Makes an empty list.
    pub(crate) fn list<T>(&self) -> List<T> {
        List {
            items: Few::new(),
            hold: self.nothing(),
        }
    }

    /// Makes a list of the items of an iterator.
    pub(crate) fn collect<T>(&self, items: impl IntoIterator<Item = T>) -> List<T> {
        let mut list = self.list();
        list.extend(items);
        list
    }

    /// Counts bytes that are held beside lists; `None` if there is no room.
    pub(crate) fn hold(&self, bytes: usize) -> Option<Hold> {
        let mut hold = self.nothing();
        hold.grow(bytes).then_some(hold)
    }

    /// Counts bytes that are held for a moment even if there is no room for them; the scan is then not complete.
    fn hold_anyway(&self, bytes: usize) -> Hold {
        let counts = &self.0;
        let held = counts.held.get().saturating_add(bytes);
        counts.held.set(held);
        if held > counts.most {
            counts.is_spent.set(true);
        }
        Hold {
            bytes,
            memory: self.clone(),
        }
    }

    /// Counts nothing yet.
    pub(crate) fn nothing(&self) -> Hold {
        Hold {
            bytes: 0,
            memory: self.clone(),
        }
    }
}

/// Bytes that count for a scan as long as this is kept.
pub(crate) struct Hold {
    bytes: usize,
    memory: Memory,
}

impl Hold {
    /// Takes more bytes, or says that there is no room and that the scan is not complete.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        let counts = &self.memory.0;
        let held = counts.held.get().saturating_add(bytes);
        if held > counts.most {
            counts.is_spent.set(true);
            return false;
        }
        counts.held.set(held);
        self.bytes += bytes;
        true
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let held = &self.memory.0.held;
        held.set(held.get().saturating_sub(self.bytes));
    }
}

/// A list that may grow with the text; its memory counts for the scan.
pub(crate) struct List<T> {
    items: Few<T>,
    hold: Hold,
}

/// Up to this many items a list doubles; a longer one grows by a quarter.
const DOUBLING_MAX: usize = 4096;

impl<T> List<T> {
    /// Appends an item, unless there is no room.
    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        if self.items.len() < self.items.capacity() || self.grow(1) {
            self.items.push(item);
        }
    }

    /// Makes room for at least `more` further items.
    pub(crate) fn reserve(&mut self, more: usize) -> bool {
        self.items.capacity() - self.items.len() >= more || self.grow(more)
    }

    #[cold]
    fn grow(&mut self, more: usize) -> bool {
        let (length, capacity) = (self.items.len(), self.items.capacity());
        let usual = if capacity <= DOUBLING_MAX {
            capacity
        } else {
            capacity / 4
        };
        let wanted = (length + more).max(capacity + usual).max(4);
        let has_room = self.hold.grow((wanted - capacity) * size_of::<T>());
        if has_room {
            self.items.reserve_exact(wanted - length);
        }
        has_room
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        self.items.pop()
    }

    pub(crate) fn clear(&mut self) {
        self.items.clear();
    }

    pub(crate) fn retain(&mut self, is_kept: impl FnMut(&T) -> bool) {
        self.items.retain(is_kept);
    }

    pub(crate) fn dedup(&mut self)
    where
        T: PartialEq,
    {
        self.items.dedup();
    }

    /// Takes out each item that `joins` says it has put into the one before it.
    pub(crate) fn join_by(&mut self, mut joins: impl FnMut(&mut T, &T) -> bool) {
        self.items.dedup_by(|item, last| joins(last, item));
    }

    /// Takes out the items from `first` on that `is_taken` says.
    pub(crate) fn extract_if(
        &mut self,
        first: usize,
        is_taken: impl FnMut(&mut T) -> bool,
    ) -> List<T> {
        let first = first.min(self.items.len());
        let taken = self.items.extract_if(first.., is_taken);
        self.hold.memory.collect(taken)
    }

    /// Leaves an empty list behind.
    pub(crate) fn take(&mut self) -> List<T> {
        let empty = self.hold.memory.list();
        std::mem::replace(self, empty)
    }

    /// Sorts, and leaves what is the same in its order.
    pub(crate) fn sort_by(&mut self, compare: impl FnMut(&T, &T) -> std::cmp::Ordering) {
        let _scratch = self.scratch();
        self.items.sort_by(compare);
    }

    /// Sorts by a key, and leaves what has the same in its order.
    pub(crate) fn sort_by_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K) {
        let _scratch = self.scratch();
        self.items.sort_by_key(key);
    }

    /// The memory that sorting in order takes beside the list.
    fn scratch(&self) -> Hold {
        let memory = &self.hold.memory;
        memory.hold_anyway(self.items.len() * size_of::<T>())
    }

    /// The items, and what counts their memory.
    pub(crate) fn into_parts(self) -> (Few<T>, Hold) {
        (self.items, self.hold)
    }

    /// Returns the memory for another list of the same scan.
    pub(crate) fn memory(&self) -> &Memory {
        &self.hold.memory
    }
}

impl<T: Clone> Clone for List<T> {
    fn clone(&self) -> Self {
        self.hold.memory.collect(self.items.iter().cloned())
    }
}

impl<T> Extend<T> for List<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        let items = items.into_iter();
        let (least, _) = items.size_hint();
        if least > 0 && !self.reserve(least) {
            return;
        }
        for item in items {
            self.push(item);
        }
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> DerefMut for List<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

/// The items of a list, one after the other.
pub(crate) struct Items<T> {
    items: std::vec::IntoIter<T>,
    _hold: Hold,
}

impl<T> Iterator for Items<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.items.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}

impl<T> IntoIterator for List<T> {
    type Item = T;
    type IntoIter = Items<T>;

    fn into_iter(self) -> Items<T> {
        Items {
            items: self.items.into_iter(),
            _hold: self.hold,
        }
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

/// A text that is made from another one; its memory counts for the scan.
pub(crate) struct Text {
    text: String,
    _hold: Hold,
}

impl Text {
    /// Counts a text that was made; `None` if there is no room for it.
    pub(crate) fn of(memory: &Memory, text: String) -> Option<Self> {
        let hold = memory.hold(text.capacity())?;
        Some(Text { text, _hold: hold })
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Depth, Detector};

    #[test]
    fn a_full_list_drops_items() {
        let memory = Memory::of(100);
        let mut list: List<u64> = memory.list();
        list.extend([1, 2, 3]);
        assert!(!memory.0.is_spent.get());
        (0..100).for_each(|item| list.push(item));
        assert!(memory.0.is_spent.get());
        assert!(list.len() < 13, "{}", list.len());
        drop(list);
        assert_eq!(memory.0.held.get(), 0);
    }

    #[test]
    fn lists_count_together() {
        let memory = Memory::of(1000);
        let hold = memory.hold(900);
        assert!(hold.is_some() && memory.hold(200).is_none());
        drop(hold);
        assert!(memory.hold(200).is_some());
        let taken: List<u8> = memory.collect([0; 64]);
        let (items, hold) = taken.clone().into_parts();
        assert_eq!(memory.0.held.get(), 128);
        drop((taken, items, hold));
        assert_eq!(memory.0.held.get(), 0);
    }

    /// A text with something for every reader and rule.
    const TEXT: &str = "Patient: Jane Roe\u{2011}Poe, DOB 03/14/1962, MRN 00482913, tel 415-555-0134; K. J. Roe spelled R-O-E.\n\
{\"name\": \"Jane Roe\", \"record_id\": 4471902, \"en\": \"a\", \"pt\": \"b\", \"rows\": [[\"mrn\", \"1\"], [\"dob\", \"2\"]]}\n\
name,ssn,dob\nJane Roe,536-22-8741,03/14/1962\nMark Poe,536-22-8742,03/15/1962\n\n\
PID|1||00482913^^^MR||ROE^JANE||19620314|F\n<tr><th>MRN</th><th>DOB</th></tr><tr><td>4471902</td><td>3/14/1962</td></tr>\n\
COPY t (ssn, name) FROM stdin;\n536228741\tRoe\n\\.\nINSERT INTO t (ssn) VALUES ('536228741');\n\
0000: 5353 4e20 3533 3632 3238 3734 31\n U1NOIDUzNi0yMi04NzQx 35 33 36 2d 32 32 2d 38 37 34 31 &#53;&#51; D O B : 1 9 6 2\n";

    #[test]
    fn scan_without_memory_ends_incomplete() {
        let text = TEXT.repeat(4);
        let detector = Detector::default().with_depth(Depth::Fast);
        let scan = |most: usize| {
            let budget = Budget {
                has_time: &|| true,
                memory: Memory::of(most),
            };
            let findings = detector.find(&text, None, 0, &budget, None);
            let mut from = 0;
            for one in &findings {
                assert!(one.span.start >= from && text.get(one.span.clone()).is_some());
                from = one.span.end;
            }
            assert!(budget.memory.0.held.get() <= 2 * most);
            !budget.is_spent()
        };
        for steps in 0..400 {
            let most = 1.03_f64.powi(steps) as usize;
            assert!(
                !scan(most) || most > text.len(),
                "complete with {most} bytes"
            );
        }
        assert!(scan(4 << 20));
    }
}
