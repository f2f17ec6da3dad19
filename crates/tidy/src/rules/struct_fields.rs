//! A struct holds few things, each of which may be a struct.

use crate::code::{self, Token};
use crate::sharing::QUIC;
use crate::{Finding, Rule, Tree};

/// The maximum number of fields: what fits on half a screen with a line of documentation for each second field, and is read at once.
const MAX_FIELDS: usize = 24;

/// Structs with more, and why.
const OTHERS: [(&str, &str, Why); 3] = [
    ("crates/quic/src/stats.rs", "Stats", Why::Record),
    ("crates/tcp/src/stats.rs", "Stats", Why::Record),
    (QUIC.file, QUIC.name, Why::OwnRule),
];

/// Why a struct has more fields. Structs of options, which are `derive(Options)`, need no reason: each field is a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// Its fields are numbers for a table, and nothing belongs together.
    Record,
    /// Another rule limits them: `shared_fields`.
    OwnRule,
}

pub(super) const RULE: Rule = Rule {
    name: "struct_fields",
    about: "a struct has at most 24 fields, except for options and records: what belongs together is a value of its own",
    check,
    broken: || Tree::of(&[("crates/quic/src/a.rs", &declared("A", MAX_FIELDS + 1))]),
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.ending(".rs").filter(|file| file.path.starts_with("crates/") && !file.is_test()) {
        let code = code::without_tests(&file.text);
        for Declared { name, at, fields } in structs(&code::tokens(&code)) {
            let listed = OTHERS.iter().any(|(path, known, _)| *path == file.path && *known == name);
            let needless = listed && fields <= MAX_FIELDS;
            let free = listed || is_options(&code[..at]);
            if needless || fields > MAX_FIELDS && !free {
                let advice = if needless {
                    "take it out of the list of this rule"
                } else {
                    "make values of those that belong together"
                };
                let says = format!("`{name}` has {fields} fields, the limit is {MAX_FIELDS}: {advice}");
                findings.push(Finding::new(&file.path, code::line_of(&code, at), says));
            }
        }
    }
    findings
}

/// A struct with named fields.
struct Declared<'a> {
    name: &'a str,
    at: usize,
    fields: usize,
}

fn structs<'a>(tokens: &[Token<'a>]) -> Vec<Declared<'a>> {
    let starts = (0..tokens.len()).filter(|at| tokens[*at].text == "struct");
    let declared = starts.filter_map(|start| {
        let name = tokens.get(start + 1)?;
        let open = start + tokens[start..].iter().position(|token| matches!(token.text, "{" | ";"))?;
        (tokens[open].text == "{").then(|| Declared {
            name: name.text,
            at: tokens[start].at,
            fields: fields(&tokens[open..]),
        })
    });
    declared.collect()
}

/// The number of fields between these braces.
fn fields(tokens: &[Token<'_>]) -> usize {
    let (mut depth, mut count) = (0usize, 0);
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "{" | "(" | "[" | "<" => depth += 1,
            ">" if tokens[at - 1].text == "-" => {}
            "}" | ")" | "]" | ">" => depth -= 1,
            ":" if depth == 1 => count += 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    count
}

/// Whether the attributes before a struct derive `Options`.
fn is_options(before: &str) -> bool {
    let head = &before[before.rfind(['}', ';']).map_or(0, |end| end + 1)..];
    code::tokens(head).iter().any(|token| token.text == "Options")
}

/// A struct with this many fields.
fn declared(name: &str, fields: usize) -> String {
    let fields: String =
        (0..fields).map(|number| format!("    f{number}: a::B<C<u8>, fn(u8) -> u8>,\n")).collect();
    format!("struct {name}<T> {{\n{fields}}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn more_fields_than_the_limit_are_seen() {
        for (count, more) in [(MAX_FIELDS, 0), (MAX_FIELDS + 1, 1)] {
            assert_eq!(found("crates/quic/src/a.rs", &declared("A", count)), more);
        }
        let options = format!("struct B;\n#[derive(Debug, Options)]\n{}", declared("A", MAX_FIELDS + 1));
        assert_eq!(found("crates/quic/src/a.rs", &options), 0);
        let test = format!("#[cfg(test)]\nmod tests {{ {} }}", declared("A", MAX_FIELDS + 1));
        assert_eq!(found("crates/quic/src/a.rs", &test), 0);
    }

    #[test]
    fn a_struct_leaves_the_list_when_it_is_small() {
        for (path, name, _) in OTHERS {
            for (fields, more) in [(MAX_FIELDS + 1, 0), (MAX_FIELDS, 1)] {
                assert_eq!(found(path, &declared(name, fields)), more, "{name} with {fields}");
            }
        }
    }
}
