//! Every test runs.

use crate::{Finding, Rule, Tree, code};

pub(super) const RULE: Rule = Rule {
    name: "skipped_tests",
    about: "no test is switched off: one that needs a tool asks for it when it runs, and says so loudly",
    check,
    broken: || Tree::of(&[("crates/quic/src/a.rs", "//! A.\n#[test]\n#[ignore]\nfn f() {}\n")]),
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.ending(".rs") {
        let text = code::blank(&file.text);
        for (index, line) in text.lines().enumerate().filter(|(_, line)| line.contains("#[ignore")) {
            findings.push(Finding::new(&file.path, index + 1, format!("`{}`", line.trim())));
        }
    }
    for file in tree.ending(".py") {
        // `skipif` depends on the machine; `skip` and `xfail` always hide the test.
        for mark in ["mark.skip(", "mark.xfail"] {
            for (number, _) in file.lines().filter(|(_, line)| line.contains(mark)) {
                findings.push(Finding::new(&file.path, number, format!("`{mark}`")));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_count_and_conditions_do_not() {
        for (path, text, count) in [
            ("a.rs", "#[ignore = \"slow\"]", 1),
            ("a.rs", "// #[ignore]", 0),
            ("a.py", "@pytest.mark.skip(reason='x')", 1),
            ("a.py", "@pytest.mark.xfail", 1),
            ("a.py", "@pytest.mark.skipif(not found, reason='x')", 0),
        ] {
            assert_eq!(check(&Tree::of(&[(path, text)])).len(), count, "{text}");
        }
    }
}
