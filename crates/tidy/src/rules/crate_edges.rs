//! Crates only import crates below them.
//!
//! The order is that of the path dependencies in the root `Cargo.toml`, bottom to top. A crate that is not in the list
//! is on top: it may import any crate, and none may import it.
//!
//! The feature `fuzz` of a crate is for tests: no import of a product switches it on, and a crate imports itself only to have
//! it in its own tests.

use crate::{Finding, Rule, Tree};

/// Crates that do not import each other: only `lab` connects an endpoint to a network.
const INDEPENDENT: [&str; 4] = ["quic", "tcp", "foreign", "network"];

/// Crates that only see connections through `transport`. Their tests may use a stack.
const ABOVE_TRANSPORT: [&str; 3] = ["web", "pages", "traffic"];
/// The stacks hidden from them.
const STACKS: [&str; 3] = ["quic", "tcp", "foreign"];

pub(super) const RULE: Rule = Rule {
    name: "crate_edges",
    about: "a crate imports only crates above its own line in the list of the root Cargo.toml",
    check,
    broken: || {
        Tree::of(&[
            (
                "Cargo.toml",
                "[workspace.dependencies]\nunits = { path = \"crates/units\" }\nwire = { path = \"crates/wire\" }\n",
            ),
            (
                "crates/units/Cargo.toml",
                "[package]\nname = \"units\"\n\n[dependencies]\nwire.workspace = true\n",
            ),
        ])
    },
};

fn check(tree: &Tree) -> Vec<Finding> {
    let order = order(tree);
    let place = |name: &str| order.iter().position(|other| other == name);
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| file.is("/Cargo.toml")) {
        let Some(crate_name) = package_name(&file.text) else { continue };
        let Some(own) = place(&crate_name) else { continue };
        for (line, import) in imports(&file.text) {
            let Some(other) = place(&import) else { continue };
            if other == own {
                // Cargo allows that in [dev-dependencies] only.
                continue;
            }
            let strangers =
                INDEPENDENT.contains(&crate_name.as_str()) && INDEPENDENT.contains(&import.as_str());
            if other > own {
                let says = format!(
                    "`{crate_name}` imports `{import}`, which is not below it: {}",
                    order.join(" < ")
                );
                findings.push(Finding::new(&file.path, line, says));
            } else if strangers {
                let says = format!("`{crate_name}` and `{import}` are strangers: they meet in `lab`");
                findings.push(Finding::new(&file.path, line, says));
            }
        }
    }
    for file in tree.files.iter().filter(|file| file.is("/Cargo.toml") && !file.path.starts_with("fuzz/")) {
        for (line, key, value) in entries(&file.text, |section| section == "[dependencies]") {
            if value.contains("\"fuzz\"") {
                let says = format!("switches on the feature `fuzz` of `{key}` outside of tests");
                findings.push(Finding::new(&file.path, line, says));
            }
        }
    }
    for file in tree.files.iter().filter(|file| file.is("/Cargo.toml")) {
        let above = package_name(&file.text).filter(|name| ABOVE_TRANSPORT.contains(&name.as_str()));
        let imports = entries(&file.text, |section| section == "[dependencies]");
        for (line, key, _) in imports.into_iter().filter(|_| above.is_some()) {
            if let Some(stack) = STACKS.into_iter().find(|stack| key.split('.').next() == Some(*stack)) {
                let says = format!("imports the stack `{stack}`: an application sees `transport` alone");
                findings.push(Finding::new(&file.path, line, says));
            }
        }
    }
    for (path, name) in crates(tree) {
        let imported = tree
            .files
            .iter()
            .filter(|file| file.is("/Cargo.toml") && file.path.starts_with("crates/"))
            .any(|file| imports(&file.text).iter().any(|(_, import)| *import == name));
        if imported && place(&name).is_none() {
            findings.push(Finding::new(
                &path,
                0,
                format!("`{name}` is imported, but not in the root's list"),
            ));
        }
    }
    findings
}

/// The crates bottom to top, from the list in the root.
fn order(tree: &Tree) -> Vec<String> {
    let Some(root) = tree.file("Cargo.toml") else { return Vec::new() };
    entries(&root.text, |section| section == "[workspace.dependencies]")
        .into_iter()
        .filter(|(_, _, value)| value.contains("path"))
        .map(|(_, name, _)| name)
        .collect()
}

/// The crates of the workspace: manifest and name.
fn crates(tree: &Tree) -> Vec<(String, String)> {
    tree.files
        .iter()
        .filter(|file| file.is("/Cargo.toml") && file.path.starts_with("crates/"))
        .filter_map(|file| Some((file.path.clone(), package_name(&file.text)?)))
        .collect()
}

fn package_name(manifest: &str) -> Option<String> {
    entries(manifest, |section| section == "[package]")
        .into_iter()
        .find(|(_, key, _)| key == "name")
        .map(|(_, _, value)| value.trim_matches('"').to_owned())
}

/// The imports of a manifest, including those for tests and build scripts: line and name.
fn imports(manifest: &str) -> Vec<(usize, String)> {
    entries(manifest, |section| section.trim_end_matches(']').ends_with("dependencies"))
        .into_iter()
        .map(|(line, key, _)| (line, key.split('.').next().unwrap_or(&key).to_owned()))
        .collect()
}

/// The lines `key = value` of the wanted sections: line, key and value.
fn entries(manifest: &str, wanted: impl Fn(&str) -> bool) -> Vec<(usize, String, String)> {
    let mut section = "";
    let mut found = Vec::new();
    for (index, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('[') {
            section = line;
        } else if let Some((key, value)) = line.split_once('=')
            && wanted(section)
            && !line.starts_with('#')
        {
            found.push((index + 1, key.trim().trim_matches('"').to_owned(), value.trim().to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "[workspace.dependencies]\n# bottom to top\nunits = { path = \"crates/units\" }\n\
        quic = { path = \"crates/quic\" }\nnetwork = { path = \"crates/network\" }\nlab = { path = \"crates/lab\" }\n";

    fn findings(name: &str, sections: &str) -> Vec<Finding> {
        let manifest = format!("[package]\nname = \"{name}\"\n{sections}");
        let path = format!("crates/{name}/Cargo.toml");
        check(&Tree::of(&[("Cargo.toml", ROOT), (&path, &manifest)]))
    }

    #[test]
    fn downwards_is_right_and_upwards_is_wrong() {
        assert_eq!(findings("lab", "[dependencies]\nquic.workspace = true\nserde = \"1\"\n"), []);
        assert_eq!(findings("python", "[dependencies]\nlab = { workspace = true }\n"), []);
        let up = findings("quic", "[dependencies]\nlab.workspace = true\n");
        assert_eq!((up.len(), up[0].line), (1, 4));
    }

    #[test]
    fn imports_of_tests_count() {
        assert_eq!(findings("units", "[dev-dependencies]\nlab = { path = \"../lab\" }\n").len(), 1);
        assert_eq!(findings("units", "[target.'cfg(unix)'.dependencies]\nlab.workspace = true\n").len(), 1);
    }

    #[test]
    fn the_module_fuzz_is_for_tests() {
        let fuzzed = "units = { workspace = true, features = [\"fuzz\"] }\n";
        assert_eq!(findings("quic", &format!("[dev-dependencies]\n{fuzzed}")), []);
        assert_eq!(findings("units", &format!("[dev-dependencies]\n{fuzzed}")), []);
        assert_eq!(findings("quic", &format!("[dependencies]\n{fuzzed}")).len(), 1);
    }

    #[test]
    fn independent_crates_do_not_import_each_other() {
        let met = findings("network", "[dependencies]\nquic.workspace = true\n");
        assert!(met[0].says.contains("strangers"));
    }

    #[test]
    fn applications_import_stacks_only_in_tests() {
        let seen = findings("traffic", "[dependencies]\nquic.workspace = true\n");
        assert!(seen.iter().any(|finding| finding.says.contains("the stack `quic`")), "{seen:?}");
        assert_eq!(findings("traffic", "[dev-dependencies]\nquic.workspace = true\n"), []);
    }

    #[test]
    fn imported_crates_must_be_in_the_list() {
        let tree = Tree::of(&[
            ("Cargo.toml", ROOT),
            ("crates/new/Cargo.toml", "[package]\nname = \"new\"\n"),
            (
                "crates/lab/Cargo.toml",
                "[package]\nname = \"lab\"\n[dependencies]\nnew = { path = \"../new\" }\n",
            ),
        ]);
        assert_eq!(check(&tree)[0].path, "crates/new/Cargo.toml");
    }
}
