//! The entry point for fuzzing: any text is either a valid file of pages or is rejected with a one-line error. The
//! property tests of this crate and the fuzz target call the same function.

use random::Generator;
use units::Duration;
use units::parameter::{Arguments, File, Value};

/// The number of pages checked per file.
const PAGES: usize = 8;

/// Reads a text as a file of this kind, `har` or `list`. Returns whether it is valid.
///
/// # Panics
/// If the kind is unknown, an error has more than one line, or a page is invalid.
pub fn pages(kind: &str, text: &str) -> bool {
    let arguments = Arguments(vec![
        ("file", Value::File(File { path: "the-file".to_owned(), text: text.into() })),
        ("gaps", Value::Flag(text.len().is_multiple_of(2))),
        ("think", Value::Duration(Duration::from_millis(5))),
        ("reading", Value::Duration(Duration::ZERO)),
    ]);
    let built = crate::build(kind, &arguments, &mut Generator::new(1, "pages"));
    match built.expect("there is such a kind") {
        Ok(mut pages) => {
            for _ in 0..PAGES {
                let page = pages.next();
                assert_eq!(page.check(), Ok(()), "{page:?}");
            }
            true
        }
        Err((option, problem)) => {
            assert_eq!(option, "file");
            assert!(!problem.chars().any(char::is_control), "{problem:?}");
            assert!(problem.len() < 4_000, "{problem}");
            false
        }
    }
}
