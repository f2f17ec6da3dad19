//! Cross traffic: datagrams that leave a host without a connection, and are forgotten where they arrive.

use network::Exits;
use std::net::SocketAddr;
use traffic::sources::Source;
use units::Time;
use wire::Hole;

/// The port that all of it goes to: "discard" (RFC 863). No end of a flow listens there.
pub(crate) const DISCARD_PORT: u16 = 9;
/// The port that the first sends from; the n-th has the n-th port after it.
pub(crate) const CROSS_PORT: u16 = 64_434;

/// A sender of cross traffic.
pub(crate) struct CrossSender {
    /// Its place in the scenario.
    pub index: usize,
    /// The number by which the network knows its packets.
    pub number: u32,
    pub local: SocketAddr,
    pub remote: SocketAddr,
    pub source: Box<dyn Source>,
    /// When it ends.
    pub stop: Time,
    /// The next datagram: when it leaves, and the bytes of its payload.
    pub next: (Time, u64),
    /// Datagrams that left, and the bytes of their payloads.
    pub sent: (u64, u64),
}

impl CrossSender {
    /// When the next datagram leaves, if one does.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        (self.next.0 != Time::NEVER).then_some(self.next.0)
    }

    /// Draws the next datagram after one at this time.
    pub(crate) fn draw(&mut self, from: Time) {
        let Some((gap, size)) = self.source.next() else {
            self.next = (Time::NEVER, 0);
            return;
        };
        // Of those that would leave at one instant the second leaves a nanosecond later, so that the clock goes on.
        let at = from + gap.max(units::Duration::from_nanos(1));
        self.next = (if at < self.stop { at } else { Time::NEVER }, size);
    }

    /// Sends all that is due.
    pub(crate) fn wake(&mut self, now: Time, exits: &mut Exits) {
        while self.next.0 <= now {
            let (at, size) = self.next;
            let hole = Hole { at: 0, length: size as u32, offset: 0 };
            let bytes = exits.buffer();
            exits.send_new(self.local, self.remote, bytes, Some(hole)).flow = self.number;
            self.sent.0 += 1;
            self.sent.1 += size;
            self.draw(at);
        }
    }
}
