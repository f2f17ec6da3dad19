//! The probe timeout (RFC 9002 section 6.2) and persistent congestion (7.6).

use crate::pair::{Pair, config, count, delay, losing, ms, null, span};
use units::{Duration, Time};

/// The client's probe timeout (RFC 9002 section 6.2.1).
fn timeout(pair: &mut Pair) -> Duration {
    let rtt = pair.client().rtt();
    rtt.smoothed() + (rtt.variance() * 4).max(ms(1)) + ms(25)
}

#[test]
fn two_probes_at_each_timeout_and_the_timeout_doubles() {
    let mut pair = Pair::established();
    let pto = timeout(&mut pair);
    assert!(pto > ms(45) && pto < ms(120), "{pto}");
    pair.cut();
    let (start, mark) = (pair.now, pair.mark());
    pair.upload(100);
    pair.run_for(pto * 40);
    let mut expected: Vec<Time> = vec![start];
    for k in [1, 3, 7, 15, 31] {
        expected.extend([start + pto * k, start + pto * k]);
    }
    assert_eq!(pair.times_from(mark, true), expected);
    assert_eq!(pair.client().stats().probe_timeouts, 5);
    assert_eq!(pair.client().stats().packets_declared_lost, 0, "a probe timeout is no loss");
    let probes = pair.sent_from(mark + 1, true);
    assert!(probes.iter().all(|packet| packet.data() == 100), "{probes:?}");
}

#[test]
fn probes_carry_new_data_if_there_is_some() {
    let mut pair = Pair::established();
    let pto = timeout(&mut pair);
    pair.cut();
    let mark = pair.mark();
    pair.upload(1_000_000);
    pair.run_for(pto + ms(5));
    let packets = pair.sent_from(mark, true);
    let window = packets.len() - 2;
    assert!(packets[window..].iter().all(|packet| packet.data() > 1000));
    assert_eq!(pair.client().stats().streams.retransmitted_bytes, 0);
}

#[test]
fn an_acknowledgement_ends_the_doubling() {
    let mut pair = Pair::established();
    let pto = timeout(&mut pair);
    pair.cut();
    let start = pair.now;
    let stream = pair.upload(100);
    pair.run_to(start + pto * 3 - ms(1));
    pair.link = delay(10);
    pair.run_for(ms(200));
    assert_eq!(pair.server().stats().streams.received_bytes, 100);
    let pto = timeout(&mut pair);
    pair.cut();
    let (start, mark) = (pair.now, pair.mark());
    pair.upload_more(stream, 100);
    pair.run_for(pto + ms(1));
    assert_eq!(pair.times_from(mark, true), [start, start + pto, start + pto]);
}

#[test]
fn a_lost_ping_is_followed_by_pings() {
    let client = config(&[("keep_alive", span(1000))]);
    let mut pair = Pair::new(null(), client, config(&[]), delay(10));
    pair.establish();
    let pto = timeout(&mut pair);
    pair.cut();
    let mark = pair.mark();
    pair.run_for(ms(1000) + pto * 2);
    let packets = pair.sent_from(mark, true);
    assert!(packets.len() >= 3 && packets.iter().all(|packet| packet.has("PING")));
    assert_eq!(packets[1..3].iter().map(|p| p.at.since(packets[0].at)).collect::<Vec<_>>(), [pto, pto]);
}

#[test]
fn a_handshake_without_answers_doubles_from_three_initial_round_trips() {
    let mut pair = Pair::new(null(), config(&[]), config(&[]), losing(10, |_, _| true));
    pair.run_for(ms(10_000));
    let expected: Vec<Time> = [0, 999, 999, 2997, 2997, 6993, 6993].map(|n| Time::ZERO + ms(n)).to_vec();
    assert_eq!(pair.times_from(0, true), expected);
    assert!(pair.wire.iter().all(|seen| seen.length == 1200 || seen.length == 1472));
}

#[test]
fn a_handshake_probe_also_probes_the_other_space() {
    // The server's whole flight is lost once.
    let mut pair =
        Pair::new(null(), config(&[]), config(&[]), losing(10, |to_server, number| !to_server && number < 3));
    pair.run_for(ms(1500));
    let probe = pair
        .packets()
        .into_iter()
        .find(|packet| !packet.to_server && packet.at > Time::ZERO + ms(100) && packet.has("CRYPTO"))
        .unwrap();
    let datagram: Vec<_> = pair
        .packets()
        .into_iter()
        .filter(|p| !p.to_server && p.datagram == probe.datagram)
        .map(|p| p.kind)
        .collect();
    assert_eq!(datagram, [trace::PacketKind::Initial, trace::PacketKind::Handshake]);
}

#[test]
fn everything_lost_for_three_timeouts_is_persistent_congestion() {
    let mut pair = Pair::established();
    pair.upload(2_000_000);
    pair.run_for(ms(25));
    let before = pair.client().flight().0;
    assert!(before > 10 * 1472, "{before}");
    let pto = timeout(&mut pair);
    pair.link = losing(10, |to_server, _| to_server);
    pair.run_for(pto * 5);
    assert!(pair.client().flight().0 >= before, "nothing is known to be lost yet");
    pair.link = delay(10);
    pair.run_until(pto * 20, |pair| pair.client().stats().packets_declared_lost > 0);
    let window = pair.client().flight().0;
    assert_eq!(window, 4 * 1472, "kMinimumWindow, and what the two acknowledged probes add in slow start");
    pair.run_for(ms(20_000));
    assert_eq!(pair.server().stats().streams.received_bytes, 2_000_000);
}

#[test]
fn losses_over_a_shorter_time_are_not_persistent_congestion() {
    let mut pair = Pair::established();
    pair.upload(2_000_000);
    pair.run_for(ms(25));
    let pto = timeout(&mut pair);
    pair.link = losing(10, |to_server, _| to_server);
    pair.run_for(pto + ms(20));
    pair.link = delay(10);
    pair.run_until(pto * 20, |pair| pair.client().stats().packets_declared_lost > 0);
    assert!(pair.client().flight().0 > 4 * 1472, "{:?}", pair.client().flight());
}

/// The stream offsets that the client sent since `mark`, packet by packet.
fn offsets(pair: &Pair, mark: usize) -> Vec<u64> {
    let frames = pair.frames_from(mark, true).into_iter();
    let offset =
        |frame| if let crate::pair::Frame::Stream { offset, .. } = frame { Some(offset) } else { None };
    frames.filter_map(offset).collect()
}

/// RFC 9002 section 6.2.4: "Sending different payloads each time reduces the chances of spurious retransmission."
#[test]
fn probes_repeat_one_packet_after_the_other_in_a_cycle() {
    let mut pair = Pair::established();
    let pto = timeout(&mut pair);
    pair.cut();
    let stream = pair.upload(100);
    (0..4).for_each(|_| pair.upload_more(stream, 100));
    let mark = pair.mark();
    pair.run_for(pto * 15 + ms(1));
    assert_eq!(offsets(&pair, mark), [0, 100, 200, 300, 400, 0, 100, 200]);
    assert!(pair.sent_from(mark, true).iter().all(|probe| probe.data() == 100));
    assert_eq!(pair.client().stats().probe_timeouts, 4);
}

/// RFC 9002 section 6.2.4; RFC 9221 section 5.2: DATAGRAM frames and PINGs are not repeated, so that the data sent
/// after them is.
#[test]
fn packets_with_nothing_to_repeat_are_skipped() {
    let server = config(&[("max_datagram_frame_size", count(65_535))]);
    let client = config(&[("keep_alive", span(1000))]);
    let mut pair = Pair::new(null(), client, server, delay(10));
    pair.establish();
    let pto = timeout(&mut pair);
    pair.cut();
    // A keep-alive PING, and its two probes, which are PINGs.
    pair.run_for(ms(1000) + pto);
    for _ in 0..3 {
        pair.client().send_datagram(quic::Data::Virtual(10)).unwrap();
        pair.drain();
    }
    pair.upload(100);
    let mark = pair.mark();
    pair.run_for(pto * 40);
    let probes = pair.sent_from(mark, true);
    assert!(probes.len() >= 2, "{probes:?}");
    for probe in &probes {
        assert_eq!((probe.data(), probe.has("DATAGRAM")), (100, false), "{probe:?}");
    }
}

/// A client whose packets are all lost after its request. The first copy of the response is lost and never
/// acknowledged: all of it arrives in probes, none of which repeats the previous one.
#[test]
fn a_response_arrives_entirely_by_probes() {
    let mut pair = Pair::established();
    let now = pair.now;
    let request = pair.client().open(wire::Direction::Bidirectional).unwrap();
    pair.client().write(now, request, quic::Data::Virtual(100)).unwrap();
    pair.client().finish(now, request).unwrap();
    pair.run_for(ms(200));
    let (now, first) = (pair.now, pair.wire.iter().filter(|seen| !seen.to_server).count() as u64);
    pair.link = losing(10, move |to_server, number| to_server || number < first + 11);
    let settings = pair.server().open(wire::Direction::Unidirectional).unwrap();
    pair.server().write(now, settings, quic::Data::Bytes(b"settings")).unwrap();
    pair.drain();
    pair.server().write(now, request, quic::Data::Virtual(12_000)).unwrap();
    pair.server().finish(now, request).unwrap();
    pair.run_for(ms(25_000));
    assert_eq!(pair.client().stats().streams.received_bytes, 8 + 12_000);
    assert_eq!(pair.server().stats().packets_declared_lost, 0, "nothing was acknowledged");
}
