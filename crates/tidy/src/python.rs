//! The modules of the Python package: what they import, the functions and the lists in them.
//!
//! This is not a parser: it reads lines, knows texts in triple quotation marks and indentation, and that suffices for the
//! rules, because `ruff format` writes all files.

use crate::{File, Tree};
use std::collections::BTreeSet;

/// The folder of the package.
pub const PACKAGE: &str = "python/quiclab/";

/// An import of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The imported modules by their names with dots. Of `from a import b`, where `b` is no module of the package: `a`.
    pub modules: Vec<String>,
    /// The line, counted from 1.
    pub line: usize,
    /// Whether it is in a function.
    pub is_late: bool,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// The name.
    pub name: String,
    /// The line of its `def`, counted from 1.
    pub line: usize,
    /// The lines of its body, without its docstring.
    pub body: usize,
}

/// The files of the package that are Python.
pub fn files(tree: &Tree) -> impl Iterator<Item = &File> {
    tree.ending(".py").filter(|file| file.path.starts_with(PACKAGE))
}

/// The name of a module of the package: `quiclab.results.run`; `None` for other files.
pub fn module_of(path: &str) -> Option<String> {
    let inner = path.strip_prefix("python/")?.strip_suffix(".py")?;
    Some(inner.strip_suffix("/__init__").unwrap_or(inner).replace('/', "."))
}

/// The names of all modules of the package.
pub fn modules(tree: &Tree) -> BTreeSet<String> {
    files(tree).filter_map(|file| module_of(&file.path)).collect()
}

/// The imports of a file.
pub fn imports(file: &File, known: &BTreeSet<String>) -> Vec<Import> {
    let lines = code(&file.text);
    let mut found = Vec::new();
    let mut functions: Vec<usize> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let head = line.trim_start();
        if head.is_empty() || head.starts_with([')', ']', '}']) {
            continue;
        }
        let indent = line.len() - head.len();
        functions.retain(|def| *def < indent);
        if is_def(head) {
            functions.push(indent);
        }
        let modules = if let Some(rest) = head.strip_prefix("import ") {
            rest.split(',').filter_map(|one| one.split_whitespace().next()).map(String::from).collect()
        } else if let Some((from, names)) =
            head.strip_prefix("from ").and_then(|rest| rest.split_once(" import "))
        {
            let mut names = names.to_owned();
            let mut following = lines[index + 1..].iter();
            while names.contains('(')
                && !names.contains(')')
                && let Some(next) = following.next()
            {
                names.push_str(next);
            }
            of_names(from, &names, known)
        } else {
            continue;
        };
        found.push(Import { modules, line: index + 1, is_late: !functions.is_empty() });
    }
    found
}

/// The modules of `from FROM import NAMES`.
fn of_names(from: &str, names: &str, known: &BTreeSet<String>) -> Vec<String> {
    let names = names.split('#').next().unwrap_or("").split(')').next().unwrap_or("");
    let names = names.trim_start_matches('(').split(',');
    let words = names.filter_map(|one| one.split_whitespace().next());
    let mut found: Vec<String> = words
        .map(|name| {
            let inner = format!("{from}.{name}");
            if known.contains(&inner) || inner == "quiclab._quiclab" { inner } else { from.to_owned() }
        })
        .collect();
    found.dedup();
    found
}

/// The functions of a file.
pub fn functions(file: &File) -> Vec<Function> {
    let lines = code(&file.text);
    let texts: Vec<&str> = file.text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let head = line.trim_start();
        if !is_def(head) {
            continue;
        }
        let name = head.trim_start_matches("async ").trim_start_matches("def ");
        let name = name.split(['(', '[']).next().unwrap_or(name).to_owned();
        // The end of its head, and its last line.
        let is_end = |at: usize| {
            let code = lines[at].split('#').next().unwrap_or("").trim_end();
            code.ends_with(':') && (at == index || code.trim_start().starts_with(')'))
        };
        let Some(end) = (index..lines.len()).find(|at| is_end(*at)) else { continue };
        let inside = |at: &usize| {
            texts[*at].trim().is_empty() || lines[*at].is_empty() || indent(texts[*at]) > indent(line)
        };
        let last =
            (end + 1..lines.len()).take_while(inside).filter(|at| !texts[*at].trim().is_empty()).last();
        let Some(last) = last else { continue };
        let docstring = (end + 1..=last).take_while(|at| lines[*at].trim().is_empty()).count();
        found.push(Function { name, line: index + 1, body: last - end - docstring });
    }
    found
}

/// Whether a line begins a function.
fn is_def(head: &str) -> bool {
    head.starts_with("def ") || head.starts_with("async def ")
}

/// A list of words at the top of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// Its name.
    pub name: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The words.
    pub words: BTreeSet<String>,
}

/// The tuples, lists and sets at the top of a file that contain nothing but words.
pub fn words(file: &File) -> Vec<Words> {
    let lines = code(&file.text);
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some((name, value)) = line.split_once(" = ") else { continue };
        let name = name.split(':').next().unwrap_or(name);
        let is_name = |character: char| character.is_alphanumeric() || character == '_';
        if line.starts_with(' ') || !name.chars().all(is_name) || !value.starts_with(['(', '[', '{']) {
            continue;
        }
        let mut value = value.to_owned();
        for next in &lines[index + 1..] {
            if value.trim_end().ends_with([')', ']', '}']) {
                break;
            }
            value.push_str(next.trim());
        }
        let inner = value.trim_start_matches(['(', '[', '{']).trim_end().trim_end_matches([')', ']', '}']);
        let items: Vec<&str> = inner.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
        let word = |item: &&str| {
            item.len() > 2 && item.starts_with('"') && item.ends_with('"') && item.matches('"').count() == 2
        };
        if !items.is_empty() && items.iter().all(word) {
            let words = items.iter().map(|item| item.trim_matches('"').to_owned()).collect();
            found.push(Words { name: name.to_owned(), line: index + 1, words });
        }
    }
    found
}

/// The lines of a file; those of texts in triple quotation marks are empty, and comments that fill a line too.
fn code(text: &str) -> Vec<&str> {
    let mut is_text = false;
    text.lines()
        .map(|line| {
            let marks = line.matches("\"\"\"").count();
            let was_text = is_text;
            is_text ^= marks % 2 == 1;
            let begins = line.trim_start().trim_start_matches('r').starts_with("\"\"\"");
            if was_text || begins || line.trim_start().starts_with('#') { "" } else { line }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\"\"\"A.\n\nimport nothing\n\"\"\"\nimport os, re as r\nfrom quiclab.values import (\n    folders,\n    \
        units as u,\n)\nfrom quiclab.results.run import Run\n\nWORDS = (\"a\", \"b\")\n\n\ndef f(\n    a,\n) -> int:\n    \
        \"\"\"F.\n\n    More.\n    \"\"\"\n    import numpy as np\n\n    return a\n\n\nx = 1\n";

    #[test]
    fn imports_are_known_with_their_place() {
        let known =
            ["quiclab.values.folders", "quiclab.values.units", "quiclab.results.run"].map(String::from);
        let found = imports(&File::new("python/quiclab/a.py", TEXT), &known.into());
        let seen: Vec<_> = found.iter().map(|one| (one.modules.join(" "), one.line, one.is_late)).collect();
        let expected = [
            ("os re", 5, false),
            ("quiclab.values.folders quiclab.values.units", 6, false),
            ("quiclab.results.run", 10, false),
            ("numpy", 22, true),
        ];
        assert_eq!(seen, expected.map(|(modules, line, is_late)| (modules.to_owned(), line, is_late)));
    }

    #[test]
    fn the_body_of_a_function_is_counted_without_its_docstring() {
        let found = functions(&File::new("python/quiclab/a.py", TEXT));
        assert_eq!(found, [Function { name: "f".to_owned(), line: 15, body: 3 }]);
    }

    #[test]
    fn lists_of_words_at_the_top_are_found() {
        let found = words(&File::new("python/quiclab/a.py", TEXT));
        assert_eq!(
            (found.len(), found[0].name.as_str(), found[0].line, found[0].words.len()),
            (1, "WORDS", 12, 2)
        );
    }

    #[test]
    fn modules_have_the_names_of_their_files() {
        assert_eq!(module_of("python/quiclab/why/__init__.py").as_deref(), Some("quiclab.why"));
        assert_eq!(module_of("python/quiclab/__init__.py").as_deref(), Some("quiclab"));
        assert_eq!(module_of("tests/a.py"), None);
    }
}
