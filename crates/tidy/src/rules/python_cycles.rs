//! The imports between the modules of the Python package have no cycles; those for types and in functions count.

use crate::python;
use crate::{Finding, Rule, Tree};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const RULE: Rule = Rule {
    name: "python_cycles",
    about: "no two modules of the Python package need each other, directly or by way of others",
    check,
    broken: || {
        Tree::of(&[
            ("python/quiclab/values/a.py", "\"\"\"A.\"\"\"\nfrom quiclab.values.b import B\n"),
            ("python/quiclab/values/b.py", "\"\"\"A.\"\"\"\ndef f():\n    from quiclab.values import a\n"),
        ])
    },
};

type Edges = BTreeMap<String, BTreeSet<String>>;

fn check(tree: &Tree) -> Vec<Finding> {
    let known = python::modules(tree);
    let mut edges = Edges::new();
    for file in python::files(tree) {
        let Some(module) = python::module_of(&file.path) else { continue };
        // The door names what is on the floors, and one of them reads its table: see `python_floors`.
        if module == "quiclab" {
            continue;
        }
        let imported = python::imports(file, &known).into_iter().flat_map(|import| import.modules);
        let inner = imported.filter(|other| known.contains(other) && *other != module);
        edges.entry(module.clone()).or_default().extend(inner);
    }
    let mut findings = Vec::new();
    let mut told = BTreeSet::new();
    for file in python::files(tree) {
        let Some(module) = python::module_of(&file.path) else { continue };
        if told.contains(&module) {
            continue;
        }
        let circle: Vec<String> = reached(&edges, &module)
            .into_iter()
            .filter(|other| *other == module || reached(&edges, other).contains(&module))
            .collect();
        if circle.contains(&module) {
            findings.push(Finding::new(&file.path, 0, format!("need each other: {}", circle.join(", "))));
            told.extend(circle);
        }
    }
    findings
}

/// The modules that one needs, directly or by way of others.
fn reached(edges: &Edges, from: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(module) = open.pop() {
        for other in edges.get(&module).into_iter().flatten() {
            if found.insert(other.clone()) {
                open.push(other.clone());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_told_once() {
        let tree = Tree::of(&[
            ("python/quiclab/v/a.py", "import quiclab.v.b\n"),
            ("python/quiclab/v/b.py", "if TYPE_CHECKING:\n    from quiclab.v import c\n"),
            ("python/quiclab/v/c.py", "from quiclab.v.a import A\n"),
            ("python/quiclab/v/d.py", "from quiclab.v.a import A\n"),
        ]);
        let found = check(&tree);
        assert_eq!(found.len(), 1);
        assert!(found[0].says.ends_with("quiclab.v.a, quiclab.v.b, quiclab.v.c"), "{found:?}");
    }

    #[test]
    fn names_of_a_module_are_no_modules() {
        let tree = Tree::of(&[
            ("python/quiclab/v/a.py", "from quiclab.v.b import a\n"),
            ("python/quiclab/v/b.py", "import a\n"),
        ]);
        assert_eq!(check(&tree), []);
    }
}
