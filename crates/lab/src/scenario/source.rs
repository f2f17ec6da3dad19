//! The place of a value: in the document, in a `--set`, or in a table of defaults.

use super::error::ScenarioError;
use std::path::Path;

/// The maximum number of characters of a value in an error.
const SHOWN: usize = 60;
/// The maximum number of characters of a path in an error.
const SHOWN_PATH: usize = 300;

/// The place of a value. Places in one text are in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// At this byte of the document.
    Document(usize),
    /// In the change with this number.
    Set(usize),
    /// In the table of a component: a default.
    Default,
}

/// The texts that make up a scenario.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    /// The name of the document: its path.
    pub(super) origin: &'a Path,
    /// The document.
    pub(super) text: &'a str,
    /// The changes to it.
    pub(super) sets: &'a [String],
    /// Whether code from outside that it names is loaded. That of results is not: who only looks at them runs nothing.
    pub(super) loads_code: bool,
}

impl Source<'_> {
    /// An error at a place.
    pub(super) fn error(&self, place: Place, key: &str, problem: impl Into<String>) -> ScenarioError {
        ScenarioError {
            place: self.show(place),
            key: cut(&one_line(key), SHOWN_PATH),
            problem: problem.into(),
        }
    }

    fn show(&self, place: Place) -> String {
        match place {
            Place::Document(at) => {
                let (line, column) = line_and_column(self.text, at);
                format!("{}:{line}:{column}", one_line(&self.origin.to_string_lossy()))
            }
            Place::Set(number) => {
                let set = self.sets.get(number).expect("a place in a change is one of these changes");
                format!("--set {}", shortened(&one_line(set)))
            }
            Place::Default => "default".to_owned(),
        }
    }
}

/// Line and column of a byte, both from one; columns are characters.
fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    // Bytes that continue a UTF-8 character do not count.
    let column = before[start..].iter().filter(|byte| **byte & 0xc0 != 0x80).count() + 1;
    (line, column)
}

/// The text with control characters escaped, so that it stays on one line.
pub(super) fn one_line(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_debug().collect() } else { vec![c] }).collect()
}

/// A text in quotation marks, shortened if it is long.
pub(super) fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text))
}

fn shortened(text: &str) -> String {
    cut(text, SHOWN)
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Words as a sentence lists them: `a, b, c`.
pub(super) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().collect::<Vec<_>>().join(", ")
}

/// Words as alternatives: `one of a, b, c`.
pub(super) fn one_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<&str> = words.into_iter().collect();
    if words.len() > 1 { format!("one of {}", words.join(", ")) } else { words.concat() }
}

/// The end of an error: ` (did you mean "newreno"?)`, or nothing.
pub(super) fn suggestion(near: Option<&str>) -> String {
    near.map(|word| format!(" (did you mean {word:?}?)")).unwrap_or_default()
}

/// A key in a path, in quotation marks unless it is a bare word.
pub(super) fn key(key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if bare { key.to_owned() } else { quoted(key) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_lines_and_columns_of_characters() {
        let text = "a\näö=1\r\nb";
        for (at, place) in [(0, (1, 1)), (1, (1, 2)), (2, (2, 1)), (6, (2, 3)), (10, (3, 1)), (99, (3, 2))] {
            assert_eq!(line_and_column(text, at), place, "{at}");
        }
    }

    #[test]
    fn quoted_text_stays_on_one_line() {
        assert_eq!(one_line("a\nb\u{7}"), "a\\nb\\u{7}");
        assert_eq!(quoted("a\n\"b"), r#""a\n\"b""#);
        assert_eq!(quoted(&"ä".repeat(100)).chars().count(), SHOWN + 5);
    }
}
