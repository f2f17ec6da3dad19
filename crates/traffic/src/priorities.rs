//! The priorities of an application's streams, as lists in a scenario.

use crate::changes::{Changes, ChangesOptions};
use std::collections::BTreeMap;
use transport::{Priority, Transport};
use units::parameter::Options;
use units::{Duration, Time};
use wire::StreamId;

/// What the sender's scheduler knows of each stream: a list for each quantity.
#[derive(Debug, Clone, Default, Options)]
pub(crate) struct PriorityLists {
    #[options]
    pub(crate) urgencies: UrgenciesOptions,
    /// whether streams share with others of their urgency (RFC 9218 section 4.2); with more streams the list repeats
    pub(crate) incrementals: Option<Vec<bool>>,
    /// weights of the streams for the sender's scheduler (default 1); with more streams the list repeats
    #[option(within = 1..=65_535)]
    pub(crate) weights: Option<Vec<u16>>,
    #[options]
    pub(crate) latencies: LatenciesOptions,
    /// deadlines of the streams for the sender's scheduler, counted from when each opens, 0 s: none; with more streams
    /// the list repeats
    pub(crate) deadlines: Option<Vec<Duration>>,
    #[options]
    pub(crate) changes: ChangesOptions,
}

/// The urgencies of streams.
#[derive(Debug, Clone, Default, Options)]
pub(crate) struct UrgenciesOptions {
    /// urgencies of the streams for the sender's scheduler, 0 the most urgent (RFC 9218: 0 to 7, default 3); with more
    /// streams the list repeats
    pub(crate) urgencies: Option<Vec<u8>>,
}

/// The latency budgets of streams.
#[derive(Debug, Clone, Default, Options)]
pub(crate) struct LatenciesOptions {
    /// latency budgets of the streams for the sender's scheduler, 0 s: none; with more streams the list repeats
    latencies: Option<Vec<Duration>>,
}

/// What the sender's scheduler knows of all streams of an application.
#[derive(Debug, Clone, Options)]
pub(crate) struct PriorityOptions {
    /// urgency of its streams for the sender's scheduler, 0 the most urgent (RFC 9218: 0 to 7)
    #[option(default = 3)]
    urgency: u8,
    /// whether parts of a stream are useful, so that it can share with others of its urgency (RFC 9218 section 4.2)
    #[option(default = false)]
    incremental: bool,
    /// weight of its streams, for schedulers that use weights
    #[option(default = 1, within = 1..=65_535)]
    weight: u16,
    #[options]
    changes: ChangesOptions,
}

/// The initial settings of a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Settings {
    priority: Priority,
    /// Relative to its opening.
    deadline: Option<Duration>,
}

/// The priorities of streams by their number, with later changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Priorities {
    initial: Vec<Settings>,
    changes: Changes,
    /// If there are changes: the streams that they may affect, and their opening times.
    open: BTreeMap<StreamId, Time>,
}

impl Priorities {
    /// The priorities in these lists.
    pub(crate) fn of(lists: &PriorityLists) -> Priorities {
        let lengths = [
            length(&lists.urgencies.urgencies),
            length(&lists.incrementals),
            length(&lists.weights),
            length(&lists.latencies.latencies),
            length(&lists.deadlines),
        ];
        // The lists repeat; the period of the combination is their common multiple.
        let period = lengths.into_iter().filter(|length| *length > 0).fold(0, common_multiple);
        Priorities {
            initial: (0..period.min(MAX_SETTINGS)).map(|index| settings(lists, index)).collect(),
            changes: Changes::of(&lists.changes),
            open: BTreeMap::new(),
        }
    }

    /// The same priority for all streams, with this latency budget.
    pub(crate) fn of_all(options: &PriorityOptions, latency: Option<Duration>) -> Priorities {
        let PriorityOptions { urgency, incremental, weight, ref changes } = *options;
        let priority = Priority { urgency, incremental, weight, latency, ..Priority::default() };
        let initial = vec![Settings { priority, deadline: None }];
        Priorities { initial, changes: Changes::of(changes), open: BTreeMap::new() }
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

fn length<T>(list: &Option<Vec<T>>) -> usize {
    list.as_ref().map_or(0, Vec::len)
}

fn settings(lists: &PriorityLists, index: usize) -> Settings {
    fn at<T: Copy>(list: &Option<Vec<T>>, index: usize) -> Option<T> {
        let list = list.as_ref()?;
        list.get(index % list.len().max(1)).copied()
    }
    let usual = Priority::default();
    let some = |span: &Duration| !span.is_zero();
    Settings {
        priority: Priority {
            urgency: at(&lists.urgencies.urgencies, index).unwrap_or(usual.urgency),
            incremental: at(&lists.incrementals, index).unwrap_or(usual.incremental),
            weight: at(&lists.weights, index).unwrap_or(usual.weight),
            latency: at(&lists.latencies.latencies, index).filter(some),
            ..usual
        },
        deadline: at(&lists.deadlines, index).filter(some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_repeat_independently() {
        let lists = PriorityLists::written(&[
            ("urgencies", "[1, 2]"),
            ("weights", "[5, 6, 7]"),
            ("latencies", "[\"0 ms\", \"9 ms\"]"),
            ("incrementals", "[true]"),
            ("deadlines", "[\"8 ms\", \"0 ms\"]"),
        ]);
        let priorities = Priorities::of(&lists.unwrap());
        let initial: Vec<Priority> = priorities.initial.iter().map(|initial| initial.priority).collect();
        let numbers: Vec<_> = initial.iter().map(|initial| (initial.urgency, initial.weight)).collect();
        assert_eq!(numbers, [(1, 5), (2, 6), (1, 7), (2, 5), (1, 6), (2, 7)]);
        assert_eq!((initial[0].latency, initial[1].latency), (None, Some(Duration::from_millis(9))));
        assert!(initial.iter().all(|initial| initial.incremental));
        let deadlines = [0, 1, 7].map(|number| priorities.deadline(number));
        assert_eq!(deadlines, [Some(Duration::from_millis(8)), None, None]);
        assert!(Priorities::of(&PriorityLists::default()).initial.is_empty());
    }
}
