//! What comments say about the columns of a file of numbers alone: their names, as numpy and gnuplot write them, or a unit.

use super::cells::{Separator, unquoted};
use super::heading::{self, Measure, plain};
use super::{names_of, quoted};

/// A comment, without its signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Comment<'a> {
    pub(super) line: usize,
    pub(super) text: &'a str,
}

/// The comments of a file.
pub(super) fn of(text: &str) -> impl Iterator<Item = Comment<'_>> {
    let end = if text.contains('\n') { '\n' } else { '\r' };
    text.split(end).enumerate().filter_map(|(at, line)| {
        let text = line.trim().strip_prefix('#')?;
        let text = text.trim_matches(|sign: char| sign == '#' || sign.is_whitespace());
        (!text.is_empty()).then_some(Comment { line: at + 1, text })
    })
}

/// A unit in a comment of a file of numbers that contradicts these names of columns: its line, and the unit in quotes.
pub fn unit_in_comment(text: &str, unnamed: &[&str]) -> Option<(usize, String)> {
    of(text).find_map(|comment| Some((comment.line, comment.contradicts(&[], unnamed)?)))
}

impl<'a> Comment<'a> {
    /// What can be the names of `count` columns: the whole comment, the part behind a colon, or the part before a remark in
    /// brackets.
    pub(super) fn namings(self, count: usize) -> Vec<Vec<&'a str>> {
        let behind = self.text.split_once(':').map(|(_, behind)| behind.trim());
        let before = |text: &'a str| {
            text.rsplit_once(" (").filter(|_| text.ends_with(')')).map(|(before, _)| before.trim())
        };
        let texts = [Some(self.text), behind, before(self.text), behind.and_then(before)];
        let namings = texts.into_iter().flatten().map(|text| names_of(text, Separator::of(text)));
        let is_name = |name: &&str| name.is_empty() || name.contains(char::is_alphabetic);
        namings.filter(|names| names.len() == count && names.iter().all(is_name)).collect()
    }

    /// A unit that it states, or a name with one, which contradicts these names of columns.
    pub(super) fn contradicts(self, known: &[&str], unnamed: &[&str]) -> Option<String> {
        let words = self.words();
        let is_other_name = |word: &&str| {
            let name = plain(unquoted(word));
            name.contains('_') && known.contains(&name.as_str()) && !unnamed.contains(&name.as_str())
        };
        let assumed: Vec<_> =
            unnamed.iter().filter_map(|name| heading::unit(name.rsplit('_').next()?)).collect();
        let has_measure = |measure| match measure {
            Measure::Share => unnamed.contains(&super::SHARE),
            _ => assumed.iter().any(|(_, known)| *known == measure),
        };
        let stated: Vec<(usize, String, Measure)> = (0..words.len())
            .filter(|at| !is_counted(&words, *at))
            .filter_map(|at| heading::unit(words[at]).map(|(unit, measure)| (at, unit, measure)))
            .collect();
        // Letters that are words of English as well, or parts of them.
        let is_word = |unit: &str| ["us", "s", "h", "min", "minutes", "hours", "percent"].contains(&unit);
        let is_marked = |at: usize| {
            let before = at.checked_sub(1).map_or(String::new(), |before| words[before].to_lowercase());
            stated.len() > 1
                || words.len() == 1
                || ["in", "unit", "units", "are"].contains(&before.as_str())
                || ["(", "[", "/", ",", ": ", "= ", "="]
                    .iter()
                    .any(|sign| self.text.contains(&format!("{sign}{}", words[at])))
        };
        let is_other_unit = |(at, unit, measure): &&(usize, String, Measure)| {
            has_measure(*measure)
                && assumed.iter().all(|(known, _)| known != unit)
                && (!is_word(unit) || is_marked(*at))
        };
        let unit = stated.iter().find(is_other_unit).map(|(at, ..)| words[*at]);
        words.iter().copied().find(is_other_name).or(unit).map(quoted)
    }

    /// A unit of sizes that it states, unless that is bytes, or belongs to a quantity (12 kB).
    pub(super) fn size_unit(self) -> Option<&'a str> {
        let words = self.words();
        let is_unit = |word: &str| {
            let is_word = word.len() < 2 || word == "bit" || word.to_lowercase().starts_with("byte");
            !is_word && heading::SIZES.contains(&word)
        };
        (0..words.len()).find(|at| is_unit(words[*at]) && !is_counted(&words, *at)).map(|at| words[at])
    }

    fn words(self) -> Vec<&'a str> {
        self.text.split(|sign: char| !is_of_word(sign)).filter(|word| !word.is_empty()).collect()
    }
}

/// Whether a word is the unit of a quantity (20 ms), not of a column.
fn is_counted(words: &[&str], at: usize) -> bool {
    at > 0 && words[at - 1].ends_with(|sign: char| sign.is_ascii_digit())
}

fn is_of_word(sign: char) -> bool {
    sign.is_alphanumeric() || ['_', '/', '%', '‰', '.', '\'', '-'].contains(&sign)
}
