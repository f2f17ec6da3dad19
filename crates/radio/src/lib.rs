//! stub
#![allow(missing_docs)]
pub mod lte {
    pub fn cqi(sinr_db: f64) -> u8 { ((1.0 + 10f64.powf(sinr_db / 10.0) / 5.0).log2() / 0.37).clamp(0.0, 15.0) as u8 }
    pub fn mcs_of_cqi(cqi: u8) -> u8 { (cqi * 2 - 2).min(28) }
    pub fn transport_block_bits(mcs: u8, prbs: u16) -> u32 { (u32::from(mcs) * 26 + 16) * u32::from(prbs) / 8 * 8 }
    pub fn uplink_transport_block_bits(mcs: u8, prbs: u16) -> u32 { transport_block_bits(mcs, prbs) }
    pub fn prbs(hz: u64) -> Option<u16> { Some(match hz { 1_400_000 => 6, 3_000_000 => 15, 5_000_000 => 25, 10_000_000 => 50, 15_000_000 => 75, 20_000_000 => 100, _ => return None }) }
}
pub mod nr {
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Table { Qam64, Qam256, Qam64LowSe }
    pub fn cqi(sinr_db: f64, _: Table) -> u8 { super::lte::cqi(sinr_db) }
    pub fn mcs_of_cqi(cqi: u8, _: Table) -> u8 { (cqi * 2 - 2).min(27) }
    pub fn transport_block_bits(mcs: u8, _: Table, prbs: u16, _: u8, layers: u8, _: u8) -> u32 { super::lte::transport_block_bits(mcs, prbs) * u32::from(layers) }
    pub fn prbs(hz: u64, numerology: u8) -> Option<u16> { Some((hz / 200_000 >> numerology) as u16) }
}
