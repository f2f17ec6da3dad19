//! The project builds anywhere: no file contains a path of a particular machine.

use crate::{Finding, Rule, Tree, tree};

/// Prefixes of such paths, in two halves so that this file does not violate its own rule.
const PLACES: [(&str, &str); 5] =
    [("/wo", "rk/"), ("/ro", "ot/"), ("/ho", "me/"), ("/Us", "ers/"), ("C:\\Us", "ers\\")];

pub(super) const RULE: Rule = Rule {
    name: "machine_paths",
    about: "no file names a path of one machine",
    check,
    broken: || Tree::of(&[("README.md", concat!("cd /wo", "rk/quiclab"))]),
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| file.path != tree::METADATA) {
        for (number, line) in file.lines() {
            for (first, second) in PLACES {
                let place = format!("{first}{second}");
                if begins_a_path(line, &place) {
                    findings.push(Finding::new(
                        &file.path,
                        number,
                        format!("`{place}` is a path of one machine"),
                    ));
                }
            }
        }
    }
    findings
}

/// Whether `place` occurs in the line at the start of a path, not within a longer one.
fn begins_a_path(line: &str, place: &str) -> bool {
    line.match_indices(place).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '~' | '}' | ')'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_of_paths_count_and_middles_do_not() {
        for (text, count) in [
            (concat!("open(\"/ro", "ot/x\")"), 1),
            (concat!("target=/ho", "me/me/x"), 1),
            (concat!("https://example.org/wo", "rk/x"), 0),
            (concat!("crates/wo", "rk/src"), 0),
            (concat!("../wo", "rk/src"), 0),
        ] {
            assert_eq!(check(&Tree::of(&[("a.md", text)])).len(), count, "{text}");
        }
    }
}
