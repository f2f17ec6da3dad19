//! Changes of stream priorities at given times during a run, as a list in a scenario.

use std::ops::Range;
use transport::Priority;
use units::parameter::{Arguments, Default, Kind, Parameter, Room, Row, Value};
use units::{Duration, Time};

/// The list of changes.
pub(crate) const CHANGES: Parameter = Parameter {
    name: "changes",
    kind: Kind::List(&Kind::Component(ROOM)),
    default: Default::Absent,
    about: "changes to what the sender's scheduler knows of streams, and when",
};

const ROOM: &str = "changes";

/// The kinds of changes.
static CHANGE: &[Row<()>] = &[Row {
    name: "priority",
    about: "at a given time the priorities of streams change for the sender's scheduler",
    parameters: &[
        Parameter {
            name: "at",
            kind: Kind::Duration,
            default: Default::Required,
            about: "when, counted from the end of the sender's handshake",
        },
        Parameter {
            name: "stream",
            kind: Kind::Integer(0, 1 << 60),
            default: Default::Absent,
            about: "the stream, numbered from 0 in the order of opening; without it all streams, including those opened later",
        },
        Parameter {
            name: "urgency",
            kind: Kind::Integer(0, 255),
            default: Default::Absent,
            about: "urgency, 0 the most urgent (RFC 9218: 0 to 7)",
        },
        Parameter {
            name: "incremental",
            kind: Kind::Flag,
            default: Default::Absent,
            about: "whether it shares with others of its urgency (RFC 9218 section 4.2)",
        },
        Parameter {
            name: "weight",
            kind: Kind::Integer(1, 65_535),
            default: Default::Absent,
            about: "weight, relative to other streams",
        },
        Parameter {
            name: "deadline",
            kind: Kind::Duration,
            default: Default::Absent,
            about: "deadline for all its data, counted from this change; 0 s: none",
        },
        Parameter {
            name: "latency",
            kind: Kind::Duration,
            default: Default::Absent,
            about: "latency budget: how long after it was written data should be sent; 0 s: none",
        },
    ],
    build: (),
}];

/// The table of changes for scenarios and `quiclab list`.
pub fn room() -> Room {
    Room::of(ROOM, "changes to streams' priorities while they send", CHANGE, None)
}

/// A change. Absent values keep their previous value.
#[derive(Debug, Clone)]
struct Change {
    at: Duration,
    stream: Option<u64>,
    urgency: Option<u8>,
    incremental: Option<bool>,
    weight: Option<u16>,
    deadline: Option<Duration>,
    latency: Option<Duration>,
}

impl Change {
    fn of(arguments: &Arguments) -> Change {
        let integer = |name| arguments.has(name).then(|| arguments.integer(name));
        let duration = |name| arguments.has(name).then(|| arguments.duration(name));
        Change {
            at: arguments.duration("at"),
            stream: integer("stream"),
            urgency: integer("urgency").map(|urgency| urgency as u8),
            incremental: arguments.has("incremental").then(|| arguments.flag("incremental")),
            weight: integer("weight").map(|weight| weight as u16),
            deadline: duration("deadline"),
            latency: duration("latency"),
        }
    }

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
#[derive(Debug, Clone, std::default::Default)]
pub(crate) struct Changes {
    /// Sorted by time; changes at the same time keep their order in the list.
    list: Vec<Change>,
    started: Option<Time>,
    /// The number of changes in effect.
    done: usize,
}

impl Changes {
    /// The changes in the option [`CHANGES`].
    pub(crate) fn of(arguments: &Arguments) -> Changes {
        let given = if arguments.has(CHANGES.name) { arguments.list(CHANGES.name) } else { Vec::new() };
        let changes = given.iter().filter_map(|value| match value {
            Value::Component(component) => Some(Change::of(&component.arguments)),
            _ => None,
        });
        let mut list: Vec<Change> = changes.collect();
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
    use units::parameter::Component;

    fn changes(given: &[&[(&'static str, Value)]]) -> Changes {
        let component = |options: &&[(&'static str, Value)]| {
            Value::Component(Component {
                room: ROOM,
                name: "priority",
                arguments: Arguments(options.to_vec()),
            })
        };
        let list = Value::List(given.iter().map(component).collect());
        Changes::of(&Arguments(vec![(CHANGES.name, list)]))
    }

    fn ms(n: u64) -> Value {
        Value::Duration(Duration::from_millis(n))
    }

    #[test]
    fn each_change_takes_effect_at_its_time_and_keeps_other_values() {
        let at = |n| Time::ZERO + Duration::from_millis(n);
        let mut changes = changes(&[
            &[
                ("at", ms(20)),
                ("stream", Value::Integer(1)),
                ("urgency", Value::Integer(0)),
                ("latency", ms(0)),
            ],
            &[("at", ms(10)), ("weight", Value::Integer(9)), ("deadline", ms(5))],
            &[("at", ms(20)), ("deadline", ms(0)), ("incremental", Value::Flag(true))],
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
