//! The house rules, as tests over the sources.
//!
//! A rule is one file in `rules/` and one line in [`rules::RULES`]. It looks at the whole [`Tree`] and says what is
//! wrong, with file and line. `cargo test -p tidy` fails if any rule finds anything; `cargo run -p tidy` prints the
//! same and lists, without judging them, the longest files and functions, and the
//! fields of connections that most files share.

pub mod code;
pub mod imports;
pub mod requirements;
pub mod rules;
pub mod sharing;
pub mod sizes;
pub mod tree;

pub use tree::{File, Tree};

/// One thing that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, relative to the root of the checkout.
    pub path: String,
    /// The line, counted from 1; 0 if the whole file is meant.
    pub line: usize,
    /// What is wrong, and what to do about it.
    pub says: String,
}

impl Finding {
    /// A finding in one line of a file.
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

/// One house rule: a row of [`rules::RULES`].
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its name, which is the name of its file.
    pub name: &'static str,
    /// The rule in one sentence.
    pub about: &'static str,
    /// What breaks it in a tree.
    pub check: fn(&Tree) -> Vec<Finding>,
    /// A small tree that breaks it, by which a test shows that the rule can fail.
    pub broken: fn() -> Tree,
}
