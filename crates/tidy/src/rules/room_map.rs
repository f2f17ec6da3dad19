//! ARCHITECTURE.md lists every crate.

use crate::{Finding, Rule, Tree};

pub(super) const RULE: Rule = Rule {
    name: "room_map",
    about: "every crate has its line in the room map of ARCHITECTURE.md",
    check,
    broken: || {
        Tree::of(&[("ARCHITECTURE.md", "`wire`"), ("crates/quic/Cargo.toml", "[package]\nname = \"quic\"\n")])
    },
};

fn check(tree: &Tree) -> Vec<Finding> {
    let map = tree.file("ARCHITECTURE.md").map_or("", |file| file.text.as_str());
    tree.files
        .iter()
        .filter_map(|file| Some((file, file.path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?)))
        .filter(|(_, room)| !map.contains(&format!("`{room}`")))
        .map(|(file, room)| Finding::new(&file.path, 0, format!("ARCHITECTURE.md does not name `{room}`")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_crate_is_known() {
        let tree = Tree::of(&[("ARCHITECTURE.md", "the room `quic`"), ("crates/quic/Cargo.toml", "")]);
        assert_eq!(check(&tree), []);
    }
}
