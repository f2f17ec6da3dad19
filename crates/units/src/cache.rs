//! Asking the processor's cache for what will be looked at soon.
//!
//! Where a thousand connections take turns, what one of them needs has left the cache when its turn comes, and each part
//! of it would be waited for, one after the other. Who knows earlier whose turn it will be asks for the parts then, and
//! does something else while they come. Nothing follows from it but time.

use prefetch_index::prefetch_index;

/// A line of the cache in bytes: on x86-64, and on most others.
const LINE: usize = 64;

/// Asks for all of a value that lies at one place; not for what its pointers lead to.
#[inline]
pub fn ask_for<T: ?Sized>(value: &T) {
    ask(std::ptr::from_ref(value).addr(), size_of_val(value));
}

/// Asks for what lies behind a value, as much as it takes itself: the place where a queue grows.
#[inline]
pub fn ask_behind<T>(value: &T) {
    ask(std::ptr::from_ref(value).addr() + size_of::<T>(), size_of::<T>());
}

#[inline]
fn ask(from: usize, size: usize) {
    // Every so many bytes, and the last one: then each line has one of them, wherever the first begins, and a size that is
    // known makes as many instructions.
    let mut at = 0;
    while at < size {
        ask_line(from + at);
        at += LINE;
    }
    if size % LINE != 1 && size > 0 {
        ask_line(from + size - 1);
    }
}

#[inline]
fn ask_line(address: usize) {
    // Only the address counts, and whatever is there is not read. Nothing says where an empty slice lies, so the way from
    // there is computed.
    let nothing: &[u8] = &[];
    prefetch_index(nothing, address.wrapping_sub(nothing.as_ptr().addr()));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// There is nothing to see of it: any value may be asked for, at any place.
    #[test]
    fn asking_changes_nothing() {
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
