//! The tables and the block sizes of NR against values by hand.

use super::*;

const TABLES: [Table; 3] = [Table::Qam64, Table::Qam256, Table::LowEfficiency];

/// A slot of 14 symbols with 12 reference elements in each resource block.
fn bits(mcs: u8, table: Table, prbs: u16, layers: u8) -> u32 {
    transport_block_bits(mcs, table, prbs, 14, layers, 12)
}

#[test]
fn block_sizes_by_hand() {
    // 156 elements x 120/1024 x 2 = 36.6: quantized 32.
    assert_eq!(bits(0, Table::Qam64, 1, 1), 32);
    // 156 x 106 x 948/1024 x 6 = 91,852.0: n = 11, 45 x 2048 = 92,160; 11 code blocks: 92,200.
    assert_eq!(bits(28, Table::Qam64, 106, 1), 92_200);
    // 156 x 273 x 948/1024 x 8 x 4 = 1,261,680: n = 15, 39 x 32,768 = 1,277,952; 152 code blocks: 1,277,992.
    assert_eq!(bits(27, Table::Qam256, 273, 4), 1_277_992);
    // 156 x 50 x 120/1024 x 2 = 1,828.1: n = 4, 1,824: the next of the table.
    assert_eq!(bits(0, Table::Qam64, 50, 1), 1_864);
    // 156 x 50 x 308/1024 x 2 = 4,692.2: n = 7, 36 x 128 = 4,608, in one code block.
    assert_eq!(bits(4, Table::Qam64, 50, 1), 4_608);
    // A rate below 1/4: 156 x 200 x 120/1024 x 2 = 7,312.5: n = 7, 57 x 128 = 7,296; 2 code blocks: 7,304.
    assert_eq!(bits(0, Table::Qam64, 200, 1), 7_304);
    assert_eq!((bits(5, Table::Qam64, 0, 1), bits(5, Table::Qam64, 9, 0)), (0, 0));
    assert_eq!(transport_block_bits(5, Table::Qam64, 9, 1, 1, 12), 0);
}

#[test]
fn more_resources_never_carry_less() {
    for table in TABLES {
        for mcs in 0..=table.max_mcs() {
            for prbs in 1..275 {
                assert!(bits(mcs, table, prbs, 1) <= bits(mcs, table, prbs + 1, 1), "{mcs} {prbs}");
                assert_eq!(bits(mcs, table, prbs, 2) % 8, 0);
            }
        }
    }
}

/// The quantization moves a block by at most one part in 32, and table and code blocks by a few bytes.
#[test]
fn a_block_is_near_the_efficiency_of_its_mcs() {
    for table in TABLES {
        for mcs in 0..=table.max_mcs() {
            let info = mcs_efficiency(mcs, table) * 156.0 * 200.0;
            let ratio = f64::from(bits(mcs, table, 200, 1)) / info;
            assert!((0.96..1.04).contains(&ratio), "{table:?} {mcs}: {ratio}");
        }
    }
}

#[test]
fn efficiencies_rise_and_have_the_printed_values() {
    for table in TABLES {
        for cqi in 1..=15 {
            assert!(efficiency(cqi, table) > efficiency(cqi - 1, table));
        }
        // The one exception of the standard: 6 x 438 / 1024 of MCS 17 is below 4 x 658 / 1024 of MCS 16.
        let falls = (0..table.max_mcs())
            .filter(|&mcs| mcs_efficiency(mcs + 1, table) < mcs_efficiency(mcs, table))
            .collect::<Vec<u8>>();
        let expected: &[u8] = if table == Table::Qam64 { &[16] } else { &[] };
        assert_eq!(falls, expected, "{table:?}");
    }
    for (cqi, table, printed) in [
        (1, Table::Qam64, 0.1523),
        (7, Table::Qam64, 1.4766),
        (15, Table::Qam64, 5.5547),
        (15, Table::Qam256, 7.4063),
        (11, Table::Qam256, 5.1152),
        (1, Table::LowEfficiency, 0.0586),
        (15, Table::LowEfficiency, 4.5234),
    ] {
        assert!((efficiency(cqi, table) - printed).abs() < 0.000_06, "{cqi} {table:?}");
    }
    for (mcs, table, printed) in
        [(9, Table::Qam64, 1.3262), (20, Table::Qam256, 5.3320), (26, Table::Qam256, 7.1602)]
    {
        assert!((mcs_efficiency(mcs, table) - printed).abs() < 0.000_06, "{mcs} {table:?}");
    }
}

#[test]
fn a_cqi_with_the_code_of_an_mcs_selects_it() {
    assert_eq!([1, 2, 15].map(|cqi| mcs_of_cqi(cqi, Table::Qam64)), [0, 0, 28]);
    assert_eq!([2, 12, 15].map(|cqi| mcs_of_cqi(cqi, Table::Qam256)), [1, 21, 27]);
    assert_eq!([1, 2, 15].map(|cqi| mcs_of_cqi(cqi, Table::LowEfficiency)), [0, 2, 28]);
    assert_eq!((cqi(-30.0, Table::Qam64), cqi(50.0, Table::Qam256)), (0, 15));
    for sinr in -10..30 {
        assert_eq!(cqi(f64::from(sinr), Table::Qam64), lte::cqi(f64::from(sinr)), "{sinr} dB");
    }
}

#[test]
fn carriers_and_slots_are_those_of_the_standard() {
    assert_eq!(prbs(20_000_000, 0), Some(106));
    assert_eq!(prbs(100_000_000, 1), Some(273));
    assert_eq!(prbs(100_000_000, 2), Some(135));
    assert_eq!(prbs(400_000_000, 3), Some(264));
    assert_eq!((prbs(100_000_000, 0), prbs(20_000_000, 4)), (None, None));
    // The guard bands: a carrier fills 80 to 98.5 % of its bandwidth, except the narrowest.
    for (numerology, carriers) in table::CARRIERS.iter().enumerate() {
        for (mhz, prbs) in carriers.iter() {
            let used = f64::from(*prbs) * 12.0 * 0.015 * f64::from(1 << numerology) / *mhz as f64;
            assert!((0.78..0.985).contains(&used), "{numerology} {mhz}: {used}");
        }
    }
    assert_eq!(slot(3), Some(Duration::from_micros(125)));
    assert_eq!((slot(0), slot(5)), (Some(Duration::from_millis(1)), None));
}
