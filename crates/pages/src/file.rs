//! Pages from files, which repeat, and the errors of such files.

use super::{Page, Pages};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use units::Duration;
use units::parameter::Options;
pub(super) use units::table::quoted;

/// The option of files of pages.
#[derive(Debug, Clone, Copy, Options)]
pub(super) struct ReadingOptions {
    /// time from a complete page to the request for the next one
    #[option(default = "0 s")]
    pub(super) reading: Duration,
}

/// The maximum size of a file of pages in bytes.
pub const MAX_FILE_BYTES: usize = 64 << 20;

/// An error in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextError {
    /// The location: `line 3`, `entry 5`; empty if it concerns the whole file.
    place: String,
    problem: String,
}

impl TextError {
    pub(super) fn whole(problem: impl Into<String>) -> TextError {
        TextError { place: String::new(), problem: problem.into() }
    }
    pub(super) fn line(number: usize, problem: impl Into<String>) -> TextError {
        TextError { place: format!("line {number}"), problem: problem.into() }
    }
    /// An error in an entry of a list, counted from 1.
    pub(super) fn entry(number: usize, problem: impl Into<String>) -> TextError {
        TextError { place: format!("entry {number}"), problem: problem.into() }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.problem)
    }
}

/// A list of pages, repeated endlessly.
#[derive(Debug)]
pub struct Replay {
    pages: Vec<Page>,
    next: usize,
}

impl Replay {
    /// Creates the list from at least one page.
    pub fn new(pages: Vec<Page>) -> Replay {
        Replay { pages, next: 0 }
    }
}

impl Pages for Replay {
    fn next(&mut self) -> Page {
        let page = self.pages[self.next].clone();
        self.next = (self.next + 1) % self.pages.len();
        page
    }
    fn hosts(&self) -> Vec<Arc<str>> {
        let all = self.pages.iter().flat_map(|page| &page.objects).filter_map(|object| object.host.as_ref());
        let mut seen = BTreeSet::new();
        all.filter(|host| seen.insert(*host)).cloned().collect()
    }
}
