//! What is said of streams anew while they send, each at its time: a list in a scenario.

use std::ops::Range;
use transport::Priority;
use units::parameter::{Arguments, Default, Kind, Parameter, Room, Row, Value};
use units::{Duration, Time};

/// What is said of streams anew.
pub(crate) const CHANGES: Parameter = Parameter {
    name: "changes",
    kind: Kind::List(&Kind::Component(ROOM)),
    default: Default::Absent,
    about: "what the sender's scheduler is told anew, and when",
};

const ROOM: &str = "changes";

/// What may be said.
static CHANGE: &[Row<()>] = &[Row {
    name: "priority",
    about: "from a time on, something else is said of streams to the sender's scheduler",
    parameters: &[
        Parameter {
            name: "at",
            kind: Kind::Duration,
            default: Default::Required,
            about: "when, from the end of the sender's handshake on",
        },
        Parameter {
            name: "stream",
            kind: Kind::Integer(0, 1 << 60),
            default: Default::Absent,
            about: "the stream, by its number from 0 in the order of opening; without it all, those too that are opened later",
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
            about: "whether it may share with others of its urgency (RFC 9218 section 4.2)",
        },
        Parameter {
            name: "weight",
            kind: Kind::Integer(1, 65_535),
            default: Default::Absent,
            about: "share beside streams of other weights",
        },
        Parameter {
            name: "deadline",
            kind: Kind::Duration,
            default: Default::Absent,
            about: "all of it should be sent so long after this change; 0 s: whenever",
        },
        Parameter {
            name: "latency",
            kind: Kind::Duration,
            default: Default::Absent,
            about: "latency budget: data should be sent so long after it was written; 0 s: none",
        },
    ],
    build: (),
}];

/// The room of what may be said anew, as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    Room::of(ROOM, "what is said of streams while they send", CHANGE, None)
}

/// One of them. What is absent stays as it was.
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

    fn concerns(&self, number: u64) -> bool {
        self.stream.is_none_or(|stream| stream == number)
    }

    /// What holds of a stream from this change on; `begun`: when times begin.
    fn after(&self, before: Priority, begun: Time) -> Priority {
        let some = |span: Duration| (!span.is_zero()).then_some(span);
        Priority {
            urgency: self.urgency.unwrap_or(before.urgency),
            incremental: self.incremental.unwrap_or(before.incremental),
            weight: self.weight.unwrap_or(before.weight),
            deadline: self
                .deadline
                .map_or(before.deadline, |span| some(span).map(|span| begun + self.at + span)),
            latency: self.latency.map_or(before.latency, some),
        }
    }
}

/// All of them, and how far they are.
#[derive(Debug, Clone, std::default::Default)]
pub(crate) struct Changes {
    /// By time; those of one time as they are listed.
    list: Vec<Change>,
    begun: Option<Time>,
    /// So many of the list hold.
    done: usize,
}

impl Changes {
    /// Out of the option [`CHANGES`].
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

    /// Whether nothing more will be said.
    pub(crate) fn is_over(&self) -> bool {
        self.done == self.list.len()
    }

    /// The handshake is over.
    pub(crate) fn begin(&mut self, now: Time) {
        self.begun.get_or_insert(now);
    }

    /// When the next one is due.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        Some(self.begun? + self.list.get(self.done)?.at)
    }

    /// Lets those hold that are due, and gives their places in the list.
    pub(crate) fn advance(&mut self, now: Time) -> Range<usize> {
        let before = self.done;
        while self.wake_at().is_some_and(|at| at <= now) {
            self.done += 1;
        }
        before..self.done
    }

    /// Whether any of those at these places is about the stream of this number.
    pub(crate) fn concern(&self, places: Range<usize>, number: u64) -> bool {
        self.list[places].iter().any(|change| change.concerns(number))
    }

    /// What holds of the stream of this number now, of which this was said at first.
    pub(crate) fn said(&self, number: u64, first: Priority) -> Priority {
        let begun = self.begun.unwrap_or(Time::ZERO);
        let held = self.list[..self.done].iter();
        let held = held.filter(|change| change.concerns(number));
        held.fold(first, |priority, change| change.after(priority, begun))
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
    fn each_holds_from_its_time_on_and_leaves_the_rest_as_it_was() {
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
        changes.begin(at(100));
        changes.begin(at(500));
        assert_eq!(changes.wake_at(), Some(at(110)));
        assert!(changes.advance(at(109)).is_empty());
        assert_eq!(changes.said(1, first), first);
        assert_eq!(changes.advance(at(110)), 0..1);
        let heavy = Priority { weight: 9, deadline: Some(at(115)), ..first };
        assert_eq!([0, 1].map(|number| changes.said(number, first)), [heavy; 2]);
        assert_eq!(changes.advance(at(1000)), 1..3);
        assert!(changes.concern(1..2, 1) && !changes.concern(1..2, 0) && changes.concern(1..3, 0));
        let shared = Priority { weight: 9, incremental: true, ..first };
        assert_eq!(changes.said(0, first), shared);
        assert_eq!(changes.said(1, first), Priority { urgency: 0, latency: None, ..shared });
        assert!(changes.wake_at().is_none() && changes.advance(at(2000)).is_empty());
    }
}
