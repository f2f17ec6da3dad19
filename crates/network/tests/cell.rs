//! Cells in numbers that can be checked by hand: HARQ, requests and grants, both modes of RLC, schedulers.

mod support;

use support::cell::{Cell, saturate};
use support::{ms, us};
use units::{Duration, Time};

#[test]
fn a_block_is_repeated_every_eight_slots() {
    for bler in [0.05, 0.3, 0.5] {
        let errors = format!("target bler={bler}");
        let given = [("rlc", "um"), ("mcs", "10"), ("block_errors", errors.as_str())];
        let mut cell = Cell::new("lte", 1, &given, &[&[]]);
        let packets = 20_000;
        for number in 0..packets {
            cell.send(ms(200 * u64::from(number)) + Duration::from_micros(500), (0, 1), number, 200);
        }
        cell.run(ms(200 * u64::from(packets)));
        // A packet that comes at 0.5 ms is sent from 1 to 2 ms, or 8, 16, 24 ms later; four attempts at most.
        let (mut counts, mut next) = ([0; 4], 0);
        for (at, _, number) in &cell.got {
            // A packet behind one that was given up waits for t-Reordering: it does not tell its attempts.
            if std::mem::replace(&mut next, number + 1) != *number {
                continue;
            }
            let delay = at.since(ms(200 * u64::from(*number))).as_millis();
            assert_eq!(delay % 8, 2, "{delay}");
            counts[(delay / 8) as usize] += 1;
        }
        for (attempt, count) in counts.into_iter().enumerate() {
            let told = f64::from(packets) * (1.0 - f64::powi(bler, 4));
            let expected = told * f64::powi(bler, attempt as i32) * (1.0 - bler);
            assert!((f64::from(count) - expected).abs() < 4.0 * expected.sqrt(), "{bler}: {counts:?}");
        }
        let lost = f64::from(packets) * f64::powi(bler, 4);
        assert!((cell.lane(0).stats.lost.packets as f64 - lost).abs() <= 4.0 * lost.sqrt().max(1.0));
    }
}

#[test]
fn an_uplink_waits_for_a_request_and_a_grant() {
    let given = [("rlc", "um"), ("mcs", "10"), ("block_errors", "none")];
    let mut cell = Cell::new("lte", 1, &given, &[&[]]);
    // The request goes in slot 10; the station grants in slot 14 what is sent in slot 18 and is there at 19 ms.
    cell.send(us(500), (1, 0), 1, 60);
    // The first grant takes a part of this one and says how much is left: granted at 119 ms, sent from 123 to 124 ms.
    cell.send(us(100_500), (1, 0), 2, 1000);
    cell.run(ms(200));
    assert_eq!(cell.got, [(ms(19), 0, 1), (ms(124), 0, 2)]);
    assert_eq!(cell.medium.wake_at(), None, "a cell with nothing to send has no timer");
}

/// TS 36.322 section 5.2.3: a report fits into what the station grants.
#[test]
fn a_report_that_is_longer_than_a_block_is_cut() {
    // A block has at most 63 bytes; a report on more than 40 missing PDUs is longer.
    let given = [
        ("bandwidth", "1.4 MHz"),
        ("mcs", "5"),
        ("harq_retransmissions", "0"),
        ("block_errors", "target bler=0.4"),
        ("status_prohibit", "50 ms"),
        ("queue", "drop-tail limit=unlimited"),
    ];
    let mut cell = Cell::new("lte", 1, &given, &[&[]]);
    for number in 0..70 {
        cell.send(ms(100 * u64::from(number)), (0, 1), number, 1200);
        cell.send(ms(100 * u64::from(number)), (1, 0), number, 1200);
    }
    cell.run(ms(20_000));
    assert_eq!(cell.got.len(), 140);
    assert_eq!(cell.medium.wake_at(), None);
}

#[test]
fn the_acknowledged_mode_goes_on_when_reports_are_long() {
    // Half of a window is missing, and the report on it is longer than a first grant of 100 bytes.
    let given = [
        ("mcs", "10"),
        ("bandwidth", "5 MHz"),
        ("harq_retransmissions", "0"),
        ("block_errors", "target bler=0.5"),
        ("queue", "drop-tail limit=unlimited"),
    ];
    let mut cell = Cell::new("lte", 1, &given, &[&[]]);
    saturate(&mut cell, 1, 20);
    // The scheme has 4 Mbit/s, of which half is lost.
    assert!(cell.rate_mbps(0) > 1.2, "{}", cell.rate_mbps(0));
}

#[test]
fn the_acknowledged_mode_loses_nothing_and_keeps_the_order() {
    for (name, bler) in [("lte", "0.1"), ("lte", "0.5"), ("nr", "0.3")] {
        let errors = format!("target bler={bler}");
        let given = [
            ("mcs", "10"),
            ("harq_retransmissions", "0"),
            ("block_errors", errors.as_str()),
            ("queue", "drop-tail limit=unlimited"),
        ];
        let mut cell = Cell::new(name, 1, &given, &[&[]]);
        let mut sent = Vec::new();
        for number in 0..3000_u32 {
            let at = us(700 * u64::from(number));
            let ends = if number % 2 == 0 { (0, 1) } else { (1, 0) };
            cell.send(at, ends, number, 40 + number * 37 % 1460);
            sent.push((ends.1, number));
        }
        cell.run(ms(60_000));
        for attachment in [0, 1] {
            let got: Vec<u32> =
                cell.got.iter().filter(|(_, to, _)| *to == attachment).map(|(.., number)| *number).collect();
            let expected: Vec<u32> =
                sent.iter().filter(|(to, _)| *to == attachment).map(|(_, number)| *number).collect();
            let differs = got.iter().zip(&expected).position(|(got, sent)| got != sent);
            assert!(got == expected, "{name} {bler}: {} of {}, {differs:?}", got.len(), expected.len());
        }
        assert!(cell.lane(0).air.unwrap().lost > 100, "blocks were lost");
        assert_eq!(cell.medium.wake_at(), None, "{name} {bler}: nothing is left to do");
    }
}

/// TS 36.322 section 5.2.1: a PDU is retransmitted `max_retransmissions` times, and lost if all these fail.
#[test]
fn a_pdu_is_given_up_after_its_repetitions() {
    let given = [
        ("mcs", "10"),
        ("harq_retransmissions", "0"),
        ("block_errors", "target bler=0.5"),
        ("max_retransmissions", "2"),
    ];
    let mut cell = Cell::new("lte", 1, &given, &[&[]]);
    let packets = 4000;
    for number in 0..packets {
        // A block each; those behind a lost one tell that it is missing.
        cell.send(ms(5 * u64::from(number)), (0, 1), number, 100);
    }
    cell.run(ms(6 * u64::from(packets)));
    let lost = cell.lane(0).stats.lost.packets as f64;
    let expected = f64::from(packets) * 0.5f64.powi(3);
    assert!((lost / expected - 1.0).abs() < 0.2, "{lost} of {packets}, {expected} expected");
    assert_eq!(cell.got.len() as u64 + cell.lane(0).stats.lost.packets, u64::from(packets));
}

#[test]
fn what_is_lost_in_the_unacknowledged_mode_delays_the_rest_by_t_reordering() {
    let given =
        [("rlc", "um"), ("mcs", "10"), ("block_errors", "target bler=0.02"), ("harq_retransmissions", "0")];
    let mut cell = Cell::new("lte", 3, &given, &[&[]]);
    // Packets of a block each, every 2 ms.
    for number in 0..20_000 {
        cell.send(us(2000 * u64::from(number) + 500), (0, 1), number, 300);
    }
    cell.run(ms(50_000));
    let lost = cell.lane(0).stats.lost.packets;
    assert!((350..450).contains(&lost), "{lost}");
    assert!(cell.got.is_sorted_by_key(|(.., number)| *number));
    // The packet behind a lost one arrives 35 ms after it was received, if nothing else was missing; the timer for a
    // second gap starts when that for the first has expired.
    let delay = |(at, _, number): &(Time, u16, u32)| at.since(us(2000 * u64::from(*number))).as_millis();
    assert!(cell.got.iter().all(|packet| delay(packet) <= 2 + 2 * 35));
    let mut alone = 0;
    for window in cell.got.windows(41) {
        let (before, after) = (&window[..40], &window[40]);
        let whole = before[39].2 - before[0].2 == 39;
        if whole && after.2 == before[39].2 + 2 {
            assert_eq!(delay(after), 37);
            alone += 1;
        }
    }
    assert!(alone > 100, "{alone} gaps are alone");
}

#[test]
fn schedulers_share_as_they_say() {
    for (scheduler, shares) in
        [("round-robin", [1.0, 1.0]), ("proportional-fair", [1.0, 1.0]), ("max-rate", [0.0, 2.0])]
    {
        // Two terminals, of which the second has a better channel.
        let given = [
            ("rlc", "um"),
            ("block_errors", "none"),
            ("scheduler", scheduler),
            ("queue", "drop-tail limit=unlimited"),
        ];
        let alone = |mcs: &str| {
            let mut cell = Cell::new("lte", 1, &given, &[&[("mcs", mcs)]]);
            saturate(&mut cell, 1, 2);
            cell.rate_mbps(0)
        };
        let mut both = Cell::new("lte", 1, &given, &[&[("mcs", "4")], &[("mcs", "16")]]);
        saturate(&mut both, 2, 2);
        for (terminal, mcs) in ["4", "16"].into_iter().enumerate() {
            let share = both.rate_mbps(2 * terminal) / alone(mcs);
            let expected = shares[terminal] / 2.0;
            assert!((share - expected).abs() < 0.03, "{scheduler} {terminal}: {share} instead of {expected}");
        }
        let air: u64 = [0, 2].map(|lane| both.lane(lane).air.unwrap().airtime.as_nanos()).iter().sum();
        assert!(air <= both.now.as_nanos(), "air time");
    }
}

/// Of one terminal: the rate by the tables.
/// A packet is in transfer until its own last bit is received; then it waits for those before it.
#[test]
fn what_waits_for_a_repetition_is_not_in_transfer() {
    let given = [("mcs", "28"), ("block_errors", "target bler=0.1"), ("queue", "drop-tail limit=unlimited")];
    let mut cell = Cell::new("lte", 1, &given, &[&[]]);
    saturate(&mut cell, 1, 5);
    let lane = cell.lane(0);
    let mean = |sum: Duration| sum.as_secs_f64() * 1e3 / lane.stats.delivered.packets as f64;
    let delays = lane.air.unwrap().delays;
    // A slot, and 8 ms for each of 0.1 + 0.01 + 0.001 repetitions; a block holds 6.3 packets, of which one goes on in the next
    // one, a slot and again 0.1 repetitions later.
    let transfer = 1.0 + 8.0 * 0.111 + (1.0 + 8.0 * 0.1 * 7.0 / 8.0) / 6.3;
    assert!((mean(delays.transfer) / transfer - 1.0).abs() < 0.1, "{} of {transfer}", mean(delays.transfer));
    // With probability 1 - 0.9^7 one of the seven blocks before is repeated, and 8 ms after the last of them it is received.
    let order: f64 = (1..8).map(|ago| 0.1 * 0.9_f64.powi(ago - 1) * f64::from(8 - ago)).sum();
    assert!((mean(delays.order) / order - 1.0).abs() < 0.25, "{} of {order}", mean(delays.order));
}

#[test]
fn the_peak_rate_is_that_of_the_tables() {
    // TS 36.213: 75,376 bits in each slot with scheme 28 and 100 resource blocks; 9422 bytes, of which MAC and RLC take 5,
    // and 1.5 for each further packet in the block (6.2 packets of 1502 bytes with PDCP).
    let given =
        [("rlc", "um"), ("mcs", "28"), ("block_errors", "none"), ("queue", "drop-tail limit=unlimited")];
    let mut cell = Cell::new("lte", 1, &given, &[&[]]);
    saturate(&mut cell, 1, 2);
    let payload = f64::from(75_376 / 8 - 5) - 1.5 * 6.27;
    let expected = payload * 8e-3 * 1500.0 / 1502.0;
    assert!((cell.rate_mbps(0) / expected - 1.0).abs() < 0.002, "{} of {expected}", cell.rate_mbps(0));
    // TS 38.214: 295,176 bits in half a millisecond with 273 resource blocks of scheme 27 of the table up to 256-QAM.
    let given = [
        ("rlc", "um"),
        ("mcs", "27"),
        ("block_errors", "none"),
        ("queue", "drop-tail limit=unlimited"),
        ("numerology", "1"),
        ("bandwidth", "100"),
    ];
    let mut cell = Cell::new("nr", 1, &given, &[&[]]);
    let mut number = 0;
    for step in 0..200 {
        for _ in cell.lane(0).stats.inside.packets..1000 {
            cell.send(ms(step), (0, 1), number, 1500);
            number += 1;
        }
        cell.run(ms(step + 1));
    }
    // Each packet has PDCP 3, MAC and RLC 4 to 6 bytes.
    let (least, most) = (295_176.0 * 2e-3 * 1500.0 / 1510.0, 295_176.0 * 2e-3 * 1500.0 / 1506.0);
    assert!((least * 0.99..most).contains(&cell.rate_mbps(0)), "{} of {most}", cell.rate_mbps(0));
}

#[test]
fn a_better_channel_is_faster_and_fails_less() {
    let mut last = 0.0;
    for sinr in [-1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 25.0] {
        let channel = format!("constant sinr={sinr}");
        let given = [
            ("rlc", "um"),
            ("block_errors", "curve"),
            ("queue", "drop-tail limit=unlimited"),
            ("channel", channel.as_str()),
        ];
        let mut cell = Cell::new("lte", 1, &given, &[&[]]);
        saturate(&mut cell, 1, 1);
        let rate = cell.rate_mbps(0);
        assert!(rate > 1.1 * last, "{sinr} dB: {rate} Mbit/s");
        last = rate;
        // At the scheme of its CQI at most one block in ten fails at the first attempt, and hardly one with two.
        let air = cell.lane(0).air.unwrap();
        assert!(air.again * 10 <= air.sent + 40 && air.lost == 0, "{sinr} dB: {air:?}");
    }
    // Without a CQI a terminal is out of reach.
    let given = [("channel", "constant sinr=-20")];
    let mut cell = Cell::new("lte", 1, &given, &[&[]]);
    cell.send(ms(1), (0, 1), 0, 100);
    cell.run(ms(1000));
    assert!(cell.got.is_empty());
}

#[test]
fn proportional_fair_rides_on_fading() {
    // Ten terminals of equal mean channels that fade independently, slowly enough to be followed.
    let channel = "drawn distance=600;doppler=5";
    let rate = |scheduler: &str| {
        let given = [
            ("rlc", "um"),
            ("block_errors", "none"),
            ("scheduler", scheduler),
            ("bandwidth", "5 MHz"),
            ("channel", channel),
            ("queue", "drop-tail limit=unlimited"),
        ];
        let terminals: Vec<&[(&str, &str)]> = vec![&[]; 10];
        let mut cell = Cell::new("lte", 1, &given, &terminals);
        saturate(&mut cell, 10, 10);
        let rates: Vec<f64> = (0..10).map(|terminal| cell.rate_mbps(2 * terminal)).collect();
        let (sum, squares) = (rates.iter().sum::<f64>(), rates.iter().map(|rate| rate * rate).sum::<f64>());
        (sum, sum * sum / (10.0 * squares))
    };
    let (round_robin, _) = rate("round-robin");
    let (proportional, fairness) = rate("proportional-fair");
    let (greatest, _) = rate("max-rate");
    assert!(proportional > 1.2 * round_robin, "{proportional} Mbit/s instead of {round_robin}");
    assert!(greatest >= 0.99 * proportional && fairness > 0.9, "{greatest} Mbit/s, {fairness}");
}
