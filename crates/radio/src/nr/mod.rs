//! NR (5G): from SINR to CQI, from CQI to MCS, and from MCS and resources to bits (3GPP TS 38.214).

mod table;
#[cfg(test)]
mod tests;

use crate::{decibel, lte};
use table::Code;
use units::Duration;

/// The highest modulation that a terminal is configured for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Table {
    /// 64-QAM: 38.214 tables 5.1.3.1-1 and 5.2.2.1-2.
    #[default]
    Qam64,
    /// 256-QAM: tables 5.1.3.1-2 and 5.2.2.1-3.
    Qam256,
    /// 64-QAM with low spectral efficiency, for reliability: tables 5.1.3.1-3 and 5.2.2.1-4.
    LowEfficiency,
}

impl Table {
    fn mcs(self) -> &'static [Code] {
        match self {
            Table::Qam64 => &table::MCS_64,
            Table::Qam256 => &table::MCS_256,
            Table::LowEfficiency => &table::MCS_LOW,
        }
    }

    fn cqi(self) -> &'static [Code; 15] {
        match self {
            Table::Qam64 => &table::CQI_64,
            Table::Qam256 => &table::CQI_256,
            Table::LowEfficiency => &table::CQI_LOW,
        }
    }

    /// The row of an MCS; one above the highest counts as the highest.
    fn row(self, mcs: u8) -> Code {
        self.mcs()[usize::from(mcs.min(self.max_mcs()))]
    }

    /// The highest MCS that carries data: 28, or 27 with 256-QAM.
    pub fn max_mcs(self) -> u8 {
        self.mcs().len() as u8 - 1
    }
}

/// The channel quality at `sinr_db`, 0 (out of range) to 15: as that of LTE ([`lte::cqi`]), with the efficiencies of
/// the table.
pub fn cqi(sinr_db: f64, table: Table) -> u8 {
    let reached = (1.0 + decibel::to_ratio(sinr_db) / lte::gap()).log2();
    (1..16).rev().find(|&cqi| efficiency(cqi, table) <= reached).unwrap_or(0)
}

/// Bits per resource element of a CQI; 0 for CQI 0, and that of 15 above 15.
pub fn efficiency(cqi: u8, table: Table) -> f64 {
    let Some(row) = usize::from(cqi.min(15)).checked_sub(1) else { return 0.0 };
    let (order, rate) = table.cqi()[row];
    product(order, rate)
}

/// Bits per resource element of an MCS.
pub fn mcs_efficiency(mcs: u8, table: Table) -> f64 {
    let (order, rate) = table.row(mcs);
    product(order, rate)
}

/// Bits per symbol of an MCS: 2, 4, 6 or 8.
pub fn modulation_order(mcs: u8, table: Table) -> u8 {
    table.row(mcs).0
}

/// The highest MCS whose efficiency is not above that of `cqi`; 0 if there is none.
pub fn mcs_of_cqi(cqi: u8, table: Table) -> u8 {
    let limit = efficiency(cqi, table);
    (0..=table.max_mcs()).rev().find(|&mcs| mcs_efficiency(mcs, table) <= limit).unwrap_or(0)
}

/// Bits of a transport block (38.214 section 5.1.3.2) on `prbs` resource blocks (0 to 275), `symbols` of a slot (0 to
/// 14) and `layers` (1 to 4), of which each resource block loses `overhead` resource elements to reference signals and
/// configured overhead (N_DMRS + N_oh). 0 if nothing can be sent.
pub fn transport_block_bits(mcs: u8, table: Table, prbs: u16, symbols: u8, layers: u8, overhead: u16) -> u32 {
    let (order, rate) = table.row(mcs);
    // Step 1: at most 156 resource elements of a resource block count.
    let elements = (12 * u64::from(symbols.min(14))).saturating_sub(u64::from(overhead)).min(156);
    let elements = elements * u64::from(prbs.min(275));
    // Step 2, N_info in 2048ths of a bit.
    let info = elements * u64::from(rate) * u64::from(order) * u64::from(layers.min(4));
    if info == 0 {
        return 0;
    }
    if info <= 3824 * 2048 { small_block(info) } else { large_block(info, rate) }
}

/// Step 3: the smallest size of table 5.1.3.2-1 that is not below the quantized N_info.
fn small_block(info: u64) -> u32 {
    let info = info / 2048;
    let exponent = info.max(1).ilog2().saturating_sub(6).max(3);
    let quantized = (info >> exponent << exponent).max(24) as u32;
    let index = table::SMALL_BLOCKS.partition_point(|&size| size < quantized);
    table::SMALL_BLOCKS[index.min(table::SMALL_BLOCKS.len() - 1)]
}

/// Step 4: whole bytes in equal code blocks, each with a checksum of 24 bits.
fn large_block(info: u64, rate: u16) -> u32 {
    // The integer part of (N_info - 24) has the logarithm of the whole, rounded down.
    let less = info - 24 * 2048;
    let exponent = (less / 2048).ilog2() - 5;
    let step = 2048u64 << exponent;
    let quantized = (((less + step / 2) / step) << exponent).max(3840);
    let size = |blocks: u64| (8 * blocks * (quantized + 24).div_ceil(8 * blocks) - 24) as u32;
    if rate <= 512 {
        size((quantized + 24).div_ceil(3816))
    } else if quantized > 8424 {
        size((quantized + 24).div_ceil(8424))
    } else {
        size(1)
    }
}

/// The resource blocks of a carrier with subcarriers of 15 kHz times 2^`numerology`, or `None` if NR has no such
/// carrier (38.101-1 table 5.3.2-1). At 60 kHz, carriers up to 100 MHz are those below 7.125 GHz, and 200 MHz is one
/// of 38.101-2, as are all at 120 kHz.
pub fn prbs(bandwidth_hz: u64, numerology: u8) -> Option<u16> {
    let carriers = table::CARRIERS.get(usize::from(numerology))?;
    carriers.iter().find(|row| row.0 * 1_000_000 == bandwidth_hz).map(|row| row.1)
}

/// The length of a slot of 14 symbols, 2^-`numerology` ms, for 0 to 4 (38.211 table 4.3.2-1).
pub fn slot(numerology: u8) -> Option<Duration> {
    (numerology <= 4).then(|| Duration::from_nanos(1_000_000 >> numerology))
}

fn product(order: u8, rate: u16) -> f64 {
    f64::from(order) * f64::from(rate) / 2048.0
}
