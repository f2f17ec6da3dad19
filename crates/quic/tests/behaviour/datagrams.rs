//! DATAGRAM frames between two endpoints (RFC 9221).

use crate::pair::Frame;
use crate::pair::{Link, Pair, config, contexts, count, delay, losing, ms, null};
use quic::{CloseReason, Config, Data, DatagramError, Event};
use units::parameter::Value;
use wire::{Code, Direction};

fn takes(frame_size: u64) -> Config {
    config(&[("max_datagram_frame_size", count(frame_size))])
}

/// An established pair in which the server accepts frames of this size, and the client has these options.
fn pair_with(client: &[(&str, Value)], frame_size: u64, link: Link) -> Pair {
    let mut pair = Pair::new(null(), config(client), takes(frame_size), link);
    pair.establish();
    pair
}

/// All datagrams that the server can read.
fn read(pair: &mut Pair) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let mut bytes = Vec::new();
    while pair.server().read_datagram(&mut bytes).is_some() {
        all.push(std::mem::take(&mut bytes));
    }
    all
}

fn names(pair: &Pair, mark: usize) -> Vec<&'static str> {
    pair.frames_from(mark, true).iter().map(Frame::name).collect()
}

/// RFC 9221-3-1, 9221-5-1, 9221-6-1; RFC 9000-19.21-1, 9000-19.21-2.
#[test]
fn datagrams_arrive_and_are_acknowledged() {
    for context in contexts() {
        let mut pair = Pair::new(context, config(&[]), takes(65_535), delay(10));
        assert_eq!(pair.client().send_datagram(Data::Bytes(b"x")), Err(DatagramError::NotNegotiated));
        pair.establish();
        assert_eq!(pair.server().send_datagram(Data::Bytes(b"x")), Err(DatagramError::NotNegotiated));
        assert_eq!(pair.server().max_datagram_size(), None);
        let virtual_one = (0..1000).map(wire::pattern::byte).collect::<Vec<u8>>();
        for (number, data) in
            [Data::Bytes(b"first"), Data::Virtual(1000), Data::Bytes(b"")].iter().enumerate()
        {
            assert_eq!(pair.client().send_datagram(*data), Ok(number as u64));
        }
        pair.run_for(ms(11));
        assert_eq!(pair.server_events, [Event::DatagramReadable]);
        assert_eq!(read(&mut pair), [b"first".to_vec(), virtual_one, Vec::new()]);
        pair.run_for(ms(100));
        assert_eq!(pair.client_events, [0, 1, 2].map(Event::DatagramAcked));
        let (sent, received) = (pair.client().stats().datagram_frames, pair.server().stats().datagram_frames);
        assert_eq!((sent.sent, sent.sent_bytes, sent.acked, sent.lost), (3, 1005, 3, 0));
        assert_eq!((received.received, received.received_bytes, received.dropped), (3, 1005, 0));
    }
}

#[test]
fn null_and_tls_send_the_same_sizes_at_the_same_times() {
    let [null, tls] = contexts().map(|context| {
        let mut pair = Pair::new(context, takes(65_535), takes(65_535), delay(10));
        pair.keeps_bytes = false;
        pair.establish();
        for length in 0..60 {
            pair.client().send_datagram(Data::Virtual(length * 23)).unwrap();
            pair.server().send_datagram(Data::Virtual(length * 17)).unwrap();
        }
        pair.upload(100_000);
        pair.run_for(ms(500));
        pair.wire
    });
    assert_eq!(null, tls);
}

#[test]
fn a_lost_datagram_is_reported_and_not_sent_again() {
    let mut pair = pair_with(&[], 65_535, delay(10));
    let next = pair.wire.iter().filter(|seen| seen.to_server).count() as u64;
    pair.link = losing(10, move |to_server, number| to_server && number == next);
    let mark = pair.mark();
    for byte in 0..5 {
        pair.client().send_datagram(Data::Bytes(&[byte; 1300])).unwrap();
    }
    pair.run_for(ms(1000));
    assert_eq!(read(&mut pair).iter().map(|bytes| bytes[0]).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(names(&pair, mark).iter().filter(|name| **name == "DATAGRAM").count(), 5, "each once");
    assert!(pair.client_events.contains(&Event::DatagramLost(0)));
    assert!(!pair.client_events.contains(&Event::DatagramAcked(0)));
    assert_eq!(pair.client().stats().datagram_frames.lost, 1);
}

#[test]
fn a_probe_does_not_repeat_a_datagram() {
    let mut pair = pair_with(&[], 65_535, delay(10));
    pair.cut();
    let mark = pair.mark();
    pair.client().send_datagram(Data::Bytes(b"gone")).unwrap();
    pair.run_for(ms(300));
    let names = names(&pair, mark);
    assert_eq!(names[0], "DATAGRAM");
    assert!(names.len() > 2 && !names[1..].contains(&"DATAGRAM") && names.contains(&"PING"), "{names:?}");
    assert!(pair.client_events.is_empty(), "nothing says that it is lost");
}

/// RFC 9221-3-2.
#[test]
fn the_largest_datagram_is_limited_by_peer_and_path() {
    for (frame_size, payload, expected) in
        [(65_535, 1472, 1472 - 13 - 16 - 1), (500, 1472, 499), (1, 1472, 0), (1300, 1200, 1170)]
    {
        let mut pair = pair_with(&[("max_udp_payload", count(payload))], frame_size, delay(10));
        let maximum = pair.client().max_datagram_size().unwrap();
        assert_eq!(maximum, expected);
        let too_large = pair.client().send_datagram(Data::Virtual(maximum as u64 + 1));
        assert_eq!(too_large, Err(DatagramError::TooLarge { maximum }));
        for _ in 0..3 {
            pair.client().send_datagram(Data::Virtual(maximum as u64)).unwrap();
        }
        pair.run_for(ms(100));
        assert_eq!(pair.server().stats().datagram_frames.received, 3);
        assert_eq!(pair.client().stats().datagram_frames.unsent, 0);
        assert!(!pair.server().is_over());
    }
}

/// RFC 9221-3-3, 9221-3-4.
#[test]
fn unnegotiated_or_too_long_datagrams_are_violations() {
    let frame =
        |length, to_end| wire::Frame::Datagram { data: wire::Data::Bytes(&[7; 200][..length]), to_end };
    for (limit, frame, code) in [
        (0, frame(0, true), Some(0x30)),
        (0, frame(0, false), Some(0x31)),
        (100, frame(99, true), None),
        (100, frame(100, true), Some(0x30)),
        (100, frame(97, false), None),
        (100, frame(98, false), Some(0x31)),
    ] {
        for to_server in [true, false] {
            let mut pair = Pair::new(null(), takes(limit), takes(limit), delay(10));
            pair.establish();
            pair.cut();
            pair.inject_data(to_server, &[frame]);
            let victim = if to_server { pair.server() } else { pair.client() };
            let found = victim.close_reason().map(|reason| match reason {
                CloseReason::Transport(error) => (error.code, error.frame_type),
                other => panic!("{other:?}"),
            });
            assert_eq!(
                found,
                code.map(|frame_type| (Code::PROTOCOL_VIOLATION, Some(frame_type))),
                "{frame:?}"
            );
        }
    }
}

/// RFC 9221-5.4-1.
#[test]
fn datagrams_respect_the_window_and_precede_streams() {
    let mut pair = pair_with(&[], 65_535, delay(10));
    let stream = pair.client().open(Direction::Unidirectional).unwrap();
    let now = pair.now;
    pair.client().write(now, stream, Data::Virtual(100_000)).unwrap();
    for _ in 0..100 {
        pair.client().send_datagram(Data::Virtual(1000)).unwrap();
    }
    let mark = pair.mark();
    pair.drain();
    let (window, flight) = pair.client().flight();
    assert!(flight <= window && window < 100_000, "{flight} of {window}");
    pair.run_for(ms(500));
    let packets = pair.sent_from(mark, true);
    let first = packets.iter().position(|packet| packet.data() > 1000).unwrap();
    assert!(packets[..first].iter().all(|packet| packet.has("DATAGRAM")));
    assert!(packets[first..].iter().all(|packet| !packet.has("DATAGRAM")), "all datagrams went first");
    assert!(packets[0].has("STREAM"), "and streams take what is left in their packets");
    assert_eq!(pair.server().stats().streams.received_bytes, 100_000);
    assert_eq!(pair.server().stats().datagram_frames.received, 100);
}

#[test]
fn queues_are_bounded_and_report_room() {
    let queue = [("datagram_queue", count(3))];
    let mut pair = pair_with(&queue, 65_535, delay(10));
    for _ in 0..3 {
        pair.client().send_datagram(Data::Bytes(b"abc")).unwrap();
    }
    assert_eq!(pair.client().send_datagram(Data::Bytes(b"abc")), Err(DatagramError::Blocked));
    pair.drain();
    assert_eq!(pair.client_events, [Event::DatagramWritable]);
    assert!(pair.client().send_datagram(Data::Bytes(b"abc")).is_ok());

    // Without a reader, the newest 256 are kept.
    let mut pair = pair_with(&[("datagram_queue", count(1000))], 65_535, delay(10));
    for number in 0..300u16 {
        pair.client().send_datagram(Data::Bytes(&number.to_be_bytes())).unwrap();
    }
    pair.run_for(ms(1000));
    let left = read(&mut pair);
    assert_eq!((left.len(), &left[0][..]), (256, &44u16.to_be_bytes()[..]));
    assert_eq!(pair.server().stats().datagram_frames.dropped, 44);
    let now = pair.now;
    pair.client().close(now, 0, "");
    assert_eq!(pair.client().send_datagram(Data::Bytes(b"x")), Err(DatagramError::Closed));
}

#[test]
fn datagrams_survive_losses_or_do_not() {
    for seed in 0..5 {
        let mut random = random::Generator::new(seed, "loss");
        let mut pair = pair_with(&[], 65_535, delay(10));
        pair.link = Box::new(move |_, _, _| if random.chance(0.1) { Vec::new() } else { vec![ms(10)] });
        for step in 0..200u64 {
            let _ = pair.client().send_datagram(Data::Bytes(&step.to_be_bytes()));
            pair.run_for(ms(3));
            while pair.server().discard_datagram().is_some() {}
        }
        pair.run_for(ms(3000));
        let (sent, received) = (pair.client().stats().datagram_frames, pair.server().stats().datagram_frames);
        assert_eq!(sent.sent, 200);
        assert!((140..200).contains(&received.received), "{received:?}");
        assert!(sent.acked <= received.received && sent.acked + sent.lost >= sent.sent - 2, "{sent:?}");
    }
}
