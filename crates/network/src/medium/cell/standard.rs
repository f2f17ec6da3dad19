//! What LTE and NR do differently: slots, headers, schemes and sizes of blocks.

use super::bearer::Headers;
use radio::bler::Curve;
use units::Duration;

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
