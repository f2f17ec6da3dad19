//! What an endpoint varies in its packets so that nobody comes to rely on what was never promised, or cheats: the spin bit,
//! the QUIC bit (RFC 9287), packet numbers that are skipped. All are options; a connection without any has none of this.

mod skip;
mod spin;

use crate::config::Config;
use random::Stream;
use skip::Skips;
use spin::Spin;
use wire::{Ack, ConnectionId, FirstByte, Side};

/// The bit that RFC 9000 calls the fixed bit and RFC 9287 the QUIC bit.
const QUIC_BIT: u8 = 0x40;
const SPIN_BIT: u8 = 0x20;

/// The variations that are switched on.
#[derive(Debug)]
pub(crate) struct Variety {
    spin: Option<Spin>,
    /// Whence the QUIC bit comes.
    quic_bit: Option<Stream>,
    /// Whether the peer takes packets in which it is 0.
    peer_takes_any: bool,
    skips: Option<Skips>,
}

impl Variety {
    /// What the options ask for; `None` for nothing. Only then `fork` is asked for random numbers.
    pub(crate) fn new(config: &Config, mut fork: impl FnMut(&'static str) -> Stream) -> Option<Box<Variety>> {
        // RFC 9000-17.4-2.
        let spin = config.spin_bit.then(|| Spin::new(fork("spin")));
        let quic_bit = config.grease_quic_bit.then(|| fork("quic bit"));
        let skips = config.skip_packet_numbers.then(|| Skips::new(fork("skips")));
        let any = spin.is_some() || quic_bit.is_some() || skips.is_some();
        any.then(|| Box::new(Variety { spin, quic_bit, peer_takes_any: false, skips }))
    }

    /// The peer has said whether it takes packets in which the QUIC bit is 0 (RFC 9287-3.1-1, 9287-3.1-2, 9287-3.1-3,
    /// 9287-3.1-4: until it says so in this connection, the bit is 1).
    pub(crate) fn on_peer_parameters(&mut self, takes_any: bool) {
        self.peer_takes_any = takes_any;
    }

    /// Sets what is to vary in the first byte of a packet to this id, before the packet is protected.
    pub(crate) fn mark(&mut self, destination: ConnectionId, first: &mut u8) {
        if let Some(spin) = &mut self.spin
            && !FirstByte(*first).is_long()
            && spin.value(destination)
        {
            *first |= SPIN_BIT;
        }
        if let Some(random) = &mut self.quic_bit
            && self.peer_takes_any
            && random.chance(0.5)
        {
            *first &= !QUIC_BIT;
        }
    }

    /// Whether the number of the next packet is left out.
    pub(crate) fn skips(&mut self, number: u64) -> bool {
        self.skips.as_mut().is_some_and(|skips| skips.is_due(number))
    }
    /// Whether an ACK frame is for a packet whose number was left out (RFC 9000 section 21.4).
    pub(crate) fn is_optimistic_ack(&self, ack: &Ack<'_>) -> bool {
        self.skips.as_ref().is_some_and(|skips| skips.is_in(ack))
    }

    /// A 1-RTT packet came that has the highest number so far.
    pub(crate) fn on_newest(&mut self, side: Side, first: u8) {
        if let Some(spin) = &mut self.spin {
            spin.on_received(side, FirstByte(first).spin());
        }
    }
}
