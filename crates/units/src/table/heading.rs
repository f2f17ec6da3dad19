//! The names of columns: their words, and the units in them.

/// The words of the name of a column in small letters, joined by `_`, with the usual spelling of a unit at the end:
/// `Time (ms)` and `time in msec` are `time_ms`, `Rate [Mbit/s]` is `rate_mbps`. What makes another unit stays another
/// name: percent (`%`, `‰`), bytes a second (`MBps`) beside bits (`Mbps`), a sign before the name, and capitals that leave
/// it open which unit is meant (`Time (Ms)`, `Rate (MBPS)`), unless all of the name is in capitals.
pub fn plain(name: &str) -> String {
    let mut text = name.trim().replace('%', " percent ").replace('‰', " permille ").replace(['µ', 'μ'], "u");
    for (spelling, usual) in RATES {
        if text.contains(spelling) {
            text = text.replace(spelling, usual);
        }
    }
    let has_small = name.contains(char::is_lowercase);
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<&str> =
        words.enumerate().filter(|(at, word)| *at == 0 || *word != "in").map(|(_, word)| word).collect();
    let minus = text.starts_with('-').then(|| "minus".to_owned());
    let last = words.len().saturating_sub(1);
    let plain = words.iter().enumerate().map(|(at, word)| match word.to_lowercase() {
        small if at < last || at == 0 => small,
        small if has_small && ((small == "ms" && *word != "ms") || word.ends_with("BPS")) => {
            (*word).to_owned()
        }
        _ if *word == "B" => "bytes".to_owned(),
        small => {
            UNITS.iter().find(|(long, _)| *long == small).map_or(small, |(_, usual)| (*usual).to_owned())
        }
    });
    minus.into_iter().chain(plain).collect::<Vec<_>>().join("_")
}

/// Spellings of rates, and what is read instead.
const RATES: [(&str, &str); 12] = [
    ("Bytes/s", "bytes_ps"),
    ("bytes/s", "bytes_ps"),
    ("Byte/s", "bytes_ps"),
    ("byte/s", "bytes_ps"),
    ("B/s", "bytes_ps"),
    ("Bps", "bytes_ps"),
    ("bits/s", "bps"),
    ("bit/s", "bps"),
    ("b/s", "bps"),
    ("bytes_psec", "bytes_ps"),
    ("bpsec", "bps"),
    ("bits_ps", "bps"),
];

/// Other spellings of units.
const UNITS: [(&str, &str); 22] = [
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("msec", "ms"),
    ("msecs", "ms"),
    ("millis", "ms"),
    ("millisecond", "ms"),
    ("milliseconds", "ms"),
    ("usec", "us"),
    ("usecs", "us"),
    ("micros", "us"),
    ("microsecond", "us"),
    ("microseconds", "us"),
    ("nsec", "ns"),
    ("nsecs", "ns"),
    ("nanos", "ns"),
    ("nanosecond", "ns"),
    ("nanoseconds", "ns"),
    ("pct", "percent"),
    ("byte", "bytes"),
    ("octets", "bytes"),
];

/// What a unit measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    Time,
    Rate,
    Share,
}

/// The units that columns of times, rates and shares may have, in the spelling of [`plain`].
const MEASURES: [(&str, Measure); 25] = [
    ("s", Measure::Time),
    ("ms", Measure::Time),
    ("us", Measure::Time),
    ("ns", Measure::Time),
    ("min", Measure::Time),
    ("minutes", Measure::Time),
    ("hours", Measure::Time),
    ("h", Measure::Time),
    ("Ms", Measure::Time),
    ("MS", Measure::Time),
    ("bps", Measure::Rate),
    ("kbps", Measure::Rate),
    ("mbps", Measure::Rate),
    ("gbps", Measure::Rate),
    ("tbps", Measure::Rate),
    ("kibps", Measure::Rate),
    ("mibps", Measure::Rate),
    ("BPS", Measure::Rate),
    ("KBPS", Measure::Rate),
    ("MBPS", Measure::Rate),
    ("GBPS", Measure::Rate),
    ("ps", Measure::Rate),
    ("percent", Measure::Share),
    ("permille", Measure::Share),
    ("ppm", Measure::Share),
];

/// The unit that a word is, in the spelling of [`plain`], and what it measures.
pub(super) fn unit(word: &str) -> Option<(String, Measure)> {
    let plain = plain(&format!("x {word}"));
    let unit = plain.strip_prefix("x_")?;
    // Bytes a second are two words.
    let last = unit.rsplit('_').next().filter(|last| *last == "ps").unwrap_or(unit);
    MEASURES.iter().find(|(known, _)| *known == last).map(|(_, measure)| (unit.to_owned(), *measure))
}

/// Whether the name of a column is this word with another unit behind it than the ones that are read: `delay_min`.
pub fn is_other_unit(name: &str, quantity: &str) -> bool {
    let plain = plain(name);
    let behind = plain.strip_prefix(quantity).and_then(|rest| rest.strip_prefix('_'));
    behind.is_some_and(|behind| unit(behind).is_some() || behind.ends_with("bytes_ps"))
}

/// Units of sizes, and of rates that somebody may take for sizes.
pub(super) const SIZES: [&str; 34] = [
    "B", "bytes", "Bytes", "byte", "Byte", "kB", "KB", "KiB", "kiB", "MB", "MiB", "GB", "GiB", "b", "bit",
    "bits", "kb", "Kb", "kbit", "kbits", "Kbit", "mb", "Mb", "Mbit", "Mbits", "Gb", "Gbit", "kbps", "Mbps",
    "kbit/s", "Mbit/s", "kB/s", "MB/s", "KBytes",
];

/// The unit of a size that the name of a column ends with: in brackets (`low (kB)`), or behind a blank or `_` (`low_kB`).
/// Where a number is before it (`300 kbps`), it belongs to the name. A unit of one letter stands in brackets.
pub fn size_unit(name: &str) -> Option<&str> {
    let name = name.trim();
    let (before, unit) = match name.strip_suffix([')', ']']) {
        Some(inside) => inside.split_at(inside.rfind(['(', '['])?),
        None => name.split_at(name.rfind(['_', ' ', '-'])?),
    };
    let is_alone = name.ends_with([')', ']']) || unit.len() > 2;
    let unit = unit[1..].trim();
    let is_label =
        before.trim_end().ends_with(|sign: char| sign.is_ascii_digit()) && !name.ends_with([')', ']']);
    (is_alone && !is_label && SIZES.contains(&unit)).then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_has_many_spellings() {
        for (name, words) in [
            ("Time (ms)", "time_ms"),
            ("time [msec]", "time_ms"),
            ("Time in milliseconds", "time_ms"),
            ("TIME_MS", "time_ms"),
            ("TIME (MS)", "time_ms"),
            ("Time (µs)", "time_us"),
            ("time/s", "time_s"),
            ("Time_S", "time_s"),
            ("Time (sec)", "time_s"),
            ("seconds", "seconds"),
            ("Size (B)", "size_bytes"),
            ("Size (b)", "size_b"),
            ("Rate (Mbps)", "rate_mbps"),
            ("RATE_MBPS", "rate_mbps"),
            ("rate [Mbit/s]", "rate_mbps"),
            ("Rate (kbits/sec)", "rate_kbps"),
            ("Rate (Mb/s)", "rate_mbps"),
            ("rate (Gbit/s)", "rate_gbps"),
            ("Loss (%)", "loss_percent"),
            ("loss%", "loss_percent"),
        ] {
            assert_eq!(plain(name), words, "{name}");
        }
    }

    /// A factor of a thousand, of eight or of a hundred must not be lost.
    #[test]
    fn another_unit_is_another_name() {
        for (name, words) in [
            ("Loss [‰]", "loss_permille"),
            ("Rate (MBps)", "rate_mbytes_ps"),
            ("Rate (MB/s)", "rate_mbytes_ps"),
            ("Rate (kBytes/s)", "rate_kbytes_ps"),
            ("rate_kBps", "rate_kbytes_ps"),
            ("Rate (MBPS)", "rate_MBPS"),
            ("Time (Ms)", "time_Ms"),
            ("time_MS", "time_MS"),
            ("Time (min)", "time_min"),
            ("-rate_mbps", "minus_rate_mbps"),
            ("Rate (Mibit/s)", "rate_mibps"),
        ] {
            assert_eq!(plain(name), words, "{name}");
        }
        assert!(is_other_unit("Loss (‰)", "loss") && is_other_unit("Delay (min)", "delay"));
        assert!(is_other_unit("Rate (MB/s)", "rate") && is_other_unit("Time (Ms)", "time"));
        assert!(!is_other_unit("loss_count", "loss") && !is_other_unit("loss", "loss"));
    }

    #[test]
    fn the_unit_of_a_size_is_behind_its_name() {
        for (name, unit) in [
            ("low (kB)", Some("kB")),
            ("size [bytes]", Some("bytes")),
            ("low_kB", Some("kB")),
            ("720p (Mbit)", Some("Mbit")),
            ("low kbit", Some("kbit")),
            ("300 kbps", None),
            ("300kbps", None),
            ("low_b", None),
            ("low (avg)", None),
            ("low", None),
            ("kB", None),
        ] {
            assert_eq!(size_unit(name), unit, "{name}");
        }
    }
}
