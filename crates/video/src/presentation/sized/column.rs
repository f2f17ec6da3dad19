//! The columns of a file of sizes: what each is by its whole name, and checks of those that are not sizes.

use super::super::file::{TextError, quoted};
use units::table::{bytes_of, is_unit, plain, size_unit};
use units::{Duration, Rate, Size};

/// The sizes of a representation.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Column {
    pub(in super::super) name: String,
    /// Its place in a line.
    pub(in super::super) place: usize,
    /// The bytes of its unit.
    pub(super) unit: u64,
    /// Whether its name has a unit.
    pub(super) has_unit: bool,
    pub(in super::super) sizes: Vec<u64>,
}

impl Column {
    /// The mean bitrate of segments that last so long together.
    pub(in super::super) fn mean(&self, whole: Duration) -> Rate {
        // At most MAX_SEGMENTS times MAX_SEGMENT_BYTES: 10^17.
        let bitrate = Rate::of(Size::from_bytes(self.sizes.iter().sum()), whole);
        bitrate.max(Rate::from_bits_per_sec(1))
    }
}

/// A column of times, or a comment with a duration, which must be those of the segments.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Clock {
    pub(super) name: String,
    pub(super) place: usize,
    /// The power of ten that makes nanoseconds of its unit.
    pub(super) power: u32,
    /// Whether it has durations, not starts.
    pub(super) is_duration: bool,
    /// The lines, and their times.
    pub(super) times: Vec<(usize, Duration)>,
}

impl Clock {
    /// Compares it with the durations of the segments.
    ///
    /// # Errors
    /// The first segment that lasts another time, by more than rounding to a millisecond.
    pub(in super::super) fn check(&self, durations: &[Duration]) -> Result<(), TextError> {
        let mut start = Duration::ZERO;
        let first = self.times.first().map_or(Duration::ZERO, |(_, time)| *time);
        for ((line, time), duration) in self.times.iter().zip(durations) {
            let (found, expected) =
                if self.is_duration { (*time, *duration) } else { (*time - first, start) };
            if (found - expected).max(expected - found) > Duration::from_millis(1) {
                let (name, what) = (&self.name, if self.is_duration { "lasts" } else { "starts at" });
                let problem = format!(
                    "the segment {what} {found} in {name}, and {expected} by the option segment; expected the same"
                );
                return Err(TextError::line(*line, problem));
            }
            start += *duration;
        }
        Ok(())
    }
}

/// Names that people give to the representations of a ladder, beside numbers; the last of them stand before another one.
const LADDER: [&str; 16] = [
    "low", "lower", "lowest", "medium", "med", "mid", "middle", "high", "higher", "highest", "ld", "sd",
    "hd", "fhd", "qhd", "uhd",
];
const BEFORE: [&str; 4] = ["very", "ultra", "full", "extra"];
/// Words before the number of a representation: `quality_2`.
const NUMBERED: [&str; 10] =
    ["size", "quality", "q", "representation", "rep", "rendition", "variant", "video", "v", "level"];
/// What is behind the number of a resolution or a bitrate.
const OF_NUMBERS: [&str; 11] = ["p", "i", "k", "m", "bps", "kbps", "mbps", "kbit", "mbit", "kb", "mb"];
/// Words that say that a column has sizes.
const SIZES: [&str; 5] = ["size", "sizes", "bytes", "byte", "video"];
/// Words that say that a column of sizes, the only one, has those of segments.
const SEGMENTS: [&str; 3] = ["segment", "chunk", "in"];
/// Words of columns that tell which representation a line is about.
const REPRESENTATIONS: [&str; 11] = [
    "representation",
    "rep",
    "rendition",
    "variant",
    "quality",
    "level",
    "track",
    "bitrate",
    "resolution",
    "profile",
    "layer",
];
/// Words of columns that say when segments start, and how long they last.
const STARTS: [&str; 8] = ["time", "start", "starts", "t", "pts", "timestamp", "begin", "at"];
const DURATIONS: [&str; 5] = ["duration", "dur", "length", "durations", "len"];
/// Units of time, and the power of ten that makes nanoseconds of them.
const TIMES: [(&str, u32); 4] = [("s", 9), ("ms", 6), ("us", 3), ("ns", 0)];

/// What a column is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Role {
    Column(Column),
    Clock(Clock),
    /// It counts the segments, or nothing tells what it is.
    Key,
}

/// What a column is by its name.
pub(super) fn role(name: &str, place: usize) -> Result<Role, String> {
    let told = format!("column {}, {}", place + 1, quoted(name));
    let words = plain(name);
    let words: Vec<&str> = words.split('_').filter(|word| !word.is_empty()).collect();
    let is_time = |word: &&str| STARTS.contains(word) || DURATIONS.contains(word);
    let unit = words.last().and_then(|last| TIMES.iter().find(|(unit, _)| unit == last));
    let before = &words[..words.len().saturating_sub(usize::from(unit.is_some()))];
    let of_segment = |word: &&str| is_time(word) || SEGMENTS.contains(word);
    if before.iter().any(is_time) && before.iter().all(of_segment) {
        let Some((_, power)) = unit else {
            return Err(format!(
                "{told}, has times without a unit; expected one, like \"time (s)\", or no such column"
            ));
        };
        let is_duration = before.iter().any(|word| DURATIONS.contains(word));
        return Ok(Role::Clock(Clock { name: told, place, power: *power, is_duration, times: Vec::new() }));
    }
    let (own, _) = without_unit(name);
    if words.iter().any(|word| REPRESENTATIONS.contains(word)) && !is_rung(own) {
        return Err(format!(
            "{told}, tells which representation a line is about; expected a line for each segment, with a column for each \
             representation, like low,high"
        ));
    }
    if words.is_empty() || !(is_rung(own) || is_size(own)) {
        return Ok(Role::Key);
    }
    of_sizes(name, place).map(Role::Column)
}

/// A column of the sizes of a representation, whatever its name.
pub(super) fn of_sizes(name: &str, place: usize) -> Result<Column, String> {
    let (own, unit) = without_unit(name);
    let Some(bytes) = unit.map_or(Some(1), bytes_of) else {
        let (told, unit) = (quoted(name), unit.unwrap_or_default());
        return Err(format!("column {}, {told}, is in {unit}; expected B, kB, KiB, MB or MiB", place + 1));
    };
    let name = if own.is_empty() { name } else { own };
    Ok(Column { name: name.to_owned(), place, unit: bytes, has_unit: unit.is_some(), sizes: Vec::new() })
}

/// The name of a column, and the unit of sizes or rates behind or before it: `low (kB)`, `low_kB`, `kB_low`.
fn without_unit(name: &str) -> (&str, Option<&str>) {
    const BETWEEN: [char; 9] = ['(', ')', '[', ']', '_', ' ', '-', '/', '.'];
    let name = name.trim_matches(BETWEEN.as_slice());
    if name.len() > 1 && is_unit(name) && size_unit(&format!("x ({name})")).is_some() {
        return ("", Some(name));
    }
    let Some(unit) = size_unit(name) else { return (name, None) };
    let own = name.strip_suffix(unit).or_else(|| name.strip_prefix(unit));
    own.map_or((name, None), |own| (own.trim_matches(BETWEEN.as_slice()), Some(unit)))
}

/// Whether the whole name says that a column has sizes of segments, of one representation; nothing but a unit says so too.
pub(super) fn is_size(own: &str) -> bool {
    let words = pieces(own);
    let has_size = words.is_empty() || words.iter().any(|word| SIZES.contains(&word.as_str()));
    has_size && words.iter().all(|word| SIZES.contains(&word.as_str()) || SEGMENTS.contains(&word.as_str()))
}

/// Whether a whole name is that of a representation: by resolutions and bitrates (`240p`, `300_kbps`, `640x360`), as a rung of a
/// ladder (`low`, `very high`), or with a number (`quality_2`); `size` and `bytes` may stand with it.
fn is_rung(name: &str) -> bool {
    let mut words = pieces(name);
    words.retain(|word| {
        !["size", "bytes", "in"].contains(&word.as_str()) || word == "size" && is_numbered(name)
    });
    let is_ladder = |words: &[String]| match words {
        [one] => LADDER.contains(&one.as_str()),
        [before, one] => BEFORE.contains(&before.as_str()) && LADDER.contains(&one.as_str()),
        _ => false,
    };
    !words.is_empty() && (is_ladder(&words) || is_numbered(name) || are_numbers(&words))
}

/// Whether a name is a word and a number: `quality_2`, `size_1_bytes`.
pub(super) fn is_numbered(name: &str) -> bool {
    let words = pieces(name);
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "bytes").collect();
    match words[..] {
        [word, number] => NUMBERED.contains(&word) && is_number(number),
        ["video", "size", number] => is_number(number),
        _ => false,
    }
}

/// Whether words are resolutions and bitrates alone: numbers with what they are of, `p` or `kbps`, or two with `x` between.
fn are_numbers(words: &[String]) -> bool {
    let mut rest = words;
    while let [number, of, behind @ ..] = rest {
        if !is_number(number) {
            return false;
        }
        rest = match behind {
            [width, behind @ ..] if of == "x" && is_number(width) => behind,
            [per, behind @ ..] if per == "s" && ["kbit", "mbit", "kb", "mb"].contains(&of.as_str()) => behind,
            [frames] if of == "p" && is_number(frames) => &[],
            _ if OF_NUMBERS.contains(&of.as_str()) => behind,
            _ => return false,
        };
    }
    rest.is_empty()
}

fn is_number(word: &str) -> bool {
    word.starts_with(|sign: char| sign.is_ascii_digit())
}

/// The words of a name in small letters; a number, which may have a point, is one of its own.
fn pieces(name: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut before = None;
    for sign in name.to_lowercase().chars() {
        let kind = match sign {
            '.' if before == Some(1) => 1,
            _ if sign.is_ascii_digit() => 1,
            '_' | '-' | ' ' | '.' | '/' | '(' | ')' | '[' | ']' => 0,
            _ => 2,
        };
        if kind > 0 {
            match pieces.last_mut().filter(|_| before == Some(kind)) {
                Some(last) => last.push(sign),
                None => pieces.push(sign.to_string()),
            }
        }
        before = Some(kind);
    }
    pieces
}
