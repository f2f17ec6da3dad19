//! Modules of the Python package import at their top; only what takes long is imported in the function that needs it.
//!
//! What takes long is in the list `HEAVY`. Modules of the package that take long are imported by the commands in a block
//! `with late():`, which puts them off until they are used (`commands/late.py`).

use crate::python::{self, PACKAGE};
use crate::{Finding, Rule, Tree};

/// What takes long to import, is large, or is not everywhere.
const HEAVY: [&str; 15] = [
    "IPython",
    "ctypes",
    "dask",
    "distributed",
    "fcntl",
    "html",
    "matplotlib",
    "numpy",
    "polars",
    "pyarrow",
    "pylatexenc",
    "quiclab.explanations.why",
    "rich",
    "tempfile",
    "typer",
];

/// The program, which imports the commands when it can tell what Ctrl-C means.
const PROGRAM: (&str, &str) = ("cli.py", "quiclab.commands");

pub(super) const RULE: Rule = Rule {
    name: "python_late_imports",
    about: "imports of the Python package stand at the top of a module, but for the libraries in the list of the rule",
    check,
    broken: || Tree::of(&[("python/quiclab/values/a.py", "\"\"\"A.\"\"\"\ndef f():\n    import shutil\n")]),
};

fn check(tree: &Tree) -> Vec<Finding> {
    let known = python::modules(tree);
    let mut findings = Vec::new();
    for file in python::files(tree) {
        let inner = &file.path[PACKAGE.len()..];
        for import in python::imports(file, &known).into_iter().filter(|import| import.is_late) {
            for module in import.modules {
                let is_in = |name: &str| module == name || module.starts_with(&format!("{name}."));
                if HEAVY.into_iter().any(is_in) || inner == PROGRAM.0 && is_in(PROGRAM.1) {
                    continue;
                }
                let says = format!("imports `{module}` in a function: do it at the top of the module");
                findings.push(Finding::new(&file.path, import.line, says));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, import: &str) -> usize {
        check(&Tree::of(&[(path, &format!("\"\"\"A.\"\"\"\n\n\ndef f():\n    {import}\n"))])).len()
    }

    #[test]
    fn what_takes_long_may_be_late() {
        assert_eq!(count("python/quiclab/values/a.py", "import pyarrow.parquet as pq"), 0);
        assert_eq!(count("python/quiclab/values/a.py", "from matplotlib import pyplot"), 0);
        assert_eq!(count("python/quiclab/values/a.py", "import richer"), 1);
        assert_eq!(count("python/quiclab/values/a.py", "from quiclab.values import units"), 1);
    }

    #[test]
    fn only_the_program_imports_the_commands_late() {
        assert_eq!(count("python/quiclab/cli.py", "from quiclab.commands import app"), 0);
        assert_eq!(count("python/quiclab/cli.py", "from quiclab import load"), 1);
        assert_eq!(count("python/quiclab/commands/run.py", "from quiclab import load"), 1);
    }
}
