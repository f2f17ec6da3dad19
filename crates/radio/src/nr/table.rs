//! The tables of 3GPP TS 38.214 and TS 38.101: modulation and code rate of MCS and CQI, block sizes, resource blocks.

/// A row of an MCS or CQI table: bits per symbol, and 2048 times the code rate (the standard prints 1024 times the
/// rate, and has halves of it).
pub(super) type Code = (u8, u16);

/// A row from the numbers as the standard prints them, without a half.
const fn code(order: u8, rate: u16) -> Code {
    (order, 2 * rate)
}

/// 38.214 table 5.1.3.1-1.
#[rustfmt::skip]
pub(super) static MCS_64: [Code; 29] = [
    code(2, 120), code(2, 157), code(2, 193), code(2, 251), code(2, 308), code(2, 379), code(2, 449), code(2, 526),
    code(2, 602), code(2, 679), code(4, 340), code(4, 378), code(4, 434), code(4, 490), code(4, 553), code(4, 616),
    code(4, 658), code(6, 438), code(6, 466), code(6, 517), code(6, 567), code(6, 616), code(6, 666), code(6, 719),
    code(6, 772), code(6, 822), code(6, 873), code(6, 910), code(6, 948),
];

/// 38.214 table 5.1.3.1-2. MCS 20 and 26 have the rates 682.5 / 1024 and 916.5 / 1024.
#[rustfmt::skip]
pub(super) static MCS_256: [Code; 28] = [
    code(2, 120), code(2, 193), code(2, 308), code(2, 449), code(2, 602), code(4, 378), code(4, 434), code(4, 490),
    code(4, 553), code(4, 616), code(4, 658), code(6, 466), code(6, 517), code(6, 567), code(6, 616), code(6, 666),
    code(6, 719), code(6, 772), code(6, 822), code(6, 873), (8, 1365), code(8, 711), code(8, 754), code(8, 797),
    code(8, 841), code(8, 885), (8, 1833), code(8, 948),
];

/// 38.214 table 5.1.3.1-3.
#[rustfmt::skip]
pub(super) static MCS_LOW: [Code; 29] = [
    code(2, 30), code(2, 40), code(2, 50), code(2, 64), code(2, 78), code(2, 99), code(2, 120), code(2, 157),
    code(2, 193), code(2, 251), code(2, 308), code(2, 379), code(2, 449), code(2, 526), code(2, 602), code(4, 340),
    code(4, 378), code(4, 434), code(4, 490), code(4, 553), code(4, 616), code(6, 438), code(6, 466), code(6, 517),
    code(6, 567), code(6, 616), code(6, 666), code(6, 719), code(6, 772),
];

/// 38.214 table 5.2.2.1-2, CQI 1 to 15.
#[rustfmt::skip]
pub(super) static CQI_64: [Code; 15] = [
    code(2, 78), code(2, 120), code(2, 193), code(2, 308), code(2, 449), code(2, 602), code(4, 378), code(4, 490),
    code(4, 616), code(6, 466), code(6, 567), code(6, 666), code(6, 772), code(6, 873), code(6, 948),
];

/// 38.214 table 5.2.2.1-3, CQI 1 to 15.
#[rustfmt::skip]
pub(super) static CQI_256: [Code; 15] = [
    code(2, 78), code(2, 193), code(2, 449), code(4, 378), code(4, 490), code(4, 616), code(6, 466), code(6, 567),
    code(6, 666), code(6, 772), code(6, 873), code(8, 711), code(8, 797), code(8, 885), code(8, 948),
];

/// 38.214 table 5.2.2.1-4, CQI 1 to 15.
#[rustfmt::skip]
pub(super) static CQI_LOW: [Code; 15] = [
    code(2, 30), code(2, 50), code(2, 78), code(2, 120), code(2, 193), code(2, 308), code(2, 449), code(2, 602),
    code(4, 378), code(4, 490), code(4, 616), code(6, 466), code(6, 567), code(6, 666), code(6, 772),
];

/// 38.214 table 5.1.3.2-1: the block sizes up to 3,824 bits.
#[rustfmt::skip]
pub(super) static SMALL_BLOCKS: [u32; 93] = [
    24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 208, 224,
    240, 256, 272, 288, 304, 320, 336, 352, 368, 384, 408, 432, 456, 480, 504, 528, 552, 576, 608, 640, 672, 704,
    736, 768, 808, 848, 888, 928, 984, 1032, 1064, 1128, 1160, 1192, 1224, 1256, 1288, 1320, 1352, 1416, 1480, 1544,
    1608, 1672, 1736, 1800, 1864, 1928, 2024, 2088, 2152, 2216, 2280, 2408, 2472, 2536, 2600, 2664, 2728, 2792,
    2856, 2976, 3104, 3240, 3368, 3496, 3624, 3752, 3824,
];

/// Bandwidth in MHz and resource blocks.
pub(super) type Carriers = &'static [(u64, u16)];

/// 38.101-1 table 5.3.2-1 (below 7.125 GHz) for subcarriers of 15, 30 and 60 kHz, with the one bandwidth of 60 kHz
/// that only 38.101-2 has (200 MHz); 38.101-2 table 5.3.2-1 for 120 kHz.
#[rustfmt::skip]
pub(super) static CARRIERS: [Carriers; 4] = [
    &[(5, 25), (10, 52), (15, 79), (20, 106), (25, 133), (30, 160), (35, 188), (40, 216), (45, 242), (50, 270)],
    &[(5, 11), (10, 24), (15, 38), (20, 51), (25, 65), (30, 78), (35, 92), (40, 106), (45, 119), (50, 133),
      (60, 162), (70, 189), (80, 217), (90, 245), (100, 273)],
    &[(10, 11), (15, 18), (20, 24), (25, 31), (30, 38), (35, 44), (40, 51), (45, 58), (50, 65), (60, 79),
      (70, 93), (80, 107), (90, 121), (100, 135), (200, 264)],
    &[(50, 32), (100, 66), (200, 132), (400, 264)],
];
