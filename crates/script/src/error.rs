//! Errors of scripts, in one line each.

use std::fmt;

/// A mistake in a script: where it is, and what is expected.
///
/// Prints as one line: `pto.quic:7:9: unknown frame "PNIG"; did you mean "PING"?`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptError {
    /// The name of the file, as passed by the caller.
    pub origin: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// What is wrong, what was found, what was expected, and the most similar word, if any.
    pub problem: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.origin, self.line, self.column, self.problem)
    }
}

impl std::error::Error for ScriptError {}

/// A problem, and its column in the current line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) column: usize,
    pub(crate) text: String,
}

impl Problem {
    pub(crate) fn new(column: usize, text: impl Into<String>) -> Problem {
        Problem { column, text: text.into() }
    }

    /// An unknown word, with the words allowed in its place.
    pub(crate) fn unknown<'a>(
        column: usize,
        what: &str,
        found: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Problem {
        let known: Vec<&str> = known.into_iter().collect();
        let near = lab::scenario::nearest(found, known.iter().copied());
        let near = near.map_or(String::new(), |near| format!("; did you mean {near:?}?"));
        Problem::new(column, format!("unknown {what} {found:?}, allowed: {}{near}", known.join(", ")))
    }
}
