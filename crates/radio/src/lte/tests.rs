//! The tables of LTE against values that were taken from other sources than the table itself.

use super::*;

#[test]
fn spot_values_of_the_standard() {
    assert_eq!(transport_block_bits(0, 1), 16);
    assert_eq!(transport_block_bits(6, 1), 328);
    assert_eq!(transport_block_bits(28, 100), 75_376);
    assert_eq!(transport_block_bits(28, 50), 36_696);
    assert_eq!(transport_block_bits(27, 110), 71_112);
    assert_eq!(uplink_transport_block_bits(20, 97), 42_368);
    assert_eq!(uplink_transport_block_bits(28, 100), 75_376);
    assert_eq!((transport_block_bits(5, 0), transport_block_bits(99, 999)), (0, 75_376));
}

/// The values at 1, 17, 33, 49, 65, 81, 97 and 110 resource blocks of the table that srsRAN generated from
/// TS 36.213 V12.13.0.
#[test]
fn the_rows_agree_with_a_second_source() {
    let rows: [(usize, [u32; 8]); 7] = [
        (7, [104, 2_088, 4_008, 5_992, 7_992, 9_912, 11_832, 13_536]),
        (10, [144, 2_984, 5_736, 8_504, 11_448, 14_112, 16_992, 19_080]),
        (14, [256, 4_968, 9_528, 14_112, 18_336, 22_920, 28_336, 31_704]),
        (17, [336, 6_200, 11_832, 17_568, 23_688, 29_296, 35_160, 39_232]),
        (20, [440, 7_992, 15_264, 22_920, 30_576, 37_888, 45_352, 51_024]),
        (23, [552, 9_912, 19_080, 28_336, 37_888, 46_888, 55_056, 63_776]),
        (26, [712, 12_576, 24_496, 36_696, 48_936, 59_256, 71_112, 75_376]),
    ];
    for (index, row) in rows {
        let found = [1, 17, 33, 49, 65, 81, 97, 110].map(|prbs: usize| table::BITS[index][prbs - 1]);
        assert_eq!(found, row, "index {index}");
    }
}

#[test]
fn more_blocks_or_a_higher_mcs_never_carry_less() {
    for prbs in 1..=110 {
        for mcs in 0..MAX_MCS {
            // The one exception of the table: index 6 has 328 bits on a single resource block.
            if prbs > 1 {
                assert!(transport_block_bits(mcs, prbs) <= transport_block_bits(mcs + 1, prbs));
                assert!(uplink_transport_block_bits(mcs, prbs) <= uplink_transport_block_bits(mcs + 1, prbs));
            }
            if prbs > 2 {
                assert!(transport_block_bits(mcs, prbs - 1) <= transport_block_bits(mcs, prbs));
            }
        }
    }
}

#[test]
fn a_block_consists_of_whole_bytes() {
    assert!(table::BITS.iter().flatten().all(|bits| bits % 8 == 0));
}

#[test]
fn modulations_change_at_the_mcs_of_the_tables() {
    assert_eq!([9, 10, 16, 17, 28].map(modulation_order), [2, 4, 4, 6, 6]);
    assert_eq!([10, 11, 20, 21, 28].map(uplink_modulation_order), [2, 4, 4, 6, 6]);
    // Both sides of a change carry the same block.
    for (mcs, size) in [(9, transport_block_bits as fn(u8, u16) -> u32), (16, transport_block_bits)] {
        assert_eq!(size(mcs, 50), size(mcs + 1, 50));
    }
    for mcs in [10, 20] {
        assert_eq!(uplink_transport_block_bits(mcs, 50), uplink_transport_block_bits(mcs + 1, 50));
    }
}

#[test]
fn the_cqi_rises_at_its_thresholds() {
    assert_eq!((cqi(-40.0), cqi(60.0), cqi(f64::NAN)), (0, 15, 0));
    // 5.529 (2^0.1523 - 1) = 0.616, and 5.529 (2^5.5547 - 1) = 254.3.
    assert!((threshold_db(1) + 2.10).abs() < 0.01, "{}", threshold_db(1));
    assert!((threshold_db(15) - 24.06).abs() < 0.01, "{}", threshold_db(15));
    for level in 1..=15 {
        assert_eq!(cqi(threshold_db(level) + 1e-6), level);
        assert_eq!(cqi(threshold_db(level) - 1e-6), level - 1);
    }
}

#[test]
fn the_mcs_of_a_cqi_is_the_highest_that_it_allows() {
    for cqi in 1..=15 {
        let highest = (0..=MAX_MCS).rev().find(|&mcs| mcs_efficiency(mcs) <= efficiency(cqi));
        assert_eq!(Some(mcs_of_cqi(cqi)), highest);
    }
    assert_eq!(mcs_of_cqi(0), 0);
    // Values of R1-081483.
    for (mcs, printed) in [(1, 0.19), (3, 0.31), (7, 0.74), (15, 2.16), (17, 2.57), (25, 4.82)] {
        assert!((mcs_efficiency(mcs) - printed).abs() <= 0.005_1, "{mcs}");
    }
}

#[test]
fn carriers_have_the_resource_blocks_of_the_standard() {
    let blocks = [1_400_000, 3_000_000, 5_000_000, 10_000_000, 15_000_000, 20_000_000].map(prbs);
    assert_eq!(blocks, [6, 15, 25, 50, 75, 100].map(Some));
    assert_eq!(prbs(7_000_000), None);
}
