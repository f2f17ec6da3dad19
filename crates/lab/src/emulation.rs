//! A run that keeps pace with a clock, and whose gates exchange packets with the outside.
//!
//! The world is that of a simulation, with all its records. What the outside is, and what time it is there, an [`Outside`]
//! knows.
//!
//! How late an element was for what it did is the time of the outside when it was done, less the time of the world. The
//! outside's time is read at the beginning of each turn, and again whenever [`READ_EVERY`] things have been done in it.

mod late;

pub use late::{ElementLateness, READ_EVERY, tolerance};

use crate::capture::Tap;
use crate::error::RunError;
use crate::flows::cross_number;
use crate::run::{Options, Outcome, Prepared, Running, run_with};
use crate::scenario::{Scenario, is_host_name};
use late::{Late, Watching};
use network::gate::GateCounts;
use network::{AnswerCounts, CarrierStats, NodeId, Packet, Step, node_address};
use std::collections::{BTreeSet, VecDeque};
use std::net::IpAddr;
use units::{Lateness, Time};

/// The surroundings of a world in real time.
pub trait Outside {
    /// The world begins now: this is time zero.
    fn begin(&mut self);
    /// The time, which never goes back.
    fn now(&self) -> Time;
    /// Waits until the world has something to do (`next`), or packets come from outside, or a while. Adds these packets to
    /// `arrivals`, in the order of time, and returns the time; `None` ends the run.
    fn wait(&mut self, next: Time, arrivals: &mut Arrivals) -> Option<Time>;
    /// A packet leaves by the gate with this number, which it has reached at this time of the world. Returns the memory of its payload.
    fn leave(&mut self, gate: usize, at: Time, packet: Packet) -> Vec<u8>;
    /// No more packets leave for now.
    fn flush(&mut self);
    /// The world has done all up to this time; called after each turn.
    fn counted(&mut self, now: Time, counts: &Counts<'_>);
}

/// The number of buffers that are kept for the packets that come next.
const MOST_BUFFERS: usize = 1 << 14;

/// Packets that come from outside, and memory for them.
#[derive(Debug, Default)]
pub struct Arrivals {
    packets: VecDeque<(Time, usize, Packet)>,
    buffers: Vec<Vec<u8>>,
}

impl Arrivals {
    /// An empty buffer for the payload of a packet.
    pub fn buffer(&mut self) -> Vec<u8> {
        self.buffers.pop().unwrap_or_default()
    }
    /// Takes back a buffer, empty or not.
    pub fn recycle(&mut self, mut buffer: Vec<u8>) {
        if self.buffers.len() < MOST_BUFFERS {
            buffer.clear();
            self.buffers.push(buffer);
        }
    }
    /// Adds a packet that came at this time, which is not before that of the packet added last, to the gate with this number. A time
    /// before that of the world counts as the world's, one beyond the end of the turn as that.
    pub fn add(&mut self, at: Time, gate: usize, packet: Packet) {
        let last = self.packets.back().map(|(last, ..)| *last);
        debug_assert!(last.is_none_or(|last| last <= at), "packets come in the order of time");
        self.packets.push_back((at, gate, packet));
    }
}

/// What a world has counted.
#[derive(Debug, Clone, Copy)]
pub struct Counts<'a> {
    /// By gate: its packets.
    pub gates: &'a [GateCounts],
    /// What its nodes have answered.
    pub answers: AnswerCounts,
    /// Packets dropped because no node has their destination, or no route leads there.
    pub unroutable: u64,
    /// How late all its elements were.
    pub lateness: &'a Lateness,
}

/// A gate of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateAddress {
    /// The name of its node.
    pub name: String,
    /// Its IPv4 and IPv6 addresses.
    pub addresses: [IpAddr; 2],
    /// The largest IP packet that all carriers of the node take, in bytes.
    pub mtu: u64,
}

/// The gates of a scenario, in the order of its nodes.
pub fn gates(scenario: &Scenario) -> Vec<GateAddress> {
    let address = |node: usize| [false, true].map(|ipv6| node_address(NodeId(node as u32), ipv6));
    let gate = |(node, itself): (usize, &crate::scenario::Node)| GateAddress {
        name: itself.name.clone(),
        addresses: address(node),
        mtu: scenario.mtu_at(node),
    };
    scenario.gates().map(gate).collect()
}

/// The names by which the nodes of a scenario can be found, with their IPv4 and IPv6 addresses: all gates first, then the others.
pub fn names(scenario: &Scenario) -> Vec<(String, [IpAddr; 2])> {
    let is_gate = |node: &usize| scenario.gates().any(|(gate, _)| gate == *node);
    let (gates, others): (Vec<usize>, Vec<usize>) = (0..scenario.nodes.len()).partition(is_gate);
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    for node in gates.into_iter().chain(others) {
        let name = &scenario.nodes[node].name;
        // Capital letters make no difference to a resolver.
        if is_host_name(name) && known.insert(name.to_ascii_lowercase()) {
            let address = |ipv6| node_address(NodeId(node as u32), ipv6);
            found.push((name.clone(), [address(false), address(true)]));
        }
    }
    found
}

/// The number of the node with this name, at which packets can be captured (see [`Emulation::captured`]).
///
/// # Errors
/// If there is none, or it is a gate.
pub fn captured(scenario: &Scenario, name: &str) -> Result<usize, String> {
    let is_gate = |node: usize| scenario.gates().any(|(gate, _)| gate == node);
    let found = scenario.nodes.iter().position(|node| node.name == name);
    found.filter(|node| !is_gate(*node)).ok_or_else(|| {
        let what = if found.is_some() { "is a gate, and gates are always captured" } else { "is not a node" };
        let others = scenario.nodes.iter().enumerate().filter(|(node, _)| !is_gate(*node));
        let others: Vec<&str> = others.map(|(_, node)| node.name.as_str()).collect();
        let known =
            if others.is_empty() { "a node that is not a gate".to_owned() } else { others.join(", ") };
        format!("capture at {name:?}: it {what}; expected {known}")
    })
}

/// A run in the time of its surroundings.
#[derive(Clone, Copy)]
pub struct Emulation<'a> {
    /// The scenario, with gates.
    pub scenario: &'a Scenario,
    /// What runs of the scenario share.
    pub prepared: &'a Prepared,
    /// The options of the run.
    pub options: &'a Options,
    /// When it ends; [`Time::NEVER`] to run until the surroundings end it.
    pub end: Time,
    /// The nodes at which packets are captured, too, as they reach them: numbers of nodes that are no gates. Only with
    /// [`Options::pcap`].
    pub captured: &'a [usize],
    /// Whether packets that were altered on the way leave; otherwise the gate drops them, as a receiver whose checksum fails.
    pub altered_leave: bool,
}

/// The results of a run in real time.
#[derive(Debug, Clone)]
pub struct Emulated {
    /// The results that a simulation has, too. With tables, there is one more: `lateness`.
    pub outcome: Outcome,
    /// The directions of the links by label, with their counters.
    pub links: Vec<(String, CarrierStats)>,
    /// How late all elements were.
    pub lateness: Lateness,
    /// How late each element was: nodes but routers, directions of links, media.
    pub elements: Vec<ElementLateness>,
}

impl Emulation<'_> {
    /// Runs until the end, or until the surroundings end it. Flows that are finished do not end it.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn run(&self, outside: &mut dyn Outside) -> Result<Emulated, RunError> {
        let mut late = Late::new(self.scenario);
        let mut links = Vec::new();
        let mut outcome = run_with(self.scenario, self.prepared, self.options, None, &mut |running| {
            let end = self.drive(running, outside, &mut late)?;
            running.world.catch_up();
            links.extend(running.world.links().iter().map(|link| (link.name().to_owned(), link.stats())));
            Ok(end)
        })?;
        let elements = late.elements(self.scenario);
        if self.options.tables {
            let row =
                |element: &'_ ElementLateness| (element.name.clone(), element.kind, element.lateness.clone());
            let rows: Vec<_> = elements.iter().map(row).collect();
            let rows = rows.iter().map(|(name, kind, late)| (name.as_str(), *kind, late));
            outcome.tables.push(trace::columns::lateness(rows));
        }
        Ok(Emulated { outcome, links, lateness: late.whole, elements })
    }

    /// Lets time pass until the end, which it returns.
    fn drive(
        &self,
        running: &mut Running<'_>,
        outside: &mut dyn Outside,
        late: &mut Late,
    ) -> Result<Time, RunError> {
        let end = self.end;
        // There is always one more: the world goes on without flows.
        running.shared.unfinished.set(running.shared.unfinished.get() + 1);
        let gates = Gates::new(self, running)?;
        let taps = gates.taps_at(self, running)?;
        let mut counts = Vec::with_capacity(gates.nodes.len());
        let mut arrivals = Arrivals::default();
        outside.begin();
        loop {
            let next = running.next_at().filter(|next| *next <= end).unwrap_or(end);
            let now = outside.wait(next, &mut arrivals).map(|now| now.min(end));
            let until = now.unwrap_or_else(|| running.world.now());
            let watch = Watching::new(late, &*outside, &taps, until);
            let entering = arrivals.packets.len();
            while let Some((at, gate, packet)) = arrivals.packets.pop_front() {
                let at = at.min(until);
                if at > running.world.now() {
                    advance(running, at, &watch)?;
                }
                gates.enter(running, gate, packet)?;
            }
            advance(running, until, &watch)?;
            // The next packets have as much memory as these, taken from packets that ended in the world.
            while arrivals.buffers.len() < entering.min(MOST_BUFFERS) {
                arrivals.buffers.push(running.world.buffer());
            }
            counts.clear();
            gates.leave(running, outside, until, &mut counts)?;
            outside.flush();
            outside.counted(
                until,
                &Counts {
                    gates: &counts,
                    answers: running.world.answers(),
                    unroutable: running.world.unroutable(),
                    lateness: &late.whole,
                },
            );
            if now.is_none_or(|now| now >= end) {
                return Ok(until);
            }
        }
    }
}

/// Advances to a time.
fn advance(running: &mut Running<'_>, until: Time, watch: &Watching<'_>) -> Result<(), RunError> {
    while matches!(running.advance_watched(until, watch)?, Step::Budget | Step::Stopped) {}
    Ok(())
}

/// The gates of a world.
struct Gates<'a> {
    nodes: Vec<NodeId>,
    taps: Vec<Option<Tap>>,
    options: &'a Options,
    /// The number of all packets from outside: none of a flow or a sender of the scenario.
    number: u32,
}

impl<'a> Gates<'a> {
    fn new(emulation: &Emulation<'a>, running: &mut Running<'_>) -> Result<Gates<'a>, RunError> {
        let Emulation { scenario, options, altered_leave, .. } = *emulation;
        let nodes: Vec<NodeId> = scenario.gates().map(|(node, _)| NodeId(node as u32)).collect();
        for node in &nodes {
            let gate = running.world.gate_mut(*node).expect("a gate of the scenario is one of the world");
            gate.altered_leave = altered_leave;
        }
        let number = cross_number(&scenario.unfolded(), scenario.cross_traffic.len());
        let mut made = Gates { nodes, taps: Vec::new(), options, number };
        for gate in gates(scenario) {
            let tap = running.shared.capture.as_ref().map(|tap| tap.interface(&gate.name)).transpose();
            made.taps.push(tap.map_err(|error| made.failed(error))?);
        }
        Ok(made)
    }

    /// By node, the interfaces of those nodes at which packets are captured, too.
    fn taps_at(
        &self,
        emulation: &Emulation<'_>,
        running: &Running<'_>,
    ) -> Result<Vec<Option<Tap>>, RunError> {
        let mut taps = Vec::new();
        for node in emulation.captured {
            let Some(capture) = running.shared.capture.as_ref() else { break };
            let name = &emulation.scenario.nodes[*node].name;
            taps.resize(taps.len().max(node + 1), None);
            taps[*node] = Some(capture.interface(name).map_err(|error| self.failed(error))?);
        }
        Ok(taps)
    }

    fn failed(&self, error: std::io::Error) -> RunError {
        let path = self.options.pcap.clone().expect("only a capture can fail here");
        RunError::Output { path, error }
    }

    fn capture(&self, at: Time, gate: usize, packet: &Packet) -> Result<(), RunError> {
        match self.taps.get(gate).and_then(Option::as_ref) {
            Some(tap) => tap.packet(at, packet).map_err(|error| self.failed(error)),
            None => Ok(()),
        }
    }

    /// A packet from outside enters at the time of the world.
    fn enter(&self, running: &mut Running<'_>, gate: usize, mut packet: Packet) -> Result<(), RunError> {
        self.capture(running.world.now(), gate, &packet)?;
        packet.flow = self.number;
        running.world.enter(self.nodes[gate], packet);
        Ok(())
    }

    /// The packets that wait at the gates leave. Adds what each gate has counted.
    fn leave(
        &self,
        running: &mut Running<'_>,
        outside: &mut dyn Outside,
        now: Time,
        counts: &mut Vec<GateCounts>,
    ) -> Result<(), RunError> {
        for (number, node) in self.nodes.iter().enumerate() {
            while let Some((at, packet)) = running.world.gate_mut(*node).and_then(|gate| gate.take()) {
                self.capture(now, number, &packet)?;
                let buffer = outside.leave(number, at, packet);
                running.world.recycle(buffer);
            }
            let gate = running.world.gate_mut(*node).expect("a gate of the scenario is one of the world");
            counts.push(gate.counts);
        }
        Ok(())
    }
}
