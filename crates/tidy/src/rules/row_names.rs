//! The properties of a component are in its row: no code identifies rows by name.

use super::model_pages::rows;
use crate::{Finding, Rule, Tree, code};
use std::collections::BTreeSet;

pub(super) const RULE: Rule = Rule {
    name: "row_names",
    about: "no code compares a name with that of a row of a table: what is known of a component stands in its row",
    check,
    broken: || {
        Tree::of(&[
            ("crates/traffic/src/bulk.rs", "//! A.\nconst ROW: Row<B> = Row { name: \"bulk\", build };"),
            (
                "crates/traffic/src/b.rs",
                "//! B.\nfn f(name: &str) -> u8 { match name { \"bulk\" => 1, _ => 0 } }",
            ),
        ])
    },
};

fn check(tree: &Tree) -> Vec<Finding> {
    let sources = || tree.ending(".rs").filter(|file| file.path.contains("/src/") && !file.is_test());
    let mut names: BTreeSet<String> =
        sources().flat_map(|file| rows(&file.text)).map(|(_, name)| name).collect();
    // Where a word is a key of the scenario, too, the key is meant: `seed` of a scenario, not of `resume`.
    sources().filter(|file| file.path.ends_with("/sections.rs")).flat_map(|file| keys(&file.text)).for_each(
        |key| {
            names.remove(key);
        },
    );
    let mut findings = Vec::new();
    for file in sources() {
        for at in compared(&file.text) {
            let name = literal(&file.text, at).unwrap_or_default();
            if names.contains(name) {
                let says = format!(
                    "compares a name with that of the row \"{name}\": put what it decides into the row"
                );
                findings.push(Finding::new(&file.path, code::line_of(&file.text, at), says));
            }
        }
    }
    findings
}

/// The keys of the scenario that a file describes: the fields of its structs of options.
fn keys(source: &str) -> impl Iterator<Item = &str> {
    let structs = source.split("#[derive(").skip(1).filter_map(|rest| {
        let (derived, rest) = rest.split_once(")]")?;
        let fields = rest.split_once('{')?.1.split("\n}").next()?;
        derived.contains("Options").then_some(fields)
    });
    structs.flat_map(str::lines).filter_map(|line| {
        let (before, _) = line.split_once(": ").filter(|_| !line.trim_start().starts_with('/'))?;
        before.split_whitespace().last()
    })
}

/// The positions of literals that are compared with `name`, by an operator or a pattern.
fn compared(source: &str) -> Vec<usize> {
    let text = code::without_tests(source);
    let tokens = code::tokens(&text);
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let next = |step: usize| tokens.get(index + step).map_or("", |token| token.text);
        if token.text == "name" && ["=", "!"].contains(&next(1)) && next(2) == "=" {
            let after = tokens[index + 2].at + 1;
            let gap = source[after..].len() - source[after..].trim_start().len();
            found.push(after + gap);
        }
        if token.text == "match" {
            let head = tokens[index..].iter().take_while(|token| token.text != "{");
            let by_name = head.clone().any(|token| token.text == "name");
            if let (true, Some(open)) = (by_name, tokens.get(index + head.count())) {
                let end = code::end_of_block(text.as_bytes(), open.at);
                found.extend(patterns(source, &text, open.at..end));
            }
        }
    }
    found.retain(|at| literal(source, *at).is_some());
    found
}

/// The positions of literals in a part of the source that are followed by `=>`, `|`, `,` or `if`, as in patterns.
fn patterns(source: &str, blanked: &str, part: std::ops::Range<usize>) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = part.start;
    while at < part.end {
        let is_literal = source.as_bytes()[at] == b'"' && blanked.as_bytes()[at] == b' ';
        let Some(name) = literal(source, at).filter(|_| is_literal) else {
            at += 1;
            continue;
        };
        let end = at + name.len() + 2;
        let after = source[end..].trim_start();
        // A byte literal is the name of a header.
        let bytes = source.as_bytes()[at - 1] == b'b';
        if !bytes && ["=>", "|", ",", "if "].iter().any(|mark| after.starts_with(mark)) {
            found.push(at);
        }
        at = end;
    }
    found
}

/// The text of the literal at this position.
fn literal(source: &str, at: usize) -> Option<&str> {
    source.get(at..)?.strip_prefix('"')?.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(code: &str) -> usize {
        let row = "//! A.\nconst ROW: Row<B> = Row { name: \"bulk\", build };";
        check(&Tree::of(&[("crates/a/src/a.rs", row), ("crates/a/src/b.rs", code)])).len()
    }

    #[test]
    fn comparisons_and_patterns_are_found() {
        for (code, count) in [
            ("fn f() { if row.name == \"bulk\" {} }", 1),
            ("fn f() { if part.name != \"bulk\" {} }", 1),
            ("fn f() { match (a.name, b) { (\"bulk\", _) => {} } }", 1),
            ("fn f() { match name { \"none\" | \"bulk\" => 1, _ => { g() } } }", 1),
            ("fn f() { match name { b\"bulk\" => 1, _ => 2 } }", 0),
            ("fn f() { match name { \"other\" => \"bulk\".len(), _ => 2 } }", 0),
            ("fn f() { match over { \"bulk\" => 1, _ => 2 } }", 0),
            ("fn f() { if row.name == bulk {} }", 0),
            ("#[cfg(test)]\nmod tests { fn f() { if row.name == \"bulk\" {} } }", 0),
        ] {
            assert_eq!(found(code), count, "{code}");
        }
    }

    #[test]
    fn the_key_of_a_scenario_is_no_row() {
        let row = "//! A.\nconst ROW: Row<B> = Row { name: \"bulk\", build };";
        let key = "//! A.\n#[derive(Debug, Options)]\nstruct Top {\n    /// A.\n    pub(super) bulk: u64,\n}";
        let code = "fn f() { if row.name == \"bulk\" {} }";
        let tree =
            [("crates/a/src/a.rs", row), ("crates/a/src/sections.rs", key), ("crates/a/src/b.rs", code)];
        assert_eq!(check(&Tree::of(&tree)).len(), 0);
    }
}
