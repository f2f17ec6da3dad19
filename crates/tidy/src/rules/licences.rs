//! Every dependency has a licence permitted by the project.
//!
//! The list is `allow` in `deny.toml`, which `cargo deny check licenses` reads too.

use crate::{Finding, Rule, Tree, tree};

pub(super) const RULE: Rule = Rule {
    name: "licences",
    about: "every dependency is offered under a licence of the list in deny.toml",
    check,
    broken: || {
        Tree::of(&[
            ("deny.toml", "[licenses]\nallow = [\"MIT\"]\n"),
            (
                tree::METADATA,
                r#"{"packages": [{"name": "a", "version": "1.0.0", "license": "GPL-3.0-only"}]}"#,
            ),
        ])
    },
};

fn check(tree: &Tree) -> Vec<Finding> {
    let Some(metadata) = tree.file(tree::METADATA) else { return Vec::new() };
    let allowed = allowed(tree.file("deny.toml").map_or("", |file| file.text.as_str()));
    let Ok(metadata) = serde_json::from_str::<serde_json::Value>(&metadata.text) else {
        return vec![Finding::new(tree::METADATA, 0, "is not JSON")];
    };
    let mut findings = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = format!("{} {}", text(&package["name"]), text(&package["version"]));
        let licence = text(&package["license"]);
        if licence.is_empty() {
            findings.push(Finding::new("Cargo.lock", 0, format!("{name} names no licence")));
        } else if !may_be_used(licence, &allowed) {
            findings.push(Finding::new("Cargo.lock", 0, format!("{name} is under {licence}")));
        }
    }
    findings
}

fn text(value: &serde_json::Value) -> &str {
    value.as_str().unwrap_or("")
}

/// The strings of the list `allow` in the section `[licenses]`.
fn allowed(deny: &str) -> Vec<&str> {
    let section = deny.split("[licenses]").nth(1).unwrap_or("");
    let list = section.split("allow = [").nth(1).and_then(|rest| rest.split(']').next()).unwrap_or("");
    list.lines()
        .map(|line| line.split('#').next().unwrap_or(line))
        .flat_map(|line| line.split('"').skip(1).step_by(2))
        .collect()
}

/// Whether an SPDX expression can be satisfied with the permitted licences: `OR` is a choice, `AND` requires both, and
/// an exception (`WITH`) only extends its licence. Old packages write `/` for `OR`.
fn may_be_used(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let met = choice(&words, &mut at, allowed);
    met && at == words.len()
}

fn choice(words: &[&str], at: &mut usize, allowed: &[&str]) -> bool {
    let mut met = both(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        met |= both(words, at, allowed);
    }
    met
}

fn both(words: &[&str], at: &mut usize, allowed: &[&str]) -> bool {
    let mut met = licence(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        met &= licence(words, at, allowed);
    }
    met
}

fn licence(words: &[&str], at: &mut usize, allowed: &[&str]) -> bool {
    let Some(word) = words.get(*at) else { return false };
    *at += 1;
    if *word == "(" {
        let met = choice(words, at, allowed);
        let closed = words.get(*at) == Some(&")");
        *at += 1;
        return met && closed;
    }
    if words.get(*at) == Some(&"WITH") {
        *at += 2;
    }
    allowed.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_licences() {
        let allowed = ["MIT", "Apache-2.0", "BSD-3-Clause"];
        for (expression, met) in [
            ("MIT", true),
            ("MIT OR GPL-3.0-only", true),
            ("GPL-3.0-only/MIT", true),
            ("MIT AND GPL-3.0-only", false),
            ("(MIT OR GPL-2.0-only) AND BSD-3-Clause", true),
            ("(MIT OR Apache-2.0) AND ISC", false),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("Apache-2.0 WITH LLVM-exception OR ISC", true),
            ("(MIT", false),
            ("MIT )", false),
            ("", false),
        ] {
            assert_eq!(may_be_used(expression, &allowed), met, "{expression}");
        }
    }

    #[test]
    fn the_list_is_read_over_lines_and_comments() {
        let deny =
            "[advisories]\nx = []\n[licenses]\nversion = 2\nallow = [\n  \"MIT\", # \"no\"\n  \"ISC\",\n]\n";
        assert_eq!(allowed(deny), ["MIT", "ISC"]);
    }

    #[test]
    fn a_package_without_licence_is_found() {
        let tree = Tree::of(&[
            ("deny.toml", "[licenses]\nallow = [\"MIT\"]\n"),
            (tree::METADATA, r#"{"packages": [{"name": "a", "version": "1.0.0", "license": null}]}"#),
        ]);
        assert_eq!(check(&tree)[0].says, "a 1.0.0 names no licence");
    }
}
