//! Every citation of an RFC requirement has a row, and covered requirements stay covered.

use crate::requirements::{self, Requirement};
use crate::{Finding, Rule, Tree};
use std::collections::BTreeSet;

pub(super) const RULE: Rule = Rule {
    name: "rfc_citations",
    about: "a requirement is cited by code and by a test unless its row says that it is open, and no citation is of nothing",
    check,
    broken: || {
        Tree::of(&[
            ("crates/quic/rfc/9000.toml", "\"9000-4.1-1\" = { who = \"endpoint\", says = \"x\" }\n"),
            ("crates/quic/src/a.rs", "//! A.\n// RFC 9000-4.1-2: b.\n"),
        ])
    },
};

fn check(tree: &Tree) -> Vec<Finding> {
    let (rows, mut findings) = requirements::rows(tree);
    let known: BTreeSet<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    for citation in requirements::citations(tree) {
        if !known.contains(citation.id.as_str()) {
            let says = format!("`{}` is no row of {}", citation.id, requirements::FOLDER);
            findings.push(Finding::new(&citation.path, citation.line, says));
        }
    }
    for covered in requirements::coverage(tree) {
        let Requirement { id, path, line, because, open_code, open_test, .. } = &covered.requirement;
        let mut report = |says: String| findings.push(Finding::new(path, *line, says));
        for (by, count, open) in [("code", covered.code, *open_code), ("a test", covered.test, *open_test)] {
            match (because.is_some(), count > 0, open) {
                (true, true, _) => report(format!("{id} is cited by {by}, so it has no `because`")),
                (true, false, true) => report(format!("{id} has a `because`, so it is not open")),
                (false, true, true) => report(format!("{id} is cited by {by}: take that out of `open`")),
                (false, false, false) => report(format!("{id} is not cited by {by}")),
                _ => {}
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(row: &str, code: &str, test: &str) -> usize {
        let row = format!("\"9000-4.1-1\" = {{ who = \"endpoint\", says = \"x\"{row} }}\n");
        let tree = Tree::of(&[
            ("crates/quic/rfc/9000.toml", &row),
            ("crates/quic/src/a.rs", code),
            ("crates/quic/tests/b.rs", test),
        ]);
        check(&tree).len()
    }

    #[test]
    fn covered_rows_stay_covered_and_open_rows_are_marked() {
        const CITED: &str = "// RFC 9000-4.1-1: y.\n";
        for (row, code, test, findings) in [
            ("", CITED, CITED, 0),
            ("", "", CITED, 1),
            ("", "", "", 2),
            (", open = \"code, test\"", "", "", 0),
            (", open = \"test\"", CITED, "", 0),
            (", open = \"test\"", CITED, CITED, 1),
            (", because = \"z\"", "", "", 0),
            (", because = \"z\"", CITED, "", 1),
            (", because = \"z\", open = \"code\"", "", "", 1),
            ("", CITED, "// RFC 9000-4.1-1, 9000-4.1-3: y.\n", 1),
        ] {
            assert_eq!(count(row, code, test), findings, "{row} {code} {test}");
        }
    }
}
