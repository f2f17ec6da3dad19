//! What goes wrong in a component from outside: the way in which it ends the run that it is in.
//!
//! The seams have no errors, since no component of the lab needs them; one that somebody else wrote may fail at any call. It
//! says so here, answers something harmless, and the run on this thread ends with what it said.

use std::cell::RefCell;

thread_local! {
    static FIRST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Something went wrong, in one line. The first that is told counts.
pub fn raise(problem: String) {
    FIRST.with_borrow_mut(|first| {
        first.get_or_insert(problem);
    });
}

/// Takes what was told on this thread.
pub fn take() -> Option<String> {
    FIRST.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_counts_and_is_taken_once() {
        raise("one".to_owned());
        raise("two".to_owned());
        assert_eq!((take(), take()), (Some("one".to_owned()), None));
    }
}
