//! A list of words stands in one module of the Python package.

use crate::python;
use crate::{Finding, Rule, Tree};
use std::collections::BTreeMap;

/// Fewer words are often the same by chance.
const LEAST: usize = 3;
/// Parts that need no others of the package.
const APART: &str = "python/quiclab/papers/";

pub(super) const RULE: Rule = Rule {
    name: "python_lists",
    about: "no two modules of the Python package have a list of the same words: one imports it from the other",
    check,
    broken: || {
        Tree::of(&[
            ("python/quiclab/values/a.py", "A = (\"x\", \"y\", \"z\")\n"),
            ("python/quiclab/values/b.py", "B = [\"z\", \"y\", \"x\"]\n"),
        ])
    },
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut seen = BTreeMap::new();
    for file in python::files(tree).filter(|file| !file.path.starts_with(APART)) {
        for list in python::words(file).into_iter().filter(|list| list.words.len() >= LEAST) {
            let (path, line, name) =
                seen.entry(list.words).or_insert_with(|| (&file.path, list.line, list.name.clone()));
            if **path != file.path {
                let says = format!("`{}` has the words of `{name}` ({path}:{line}): import it", list.name);
                findings.push(Finding::new(&file.path, list.line, says));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_words_and_the_same_file_are_allowed() {
        let tree = Tree::of(&[
            (
                "python/quiclab/values/a.py",
                "A = (\"x\", \"y\", \"z\")\nB = {\n    \"x\",\n    \"y\",\n    \"z\",\n}\n",
            ),
            ("python/quiclab/values/b.py", "A = (\"x\", \"y\")\nB = (\"x\", \"y\", \"w\")\n"),
        ]);
        assert_eq!(check(&tree), []);
    }
}
