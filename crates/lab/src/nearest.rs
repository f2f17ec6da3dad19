//! Finds the word that a mistyped one probably stands for.

/// The longest word that is compared, since the comparison takes quadratic time.
const LONGEST: usize = 64;

/// The nearest of `words` to `word`, or the first of several, if at most a third of its letters differ. Case is ignored,
/// and `-` equals `_`.
pub fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = folded(word)?;
    let near = words.into_iter().filter_map(|known| {
        let letters = folded(known)?;
        // The letters to insert, remove, replace, or swap with their neighbour.
        let distance = strsim::osa_distance(&word, &letters);
        let length = letters.chars().count();
        let allowed = (word.chars().count().max(length) / 3).max(1);
        (distance <= allowed && distance < length).then_some((distance, known))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
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
    fn the_first_of_equally_near_words_is_taken() {
        assert_eq!(nearest("flox", ["flow", "flot"]), Some("flow"));
    }
}
