//! Losses and their repair, with times derived from the RFCs by hand. A round trip takes 100 ms, segments have 1448
//! bytes, and data is first sent at 100 ms.

use crate::pair::{CLIENT, Fate, Flying, Pair, SERVER, at, ms};
use tcp::Config;
use trace::Event;
use units::parameter::{Component, Value};
use wire::tcp::Flags;

pub(crate) const S: u64 = 1448;

/// NewReno without pacing, which makes times simple.
pub(crate) fn unpaced() -> Config {
    let mut config = Config::default();
    for (name, value) in &mut config.controller.arguments.0 {
        if *name == "pacing" {
            *value = Value::Flag(false);
        }
    }
    config
}

/// The client sends the given number of segments. `lost` are the indices of the lost ones, counted from 0 in the order
/// of transmission.
pub(crate) fn sends(config: &Config, segments: u64, lost: &'static [usize]) -> Pair {
    let mut pair = Pair::new(config, 1);
    pair.write(CLIENT, segments * S, false);
    pair.fate(losing(lost));
    pair
}

fn losing(lost: &'static [usize]) -> impl FnMut(&Flying) -> Fate {
    let mut count = 0;
    move |sent| {
        if sent.from != CLIENT || sent.payload() == 0 {
            return Fate::Delivered;
        }
        count += 1;
        if lost.contains(&(count - 1)) { Fate::Lost } else { Fate::Delivered }
    }
}

/// The segments sent after the first flight: the time and the index.
pub(crate) fn later(pair: &Pair, first: usize) -> Vec<(u64, u64)> {
    pair.data(CLIENT)[first..].iter().map(|(at, offset, _)| (*at, offset / S)).collect()
}

/// RFC 8985 section 6.2, step 4: three segments above the gap arrive at 150 ms and are reported at 200 ms.
#[test]
fn a_gap_below_three_segments_is_repaired_at_once() {
    let mut pair = sends(&unpaced(), 10, &[0]);
    pair.run(3000);
    assert_eq!(later(&pair, 10), [(200, 0)]);
    let stats = pair.ends[CLIENT].connection.stats();
    assert_eq!((stats.segments_declared_lost, stats.timeouts, stats.loss_probes), (1, 0, 0));
    assert_eq!(pair.ends[SERVER].received, 10 * S);
}

/// RFC 8985 section 6.2, steps 4 and 5: with fewer, a quarter of the minimum RTT later.
#[test]
fn a_gap_below_two_segments_waits_for_reordering() {
    let mut pair = sends(&unpaced(), 3, &[0]);
    pair.run(3000);
    assert_eq!(later(&pair, 3), [(225, 0)]);
}

/// RFC 8985 section 6.2: a segment delivered within the reordering window is not retransmitted.
#[test]
fn a_little_reordering_costs_nothing() {
    let mut pair = Pair::new(&unpaced(), 1);
    pair.write(CLIENT, 3 * S, false);
    let mut count = 0;
    pair.fate(move |sent| {
        count += usize::from(sent.from == CLIENT && sent.payload() > 0);
        if count == 1 && sent.payload() > 0 { Fate::Late(ms(20)) } else { Fate::Delivered }
    });
    pair.run(3000);
    assert_eq!(pair.data(CLIENT).len(), 3);
    assert_eq!(pair.ends[CLIENT].connection.stats().segments_declared_lost, 0);
}

/// RFC 6675 section 5: several losses in one flight are repaired in one round trip, and the window is halved once.
#[test]
fn several_losses_in_one_round_trip() {
    for rack in [true, false] {
        let mut pair = sends(&Config { rack, ..unpaced() }, 10, &[0, 2, 4]);
        pair.run(250);
        assert_eq!(later(&pair, 10), [(200, 0), (200, 2), (200, 4)], "rack {rack}");
        // Half of the former window, which the first blocks have increased.
        let window = pair.ends[CLIENT].connection.flight().0;
        assert!((5 * S..=6 * S).contains(&window), "{window}");
        pair.run(3000);
        assert_eq!(pair.ends[SERVER].received, 10 * S);
    }
}

/// RFC 8985 section 6: a lost retransmission is detected by segments sent after it.
#[test]
fn a_lost_retransmission_is_repaired_without_a_timeout() {
    let mut pair = sends(&unpaced(), 60, &[0, 10]);
    pair.run(5000);
    let again: Vec<_> = pair.data(CLIENT).into_iter().filter(|(_, offset, _)| *offset == 0).collect();
    assert_eq!(again.len(), 3);
    assert_eq!(pair.ends[CLIENT].connection.stats().timeouts, 0);
    assert_eq!(pair.ends[SERVER].received, 60 * S);
}

/// RFC 8985 section 7.2 and 7.3: the last two of four are lost. At 200 ms the first two are acknowledged; 2 SRTT later
/// the last is sent again, and its block reveals the other loss at 500 ms.
#[test]
fn a_lost_tail_is_probed() {
    let mut pair = sends(&unpaced(), 4, &[2, 3]);
    pair.run(3000);
    assert_eq!(later(&pair, 4), [(400, 3), (500, 2)]);
    let stats = pair.ends[CLIENT].connection.stats();
    assert_eq!((stats.loss_probes, stats.timeouts), (1, 0));
}

/// Without RACK the third of four is lost, and one SACK is too few to show it. The probe is not a repetition of the last segment,
/// which the peer has reported: the timer repairs the loss, a timeout after the probe would have been sent.
#[test]
fn a_segment_that_the_peer_has_reported_is_not_probed() {
    let mut pair = sends(&Config { rack: false, ..unpaced() }, 4, &[2]);
    pair.run(3000);
    let again: Vec<u64> = later(&pair, 4).into_iter().map(|(_, segment)| segment).collect();
    assert_eq!(again, [2]);
    let stats = pair.ends[CLIENT].connection.stats();
    assert_eq!((stats.loss_probes, stats.timeouts), (0, 1));
}

/// RFC 8985 section 7.4: a probe that repairs the only loss still halves the window.
#[test]
fn a_probe_that_repairs_a_loss_is_answered() {
    let mut pair = sends(&unpaced(), 10, &[9]);
    // The ninth is acknowledged after 40 ms, at 240 ms, with SRTT 105 ms. With a single segment in flight, the
    // retransmission timeout of SRTT plus 200 ms expires no later than the probe (section 7.2) of two SRTT plus 200 ms
    // for the peer.
    pair.run(3000);
    assert_eq!(later(&pair, 10), [(545, 9)]);
    let stats = pair.ends[CLIENT].connection.stats();
    assert_eq!((stats.loss_probes, stats.timeouts, stats.retransmitted_bytes), (1, 0, S));
}

/// RFC 8985 section 7.3: an unnecessary probe ends with a DSACK and, without timestamps, gives no RTT sample. Until
/// there is one no further probe is sent; the restarted retransmission timer does the rest.
#[test]
fn without_an_rtt_sample_there_is_no_second_probe() {
    let mut pair = Pair::new(&Config { timestamps: false, ..unpaced() }, 1);
    pair.write(CLIENT, 10 * S, false);
    pair.ends[CLIENT].finishes = false;
    let mut count = 0;
    pair.fate(move |sent| {
        count += usize::from(sent.from == CLIENT && sent.payload() > 0);
        match count {
            10 if sent.from == CLIENT && sent.payload() > 0 => Fate::Late(ms(700)),
            12 if sent.from == CLIENT && sent.payload() > 0 => Fate::Lost,
            _ => Fate::Delivered,
        }
    });
    pair.run(3000);
    let stats = pair.ends[CLIENT].connection.stats();
    assert_eq!((stats.loss_probes, stats.timeouts, stats.dsacks_received), (1, 0, 1));
    pair.ends[CLIENT].to_write = S;
    pair.run(9000);
    let stats = pair.ends[CLIENT].connection.stats();
    assert_eq!((stats.loss_probes, stats.timeouts), (1, 1));
    let times: Vec<u64> = pair.data(CLIENT)[11..].iter().map(|(at, ..)| *at).collect();
    // SRTT 105 ms, and 200 ms: once at the time of the suppressed probe, and once more.
    assert_eq!(times, [3000, 3000 + 2 * 305]);
    // A segment that is sent once gives a sample, which permits probes again.
    pair.fate(losing(&[1]));
    for time in [9000, 9500] {
        pair.run(time);
        pair.ends[CLIENT].to_write = S;
    }
    pair.run(12_000);
    let stats = pair.ends[CLIENT].connection.stats();
    assert_eq!((stats.loss_probes, stats.timeouts), (2, 1));
}

/// RFC 8985 section 6.2, step 3, "in ascending order": two new blocks in one acknowledgement, after a lost one, are not
/// reordering, and three segments above a gap still end the wait.
#[test]
fn two_new_blocks_are_not_reordering() {
    let mut pair = Pair::new(&unpaced(), 1);
    pair.write(CLIENT, 10 * S, false);
    let (mut count, mut told) = (0, 0);
    pair.fate(move |sent| {
        count += usize::from(sent.from == CLIENT && sent.payload() > 0);
        told += usize::from(sent.from == SERVER && !sent.header().options.sack.as_slice().is_empty());
        let data = sent.from == CLIENT && sent.payload() > 0 && [1, 3].contains(&count);
        if data || sent.from == SERVER && told == 1 { Fate::Lost } else { Fate::Delivered }
    });
    pair.run(3000);
    assert_eq!(later(&pair, 10), [(200, 0), (200, 2)]);
}

/// RFC 6298 sections 2 and 5: SRTT 100 ms, RTTVAR 50 ms: 300 ms, and twice that. RFC 5681 section 3.1: the window falls
/// to its minimum.
#[test]
fn without_any_answer_the_timer_doubles() {
    let mut pair = sends(&Config { tlp: false, ..unpaced() }, 2, &[0, 1, 2, 3]);
    pair.run(3000);
    assert_eq!(later(&pair, 2), [(400, 0), (400, 1), (1000, 0), (1000, 1)]);
    let stats = pair.ends[CLIENT].connection.stats();
    assert_eq!((stats.timeouts, stats.retransmitted_bytes), (2, 4 * S));
    assert_eq!(pair.ends[SERVER].received, 2 * S);
}

/// RFC 6298 sections 2.4 and 5.3, with the minimum of the variance term and the restart after a retransmission of the
/// first segment: on a path without jitter the timer does not expire while that retransmission is in flight.
#[test]
fn one_loss_on_a_path_without_jitter_causes_no_timeout() {
    for (rtt, sack) in [(160, true), (300, true), (600, true), (300, false)] {
        let mut pair = Pair::new(&Config { delayed_ack: ms(0), sack, ..unpaced() }, 1);
        pair.delay = ms(rtt / 2);
        // A segment every 10 ms, so that the variance falls to zero; the one at 10 s is lost.
        pair.fate(|sent| {
            let lost = sent.from == CLIENT && sent.payload() > 0 && sent.sent_at == at(10_000);
            if lost { Fate::Lost } else { Fate::Delivered }
        });
        for step in 60..=1200 {
            pair.run(step * 10);
            pair.ends[CLIENT].to_write = S;
        }
        pair.run(20_000);
        let stats = pair.ends[CLIENT].connection.stats();
        assert_eq!((stats.timeouts, stats.retransmitted_bytes), (0, S), "{rtt} ms, SACK {sack}");
        assert_eq!(stats.segments_declared_lost, 1);
    }
}

/// RFC 6298 section 5.3: the timer restarts with the retransmission of the first segment, and expires if that is lost
/// too: the RTO is SRTT + 200 ms on a path without variance.
#[test]
fn a_lost_retransmission_of_the_first_segment_times_out() {
    let mut pair = Pair::new(&Config { delayed_ack: ms(0), rack: false, tlp: false, ..unpaced() }, 1);
    pair.delay = ms(150);
    let mut first = None;
    pair.fate(move |sent| {
        if sent.from == CLIENT && sent.payload() > 0 && sent.sent_at == at(10_000) {
            first = Some(sent.header().sequence);
        }
        let lost = first == Some(sent.header().sequence) && sent.sent_at < at(10_400);
        if lost { Fate::Lost } else { Fate::Delivered }
    });
    for step in 60..=1000 {
        pair.run(step * 10);
        pair.ends[CLIENT].to_write = S;
    }
    for step in 1..10 {
        pair.run(10_000 + step * 10);
        pair.ends[CLIENT].to_write = S;
    }
    pair.run(10_360);
    let again = pair.data(CLIENT).last().copied().unwrap();
    assert_eq!((again.0, pair.ends[CLIENT].connection.stats().timeouts), (10_330, 0), "three above it");
    pair.run(10_828);
    assert_eq!(pair.ends[CLIENT].connection.stats().timeouts, 0);
    pair.run(10_840);
    assert_eq!(pair.ends[CLIENT].connection.stats().timeouts, 1);
}

/// RFC 3042, RFC 5681 section 3.2: without SACK two duplicates release two new segments, and the third the
/// retransmission of the first.
#[test]
fn limited_transmit() {
    let config = Config { sack: false, initial_window: 4, ..unpaced() };
    let mut pair = sends(&config, 12, &[0]);
    pair.run(220);
    assert_eq!(later(&pair, 4)[..3], [(200, 4), (200, 5), (200, 0)]);
    let without = Config { limited_transmit: false, ..config };
    let mut pair = sends(&without, 12, &[0]);
    pair.run(220);
    assert_eq!(later(&pair, 4)[0], (200, 0));
    for config in [without, Config { sack: true, initial_window: 4, limited_transmit: false, ..unpaced() }] {
        let mut pair = sends(&config, 12, &[0]);
        pair.run(5000);
        assert_eq!(pair.ends[SERVER].received, 12 * S);
    }
}

/// RFC 6582 section 3.2: without SACK one loss is repaired per round trip.
#[test]
fn partial_acknowledgements_repair_the_next_loss() {
    let mut pair = sends(&Config { sack: false, ..unpaced() }, 10, &[0, 3, 6]);
    pair.run(5000);
    let again: Vec<_> = later(&pair, 10).into_iter().filter(|(at, _)| *at < 450).collect();
    assert_eq!(again, [(200, 0), (300, 3), (400, 6)]);
    assert_eq!(pair.ends[CLIENT].connection.stats().timeouts, 0);
    assert_eq!(pair.ends[SERVER].received, 10 * S);
}

/// RFC 3522, RFC 2883: the timestamp of a late segment reveals a spurious loss, and its duplicate is reported.
#[test]
fn a_late_segment_reveals_a_spurious_loss() {
    let mut pair = Pair::new(&unpaced(), 1);
    pair.write(CLIENT, 10 * S, false);
    let mut count = 0;
    pair.fate(move |sent| {
        count += usize::from(sent.from == CLIENT && sent.payload() > 0);
        if count == 1 && sent.payload() > 0 { Fate::Late(ms(70)) } else { Fate::Delivered }
    });
    pair.run(3000);
    assert_eq!(later(&pair, 10), [(200, 0)]);
    let stats = pair.ends[CLIENT].connection.stats();
    assert_eq!((stats.segments_spuriously_lost, stats.dsacks_received), (1, 1));
}

/// RFC 8985 section 7: a probe of the tail declares no loss. When the late original is acknowledged, with a timestamp from
/// before the probe, nothing that was lost turns out to have arrived, for the controller neither.
#[test]
fn a_late_segment_that_was_only_probed_was_not_lost() {
    let mut pair = Pair::new(&unpaced(), 1);
    pair.write(CLIENT, 10 * S, false);
    let mut count = 0;
    pair.fate(move |sent| {
        count += usize::from(sent.from == CLIENT && sent.payload() > 0);
        let last = sent.from == CLIENT && count == 10;
        if last && sent.payload() > 0 { Fate::Late(ms(430)) } else { Fate::Delivered }
    });
    pair.run(3000);
    assert_eq!(later(&pair, 10), [(545, 9)]);
    let stats = pair.ends[CLIENT].connection.stats();
    assert_eq!((stats.loss_probes, stats.timeouts, stats.dsacks_received), (1, 0, 1));
    assert_eq!((stats.segments_declared_lost, stats.segments_spuriously_lost), (0, 0));
}

/// RFC 3168 section 6.1: one mark halves the window once, CWR ends the echo; only new data is ECN-capable.
#[test]
fn a_mark_halves_the_window_once() {
    let mut pair = Pair::new(&Config { ecn: true, ..unpaced() }, 1);
    pair.write(CLIENT, 40 * S, false);
    let mut count = 0;
    pair.fate(move |sent| {
        count += usize::from(sent.from == CLIENT && sent.payload() > 0);
        if count == 3 && sent.payload() > 0 { Fate::Marked } else { Fate::Delivered }
    });
    pair.run(250);
    let stats = pair.ends[CLIENT].connection.stats();
    assert_eq!((stats.ecn_reductions, stats.retransmitted_bytes), (1, 0));
    pair.run(5000);
    assert_eq!(pair.ends[CLIENT].connection.stats().ecn_reductions, 1);
    let with = |flag: Flags, from: usize| {
        pair.sent.iter().filter(|sent| sent.from == from && sent.has(flag) && !sent.has(Flags::SYN)).count()
    };
    assert_eq!(with(Flags::CWR, CLIENT), 1);
    assert!(with(Flags::ECE, SERVER) > 0);
    for sent in &pair.sent {
        assert_eq!(sent.ecn.is_capable(), sent.payload() > 0, "{:?}", sent.header());
    }
    let mut other = Pair::of(&Config { ecn: true, ..unpaced() }, &unpaced(), 1, None);
    other.write(CLIENT, S, false);
    other.run(1000);
    assert!(other.sent.iter().all(|sent| !sent.ecn.is_capable()), "both must want it");
}

/// The options with this controller and its defaults.
pub(crate) fn controlled(name: &str) -> Config {
    let row = congestion::CONTROLLERS.iter().find(|row| row.name == name).unwrap();
    let arguments = congestion::fuzz::arguments(row.parameters, &[]);
    Config { controller: Component { room: "controllers", name: row.name, arguments }, ..Config::default() }
}

/// The reported values of this gauge, in order.
fn gauges(pair: &mut Pair, wanted: &str) -> Vec<f64> {
    let log = pair.ends[CLIENT].connection.log();
    let told = |event| match event {
        Event::Gauge { name, value } if name == wanted => Some(value),
        _ => None,
    };
    log.drain().filter_map(|record| told(record.event)).collect()
}

/// RFC 6298 section 3 (Karn): on a path of 204 ms a segment arrives 36 ms late, and was retransmitted a few ms before its
/// acknowledgement. The time between these two is not an RTT sample, neither for the minimum RTT of both BBR versions.
#[test]
fn a_spurious_retransmission_gives_no_minimum_rtt() {
    for (name, timestamps) in [("bbr1", true), ("bbr1", false), ("bbr3", true), ("bbr3", false)] {
        let mut pair = Pair::new(&Config { timestamps, ..controlled(name) }, 1);
        pair.delay = ms(102);
        pair.write(CLIENT, 400 * S, false);
        let mut count = 0;
        pair.fate(move |sent| {
            count += usize::from(sent.from == CLIENT && sent.payload() > 0);
            let late = count == 40 && sent.payload() > 0 && sent.from == CLIENT;
            if late { Fate::Late(ms(36)) } else { Fate::Delivered }
        });
        pair.run(5000);
        let stats = pair.ends[CLIENT].connection.stats();
        assert_eq!(
            (stats.segments_declared_lost, stats.segments_spuriously_lost),
            (1, u64::from(timestamps))
        );
        assert!(stats.retransmitted_bytes > 0, "{name}");
        let least = gauges(&mut pair, "model_min_rtt_ms").into_iter().fold(f64::MAX, f64::min);
        assert!((204.0..206.0).contains(&least), "{name}, timestamps {timestamps}: {least} ms");
    }
}

/// The last reported slow start threshold.
fn ssthresh(pair: &mut Pair) -> Option<u64> {
    let log = pair.ends[CLIENT].connection.log();
    let told = |event| if let Event::Metrics(metrics) = event { Some(metrics.ssthresh) } else { None };
    log.drain().filter_map(|record| told(record.event)).next_back().flatten()
}

/// RFC 5681 section 3.1: "the value of ssthresh is held constant" when the timer expires again for the same segment.
#[test]
fn a_second_timeout_leaves_the_threshold() {
    let lost = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
    let mut pair = sends(&Config { tlp: false, ..unpaced() }, 20, lost);
    pair.run(999);
    assert_eq!((pair.ends[CLIENT].connection.stats().timeouts, ssthresh(&mut pair)), (1, Some(5 * S)));
    pair.run(1050);
    assert_eq!((pair.ends[CLIENT].connection.stats().timeouts, ssthresh(&mut pair)), (2, Some(5 * S)));
    pair.run(5000);
    assert_eq!((pair.ends[SERVER].received, ssthresh(&mut pair)), (20 * S, Some(5 * S)));
}

/// RFC 5681 section 3.1: losses of segments that were in flight at a timeout, detected later, are part of the same
/// event.
#[test]
fn a_timeout_is_answered_once() {
    let config = Config { tlp: false, min_rto: ms(1), delayed_ack: ms(0), ..unpaced() };
    let mut pair = Pair::new(&config, 1);
    // One segment every 50 ms; those of the last 100 ms are lost.
    pair.fate(|sent| {
        let lost = sent.from == CLIENT && sent.payload() > 0 && (at(2000)..at(2060)).contains(&sent.sent_at);
        if lost { Fate::Lost } else { Fate::Delivered }
    });
    for step in 2..=41 {
        pair.run(step * 50);
        pair.ends[CLIENT].to_write = S;
    }
    pair.run(2120);
    assert_eq!(pair.ends[CLIENT].connection.stats().timeouts, 0);
    pair.run(5000);
    let stats = pair.ends[CLIENT].connection.stats();
    assert_eq!((stats.timeouts, stats.segments_declared_lost), (1, 2));
    assert_eq!(ssthresh(&mut pair), Some(5 * S));
}

/// RFC 6298 section 3 (Karn), RFC 7323 section 4.1: segments that waited behind a gap give no sample, nor does a
/// selectively acknowledged retransmission, whose echo is old.
#[test]
fn a_gap_is_no_round_trip() {
    let plain = Config { sack: false, ..unpaced() };
    for (config, lost) in [
        (plain.clone(), &[0][..]),
        (Config { timestamps: false, ..plain }, &[0]),
        (unpaced(), &[1, 2, 10]),
        (Config { timestamps: false, ..unpaced() }, &[1, 2, 10]),
    ] {
        let mut pair = sends(&config, 10, lost);
        pair.run(3000);
        assert_eq!(pair.ends[SERVER].received, 10 * S);
        let longest = pair.ends[CLIENT].connection.stats().rtt.quantile(1.0).unwrap();
        assert!(longest < ms(150), "{longest:?} with {lost:?}");
    }
}

/// RFC 3168 section 6.1.2: "for any reason": CWR also reports a loss, on the first new data after it.
#[test]
fn a_loss_is_reported_with_cwr() {
    for lost in [&[3][..], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]] {
        let mut pair = sends(&Config { ecn: true, tlp: false, ..unpaced() }, 40, lost);
        pair.run(5000);
        assert_eq!(pair.ends[CLIENT].connection.stats().ecn_reductions, 0);
        let told: Vec<_> =
            pair.sent.iter().filter(|sent| sent.has(Flags::CWR) && !sent.has(Flags::SYN)).collect();
        assert_eq!(told.len(), 1);
        assert!(told[0].ecn.is_capable() && told[0].payload() > 0);
    }
}

/// RFC 3168 section 6.1.2: a timeout within a recovery reduces the window once more.
#[test]
fn a_timeout_in_a_recovery_is_reported_too() {
    let mut pair = Pair::new(&Config { ecn: true, rack: false, tlp: false, ..unpaced() }, 1);
    pair.write(CLIENT, 100 * S, false);
    let (mut first, mut times) = (None, 0);
    pair.fate(move |sent| {
        if sent.from != CLIENT || sent.payload() == 0 {
            return Fate::Delivered;
        }
        let number = sent.header().sequence;
        let fourth = first.get_or_insert(number).wrapping_add(3 * S as u32);
        times += u32::from(number == fourth);
        if number == fourth && times <= 2 { Fate::Lost } else { Fate::Delivered }
    });
    pair.run(5000);
    assert_eq!(pair.ends[CLIENT].connection.stats().timeouts, 1);
    let told = pair.sent.iter().filter(|sent| sent.has(Flags::CWR) && !sent.has(Flags::SYN));
    assert_eq!(told.count(), 2);
}

/// RFC 6582 section 3.2, step 2: after a timeout everything is sent again, and three duplicates of delivered segments
/// do not indicate a new loss.
#[test]
fn duplicates_after_a_timeout_are_ignored() {
    let mut pair = Pair::new(&Config { sack: false, initial_window: 20, ..unpaced() }, 1);
    pair.write(CLIENT, 80 * S, false);
    let (mut first, mut times) = (None, [0; 2]);
    pair.fate(move |sent| {
        if sent.from != CLIENT || sent.payload() == 0 {
            return Fate::Delivered;
        }
        let offset = sent.header().sequence.wrapping_sub(*first.get_or_insert(sent.header().sequence));
        // The first one twice, the sixth once.
        let lost = match u64::from(offset) / S {
            0 => Some((0, 2)),
            5 => Some((1, 1)),
            _ => None,
        };
        let Some((which, most)) = lost else { return Fate::Delivered };
        times[which] += 1;
        if times[which] <= most { Fate::Lost } else { Fate::Delivered }
    });
    pair.run(5000);
    assert_eq!(pair.ends[SERVER].received, 80 * S);
    assert_eq!(pair.ends[CLIENT].connection.stats().timeouts, 1);
    let timeout = pair.data(CLIENT).iter().filter(|sent| sent.1 == 0).map(|sent| sent.0).max().unwrap();
    // Data first sent after the timeout is sent once.
    let mut fresh: Vec<u64> =
        pair.data(CLIENT).iter().filter(|sent| sent.0 > timeout).map(|sent| sent.1).collect();
    let old: Vec<u64> =
        pair.data(CLIENT).iter().filter(|sent| sent.0 <= timeout).map(|sent| sent.1).collect();
    fresh.retain(|offset| !old.contains(offset));
    let count = fresh.len();
    fresh.sort_unstable();
    fresh.dedup();
    assert_eq!(fresh.len(), count);
}
