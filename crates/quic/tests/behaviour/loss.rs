//! Loss detection (RFC 9002 section 6.1).

use crate::pair::{Pair, ms};
use units::Duration;

/// The number of datagrams sent by the client so far.
fn sent(pair: &Pair) -> u64 {
    pair.wire.iter().filter(|seen| seen.to_server).count() as u64
}

#[test]
fn three_later_packets_make_one_lost_at_once() {
    let mut pair = Pair::established();
    let lost = sent(&pair);
    pair.link = crate::pair::losing(10, move |to_server, number| to_server && number == lost);
    let (start, mark) = (pair.now, pair.mark());
    pair.upload(4 * 1430);
    pair.run_for(ms(20));
    assert_eq!(pair.client().stats().packets_declared_lost, 1);
    let times = pair.times_from(mark, true);
    assert_eq!(times, [start, start, start, start, start + ms(20)]);
    pair.run_for(ms(500));
    assert_eq!(pair.server().stats().streams.received_bytes, 4 * 1430);
    assert_eq!(pair.client().stats().packets_spuriously_lost, 0);
}

#[test]
fn with_fewer_later_packets_a_packet_is_lost_after_nine_eighths_of_a_round_trip() {
    let mut pair = Pair::established();
    let lost = sent(&pair);
    pair.link = crate::pair::losing(10, move |to_server, number| to_server && number == lost);
    let (start, mark) = (pair.now, pair.mark());
    pair.upload(2 * 1430);
    pair.run_for(ms(20));
    assert_eq!(pair.client().stats().packets_declared_lost, 0);
    let rtt = pair.client().rtt();
    let threshold = rtt.latest().max(rtt.smoothed()).scale(9, 8);
    assert!(threshold > ms(20) && threshold < ms(40), "{threshold}");
    pair.run_for(ms(100));
    assert_eq!(pair.times_from(mark, true), [start, start, start + threshold]);
    assert_eq!(pair.client().stats().probe_timeouts, 0);
    assert_eq!(pair.client().stats().packets_declared_lost, 1);
}

#[test]
fn a_late_packet_is_a_spurious_loss() {
    let mut pair = Pair::established();
    let late = sent(&pair);
    pair.link =
        Box::new(move |to_server, number, _| vec![ms(if to_server && number == late { 60 } else { 10 })]);
    pair.upload(4 * 1430);
    pair.run_for(ms(500));
    let stats = pair.client().stats();
    assert_eq!((stats.packets_declared_lost, stats.packets_spuriously_lost), (1, 1));
    assert_eq!(pair.server().stats().streams.received_bytes, 4 * 1430);
    let again = stats.streams.retransmitted_bytes;
    assert!(again > 1400 && again < 1472, "one packet: {again}");
}

#[test]
fn reordering_by_two_packets_is_not_a_loss() {
    let mut pair = Pair::established();
    let first = sent(&pair);
    pair.link = Box::new(move |to_server, number, _| {
        let late = to_server && (number - first).is_multiple_of(3);
        vec![Duration::from_micros(if late { 10_100 } else { 10_000 })]
    });
    for _ in 0..20 {
        pair.upload(3 * 1430);
        pair.run_for(ms(100));
    }
    assert_eq!(pair.client().stats().packets_declared_lost, 0);
}

#[test]
fn lost_data_is_sent_again_before_new_data() {
    let mut pair = Pair::established();
    let lost = sent(&pair) + 1;
    pair.link = crate::pair::losing(10, move |to_server, number| to_server && number == lost);
    let mark = pair.mark();
    pair.upload(200_000);
    pair.run_for(ms(1000));
    let offsets: Vec<u64> = pair
        .frames_from(mark, true)
        .iter()
        .filter_map(|frame| match frame {
            crate::pair::Frame::Stream { offset, .. } => Some(*offset),
            _ => None,
        })
        .collect();
    let again: Vec<usize> = (1..offsets.len()).filter(|i| offsets[*i] < offsets[i - 1]).collect();
    assert_eq!(again.len(), 1, "one jump back: {offsets:?}");
    assert_eq!(offsets[again[0]], offsets[1]);
    assert_eq!(pair.server().stats().streams.received_bytes, 200_000);
}
