//! Every random number comes from a named and seeded stream of the crate `random`.

use crate::{Finding, Rule, Tree, code};

/// Sources of randomness that do not depend on the seed, and types whose order depends on them.
const HIDDEN: [&str; 8] = [
    "thread_rng",
    "ThreadRng",
    "rand::rng()",
    "rand::random",
    "from_os_rng",
    "from_entropy",
    "OsRng",
    "RandomState",
];

pub(super) const RULE: Rule = Rule {
    name: "randomness",
    about: "no draw comes from the operating system or a thread: crate `random` gives a stream for every name",
    check,
    broken: || Tree::of(&[("crates/network/src/a.rs", "//! A.\nlet lost = rand::random::<f64>() < p;")]),
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.ending(".rs").filter(|file| !file.path.starts_with("crates/live/")) {
        for (index, line) in code::blank(&file.text).lines().enumerate() {
            for way in HIDDEN.iter().filter(|way| line.contains(**way)) {
                let says = format!("{way}: draw from a named stream of crate `random`");
                findings.push(Finding::new(&file.path, index + 1, says));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_do_not_count() {
        let tree =
            Tree::of(&[("crates/quic/src/a.rs", "// not thread_rng\nlet a = \"OsRng\";\nlet b = OsRng;")]);
        let lines: Vec<usize> = check(&tree).iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [3]);
    }
}
