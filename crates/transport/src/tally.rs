//! A count of messages or requests.

use units::{Duration, Histogram};

/// The number of messages or requests that were started and completed, and the time that each took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// The name in summaries, in the plural: `"messages"`, `"requests"`.
    pub what: &'static str,
    /// Started at this end.
    pub started: u64,
    /// Completed, as observed at this end.
    pub done: u64,
    /// Completed after their deadline.
    pub late: u64,
    /// Whether there are deadlines.
    pub deadlines: bool,
    /// The time that each completed one took.
    pub spans: Histogram,
}

impl Tally {
    /// An empty count.
    pub fn of(what: &'static str, deadlines: bool) -> Tally {
        Tally { what, deadlines, ..Tally::default() }
    }

    /// Adds a completed one with the time that it took; `deadline` is the time allowed.
    pub fn add(&mut self, span: Duration, deadline: Option<Duration>) {
        self.done += 1;
        self.late += u64::from(deadline.is_some_and(|deadline| span > deadline));
        self.spans.add(span);
    }

    /// The counts of both ends together: one observes the start, the other the completion.
    #[must_use]
    pub fn joined(&self, other: &Tally) -> Tally {
        let (more, less) = if other.done > self.done { (other, self) } else { (self, other) };
        Tally {
            started: self.started.max(other.started),
            deadlines: more.deadlines | less.deadlines,
            ..more.clone()
        }
    }

    /// The number that were started but not completed.
    pub fn missing(&self) -> u64 {
        self.started.saturating_sub(self.done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ends_together() {
        let mut writer = Tally::of("messages", true);
        writer.started = 3;
        let mut reader = Tally::of("messages", true);
        let deadline = Some(Duration::from_millis(5));
        reader.add(Duration::from_millis(5), deadline);
        reader.add(Duration::from_millis(6), deadline);
        for joined in [writer.joined(&reader), reader.joined(&writer)] {
            assert_eq!((joined.started, joined.done, joined.late, joined.missing()), (3, 2, 1, 1));
            assert_eq!(joined.spans.longest(), Some(Duration::from_millis(6)));
        }
    }
}
