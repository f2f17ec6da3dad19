//! Units as words: the one parser of those in names of columns and in comments.
//!
//! A text is cut into words at every sign that is no letter or digit, between digits and letters, and before a capital within
//! a word, so that `time_ms`, `Time (ms)`, `t/ms`, `time..ms.` and `timeMs` have the same words.

/// What a unit measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    Time,
    Rate,
    Size,
    Share,
    /// Decibels.
    Level,
    /// Packets, ticks and others that no column has.
    Other,
}

/// A unit in its usual spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) measure: Measure,
    /// `ms`, `mbps`, `mbytes_ps`, `percent`, `db`; of sizes `kB`, `KiB`, `kbit`. As the file has it if its capitals leave it
    /// open what is meant: `Ms`, `MBPS`, `KB`.
    pub(super) usual: String,
}

/// A word of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    /// Its place in the text.
    pub(super) from: usize,
    /// Whether nothing but its capital separates it from the word before: `Ms` in `timeMs`.
    is_joined: bool,
}

impl Word<'_> {
    pub(super) fn end(&self) -> usize {
        self.from + self.text.len()
    }

    pub(super) fn small(&self) -> String {
        self.text.to_lowercase()
    }

    pub(super) fn is_number(&self) -> bool {
        self.text.starts_with(char::is_numeric)
    }
}

/// A unit in a text: that of the words from `at` up to `end`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found<'a> {
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) text: &'a str,
    pub(super) unit: Unit,
}

/// The words of a text.
#[derive(Debug)]
pub(super) struct Words<'a> {
    pub(super) text: &'a str,
    pub(super) list: Vec<Word<'a>>,
}

impl<'a> Words<'a> {
    pub(super) fn of(text: &'a str) -> Words<'a> {
        let mut list = Vec::new();
        let mut rest = 0;
        while let Some(from) = text[rest..].find(is_of_word).map(|at| rest + at) {
            let kind = text[from..].chars().next().and_then(kind_of);
            let length = text[from..].find(|sign| kind_of(sign) != kind);
            let end = length.map_or(text.len(), |length| from + length);
            push(&mut list, &text[from..end], from, false);
            rest = end;
        }
        Words { text, list }
    }

    /// The text of the words from `at` up to `end`.
    pub(super) fn between(&self, at: usize, end: usize) -> &'a str {
        &self.text[self.list[at].from..self.list[end - 1].end()]
    }

    /// The sign before a word, blanks aside.
    pub(super) fn sign_before(&self, at: usize) -> Option<char> {
        self.text[..self.list[at].from].trim_end().chars().next_back().filter(|sign| !is_of_word(*sign))
    }

    /// The words in small letters that are joined to the word at this place by nothing but signs of a unit.
    fn joined(&self, at: usize) -> Option<String> {
        let (before, word) = (self.list.get(at.checked_sub(1)?)?, self.list.get(at)?);
        let signs = &self.text[before.end()..word.from];
        signs.chars().all(|sign| " \t/._-^*·⋅".contains(sign)).then(|| word.small())
    }

    /// The unit that begins with the word at this place, of as many words as possible.
    pub(super) fn unit_at(&self, at: usize) -> Option<Found<'a>> {
        let first = self.list.get(at)?;
        let small = first.small();
        let next = self.joined(at + 1);
        let pair = next.as_deref().and_then(|next| of_pair(&small, next));
        let (mut end, mut unit) = match pair {
            Some(unit) => (at + 2, unit),
            None => (at + 1, of_word(first.text)?),
        };
        if first.is_joined && ["Ms", "MS"].contains(&first.text) {
            unit.usual = "ms".to_owned();
        }
        if unit.measure == Measure::Size
            && let Some(words) = self.per_second(end)
        {
            (end, unit) = (end + words, Unit { measure: Measure::Rate, usual: rate_of(&unit.usual) });
        }
        Some(Found { at, end, text: self.between(at, end), unit })
    }

    /// How many words from this place say that a size is that of a second: `/s`, `per second`, `s^-1`.
    fn per_second(&self, at: usize) -> Option<usize> {
        let word = self.joined(at)?;
        if is_second(&word) {
            let is_power = self.joined(at + 1).is_some_and(|word| word == "1")
                && self.text[self.list[at].end()..self.list[at + 1].from].contains('-');
            return Some(if is_power { 2 } else { 1 });
        }
        match word.as_str() {
            "ps" | "psec" => Some(1),
            "per" | "p" | "par" | "pro" | "je" => {
                self.joined(at + 1).filter(|word| is_second(word)).map(|_| 2)
            }
            _ => None,
        }
    }

    /// The units of a text from left to right.
    pub(super) fn units(&self) -> Vec<Found<'a>> {
        let mut found: Vec<Found<'a>> = Vec::new();
        for at in 0..self.list.len() {
            if found.last().is_none_or(|last| last.end <= at) {
                found.extend(self.unit_at(at));
            }
        }
        found
    }

    /// The unit at the end of the text; at least `behind` words stand before it.
    pub(super) fn last_unit(&self, behind: usize) -> Option<Found<'a>> {
        let places = self.list.len().saturating_sub(4).max(behind)..self.list.len();
        places.filter_map(|at| self.unit_at(at)).find(|found| found.end == self.list.len())
    }

    /// Whether a unit belongs to a quantity (20 ms), not to a column.
    pub(super) fn is_counted(&self, found: &Found<'_>) -> bool {
        let Some(before) = found.at.checked_sub(1).map(|at| self.list[at]) else { return false };
        let signs = &self.text[before.end()..self.list[found.at].from];
        let is_number = before.is_number() || NUMBERS.contains(&before.small().as_str());
        is_number && signs.chars().all(|sign| sign.is_whitespace() || "-_".contains(sign))
    }

    /// Whether a factor is behind a unit: `Mbps x10`, `kbit/s * 8`.
    pub(super) fn is_times(&self, found: &Found<'_>) -> bool {
        let behind = self.text[self.list[found.end - 1].end()..].trim_start_matches([' ', '_', '.']);
        let number = behind.strip_prefix(['x', 'X', '*', '×', '·', '/']).map(str::trim_start);
        number.is_some_and(|number| number.starts_with(|sign: char| sign.is_ascii_digit()))
    }

    /// Whether a word is in brackets.
    pub(super) fn is_in_brackets(&self, at: usize) -> bool {
        let before = &self.text[..self.list[at].from];
        before.matches(['(', '[', '{', '<']).count() > before.matches([')', ']', '}', '>']).count()
    }
}

/// Numbers in words.
const NUMBERS: [&str; 18] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "few",
    "several", "some", "many", "couple", "per", "a",
];

/// What a sign is: a letter, a digit, or the sign of a share.
fn kind_of(sign: char) -> Option<u8> {
    match sign {
        '%' | '‰' | '\u{ff05}' => Some(2),
        _ if sign.is_alphabetic() => Some(0),
        _ if sign.is_numeric() => Some(1),
        _ => None,
    }
}

fn is_of_word(sign: char) -> bool {
    kind_of(sign).is_some()
}

/// Adds the words of a run of letters, which is cut before capitals unless it is a unit: `timeMs`, but not `kB`.
fn push<'a>(list: &mut Vec<Word<'a>>, run: &'a str, from: usize, is_joined: bool) {
    let mut cut = None;
    if of_word(run).is_none() {
        let mut before: Option<(usize, char)> = None;
        for (at, sign) in run.char_indices() {
            if let Some((place, letter)) = before
                && letter.is_lowercase()
                && sign.is_uppercase()
            {
                // The letter before the capital of kB and dB belongs to it.
                cut = Some(if sign == 'B' && ['k', 'd'].contains(&letter) { place } else { at });
                break;
            }
            before = Some((at, sign));
        }
    }
    match cut.filter(|cut| *cut > 0) {
        Some(cut) => {
            list.push(Word { text: &run[..cut], from, is_joined });
            push(list, &run[cut..], from + cut, true);
        }
        None => list.push(Word { text: run, from, is_joined }),
    }
}

/// The long names of powers of ten before a unit, which may be a word of their own.
const POWERS: [&str; 13] = [
    "kilo", "mega", "giga", "tera", "kibi", "mebi", "gibi", "milli", "mili", "micro", "mikro", "nano", "tebi",
];

/// Words that tell a factor or a unit that no column has, wherever they stand.
const STRANGE: [&str; 16] = [
    "tenths",
    "hundredths",
    "thousandths",
    "thousands",
    "millions",
    "hundreds",
    "kilo",
    "mega",
    "giga",
    "milli",
    "mahimahi",
    "jiffies",
    "decisecond",
    "deciseconds",
    "centisecond",
    "centiseconds",
];

/// Others that are units only where a unit stands.
const COUNTS: [&str; 13] = [
    "pps", "pkt", "pkts", "packet", "packets", "tick", "ticks", "hz", "khz", "baud", "tenth", "micro", "nano",
];

/// The unit of two words: `per cent`, `milli seconds`.
fn of_pair(first: &str, second: &str) -> Option<Unit> {
    let share = |usual: &str| Some(Unit { measure: Measure::Share, usual: usual.to_owned() });
    match (first, second) {
        ("per" | "pro" | "pour" | "por", "cent" | "ciento") => share("percent"),
        ("per" | "pro" | "pour" | "por", "mille" | "mil" | "thousand") => share("permille"),
        _ if POWERS.contains(&first) => of_word(&format!("{first}{second}")),
        _ => None,
    }
}

/// The unit that is one word.
pub(super) fn of_word(word: &str) -> Option<Unit> {
    let small = word.to_lowercase().replace(['µ', 'μ'], "u");
    let of = |measure, usual: &str| Some(Unit { measure, usual: usual.to_owned() });
    if let Some(usual) = time(&small) {
        // Milliseconds, or megaseconds.
        return of(Measure::Time, if usual == "ms" && ["Ms", "MS"].contains(&word) { word } else { usual });
    }
    match small.as_str() {
        "%" | "\u{ff05}" | "percent" | "percents" | "pct" | "prozent" | "procent" | "pourcent" => {
            return of(Measure::Share, "percent");
        }
        "‰" | "permille" | "permil" | "promille" => return of(Measure::Share, "permille"),
        "ppm" => return of(Measure::Share, "ppm"),
        "ratio" | "fraction" | "probability" => return of(Measure::Share, "ratio"),
        "db" | "dbm" | "dbw" | "mdb" | "cdb" | "ddb" | "linear" => return of(Measure::Level, &small),
        _ if STRANGE.contains(&small.as_str()) || COUNTS.contains(&small.as_str()) => {
            return of(Measure::Other, &small);
        }
        _ => {}
    }
    if !word.is_ascii() {
        return None;
    }
    if let Some(base) = ["psec", "ps"].iter().find_map(|end| Some(&word[..small.strip_suffix(end)?.len()])) {
        let usual = rate_of(&size(base)?);
        // Bits, or bytes.
        let is_open = word.ends_with("BPS");
        return of(Measure::Rate, if is_open { word } else { usual.as_str() });
    }
    // More of them, or each second: Mbs.
    if word.strip_suffix(['s', 'S']).is_some_and(|base| base.len() == 2 && size(base).is_some()) {
        return of(Measure::Rate, word);
    }
    of(Measure::Size, &size(word)?)
}

/// The usual spelling of a unit of time.
fn time(small: &str) -> Option<&'static str> {
    const PARTS: [(&str, &str, &str); 5] = [
        ("milli", "m", "ms"),
        ("mili", "m", "ms"),
        ("micro", "u", "us"),
        ("mikro", "u", "us"),
        ("nano", "n", "ns"),
    ];
    if is_second(small) {
        return Some("s");
    }
    for (long, short, usual) in PARTS {
        if small.strip_prefix(long).is_some_and(is_second)
            || small.strip_prefix(short).is_some_and(|rest| ["s", "sec", "secs"].contains(&rest))
        {
            return Some(usual);
        }
    }
    match small {
        "min" | "mins" | "minute" | "minutes" | "minuten" => Some("min"),
        "h" | "hr" | "hrs" | "hour" | "hours" => Some("h"),
        "day" | "days" => Some("days"),
        _ => None,
    }
}

fn is_second(small: &str) -> bool {
    ["s", "sec", "secs", "second", "seconds", "seconde", "secondes", "secondi", "secondo"].contains(&small)
        || small.starts_with("sekund")
        || small.starts_with("segundo")
}

/// The usual spelling of a unit of sizes.
fn size(word: &str) -> Option<String> {
    let small = word.to_lowercase();
    let long =
        [("bits", false), ("bit", false), ("bytes", true), ("byte", true), ("octets", true), ("octet", true)];
    let long = long.iter().find_map(|(end, is_bytes)| Some((small.strip_suffix(end)?.len(), *is_bytes)));
    let french = ["ko", "Ko", "Mo", "Kio", "Mio", "Gio"].contains(&word).then(|| (word.len() - 1, true));
    let short = || word.ends_with(['b', 'B']).then(|| (word.len() - 1, word.ends_with('B')));
    let (length, is_bytes) = long.or(french).or_else(short)?;
    let power = match &word[..length] {
        // 1000, or 1024.
        "K" if is_bytes => "K",
        power => match power.to_lowercase().as_str() {
            "" => "",
            "k" | "kilo" => "k",
            "m" | "mega" => "M",
            "g" | "giga" => "G",
            "t" | "tera" => "T",
            "ki" | "kibi" => "Ki",
            "mi" | "mebi" => "Mi",
            "gi" | "gibi" => "Gi",
            "ti" | "tebi" => "Ti",
            _ => return None,
        },
    };
    Some(format!("{power}{}", if is_bytes { "B" } else { "bit" }))
}

/// The usual spelling of a rate of a size in each second.
fn rate_of(size: &str) -> String {
    match (size.strip_suffix("bit"), size.strip_suffix('B')) {
        (Some(power), _) => format!("{}bps", power.to_lowercase()),
        (None, power) => format!("{}bytes_ps", power.unwrap_or(size).to_lowercase()),
    }
}

/// Whether a unit is also a word of a sentence, or a part of one, and is meant only where a unit stands.
pub(super) fn is_prose(found: &Found<'_>) -> bool {
    let small = found.text.to_lowercase();
    let words = [
        "us", "s", "h", "min", "minute", "second", "hour", "day", "days", "percent", "bit", "b", "byte",
        "mo", "linear",
    ];
    words.contains(&small.as_str()) || found.unit.usual == "ratio" || COUNTS.contains(&small.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual(text: &str) -> Option<String> {
        let words = Words::of(text);
        words.unit_at(0).filter(|found| found.end == words.list.len()).map(|found| found.unit.usual)
    }

    #[test]
    fn every_spelling_of_a_unit_is_that_unit() {
        for (expected, spellings) in [
            ("s", "s sec secs second seconds Seconds SECONDS Sekunden secondes segundos"),
            (
                "ms",
                "ms msec msecs millis millisec millisecond Milliseconds milli-seconds milli_seconds Millisekunden",
            ),
            ("us", "us usec µs μs micros microseconds MICROSECONDS"),
            ("ns", "ns nsec nanos nanoseconds"),
            ("min", "min mins minutes Minutes"),
            (
                "kbps",
                "kbps Kbps kbit/s Kbit/s KBit/s kbits/s Kbits/sec kb/s Kb/s kilobit/s kilobits_per_second kbitps",
            ),
            (
                "mbps",
                "mbps Mbps mbit/s Mbit/s MBit/s MBits/sec Mb/s mb/s Mbit.s Mbit_s Mbit/second Megabits/s Mbit-s^-1",
            ),
            ("mbytes_ps", "MBps MB/s MByte/s Mbyte/s megabytes/s mBps Mo/s"),
            ("kbytes_ps", "kBps kB/s KB/s kilobytes/s kilo-octets/s kByte/sec"),
            ("bps", "bps bit/s bits/s b/s bits_per_second"),
            ("mibps", "Mibit/s Mibps"),
            ("kB", "kB kByte kBytes kbytes kilobyte Kilobyte kilobytes KILOBYTES ko kilo-bytes"),
            ("KB", "KB KByte KBytes Kbytes Ko"),
            ("MB", "MB MByte Mbytes megabytes Mo"),
            ("kbit", "kbit Kbit KBit kbits Kbits kilobit kilobits Kilobit kb Kb"),
            ("B", "B byte bytes Bytes octets"),
            ("percent", "% ％ percent Percent pct per-cent per_cent Prozent"),
            ("permille", "‰ permille per-mille"),
        ] {
            for spelling in spellings.split(' ') {
                assert_eq!(usual(spelling).as_deref(), Some(expected), "{spelling}");
            }
        }
        for (text, expected) in [("Ms", "Ms"), ("MS", "MS"), ("MBPS", "MBPS"), ("KBPS", "KBPS")] {
            assert_eq!(usual(text).as_deref(), Some(expected), "it is open what is meant");
        }
        for text in
            ["orbit", "habits", "limb", "Go", "time", "low", "rate", "maps", "steps", "p", "k", "i", "Oslo"]
        {
            assert_eq!(usual(text), None, "{text}");
        }
    }

    #[test]
    fn words_are_cut_at_signs_digits_and_capitals() {
        let cut = |text| Words::of(text).list.iter().map(|word| word.text).collect::<Vec<_>>().join(" ");
        for (text, words) in [
            ("timeMs", "time Ms"),
            ("rateKbps", "rate Kbps"),
            ("lowKB", "low KB"),
            ("sizekB", "size kB"),
            ("sizeKiB", "size KiB"),
            ("SINRdB", "SINR dB"),
            ("Time..ms.", "Time ms"),
            ("240p_kB", "240 p kB"),
            ("100ms", "100 ms"),
            ("loss%", "loss %"),
            ("<ms>|[kbps]", "ms kbps"),
        ] {
            assert_eq!(cut(text), words, "{text}");
        }
    }
}
