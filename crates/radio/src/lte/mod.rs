//! LTE: schemes and sizes of blocks (TS 36.213).

mod blocks;

/// The resource blocks of a carrier by its width in Hz (TS 36.101 table 5.6-1); `None` for other widths.
pub fn prbs(bandwidth_hz: u64) -> Option<u16> {
    match bandwidth_hz {
        1_400_000 => Some(6),
        3_000_000 => Some(15),
        5_000_000 => Some(25),
        10_000_000 => Some(50),
        15_000_000 => Some(75),
        20_000_000 => Some(100),
        _ => None,
    }
}

/// The efficiency of each CQI in bits per symbol (TS 36.213 table 7.2.3-1). CQI 0 is out of range.
static CQI: [f64; 16] = [
    0.0, 0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023,
    4.5234, 5.1152, 5.5547,
];

/// The bit error rate at which a channel still counts as good enough for a scheme: see [`cqi`].
const BIT_ERRORS: f64 = 0.00005;

/// The efficiency of a CQI in bits per symbol, 0 to 15.
///
/// # Panics
/// If there is no such CQI.
pub fn efficiency(cqi: u8) -> f64 {
    CQI[usize::from(cqi)]
}

/// The CQI that a terminal reports at a signal-to-noise-and-interference ratio in dB: the highest one whose efficiency is
/// below log2(1 + s / g), with g = -ln(5 b) / 1.5 and a bit error rate b of 5e-5 (Piro, Baldo and Miozzo 2011, section
/// 3: the gap of coded QAM from Shannon's bound, after Goldsmith and Chua 1997).
pub fn cqi(sinr_db: f64) -> u8 {
    let efficiency = (1.0 + 10_f64.powf(sinr_db / 10.0) / code_gap()).log2();
    CQI.iter().rposition(|known| *known < efficiency).unwrap_or(0) as u8
}

/// How much more signal a coded scheme needs than Shannon's bound: see [`cqi`].
pub(crate) fn code_gap() -> f64 {
    -(5.0 * BIT_ERRORS).ln() / 1.5
}

/// The index of the size of blocks by scheme: TS 36.213 table 7.1.7.1-1, downlink.
static DOWNLINK: [u8; 29] =
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10, 11, 12, 13, 14, 15, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26];
/// The same for uplinks: TS 36.213 table 8.6.1-1.
static UPLINK: [u8; 29] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 19, 20, 21, 22, 23, 24, 25, 26,
];

/// The highest scheme.
pub const HIGHEST_SCHEME: u8 = 28;

/// The bits of a block of a downlink, by its scheme (0 to 28) and its resource blocks (1 to 110).
///
/// # Panics
/// If there is no such scheme, or no such number of resource blocks.
pub fn transport_block_bits(mcs: u8, prbs: u16) -> u32 {
    blocks::BITS[usize::from(DOWNLINK[usize::from(mcs)])][usize::from(prbs) - 1]
}

/// The bits of a block of an uplink, by its scheme (0 to 28) and its resource blocks (1 to 110).
///
/// # Panics
/// If there is no such scheme, or no such number of resource blocks.
pub fn uplink_transport_block_bits(mcs: u8, prbs: u16) -> u32 {
    blocks::BITS[usize::from(UPLINK[usize::from(mcs)])][usize::from(prbs) - 1]
}

/// The bits of a symbol in a scheme of the downlink: QPSK, 16-QAM or 64-QAM.
pub fn modulation_bits(mcs: u8) -> u8 {
    match mcs {
        0..=9 => 2,
        10..=16 => 4,
        _ => 6,
    }
}

/// The symbols of a resource block that carry data: 12 subcarriers of 14 symbols without three of control and eight for
/// reference signals.
const SYMBOLS: f64 = 12.0 * 11.0 - 12.0;

/// The highest scheme of the downlink whose efficiency is not above that of a CQI; 0 for CQI 0.
pub fn mcs_of_cqi(cqi: u8) -> u8 {
    let most = efficiency(cqi);
    // The efficiency of a scheme is that of a large block.
    let of = |mcs: u8| f64::from(transport_block_bits(mcs, 100)) / (100.0 * SYMBOLS);
    (0..=HIGHEST_SCHEME).rev().find(|mcs| of(*mcs) <= most).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_standard() {
        // TS 36.213 table 7.1.7.2.1-1: the corners, and some between.
        assert_eq!((transport_block_bits(0, 1), transport_block_bits(28, 100)), (16, 75_376));
        assert_eq!([1, 2, 3, 10].map(|prbs| transport_block_bits(0, prbs)), [16, 32, 56, 256]);
        assert_eq!([1, 2, 3, 10].map(|prbs| transport_block_bits(28, prbs)), [712, 1480, 2216, 7480]);
        assert_eq!((transport_block_bits(9, 50), transport_block_bits(10, 50)), (7992, 7992));
        assert_eq!(uplink_transport_block_bits(28, 100), 75_376);
    }

    #[test]
    fn sizes_grow_with_resource_blocks_and_schemes() {
        for mcs in 0..=HIGHEST_SCHEME {
            for of in [transport_block_bits, uplink_transport_block_bits] {
                let sizes: Vec<u32> = (1..=110).map(|prbs| of(mcs, prbs)).collect();
                assert!(sizes.is_sorted() && sizes.iter().all(|bits| bits % 8 == 0), "{mcs}");
                assert!(mcs == 0 || (1..=110).all(|prbs| of(mcs - 1, prbs) <= of(mcs, prbs)));
            }
        }
    }

    #[test]
    fn a_better_channel_has_a_higher_scheme() {
        // g = -ln(5 x 5e-5)/1.5 = 5.529; at 20 dB log2(1 + 100/5.529) = 4.25: CQI 12, of 3.9023.
        assert_eq!((cqi(20.0), cqi(-15.0), cqi(30.0)), (12, 0, 15));
        let all: Vec<u8> = (0..16).map(mcs_of_cqi).collect();
        assert_eq!(all, [0, 0, 0, 1, 3, 6, 7, 11, 13, 15, 17, 20, 21, 23, 25, 27]);
    }
}
