//! The first line of a file states its subject.

use crate::{Finding, Rule, Tree};

pub(super) const RULE: Rule = Rule {
    name: "subject_line",
    about: "the first line of every file of Rust, Python and JavaScript states its subject",
    check,
    broken: || Tree::of(&[("crates/quic/src/a.rs", "use units::Time;\n")]),
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        let first = file.text.lines().find(|line| !line.starts_with("#!/")).unwrap_or("");
        let (states, wanted) = if file.is(".rs") {
            (first.strip_prefix("//! ").is_some_and(says_something), "//! ...")
        } else if file.is(".py") {
            let docstring = first.strip_prefix("\"\"\"").or_else(|| first.strip_prefix("r\"\"\""));
            (docstring.is_some_and(says_something), "\"\"\"...")
        } else if file.is(".js") || file.is(".d.ts") {
            (first.strip_prefix("// ").is_some_and(says_something), "// ...")
        } else {
            continue;
        };
        if !states {
            findings.push(Finding::new(
                &file.path,
                1,
                format!("the first line must be `{wanted}` with the subject"),
            ));
        }
    }
    findings
}

fn says_something(rest: &str) -> bool {
    rest.chars().filter(|character| character.is_alphabetic()).count() >= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_words_in_the_first_line() {
        for (path, text, count) in [
            ("a.rs", "//! Varints (RFC 9000 16).\n", 0),
            ("a.rs", "//!\n//! Varints.\n", 1),
            ("a.rs", "// Varints.\n", 1),
            ("a.py", "\"\"\"Sweeps.\"\"\"\n", 0),
            ("a.py", "#!/usr/bin/env python3\n\"\"\"Sweeps.\"\"\"\n", 0),
            ("a.py", "import sys\n", 1),
            ("a.py", "", 1),
            ("a.js", "// Sweeps.\n", 0),
            ("a.js", "/** Sweeps. */\n", 1),
            ("a.d.ts", "export type A = number;\n", 1),
            ("a.toml", "x = 1", 0),
        ] {
            assert_eq!(check(&Tree::of(&[(path, text)])).len(), count, "{path} {text}");
        }
    }
}
