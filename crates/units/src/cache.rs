//! Hints to the processor's cache about what will soon be used.
//!
//! When a thousand connections take turns, the state of each has left the cache by the time its turn comes, and every
//! part of it costs a wait of its own. A caller that knows the next turn in advance requests the parts early and does
//! other work while they arrive. Prefetching affects speed only, never results.

use prefetch_index::prefetch_index;

/// The size of a cache line in bytes on x86-64 and most other processors.
const LINE: usize = 64;

/// Prefetches the whole of a value, but nothing that its pointers lead to.
#[inline]
pub fn ask_for<T: ?Sized>(value: &T) {
    prefetch_range(std::ptr::from_ref(value).addr(), size_of_val(value));
}

/// Prefetches as many bytes after a value as it occupies itself: the place where a queue grows.
#[inline]
pub fn ask_behind<T>(value: &T) {
    prefetch_range(std::ptr::from_ref(value).addr() + size_of::<T>(), size_of::<T>());
}

#[inline]
fn prefetch_range(from: usize, size: usize) {
    // One request per line and one for the last byte cover every line, wherever the value starts. If the size is
    // known at compile time, so is the number of instructions.
    let mut at = 0;
    while at < size {
        prefetch_line(from + at);
        at += LINE;
    }
    if size % LINE != 1 && size > 0 {
        prefetch_line(from + size - 1);
    }
}

#[inline]
fn prefetch_line(address: usize) {
    // Only the address matters; nothing is read. The address of an empty slice is unspecified, so the index is
    // computed relative to it.
    let nothing: &[u8] = &[];
    prefetch_index(nothing, address.wrapping_sub(nothing.as_ptr().addr()));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prefetching has no visible effect: any value may be requested, at any address.
    #[test]
    fn prefetching_changes_nothing() {
        let values: Vec<u64> = (0..1000).collect();
        values.iter().for_each(ask_for);
        values.last().into_iter().for_each(ask_behind);
        ask_for(&values[..]);
        ask_for("");
        let object: &dyn Fn() -> usize = &|| values.len();
        ask_for(object);
        assert!(values.iter().copied().eq(0..1000));
    }
}
