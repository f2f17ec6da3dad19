//! Files of presentations: their errors, and CSV.

use std::fmt;

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

/// A piece of a file in quotes, shortened to fit a line.
pub(super) fn quoted(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    if short.len() < text.len() { format!("{short:?}...") } else { format!("{short:?}") }
}

/// A text without a byte order mark, which some programs write.
///
/// # Errors
/// If it is larger than [`MAX_FILE_BYTES`].
pub(super) fn checked(text: &str) -> Result<&str, TextError> {
    if text.len() > MAX_FILE_BYTES {
        return Err(TextError::whole(format!("more than {} MiB", MAX_FILE_BYTES >> 20)));
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// The number of a line, counted from 1, and its text.
pub(super) type Line<'a> = (usize, &'a str);

/// The lines of a CSV file that are neither empty nor comments, with their numbers: the header, and the others.
///
/// # Errors
/// If the file is too large, or has no line.
pub(super) fn csv(text: &str) -> Result<(Line<'_>, impl Iterator<Item = Line<'_>>), TextError> {
    let mut lines = (1..)
        .zip(checked(text)?.lines().map(str::trim))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let header = lines
        .next()
        .ok_or_else(|| TextError::whole("no line; expected a line with the names of the columns"))?;
    Ok((header, lines))
}

/// The values of a line of a CSV file with so many columns.
pub(super) fn values(line: &str, columns: usize) -> Result<Vec<&str>, String> {
    let values: Vec<&str> = line.split(',').map(str::trim).collect();
    if values.len() != columns {
        return Err(format!("{} values for {columns} columns", values.len()));
    }
    Ok(values)
}

/// A size in bytes, written in digits.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let value = digits.then(|| text.parse().ok()).flatten();
    value.filter(|bytes| (1..=super::MAX_SEGMENT_BYTES).contains(bytes))
}
