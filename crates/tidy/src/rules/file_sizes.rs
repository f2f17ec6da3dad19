//! The repository stays small to clone.

use crate::{File, Finding, Rule, Tree, tree};

/// The maximum size of a tracked file in bytes.
const LIMIT: u64 = 1 << 20;

pub(super) const RULE: Rule = Rule {
    name: "file_sizes",
    about: "no tracked file is larger than 1 MiB: generate it, or fetch it where it is needed",
    check,
    broken: || with_length("traces/large.txt", LIMIT + 1),
};

fn check(tree: &Tree) -> Vec<Finding> {
    tree.files
        .iter()
        .filter(|file| file.path != tree::METADATA && file.length > LIMIT)
        .map(|file| Finding::new(&file.path, 0, format!("{} bytes, the limit is {LIMIT}", file.length)))
        .collect()
}

/// A tree with one file of this length.
fn with_length(path: &str, length: u64) -> Tree {
    Tree { files: vec![File { length, ..File::new(path, "") }] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_itself_is_allowed() {
        for (path, length, count) in [("a", LIMIT, 0), ("b", LIMIT + 1, 1), (tree::METADATA, LIMIT + 1, 0)] {
            assert_eq!(check(&with_length(path, length)).len(), count, "{path}");
        }
    }
}
