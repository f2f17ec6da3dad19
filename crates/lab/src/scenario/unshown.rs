//! Errors about files that a scenario names, without what is in these files.
//!
//! A scenario may come from a stranger, and may name any file of its reader. An error about a file says where in it the
//! mistake is and what was expected, and shows nothing of its text.

use super::Scenario;
use units::parameter::{Arguments, Value};
use units::table::is_unit;

/// What stands in place of a text from a file.
const UNSHOWN: &str = "\"...\"";
/// The marks around what an error quotes.
const MARKS: [char; 3] = ['"', '\'', '`'];
/// The words behind which an error says what would be right.
const EXPECTED: [&str; 2] = ["expected ", "like "];

/// The problem without what it quotes from a file of these arguments.
pub(super) fn without_contents(problem: &str, arguments: &Arguments) -> String {
    let mut texts = Vec::new();
    collect(arguments, &mut texts);
    without(problem, &texts)
}

impl Scenario {
    /// The problem without what it quotes from a file of the scenario.
    pub(crate) fn without_contents(&self, problem: &str) -> String {
        let files = self.files();
        without(problem, &files.values().map(|text| &**text).collect::<Vec<_>>())
    }
}

/// The problem with each quoted text that is in one of these replaced, but for units. A text of one letter tells nothing.
fn without(problem: &str, texts: &[&str]) -> String {
    if texts.is_empty() {
        return problem.to_owned();
    }
    let mut shown = String::with_capacity(problem.len());
    let (mut rest, mut is_expectation) = (problem, false);
    while let Some(start) = rest.find(MARKS) {
        let mark = rest[start..].chars().next().unwrap_or_default();
        let inside = &rest[start + 1..];
        let Some(length) = end_of(inside, mark) else { break };
        let quoted = &inside[..length];
        let before = &rest[..start];
        is_expectation = EXPECTED.iter().any(|word| before.ends_with(word))
            || (is_expectation && [", ", " or ", " and ", ", or "].contains(&before));
        if !is_expectation && !is_unit(quoted) && is_in(quoted, texts) {
            shown.push_str(&rest[..start]);
            shown.push_str(UNSHOWN);
        } else {
            shown.push_str(&rest[..start + length + 2]);
        }
        rest = &inside[length + 1..];
    }
    shown + rest
}

fn collect<'a>(arguments: &'a Arguments, texts: &mut Vec<&'a str>) {
    for (_, value) in &arguments.0 {
        match value {
            Value::File(file) => texts.push(&file.text),
            Value::Component(component) => collect(&component.arguments, texts),
            _ => {}
        }
    }
}

/// The length of a quoted text: up to the next mark that is not escaped.
fn end_of(inside: &str, mark: char) -> Option<usize> {
    let mut escaped = false;
    inside.char_indices().find_map(|(at, c)| {
        let ends = c == mark && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })
}

/// Whether a quoted text, which may be cut and have escapes, is in one of these: its letters up to the first of them are.
fn is_in(quoted: &str, texts: &[&str]) -> bool {
    let cut = quoted.trim_end_matches("...").trim_end_matches('\u{2026}');
    let plain = cut.split(['\\', '\u{fffd}']).max_by_key(|part| part.len()).unwrap_or_default();
    plain.chars().count() > 1 && texts.iter().any(|text| text.contains(plain)) || plain.len() < cut.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_what_would_be_right_are_shown_and_nothing_else() {
        let file = "# seconds, kB\nsecret,low,240p\n";
        for (problem, shown) in [
            (r#"the comment has "seconds", found "secret""#, r#"the comment has "seconds", found "...""#),
            (r#""secret"; expected "secret""#, r#""..."; expected "secret""#),
            (
                r#"expected "240p", "low" or "size"; found "low""#,
                r#"expected "240p", "low" or "size"; found "...""#,
            ),
            (
                r#"expected names, like "low (kB)", not "low""#,
                r#"expected names, like "low (kB)", not "...""#,
            ),
        ] {
            assert_eq!(without(problem, &[file]), shown);
        }
    }
}
