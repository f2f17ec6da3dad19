//! The names of columns: their words, and the units in them.

use super::unit::{Measure, Words};
use crate::Size;

/// The words of the name of a column in small letters, joined by `_`, with the usual spelling of a unit at the end:
/// `Time (ms)`, `timeMs` and `time in msec` are `time_ms`, `Rate [Mbit/s]` is `rate_mbps`. What makes another unit stays
/// another name: percent (`%`, `‰`), bytes a second (`MBps`) beside bits (`Mbps`), a sign before the name, capitals that leave
/// it open which unit is meant (`Time (Ms)`, `Rate (MBPS)`) unless all of the name is in capitals, the traces of a unit that a
/// program could not write (`Loss (%)` is `Loss....` in R, and here `loss_`), and signs that make another value of it (`√rate`,
/// `|rate|`, `rate'`).
pub fn plain(name: &str) -> String {
    let text = name.trim();
    let words = Words::of(text);
    let unit = words.last_unit(1);
    let names = &words.list[..unit.as_ref().map_or(words.list.len(), |unit| unit.at)];
    let small = names.iter().map(super::unit::Word::small).enumerate();
    let small = small.filter(|(at, word)| *at == 0 || word != "in").map(|(_, word)| word);
    let sign = match text.chars().next().filter(|_| !words.list.is_empty()) {
        Some('-' | '\u{2212}') => Some("minus".to_owned()),
        // A number of something, and a range.
        Some('#') => Some("number".to_owned()),
        Some('±') => Some("spread".to_owned()),
        _ => None,
    };
    let lost = unit.is_none() && !words.list.is_empty() && text.ends_with(['.', '_', '#', '/', '*']);
    let unit = unit.map(|found| match found.unit.measure {
        Measure::Size if found.unit.usual == "B" => "bytes".to_owned(),
        Measure::Size | Measure::Other => found.text.to_lowercase(),
        _ if name.contains(char::is_lowercase) => found.unit.usual,
        _ => found.unit.usual.to_lowercase(),
    });
    let end = unit.or_else(|| lost.then(String::new));
    let strange = (!words.list.is_empty() && has_strange_sign(text)).then(|| "sign".to_owned());
    sign.into_iter().chain(small).chain(end).chain(strange).collect::<Vec<_>>().join("_")
}

/// Whether a name has a sign beside those between words and around units.
fn has_strange_sign(name: &str) -> bool {
    const PLAIN: &str = "_-./()[]{}%‰#,:;\"*·⋅^&=+−–—⁻±\u{ff05}\u{feff}\u{200b}";
    let is_paired = name.matches('<').count() == name.matches('>').count();
    let is_plain = |sign: char| sign.is_alphanumeric() || sign.is_whitespace() || PLAIN.contains(sign);
    name.char_indices()
        .any(|(at, sign)| !(is_plain(sign) || "<>".contains(sign) && is_paired) || (sign == '±' && at > 0))
}

/// Words for times and rates in names of columns.
const TIMES: [&str; 6] = ["time", "timestamp", "ts", "t", "elapsed", "epoch"];
const RATES: [&str; 15] = [
    "rate",
    "throughput",
    "bandwidth",
    "bw",
    "bitrate",
    "goodput",
    "capacity",
    "speed",
    "download",
    "downlink",
    "dl",
    "upload",
    "uplink",
    "ul",
    "link",
];

/// The name of a column of times or rates with its first word as tables have it, where all of it is such words and a unit:
/// `Throughput (Mbps)` and `DL bitrate [Mbit/s]` are `rate_mbps`, `timestamp_ms` is `time_ms`, `seconds` is `time_s`. Otherwise as
/// [`plain`] has it.
pub fn common(name: &str) -> String {
    let plain = plain(name);
    let times = ["s", "ms", "us", "ns"];
    if plain.len() > 3
        && let Some(unit) = super::unit::of_word(&plain).filter(|unit| times.contains(&unit.usual.as_str()))
    {
        return format!("time_{}", unit.usual);
    }
    let Some((words, unit)) = plain.rsplit_once('_') else { return plain };
    let are = |known: &[&str]| words.split('_').all(|word| known.contains(&word));
    match unit {
        _ if times.contains(&unit) && are(&TIMES) => format!("time_{unit}"),
        "bps" | "kbps" | "mbps" | "gbps" if are(&RATES) => format!("rate_{unit}"),
        _ => plain,
    }
}

/// Whether the name of a column is this word with another unit behind it than the ones that are read: `delay_min`.
pub fn is_other_unit(name: &str, quantity: &str) -> bool {
    let plain = plain(name);
    let Some(behind) = plain.strip_prefix(quantity).and_then(|rest| rest.strip_prefix('_')) else {
        return false;
    };
    let words = Words::of(behind);
    let is_number = |word: &super::unit::Word<'_>| word.text.starts_with(char::is_numeric);
    let number = words.list.iter().take_while(|word| is_number(word)).count();
    // Something in brackets, the sign of a unit that was lost, or a unit, also of several (10 us), or times a factor.
    let is_bracketed =
        name.get(quantity.len()..).is_some_and(|rest| rest.trim_start().starts_with(['(', '[', '{']));
    let is_factored =
        |end: usize| words.list[end..].iter().all(|word| is_number(word) || word.small() == "x");
    is_bracketed
        || words.list.is_empty()
        || words
            .unit_at(number)
            .is_some_and(|unit| is_factored(unit.end) && unit.unit.measure != Measure::Size)
}

/// The unit of a size, or of a rate that somebody may take for one, in the name of a column: in brackets (`low (kB)`) or
/// among its words (`low_kB`, `kB_low`, `lowKB`). Where a number is before it (`300 kbps`), it belongs to the name, but in
/// brackets (`low (10 B)`) to the unit. A unit of one letter stands in brackets.
pub fn size_unit(name: &str) -> Option<&str> {
    let words = Words::of(name);
    words.units().into_iter().find_map(|found| {
        let (is_inside, is_counted) = (words.is_in_brackets(found.at), words.is_counted(&found));
        let is_all = found.at == 0 && found.end == words.list.len();
        if !matches!(found.unit.measure, Measure::Size | Measure::Rate) {
            return None;
        }
        match is_inside {
            true if is_counted => Some(words.between(found.at - 1, found.end)),
            true => Some(found.text),
            false => (found.text.len() > 1 && !is_counted && !is_all).then_some(found.text),
        }
    })
}

/// The usual spelling of a unit of bytes, as [`Size`] reads it; `None` for bits, rates, and those that can be two (`KB`).
pub fn usual_size(unit: &str) -> Option<&'static str> {
    let words = Words::of(unit);
    let found = words.unit_at(0).filter(|found| found.end == words.list.len())?;
    let known = ["B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"];
    known.into_iter().find(|usual| *usual == found.unit.usual)
}

/// Whether a text is a unit and nothing else, in any of its spellings.
pub fn is_unit(text: &str) -> bool {
    let words = Words::of(text);
    words.unit_at(0).is_some_and(|found| found.text == text)
}

/// The bytes of a unit of sizes.
pub fn bytes_of(unit: &str) -> Option<u64> {
    format!("1 {}", usual_size(unit)?).parse::<Size>().ok().map(Size::as_bytes)
}

/// Whether the whole name of a column says that it has one of these ratios in dB: `SINR (dB)`, `nr_ssSinr`, `sinr_2`. Every other
/// word, unit, factor or sign makes another value of it: `psnr_db`, `sinr_rank`, `snr_margin_db`, `sinr (dB x 10)`.
pub fn is_in_db(name: &str, quantities: &[&str]) -> bool {
    const BESIDE: [&str; 13] =
        ["nr", "lte", "ss", "csi", "rs", "site", "cell", "bs", "gnb", "enb", "mean", "avg", "in"];
    let words = Words::of(name);
    let is_quantity = |word: &str| quantities.contains(&word);
    let is_beside = |word: &str| BESIDE.contains(&word) || word == "db" || is_quantity(word);
    let small: Vec<String> = words.list.iter().map(super::unit::Word::small).collect();
    let is_unit = |found: &super::unit::Found<'_>| found.unit.usual == "db";
    let is_scaled = words.units().iter().filter(|found| is_unit(found)).any(|found| {
        let is_number_behind = words.list.get(found.end).is_some_and(super::unit::Word::is_number);
        words.is_times(found)
            || (words.is_in_brackets(found.at) && (words.is_counted(found) || is_number_behind))
    });
    small.iter().any(|word| is_quantity(word))
        && words.list.iter().zip(&small).all(|(word, small)| word.is_number() || is_beside(small))
        && !is_scaled
        && !has_strange_sign(name)
        && !name.contains(['*', '×', '^', '%'])
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
        // R and MATLAB cannot write the sign of percent.
        for lost in ["Loss....", "Loss___", "Loss (ratio)", "Loss (per mille)", "Loss [1]", "loss (°/₀)"] {
            assert!(is_other_unit(lost, "loss"), "{lost}");
        }
        for sign in ["loss#", "loss /", "loss*"] {
            assert!(is_other_unit(sign, "loss"), "{sign}");
        }
        for other in ["#loss", "±loss", "-loss", "\u{2212}loss"] {
            assert!(plain(other) != "loss", "{other}");
        }
        for unit in ["ms", "kbit/s", "Milliseconds", "milli seconds", "%", "packets"] {
            assert!(is_unit(unit) && !is_unit(&format!("{unit} x")), "{unit}");
        }
        for factor in ["delay_10_us", "delay_ms*2", "delay_ms²", "delay (RTT) ms"] {
            assert!(is_other_unit(factor, "delay"), "{factor}");
        }
        for unit in ["KB", "kbit", "Kbits", "MB/s", "10 B", "kbps"] {
            assert_eq!(usual_size(unit), None, "{unit}");
        }
        assert_eq!(
            (usual_size("Kilobytes"), bytes_of("ko"), bytes_of("bytes")),
            (Some("kB"), Some(1000), Some(1))
        );
    }

    #[test]
    fn the_unit_of_a_size_is_behind_its_name() {
        for (name, unit) in [
            ("low (kB)", Some("kB")),
            ("size [bytes]", Some("bytes")),
            ("low_kB", Some("kB")),
            ("720p (Mbit)", Some("Mbit")),
            ("low kbit", Some("kbit")),
            ("kB_low", Some("kB")),
            ("lowKB", Some("KB")),
            ("low/kB", Some("kB")),
            ("size_in_kB_low", Some("kB")),
            ("low..kB.", Some("kB")),
            ("low [ko]", Some("ko")),
            ("240p (kilobits)", Some("kilobits")),
            ("240p_kbps", Some("kbps")),
            ("low (10 B)", Some("10 B")),
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
