//! The latency spin bit (RFC 9000 section 17.4): it flips once per round trip, for passive observers.

use random::Generator;
use wire::{ConnectionId, Side};

/// The bit is disabled for one in this many connection ids (RFC 9000-17.4-3).
const OFF_ONE_IN: u64 = 16;

/// The spin bit of sent packets.
#[derive(Debug)]
pub(super) struct Spin {
    random: Generator,
    destination: Option<ConnectionId>,
    off: bool,
    value: bool,
}

impl Spin {
    pub(super) fn new(random: Generator) -> Spin {
        Spin { random, destination: None, off: false, value: false }
    }

    /// The bit for a packet with this destination id. With a new id it starts at 0 or, if it is disabled, with a
    /// random value.
    pub(super) fn value(&mut self, destination: ConnectionId) -> bool {
        if self.destination != Some(destination) {
            self.destination = Some(destination);
            self.off = self.random.below(OFF_ONE_IN) == 0;
            self.value = self.off && self.random.chance(0.5);
        }
        self.value
    }

    /// Sets the bit from a received packet: a server reflects it, a client inverts it.
    pub(super) fn on_received(&mut self, side: Side, bit: bool) {
        // RFC 9000-17.4-4: "MUST ignore any incoming value".
        if !self.off {
            self.value = bit != side.is_client();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9000-17.4-3, 9000-17.4-4.
    #[test]
    fn one_id_in_sixteen_disables_the_bit_and_ignores_received_ones() {
        let mut spin = Spin::new(Generator::new(1, "spin"));
        let mut off = 0;
        for n in 0..16_000u64 {
            let id = ConnectionId::new(&n.to_be_bytes()).unwrap();
            let first = spin.value(id);
            spin.on_received(Side::Server, !first);
            let ignores = spin.value(id) == first;
            off += u32::from(ignores);
            assert!(ignores || !first, "where it spins it starts at 0");
        }
        assert!((900..1100).contains(&off), "{off}");
    }

    #[test]
    fn servers_reflect_and_clients_invert() {
        let mut spin = Spin::new(Generator::new(2, "spin"));
        let id = ConnectionId::new(&[1; 8]).unwrap();
        spin.value(id);
        assert!(!spin.off);
        for bit in [true, false, true] {
            spin.on_received(Side::Server, bit);
            assert_eq!(spin.value(id), bit);
            spin.on_received(Side::Client, bit);
            assert_eq!(spin.value(id), !bit);
        }
        spin.on_received(Side::Server, true);
        assert!(!spin.value(ConnectionId::new(&[2; 8]).unwrap()), "another id, from the start");
    }
}
