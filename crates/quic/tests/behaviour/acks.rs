//! When packets are acknowledged (RFC 9000 section 13.2).

use crate::pair::Frame;
use crate::pair::{Link, Pair, at, config, count, delay, losing, ms, null, span};
use wire::Ecn;

/// RFC 9000-13.2.1-1.
#[test]
fn two_packets_are_acknowledged_at_once_and_one_after_25_ms() {
    let mut pair = Pair::established();
    let (start, mark) = (pair.now, pair.mark());
    let stream = pair.upload(2500);
    pair.run_for(ms(100));
    assert_eq!(pair.times_from(mark, false), [start + ms(10)]);

    let (start, mark) = (pair.now, pair.mark());
    pair.upload_more(stream, 1000);
    pair.run_for(ms(100));
    assert_eq!(pair.times_from(mark, false), [start + ms(35)]);
    let frames = pair.frames_from(mark, false);
    assert!(matches!(&frames[..], [Frame::Ack { delay, .. }] if *delay == ms(25)), "{frames:?}");
}

/// RFC 9000-13.2.1-3.
#[test]
fn two_packets_within_the_delay_share_an_acknowledgement() {
    let mut pair = Pair::established();
    let (start, mark) = (pair.now, pair.mark());
    let stream = pair.upload(100);
    pair.run_for(ms(7));
    pair.upload_more(stream, 100);
    pair.run_for(ms(100));
    assert_eq!(pair.times_from(mark, false), [start + ms(17)]);
}

#[test]
fn the_ratio_and_the_delay_are_options() {
    let server = config(&[("ack_ratio", count(5)), ("max_ack_delay", span(40))]);
    let mut pair = Pair::new(null(), config(&[]), server, delay(10));
    pair.establish();
    let (start, mark) = (pair.now, pair.mark());
    pair.upload(7 * 1430);
    pair.run_for(ms(200));
    let acked: Vec<_> = pair.sent_from(mark, false).iter().map(|packet| packet.at).collect();
    // All seven arrive at the same time, so they share one acknowledgement.
    assert_eq!(acked, [start + ms(10)]);
    let (start, mark) = (pair.now, pair.mark());
    pair.upload(3000);
    pair.run_for(ms(200));
    assert_eq!(pair.times_from(mark, false), [start + ms(50)]);
}

#[test]
fn a_gap_and_its_end_are_reported_at_once() {
    // Of four packets, a millisecond apart, the second is late by 30 ms.
    let mut pair = Pair::established();
    let base = pair.wire.iter().filter(|seen| seen.to_server).count() as u64;
    pair.link =
        Box::new(move |to_server, number, _| vec![ms(if to_server && number == base + 1 { 40 } else { 10 })]);
    let (start, mark) = (pair.now, pair.mark());
    let stream = pair.upload(100);
    for _ in 0..2 {
        pair.run_for(ms(1));
        pair.upload_more(stream, 100);
    }
    pair.run_to(start + ms(12));
    let acks = pair.sent_from(mark, false);
    assert_eq!(acks.len(), 1);
    assert_eq!(acks[0].at, start + ms(12));
    let first = pair.sent_from(mark, true)[0].number;
    let ranges = acks[0].acks().unwrap();
    assert_eq!((ranges[0], ranges[1].1), ((first + 2, first + 2), first), "with the gap");
    let mark = pair.mark();
    pair.run_to(start + ms(41));
    let late = pair.sent_from(mark, false).into_iter().find(|packet| packet.at == start + ms(41)).unwrap();
    assert_eq!(late.acks().unwrap()[0].1, late.acks().unwrap()[0].1.max(first + 2));
}

/// RFC 9000-13.2.1-4, 9000-13.2.1-5.
#[test]
fn acknowledgements_are_not_acknowledged() {
    let mut pair = Pair::established();
    pair.upload(10_000);
    pair.run_for(ms(200));
    let mark = pair.mark();
    pair.run_for(ms(10_000));
    assert_eq!(pair.mark(), mark, "silence");
}

#[test]
fn acknowledged_ranges_are_not_reported_again() {
    let mut pair = Pair::established();
    // Every third packet is lost: many ranges.
    pair.link = losing(10, |to_server, number| to_server && number % 3 == 0);
    pair.upload(60_000);
    pair.run_for(ms(2000));
    pair.link = delay(10);
    let most = pair
        .packets()
        .iter()
        .filter(|p| !p.to_server)
        .filter_map(|p| p.acks())
        .map(|r| r.len())
        .max()
        .unwrap();
    assert!(most > 5, "{most}");
    // The server sends an ack-eliciting packet with an ACK frame.
    let now = pair.now;
    let back = pair.server().open(wire::Direction::Unidirectional).unwrap();
    let stream = pair.upload(1500);
    pair.run_for(ms(10));
    pair.server().write(now, back, quic::Data::Virtual(3000)).unwrap();
    pair.run_for(ms(300));
    let mark = pair.mark();
    pair.upload_more(stream, 3000);
    pair.run_for(ms(300));
    let after = pair.sent_from(mark, false).iter().filter_map(|p| p.acks()).map(|r| r.len()).max().unwrap();
    assert_eq!(after, 1);
}

/// RFC 9000-13.4.1-1.
#[test]
fn a_congestion_mark_is_reported_at_once_with_its_count() {
    let mut pair = Pair::established();
    let link: Link = Box::new(|to_server, _, flying| {
        flying.ecn = if to_server { Ecn::Ce } else { Ecn::NotEct };
        vec![ms(10)]
    });
    pair.link = link;
    let (start, mark) = (pair.now, pair.mark());
    pair.upload(100);
    pair.run_for(ms(100));
    assert_eq!(pair.times_from(mark, false), [start + ms(10)]);
    assert!(matches!(pair.frames_from(mark, false)[0], Frame::Ack { ecn: Some([0, 0, 1]), .. }));
}

/// RFC 9000-13.2.1-2.
#[test]
fn handshake_packets_are_acknowledged_at_once() {
    let mut pair = Pair::plain();
    pair.run_to(at(10));
    assert_eq!(pair.sent_from(0, false)[0].names()[0], "ACK");
    pair.run_to(at(20));
    let answers: Vec<_> = pair.sent_from(0, true).into_iter().filter(|packet| packet.at == at(20)).collect();
    assert!(answers.iter().take(2).all(|packet| packet.has("ACK")), "{answers:?}");
}

/// RFC 9000 section 13.2.4: a receiver that sends only ACK frames occasionally requests an acknowledgement of them,
/// so that they do not report every loss forever.
#[test]
fn acknowledgements_do_not_grow_with_the_losses() {
    for every in [0, 20] {
        let mut pair = Pair::established();
        pair.link =
            losing(10, move |to_server, number| to_server && every > 0 && number % every == every - 1);
        let mark = pair.mark();
        pair.upload(3_000_000);
        pair.run_for(ms(20_000));
        assert_eq!(pair.server().stats().streams.received_bytes, 3_000_000);
        let packets = pair.sent_from(mark, false);
        let most = packets.iter().filter_map(|packet| packet.acks()).map(|ranges| ranges.len()).max();
        let pings: Vec<_> =
            packets.iter().filter(|packet| packet.has("PING")).map(|packet| packet.at).collect();
        if every == 0 {
            assert!(pings.is_empty() && most == Some(1), "{most:?}");
        } else {
            assert!((10..30).contains(&most.unwrap()), "{most:?}");
            assert!(pings.len() > 5 && pings.windows(2).all(|two| two[1] >= two[0] + ms(20)), "{pings:?}");
        }
    }
}
