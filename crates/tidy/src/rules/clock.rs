//! A run is a function of scenario and seed: only `live`, the benches and the peers read the wall clock, and `foreign` once, for the
//! zero of a stack that counts in `Instant`.

use crate::{Finding, Rule, Tree, code};

/// The sources that need real time.
const ALLOWED: [&str; 5] = [
    "crates/live/",
    "benches/",
    "interop/peers/",
    // No other constructor: the value is never seen, and the date of tokens is a constant.
    "crates/foreign/src/quinn/proto/clock.rs",
    "crates/foreign/src/quinn/proto/seeds.rs",
];
/// The clocks of the standard library.
const CLOCKS: [&str; 3] = ["Instant::now", "SystemTime", "UNIX_EPOCH"];

pub(super) const RULE: Rule = Rule {
    name: "clock",
    about: "the wall clock is read nowhere outside crates/live, benches and interop/peers: a run is a function of scenario and seed",
    check,
    broken: || Tree::of(&[("crates/quic/src/a.rs", "//! A.\nlet now = std::time::Instant::now();")]),
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.ending(".rs").filter(|file| !ALLOWED.iter().any(|folder| file.path.starts_with(folder)))
    {
        for (index, line) in code::blank(&file.text).lines().enumerate() {
            for clock in CLOCKS.iter().filter(|clock| line.contains(**clock)) {
                let says = format!("{clock}: time comes in as `now`, an argument");
                findings.push(Finding::new(&file.path, index + 1, says));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_the_simulator_counts() {
        let used = "let t = SystemTime::now();";
        for (path, text, count) in [
            ("crates/quic/src/a.rs", used, 1),
            ("crates/live/src/a.rs", used, 0),
            ("benches/src/a.rs", used, 0),
            ("interop/peers/quiche/src/a.rs", used, 0),
            ("crates/quic/src/a.rs", "// Instant::now is forbidden\nf(\"SystemTime\");", 0),
            ("crates/quic/src/a.rs", "struct Instantaneous; Instant::later()", 0),
        ] {
            assert_eq!(check(&Tree::of(&[(path, text)])).len(), count, "{path} {text}");
        }
    }
}
