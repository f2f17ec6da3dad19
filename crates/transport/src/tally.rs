//! What an application counts of the things that it begins and waits for: messages, requests.

use units::{Duration, Histogram};

/// How many of something were begun and done, and how long each took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// What they are, in the plural and as it stands in a summary: `"messages"`, `"requests"`.
    pub what: &'static str,
    /// So many were begun at this end.
    pub begun: u64,
    /// So many were seen done at this end.
    pub done: u64,
    /// Of those done, so many came after their deadline.
    pub late: u64,
    /// Whether there are deadlines.
    pub deadlines: bool,
    /// How long each took that was done.
    pub spans: Histogram,
    /// The longest of them.
    pub longest: Duration,
}

impl Tally {
    /// None yet.
    pub fn of(what: &'static str, deadlines: bool) -> Tally {
        Tally { what, deadlines, ..Tally::default() }
    }

    /// One more is done, after so long; `deadline`: how long it might have taken.
    pub fn add(&mut self, span: Duration, deadline: Option<Duration>) {
        self.done += 1;
        self.late += u64::from(deadline.is_some_and(|deadline| span > deadline));
        self.spans.add(span);
        self.longest = self.longest.max(span);
    }

    /// What both ends know together: one has seen them begun, the other one done.
    #[must_use]
    pub fn joined(&self, other: &Tally) -> Tally {
        let (more, less) = if other.done > self.done { (other, self) } else { (self, other) };
        Tally {
            begun: self.begun.max(other.begun),
            deadlines: more.deadlines | less.deadlines,
            ..more.clone()
        }
    }

    /// How many were begun and never seen done.
    pub fn missing(&self) -> u64 {
        self.begun.saturating_sub(self.done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ends_together() {
        let mut writer = Tally::of("messages", true);
        writer.begun = 3;
        let mut reader = Tally::of("messages", true);
        let deadline = Some(Duration::from_millis(5));
        reader.add(Duration::from_millis(5), deadline);
        reader.add(Duration::from_millis(6), deadline);
        for joined in [writer.joined(&reader), reader.joined(&writer)] {
            assert_eq!((joined.begun, joined.done, joined.late, joined.missing()), (3, 2, 1, 1));
            assert_eq!(joined.longest, Duration::from_millis(6));
        }
    }
}
