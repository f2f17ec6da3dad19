//! The one line that says what is wrong with a scenario.

use std::fmt;

/// What is wrong with a scenario, where, and what would be right.
///
/// Printed it is one line: `cell.toml:7:9: link.cell.forward.rate: the unit is missing, found "10"; expected a rate ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioError {
    /// Where: `cell.toml:7:9` (line and column, counted from one, columns in characters), or the `--set` that it is in.
    pub place: String,
    /// The path of the key: `link.cell.forward.rate`. Empty where the whole document is meant.
    pub key: String,
    /// What is wrong, what was found, what was expected, and the nearest word if there is one that is near.
    pub problem: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ScenarioError { place, key, problem } = self;
        if key.is_empty() { write!(f, "{place}: {problem}") } else { write!(f, "{place}: {key}: {problem}") }
    }
}

impl std::error::Error for ScenarioError {}
