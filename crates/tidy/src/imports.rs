//! The names that a Rust file defines, imports and refers to, read from its tokens.
//!
//! This is not a parser: it recognises `use` trees, paths and the keywords that begin an item, which suffices for the
//! rules.

use crate::code::{self, Token};
use std::collections::{BTreeMap, BTreeSet};

/// The path of a module within its crate: `["stream", "receive"]`; that of the root is empty.
pub type Path = Vec<String>;

/// The names in the module of a file.
#[derive(Debug, Default)]
pub struct Module {
    /// The file.
    pub file: String,
    /// The defined names.
    pub defines: BTreeSet<String>,
    /// The imported or re-exported names, with their paths as written.
    pub names: BTreeMap<String, Path>,
    /// The paths of `use ...::*`.
    pub globs: Vec<Path>,
    /// The references: path as written, and line.
    pub refers: Vec<(Path, usize)>,
    /// The re-exports (`pub use`).
    pub re_exports: Vec<(Path, usize)>,
}

/// Reads the names in the module of a file.
pub fn read(file: &str, source: &str) -> Module {
    let code = code::without_tests(source);
    let tokens = code::tokens(&code);
    let mut module = Module { file: file.to_owned(), ..Module::default() };
    let mut at = 0;
    while at < tokens.len() {
        let line = code::line_of(&code, tokens[at].at);
        at += match tokens[at].text {
            "use" => read_use(&tokens[at..], is_public(&tokens[..at]), line, &mut module),
            "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union" => {
                if let Some(name) = tokens.get(at + 1).filter(|token| token.is_word()) {
                    module.defines.insert(name.text.to_owned());
                }
                1
            }
            "macro_rules" => {
                if let Some(name) = tokens.get(at + 2) {
                    module.defines.insert(name.text.to_owned());
                }
                3
            }
            _ => read_path(&tokens[at..], at > 0 && is_joint(tokens[at - 1].text), line, &mut module),
        };
    }
    module
}

/// Whether the next token continues a longer expression: `a.b`, `a::b`.
fn is_joint(before: &str) -> bool {
    matches!(before, "." | "::")
}

/// Whether the tokens end with `pub` or `pub(...)`.
fn is_public(before: &[Token<'_>]) -> bool {
    match before.last().map(|token| token.text) {
        Some("pub") => true,
        Some(")") => {
            before.iter().rev().find(|token| token.text == "(" || token.text == "pub").is_some_and(|open| {
                let place = before.iter().rposition(|token| token.at == open.at).unwrap_or(0);
                place > 0 && before[place - 1].text == "pub"
            })
        }
        _ => false,
    }
}

/// Reads a path in an expression or a type. Returns the number of tokens.
fn read_path(tokens: &[Token<'_>], joint: bool, line: usize, module: &mut Module) -> usize {
    let mut path: Path = Vec::new();
    let mut at = 0;
    while tokens.get(at).is_some_and(Token::is_word) {
        path.push(tokens[at].text.to_owned());
        at += 1;
        if tokens.get(at).is_some_and(|token| token.text == "::")
            && tokens.get(at + 1).is_some_and(Token::is_word)
        {
            at += 1;
        } else {
            break;
        }
    }
    if path.len() > 1 && !joint && path[0] != "Self" {
        module.refers.push((path, line));
    }
    at.max(1)
}

/// Reads a `use` item. Returns the number of tokens.
fn read_use(tokens: &[Token<'_>], public: bool, line: usize, module: &mut Module) -> usize {
    let end = tokens.iter().position(|token| token.text == ";").unwrap_or(tokens.len());
    let mut leaves = Vec::new();
    read_tree(&tokens[1..end], &mut 0, &Vec::new(), &mut leaves);
    for (path, alias) in leaves {
        match path.last().map(String::as_str) {
            Some("*") => module.globs.push(path[..path.len() - 1].to_vec()),
            Some(_) => {
                module.names.insert(alias, path.clone());
            }
            None => continue,
        }
        if public {
            module.re_exports.push((path, line));
        } else {
            module.refers.push((path, line));
        }
    }
    end
}

/// Reads the leaves of a use tree: the path, and the local name.
fn read_tree(tokens: &[Token<'_>], at: &mut usize, prefix: &Path, leaves: &mut Vec<(Path, String)>) {
    let mut path = prefix.clone();
    while let Some(token) = tokens.get(*at) {
        match token.text {
            "{" => {
                *at += 1;
                while tokens.get(*at).is_some_and(|token| token.text != "}") {
                    read_tree(tokens, at, &path, leaves);
                    if tokens.get(*at).is_some_and(|token| token.text == ",") {
                        *at += 1;
                    }
                }
                *at += 1;
                return;
            }
            "," | "}" => break,
            "as" => {
                let alias = tokens.get(*at + 1).map_or("_", |token| token.text).to_owned();
                *at += 2;
                leaves.push((path, alias));
                return;
            }
            "::" => {}
            // `use a::{self}` is `use a`.
            "self" if !path.is_empty() => {}
            word => path.push(word.to_owned()),
        }
        *at += 1;
    }
    if let Some(last) = path.last().cloned() {
        leaves.push((path, last));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(found: &[(Path, usize)]) -> Vec<String> {
        found.iter().map(|(path, _)| path.join("::")).collect()
    }

    #[test]
    fn use_trees_are_read_to_their_leaves() {
        let module = read("a.rs", "use crate::{a::{self, B as C}, d::*};\nuse units::Time;");
        assert_eq!(paths(&module.refers), ["crate::a", "crate::a::B", "crate::d::*", "units::Time"]);
        let names: Vec<&str> = module.names.keys().map(String::as_str).collect();
        assert_eq!(names, ["C", "Time", "a"]);
        assert_eq!(module.globs, [["crate", "d"]]);
        assert_eq!(module.refers[3].1, 2);
    }

    #[test]
    fn re_exports_are_those_with_pub() {
        let module = read("a.rs", "pub use a::A;\npub(crate) use b::B;\nfn f(x: u8) {}\nuse c::C;");
        assert_eq!(paths(&module.re_exports), ["a::A", "b::B"]);
        assert_eq!(paths(&module.refers), ["c::C"]);
    }

    #[test]
    fn definitions_and_paths() {
        let module = read(
            "a.rs",
            "const fn f() -> super::X { Self::g(); x.h::<a::B>(); super::y::z() }\nenum E { A }",
        );
        assert!(module.defines.contains("f") && module.defines.contains("E"));
        assert_eq!(paths(&module.refers), ["super::X", "a::B", "super::y::z"]);
    }
}
