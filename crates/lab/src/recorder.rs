//! Moves records from the logs of endpoints and networks to the sinks.

use std::collections::BTreeMap;
use std::io;
use trace::{Fan, Log, Role, Side, Sink, Subjects};

/// The name of a connection of a flow in tables: `get` for the first one, `get#1` and so on for the others.
pub(crate) fn connection_name(flow: &str, index: usize) -> String {
    if index == 0 { flow.to_owned() } else { format!("{flow}#{index}") }
}

/// The name of a connection of a proxy in tables: that of the connection which it splits, and its node.
pub(crate) fn proxied_name(connection: &str, node: &str) -> String {
    format!("{connection} at {node}")
}

/// A connection of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Proxied {
    /// The node of the proxy.
    pub node: u32,
    /// The flow number of the sender.
    pub sender: u32,
    /// The number of the connection among the sender's, counted from 0.
    pub number: usize,
}

/// The sinks of a run, and the subjects of their records.
pub(crate) struct Recorder<'a> {
    sinks: Fan<'a>,
    subjects: Subjects,
    /// The subjects of further connections of an end, by the subject of its first one and their index.
    parts: BTreeMap<(u32, usize), u32>,
    /// The subjects of the connections of proxies, by node, number of the sender, and number of the connection.
    proxied: BTreeMap<Proxied, u32>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(sinks: Fan<'a>) -> Recorder<'a> {
        Recorder { sinks, subjects: Subjects::new(), parts: BTreeMap::new(), proxied: BTreeMap::new() }
    }
    pub(crate) fn interest(&self) -> trace::Interest {
        self.sinks.interest()
    }
    pub(crate) fn register(&mut self, name: &str, role: Role) -> u32 {
        self.subjects.register(name, role)
    }
    pub(crate) fn register_lane(&mut self, medium: &str, from: &str, to: Option<&str>) -> u32 {
        self.subjects.register_lane(medium, from, to)
    }
    /// The subject of a further connection of an end, registered now if necessary; `first` is that of the end's first one.
    pub(crate) fn part(&mut self, first: u32, index: usize) -> u32 {
        debug_assert!(index > 0, "the first connection has the subject of its end");
        let subjects = &mut self.subjects;
        *self.parts.entry((first, index)).or_insert_with(|| {
            let end = subjects.get(first);
            let (name, role) = (connection_name(end.name(), index), end.role());
            subjects.register(&name, role)
        })
    }
    /// The subject of a connection of a proxy, registered now if necessary. The proxy takes the place of `side`.
    pub(crate) fn proxied(&mut self, of: Proxied, flow: &str, node: &str, side: Side) -> u32 {
        let subjects = &mut self.subjects;
        *self.proxied.entry(of).or_insert_with(|| {
            let name = proxied_name(&connection_name(flow, of.number), node);
            subjects.register(&name, Role::Connection(side))
        })
    }
    /// Moves the records of a log to the sinks.
    pub(crate) fn take(&mut self, subject: u32, log: &mut Log) -> io::Result<()> {
        self.sinks.take(self.subjects.get(subject), log)
    }
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.sinks.finish()
    }
}
