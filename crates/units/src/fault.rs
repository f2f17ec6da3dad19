//! Failures of components supplied from outside, which end the run they occur in.
//!
//! The traits of the lab have no error results, because none of its own components needs them. A component written by
//! somebody else can fail in any call. It then reports the failure here and returns a harmless answer; the run on
//! this thread ends with that report.

use std::cell::RefCell;

thread_local! {
    static FIRST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Reports a failure in one line. Only the first report is kept.
pub fn raise(problem: String) {
    FIRST.with_borrow_mut(|first| {
        first.get_or_insert(problem);
    });
}

/// Takes the failure reported on this thread, if any.
pub fn take() -> Option<String> {
    FIRST.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_report_is_kept() {
        raise("one".to_owned());
        raise("two".to_owned());
        assert_eq!((take(), take()), (Some("one".to_owned()), None));
    }
}
