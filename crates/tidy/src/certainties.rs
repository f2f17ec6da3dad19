//! How often the code of a crate states what is certain: its asserts, for each hundred functions.
//!
//! What counts has a sentence of at least three words, which says what is certain: `assert!`, `assert_eq!`, `assert_ne!`, their
//! forms with `debug_`, `unreachable!`, and `expect` on what is looked up. A bare `unwrap` or `assert!(a == b)` stops as well, but
//! tells its reader nothing, and does not count. Tests do not count, nor do the modules `fuzz` and `testing`, which are for tests.

use crate::code::{self, Token};
use crate::tree::{File, Tree};

/// The macros that state a certainty.
const MACROS: [&str; 7] =
    ["assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq", "debug_assert_ne", "unreachable"];
/// The number of words from which on a text is a sentence.
const WORDS: usize = 3;

/// The certainties and the functions of a crate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Certainties {
    /// Asserts with a sentence.
    pub stated: usize,
    /// Functions with a body.
    pub functions: usize,
}

impl Certainties {
    /// Those of the crate with this name.
    pub fn of(tree: &Tree, name: &str) -> Certainties {
        let sources = format!("crates/{name}/src/");
        let files = tree.ending(".rs").filter(|file| file.path.starts_with(&sources) && !is_for_tests(file));
        files.map(count).fold(Certainties::default(), |all, of| Certainties {
            stated: all.stated + of.stated,
            functions: all.functions + of.functions,
        })
    }
    /// The asserts for each hundred functions; 0 without functions.
    pub fn per_hundred(&self) -> f64 {
        100.0 * self.stated as f64 / self.functions.max(1) as f64
    }
}

fn is_for_tests(file: &File) -> bool {
    let parts = ["fuzz", "fuzz.rs", "testing", "testing.rs"];
    file.is_test() || file.path.split('/').any(|part| parts.contains(&part))
}

fn count(file: &File) -> Certainties {
    let text = code::without_tests(&file.text);
    let tokens = code::tokens(&text);
    let mut found = Certainties::default();
    for (index, token) in tokens.iter().enumerate() {
        let next = |step: usize| tokens.get(index + step).map_or("", |token| token.text);
        let call = match token.text {
            "fn" => {
                found.functions += usize::from(has_body(&tokens[index..]));
                continue;
            }
            "expect" if index > 0 && tokens[index - 1].text == "." => index + 1,
            name if MACROS.contains(&name) && next(1) == "!" => index + 2,
            _ => continue,
        };
        found.stated += usize::from(has_sentence(&file.text, &text, &tokens[call..]));
    }
    found
}

/// Whether the function whose tokens these are, from `fn` on, has a body.
fn has_body(tokens: &[Token<'_>]) -> bool {
    let mut brackets = 0usize;
    let end = tokens.iter().find(|token| {
        match token.text {
            "(" | "[" => brackets += 1,
            ")" | "]" => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        brackets == 0 && matches!(token.text, "{" | ";")
    });
    // A type such as `fn(u8) -> u8` has no name.
    tokens.get(1).is_some_and(Token::is_word) && end.is_some_and(|token| token.text == "{")
}

/// Whether a literal within the brackets that open at the first of these tokens is a sentence.
fn has_sentence(source: &str, blanked: &str, tokens: &[Token<'_>]) -> bool {
    let Some(open) = tokens.first().filter(|token| token.text == "(") else { return false };
    let mut depth = 0usize;
    let close = tokens.iter().find(|token| {
        match token.text {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let end = close.map_or(source.len(), |token| token.at);
    // Literals are blanked out, so that what is a quotation mark here and a space there begins one.
    let quotes =
        (open.at..end).filter(|at| source.as_bytes()[*at] == b'"' && blanked.as_bytes()[*at] == b' ');
    quotes.into_iter().any(|at| {
        let literal = source[at + 1..end].split('"').next();
        literal.is_some_and(|text| text.split_whitespace().count() >= WORDS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_sentence_counts() {
        for (body, stated) in [
            ("assert!(a < b, \"a window is never empty\");", 1),
            ("debug_assert_eq!(f(a), g(b), \"both count the same bytes, {a}\");", 1),
            ("assert!(\n    a,\n    \"over two\n lines\",\n);", 1),
            ("unreachable!(\"all words were matched above\")", 1),
            ("a.get(b).expect(\"a slot in the list is taken\")", 1),
            ("assert!(a < b);", 0),
            ("a.expect(\"short\");", 0),
            ("a.unwrap();", 0),
            ("fail(\"this is an error of the peer\");", 0),
            ("// assert!(a, \"only in a comment\");", 0),
            ("expect(\"not what is looked up\");", 0),
        ] {
            let text = format!("fn f() {{ {body}\n }}");
            let tree = Tree::of(&[("crates/a/src/b.rs", &text)]);
            assert_eq!(Certainties::of(&tree, "a"), Certainties { stated, functions: 1 }, "{body}");
        }
    }

    #[test]
    fn functions_with_a_body_outside_of_tests_count() {
        let text = "trait T { fn none(&self); fn some(&self) -> u8 { 1 } }\nstruct S { f: fn(u8) -> u8 }\n\
            #[cfg(test)]\nmod tests { fn f() { assert!(a, \"one of a test\"); } }\n";
        let tree = Tree::of(&[
            ("crates/a/src/b.rs", text),
            ("crates/a/src/fuzz/c.rs", "fn f() {}"),
            ("crates/a/src/testing.rs", "fn f() {}"),
            ("crates/a/tests/d.rs", "fn f() {}"),
            ("crates/b/src/e.rs", "fn f() {}"),
        ]);
        assert_eq!(Certainties::of(&tree, "a"), Certainties { stated: 0, functions: 1 });
    }
}
