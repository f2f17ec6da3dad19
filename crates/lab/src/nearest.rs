//! The word that somebody probably meant.

/// Words longer than this are not compared: nobody mistypes them, and the comparison is quadratic.
const LONGEST: usize = 64;

/// The nearest of `words` to `word`, if one is near: at most a third of its letters are other ones. Letters of another
/// case, and `-` for `_`, cost nothing. Of several equally near ones it is the first.
pub fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = folded(word)?;
    let near = words.into_iter().filter_map(|known| {
        let letters = folded(known)?;
        let distance = distance(&word, &letters);
        let allowed = (word.len().max(letters.len()) / 3).max(1);
        (distance <= allowed && distance < letters.len()).then_some((distance, known))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

fn folded(word: &str) -> Option<Vec<char>> {
    let letters = word.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() });
    let letters: Vec<char> = letters.take(LONGEST + 1).collect();
    (letters.len() <= LONGEST).then_some(letters)
}

/// Letters to insert, remove, replace, or swap with their neighbour, to make one word of the other.
fn distance(a: &[char], b: &[char]) -> usize {
    let (mut before, mut last): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let other = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (last[j - 1] + other).min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
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

    #[test]
    fn distances() {
        for (a, b, count) in [("", "", 0), ("ab", "ba", 1), ("kitten", "sitting", 3), ("abc", "", 3)] {
            let letters = |word: &str| word.chars().collect::<Vec<_>>();
            assert_eq!(distance(&letters(a), &letters(b)), count, "{a} {b}");
        }
    }
}
