//! The memory held by the endpoints: an allocator that counts allocations inside of their calls.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts allocated and freed bytes inside of [`inside`], per thread.
pub(crate) struct Counting;

thread_local! {
    /// Whether a call of an endpoint is on the stack.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// Bytes that endpoints hold.
    static HELD: Cell<i64> = const { Cell::new(0) };
}

fn note(bytes: i64) {
    // Nothing is counted after the end of a thread.
    let _ = INSIDE.try_with(|inside| {
        if inside.get() {
            HELD.with(|held| held.set(held.get() + bytes));
        }
    });
}

/// Runs a call into an endpoint. Its allocations count as held by the endpoint until another such call frees them.
pub(crate) fn inside<T>(call: impl FnOnce() -> T) -> T {
    let before = INSIDE.with(|inside| inside.replace(true));
    let result = call();
    INSIDE.with(|inside| inside.set(before));
    result
}

/// Bytes that endpoints of this thread hold.
pub(crate) fn held() -> i64 {
    HELD.with(Cell::get)
}

/// Forgets the allocations of a panicked case.
pub(crate) fn start_anew() {
    INSIDE.with(|inside| inside.set(false));
    HELD.with(|held| held.set(0));
}

// SAFETY: every call goes to the system's allocator unchanged.
#[allow(unsafe_code, reason = "an allocator can only be written so")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as i64);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(-(layout.size() as i64));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note(new_size as i64 - layout.size() as i64);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}
