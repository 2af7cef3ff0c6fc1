//! Cost of a piece of work on its thread: the most memory held at one time, and time on the processor.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

/// The system's allocator, with a count per thread. A program that measures makes it its global allocator.
pub struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

/// Counts bytes that were taken, or given back. Memory that another thread took may make the count negative.
fn count(bytes: isize) {
    let held = HELD.get() + bytes;
    HELD.set(held);
    if held > MOST.get() {
        MOST.set(held);
    }
}

// SAFETY: every call goes on to the system's allocator as it came.
#[expect(unsafe_code, reason = "an allocator is unsafe by its trait")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.cast_signed() - layout.size().cast_signed());
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Cost of a piece of work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// The most bytes held at one time, above those held before.
    pub bytes: usize,
    /// Time on the processor.
    pub time: Duration,
}

/// Does a piece of work and says what it took.
pub fn cost_of<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    let before = HELD.get();
    MOST.set(before);
    let started = time_of_thread();
    let done = work();
    let time = time_of_thread().saturating_sub(started);
    let bytes = MOST.get().saturating_sub(before).max(0).cast_unsigned();
    (done, Cost { bytes, time })
}

/// Returns the time that this thread has spent on a processor.
fn time_of_thread() -> Duration {
    // The count is updated when the thread yields.
    std::thread::yield_now();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = told.split_ascii_whitespace().next();
    Duration::from_nanos(
        first
            .and_then(|nanoseconds| nanoseconds.parse().ok())
            .unwrap_or_default(),
    )
}
