//! The sources contain no markers for later work, which belongs in the tracker or in the roadmap.

use crate::{Finding, Rule, Tree};

/// The files that are checked.
const SOURCES: [&str; 11] =
    [".rs", ".py", ".pyi", ".js", ".ts", ".toml", ".md", ".sh", ".yml", "Makefile", ".ci/run"];
/// The markers, in two halves so that this file does not violate its own rule.
const MARKS: [(&str, &str); 5] =
    [("TO", "DO"), ("FIX", "ME"), ("XX", "X"), ("todo", "!"), ("unimplemented", "!")];

pub(super) const RULE: Rule = Rule {
    name: "markers",
    about: "no file is left with a note to finish it later",
    check,
    broken: || Tree::of(&[("crates/quic/src/a.rs", concat!("//! A.\n// TO", "DO: ECN\n"))]),
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| SOURCES.iter().any(|ending| file.is(ending))) {
        for (number, line) in file.lines() {
            for (first, second) in MARKS {
                let mark = format!("{first}{second}");
                if contains_word(line, &mark) {
                    let says = format!("`{mark}`: finish it, or write it into the roadmap");
                    findings.push(Finding::new(&file.path, number, says));
                }
            }
        }
    }
    findings
}

/// Whether `word` occurs in the line as a whole word.
fn contains_word(line: &str, word: &str) -> bool {
    let inside = |character: Option<char>| character.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !inside(before) && (!inside(after) || word.ends_with('!'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_in_any_source() {
        for (path, text, count) in [
            ("a.py", concat!("# FIX", "ME later"), 1),
            ("Makefile", concat!("# XX", "X"), 1),
            ("a.rs", concat!("fn f() { todo", "!(\"x\") }"), 1),
            ("a.rs", concat!("mod TO", "DOS; let XX", "XX = 1;"), 0),
            ("a.log", concat!("TO", "DO"), 0),
        ] {
            assert_eq!(check(&Tree::of(&[(path, text)])).len(), count, "{text}");
        }
    }
}
