//! The imports between the modules of a crate have no cycles.
//!
//! The rule reads `use` trees and paths that begin with `crate`, `super`, `self` or the name of a child, follows
//! re-exports to the module that defines a name, and searches for cycles. A module and its children count as one: a
//! parent may list, re-export and use the definitions of its children, and they may extend it; what one of them needs,
//! all of them need. Modules for tests are ignored.

use crate::imports::{self, Module, Path};
use crate::{Finding, Rule, Tree};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub(super) const RULE: Rule = Rule {
    name: "module_cycles",
    about: "no two modules of a crate need each other, directly or by way of others",
    check,
    broken: || {
        Tree::of(&[
            ("crates/quic/src/lib.rs", "//! A.\nmod loss;\nmod sent;\n"),
            ("crates/quic/src/loss.rs", "//! A.\nuse crate::sent::Sent;\npub struct Loss;\n"),
            ("crates/quic/src/sent.rs", "//! A.\nuse super::loss::Loss;\npub struct Sent;\n"),
        ])
    },
};

/// The maximum number of re-exports that are followed for a name.
const RE_EXPORTS: usize = 8;

type Modules = BTreeMap<Path, Module>;

fn check(tree: &Tree) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, Modules> = BTreeMap::new();
    for file in tree.ending(".rs").filter(|file| !file.is_test()) {
        if let Some((folder, path)) = module_of(&file.path) {
            let module = imports::read(&file.path, &file.text);
            crates.entry(folder).or_default().insert(path, module);
        }
    }
    crates.values().flat_map(cycles).collect()
}

/// The crate's folder and the module's path; `None` for binaries and for files outside of `src/`.
fn module_of(file: &str) -> Option<(&str, Path)> {
    let (folder, inner) = file.split_once("/src/")?;
    let mut path: Path = inner.strip_suffix(".rs")?.split('/').map(String::from).collect();
    match path.last()?.as_str() {
        "main" => return None,
        "lib" if path.len() == 1 => path.clear(),
        "mod" => {
            path.pop();
        }
        _ => {}
    }
    (path.first().map(String::as_str) != Some("bin")).then_some((folder, path))
}

/// The dependencies between modules (including their children), with the location of one reference: (file, line).
type Edges = BTreeMap<Path, BTreeMap<Path, (String, usize)>>;

/// The cycles of a crate, one finding each.
fn cycles(modules: &Modules) -> Vec<Finding> {
    let mut edges = Edges::new();
    for (path, module) in modules {
        for (written, line) in module.refers.iter().chain(&module.re_exports) {
            if let Some(to) = resolve(modules, path, written, RE_EXPORTS)
                && let Some((from, to)) = siblings(path, to)
            {
                edges.entry(from).or_default().entry(to).or_insert((module.file.clone(), *line));
            }
        }
    }
    let mut findings = Vec::new();
    let mut reported = BTreeSet::new();
    for start in edges.keys() {
        if reported.contains(start) {
            continue;
        }
        if let Some(cycle) = shortest_cycle(&edges, start) {
            findings.push(describe(&edges, &cycle));
            reported.extend(cycle);
        }
    }
    findings
}

/// The ancestors of two modules below their common parent; `None` if one contains the other.
fn siblings(one: &Path, other: &Path) -> Option<(Path, Path)> {
    let common = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    (common < one.len() && common < other.len()).then(|| (one[..=common].to_vec(), other[..=common].to_vec()))
}

fn describe(edges: &Edges, cycle: &[&Path]) -> Finding {
    let steps = || cycle.iter().zip(cycle.iter().cycle().skip(1)).map(|(from, to)| (&edges[*from][*to], to));
    let says: Vec<String> =
        steps().map(|((file, line), to)| format!("{file}:{line} needs {}", to.join("::"))).collect();
    let (file, line) = &edges[cycle[0]][cycle[1 % cycle.len()]];
    Finding::new(file, *line, says.join(", "))
}

/// The shortest path from `start` back to it.
fn shortest_cycle<'a>(edges: &'a Edges, start: &'a Path) -> Option<Vec<&'a Path>> {
    let mut came_from: BTreeMap<&Path, &Path> = BTreeMap::new();
    let mut open = VecDeque::from([start]);
    while let Some(at) = open.pop_front() {
        for to in edges.get(at).into_iter().flat_map(|targets| targets.keys()) {
            if to == start {
                let mut cycle = vec![at];
                while let Some(before) = came_from.get(cycle[cycle.len() - 1]) {
                    cycle.push(before);
                }
                cycle.reverse();
                return Some(cycle);
            }
            if !came_from.contains_key(to) {
                came_from.insert(to, at);
                open.push_back(to);
            }
        }
    }
    None
}

/// The module that defines `written`, as seen from the module `at`; `None` if it is not part of this crate.
fn resolve<'a>(modules: &'a Modules, at: &Path, written: &[String], left: usize) -> Option<&'a Path> {
    let mut path = at.clone();
    let mut rest = written;
    let mut rooted = false;
    while let Some(first) = rest.first() {
        match first.as_str() {
            "crate" | "$crate" => path.clear(),
            "self" => {}
            "super" => {
                path.pop()?;
            }
            _ => break,
        }
        rooted = true;
        rest = &rest[1..];
    }
    while let Some(next) = rest.first() {
        let mut child = path.clone();
        child.push(next.clone());
        if !modules.contains_key(&child) {
            break;
        }
        path = child;
        rooted = true;
        rest = &rest[1..];
    }
    let (found, module) = modules.get_key_value(&path)?;
    let Some(name) = rest.first().filter(|name| *name != "*") else { return rooted.then_some(found) };
    if module.defines.contains(name) {
        return rooted.then_some(found);
    }
    if left > 0 {
        if let Some(import) = module.names.get(name).filter(|import| import.as_slice() != written) {
            // A re-exported name of another crate counts as defined by this module.
            return resolve(modules, &path, import, left - 1).or(rooted.then_some(found));
        }
        for glob in &module.globs {
            if let Some(target) = resolve(modules, &path, glob, left - 1)
                && modules[target].defines.contains(name)
            {
                return Some(target);
            }
        }
    }
    rooted.then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings for the files of a crate.
    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(String, &str)> =
            files.iter().map(|(path, text)| (format!("crates/a/src/{path}"), *text)).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        check(&Tree::of(&files)).into_iter().map(|finding| finding.says).collect()
    }

    #[test]
    fn a_chain_is_not_a_cycle() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; pub use a::A;"),
            ("a.rs", "use crate::b::B; pub struct A(B);"),
            ("b.rs", "use super::c::C; pub struct B(C);"),
            ("c.rs", "pub struct C;"),
        ];
        assert_eq!(findings(&files), [""; 0]);
    }

    #[test]
    fn cycles_of_two_and_of_three() {
        let two =
            [("lib.rs", "mod a; mod b;"), ("a.rs", "use crate::b;"), ("b.rs", "fn f() { super::a::g() }")];
        assert_eq!(findings(&two), ["crates/a/src/a.rs:1 needs b, crates/a/src/b.rs:1 needs a"]);
        let three = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::{b::{B, D}, x};"),
            ("b.rs", "pub struct B; pub struct D; use crate::c::C as E;"),
            ("c.rs", "pub struct C; type T = crate::a::A;"),
        ];
        assert_eq!(findings(&three).len(), 1);
    }

    #[test]
    fn a_re_export_leads_to_the_module_that_defines() {
        // `b` imports `A` through the root, which makes it depend on `a` but not on the root.
        let files = [
            ("lib.rs", "mod a; mod b; pub use a::A; pub use b::*;"),
            ("a.rs", "pub struct A;"),
            ("b.rs", "use crate::A; pub struct B(A);"),
        ];
        assert_eq!(findings(&files), [""; 0]);
        let cycle = [
            ("lib.rs", "mod a; mod b; pub use a::A; pub use b::*;"),
            ("a.rs", "use crate::B; pub struct A;"),
            ("b.rs", "use crate::A; pub struct B(A);"),
        ];
        assert_eq!(findings(&cycle).len(), 1);
    }

    #[test]
    fn a_module_and_its_children_are_one() {
        let files = [
            ("lib.rs", "mod a; pub struct Row; pub static ROWS: &[Row] = &[a::ROW];"),
            ("a/mod.rs", "mod b; use crate::Row; pub const ROW: Row = Row; pub trait T {} fn f() { b::g() }"),
            ("a/b.rs", "use super::T; pub fn g() {}"),
        ];
        assert_eq!(findings(&files), [""; 0]);
    }

    #[test]
    fn cousins_are_not() {
        let files = [
            ("lib.rs", "mod a; mod c;"),
            ("a.rs", "mod b;"),
            ("a/b.rs", "use crate::c::C; pub fn g() {}"),
            ("c.rs", "pub struct C; fn f() { crate::a::b::g() }"),
        ];
        assert_eq!(findings(&files), ["crates/a/src/a/b.rs:1 needs c, crates/a/src/c.rs:1 needs a"]);
    }

    #[test]
    fn tests_strings_and_other_crates_do_not_count() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use units::b; use std::a; pub struct A; #[cfg(test)] mod tests { use crate::b::B; }"),
            ("b.rs", "use crate::a::A; // crate::b\nconst S: &str = \"crate::b\"; pub struct B;"),
        ];
        assert_eq!(findings(&files), [""; 0]);
    }
}
