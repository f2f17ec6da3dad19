//! The modules of the Python package import only their own floor and those below.
//!
//! The floors, bottom to top, are the rows of the table in ARCHITECTURE.md below the heading `FLOORS`; a floor can consist
//! of several packages. The modules beside them are the door: public names, which may import any floor, and which no floor
//! but the topmost imports.

use crate::python::{self, PACKAGE};
use crate::{Finding, Rule, Tree};

const MAP: &str = "ARCHITECTURE.md";
/// The heading of the table in ARCHITECTURE.md.
const FLOORS: &str = "## The floors of Python";
/// The compiled module, which is below all floors.
const COMPILED: &str = "quiclab._quiclab";
/// Reads the table of the door that says what is attached from above.
const READS_THE_DOOR: &str = "quiclab.results.attached";

pub(super) const RULE: Rule = Rule {
    name: "python_floors",
    about: "a module of the Python package imports only its own floor and those below it in the table of ARCHITECTURE.md",
    check,
    broken: || {
        tree(&[
            ("python/quiclab/values/lines.py", "\"\"\"A.\"\"\"\nfrom quiclab.results import run\n"),
            ("python/quiclab/results/run.py", "\"\"\"A.\"\"\"\n"),
        ])
    },
};

fn check(tree: &Tree) -> Vec<Finding> {
    let floors = floors(tree);
    let known = python::modules(tree);
    let mut findings = Vec::new();
    let floor = |module: &str| {
        let package = module.split('.').nth(1)?;
        floors.iter().position(|floor| floor.iter().any(|name| name == package))
    };
    for file in python::files(tree) {
        let Some(module) = python::module_of(&file.path) else { continue };
        let Some(own) = floor(&module) else {
            if file.path[PACKAGE.len()..].contains('/') {
                let says =
                    format!("its package is on no floor: add it to the table below `{FLOORS}` in {MAP}");
                findings.push(Finding::new(&file.path, 0, says));
            }
            continue;
        };
        for import in python::imports(file, &known) {
            for other in
                import.modules.iter().filter(|other| *other == "quiclab" || other.starts_with("quiclab."))
            {
                if *other == COMPILED
                    || module == READS_THE_DOOR
                    || floor(other).is_some_and(|other| other <= own)
                {
                    continue;
                }
                let is_door = floor(other).is_none();
                if is_door && own + 1 == floors.len() {
                    continue;
                }
                let what =
                    if is_door { "the door, which is above all floors" } else { "a floor above its own" };
                let says = format!("`{module}` imports `{other}`, which is on {what}");
                findings.push(Finding::new(
                    &file.path,
                    import.line,
                    says.replace("on the door", "at the door"),
                ));
            }
        }
    }
    findings
}

/// The packages of each floor, bottom to top.
fn floors(tree: &Tree) -> Vec<Vec<String>> {
    let map = tree.file(MAP).map_or("", |file| file.text.as_str());
    let section = map.split_once(FLOORS).map_or("", |(_, after)| after);
    let section = section.split("\n## ").next().unwrap_or("");
    let rows = section
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split(" |").next().map(|cell| format!("`{cell}")));
    rows.map(|cell| cell.split('`').skip(1).step_by(2).map(String::from).collect()).collect()
}

/// A tree with two floors and these files.
fn tree(files: &[(&str, &str)]) -> Tree {
    let map = format!(
        "{FLOORS}\n\n| floor | contents |\n| --- | --- |\n| `values` | `x` |\n| `results`, `more` | |\n"
    );
    let mut all = vec![(MAP, map.as_str())];
    all.extend(files);
    Tree::of(&all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, import: &str) -> Vec<Finding> {
        let text = format!("\"\"\"A.\"\"\"\n\n{import}\n");
        check(&tree(&[
            (path, &text),
            ("python/quiclab/values/lines.py", "\"\"\"A.\"\"\"\n"),
            ("python/quiclab/results/run.py", "\"\"\"A.\"\"\"\n"),
            ("python/quiclab/run.py", "\"\"\"A.\"\"\"\n"),
        ]))
    }

    #[test]
    fn floors_are_the_rows_of_the_table() {
        assert_eq!(floors(&tree(&[])), [vec!["values"], vec!["results", "more"]]);
    }

    #[test]
    fn downwards_and_on_the_same_floor_is_right() {
        for import in [
            "from quiclab.values import lines",
            "from quiclab.results.run import Run",
            "from quiclab import _quiclab",
        ] {
            assert_eq!(findings("python/quiclab/more/a.py", import), [], "{import}");
        }
        assert_eq!(findings("python/quiclab/plots.py", "from quiclab.results.run import Run"), []);
    }

    #[test]
    fn upwards_is_wrong_wherever_it_stands() {
        for import in [
            "from quiclab.results import run",
            "import quiclab.results.run",
            "def f():\n    from quiclab.results.run import Run",
            "if TYPE_CHECKING:\n    from quiclab.results.run import Run",
            "from quiclab import run",
            "import quiclab",
        ] {
            assert_eq!(findings("python/quiclab/values/a.py", import).len(), 1, "{import}");
        }
    }

    #[test]
    fn a_package_is_on_a_floor() {
        assert_eq!(findings("python/quiclab/others/a.py", "").len(), 1);
    }
}
