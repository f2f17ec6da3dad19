//! Every crate of the workspace has the same lints.

use crate::{Finding, Rule, Tree};

pub(super) const RULE: Rule = Rule {
    name: "lints",
    about: "every crate takes the workspace's lints",
    check,
    broken: || Tree::of(&[("crates/quic/Cargo.toml", "[package]\nname = \"quic\"\n")]),
};

fn check(tree: &Tree) -> Vec<Finding> {
    tree.files
        .iter()
        .filter(|file| file.path.rsplit('/').next() == Some("Cargo.toml"))
        // The root of another workspace cannot inherit from this one.
        .filter(|file| file.text.lines().any(|line| line.trim() == "[package]"))
        .filter(|file| !file.text.lines().any(|line| line.trim().starts_with("[workspace")))
        .filter(|file| !takes_lints(&file.text))
        .map(|file| Finding::new(&file.path, 0, "add `[lints]` with `workspace = true`"))
        .collect()
}

fn takes_lints(manifest: &str) -> bool {
    let mut section = "";
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        } else if section == "[lints]" && line.replace(' ', "") == "workspace=true" {
            return true;
        }
    }
    manifest.lines().any(|line| line.trim().replace(' ', "") == "lints.workspace=true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_either_spelling_and_only_for_members() {
        for (text, count) in [
            ("[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n", 0),
            ("[package]\nname = \"a\"\n[dependencies]\nworkspace = true\n", 1),
            ("lints.workspace = true\n[package]\nname = \"a\"\n", 0),
            ("[workspace]\nmembers = []\n", 0),
            ("[package]\nname = \"fuzz\"\n[workspace]\n", 0),
        ] {
            assert_eq!(check(&Tree::of(&[("crates/a/Cargo.toml", text)])).len(), count, "{text}");
        }
    }
}
