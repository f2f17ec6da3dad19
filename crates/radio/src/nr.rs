//! 5G NR: schemes and sizes of blocks (TS 38.214).

use crate::lte::code_gap;

/// A table of modulation and coding schemes, with its table of CQIs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// TS 38.214 tables 5.1.3.1-1 and 5.2.2.1-2: up to 64-QAM.
    Qam64,
    /// TS 38.214 tables 5.1.3.1-2 and 5.2.2.1-3: up to 256-QAM.
    Qam256,
    /// TS 38.214 tables 5.1.3.1-3 and 5.2.2.1-4: up to 64-QAM, with low spectral efficiency.
    Qam64LowSe,
}

/// Bits of a symbol, and 2048 times the code rate.
type Scheme = (u8, u16);

/// TS 38.214 table 5.1.3.1-1; code rates times 2048.
#[rustfmt::skip]
static QAM64: [Scheme; 29] = [
    (2, 240), (2, 314), (2, 386), (2, 502), (2, 616), (2, 758), (2, 898), (2, 1052), (2, 1204), (2, 1358),
    (4, 680), (4, 756), (4, 868), (4, 980), (4, 1106), (4, 1232), (4, 1316),
    (6, 876), (6, 932), (6, 1034), (6, 1134), (6, 1232), (6, 1332), (6, 1438), (6, 1544), (6, 1644), (6, 1746),
    (6, 1820), (6, 1896),
];
/// TS 38.214 table 5.1.3.1-2.
#[rustfmt::skip]
static QAM256: [Scheme; 28] = [
    (2, 240), (2, 386), (2, 616), (2, 898), (2, 1204),
    (4, 756), (4, 868), (4, 980), (4, 1106), (4, 1232), (4, 1316),
    (6, 932), (6, 1034), (6, 1134), (6, 1232), (6, 1332), (6, 1438), (6, 1544), (6, 1644), (6, 1746),
    (8, 1365), (8, 1422), (8, 1508), (8, 1594), (8, 1682), (8, 1770), (8, 1833), (8, 1896),
];
/// TS 38.214 table 5.1.3.1-3.
#[rustfmt::skip]
static QAM64_LOW_SE: [Scheme; 29] = [
    (2, 60), (2, 80), (2, 100), (2, 128), (2, 156), (2, 198), (2, 240), (2, 314), (2, 386), (2, 502), (2, 616),
    (2, 758), (2, 898), (2, 1052), (2, 1204),
    (4, 680), (4, 756), (4, 868), (4, 980), (4, 1106), (4, 1232),
    (6, 876), (6, 932), (6, 1034), (6, 1134), (6, 1232), (6, 1332), (6, 1438), (6, 1544),
];

/// The efficiencies of CQIs: TS 38.214 table 5.2.2.1-2.
#[rustfmt::skip]
static CQI_64: [f64; 16] = [
    0.0, 0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023, 4.5234,
    5.1152, 5.5547,
];
/// TS 38.214 table 5.2.2.1-3.
#[rustfmt::skip]
static CQI_256: [f64; 16] = [
    0.0, 0.1523, 0.3770, 0.8770, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023, 4.5234, 5.1152, 5.5547, 6.2266,
    6.9141, 7.4063,
];
/// TS 38.214 table 5.2.2.1-4.
#[rustfmt::skip]
static CQI_LOW_SE: [f64; 16] = [
    0.0, 0.0586, 0.0977, 0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223,
    3.9023, 4.5234,
];

/// Sizes of blocks up to 3824 bits: TS 38.214 table 5.1.3.2-1.
#[rustfmt::skip]
static SMALL: [u16; 93] = [
    24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 208, 224,
    240, 256, 272, 288, 304, 320, 336, 352, 368, 384, 408, 432, 456, 480, 504, 528, 552, 576, 608, 640, 672, 704,
    736, 768, 808, 848, 888, 928, 984, 1032, 1064, 1128, 1160, 1192, 1224, 1256, 1288, 1320, 1352, 1416, 1480, 1544,
    1608, 1672, 1736, 1800, 1864, 1928, 2024, 2088, 2152, 2216, 2280, 2408, 2472, 2536, 2600, 2664, 2728, 2792,
    2856, 2976, 3104, 3240, 3368, 3496, 3624, 3752, 3824,
];

impl Table {
    fn schemes(self) -> &'static [Scheme] {
        match self {
            Table::Qam64 => &QAM64,
            Table::Qam256 => &QAM256,
            Table::Qam64LowSe => &QAM64_LOW_SE,
        }
    }
    /// The highest scheme.
    pub fn highest_scheme(self) -> u8 {
        self.schemes().len() as u8 - 1
    }
    fn cqis(self) -> &'static [f64; 16] {
        match self {
            Table::Qam64 => &CQI_64,
            Table::Qam256 => &CQI_256,
            Table::Qam64LowSe => &CQI_LOW_SE,
        }
    }
}

/// The CQI that a terminal reports at a signal-to-noise-and-interference ratio in dB, as in LTE ([`crate::lte::cqi`]).
pub fn cqi(sinr_db: f64, table: Table) -> u8 {
    let efficiency = (1.0 + 10_f64.powf(sinr_db / 10.0) / code_gap()).log2();
    table.cqis().iter().rposition(|known| *known < efficiency).unwrap_or(0) as u8
}

/// The highest scheme whose efficiency is not above that of a CQI; 0 for CQI 0.
pub fn mcs_of_cqi(cqi: u8, table: Table) -> u8 {
    // The efficiencies of CQIs have four decimals.
    let most = table.cqis()[usize::from(cqi)] + 1e-4;
    let of = |(bits, rate): &Scheme| f64::from(*bits) * f64::from(*rate) / 2048.0;
    table.schemes().iter().rposition(|scheme| of(scheme) <= most).unwrap_or(0) as u8
}

/// The bits of a block: TS 38.214 section 5.1.3.2.
///
/// `symbols` are those of the slot with data; `overhead` are the resource elements of each resource block in these
/// symbols with other contents (reference signals and xOverhead).
///
/// # Panics
/// If the table has no such scheme.
pub fn transport_block_bits(mcs: u8, table: Table, prbs: u16, symbols: u8, layers: u8, overhead: u8) -> u32 {
    let (modulation, rate) = table.schemes()[usize::from(mcs)];
    let elements = (12 * u32::from(symbols)).saturating_sub(overhead.into()).min(156) * u32::from(prbs);
    // N_info times 2048.
    let info = u64::from(elements) * u64::from(rate) * u64::from(modulation) * u64::from(layers);
    if info <= 3824 * 2048 {
        return small(info);
    }
    // N_info - 24, quantised to a power of two that is at most a 32nd of it.
    let beyond = info - 24 * 2048;
    let exponent = (beyond / 2048).ilog2() - 5;
    let step = 1_u64 << exponent;
    // Round half up, as the standard's round() for positive numbers.
    let quantised = (step * ((beyond + step * 1024) / (step * 2048))).max(3840);
    let bits = quantised + 24;
    let blocks = if u64::from(rate) * 4 <= 2048 {
        bits.div_ceil(3816)
    } else if quantised > 8424 {
        bits.div_ceil(8424)
    } else {
        1
    };
    (8 * blocks * bits.div_ceil(8 * blocks) - 24) as u32
}

/// A block of up to 3824 bits, by 2048 times N_info.
fn small(info: u64) -> u32 {
    let whole = info / 2048;
    let exponent = whole.checked_ilog2().map_or(3, |log| log.saturating_sub(6).max(3));
    let step = 1_u64 << exponent;
    let quantised = (step * (whole / step)).max(24);
    SMALL.iter().copied().map(u32::from).find(|size| u64::from(*size) >= quantised).unwrap_or(3824)
}

/// The resource blocks of a carrier by its width in Hz and its numerology: TS 38.101-1 table 5.3.2-1 up to 100 MHz with
/// subcarriers of 15, 30 and 60 kHz, and 38.101-2 table 5.3.2-1 with 60 and 120 kHz from 50 MHz on. With 240 kHz, which
/// has no carriers for data, half of those with 120 kHz. `None` for other widths.
pub fn prbs(bandwidth_hz: u64, numerology: u8) -> Option<u16> {
    let megahertz = bandwidth_hz / 1_000_000;
    let find =
        |table: &[(u64, u16)]| table.iter().find(|(width, _)| *width == megahertz).map(|(_, prbs)| *prbs);
    match numerology {
        0 => find(&[(5, 25), (10, 52), (15, 79), (20, 106), (25, 133), (30, 160), (40, 216), (50, 270)]),
        1 => find(&[
            (5, 11),
            (10, 24),
            (15, 38),
            (20, 51),
            (25, 65),
            (30, 78),
            (40, 106),
            (50, 133),
            (60, 162),
            (70, 189),
            (80, 217),
            (90, 245),
            (100, 273),
        ]),
        2 => find(&[
            (10, 11),
            (15, 18),
            (20, 24),
            (25, 31),
            (30, 38),
            (40, 51),
            (50, 65),
            (60, 79),
            (70, 93),
            (80, 107),
            (90, 121),
            (100, 135),
            (200, 264),
        ]),
        3 => find(&[(50, 32), (100, 66), (200, 132), (400, 264)]),
        4 => find(&[(50, 16), (100, 33), (200, 66), (400, 132)]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_the_five_steps_of_the_standard() {
        // 273 resource blocks, 13 symbols, 12 elements of overhead: 144 elements each. Scheme 27 of table 2: 8 bits at
        // 948/1024. N_info = 39312 x 8 x 948/1024 = 291,153.375; n = floor(log2(291129.375)) - 5 = 13; quantised to
        // 36 x 8192 = 294,912 (35.54 rounds to 36); C = ceil(294936 / 8424) = 36; 8 x 36 x 1025 - 24 =
        // 295,176.
        assert_eq!(transport_block_bits(27, Table::Qam256, 273, 13, 1, 12), 295_176);
        // One resource block of scheme 0: 144 x 2 x 120/1024 = 33.75 bits, 32 in steps of 8.
        assert_eq!(transport_block_bits(0, Table::Qam64, 1, 13, 1, 12), 32);
        // Layers multiply N_info.
        assert_eq!(
            transport_block_bits(0, Table::Qam64, 1, 13, 2, 12),
            transport_block_bits(0, Table::Qam64, 2, 13, 1, 12)
        );
        // 30 resource blocks of scheme 0: 1012.5 bits; n = 3; 1008 is not in the table, 1032 is.
        assert_eq!(transport_block_bits(0, Table::Qam64, 30, 13, 1, 12), 1032);
        // A code rate of at most 1/4 has blocks of 3816: 273 x 144 x 2 x 120/1024 = 9213.75; n = 8; 9189.75/256 = 35.9
        // rounds to 36, 9216; C = ceil(9240/3816) = 3; 8 x 3 x 385 - 24 = 9216.
        assert_eq!(transport_block_bits(0, Table::Qam64, 273, 13, 1, 12), 9_216);
    }

    #[test]
    fn sizes_grow_with_resource_blocks_and_schemes() {
        for table in [Table::Qam64, Table::Qam256, Table::Qam64LowSe] {
            for mcs in 0..=table.highest_scheme() {
                let sizes: Vec<u32> =
                    (1..=273).map(|prbs| transport_block_bits(mcs, table, prbs, 13, 1, 12)).collect();
                assert!(sizes.is_sorted() && sizes.iter().all(|bits| bits % 8 == 0), "{table:?} {mcs}");
            }
        }
        assert!(SMALL.is_sorted() && SMALL.iter().all(|bits| bits % 8 == 0));
    }

    #[test]
    fn schemes_follow_the_cqi() {
        assert_eq!(
            (0..16).map(|cqi| mcs_of_cqi(cqi, Table::Qam64)).collect::<Vec<_>>(),
            [0, 0, 0, 2, 4, 6, 8, 11, 13, 15, 18, 20, 22, 24, 26, 28]
        );
        assert_eq!(mcs_of_cqi(15, Table::Qam256), 27);
        assert_eq!((cqi(-20.0, Table::Qam64), cqi(40.0, Table::Qam256)), (0, 15));
    }
}
