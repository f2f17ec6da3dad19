//! The entry point for fuzzing: any bytes are either a file of known paths or are rejected with a one-line error. The property
//! tests of this crate and the fuzz target call the same function.

/// Reads bytes as the file of a server's known paths. Returns whether it is valid.
///
/// # Panics
/// If what was read is written and reads differently, or an error has more than one line.
pub fn known_paths(bytes: &[u8]) -> bool {
    match crate::known_paths::fuzz(bytes) {
        Ok(_) => true,
        Err(problem) => {
            assert!(!problem.chars().any(char::is_control), "{problem:?}");
            assert!(problem.len() < 1_000, "{problem}");
            false
        }
    }
}
