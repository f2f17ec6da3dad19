//! Errors in scenarios.

use std::fmt;

/// A mistake in a scenario, its place, and what would be right.
///
/// Prints one line: `cell.toml:7:9: link.cell.forward.rate: the unit is missing, found "10"; expected a rate ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioError {
    /// The place: `cell.toml:7:9` (line and column, both from one, columns in characters), or the `--set`.
    pub place: String,
    /// The path of the key: `link.cell.forward.rate`. Empty for the whole document.
    pub key: String,
    /// The mistake, the value, what was expected, and a similar word, if there is one.
    pub problem: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ScenarioError { place, key, problem } = self;
        if key.is_empty() { write!(f, "{place}: {problem}") } else { write!(f, "{place}: {key}: {problem}") }
    }
}

impl std::error::Error for ScenarioError {}
