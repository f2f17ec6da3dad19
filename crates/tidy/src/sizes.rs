//! The longest files and functions: information for the reader, never a failure.

use crate::code;
use crate::tree::{File, Tree};

/// The length of a file or a function in lines, without tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Length {
    /// The number of lines.
    pub lines: usize,
    /// The location: a path; for a function also line and name.
    pub place: String,
}

/// The `count` longest source files.
pub fn longest_files(tree: &Tree, count: usize) -> Vec<Length> {
    let rust = sources(tree, ".rs").map(|file| Length {
        lines: code::without_tests(&file.text).trim_end().lines().count(),
        place: file.path.clone(),
    });
    let python = sources(tree, ".py")
        .map(|file| Length { lines: file.text.lines().count(), place: file.path.clone() });
    longest(rust.chain(python).collect(), count)
}

/// The `count` longest functions.
pub fn longest_functions(tree: &Tree, count: usize) -> Vec<Length> {
    let rust = sources(tree, ".rs").flat_map(rust_functions);
    let python = sources(tree, ".py").flat_map(python_functions);
    longest(rust.chain(python).collect(), count)
}

fn sources<'a>(tree: &'a Tree, ending: &'a str) -> impl Iterator<Item = &'a File> {
    tree.ending(ending).filter(|file| !file.is_test())
}

fn longest(mut all: Vec<Length>, count: usize) -> Vec<Length> {
    all.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.place.cmp(&b.place)));
    all.truncate(count);
    all
}

/// The functions with a body, from `fn` to the closing brace.
fn rust_functions(file: &File) -> Vec<Length> {
    let code = code::without_tests(&file.text);
    let tokens = code::tokens(&code);
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let Some(name) = tokens.get(index + 1).filter(|next| token.text == "fn" && next.is_word()) else {
            continue;
        };
        let mut brackets = 0i32;
        let body = tokens[index..].iter().find(|token| {
            match token.text {
                "(" | "[" => brackets += 1,
                ")" | "]" => brackets -= 1,
                _ => {}
            }
            brackets == 0 && matches!(token.text, "{" | ";")
        });
        if let Some(open) = body.filter(|token| token.text == "{") {
            let first = code::line_of(&code, token.at);
            let last = code::line_of(&code, code::end_of_block(code.as_bytes(), open.at) - 1);
            let place = format!("{}:{first} {}", file.path, name.text);
            found.push(Length { lines: last - first + 1, place });
        }
    }
    found
}

/// The functions, from `def` to the last line with deeper indentation.
fn python_functions(file: &File) -> Vec<Length> {
    let lines: Vec<&str> = file.text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let head = line.trim_start();
        let Some(name) = head.strip_prefix("def ").or_else(|| head.strip_prefix("async def ")) else {
            continue;
        };
        let mut length = 1;
        for (offset, next) in lines[index + 1..].iter().enumerate() {
            if next.trim().is_empty() {
                continue;
            }
            // The closing line of a long parameter list has the indentation of `def`.
            if indent(next) <= indent(line) && !next.trim_start().starts_with(')') {
                break;
            }
            length = offset + 2;
        }
        let name = name.split('(').next().unwrap_or(name);
        found.push(Length { lines: length, place: format!("{}:{} {name}", file.path, index + 1) });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_measured_to_their_last_line() {
        let tree = Tree::of(&[
            (
                "a.rs",
                "trait T { fn none(&self); }\nfn long(\n    x: [u8; 3],\n) -> u8 {\n    if true {\n    }\n    1\n}\n",
            ),
            ("b.py", "def short():\n    pass\n\n\ndef longer(\n    x,\n):\n    y\n\n    z\nw = 1\n"),
        ]);
        let places: Vec<(usize, String)> =
            longest_functions(&tree, 9).into_iter().map(|length| (length.lines, length.place)).collect();
        let expected = [(7, "a.rs:2 long"), (6, "b.py:5 longer"), (2, "b.py:1 short")];
        assert_eq!(places, expected.map(|(lines, place)| (lines, place.to_owned())));
    }

    #[test]
    fn files_are_measured_without_tests() {
        let tree = Tree::of(&[("a.rs", "fn a() {}\n#[cfg(test)]\nmod tests {\n}\n"), ("b.py", "x\ny\n")]);
        let lines: Vec<usize> = longest_files(&tree, 9).into_iter().map(|length| length.lines).collect();
        assert_eq!(lines, [2, 1]);
    }
}
