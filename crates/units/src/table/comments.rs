//! What comments say about the columns of a file of numbers alone: their names, as numpy and gnuplot write them, or a unit.

use super::cells::{Separator, unquoted};
use super::heading::plain;
use super::unit::{Found, Measure, Words, is_prose};
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

    /// A unit that it states, or a name with one, which contradicts these names of columns; or a word for a unit that no
    /// column has, which would be passed over.
    pub(super) fn contradicts(self, known: &[&str], unnamed: &[&str]) -> Option<String> {
        let signs = |sign: char| sign.is_whitespace() || ",;|<>()[]{}:=\"".contains(sign);
        let is_other_name = |word: &&str| {
            let name = plain(unquoted(word));
            name.contains('_')
                && known.contains(&name.as_str())
                && unnamed.iter().all(|known| plain(known) != name)
        };
        if let Some(name) = self.text.split(signs).find(is_other_name) {
            return Some(quoted(name));
        }
        let assumed: Vec<String> = unnamed
            .iter()
            .filter_map(|name| Some(Words::of(name).last_unit(0)?.unit.usual))
            .chain(unnamed.contains(&super::SHARE).then(|| "ratio".to_owned()))
            .collect();
        if assumed.is_empty() {
            return None;
        }
        let words = Words::of(self.text);
        if unnamed.contains(&super::SHARE)
            && let Some(range) = hundred(&words)
        {
            return Some(quoted(range));
        }
        // A bare column of shares beside named ones: prose about shares of something else is none of its unit.
        let is_share = *unnamed == [super::SHARE];
        let is_of_loss = || words.list.iter().any(|word| LOSSES.contains(&word.small().as_str()));
        let is_other = |found: &&Found<'_>| {
            let is_marked = match is_share {
                true => {
                    let is_after_colon = words.sign_before(found.at) == Some(':');
                    let is_stated = is_of_loss() || (is_marked(&words, found) && !is_after_colon);
                    found.unit.measure == Measure::Share && is_stated
                }
                false => !is_prose(found) || is_marked(&words, found),
            };
            let is_assumed = assumed.contains(&found.unit.usual);
            let is_one = || is_assumed && words.list[found.at - 1].text == "1";
            match words.is_counted(found) {
                true => (is_scale(&words) && !is_one()) || is_step(&words, found),
                false => is_marked && (!is_assumed || words.is_times(found)),
            }
        };
        words.units().iter().find(is_other).map(|found| quoted(found.text))
    }

    /// A unit of sizes that it states, unless that is bytes, or belongs to a quantity (12 kB).
    pub(super) fn size_unit(self) -> Option<&'a str> {
        let words = Words::of(self.text);
        let is_unit = |found: &Found<'_>| {
            let measured = matches!(found.unit.measure, Measure::Size | Measure::Rate | Measure::Other);
            let is_stated = !is_prose(found) || is_marked(&words, found);
            measured && found.unit.usual != "B" && is_stated && (!words.is_counted(found) || is_scale(&words))
        };
        words.units().into_iter().find(is_unit).map(|found| found.text)
    }
}

/// Words of losses.
const LOSSES: [&str; 5] = ["loss", "losses", "lost", "verlust", "plr"];

/// Words for what columns have.
const QUANTITIES: [&str; 22] = [
    "time",
    "times",
    "t",
    "ts",
    "timestamp",
    "timestamps",
    "rate",
    "rates",
    "r",
    "bw",
    "bandwidth",
    "throughput",
    "bitrate",
    "delay",
    "delays",
    "jitter",
    "loss",
    "value",
    "values",
    "size",
    "sizes",
    "and",
];

/// Whether a unit stands where units do: alone, in brackets, behind a sign, or behind a word like "in".
fn is_marked(words: &Words<'_>, found: &Found<'_>) -> bool {
    let before = found.at.checked_sub(1).map(|at| words.list[at].small()).unwrap_or_default();
    let is_quantity = |word: &str| QUANTITIES.contains(&word);
    words.sign_before(found.at).is_some_and(|sign| "([{<,/:=_|;-.".contains(sign))
        || ["in", "unit", "units", "are", "is", "as"].contains(&before.as_str())
        || is_quantity(&before)
        || {
            let units = words.units();
            let is_of_unit = |at: usize| units.iter().any(|unit| (unit.at..unit.end).contains(&at));
            (0..words.list.len()).all(|at| is_of_unit(at) || is_quantity(&words.list[at].small()))
        }
}

/// Whether a comment is about what one step of a number is: "unit: 100 ms".
fn is_scale(words: &Words<'_>) -> bool {
    const SCALES: [&str; 10] =
        ["unit", "units", "tick", "ticks", "resolution", "step", "steps", "scale", "dt", "granularity"];
    words.list.iter().any(|word| SCALES.contains(&word.small().as_str()))
}

/// Whether a number before a unit belongs to it, and not to a quantity: `t(0.1 s)`, `time/10 ms`, `1/10 s`.
fn is_step(words: &Words<'_>, found: &Found<'_>) -> bool {
    let numbers = words.list[..found.at].iter().rev().take_while(|word| word.is_number()).count();
    let first = found.at - numbers;
    let is_fraction =
        numbers > 1 && words.text[words.list[first].from..words.list[found.at].from].contains('/');
    let is_of_column = words.sign_before(first).is_some_and(|sign| "([{/".contains(sign))
        && first > 0
        && QUANTITIES.contains(&words.list[first - 1].small().as_str());
    is_fraction || (numbers > 0 && is_of_column)
}

/// A range up to a hundred: "0..100", "0 to 100".
fn hundred<'a>(words: &Words<'a>) -> Option<&'a str> {
    let is = |at: usize, text: &str| words.list.get(at).is_some_and(|word| word.text == text);
    let end = |at: usize| if is(at + 1, "to") { at + 2 } else { at + 1 };
    let at = (0..words.list.len()).find(|at| is(*at, "0") && is(end(*at), "100"))?;
    Some(words.between(at, end(at) + 1))
}
