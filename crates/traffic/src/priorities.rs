//! The priorities of an application's streams, as lists in a scenario.

use crate::changes::Changes;
use std::collections::BTreeMap;
use transport::{Priority, Transport};
use units::parameter::{Arguments, Default, Kind, Parameter, Value};
use units::{Duration, Time};
use wire::StreamId;

/// Urgencies, by stream.
pub(crate) const URGENCIES: Parameter = Parameter {
    name: "urgencies",
    kind: Kind::List(&Kind::Integer(0, 255)),
    default: Default::Absent,
    about: "urgencies of the streams for the sender's scheduler, 0 the most urgent (RFC 9218: 0 to 7, default 3); with more streams the list repeats",
};
/// Whether streams are incremental, by stream.
pub(crate) const INCREMENTALS: Parameter = Parameter {
    name: "incrementals",
    kind: Kind::List(&Kind::Flag),
    default: Default::Absent,
    about: "whether streams share with others of their urgency (RFC 9218 section 4.2); with more streams the list repeats",
};
/// Weights, by stream.
pub(crate) const WEIGHTS: Parameter = Parameter {
    name: "weights",
    kind: Kind::List(&Kind::Integer(1, 65_535)),
    default: Default::Absent,
    about: "weights of the streams for the sender's scheduler (default 1); with more streams the list repeats",
};
/// Latency budgets, by stream.
pub(crate) const LATENCIES: Parameter = Parameter {
    name: "latencies",
    kind: Kind::List(&Kind::Duration),
    default: Default::Absent,
    about: "latency budgets of the streams for the sender's scheduler, 0 s: none; with more streams the list repeats",
};
/// Deadlines, by stream.
pub(crate) const DEADLINES: Parameter = Parameter {
    name: "deadlines",
    kind: Kind::List(&Kind::Duration),
    default: Default::Absent,
    about: "deadlines of the streams for the sender's scheduler, counted from when each opens, 0 s: none; with more streams the list repeats",
};

/// The urgency of all streams.
pub(crate) const URGENCY: Parameter = Parameter {
    name: "urgency",
    kind: Kind::Integer(0, 255),
    default: Default::Is("3"),
    about: "urgency of its streams for the sender's scheduler, 0 the most urgent (RFC 9218: 0 to 7)",
};
/// Whether all streams are incremental.
pub(crate) const INCREMENTAL: Parameter = Parameter {
    name: "incremental",
    kind: Kind::Flag,
    default: Default::Is("false"),
    about: "whether parts of a stream are useful, so that it can share with others of its urgency (RFC 9218 section 4.2)",
};
/// The weight of all streams.
pub(crate) const WEIGHT: Parameter = Parameter {
    name: "weight",
    kind: Kind::Integer(1, 65_535),
    default: Default::Is("1"),
    about: "weight of its streams, for schedulers that use weights",
};

/// The initial settings of a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Settings {
    priority: Priority,
    /// Relative to its opening.
    deadline: Option<Duration>,
}

/// The priorities of streams by their number, with later changes.
#[derive(Debug, Clone, std::default::Default)]
pub(crate) struct Priorities {
    initial: Vec<Settings>,
    changes: Changes,
    /// If there are changes: the streams that they may affect, and their opening times.
    open: BTreeMap<StreamId, Time>,
}

impl Priorities {
    /// The priorities in the options [`URGENCIES`], [`INCREMENTALS`], [`WEIGHTS`], [`LATENCIES`], [`DEADLINES`] and
    /// [`crate::changes::CHANGES`].
    pub(crate) fn of(arguments: &Arguments) -> Priorities {
        let given = |name| if arguments.has(name) { arguments.list(name) } else { Vec::new() };
        let lists = [URGENCIES, INCREMENTALS, WEIGHTS, LATENCIES, DEADLINES].map(|row| given(row.name));
        // The lists repeat; the period of the combination is their common multiple.
        let period = lists.iter().map(Vec::len).filter(|length| *length > 0).fold(0, common_multiple);
        Priorities {
            initial: (0..period.min(MAX_SETTINGS)).map(|index| settings(&lists, index)).collect(),
            changes: Changes::of(arguments),
            open: BTreeMap::new(),
        }
    }

    /// The same priority for all streams, from the options [`URGENCY`], [`INCREMENTAL`], [`WEIGHT`] and
    /// [`crate::changes::CHANGES`], with this latency budget.
    pub(crate) fn of_all(arguments: &Arguments, latency: Option<Duration>) -> Priorities {
        let priority = Priority {
            urgency: arguments.integer("urgency") as u8,
            incremental: arguments.flag("incremental"),
            weight: arguments.integer("weight") as u16,
            latency,
            ..Priority::default()
        };
        let initial = vec![Settings { priority, deadline: None }];
        Priorities { initial, changes: Changes::of(arguments), open: BTreeMap::new() }
    }

    /// The initial deadline of the stream with this number, relative to its opening.
    pub(crate) fn deadline(&self, number: u64) -> Option<Duration> {
        self.first(number)?.deadline
    }

    /// The initial urgency of the stream with this number.
    pub(crate) fn urgency(&self, number: u64) -> u8 {
        self.first(number).map_or(Priority::default(), |initial| initial.priority).urgency
    }

    fn first(&self, number: u64) -> Option<Settings> {
        self.initial.get(number as usize % self.initial.len().max(1)).copied()
    }

    /// The handshake is complete: starts the clock of the changes.
    pub(crate) fn begin(&mut self, now: Time) {
        self.changes.start(now);
    }

    /// Sets the priority of a stream that was just opened, if it differs from the default.
    pub(crate) fn on_opened(&mut self, now: Time, stream: StreamId, transport: &mut dyn Transport) {
        if self.initial.is_empty() && self.changes.is_empty() {
            return;
        }
        self.changes.advance(now);
        self.apply(stream, now, transport);
        // Streams may be opened before the handshake is complete.
        if !self.changes.is_over() {
            self.open.insert(stream, now);
        }
    }

    fn apply(&self, stream: StreamId, opened: Time, transport: &mut dyn Transport) {
        let first = self.first(stream.index());
        let first = first.map_or(Priority::default(), |first| Priority {
            deadline: first.deadline.map(|span| opened + span),
            ..first.priority
        });
        // The stream may already be closed, which is fine.
        let _ = transport.set_priority(stream, self.changes.current(stream.index(), first));
    }

    /// Forgets a closed stream.
    pub(crate) fn forget(&mut self, stream: StreamId) {
        self.open.remove(&stream);
    }

    /// The time of the next change.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.changes.wake_at()
    }

    /// Applies the changes that are due.
    pub(crate) fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        let due = self.changes.advance(now);
        for (stream, opened) in &self.open {
            if self.changes.affect(due.clone(), stream.index()) {
                self.apply(*stream, *opened, transport);
            }
        }
        if self.changes.is_over() {
            self.open.clear();
        }
    }
}

/// The maximum number of distinct stream settings.
const MAX_SETTINGS: usize = 10_000;

fn common_multiple(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    if a == 0 { b } else { (a / x).saturating_mul(b) }
}

fn settings(
    [urgencies, incrementals, weights, latencies, deadlines]: &[Vec<Value>; 5],
    index: usize,
) -> Settings {
    let at = |list: &[Value]| list.get(index % list.len().max(1)).cloned();
    let span = |list: &[Value]| match at(list) {
        Some(Value::Duration(span)) => (!span.is_zero()).then_some(span),
        _ => None,
    };
    let mut priority = Priority { latency: span(latencies), ..Priority::default() };
    if let Some(Value::Integer(urgency)) = at(urgencies) {
        priority.urgency = urgency as u8;
    }
    if let Some(Value::Flag(incremental)) = at(incrementals) {
        priority.incremental = incremental;
    }
    if let Some(Value::Integer(weight)) = at(weights) {
        priority.weight = weight as u16;
    }
    Settings { priority, deadline: span(deadlines) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_repeat_independently() {
        let integers = |list: &[u64]| Value::List(list.iter().copied().map(Value::Integer).collect());
        let arguments = Arguments(vec![
            ("urgencies", integers(&[1, 2])),
            ("weights", integers(&[5, 6, 7])),
            ("latencies", Value::List([0, 9].map(|ms| Value::Duration(Duration::from_millis(ms))).to_vec())),
            ("incrementals", Value::List(vec![Value::Flag(true)])),
            ("deadlines", Value::List([8, 0].map(|ms| Value::Duration(Duration::from_millis(ms))).to_vec())),
        ]);
        let priorities = Priorities::of(&arguments);
        let initial: Vec<Priority> = priorities.initial.iter().map(|initial| initial.priority).collect();
        let numbers: Vec<_> = initial.iter().map(|initial| (initial.urgency, initial.weight)).collect();
        assert_eq!(numbers, [(1, 5), (2, 6), (1, 7), (2, 5), (1, 6), (2, 7)]);
        assert_eq!((initial[0].latency, initial[1].latency), (None, Some(Duration::from_millis(9))));
        assert!(initial.iter().all(|initial| initial.incremental));
        let deadlines = [0, 1, 7].map(|number| priorities.deadline(number));
        assert_eq!(deadlines, [Some(Duration::from_millis(8)), None, None]);
        assert!(Priorities::of(&Arguments::default()).initial.is_empty());
    }
}
