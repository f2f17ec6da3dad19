//! What an application says of its streams, as lists in a scenario.

use crate::Transport;
use quic::Priority;
use units::Duration;
use units::parameter::{Arguments, Default, Kind, Parameter, Value};
use wire::StreamId;

/// Urgencies, by stream.
pub(crate) const URGENCIES: Parameter = Parameter {
    name: "urgencies",
    kind: Kind::List(&Kind::Integer(0, 255)),
    default: Default::Absent,
    about: "urgencies of the streams for the sender's scheduler, 0 the most urgent (RFC 9218: 0 to 7, 3 where nobody says); with more streams they begin anew",
};
/// Whether streams are incremental, by stream.
pub(crate) const INCREMENTALS: Parameter = Parameter {
    name: "incrementals",
    kind: Kind::List(&Kind::Flag),
    default: Default::Absent,
    about: "whether streams may share with others of their urgency (RFC 9218 section 4.2); with more streams they begin anew",
};
/// Weights, by stream.
pub(crate) const WEIGHTS: Parameter = Parameter {
    name: "weights",
    kind: Kind::List(&Kind::Integer(1, 65_535)),
    default: Default::Absent,
    about: "weights of the streams for the sender's scheduler (1 where nobody says); with more streams they begin anew",
};
/// Latency budgets, by stream.
pub(crate) const LATENCIES: Parameter = Parameter {
    name: "latencies",
    kind: Kind::List(&Kind::Duration),
    default: Default::Absent,
    about: "latency budgets of the streams for the sender's scheduler, 0 s: none; with more streams they begin anew",
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
    about: "whether parts of a stream are of use, so that it may share with others of its urgency (RFC 9218 section 4.2)",
};
/// The weight of all streams.
pub(crate) const WEIGHT: Parameter = Parameter {
    name: "weight",
    kind: Kind::Integer(1, 65_535),
    default: Default::Is("1"),
    about: "share of its streams beside those of other weights, where the scheduler goes by weights",
};

/// What is said of all streams alike, out of the options [`URGENCY`], [`INCREMENTAL`] and [`WEIGHT`].
pub(crate) fn of_all(arguments: &Arguments) -> Priority {
    Priority {
        urgency: arguments.integer("urgency") as u8,
        incremental: arguments.flag("incremental"),
        weight: arguments.integer("weight") as u16,
        ..Priority::default()
    }
}

/// What is said of each stream by its index.
#[derive(Debug, Clone, std::default::Default)]
pub(crate) struct Priorities(Vec<Priority>);

impl Priorities {
    /// Out of the options [`URGENCIES`], [`INCREMENTALS`], [`WEIGHTS`] and [`LATENCIES`].
    pub(crate) fn of(arguments: &Arguments) -> Priorities {
        let given = |name| if arguments.has(name) { arguments.list(name) } else { Vec::new() };
        let lists = [URGENCIES, INCREMENTALS, WEIGHTS, LATENCIES].map(|row| given(row.name));
        // One after the other, until all lists are at their ends at the same time.
        let period = lists.iter().map(Vec::len).filter(|length| *length > 0).fold(0, common_multiple);
        Priorities((0..period.min(MOST)).map(|index| priority(&lists, index)).collect())
    }

    /// Tells the transport of a stream, if there is anything to tell.
    pub(crate) fn tell(&self, stream: StreamId, transport: &mut dyn Transport) {
        if let Some(priority) = self.0.get(stream.index() as usize % self.0.len().max(1)) {
            // A stream that is over needs none.
            let _ = transport.set_priority(stream, *priority);
        }
    }
}

/// So many streams are told apart at most.
const MOST: usize = 10_000;

fn common_multiple(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    if a == 0 { b } else { (a / x).saturating_mul(b) }
}

fn priority([urgencies, incrementals, weights, latencies]: &[Vec<Value>; 4], index: usize) -> Priority {
    let at = |list: &[Value]| list.get(index % list.len().max(1)).cloned();
    let mut priority = Priority::default();
    if let Some(Value::Integer(urgency)) = at(urgencies) {
        priority.urgency = urgency as u8;
    }
    if let Some(Value::Flag(incremental)) = at(incrementals) {
        priority.incremental = incremental;
    }
    if let Some(Value::Integer(weight)) = at(weights) {
        priority.weight = weight as u16;
    }
    if let Some(Value::Duration(latency)) = at(latencies) {
        priority.latency = (latency > Duration::ZERO).then_some(latency);
    }
    priority
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_begin_anew_each_by_itself() {
        let integers = |list: &[u64]| Value::List(list.iter().copied().map(Value::Integer).collect());
        let arguments = Arguments(vec![
            ("urgencies", integers(&[1, 2])),
            ("weights", integers(&[5, 6, 7])),
            ("latencies", Value::List([0, 9].map(|ms| Value::Duration(Duration::from_millis(ms))).to_vec())),
            ("incrementals", Value::List(vec![Value::Flag(true)])),
        ]);
        let Priorities(told) = Priorities::of(&arguments);
        let numbers: Vec<_> = told.iter().map(|told| (told.urgency, told.weight)).collect();
        assert_eq!(numbers, [(1, 5), (2, 6), (1, 7), (2, 5), (1, 6), (2, 7)]);
        assert_eq!((told[0].latency, told[1].latency), (None, Some(Duration::from_millis(9))));
        assert!(told.iter().all(|told| told.incremental));
        assert!(Priorities::of(&Arguments::default()).0.is_empty());
    }
}
