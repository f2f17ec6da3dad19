//! LTE: from SINR to CQI, from CQI to MCS, and from MCS and resource blocks to bits (3GPP TS 36.213).

mod table;
#[cfg(test)]
mod tests;

use crate::decibel;

/// The highest MCS that carries data; 29 to 31 are for retransmissions.
pub const MAX_MCS: u8 = 28;

/// The bit error rate that the mapping of [`cqi`] aims at (Piro et al., "An LTE module for the ns-3 network
/// simulator", 2011).
pub const TARGET_BER: f64 = 0.000_05;

/// 36.213 table 7.2.3-1: bits per resource element of CQI 0 to 15.
const EFFICIENCY: [f64; 16] = [
    0.0, 0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023,
    4.5234, 5.1152, 5.5547,
];

/// The ratio by which a real code needs more SINR than Shannon's bound: -ln(5 BER) / 1.5 (Goldsmith and Chua 1997).
/// About 5.53, or 7.4 dB.
pub fn gap() -> f64 {
    -(5.0 * TARGET_BER).ln() / 1.5
}

/// The channel quality that a terminal reports at `sinr_db`, 0 (out of range) to 15: the highest whose efficiency is
/// not above log2(1 + SINR / gap). Not a number counts as out of range.
pub fn cqi(sinr_db: f64) -> u8 {
    let reached = (1.0 + decibel::to_ratio(sinr_db) / gap()).log2();
    (1..16).rev().find(|&cqi| efficiency(cqi) <= reached).unwrap_or(0)
}

/// The least SINR in dB at which [`cqi`] is at least `cqi`; minus infinity for 0.
pub fn threshold_db(cqi: u8) -> f64 {
    decibel::from_ratio(gap() * (efficiency(cqi).exp2() - 1.0))
}

/// Bits per resource element of a CQI (36.213 table 7.2.3-1); 0 for CQI 0, and that of 15 above 15.
pub fn efficiency(cqi: u8) -> f64 {
    EFFICIENCY[usize::from(cqi.min(15))]
}

/// Bits per resource element of an MCS: an even MCS has the efficiency of a CQI, an odd one the mean of its neighbours
/// (the values of 3GPP R1-081483, before rounding). An MCS above 28 counts as 28.
pub fn mcs_efficiency(mcs: u8) -> f64 {
    let below = mcs.min(MAX_MCS) / 2 + 1;
    if mcs.min(MAX_MCS).is_multiple_of(2) {
        efficiency(below)
    } else {
        (efficiency(below) + efficiency(below + 1)) / 2.0
    }
}

/// The highest MCS, 0 to 28, whose efficiency is not above that of `cqi`: 2 (CQI - 1). CQI 0, at which a station
/// should send nothing, yields 0.
pub fn mcs_of_cqi(cqi: u8) -> u8 {
    2 * cqi.clamp(1, 15) - 2
}

/// Bits per symbol of a downlink MCS: 2, 4 or 6 (36.213 table 7.1.7.1-1). An MCS above 28 counts as 28.
pub fn modulation_order(mcs: u8) -> u8 {
    match mcs {
        0..=9 => 2,
        10..=16 => 4,
        _ => 6,
    }
}

/// Bits per symbol of an uplink MCS: 2, 4 or 6 (36.213 table 8.6.1-1). An MCS above 28 counts as 28.
pub fn uplink_modulation_order(mcs: u8) -> u8 {
    match mcs {
        0..=10 => 2,
        11..=20 => 4,
        _ => 6,
    }
}

/// Bits of a downlink transport block on one layer (36.213 tables 7.1.7.1-1 and 7.1.7.2.1-1): 16 for MCS 0 on one
/// physical resource block, 75,376 for MCS 28 on 100. No resource blocks carry 0 bits; more than 110 count as 110,
/// and an MCS above 28 as 28.
pub fn transport_block_bits(mcs: u8, prbs: u16) -> u32 {
    let mcs = mcs.min(MAX_MCS);
    let index = match mcs {
        0..=9 => mcs,
        10..=16 => mcs - 1,
        _ => mcs - 2,
    };
    bits(index, prbs)
}

/// Bits of an uplink transport block (36.213 tables 8.6.1-1 and 7.1.7.2.1-1), with the limits of
/// [`transport_block_bits`].
pub fn uplink_transport_block_bits(mcs: u8, prbs: u16) -> u32 {
    let mcs = mcs.min(MAX_MCS);
    let index = match mcs {
        0..=10 => mcs,
        11..=20 => mcs - 1,
        _ => mcs - 2,
    };
    bits(index, prbs)
}

/// The physical resource blocks of a carrier (3GPP TS 36.101 table 5.6-1), or `None` if LTE has no carrier of this
/// bandwidth.
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

fn bits(index: u8, prbs: u16) -> u32 {
    let prbs = usize::from(prbs).min(table::MAX_PRBS);
    prbs.checked_sub(1).map_or(0, |column| table::BITS[usize::from(index)][column])
}
