//! Changes of stream priorities at given times during a run, as a list in a scenario.

use std::ops::Range;
use transport::Priority;
use units::parameter::{Component, Options, Room, Row};
use units::{Duration, Time};

/// The option with the list of changes.
#[derive(Debug, Clone, Default, Options)]
pub(crate) struct ChangesOptions {
    /// changes to what the sender's scheduler knows of streams, and when
    #[option(room = ROOM)]
    changes: Option<Vec<Component>>,
}

const ROOM: &str = "changes";

/// The kinds of changes.
static CHANGE: &[Row<()>] = &[Row {
    name: "priority",
    about: "at a given time the priorities of streams change for the sender's scheduler",
    parameters: Change::PARAMETERS,
    build: (),
}];

/// The table of changes for scenarios and `quiclab list`.
pub fn room() -> Room {
    Room::of(ROOM, "changes to streams' priorities while they send", CHANGE, None)
}

/// A change. Absent values keep their previous value.
#[derive(Debug, Clone, Options)]
struct Change {
    /// when, counted from the end of the sender's handshake
    at: Duration,
    /// the stream, numbered from 0 in the order of opening; without it all streams, including those opened later
    #[option(within = 0..=1 << 60)]
    stream: Option<u64>,
    /// urgency, 0 the most urgent (RFC 9218: 0 to 7)
    urgency: Option<u8>,
    /// whether it shares with others of its urgency (RFC 9218 section 4.2)
    incremental: Option<bool>,
    /// weight, relative to other streams
    #[option(within = 1..=65_535)]
    weight: Option<u16>,
    /// deadline for all its data, counted from this change; 0 s: none
    deadline: Option<Duration>,
    /// latency budget: how long after it was written data should be sent; 0 s: none
    latency: Option<Duration>,
}

impl Change {
    fn affects(&self, number: u64) -> bool {
        self.stream.is_none_or(|stream| stream == number)
    }

    /// The priority of a stream after this change; `started` is the start of the clock.
    fn after(&self, before: Priority, started: Time) -> Priority {
        let some = |span: Duration| (!span.is_zero()).then_some(span);
        Priority {
            urgency: self.urgency.unwrap_or(before.urgency),
            incremental: self.incremental.unwrap_or(before.incremental),
            weight: self.weight.unwrap_or(before.weight),
            deadline: self
                .deadline
                .map_or(before.deadline, |span| some(span).map(|span| started + self.at + span)),
            latency: self.latency.map_or(before.latency, some),
        }
    }
}

/// The list of changes, and how many of them have taken effect.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes {
    /// Sorted by time; changes at the same time keep their order in the list.
    list: Vec<Change>,
    started: Option<Time>,
    /// The number of changes in effect.
    done: usize,
}

impl Changes {
    /// The changes in the option.
    pub(crate) fn of(options: &ChangesOptions) -> Changes {
        let given = options.changes.iter().flatten();
        Changes::new(given.map(|component| Change::of(&component.arguments)).collect())
    }

    fn new(mut list: Vec<Change>) -> Changes {
        list.sort_by_key(|change| change.at);
        Changes { list, ..Changes::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether all changes are in effect.
    pub(crate) fn is_over(&self) -> bool {
        self.done == self.list.len()
    }

    /// The handshake is complete: starts the clock.
    pub(crate) fn start(&mut self, now: Time) {
        self.started.get_or_insert(now);
    }

    /// The time of the next change.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        Some(self.started? + self.list.get(self.done)?.at)
    }

    /// Applies the changes that are due, and returns their positions in the list.
    pub(crate) fn advance(&mut self, now: Time) -> Range<usize> {
        let before = self.done;
        while self.wake_at().is_some_and(|at| at <= now) {
            self.done += 1;
        }
        before..self.done
    }

    /// Whether any of the changes at these positions affects the stream with this number.
    pub(crate) fn affect(&self, places: Range<usize>, number: u64) -> bool {
        self.list[places].iter().any(|change| change.affects(number))
    }

    /// The current priority of the stream with this number, which started with `first`.
    pub(crate) fn current(&self, number: u64, first: Priority) -> Priority {
        let started = self.started.unwrap_or(Time::ZERO);
        let held = self.list[..self.done].iter();
        let held = held.filter(|change| change.affects(number));
        held.fold(first, |priority, change| change.after(priority, started))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(given: &[&[(&str, &str)]]) -> Changes {
        Changes::new(given.iter().map(|options| Change::written(options).unwrap()).collect())
    }

    #[test]
    fn each_change_takes_effect_at_its_time_and_keeps_other_values() {
        let at = |n| Time::ZERO + Duration::from_millis(n);
        let mut changes = changes(&[
            &[("at", "20 ms"), ("stream", "1"), ("urgency", "0"), ("latency", "0 s")],
            &[("at", "10 ms"), ("weight", "9"), ("deadline", "5 ms")],
            &[("at", "20 ms"), ("deadline", "0 s"), ("incremental", "true")],
        ]);
        let first = Priority { latency: Some(Duration::from_millis(7)), ..Priority::default() };
        assert_eq!(changes.wake_at(), None, "before the handshake is over");
        changes.start(at(100));
        changes.start(at(500));
        assert_eq!(changes.wake_at(), Some(at(110)));
        assert!(changes.advance(at(109)).is_empty());
        assert_eq!(changes.current(1, first), first);
        assert_eq!(changes.advance(at(110)), 0..1);
        let heavy = Priority { weight: 9, deadline: Some(at(115)), ..first };
        assert_eq!([0, 1].map(|number| changes.current(number, first)), [heavy; 2]);
        assert_eq!(changes.advance(at(1000)), 1..3);
        assert!(changes.affect(1..2, 1) && !changes.affect(1..2, 0) && changes.affect(1..3, 0));
        let shared = Priority { weight: 9, incremental: true, ..first };
        assert_eq!(changes.current(0, first), shared);
        assert_eq!(changes.current(1, first), Priority { urgency: 0, latency: None, ..shared });
        assert!(changes.wake_at().is_none() && changes.advance(at(2000)).is_empty());
    }
}
