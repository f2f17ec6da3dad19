//! Failures of components supplied from outside, which end the run they occur in.
//!
//! The traits of the lab have no error results, because none of its own components needs them. A component written by
//! somebody else can fail in any call. It then reports the failure here and returns a harmless answer; the run on
//! this thread ends with that report.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;

/// A failure.
#[derive(Debug)]
pub struct Fault {
    /// What went wrong, in one line.
    pub problem: String,
    /// What the language of the component has of it, like an exception; for whoever knows its type.
    pub cause: Box<dyn Any + Send + Sync>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

thread_local! {
    static FIRST: RefCell<Option<Fault>> = const { RefCell::new(None) };
}

/// Reports a failure. Only the first report is kept.
pub fn raise(fault: Fault) {
    FIRST.with_borrow_mut(|first| {
        first.get_or_insert(fault);
    });
}

/// Takes the failure reported on this thread, if any.
pub fn take() -> Option<Fault> {
    FIRST.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_report_is_kept_with_its_cause() {
        raise(Fault { problem: "one".to_owned(), cause: Box::new(1) });
        raise(Fault { problem: "two".to_owned(), cause: Box::new(2) });
        let first = take().expect("one was reported");
        assert_eq!((first.to_string(), first.cause.downcast_ref()), ("one".to_owned(), Some(&1)));
        assert!(take().is_none());
    }
}
