//! A middlebox that drops every n-th packet without data.

use network::middlebox::{Middlebox, Profile};
use network::{Exits, Ledger, Node, Packet, PacketBooks, Port};
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
            Ok(Box::new(Thin { every, seen: 0, dropped: Ledger::default(), log: Log::new(options.interest) }))
        },
    },
};

struct Thin {
    every: u64,
    /// Packets without data.
    seen: u64,
    /// The dropped packets of each flow.
    dropped: Ledger,
    log: Log,
}

impl Node for Thin {
    fn accept(&mut self, now: Time, _port: Port, packet: Box<Packet>, exits: &mut Exits) {
        self.seen += u64::from(!packet.data);
        if packet.data || !self.seen.is_multiple_of(self.every) {
            return exits.send(packet);
        }
        self.dropped.add(packet.flow, packet.size);
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

    /// The books at the end of a run ask what became of the packets that did not go on.
    fn account(&self, books: &mut PacketBooks) {
        books.dropped.merge(&self.dropped);
    }
}

impl Middlebox for Thin {
    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("ack_only_packets", self.seen), ("dropped_packets", self.dropped.total().packets)]
    }

    fn log(&mut self) -> &mut Log {
        &mut self.log
    }
}
