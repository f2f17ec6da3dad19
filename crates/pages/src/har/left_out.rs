//! The entries of an archive that did not use the network: how many, why, and the first of each reason.

use std::fmt;

/// Why an entry did not use the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unused {
    /// No answer came: the request was never made, blocked or given up.
    NeverMade,
    /// The response came from a cache, a service worker or the browser itself.
    Local,
    /// The URL is not http or https.
    NotHttp,
}

/// The words for reasons, in the order of [`Unused`].
const WORDS: [&str; 3] = [
    "never made, blocked or given up (no HTTP status)",
    "from a cache, a service worker or the browser itself",
    "not http or https",
];

/// What was left out of an archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LeftOut {
    /// By reason: the number of entries, and the number of the first.
    reasons: [(usize, usize); WORDS.len()],
}

impl LeftOut {
    /// Counts an entry, whose number is counted from 1.
    pub(super) fn add(&mut self, why: Unused, number: usize) {
        let (count, first) = &mut self.reasons[why as usize];
        if *count == 0 {
            *first = number;
        }
        *count += 1;
    }

    /// The number of entries.
    pub(super) fn count(&self) -> usize {
        self.reasons.iter().map(|(count, _)| count).sum()
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = self.reasons.iter().zip(WORDS).filter(|((count, _), _)| *count > 0);
        for (at, ((count, first), words)) in given.enumerate() {
            let separator = if at > 0 { "; " } else { "" };
            write!(f, "{separator}{count} {words}, the first is entry {first}")?;
        }
        Ok(())
    }
}
