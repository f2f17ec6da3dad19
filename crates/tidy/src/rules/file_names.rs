//! A file is named after its subject.

use crate::{Finding, Rule, Tree};

/// Names that do not describe the contents.
const EMPTY: [&str; 9] =
    ["util", "utils", "helper", "helpers", "common", "misc", "manager", "core", "utilities"];
/// The files whose names are checked, together with their folders.
const SOURCES: [&str; 7] = [".rs", ".py", ".pyi", ".js", ".ts", ".sh", ".toml"];

pub(super) const RULE: Rule = Rule {
    name: "file_names",
    about: "a file or folder is named after its subject, never util, helper, common, misc, manager or core",
    check,
    broken: || Tree::of(&[("crates/quic/src/util.rs", "//! A.\n")]),
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| SOURCES.iter().any(|ending| file.is(ending))) {
        for part in file.path.split('/') {
            let stem = part.split('.').next().unwrap_or(part);
            let word = stem.to_lowercase();
            if EMPTY.iter().any(|name| word.split(['_', '-']).any(|piece| piece == *name)) {
                let says = format!("`{part}` says nothing: name it after what is inside");
                findings.push(Finding::new(&file.path, 0, says));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_names_and_folders_count_and_words_within_words_do_not() {
        for (path, count) in [
            ("crates/a/src/test_helpers.rs", 1),
            ("tests/common/mod.rs", 1),
            ("python/quiclab/core.py", 1),
            ("python/quiclab/drawings/view/browser/utils.js", 1),
            ("crates/a/src/scores.rs", 0),
            ("crates/a/src/commons.rs", 0),
            ("docs/core.md", 0),
        ] {
            assert_eq!(check(&Tree::of(&[(path, "")])).len(), count, "{path}");
        }
    }
}
