//! A middlebox that drops every n-th packet without data.

use network::middlebox::{Middlebox, Profile};
use network::{Exits, Node, Packet, Port};
use trace::{Event, Log};
use units::Time;
use units::parameter::{Default, Kind, Parameter, Row};

/// How scenarios name it, and what they can say: `kind = { type = "thin", every = 4 }`.
pub(crate) const ROW: Row<Profile> = Row {
    name: "thin",
    about: "an example: drops every n-th packet without data",
    parameters: &[Parameter {
        name: "every",
        kind: Kind::Integer(1, 1_000_000),
        default: Default::Is("4"),
        about: "the n of every n-th",
    }],
    build: Profile {
        remembers: false,
        at_hosts: true,
        build: &|options| {
            let every = options.arguments.integer("every");
            Ok(Box::new(Thin { every, seen: 0, dropped: Vec::new(), log: Log::new(options.interest) }))
        },
    },
};

struct Thin {
    every: u64,
    /// Packets without data.
    seen: u64,
    /// The flow of each dropped packet.
    dropped: Vec<u32>,
    log: Log,
}

impl Node for Thin {
    fn accept(&mut self, now: Time, _port: Port, packet: Box<Packet>, exits: &mut Exits) {
        self.seen += u64::from(!packet.data);
        if packet.data || !self.seen.is_multiple_of(self.every) {
            return exits.send(packet);
        }
        self.dropped.push(packet.flow);
        if self.log.interest().losses() {
            self.log.push(now, Event::NetworkDrop { length: packet.size, reason: "thin" });
        }
        exits.discard(packet);
    }

    fn wake(&mut self, _now: Time, _exits: &mut Exits) {}

    fn wake_at(&self) -> Option<Time> {
        None
    }

    fn takes_transit(&self) -> bool {
        true
    }
}

impl Middlebox for Thin {
    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("ack_only_packets", self.seen), ("dropped_packets", self.dropped.len() as u64)]
    }

    fn log(&mut self) -> &mut Log {
        &mut self.log
    }

    fn drops_of(&self, flow: u32) -> u64 {
        self.dropped.iter().filter(|dropped| **dropped == flow).count() as u64
    }
}
