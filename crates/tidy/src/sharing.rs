//! Counts the fields of a large struct, and the files that share each of them. A struct whose fields are accessed
//! everywhere is a single module spread over many files.

use crate::code::{self, Token};
use crate::tree::{File, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// A struct whose fields are counted.
#[derive(Debug, Clone, Copy)]
pub struct Subject {
    /// The sources of its crate.
    pub sources: &'static str,
    /// The file with its definition.
    pub file: &'static str,
    /// Its name.
    pub name: &'static str,
}

/// The QUIC connection.
pub const QUIC: Subject =
    Subject { sources: "crates/quic/src/", file: "crates/quic/src/connection/mod.rs", name: "Connection" };
/// The TCP connection.
pub const TCP: Subject =
    Subject { sources: "crates/tcp/src/", file: "crates/tcp/src/connection/mod.rs", name: "Connection" };

/// A field and its users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// The files that access it, except for tests.
    pub files: BTreeSet<String>,
}

/// The fields of a struct in the order of its definition, with the files that access them: as `self.field` in an `impl`
/// of the struct, as `connection.field` (the name of the struct in lower case) anywhere in the crate, or through a
/// lending method. A method lends the fields that it accesses if it returns a reference, since that is the field by
/// another name.
pub fn fields(tree: &Tree, subject: &Subject) -> Vec<Field> {
    let sources: Vec<(&File, String)> = tree
        .ending(".rs")
        .filter(|file| file.path.starts_with(subject.sources) && !file.is_test())
        .map(|file| (file, code::without_tests(&file.text)))
        .collect();
    let definition = sources.iter().find(|(file, _)| file.path == subject.file);
    let names = definition.map_or_else(Vec::new, |(_, code)| defined(code, subject.name));
    let known: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let files: Vec<Uses> = sources.iter().map(|(_, code)| Uses::of(code, subject.name)).collect();

    let mut lent: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for method in files.iter().flat_map(|uses| &uses.lending) {
        lent.entry(method.name)
            .or_default()
            .extend(method.fields.iter().filter(|name| known.contains(*name)));
    }
    let mut fields: Vec<Field> =
        names.iter().map(|name| Field { name: name.clone(), files: BTreeSet::new() }).collect();
    for ((file, _), uses) in sources.iter().zip(&files) {
        let borrowed = uses.called.iter().filter_map(|name| lent.get(name)).flatten();
        let touched: BTreeSet<&str> = uses.touched.iter().chain(borrowed).copied().collect();
        for field in fields.iter_mut().filter(|field| touched.contains(field.name.as_str())) {
            field.files.insert(file.path.clone());
        }
    }
    fields
}

/// The names of the fields of a struct.
fn defined(code: &str, name: &str) -> Vec<String> {
    let tokens = code::tokens(code);
    let start = tokens.windows(2).position(|pair| pair[0].text == "struct" && pair[1].text == name);
    let Some(start) = start else { return Vec::new() };
    let mut depth = 0usize;
    let mut names = Vec::new();
    for (index, token) in tokens.iter().enumerate().skip(start) {
        match token.text {
            "{" | "(" | "[" | "<" => depth += 1,
            "}" | ")" | "]" | ">" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if token.text == "}" && depth == 0 {
            break;
        }
        let named = tokens.get(index + 1).is_some_and(|next| next.text == ":");
        if depth == 1 && named && token.is_word() {
            names.push(token.text.to_owned());
        }
    }
    names
}

/// A method that returns a reference, and the fields that it accesses.
struct LendingMethod<'a> {
    name: &'a str,
    fields: BTreeSet<&'a str>,
}

/// The uses of a struct in a file.
#[derive(Default)]
struct Uses<'a> {
    touched: BTreeSet<&'a str>,
    called: BTreeSet<&'a str>,
    lending: Vec<LendingMethod<'a>>,
}

impl<'a> Uses<'a> {
    fn of(code: &'a str, name: &str) -> Uses<'a> {
        let tokens = code::tokens(code);
        let blocks = implementations(code, &tokens, name);
        let variable = name.to_lowercase();
        let mut uses = Uses::default();
        let mut lender: Option<(usize, LendingMethod<'a>)> = None;
        for (index, token) in tokens.iter().enumerate() {
            let inside = blocks.iter().any(|block| block.contains(&token.at));
            if inside
                && token.text == "fn"
                && let Some((end, method)) = lending(code, &tokens[index..])
            {
                lender = Some((end, method));
            }
            if lender.as_ref().is_some_and(|(end, _)| token.at >= *end) {
                uses.lending.extend(lender.take().map(|(_, method)| method));
            }
            let own = inside && token.text == "self" || token.text == variable;
            let (Some(dot), Some(member)) = (tokens.get(index + 1), tokens.get(index + 2)) else { continue };
            if !own || dot.text != "." || !member.is_word() {
                continue;
            }
            if tokens.get(index + 3).is_some_and(|next| next.text == "(") {
                uses.called.insert(member.text);
            } else {
                uses.touched.insert(member.text);
                if let Some((_, method)) = &mut lender {
                    method.fields.insert(member.text);
                }
            }
        }
        uses.lending.extend(lender.map(|(_, method)| method));
        uses
    }
}

/// The `impl` blocks for a type with this name.
fn implementations(code: &str, tokens: &[Token<'_>], name: &str) -> Vec<std::ops::Range<usize>> {
    let starts = tokens.iter().enumerate().filter(|(_, token)| token.text == "impl");
    starts
        .filter_map(|(index, _)| {
            let open = tokens[index..].iter().position(|token| token.text == "{")? + index;
            let mut depth = 0usize;
            // The type comes last, outside of angle brackets.
            let mut of = "";
            for token in &tokens[index + 1..open] {
                match token.text {
                    "<" => depth += 1,
                    ">" => depth = depth.saturating_sub(1),
                    "where" => break,
                    word if depth == 0 && token.is_word() => of = word,
                    _ => {}
                }
            }
            let at = tokens[open].at;
            (of == name).then(|| at..code::end_of_block(code.as_bytes(), at))
        })
        .collect()
}

/// The method at the start of these tokens, if it returns a reference, and its end.
fn lending<'a>(code: &str, tokens: &[Token<'a>]) -> Option<(usize, LendingMethod<'a>)> {
    let open = tokens.iter().position(|token| matches!(token.text, "{" | ";"))?;
    let head = &tokens[..open];
    let answer = head.windows(2).position(|pair| pair[0].text == "-" && pair[1].text == ">")?;
    let lends = tokens[open].text == "{" && head[answer..].iter().any(|token| token.text == "&");
    let end = code::end_of_block(code.as_bytes(), tokens[open].at);
    lends.then(|| (end, LendingMethod { name: tokens[1].text, fields: BTreeSet::new() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBJECT: Subject = Subject { sources: "a/", file: "a/mod.rs", name: "Connection" };

    fn counted(files: &[(&str, &str)]) -> Vec<(String, Vec<String>)> {
        let fields = fields(&Tree::of(files), &SUBJECT);
        fields.into_iter().map(|field| (field.name, field.files.into_iter().collect())).collect()
    }
    fn expected(counts: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
        let list = |files: &[&str]| files.iter().map(|file| (*file).to_owned()).collect();
        counts.iter().map(|(name, files)| ((*name).to_owned(), list(files))).collect()
    }

    #[test]
    fn a_field_is_counted_where_it_is_touched() {
        let definition = "pub struct Connection<T> where T: Fn(u8) -> u8 {\n    a: [u8; 3],\n    pub(super) b: Option<Box<dyn Fn(u8)>>,\n    c: u8,\n}\n";
        let files = [
            ("a/mod.rs", definition),
            (
                "a/one.rs",
                "impl<T> Connection<T> { fn f(&mut self) { self.a[0] = 1; self.b(); } }\nimpl Other { fn f(&self) { self.c } }",
            ),
            (
                "a/two.rs",
                "fn f(connection: &Connection) { connection.b.x(); }\n#[cfg(test)]\nmod tests { fn f() { connection.c } }",
            ),
            ("a/tests/three.rs", "fn f() { connection.c }"),
            ("b/four.rs", "impl Connection { fn f(&self) { self.c } }"),
        ];
        assert_eq!(counted(&files), expected(&[("a", &["a/one.rs"]), ("b", &["a/two.rs"]), ("c", &[])]));
    }

    #[test]
    fn a_method_that_lends_a_field_is_the_field() {
        let files = [
            (
                "a/mod.rs",
                "struct Connection { log: Log, n: u8 }\nimpl Connection {\n fn log(&mut self) -> &mut Log { &mut self.log }\n fn count(&self) -> u8 { self.n }\n}",
            ),
            ("a/one.rs", "impl Connection { fn f(&mut self) { self.log().push(self.count()); } }"),
        ];
        assert_eq!(counted(&files), expected(&[("log", &["a/mod.rs", "a/one.rs"]), ("n", &["a/mod.rs"])]));
    }
}
