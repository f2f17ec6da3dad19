//! The network between the two sides of the relay: that of a scenario, advanced explicitly.

use super::RelayError;
use lab::Scenario;
use lab::scenario::NodeKind;
use network::{CarrierStats, Exits, Node, NodeId, Packet, Port, World, node_address};
use std::net::SocketAddr;
use trace::Interest;
use units::Time;
use wire::{Damage, Ecn};

/// The budget of one call of the world: never exhausted.
const BUDGET: u64 = u64::MAX;

/// The direction of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    ToServer,
    ToClient,
}

/// A packet that enters the network, or has left it.
#[derive(Debug)]
pub(super) struct Crossing {
    pub(super) way: Way,
    /// The number of the client.
    pub(super) session: u32,
    /// When it left the network.
    pub(super) at: Time,
    pub(super) ecn: Ecn,
    /// Where it was altered in transit.
    pub(super) damage: Option<Damage>,
    pub(super) bytes: Vec<u8>,
}

/// The client's or the server's place in the network: arrived packets wait there to be sent.
#[derive(Debug)]
struct Gate {
    way: Way,
    arrived: Vec<Crossing>,
}

impl Node for Gate {
    fn accept(&mut self, now: Time, _: Port, packet: Packet, _: &mut Exits) {
        let (damage, Packet { flow, ecn, bytes, .. }) = (packet.damage(), packet);
        self.arrived.push(Crossing { way: self.way, session: flow, at: now, ecn, damage, bytes });
    }
    fn wake(&mut self, _: Time, _: &mut Exits) {}
    fn wake_at(&self) -> Option<Time> {
        None
    }
}

/// Checks that the relay supports the scenario: only links, since the addresses of its packets are not those of
/// a NAT, its counters are those of links, and no events take place.
fn check(scenario: &Scenario) -> Result<(), lab::RunError> {
    let middlebox = scenario.nodes.iter().find_map(|node| match &node.kind {
        NodeKind::Middlebox(kind) => Some((format!("node {}", node.name), kind.name)),
        _ => None,
    });
    let medium = scenario.media.iter().map(|medium| (format!("medium {}", medium.name), medium.kind.name));
    let event = scenario.events.iter().map(|event| (format!("event at {}", event.at), event.kind.name));
    match middlebox.into_iter().chain(medium).chain(event).next() {
        Some((place, name)) => {
            let problem = format!(
                "a relay has no middleboxes, media and events, found {name:?}; expected a network of links"
            );
            Err(lab::RunError::Component { place, problem })
        }
        None => Ok(()),
    }
}

/// The network of a scenario between the client and the server of its first flow.
#[derive(Debug)]
pub(super) struct Path {
    world: World<Gate>,
    client: NodeId,
    server: NodeId,
}

impl Path {
    pub(super) fn new(scenario: &Scenario, seed: u64) -> Result<Path, RelayError> {
        check(scenario)?;
        // A scenario that was read has a flow.
        let flow = &scenario.flows[0];
        let gate = |node| {
            let way = match node {
                node if node == flow.client => Way::ToClient,
                node if node == flow.server => Way::ToServer,
                _ => return None,
            };
            Some(Gate { way, arrived: Vec::new() })
        };
        let network = lab::Network { scenario, seed, interest: Interest::default() };
        Ok(Path {
            world: network.world(gate)?,
            client: NodeId(flow.client as u32),
            server: NodeId(flow.server as u32),
        })
    }

    /// The time to which it was advanced.
    pub(super) fn now(&self) -> Time {
        self.world.now()
    }
    /// The time of the next event; `None` if no packet is in the network.
    pub(super) fn next_at(&self) -> Option<Time> {
        self.world.next_at()
    }
    /// Advances it to a time.
    pub(super) fn run(&mut self, until: Time) -> Result<(), RelayError> {
        self.world.run(until, BUDGET)?;
        Ok(())
    }

    /// Puts a packet into the network now. `ipv6` determines the size of its headers.
    pub(super) fn enter(&mut self, way: Way, session: u32, ecn: Ecn, bytes: &[u8], ipv6: bool) {
        let (from, to) = match way {
            Way::ToServer => (self.client, self.server),
            Way::ToClient => (self.server, self.client),
        };
        let [source, destination] = [from, to].map(|node| SocketAddr::new(node_address(node, ipv6), 443));
        self.world.act(from, |_, _, exits| {
            let mut buffer = exits.buffer();
            buffer.extend_from_slice(bytes);
            let packet = exits.send_new(source, destination, buffer, None);
            packet.flow = session;
            packet.ecn = ecn;
        });
    }

    /// Takes the packets that have left the network, in the order of time for each direction.
    pub(super) fn take(&mut self, into: &mut Vec<Crossing>) {
        for gate in self.world.hosts_mut() {
            into.append(&mut gate.arrived);
        }
    }

    /// Takes back the memory of a sent packet.
    pub(super) fn recycle(&mut self, buffer: Vec<u8>) {
        self.world.act(self.client, |_, _, exits| exits.recycle(buffer));
    }

    /// The counters of each direction of each link, by name.
    pub(super) fn links(&self) -> Vec<(String, CarrierStats)> {
        self.world.links().iter().map(|link| (link.name().to_owned(), link.stats())).collect()
    }
}
