//! Every component that a scenario can name is described in `docs/model/`.

use crate::{Finding, Rule, Tree, code};

pub(super) const RULE: Rule = Rule {
    name: "model_pages",
    about: "every row of a table is named, in code type, on a page of docs/model",
    check,
    broken: || {
        Tree::of(&[
            (
                "crates/network/src/loss/random.rs",
                "//! A.\nconst ROW: Row<B> = Row { name: \"random\", build };",
            ),
            ("docs/model/loss.md", "a random loss"),
        ])
    },
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in
        tree.ending(".rs").filter(|file| file.path.contains("/src/") && file.path.starts_with("crates/"))
    {
        for (line, name) in rows(&file.text) {
            let mark = format!("`{name}`");
            let pages = tree.files.iter().filter(|page| page.path.starts_with("docs/model/"));
            if !pages.into_iter().any(|page| page.text.contains(&mark)) {
                let says = format!(
                    "no page of docs/model describes {mark}: scope, equations, validation, references"
                );
                findings.push(Finding::new(&file.path, line, says));
            }
        }
    }
    findings
}

/// The rows with literal names in a file: line and name.
pub(super) fn rows(source: &str) -> Vec<(usize, String)> {
    let text = code::without_tests(source);
    let tokens = code::tokens(&text);
    let mut found = Vec::new();
    for window in tokens.windows(4) {
        if [window[0].text, window[1].text, window[2].text, window[3].text] == ["Row", "{", "name", ":"] {
            // The literal is blank in the code; the source has it at the same position.
            let literal = source[window[3].at + 1..].trim_start();
            if let Some(name) = literal.strip_prefix('"').and_then(|rest| rest.split('"').next()) {
                found.push((code::line_of(source, window[0].at), name.to_owned()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_their_names() {
        let source =
            "const A: Row<B> = Row {\n    name: \"new-reno\",\n    about: \"x\",\n};\nRow { name: row.name }";
        assert_eq!(rows(source), [(1, "new-reno".to_owned())]);
    }

    #[test]
    fn rows_of_tests_do_not_count() {
        assert_eq!(rows("#[cfg(test)]\nmod tests { const A: Row = Row { name: \"x\" }; }"), []);
    }

    #[test]
    fn a_name_in_code_type_is_enough() {
        let tree = Tree::of(&[
            ("crates/a/src/b.rs", "Row { name: \"random\", }"),
            ("docs/model/loss.md", "`random` loses"),
        ]);
        assert_eq!(check(&tree), []);
    }
}
