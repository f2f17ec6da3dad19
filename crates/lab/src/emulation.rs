//! A run that keeps pace with a clock, and whose gates exchange packets with the outside.
//!
//! The world is that of a simulation, with all its records. What the outside is, and what time it is there, an [`Outside`]
//! knows.

use crate::capture::Tap;
use crate::error::RunError;
use crate::run::{Options, Outcome, Prepared, run_with};
use crate::scenario::Scenario;
use network::gate::GateCounts;
use network::{NodeId, Packet, Step, node_address};
use std::net::IpAddr;
use units::Time;

/// The surroundings of a world in real time.
pub trait Outside {
    /// Waits until the world has something to do (`next`), or packets come from outside, or a while. Adds these packets to
    /// `came`, each with the number of its gate, and returns the time; `None` ends the run. Time never goes back.
    fn wait(&mut self, next: Time, came: &mut Vec<(usize, Packet)>) -> Option<Time>;
    /// A packet leaves by the gate with this number.
    fn leave(&mut self, gate: usize, packet: Packet);
    /// No more packets leave for now.
    fn flush(&mut self);
    /// What the world has counted at each gate, after each turn.
    fn counted(&mut self, now: Time, gates: &[GateCounts]);
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

/// Runs a scenario in the time of its surroundings, until its duration is over or they end it. Flows that are finished do not end it.
///
/// # Errors
/// See [`RunError`].
pub fn emulate(
    scenario: &Scenario,
    prepared: &Prepared,
    options: &Options,
    outside: &mut dyn Outside,
) -> Result<Outcome, RunError> {
    let nodes: Vec<NodeId> = scenario.gates().map(|(node, _)| NodeId(node as u32)).collect();
    let end = Time::ZERO + scenario.duration;
    let path = options.pcap.clone().unwrap_or_default();
    let failed = |error| RunError::Output { path: path.clone(), error };
    run_with(scenario, prepared, options, &mut |running| {
        // There is always one more: the world goes on without flows.
        running.shared.unfinished.set(running.shared.unfinished.get() + 1);
        let (mut came, mut counts) = (Vec::new(), Vec::with_capacity(nodes.len()));
        let tap = |gate: &GateAddress| running.shared.capture.as_ref().map(|tap| tap.interface(&gate.name));
        let taps: Vec<Option<Tap>> = gates(scenario)
            .iter()
            .map(|gate| tap(gate).transpose())
            .collect::<Result<_, _>>()
            .map_err(failed)?;
        let capture = |now: Time, gate: usize, packet: &Packet| match taps.get(gate).and_then(Option::as_ref)
        {
            Some(tap) => tap.packet(now, packet).map_err(failed),
            None => Ok(()),
        };
        loop {
            let next = running.next_at().filter(|next| *next <= end).unwrap_or(end);
            let now = outside.wait(next, &mut came).map(|now| now.min(end));
            let until = now.unwrap_or_else(|| running.world.now());
            while matches!(running.advance(until)?, Step::Budget | Step::Stopped) {}
            for (gate, packet) in came.drain(..) {
                capture(until, gate, &packet)?;
                running.world.enter(nodes[gate], packet);
            }
            while matches!(running.advance(until)?, Step::Budget | Step::Stopped) {}
            counts.clear();
            for (number, node) in nodes.iter().enumerate() {
                let Some(gate) = running.world.gate_mut(*node) else { continue };
                while let Some(packet) = gate.take() {
                    capture(until, number, &packet)?;
                    outside.leave(number, packet);
                }
                counts.push(gate.counts);
            }
            outside.flush();
            outside.counted(until, &counts);
            if now.is_none_or(|now| now >= end) {
                return Ok(until);
            }
        }
    })
}
