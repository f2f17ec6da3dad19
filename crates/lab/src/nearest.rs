//! Finds the word that a mistyped one probably stands for.

/// The longest word that is compared, since the comparison takes quadratic time.
const LONGEST: usize = 64;

/// What is called otherwise elsewhere: the word, and what stands for it here, the likeliest first.
const ELSEWHERE: [(&str, &[&str]); 14] = [
    ("bandwidth", &["rate"]),
    ("bw", &["rate"]),
    ("capacity", &["rate"]),
    ("datarate", &["rate"]),
    ("latency", &["delay"]),
    ("propagation_delay", &["delay"]),
    ("rtt", &["delay", "link"]),
    ("buffer", &["queue", "limit"]),
    ("plr", &["loss", "probability"]),
    ("error_rate", &["loss", "probability"]),
    ("cc", &["controller", "transport"]),
    ("congestion_control", &["controller", "transport"]),
    ("controller", &["transport"]),
    ("app", &["application", "flow"]),
];

/// The nearest of `words` to `word`, or the first of several, if at most a third of its letters differ. Case is ignored,
/// and `-` equals `_`. Otherwise the one that means the same.
pub fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = folded(word)?;
    let words: Vec<&str> = words.into_iter().collect();
    let meant = || {
        let (_, here) = ELSEWHERE.iter().find(|(elsewhere, _)| *elsewhere == word)?;
        here.iter().find_map(|meant| words.iter().copied().find(|known| known == meant))
    };
    let near = words.iter().copied().filter_map(|known| {
        let letters = folded(known)?;
        let distance = edits(&word, &letters);
        let length = letters.chars().count();
        let allowed = (word.chars().count().max(length) / 3).max(1);
        (distance <= allowed && distance < length).then_some((distance, known))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known).or_else(meant)
}

/// The letters to insert, remove, replace, or swap with their neighbour to make one word of another.
pub fn edits(one: &str, other: &str) -> usize {
    strsim::osa_distance(one, other)
}

fn folded(word: &str) -> Option<String> {
    let is_short = word.chars().nth(LONGEST).is_none();
    is_short.then(|| word.to_ascii_lowercase().replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_finger_are_near() {
        let words = ["newreno", "cubic", "bbr", "initial_window"];
        for (word, meant) in [
            ("newrneo", Some("newreno")),
            ("NewReno", Some("newreno")),
            ("new-reno", Some("newreno")),
            ("cubik", Some("cubic")),
            ("initial-windw", Some("initial_window")),
            ("bbr2", Some("bbr")),
            ("vegas", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(nearest(word, words), meant, "{word}");
        }
        assert_eq!(nearest(&"n".repeat(1000), words), None);
    }

    #[test]
    fn words_of_other_tools_are_known() {
        let words = ["rate", "delay", "queue", "loss"];
        assert_eq!(nearest("bandwidth", words), Some("rate"));
        assert_eq!(nearest("Propagation-Delay", words), Some("delay"));
        assert_eq!(nearest("rtt", ["link", "flow"]), Some("link"));
        assert_eq!(nearest("rtt", ["rate", "queue"]), None);
        assert_eq!(nearest("controller", ["link", "transport"]), Some("transport"));
        // A slip of the finger is likelier.
        assert_eq!(nearest("rtt", ["rto", "delay"]), Some("rto"));
    }

    #[test]
    fn the_first_of_equally_near_words_is_taken() {
        assert_eq!(nearest("flox", ["flow", "flot"]), Some("flow"));
    }
}
