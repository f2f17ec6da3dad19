//! Files of presentations: their errors, and CSV.

use std::fmt;
pub(super) use units::table::quoted;
use units::table::{Reader, without_mark};

/// The maximum size of a file in bytes.
pub const MAX_FILE_BYTES: usize = 64 << 20;

/// An error in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextError {
    /// The line, counted from 1; 0 if it concerns the whole file.
    line: usize,
    problem: String,
}

impl TextError {
    pub(super) fn whole(problem: impl Into<String>) -> TextError {
        TextError { line: 0, problem: problem.into() }
    }
    pub(super) fn line(line: usize, problem: impl Into<String>) -> TextError {
        TextError { line, problem: problem.into() }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        f.write_str(&self.problem)
    }
}

/// A text without a byte order mark, which some programs write.
///
/// # Errors
/// If it is larger than [`MAX_FILE_BYTES`].
pub(super) fn checked(text: &str) -> Result<&str, TextError> {
    if text.len() > MAX_FILE_BYTES {
        return Err(TextError::whole(format!("more than {} MiB", MAX_FILE_BYTES >> 20)));
    }
    Ok(without_mark(text))
}

/// Begins to read a CSV file, which must have a line.
///
/// # Errors
/// If the file is too large, or has no line.
pub(super) fn csv(text: &str) -> Result<Reader<'_>, TextError> {
    let reader = Reader::new(checked(text)?);
    if reader.count() == 0 {
        return Err(TextError::whole("no line; expected a line with the names of the columns"));
    }
    Ok(reader)
}

/// The whole number in a cell, as bytes of a segment.
pub(super) fn bytes<'a>(reader: &mut Reader<'a>, cell: &'a str) -> Option<u64> {
    reader.whole(cell).filter(|bytes| (1..=super::MAX_SEGMENT_BYTES).contains(bytes))
}
