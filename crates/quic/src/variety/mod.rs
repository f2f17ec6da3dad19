//! Optional variation of packets, to prevent ossification and to detect cheating peers: the spin bit, the QUIC bit
//! (RFC 9287), skipped packet numbers.

mod skip;
mod spin;

use crate::config::Config;
use random::Generator;
use skip::SkippedNumbers;
use spin::Spin;
use wire::{Ack, ConnectionId, FirstByte, Side};

/// The bit that RFC 9000 calls the fixed bit and RFC 9287 the QUIC bit.
const QUIC_BIT: u8 = 0x40;
const SPIN_BIT: u8 = 0x20;

/// The enabled variations.
#[derive(Debug)]
pub(crate) struct Variety {
    spin: Option<Spin>,
    /// The source of random values for the QUIC bit.
    quic_bit: Option<Generator>,
    /// Whether the peer accepts packets in which it is 0.
    peer_accepts_any: bool,
    skips: Option<SkippedNumbers>,
}

impl Variety {
    /// The variations enabled by the options; `None` if there are none. `fork` is only called for enabled ones.
    pub(crate) fn new(
        config: &Config,
        mut fork: impl FnMut(&'static str) -> Generator,
    ) -> Option<Box<Variety>> {
        // RFC 9000-17.4-2: "MUST allow administrators of clients and servers to disable the spin bit".
        let spin = config.spin_bit.then(|| Spin::new(fork("spin")));
        let quic_bit = config.grease_quic_bit.then(|| fork("quic bit"));
        let skips = config.skip_packet_numbers.then(|| SkippedNumbers::new(fork("skips")));
        let any = spin.is_some() || quic_bit.is_some() || skips.is_some();
        any.then(|| Box::new(Variety { spin, quic_bit, peer_accepts_any: false, skips }))
    }

    /// Sets whether the peer accepts packets in which the QUIC bit is 0 (RFC 9287-3.1-1, 9287-3.1-2, 9287-3.1-3,
    /// 9287-3.1-4: until its parameters in this connection announce that, the bit is 1).
    pub(crate) fn on_peer_parameters(&mut self, takes_any: bool) {
        self.peer_accepts_any = takes_any;
    }

    /// Sets the varying bits in the first byte of a packet with this destination id, before the packet is protected.
    pub(crate) fn mark(&mut self, destination: ConnectionId, first: &mut u8) {
        if let Some(spin) = &mut self.spin
            && !FirstByte(*first).is_long()
            && spin.value(destination)
        {
            *first |= SPIN_BIT;
        }
        if let Some(random) = &mut self.quic_bit
            && self.peer_accepts_any
            && random.chance(0.5)
        {
            *first &= !QUIC_BIT;
        }
    }

    /// Whether to skip the number of the next packet.
    pub(crate) fn skips(&mut self, number: u64) -> bool {
        self.skips.as_mut().is_some_and(|skips| skips.is_due(number))
    }
    /// Whether an ACK frame acknowledges a skipped packet number (RFC 9000 section 21.4).
    pub(crate) fn is_optimistic_ack(&self, ack: &Ack<'_>) -> bool {
        self.skips.as_ref().is_some_and(|skips| skips.is_in(ack))
    }

    /// Notes a 1-RTT packet with the highest number so far.
    pub(crate) fn on_newest(&mut self, side: Side, first: u8) {
        if let Some(spin) = &mut self.spin {
            spin.on_received(side, FirstByte(first).spin());
        }
    }
}
