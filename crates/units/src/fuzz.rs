//! Random changes to documents that people write, for fuzzing their readers. A change leaves most of a document
//! valid, so that later checks are reached as well as the first.

/// Numbers at and beyond the limits of what readers accept.
const NUMBERS: [&str; 28] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "0.0",
    "0.5",
    "1.",
    ".5",
    "1e308",
    "-1e308",
    "1e999",
    "1e-308",
    "nan",
    "inf",
    "-inf",
    "0.000000001",
    "65536",
    "2147483648",
    "4294967296",
    "4611686018427387904",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "1_000",
    "0x10",
];

/// Units of every kind.
const UNITS: [&str; 22] = [
    "ns", "us", "ms", "s", "min", "h", "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "B", "kB", "MB",
    "GB", "TB", "kiB", "packets", "BDP", "%", "x", "",
];

/// Text that no document contains.
const ODD: [&str; 12] =
    ["", " ", "\t", "\"", "'", "\\", "\u{0}", "\u{1b}[2J", "\u{feff}", "\u{2028}", "\u{1f980}", "\r"];

/// The maximum length of a repeated token, in bytes.
const LONGEST: usize = 4096;

/// Returns the document with one to four changes to its tokens and lines. `draw` returns a number below its argument,
/// which is above zero.
pub fn altered(text: &str, draw: &mut dyn FnMut(usize) -> usize) -> String {
    let mut text = text.to_owned();
    for _ in 0..=draw(4) {
        text = if draw(4) == 0 { with_lines_altered(&text, draw) } else { with_token_altered(&text, draw) };
    }
    text
}

fn with_lines_altered(text: &str, draw: &mut dyn FnMut(usize) -> usize) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.is_empty() {
        return String::new();
    }
    let (at, other) = (draw(lines.len()), draw(lines.len()));
    match draw(4) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(other, lines[at]),
        2 => lines.swap(at, other),
        _ => lines.truncate(at),
    }
    lines.concat()
}

/// The kind of token that a character belongs to.
fn class(character: char) -> u8 {
    match character {
        '0'..='9' | '.' => 0,
        'a'..='z' | 'A'..='Z' | '_' | '/' => 1,
        ' ' => 2,
        _ => 3,
    }
}

/// Start, end and class of each run of digits, letters or spaces; any other character stands alone.
fn tokens(text: &str) -> Vec<(usize, usize, u8)> {
    let mut found: Vec<(usize, usize, u8)> = Vec::new();
    for (at, character) in text.char_indices() {
        let (end, class) = (at + character.len_utf8(), class(character));
        match found.last_mut() {
            Some(last) if last.2 == class && class < 3 => last.1 = end,
            _ => found.push((at, end, class)),
        }
    }
    found
}

fn with_token_altered(text: &str, draw: &mut dyn FnMut(usize) -> usize) -> String {
    let tokens = tokens(text);
    if tokens.is_empty() {
        return ODD[draw(ODD.len())].to_owned();
    }
    // Numbers are chosen more often than what surrounds them.
    let numbers: Vec<_> = tokens.iter().filter(|token| token.2 == 0).collect();
    let (from, to, class) = match draw(2) {
        0 if !numbers.is_empty() => *numbers[draw(numbers.len())],
        _ => tokens[draw(tokens.len())],
    };
    let old = &text[from..to];
    let another = tokens[draw(tokens.len())];
    let another = &text[another.0..another.1];
    let new = match (class, draw(8)) {
        (0, 0..=4) => NUMBERS[draw(NUMBERS.len())].to_owned(),
        (0, 5) => format!("-{old}"),
        (0, 6) => format!("{old}{}", "0".repeat(1 + draw(20))),
        (1, 0..=2) => UNITS[draw(UNITS.len())].to_owned(),
        (_, 0..=2) => another.to_owned(),
        (_, 3) => format!("{old}{another}"),
        (_, 4) => old.repeat(2 + draw(3)),
        (_, 5) => String::new(),
        (_, 6) => ODD[draw(ODD.len())].to_owned(),
        // Bounded, since several changes may hit the same token.
        _ => old.repeat(1 + draw(300).min(LONGEST / old.len().max(1))),
    };
    [&text[..from], &new, &text[to..]].concat()
}

/// Draws from a seed with a xorshift generator, so that a fuzzer's seed always leads to the same document.
pub fn draws(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |bound| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as usize % bound.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_small_and_follow_from_the_seed() {
        let text = "delay = \"20 ms\"\nrate = \"10 Mbit/s\"\n\n[flow]\nsize = \"1.5 MB\"\n";
        let of = |seed| altered(text, &mut draws(seed));
        let all: Vec<String> = (0..500).map(of).collect();
        assert_eq!(all, (0..500).map(of).collect::<Vec<_>>());
        let same = all.iter().filter(|other| *other == text).count();
        assert!(same < 50, "{same} of 500 are as they were");
        let kept = all.iter().filter(|other| other.contains("delay =")).count();
        assert!(kept > 300, "{kept} of 500 keep their first key");
        assert!(all.iter().any(|other| other.contains("1e308 ms")));
        assert_eq!(altered("", &mut draws(3)), altered("", &mut draws(3)));
    }
}
