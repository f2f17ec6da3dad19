//! What comments say about the columns of a file of numbers alone: their names, as numpy and gnuplot write them, or a unit.

use super::cells::{Separator, unquoted};
use super::heading::common;
use super::unit::{Found, Measure, Unit, Word, Words, is_prose};
use super::{names_of, quoted};
use crate::Duration;

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

/// As [`unit_in_comment`], for a column of times that stand for packets, whose sizes a comment may state.
pub fn unit_of_times_in_comment(text: &str, unnamed: &[&str]) -> Option<(usize, String)> {
    let is_of_size = |comment: &Comment<'_>| {
        let words = Words::of(comment.text);
        let is_size =
            |found: &Found<'_>| found.unit.measure == Measure::Size || COUNTED.contains(&found.text);
        words.units().iter().all(is_size) && comment.factor().is_none()
    };
    of(text)
        .filter(|comment| !is_of_size(comment))
        .find_map(|comment| Some((comment.line, comment.contradicts(&[], unnamed)?)))
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
            let name = common(unquoted(word));
            name.contains('_')
                && known.contains(&name.as_str())
                && unnamed.iter().all(|known| common(known) != name)
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
        // A bare column of shares beside named ones: a comment about shares of something else says nothing of it.
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

impl Comment<'_> {
    /// A unit, a name or a factor that it states, which contradicts the names of the columns; `known` are the names that are
    /// read, and `has_levels` whether some are read in dB.
    pub(super) fn denies(self, known: &[&str], names: &[&str], has_levels: bool) -> Option<String> {
        let is_known = |name: &str| known.contains(&name);
        let commons: Vec<String> = names.iter().map(|name| common(name)).collect();
        let signs = |sign: char| sign.is_whitespace() || ",;|<>()[]{}:=\"".contains(sign);
        let is_other_name = |word: &&str| {
            let name = common(word);
            name.contains('_') && is_known(&name) && !commons.contains(&name)
        };
        if let Some(name) = self.text.split(signs).find(is_other_name) {
            return Some(quoted(name));
        }
        let unit_of = |name: &str| Some(Words::of(name).last_unit(1)?.unit);
        let mut stated: Vec<Unit> = names.iter().filter_map(|name| unit_of(name)).collect();
        let is_used = |name: &&String| is_known(name) || name.split('_').next().is_some_and(is_known);
        let used = commons.iter().filter(is_used).filter_map(|name| unit_of(name));
        let mut measures: Vec<Measure> = used.map(|unit| unit.measure).collect();
        if known.is_empty() {
            measures
                .extend(stated.iter().map(|unit| unit.measure).filter(|measure| *measure == Measure::Size));
        }
        if has_levels {
            stated.push(Unit { measure: Measure::Level, usual: "db".to_owned() });
            measures.push(Measure::Level);
        }
        if measures.is_empty() {
            return None;
        }
        if let Some(factor) = self.factor() {
            return Some(quoted(factor));
        }
        let words = Words::of(self.text);
        let is_other = |found: &&Found<'_>| {
            let is_stated = stated.iter().any(|unit| unit.usual == found.unit.usual);
            let is_known = measures.contains(&found.unit.measure);
            is_known
                && match words.is_counted(found) {
                    true => self.is_fraction_of(&words, found),
                    false => !is_stated && (!is_prose(found) || is_marked(&words, found)),
                }
        };
        words.units().iter().find(is_other).map(|found| quoted(found.text))
    }

    /// Whether a unit is that of a column, times a number: "in 0.1 dB", "in 1e-3 s".
    fn is_fraction_of(self, words: &Words<'_>, found: &Found<'_>) -> bool {
        let of_number = |word: &&Word<'_>| word.is_number() || word.small() == "e";
        let numbers = words.list[..found.at].iter().rev().take_while(of_number).count();
        let first = found.at - numbers;
        let is_fraction = numbers > 0 && words.between(first, found.at).contains(['.', 'e', '/', '^']);
        is_fraction && first.checked_sub(1).is_some_and(|before| words.list[before].small() == "in")
    }

    /// What says that values are other than they seem: multiplied by something, or times a power of ten.
    fn factor(&self) -> Option<&str> {
        const FACTORS: [&str; 5] = ["multiplied", "scaled", "divided", "factor", "multiplier"];
        let words = Words::of(self.text);
        if let Some(word) = words.list.iter().find(|word| FACTORS.contains(&word.small().as_str())) {
            return Some(&self.text[word.from..word.end()]);
        }
        let is_power = |text: &str| {
            let text = text.trim_start().to_lowercase();
            let number =
                text.split(|sign: char| !(sign.is_ascii_digit() || sign == 'e')).next().unwrap_or("");
            number.parse::<f64>().is_ok_and(|number| number >= 10.0 && number.log10().fract() == 0.0)
        };
        let after_sign = |at: usize, sign: char| {
            let before = self.text[..at].chars().next_back();
            before.is_none_or(|sign| !sign.is_alphabetic()) && is_power(&self.text[at + sign.len_utf8()..])
        };
        let mut signs = self.text.char_indices().filter(|(_, sign)| ['x', 'X', '*', '×', '·'].contains(sign));
        signs.find(|(at, sign)| after_sign(*at, *sign)).map(|(at, _)| &self.text[at..])
    }

    /// What it says of columns without names that is not what is assumed of them: quantities and units in another order, values
    /// times a factor, or something in letters that are not Latin, which may be a unit.
    pub(super) fn strange(self, unnamed: &[&str]) -> Option<String> {
        let is_foreign =
            |sign: char| sign.is_alphabetic() && !('\0'..'\u{2b0}').contains(&sign) && !"μµΔ".contains(sign);
        if self.text.contains(is_foreign) {
            return Some(quoted(self.text));
        }
        if let Some(factor) = self.factor() {
            return Some(quoted(factor));
        }
        let words = Words::of(self.text);
        let units = words.units();
        if let Some(found) = units.iter().find(|found| self.is_fraction_of(&words, found)) {
            return Some(quoted(found.text));
        }
        if let Some(count) = words.list.iter().position(|word| COUNTED.contains(&word.small().as_str())) {
            let is_rate = (count + 1..=count + 2).any(|at| {
                words
                    .list
                    .get(at)
                    .is_some_and(|word| ["per", "s", "sec", "second"].contains(&word.small().as_str()))
            });
            let is_number = count > 0 && words.list[count - 1].is_number();
            if is_rate || !is_number {
                return Some(quoted(words.list[count].text));
            }
        }
        // A list of columns, and nothing else, in another order.
        let first = unnamed.first().map(|name| common(name))?;
        let is_time =
            |word: &str| common(&format!("{word}_s")) == "time_s" || ["timestamps", "times"].contains(&word);
        let quantity = |at: usize| {
            if let Some(unit) = units.iter().find(|unit| (unit.at..unit.end).contains(&at)) {
                return Some(unit.unit.measure == Measure::Time);
            }
            let word = words.list[at].small();
            let is_value =
                common(&format!("{word}_bps")) == "rate_bps" || QUANTITIES.contains(&word.as_str());
            (is_time(&word) || is_value).then(|| is_time(&word))
        };
        let others = ["and", "in", "columns", "column"];
        let listed: Option<Vec<bool>> = (0..words.list.len())
            .filter(|at| !others.contains(&words.list[*at].small().as_str()) && !words.list[*at].is_number())
            .map(quantity)
            .collect();
        let listed = listed?;
        let is_turned =
            first.starts_with("time_") && listed.len() > 1 && !listed[0] && listed.contains(&true);
        is_turned.then(|| quoted(self.text))
    }

    /// How long something lasts by it: a time behind one of these words, with two words between at most (`segments of 4 s`), or
    /// before it (`4 s segments`).
    pub(super) fn duration(self, of: &[&str]) -> Option<Duration> {
        let words = Words::of(self.text);
        let is_of = |at: usize| words.list.get(at).is_some_and(|word| of.contains(&word.small().as_str()));
        words.units().iter().filter(|found| found.unit.measure == Measure::Time).find_map(|found| {
            let numbers = words.list[..found.at].iter().rev().take_while(|word| word.is_number()).count();
            let first = found.at - numbers;
            let is_near = is_of(found.end) || (1..=3).any(|back| first.checked_sub(back).is_some_and(is_of));
            let number = if numbers > 0 { words.between(first, found.at) } else { "" };
            is_near.then(|| format!("{number} {}", found.unit.usual).parse().ok()).flatten()
        })
    }
}

/// What a rate may count beside bits.
const COUNTED: [&str; 7] = ["packet", "packets", "pkts", "frames", "mtu", "mtus", "datagrams"];

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
