//! The columns of a file of sizes: which are sizes of a representation, which times of segments, and which neither, by their names.

use super::super::file::{TextError, quoted};
use units::table::{bytes_of, plain, size_unit};
use units::{Duration, Rate, Size};

/// The sizes of a representation.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Column {
    pub(in super::super) name: String,
    /// Its place in a line.
    pub(super) place: usize,
    /// The bytes of its unit.
    pub(super) unit: u64,
    /// Whether its name has a unit.
    pub(super) has_unit: bool,
    /// Whether its name tells that it has sizes.
    pub(super) is_named: bool,
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

/// A column of times, which must be those of the segments.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Clock {
    pub(in super::super) name: String,
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
                let (name, what) = (quoted(&self.name), if self.is_duration { "lasts" } else { "starts at" });
                let problem = format!(
                    "the segment {what} {found} in column {name}, and {expected} by the option segment; expected the same"
                );
                return Err(TextError::line(*line, problem));
            }
            start += *duration;
        }
        Ok(())
    }
}

/// Words of columns that are not sizes: they count the segments, or say something else of them.
const OTHERS: [&str; 59] = [
    "segment",
    "segments",
    "seg",
    "chunk",
    "chunks",
    "fragment",
    "frag",
    "number",
    "no",
    "nr",
    "num",
    "n",
    "index",
    "idx",
    "id",
    "i",
    "sequence",
    "seq",
    "count",
    "row",
    "frame",
    "frames",
    "pos",
    "position",
    "period",
    "bitrate",
    "bandwidth",
    "rate",
    "mean",
    "quality",
    "level",
    "fps",
    "width",
    "height",
    "resolution",
    "throughput",
    "buffer",
    "representation",
    "rep",
    "rendition",
    "variant",
    "track",
    "end",
    "ends",
    "stop",
    "until",
    "scene",
    "scenes",
    "keyframe",
    "keyframes",
    "si",
    "ti",
    "complexity",
    "url",
    "name",
    "file",
    "codec",
    "type",
    "buffering",
];
/// Words that make something else than a size of whatever is in a column.
const MEASURES: [&str; 15] = [
    "psnr",
    "ssim",
    "vmaf",
    "qp",
    "crf",
    "mos",
    "total",
    "sum",
    "cumulative",
    "overall",
    "delay",
    "latency",
    "qoe",
    "psnrs",
    "score",
];
/// Words of columns that tell which representation a line is about.
pub(super) const REPRESENTATIONS: [&str; 9] =
    ["representation", "rep", "rendition", "variant", "quality", "level", "track", "bitrate", "resolution"];
/// Words of columns of sizes.
pub(super) const SIZES: [&str; 6] = ["size", "sizes", "bytes", "bits", "byte", "filesize"];
/// Names that people give to the representations of a ladder, beside numbers and [`REPRESENTATIONS`].
const LADDER: [&str; 30] = [
    "low", "lowest", "lower", "lo", "medium", "med", "mid", "middle", "high", "highest", "higher", "hi",
    "best", "worst", "ld", "sd", "hd", "fhd", "qhd", "uhd", "mobile", "base", "top", "main", "very", "ultra",
    "full", "extra", "v", "q",
];

/// Words of columns that say when segments start.
const STARTS: [&str; 8] = ["time", "start", "starts", "t", "pts", "timestamp", "begin", "at"];
/// Words of columns that say how long segments last.
const DURATIONS: [&str; 4] = ["duration", "dur", "length", "durations"];
/// Units of time, and the power of ten that makes nanoseconds of them.
const TIMES: [(&str, u32); 4] = [("s", 9), ("ms", 6), ("us", 3), ("ns", 0)];

/// What a column is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Role {
    Column(Column),
    Clock(Clock),
    Skipped,
}

/// What a column is by its name.
pub(super) fn role(name: &str, place: usize) -> Result<Role, String> {
    let words = plain(name);
    let mut words: Vec<&str> = words.split('_').collect();
    let is_time = |word: &&str| STARTS.contains(word) || DURATIONS.contains(word);
    let unit = words.last().and_then(|last| TIMES.iter().find(|(unit, _)| unit == last));
    if unit.is_some() && words.iter().any(&is_time) {
        words.pop();
    }
    if words.len() > 1 && words.last().is_some_and(|last| ["bps", "kbps", "mbps", "gbps"].contains(last)) {
        words.pop();
    }
    let are_known = words.iter().all(|word| word.is_empty() || OTHERS.contains(word) || is_time(word));
    if words.iter().any(|word| MEASURES.contains(word)) {
        return Ok(Role::Skipped);
    }
    if are_known {
        let clock = |power| Clock {
            name: name.to_owned(),
            place,
            power,
            is_duration: words.iter().any(|word| DURATIONS.contains(word)),
            times: Vec::new(),
        };
        let power = unit.filter(|_| words.iter().any(&is_time)).map(|(_, power)| *power);
        return Ok(power.map_or(Role::Skipped, |power| Role::Clock(clock(power))));
    }
    if !name.contains(char::is_alphabetic) {
        let name = quoted(name);
        return Err(format!("column {name}; expected the name of a representation, with a letter in it"));
    }
    let alone = format!("x ({name})");
    let unit = size_unit(name).or_else(|| {
        size_unit(&alone)
            .filter(|unit| unit.len() > 1 && *unit == name && unit.starts_with(char::is_alphabetic))
    });
    let Some(bytes) = unit.map_or(Some(1), bytes_of) else {
        let (name, unit) = (quoted(name), unit.unwrap_or_default());
        return Err(format!("column {name} is in {unit}; expected B, kB, KiB, MB or MiB"));
    };
    if words.len() > 1 && words.iter().any(|word| ["bitrate", "bitrates", "bandwidth"].contains(word)) {
        return Err(format!("column {} is of bitrates; expected the sizes of segments", quoted(name)));
    }
    let own = unit.and_then(|unit| name.trim_end_matches([')', ']']).strip_suffix(unit));
    let own =
        own.map(|own| own.trim_end_matches(['(', '[', '_', ' ', '-', '/'])).filter(|own| !own.is_empty());
    let is_size = unit.is_some() || words.iter().any(|word| SIZES.contains(word));
    Ok(Role::Column(Column {
        name: own.unwrap_or(name).to_owned(),
        place,
        unit: bytes,
        has_unit: unit.is_some(),
        is_named: is_size || is_representation(&words),
        sizes: Vec::new(),
    }))
}

/// Whether words name a representation: by a number and a letter as of a resolution or a bitrate (`240p`, `300k`, `640x360`), or
/// with names of a ladder and numbers alone (`low`, `quality_2`).
fn is_representation(words: &[&str]) -> bool {
    let is_number = |word: &str| word.starts_with(|sign: char| sign.is_ascii_digit());
    let is_rung = |pair: &[&str]| {
        is_number(pair[0])
            && ["p", "i", "k", "m", "x", "kbps", "mbps", "bps", "kbit", "mbit", "kb", "mb"].contains(&pair[1])
    };
    words.windows(2).any(is_rung)
        || words.iter().all(|word| is_number(word) || LADDER.contains(word) || REPRESENTATIONS.contains(word))
}
