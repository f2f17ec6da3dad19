//! The house rules, as tests over the sources.
//!
//! A rule consists of one file in `rules/` and one line in [`rules::RULES`]. It checks the whole [`Tree`] and reports
//! violations with file and line. `cargo test -p tidy` fails if any rule reports one. `cargo run -p tidy` prints them,
//! and also lists the longest files and functions and the most shared fields of connections, which are not violations.

pub mod certainties;
pub mod code;
pub mod imports;
pub mod python;
pub mod requirements;
pub mod rules;
pub mod sharing;
pub mod sizes;
pub mod tree;

pub use tree::{File, Tree};

/// A violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, relative to the root of the checkout.
    pub path: String,
    /// The line, counted from 1; 0 for the whole file.
    pub line: usize,
    /// The violation, and how to fix it.
    pub says: String,
}

impl Finding {
    /// Creates a finding in a line of a file.
    pub fn new(path: &str, line: usize, says: impl Into<String>) -> Finding {
        Finding { path: path.to_owned(), line, says: says.into() }
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.says),
            line => write!(f, "{}:{line}: {}", self.path, self.says),
        }
    }
}

/// A house rule: a row of [`rules::RULES`].
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The name, which is that of its file.
    pub name: &'static str,
    /// The rule in one sentence.
    pub about: &'static str,
    /// Returns the violations in a tree.
    pub check: fn(&Tree) -> Vec<Finding>,
    /// A small tree that violates the rule, used by a test that the rule can fail.
    pub broken: fn() -> Tree,
}
