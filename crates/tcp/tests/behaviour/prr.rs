//! The reduction of the flight in a recovery (RFC 9937). A round trip takes 100 ms, and data is first sent at 100 ms.

use crate::loss::{S, later, sends, unpaced};
use crate::pair::{CLIENT, Fate, Pair, SERVER, at, ms};
use std::collections::BTreeMap;
use tcp::Config;
use trace::Event;
use units::Time;
use units::parameter::{Component, Value};

/// The number of segments sent at each time in milliseconds, without the `first` ones.
fn counts(pair: &Pair, first: usize) -> BTreeMap<u64, usize> {
    let mut counts = BTreeMap::new();
    for (time, _) in later(pair, first) {
        *counts.entry(time).or_default() += 1;
    }
    counts
}

/// Sends twenty segments, one per millisecond from 1000 ms on, in a window of twenty with more data behind them. The
/// first `lost` of them are lost. Returns what was sent from 1100 ms on: the time, and the index among the twenty or
/// `None` for new segments.
fn twenty(config: &Config, lost: u64) -> Vec<(u64, Option<u64>)> {
    let config = Config { initial_window: 20, delayed_ack: ms(0), ..config.clone() };
    let mut pair = Pair::new(&config, 1);
    pair.fate(move |sent| {
        let this =
            sent.from == CLIENT && sent.payload() > 0 && (at(1000)..at(1000 + lost)).contains(&sent.sent_at);
        if this { Fate::Lost } else { Fate::Delivered }
    });
    pair.run(999);
    for step in 0..20 {
        pair.run(1000 + step);
        pair.ends[CLIENT].to_write = S;
        pair.run(1000 + step);
    }
    pair.ends[CLIENT].to_write = 60 * S;
    pair.run(1250);
    let all = pair.data(CLIENT);
    let sent = all.iter().filter(|(time, ..)| *time >= 1100);
    sent.map(|(time, offset, _)| (*time, Some(offset / S).filter(|number| *number < 20))).collect()
}

/// RFC 9937 section 8: one segment of twenty is lost. Limited transmit sends two new segments, the third
/// acknowledgement triggers the retransmission, and then every second acknowledgement releases one segment for the
/// whole round trip; without PRR half of it is silent (RFC 6675).
#[test]
fn one_loss_halves_the_flight_over_a_round_trip() {
    let longest_silence = |config: &Config| {
        let sent = twenty(config, 1);
        assert_eq!(sent.iter().find(|(time, _)| *time == 1103), Some(&(1103, Some(0))), "{sent:?}");
        let times: Vec<u64> =
            sent.iter().map(|(time, _)| *time).filter(|t| (1103..1120).contains(t)).collect();
        assert!(times.len() <= 10, "{times:?}");
        times.iter().chain([&1120]).zip(&times[1..]).map(|(from, to)| to - from).max().unwrap()
    };
    assert!(longest_silence(&unpaced()) <= 3);
    assert!(longest_silence(&Config { prr: false, ..unpaced() }) >= 8);
}

/// RFC 9937 section 8: fifteen segments of twenty are lost. Each acknowledgement that reports a delivered segment
/// triggers one retransmission; without PRR the third triggers all that fit into the window.
#[test]
fn a_burst_of_losses_is_repaired_at_the_rate_of_acknowledgements() {
    let sent = twenty(&unpaced(), 15);
    let first: Vec<_> = sent.iter().copied().filter(|(time, _)| (1117..1120).contains(time)).collect();
    assert_eq!(first, [(1117, Some(0)), (1118, Some(1)), (1119, Some(2))]);
    let plain = twenty(&Config { prr: false, ..unpaced() }, 15);
    let burst = plain.iter().filter(|(time, _)| *time == 1117).count();
    assert!(burst >= 5, "{plain:?}");
}

/// RFC 9937 section 6.2: when retransmissions arrive and nothing else is missing, each acknowledgement releases one
/// more segment, up to the threshold, and after the recovery the window is the threshold (section 6.4).
#[test]
fn progress_brings_the_flight_back_to_the_threshold() {
    let mut pair = sends(
        &Config { initial_window: 20, ..unpaced() },
        200,
        &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14],
    );
    // RFC 9937 section 6.4: after the recovery the controller's window applies, and grows.
    pair.run(800);
    let window = pair.ends[CLIENT].connection.flight().0;
    pair.run(1200);
    assert!(pair.ends[CLIENT].connection.flight().0 >= window + S);
    pair.run(3000);
    let threshold = ssthresholds(&mut pair);
    assert_eq!((pair.ends[SERVER].received, threshold.len()), (200 * S, 1), "{threshold:?}");
    let counts = counts(&pair, 20);
    // Twice two before the third acknowledgement, and three; then each delivered segment releases another, and one more
    // when the left edge advances.
    assert_eq!(counts[&200], 7);
    assert!(counts[&300] > 7 && counts[&300] <= 11, "{counts:?}");
    assert!(counts[&400] > counts[&300] && counts[&400] <= 14, "{counts:?}");
}

/// RFC 9937 section 6: if the controller responds to a lost retransmission within the recovery, a new episode begins.
/// Its first segment is sent at once although more is in flight than the new threshold.
#[test]
fn a_lost_retransmission_begins_a_new_episode() {
    let mut pair = Pair::new(&Config { initial_window: 20, delayed_ack: ms(0), ..unpaced() }, 1);
    let mut times = [0; 2];
    let mut first = None;
    // Of twenty, one per millisecond, the first two are lost, and the second once more.
    pair.fate(move |sent| {
        if sent.from != CLIENT || sent.payload() == 0 {
            return Fate::Delivered;
        }
        let number = sent.header().sequence;
        let index = u64::from(number.wrapping_sub(*first.get_or_insert(number))) / S;
        let Some(times) = times.get_mut(index as usize) else { return Fate::Delivered };
        *times += 1;
        if *times <= 1 + index { Fate::Lost } else { Fate::Delivered }
    });
    for step in 0..20 {
        pair.run(1000 + step);
        pair.ends[CLIENT].to_write = S;
        pair.run(1000 + step);
    }
    pair.ends[CLIENT].to_write = 100 * S;
    pair.run(3000);
    assert_eq!(ssthresholds(&mut pair).len(), 2);
    let data = pair.data(CLIENT);
    let sent: Vec<u64> = data.iter().filter(|(_, at, _)| *at == S).map(|(time, ..)| *time).collect();
    assert!(sent.len() == 3 && sent[2] - sent[1] <= 103, "{sent:?}");
}

/// Losses found by RACK's timer in a recovery do not cause a burst: each expiry releases one segment, and the
/// acknowledgements release the others.
#[test]
fn losses_found_by_a_timer_wait_for_acknowledgements() {
    let mut pair = Pair::new(&Config { initial_window: 44, delayed_ack: ms(0), ..unpaced() }, 1);
    let mut count = 0;
    pair.fate(move |sent| {
        if sent.from != CLIENT || sent.payload() == 0 {
            return Fate::Delivered;
        }
        count += 1;
        match count {
            // The first is late, so RACK waits for a quarter of a round trip from now on.
            1 => Fate::Late(ms(20)),
            // Of 24 at 1000 ms the first 12 are lost, of 20 at 1040 ms the first 10.
            4..=15 | 28..=37 => Fate::Lost,
            _ => Fate::Delivered,
        }
    });
    for (time, segments) in [(90, 3), (1000, 24), (1040, 20)] {
        pair.run(time);
        pair.ends[CLIENT].to_write = segments * S;
        pair.run(time);
    }
    pair.run(1170);
    let counts = counts(&pair, 47);
    assert_eq!((counts[&1125], counts[&1165]), (1, 1), "{counts:?}");
    pair.run(3000);
    assert_eq!(pair.ends[SERVER].received, 47 * S);
}

/// The thresholds reported by the controller, each change once.
fn ssthresholds(pair: &mut Pair) -> Vec<u64> {
    let log = pair.ends[CLIENT].connection.log();
    let told = |event| if let Event::Metrics(metrics) = event { metrics.ssthresh } else { None };
    let mut all: Vec<u64> = log.drain().filter_map(|record| told(record.event)).collect();
    all.dedup();
    all
}

/// A bottleneck that takes a millisecond per segment and queues this many.
fn bottleneck(pair: &mut Pair, room: u64) {
    let mut free_at = Time::ZERO;
    pair.fate(move |sent| {
        if sent.from != CLIENT || sent.payload() == 0 {
            return Fate::Delivered;
        }
        let waits = free_at.since(sent.sent_at);
        if waits >= ms(room) {
            return Fate::Lost;
        }
        free_at = free_at.max(sent.sent_at) + ms(1);
        Fate::Late(waits)
    });
}

/// A burst of 44 segments finds room for 10, and a probe reveals the losses at once. Retransmitting half of them in a
/// burst overflows the same queue: a lost retransmission is a new congestion event (RFC 5681 section 4.3), which lowers
/// the window again. With PRR there is one reduction.
#[test]
fn retransmissions_do_not_overflow_the_queue_again() {
    for name in ["newreno", "cubic"] {
        let reductions = |prr: bool| {
            let row = congestion::CONTROLLERS.iter().find(|row| row.name == name).unwrap();
            let mut arguments = congestion::fuzz::arguments(row.parameters, &[]);
            for (name, value) in &mut arguments.0 {
                if *name == "pacing" {
                    *value = Value::Flag(false);
                }
            }
            let controller = Component { room: "controllers", name: row.name, arguments };
            let config = Config { controller, prr, initial_window: 44, ..Config::default() };
            let mut pair = Pair::new(&config, 1);
            bottleneck(&mut pair, 10);
            pair.write(CLIENT, 44 * S, false);
            pair.run(3000);
            assert_eq!(pair.ends[SERVER].received, 44 * S);
            let sent = pair.ends[CLIENT].connection.stats().segments_declared_lost;
            (ssthresholds(&mut pair), sent, pair.ends[CLIENT].connection.stats().timeouts)
        };
        let (with, without) = (reductions(true), reductions(false));
        assert_eq!((with.0.len(), with.2), (1, 0), "{name}: {with:?}");
        assert!(without.0.len() > 1, "{name}: {without:?}");
        assert!(with.0[0] > 20 * S, "{name}: {with:?}");
    }
}
