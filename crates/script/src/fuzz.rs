//! An entry point for fuzzing: any text is a script or is refused in one line, and what is accepted runs to its end. The
//! property tests of this crate and the fuzz target call the same function.

use crate::{Script, Verdict};

/// The longest script that is tried: longer ones are slow, and find no more.
const LONGEST: usize = 20_000;

/// Reads a script and runs it; gives what it has shown, if it is one.
///
/// # Panics
/// If an error has more than one line, or the same script does not show the same again.
pub fn script(text: &str) -> Option<Verdict> {
    if text.len() > LONGEST {
        return None;
    }
    let script = Script::parse("fuzz.quic", text).map_err(|error| refused(&error.to_string())).ok()?;
    let verdict = script.run().map_err(|error| refused(&error.to_string())).ok()?;
    assert_eq!(script.run().ok().as_ref(), Some(&verdict));
    Some(verdict)
}

fn refused(said: &str) {
    assert!(!said.is_empty() && !said.chars().any(char::is_control), "{said:?}");
    assert!(said.len() < 4_000, "{said}");
}
