//! A fuzzing entry point: any text is either a script or rejected in one line, and a valid script runs to its end.
//! The property tests of this crate and the fuzz target call the same function.

use crate::{Script, Verdict};

/// The maximum length of a script: longer ones are slow and find nothing new.
const LONGEST: usize = 20_000;

/// Reads and runs a script; returns its verdict if it is valid.
///
/// # Panics
/// If an error has more than one line, or a second run has another verdict.
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
