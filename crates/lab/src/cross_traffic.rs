//! Cross traffic: datagrams without a connection, which their receiver discards.

use network::{Count, Exits};
use std::net::SocketAddr;
use traffic::sources::Source;
use units::Time;
use wire::Hole;

/// The destination port of all cross traffic: "discard" (RFC 863), which no end of a flow uses.
pub(crate) const DISCARD_PORT: u16 = 9;
/// The source port of the first sender, followed by those of the others.
pub(crate) const CROSS_PORT: u16 = 64_434;

/// A sender of cross traffic.
pub(crate) struct CrossSender {
    /// Its place in the scenario.
    pub index: usize,
    /// The number in its packets.
    pub number: u32,
    pub local: SocketAddr,
    pub remote: SocketAddr,
    pub source: Box<dyn Source>,
    /// The time at which it ends.
    pub stop: Time,
    /// The departure of the next datagram, and the bytes of its payload.
    pub next: (Time, u64),
    /// The number of sent datagrams, and the bytes of their payloads.
    pub sent: (u64, u64),
    /// Its packets, with their headers.
    pub on_the_wire: Count,
}

impl CrossSender {
    /// The departure of the next datagram, if there is one.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        (self.next.0 != Time::NEVER).then_some(self.next.0)
    }

    /// Draws the datagram that follows one at this time.
    pub(crate) fn draw(&mut self, from: Time) {
        let Some((gap, size)) = self.source.next() else {
            self.next = (Time::NEVER, 0);
            return;
        };
        // A gap of zero becomes a nanosecond, so that the clock always advances.
        let at = from + gap.max(units::Duration::from_nanos(1));
        self.next = (if at < self.stop { at } else { Time::NEVER }, size);
    }

    /// Sends all datagrams that are due.
    pub(crate) fn wake(&mut self, now: Time, exits: &mut Exits) {
        while self.next.0 <= now {
            let (at, size) = self.next;
            let hole = Hole { at: 0, length: size as u32, offset: 0 };
            let bytes = exits.buffer();
            let packet = exits.send_new(self.local, self.remote, bytes, Some(hole));
            packet.flow = self.number;
            self.on_the_wire.add(packet.size);
            self.sent.0 += 1;
            self.sent.1 += size;
            self.draw(at);
        }
    }
}
