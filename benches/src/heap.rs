//! The heap of this program, counted on request: the bytes held, and the number of allocations.
//!
//! Each thread counts its own allocations, and only while [`count`] runs, so that parallel tests do not affect
//! each other and speed measurements pay only for the check of a flag per allocation.

#![expect(
    unsafe_code,
    reason = "an allocator is unsafe by its nature; this one hands all on to the system's"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The use of the heap while it was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Heap {
    /// Bytes that were allocated and not freed.
    pub(crate) held: i64,
    /// The maximum number of bytes held at one time.
    pub(crate) most: i64,
    /// The number of allocations, including those that grow an existing one.
    pub(crate) requests: u64,
}

thread_local! {
    static COUNTING: Cell<bool> = const { Cell::new(false) };
    static HEAP: Cell<Heap> = const { Cell::new(Heap { held: 0, most: 0, requests: 0 }) };
}

/// Returns the result of `work` and its use of the heap. The result itself is still held.
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

// SAFETY: every call is passed unchanged to the system's allocator; counting touches no other memory and does
// not allocate.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as i64, 1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as i64, 1);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(-(layout.size() as i64), 0);
        // SAFETY: as above; the pointer came from the system's allocator.
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
    fn held_bytes_and_allocations_are_counted() {
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
