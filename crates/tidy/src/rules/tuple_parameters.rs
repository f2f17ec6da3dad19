//! What is handed to a function has a name.

use crate::code::{self, Token};
use crate::{Finding, Rule, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// The crates whose functions take tuples, and the most of them. They become fewer, and none is added.
const LIMITS: [(&str, usize); 4] = [("congestion", 9), ("lab", 10), ("python", 8), ("trace", 11)];

pub(super) const RULE: Rule = Rule {
    name: "tuple_parameters",
    about: "no function takes a tuple: its parts are parameters, or a struct names them",
    check,
    broken: || Tree::of(&[("crates/quic/src/a.rs", "//! A.\nfn f((from, to): (u64, u64)) {}\n")]),
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut found: BTreeMap<&str, Vec<Finding>> = BTreeMap::new();
    let files = tree.ending(".rs").filter(|file| file.path.starts_with("crates/") && !file.is_test());
    let sources: Vec<_> = files.map(|file| (file, code::without_tests(&file.text))).collect();
    let mut names: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (file, code) in &sources {
        names.entry(crate_of(&file.path)).or_default().extend(aliases(&code::tokens(code)));
    }
    for (file, code) in &sources {
        let name = crate_of(&file.path);
        for (function, at) in tuples(&code::tokens(code), &names[name]) {
            let says = format!("`{function}` takes a tuple: make parameters of its parts, or a struct");
            let line = code::line_of(code, at);
            found.entry(name).or_default().push(Finding::new(&file.path, line, says));
        }
    }
    let limit = |name: &str| LIMITS.iter().find(|(known, _)| *known == name).map_or(0, |(_, limit)| *limit);
    found.into_iter().filter(|(name, found)| found.len() > limit(name)).flat_map(|(_, found)| found).collect()
}

fn crate_of(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or_default()
}

/// The names of types that are tuples: `type Ends = (A, B);`.
fn aliases<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    let starts = tokens.iter().enumerate().filter(|(_, token)| token.text == "type");
    let named = starts.filter_map(|(at, _)| {
        let equals = at + tokens[at..].iter().position(|token| matches!(token.text, "=" | ";" | "{"))?;
        (tokens[equals].text == "=" && is_tuple(&tokens[equals + 1..])).then(|| tokens[at + 1].text)
    });
    named.collect()
}

/// Whether a type begins with parentheses around several types.
fn is_tuple(tokens: &[Token<'_>]) -> bool {
    if tokens.first().is_none_or(|token| token.text != "(") {
        return false;
    }
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "(" | "[" | "<" => depth += 1,
            ">" if tokens[at - 1].text == "-" => {}
            ")" | "]" | ">" => depth -= 1,
            "," if depth == 1 => return true,
            _ => {}
        }
        if depth == 0 {
            return false;
        }
    }
    false
}

/// The parameters that are tuples, by value or by reference: the names of their functions, and their places.
fn tuples<'a>(tokens: &[Token<'a>], aliases: &BTreeSet<&str>) -> Vec<(&'a str, usize)> {
    let mut found = Vec::new();
    for at in (0..tokens.len()).filter(|at| tokens[*at].text == "fn") {
        let Some(name) = tokens.get(at + 1).filter(|token| token.is_word()) else { continue };
        for colon in parameters(tokens, at) {
            let marks = tokens[colon + 1..].iter().zip(&tokens[colon..]);
            let marks = marks
                .take_while(|(token, before)| matches!(token.text, "&" | "'" | "mut") || before.text == "'");
            let kind = &tokens[colon + 1 + marks.count()..];
            let alias = kind.first().is_some_and(|first| aliases.contains(first.text));
            if alias || is_tuple(kind) {
                found.push((name.text, tokens[colon].at));
            }
        }
    }
    found
}

/// The places of the colons between the names and the types of a function's parameters.
fn parameters(tokens: &[Token<'_>], function: usize) -> Vec<usize> {
    let (mut round, mut angle, mut inside) = (0usize, 0usize, false);
    let mut colons = Vec::new();
    for (at, token) in tokens.iter().enumerate().skip(function + 2) {
        match token.text {
            "<" => angle += 1,
            ">" if tokens[at - 1].text == "-" => {}
            ">" => angle = angle.saturating_sub(1),
            "(" if angle == 0 && !inside => inside = true,
            "(" | "[" | "{" if inside => round += 1,
            ")" if inside && round == 0 => break,
            ")" | "]" | "}" if inside => round -= 1,
            ":" if inside && round == 0 && angle == 0 => colons.push(at),
            "{" | ";" if !inside => break,
            _ => {}
        }
    }
    colons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_are_seen_by_value_by_reference_and_by_name() {
        for (text, found) in [
            ("fn f(a: (u8, u8)) {}", 1),
            ("fn f<'a>(&mut self, (a, b): &'a mut (A<u8>, &'a B), c: (u8, u8)) {}", 2),
            ("type Ends = (A, B);\nfn f(ends: Ends) {}", 1),
            ("type Ends<T> = (A<T>, B);\nfn f(ends: &Ends<u8>) {}", 1),
            ("fn f(a: (u8), b: (), c: A<(u8, u8)>, d: &[(u8, u8)], e: impl Fn((u8, u8)) -> u8) {}", 0),
            ("fn f(Span { from, to }: Span) -> (u8, u8) { let g = |(a, b): (u8, u8)| a; }", 0),
            ("fn f<F: Fn(u8, (u8, u8)) -> (u8, u8)>(f: F) {}", 0),
            ("#[cfg(test)]\nmod tests { fn f(a: (u8, u8)) {} }", 0),
        ] {
            assert_eq!(check(&Tree::of(&[("crates/quic/src/a.rs", text)])).len(), found, "{text}");
        }
    }

    #[test]
    fn a_limit_is_not_exceeded() {
        let (name, limit) = LIMITS[0];
        let path = format!("crates/{name}/src/a.rs");
        for (more, found) in [(0, 0), (1, limit + 1)] {
            let text = "fn f(a: (u8, u8)) {}\n".repeat(limit + more);
            assert_eq!(check(&Tree::of(&[(&path, &text)])).len(), found);
        }
    }
}
