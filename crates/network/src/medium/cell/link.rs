//! The radio link of a terminal: which modulation and coding scheme it has, and which blocks fail.

use super::bearer::Headers;
use super::errors::BlockErrors;
use super::harq::Block;
use radio::bler::Curve;
use radio::channel::Channel;
use random::Stream;
use units::{Duration, Time};

/// What LTE and NR do differently.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Standard {
    /// TS 36.211 to 36.323.
    Lte,
    /// TS 38.211 to 38.323.
    Nr {
        /// The numerology: slots of 2^-n ms.
        numerology: u8,
        table: radio::nr::Table,
        layers: u8,
    },
}

/// The symbols of a slot with data, and the resource elements of a resource block with other contents: a control symbol
/// and one for the demodulation reference signal in NR.
const NR_SYMBOLS: u8 = 13;
const NR_OVERHEAD: u16 = 12;

impl Standard {
    pub(super) fn slot(self) -> Duration {
        match self {
            Standard::Lte => Duration::from_millis(1),
            Standard::Nr { numerology, .. } => Duration::from_nanos(1_000_000 >> numerology),
        }
    }
    /// The PDUs that may be unacknowledged: half of the numbers of 10 bits (TS 36.322 section 7.2) or 18 bits (TS 38.322
    /// section 7.2).
    pub(super) fn window(self) -> u64 {
        match self {
            Standard::Lte => 512,
            Standard::Nr { .. } => 131_072,
        }
    }
    /// The headers of a bearer, in halves of a byte. In LTE a PDU holds several packets: MAC 3 bytes, RLC 2, and 1.5 for
    /// each further packet (TS 36.321 section 6.1.2, 36.322 section 6.2.1); PDCP has 2 (36.323 section 6.2). In NR each
    /// packet, or part of one, is a PDU of its own: MAC 3 bytes and RLC 3, or 1 in the unacknowledged mode, and 2 more
    /// for the offset of a part (38.321 section 6.1.2, 38.322 section 6.2.2); PDCP has 3 (38.323 section 6.2).
    pub(super) fn headers(self, acknowledged: bool) -> Headers {
        match self {
            Standard::Lte => Headers { packet: 4, pdu: 10, field: 3 },
            Standard::Nr { .. } if acknowledged => Headers { packet: 6, pdu: 16, field: 12 },
            Standard::Nr { .. } => Headers { packet: 6, pdu: 12, field: 8 },
        }
    }
    /// The bytes of a block.
    pub(super) fn block_bytes(self, mcs: u8, prbs: u16, uplink: bool) -> u32 {
        let bits = match self {
            Standard::Lte if uplink => radio::lte::uplink_transport_block_bits(mcs, prbs),
            Standard::Lte => radio::lte::transport_block_bits(mcs, prbs),
            Standard::Nr { table, layers, .. } => {
                radio::nr::transport_block_bits(mcs, table, prbs, NR_SYMBOLS, layers, NR_OVERHEAD)
            }
        };
        bits / 8
    }
    /// The scheme for a signal-to-noise ratio: that of the highest CQI; `None` if the terminal is out of reach (CQI 0).
    pub(super) fn scheme(self, sinr_db: f64) -> Option<u8> {
        match self {
            Standard::Lte => match radio::lte::cqi(sinr_db) {
                0 => None,
                cqi => Some(radio::lte::mcs_of_cqi(cqi)),
            },
            Standard::Nr { table, .. } => match radio::nr::cqi(sinr_db, table) {
                0 => None,
                cqi => Some(radio::nr::mcs_of_cqi(cqi, table)),
            },
        }
    }
    /// The highest scheme.
    pub(super) fn highest(self) -> u8 {
        match self {
            Standard::Nr { table, .. } => table.max_mcs(),
            Standard::Lte => radio::lte::MAX_MCS,
        }
    }
    /// The block errors of a scheme by the signal-to-noise ratio.
    pub(super) fn curve(self, mcs: u8, bits: u32) -> Curve {
        match self {
            Standard::Lte => Curve::lte(mcs, bits),
            Standard::Nr { table, .. } => Curve::with_gap(radio::nr::mcs_efficiency(mcs, table), bits),
        }
    }
    /// The fewest resource blocks for these bytes, up to `most`, and the bytes of their block.
    pub(super) fn fitting(self, mcs: u8, bytes: u64, most: u16, uplink: bool) -> (u16, u32) {
        let size = |prbs: u16| self.block_bytes(mcs, prbs, uplink);
        let whole = size(most);
        if u64::from(whole) <= bytes {
            return (most, whole);
        }
        let (mut low, mut high) = (0, most);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if u64::from(size(middle)) < bytes {
                low = middle;
            } else {
                high = middle;
            }
        }
        (high, size(high))
    }
}

/// The options of a terminal's radio link.
pub(super) struct RadioLink {
    pub standard: Standard,
    /// The scheme, if it does not follow the channel.
    pub fixed: Option<u8>,
    /// Slots from one measurement to the next, and from a measurement to its use.
    pub period: u64,
    pub processing: u64,
    pub channel: Channel,
    pub errors: BlockErrors,
    /// The streams of the two directions.
    pub streams: [Stream; 2],
    /// The number of the last measurement plus one, and the scheme that it gives.
    measured: (u64, Option<u8>),
}

impl RadioLink {
    pub(super) fn new(
        (standard, fixed): (Standard, Option<u8>),
        (period, processing): (u64, u64),
        channel: Channel,
        errors: BlockErrors,
        streams: [Stream; 2],
    ) -> RadioLink {
        RadioLink { standard, fixed, period, processing, channel, errors, streams, measured: (0, None) }
    }

    /// The scheme that the station uses in a slot: that of the last measurement that it knows.
    pub(super) fn scheme(&mut self, slot: u64) -> Option<u8> {
        if self.fixed.is_some() {
            return self.fixed;
        }
        let number = slot.saturating_sub(self.processing) / self.period + 1;
        if self.measured.0 != number {
            let at = Time::from_nanos((number - 1) * self.period * self.standard.slot().as_nanos());
            self.measured = (number, self.standard.scheme(self.channel.sinr_db(at)));
        }
        self.measured.1
    }

    /// The first slot from `slot` on in which the station may know of a scheme.
    pub(super) fn next_use(&self, slot: u64) -> u64 {
        if self.fixed.is_some() || self.measured.1.is_some() {
            return slot;
        }
        let next = self.measured.0 * self.period + self.processing;
        next.max(slot)
    }

    /// Whether an attempt to send a block at a time fails.
    pub(super) fn fails(&mut self, at: Time, uplink: bool, block: &mut Block) -> bool {
        let stream = &mut self.streams[usize::from(uplink)];
        self.errors.fails(at, self.standard, &mut self.channel, block, stream)
    }
}
