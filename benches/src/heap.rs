//! The heap of this program, counted where somebody asks: how much is held, how often memory was asked for.
//!
//! Each thread counts for itself, and only while [`count`] runs, so that tests beside each other do not disturb each
//! other and the measurements of speed pay no more than one look at a flag for each allocation.

#![expect(
    unsafe_code,
    reason = "an allocator is unsafe by its nature; this one hands all on to the system's"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// What happened to the heap while it was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Heap {
    /// Bytes that were asked for and not given back.
    pub(crate) held: i64,
    /// The most that was held at a time.
    pub(crate) most: i64,
    /// How often memory was asked for, to grow what was there included.
    pub(crate) requests: u64,
}

thread_local! {
    static COUNTING: Cell<bool> = const { Cell::new(false) };
    static HEAP: Cell<Heap> = const { Cell::new(Heap { held: 0, most: 0, requests: 0 }) };
}

/// What `work` gives, and what it did to the heap. What it gives is still held.
pub(crate) fn count<T>(work: impl FnOnce() -> T) -> (T, Heap) {
    HEAP.set(Heap::default());
    COUNTING.set(true);
    let result = work();
    COUNTING.set(false);
    (result, HEAP.get())
}

struct Counted;

#[global_allocator]
static ALLOCATOR: Counted = Counted;

#[inline]
fn note(bytes: i64, requests: u64) {
    if COUNTING.get() {
        let heap = HEAP.get();
        let held = heap.held + bytes;
        HEAP.set(Heap { held, most: heap.most.max(held), requests: heap.requests + requests });
    }
}

// SAFETY: every call goes to the system's allocator as it came; counting touches no memory of anybody else and does not
// allocate.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as i64, 1);
        // SAFETY: the caller's promise is the one that is asked for.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as i64, 1);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(-(layout.size() as i64), 0);
        // SAFETY: as above; the pointer is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size as i64 - layout.size() as i64, 1);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_and_what_was_asked_for() {
        let (kept, heap) = count(|| {
            drop(std::hint::black_box(vec![0_u8; 1000]));
            let mut kept = Vec::with_capacity(10);
            kept.extend_from_slice(&[1_u8; 10]);
            kept.reserve_exact(90);
            kept
        });
        assert_eq!(heap, Heap { held: 100, most: 1000, requests: 3 });
        drop(kept);
        assert_eq!(count(|| ()).1, Heap::default());
    }
}
