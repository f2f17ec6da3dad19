//! Handovers in numbers that can be checked by hand: when the site changes, what is forwarded, and what is lost.

mod support;

use support::cell::Cell;
use support::{ms, us};
use units::{Duration, Time};

/// Half a millisecond after a time in ms.
fn half_past(at: u64) -> Time {
    us(1000 * at + 500)
}

/// A cell of two sites, in which the terminal changes to the second one at 100 ms.
fn two_sites(given: &[(&str, &str)]) -> Cell {
    let mut all = vec![
        ("sites", "[0, 1000]"),
        ("handover", "times steps=[100 ms, 1]"),
        ("interruption", "40 ms"),
        ("mcs", "10"),
        ("block_errors", "none"),
    ];
    all.retain(|(name, _)| given.iter().all(|(other, _)| other != name));
    Cell::new("lte", 1, &[&all, given].concat(), &[&[]])
}

#[test]
fn waiting_packets_are_forwarded_or_lost() {
    for mode in ["am", "um"] {
        for (forwarding, expected) in [("true", vec![1, 2, 3, 4]), ("false", vec![1, 4])] {
            let mut cell = two_sites(&[("rlc", mode), ("forwarding", forwarding)]);
            // Sent in slot 99; too late for that slot; during the interruption; after it.
            for (number, at) in [(1, 98), (2, 99), (3, 120), (4, 150)] {
                cell.send(half_past(at), (0, 1), number, 200);
            }
            cell.run(ms(1000));
            let numbers: Vec<u32> = cell.got.iter().map(|(.., number)| *number).collect();
            assert_eq!(numbers, expected, "{mode}");
            let arrivals = [(1, 100), (2, 141), (3, 141), (4, 152)];
            for (at, _, number) in &cell.got {
                let (_, expected) = arrivals[*number as usize - 1];
                assert_eq!(*at, ms(expected), "{mode}, {number}");
            }
            let stats = cell.lane(0).stats;
            assert_eq!((stats.lost.packets, stats.inside.packets), (4 - expected.len() as u64, 0));
            assert_eq!(cell.lane(0).air.unwrap().handovers, 1);
            assert_eq!(cell.medium.wake_at(), None, "a cell with nothing to send has no timer");
        }
    }
}

#[test]
fn a_packet_that_was_half_sent_is_sent_again_whole_in_the_acknowledged_mode() {
    // Blocks of 6 resource blocks at scheme 5 have 63 bytes, 58 without headers: a packet of 200 bytes and a header of
    // two takes four.
    for (mode, forwarding, arrives) in
        [("am", "true", true), ("am", "false", false), ("um", "true", false), ("um", "false", false)]
    {
        let small = [("bandwidth", "1.4 MHz"), ("mcs", "5"), ("rlc", mode), ("forwarding", forwarding)];
        let mut cell = two_sites(&small);
        cell.send(half_past(97), (0, 1), 1, 200);
        cell.run(ms(1000));
        let expected: Vec<_> = arrives.then_some((ms(144), 1, 1)).into_iter().collect();
        assert_eq!(cell.got, expected, "{mode}, forwarding {forwarding}");
        assert_eq!(cell.lane(0).stats.lost.packets, u64::from(!arrives));
    }
}

#[test]
fn a_terminal_keeps_its_packets_and_asks_the_new_site() {
    for forwarding in ["true", "false"] {
        let mut cell = two_sites(&[("rlc", "am"), ("forwarding", forwarding)]);
        // Asked for in slot 100, at the end of the wait for an opportunity, but for the handover. The terminal asks in slot
        // 140; the station grants in slot 144 what is sent in slot 148.
        cell.send(half_past(95), (1, 0), 1, 60);
        cell.run(ms(1000));
        assert_eq!(cell.got, [(ms(149), 0, 1)]);
    }
}

#[test]
fn blocks_that_wait_for_another_attempt_are_given_up() {
    // Every attempt fails: in the air at 99 ms, and due again at 107 ms.
    let given = [("rlc", "um"), ("block_errors", "target bler=1")];
    let mut cell = two_sites(&given);
    cell.send(half_past(97), (0, 1), 1, 200);
    cell.run(ms(130));
    let (stats, air) = (cell.lane(0).stats, cell.lane(0).air.unwrap());
    assert_eq!((air.sent, air.again, air.lost, stats.lost.packets), (1, 0, 1, 1));
}

#[test]
fn the_site_changes_where_the_other_one_is_better() {
    // Along the line at 20 m/s, 50 m from it, from one site to another 1000 m away. At x the difference is 17.5
    // log10((x² + 50²) / ((1000 - x)² + 50²)) dB: 3 dB at 548.8 m, after 27.44 s. The average of 200 ms lags by at most
    // that, measurements come every 40 ms, and the time to trigger is 256 ms.
    let channel = "drawn distance=50;speed=20;fading=false";
    let given = [("sites", "[0, 1000]"), ("handover", "sinr"), ("channel", channel), ("rlc", "am")];
    let mut cell = Cell::new("lte", 1, &given, &[&[]]);
    let mut changed = None;
    for step in 0..500u64 {
        cell.send(ms(100 * step), (0, 1), step as u32, 1000);
        if changed.is_none() && cell.lane(0).air.unwrap().handovers > 0 {
            changed = Some(step);
        }
    }
    cell.run(ms(60_000));
    assert_eq!(cell.lane(0).air.unwrap().handovers, 1);
    let at = changed.unwrap() as f64 / 10.0;
    assert!((27.44 + 0.24..27.44 + 0.256 + 0.2 + 0.04 + 0.1).contains(&at), "{at}");
    assert_eq!(cell.got.len(), 500);
}

#[test]
fn a_terminal_moves_alike_whether_it_sends_or_not() {
    let channel = "drawn distance=50;start=-300;speed=30;shadowing=8";
    let given = [
        ("sites", "[0, 500, 1000]"),
        ("interference", "0.5"),
        ("handover", "sinr averaging=500 ms;hysteresis=2"),
        ("channel", channel),
    ];
    let run = |seed, every: u64, pieces: u64| {
        let mut cell = Cell::new("lte", seed, &given, &[&[]]);
        for at in 0..60_000 {
            if every > 0 && at % every == 0 {
                cell.send(ms(at), (0, 1), at as u32, 1000);
            }
            if at % pieces == 0 {
                cell.run(ms(at));
            }
        }
        cell.run(ms(60_000));
        (cell.lane(0).air.unwrap().handovers, cell.got)
    };
    let (mut some, mut most) = (false, 0);
    for seed in 0..10 {
        let (handovers, got) = run(seed, 20, 60_000);
        assert_eq!(run(seed, 20, 7), (handovers, got), "seed {seed}");
        assert_eq!(run(seed, 20_000, 60_000).0, run(seed, 20_000, 330).0, "seed {seed}");
        assert_eq!(run(seed, 0, 60_000).0, run(seed, 0, 10).0, "seed {seed}");
        (some, most) = (some | (handovers > 2), most.max(handovers));
    }
    assert!(some && most < 60, "{most}");
}

#[test]
fn a_packet_is_discarded_when_it_is_too_old() {
    // Nothing is sent from 100 to 140 ms. At 140 ms the packets of 100.5 to 110.5 ms are more than 29 ms old; of the queue
    // of ten packets they have taken no place when the last ones come.
    let given = [("rlc", "um"), ("discard", "29 ms"), ("queue", "drop-tail limit=10 packets")];
    let mut cell = two_sites(&given);
    for number in 0..20 {
        cell.send(half_past(100 + 2 * u64::from(number)), (0, 1), number, 200);
    }
    cell.run(ms(1000));
    let numbers: Vec<u32> = cell.got.iter().map(|(.., number)| *number).collect();
    assert_eq!(cell.lane(0).stats.dropped_queue.packets + numbers.len() as u64, 20);
    assert_eq!(numbers[0], 6, "{numbers:?}");
    assert!(cell.got.iter().all(|(at, ..)| *at >= ms(141)), "{:?}", cell.got);
    let oldest =
        cell.got.iter().map(|(at, _, number)| at.since(half_past(100 + 2 * u64::from(*number)))).max();
    assert!(oldest.unwrap() <= Duration::from_millis(30), "{oldest:?}");
}
