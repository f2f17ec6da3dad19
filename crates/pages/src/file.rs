//! Pages out of files: the same ones again and again, and how a mistake in a file is told.

use super::{Page, Pages};
use std::fmt;
use units::parameter::{Default, Kind, Parameter};

pub(super) const READING: Parameter = Parameter {
    name: "reading",
    kind: Kind::Duration,
    default: Default::Is("\"0 s\""),
    about: "time from a complete page to the request for the next one",
};

/// The most bytes of a file of pages.
pub const MOST_FILE_BYTES: usize = 64 << 20;

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextError {
    /// Where: `line 3`, `entry 5`; empty if it is about all of it.
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
    /// An entry of a list, from 1.
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

/// A piece of a file in quotes, as far as it fits a line.
pub(super) fn shown(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    if short.len() < text.len() { format!("{short:?}...") } else { format!("{short:?}") }
}

/// These pages, one after the other, and again from the first.
#[derive(Debug)]
pub struct Replay {
    pages: Vec<Page>,
    next: usize,
}

impl Replay {
    /// At least one.
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
}
