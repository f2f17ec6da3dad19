//! Reports: the script and the actual events side by side.

use std::fmt;
use units::Time;

/// The number of rows shown before the difference.
const BEFORE: usize = 8;
/// The number of rows shown after it.
const BEHIND: usize = 5;
/// The maximum width of the left column in characters.
const WIDEST: usize = 76;

/// One row: a line of the script, and the event in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// `None` if no line of the script corresponds to the event.
    pub(crate) line: Option<usize>,
    pub(crate) expected: String,
    pub(crate) real: String,
}

/// A failed script: the line, the reason, and both traces around it.
///
/// Prints as several lines: place and reason, and a table of expected and actual events in which the first difference
/// is marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The name of the script, as passed by the caller.
    pub origin: String,
    /// The line of the first difference, counted from 1.
    pub line: usize,
    /// The virtual time, relative to the script's origin of times.
    pub at: String,
    /// The difference, in one line.
    pub reason: String,
    pub(crate) before: Vec<Row>,
    pub(crate) difference: Row,
    pub(crate) behind: Vec<Row>,
}

/// A time relative to the script's origin of times.
pub(crate) fn moment(at: Time, origin: Time) -> String {
    let nanos = at.as_nanos() as i128 - origin.as_nanos() as i128;
    let (sign, nanos) = if nanos < 0 { ("-", -nanos) } else { ("", nanos) };
    let (whole, part) = (nanos / 1_000_000, nanos % 1_000_000);
    if part == 0 {
        return format!("@{sign}{whole}ms");
    }
    let part = format!("{part:06}");
    format!("@{sign}{whole}.{}ms", part.trim_end_matches('0'))
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:{}: {}", self.origin, self.line, self.reason)?;
        let skipped = self.before.len().saturating_sub(BEFORE);
        let before = &self.before[skipped..];
        let behind = &self.behind[..self.behind.len().min(BEHIND)];
        let rows = || before.iter().chain([&self.difference]).chain(behind);
        let width = rows().map(|row| row.expected.chars().count()).max().unwrap_or(0).clamp(8, WIDEST);
        writeln!(f, "   line  {:<width$} | actual", "expected")?;
        for (index, row) in rows().enumerate() {
            let mark = if index == before.len() { "!" } else { " " };
            let line = row.line.map_or(String::new(), |line| line.to_string());
            let mut pieces = wrapped(&row.expected, width).into_iter();
            let first = pieces.next().unwrap_or_default();
            writeln!(f, "{mark} {line:>5}  {first:<width$} | {}", row.real)?;
            for piece in pieces {
                writeln!(f, "{mark} {:>5}  {piece:<width$} |", "")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

/// Wraps a text at this number of characters.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(width.max(1)).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_exact() {
        let at = Time::from_nanos;
        assert_eq!(moment(at(25_000_000), at(0)), "@25ms");
        assert_eq!(moment(at(25_000_001), at(0)), "@25.000001ms");
        assert_eq!(moment(at(0), at(1_500_000)), "@-1.5ms");
    }

    #[test]
    fn the_first_difference_is_marked_between_what_was_before_and_behind() {
        let row = |line, expected: &str, real: &str| Row {
            line: Some(line),
            expected: expected.to_owned(),
            real: real.to_owned(),
        };
        let failure = Failure {
            origin: "x.quic".to_owned(),
            line: 3,
            at: "@0ms".to_owned(),
            reason: "no".to_owned(),
            before: (1..=9).map(|line| row(line, "a", "b")).collect(),
            difference: row(10, "+0 > 1rtt PING", "@0ms > 1rtt #1 ACK"),
            behind: vec![row(11, "c", "d")],
        };
        let text = failure.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "x.quic:3: no");
        assert_eq!(lines.len(), 2 + BEFORE + 1 + 1);
        assert_eq!(lines[10], "!    10  +0 > 1rtt PING | @0ms > 1rtt #1 ACK");
        assert_eq!(lines[11], "     11  c              | d");
    }
}
