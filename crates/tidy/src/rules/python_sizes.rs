//! Files and functions of the Python package have limits. The functions of its JavaScript are measured by Biome (`biome.json`).

use crate::python;
use crate::{Finding, Rule, Tree};

/// The maximum length of a file in lines.
const FILE: usize = 500;
/// The maximum length of a function's body in lines, without its docstring; the options of a command stand in its head.
const FUNCTION: usize = 70;

pub(super) const RULE: Rule = Rule {
    name: "python_sizes",
    about: "files of the Python package have at most 500 lines, and functions of Python at most 70 behind their docstring",
    check,
    broken: || Tree::of(&[("python/quiclab/values/a.py", &"x = 1\n".repeat(FILE + 1))]),
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let scripts = tree.ending(".js").filter(|file| file.path.starts_with(python::PACKAGE));
    for file in python::files(tree).chain(scripts) {
        let lines = file.text.lines().count();
        if lines > FILE {
            findings.push(Finding::new(
                &file.path,
                0,
                format!("{lines} lines, the limit is {FILE}: it has two subjects"),
            ));
        }
    }
    for file in python::files(tree) {
        for function in python::functions(file).into_iter().filter(|function| function.body > FUNCTION) {
            let says = format!("`{}` has {} lines, the limit is {FUNCTION}", function.name, function.body);
            findings.push(Finding::new(&file.path, function.line, says));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_themselves_are_allowed() {
        for (lines, count) in [(FUNCTION, 0), (FUNCTION + 1, 1)] {
            let text = format!(
                "def f(\n    a,\n):\n    \"\"\"F.\n\n    More.\n    \"\"\"\n{}",
                "    a()\n".repeat(lines)
            );
            assert_eq!(check(&Tree::of(&[("python/quiclab/a.py", &text)])).len(), count);
        }
        for (lines, count) in [(FILE, 0), (FILE + 1, 1)] {
            for path in ["python/quiclab/a.py", "python/quiclab/a.js"] {
                assert_eq!(check(&Tree::of(&[(path, &"\n".repeat(lines))])).len(), count, "{path}");
            }
        }
    }
}
