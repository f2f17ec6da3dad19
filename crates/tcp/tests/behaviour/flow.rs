//! The receive window: delayed acknowledgements, zero windows and their probes, autotuning, Nagle.

use crate::loss::unpaced;
use crate::pair::{CLIENT, Fate, Pair, SERVER, at, ms};
use tcp::{CloseReason, Config, Data};
use units::Size;
use wire::tcp::{Flags, Header, Options};

fn fixed(bytes: u64) -> Config {
    let size = Size::from_bytes(bytes);
    Config { receive_buffer: size, max_receive_buffer: size, ..unpaced() }
}

/// RFC 5681 section 4.2: a single segment is acknowledged after 40 ms, two segments at once.
#[test]
fn acknowledgements_are_delayed() {
    let acks = |segments: u64| {
        let mut pair = Pair::new(&unpaced(), 1);
        pair.write(CLIENT, segments * 1448, false);
        pair.ends[CLIENT].finishes = false;
        pair.run(1000);
        let acks = pair.sent.iter().filter(|sent| sent.from == SERVER).skip(1);
        acks.map(|sent| sent.sent_at.as_nanos() / 1_000_000).collect::<Vec<_>>()
    };
    assert_eq!(acks(1), [190]);
    assert_eq!(acks(2), [150]);
    assert_eq!(acks(3), [150, 190]);
    assert_eq!(acks(4), [150, 150]);
}

/// RFC 9293 section 3.8.6.1: a zero window is probed at growing intervals, and opens when the application reads.
#[test]
fn a_window_of_zero_is_probed() {
    let mut pair = Pair::of(&unpaced(), &fixed(8192), 1, None);
    pair.ends[SERVER].reads = false;
    pair.write(CLIENT, 100_000, false);
    pair.run(20_000);
    let probes: Vec<_> = pair.data(CLIENT).into_iter().filter(|(_, _, length)| *length == 1).collect();
    assert!(probes.len() >= 4, "{probes:?}");
    let gaps: Vec<u64> = probes.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    assert!(gaps.windows(2).all(|pair| pair[1] >= 2 * pair[0] - 1), "{gaps:?}");
    assert_eq!(pair.ends[CLIENT].connection.stats().window_probes, probes.len() as u64);
    assert_eq!(pair.ends[CLIENT].connection.stats().timeouts, 0);
    pair.ends[SERVER].reads = true;
    pair.ends[SERVER].read_all(at(20_000));
    pair.run(40_000);
    assert_eq!((pair.ends[SERVER].received, pair.ends[SERVER].finished), (100_000, true));
    // Within a few round trips of the update, not at the next probe.
    assert!(pair.data(CLIENT).last().unwrap().0 < 23_000);
}

/// RFC 9293 section 3.8.6.1: a zero window may last as long as the peer answers; section 3.8.3: without an answer R2
/// applies.
#[test]
fn unanswered_probes_end_the_connection() {
    let mut pair = Pair::of(&Config { retries: 3, ..unpaced() }, &fixed(8192), 1, None);
    pair.ends[SERVER].reads = false;
    pair.write(CLIENT, 100_000, false);
    pair.run(600_000);
    assert!(pair.ends[CLIENT].connection.stats().window_probes > 10);
    assert_eq!(pair.ends[CLIENT].connection.close_reason(), None);
    pair.fate(|_| Fate::Lost);
    pair.run(1_200_000);
    assert_eq!(pair.ends[CLIENT].connection.close_reason(), Some(&CloseReason::TimedOut));
}

/// RFC 9293 section 3.8.6: after the window has shrunk below the data in flight, no new data is sent. Retransmissions
/// continue and serve as probes as long as the peer answers (section 3.8.6.1); without an answer R2 applies (section
/// 3.8.3).
#[test]
fn a_window_that_shrinks_is_waited_for() {
    let config = Config { retries: 3, timestamps: false, tlp: false, max_rto: ms(4000), ..unpaced() };
    let mut pair = Pair::new(&config, 1);
    pair.run(100);
    pair.fate(|_| Fate::Lost);
    pair.write(CLIENT, 100_000, false);
    pair.run(110);
    assert_eq!(pair.data(CLIENT).len(), 10);
    for second in 1..=100 {
        pair.run(second * 1000);
        pair.answer(0, 1460, 0, b"");
    }
    let again = pair.data(CLIENT)[10..].to_vec();
    assert!(again.len() >= 20 && again.iter().all(|(_, offset, _)| *offset < 14_600), "{again:?}");
    assert_eq!(pair.ends[CLIENT].connection.close_reason(), None);
    // In units of 256.
    pair.answer(0, 14_600, 51, b"");
    let newest = pair.data(CLIENT).last().unwrap().1;
    assert!((14_600..14_600 + 13_056).contains(&newest), "{newest}");
    // The window shrinks once more, and the peer does not answer.
    pair.answer(0, 14_600, 0, b"");
    pair.run(200_000);
    assert_eq!(pair.ends[CLIENT].connection.close_reason(), Some(&CloseReason::TimedOut));
}

/// RFC 9293 section 3.10.7.4: an acknowledgement overtaken by another one does not update the window; RFC 5681 section
/// 2: nor is it a duplicate.
#[test]
fn a_reordered_acknowledgement_does_not_open_the_window() {
    let mut pair = Pair::new(&Config { sack: false, timestamps: false, ..unpaced() }, 1);
    pair.run(100);
    pair.fate(|_| Fate::Lost);
    pair.write(CLIENT, 100_000, false);
    pair.run(110);
    let sent = pair.data(CLIENT).len();
    assert_eq!(sent, 10);
    // All ten are acknowledged with a zero window. The acknowledgement of the first of them arrives later, in units of
    // 256.
    pair.answer(0, 14_600, 0, b"");
    for _ in 0..3 {
        pair.answer(0, 1460, 51, b"");
    }
    assert_eq!(pair.data(CLIENT).len(), sent);
    // The same with the last one missing: three old acknowledgements do not declare it lost.
    let mut pair = Pair::new(&Config { sack: false, timestamps: false, ..unpaced() }, 1);
    pair.run(100);
    pair.fate(|_| Fate::Lost);
    pair.write(CLIENT, 14_600, false);
    pair.run(110);
    pair.answer(0, 13_140, 51, b"");
    for _ in 0..3 {
        pair.answer(0, 1460, 51, b"");
    }
    assert_eq!(pair.ends[CLIENT].connection.stats().segments_declared_lost, 0);
}

/// RFC 9293 section 3.10.7.4, fifth: SND.WL1 "prevents using old segments to update the window": a reordered segment
/// does not open the window, but its data is accepted.
#[test]
fn a_reordered_segment_does_not_open_the_window() {
    let mut pair = Pair::new(&Config { sack: false, timestamps: false, ..unpaced() }, 1);
    pair.run(100);
    pair.fate(|_| Fate::Lost);
    pair.ends[CLIENT].checks = false;
    pair.write(CLIENT, 100_000, false);
    pair.run(110);
    assert_eq!(pair.data(CLIENT).len(), 10);
    pair.answer(3, 14_600, 0, b"def");
    pair.answer(0, 14_600, 51, b"abc");
    assert_eq!((pair.ends[CLIENT].received, pair.data(CLIENT).len()), (6, 10));
    pair.answer(6, 14_600, 51, b"ghi");
    assert!(pair.data(CLIENT).len() > 10);
}

/// RFC 5961 section 5.2: the byte of a window probe may be acknowledged before it counts as sent; anything beyond was
/// never sent.
#[test]
fn a_window_probe_covers_only_its_own_byte() {
    let mut pair = Pair::of(&Config { timestamps: false, ..unpaced() }, &fixed(8192), 1, None);
    pair.ends[SERVER].reads = false;
    pair.write(CLIENT, 20_000, false);
    pair.ends[CLIENT].finishes = false;
    pair.run(5000);
    assert!(pair.ends[CLIENT].connection.stats().window_probes > 0);
    pair.ends[SERVER].reads = true;
    pair.ends[SERVER].read_all(at(5000));
    pair.run(20_000);
    assert_eq!(pair.ends[CLIENT].connection.acked_bytes(), 20_000);
    let last = pair.sent.iter().rfind(|sent| sent.from == SERVER).unwrap().header();
    let beyond = last.acknowledgement.wrapping_add(1);
    pair.inject(CLIENT, &Header { acknowledgement: beyond, ..last }, b"");
    assert_eq!(pair.ends[CLIENT].connection.stats().challenge_acks_sent, 1);
}

/// RFC 5961 section 5.2: an acknowledgement older than the peer's largest window is not acceptable: it is challenged,
/// and its data is dropped. A less old one has no news, but its data is accepted.
#[test]
fn a_very_old_acknowledgement_is_challenged() {
    let mut pair = Pair::of(&Config { timestamps: false, ..unpaced() }, &fixed(8192), 1, None);
    pair.write(CLIENT, 100_000, false);
    pair.ends[CLIENT].finishes = false;
    pair.ends[CLIENT].checks = false;
    pair.run(20_000);
    assert_eq!(pair.ends[CLIENT].connection.acked_bytes(), 100_000);
    let last = pair.sent.iter().rfind(|sent| sent.from == SERVER).unwrap().header();
    for (ago, challenges, received) in [(8193, 1, 0), (8192, 1, 3)] {
        let acknowledgement = last.acknowledgement.wrapping_sub(ago);
        pair.inject(CLIENT, &Header { acknowledgement, ..last }, b"abc");
        let client = &pair.ends[CLIENT];
        assert_eq!(
            (client.connection.stats().challenge_acks_sent, client.received),
            (challenges, received),
            "{ago}"
        );
    }
}

/// RFC 9293 section 3.8.6.2.1, (3): if the window has no room for a full segment, half of the largest window is sent at
/// once, and less is not.
#[test]
fn half_of_the_largest_window_is_sent_at_once() {
    let mut pair = Pair::new(&Config { timestamps: false, ..unpaced() }, 1);
    pair.fate(|_| Fate::Lost);
    pair.write(CLIENT, 5000, false);
    pair.run(1);
    let syn = pair.sent[0].header();
    let answer = Header {
        source: 4433,
        destination: 34_433,
        sequence: 5000,
        acknowledgement: syn.sequence.wrapping_add(1),
        flags: Flags::SYN.with(Flags::ACK),
        window: 1000,
        options: Options { mss: Some(1460), ..Options::default() },
        ..Header::default()
    };
    pair.inject(CLIENT, &answer, b"");
    assert_eq!(pair.data(CLIENT), [(1, 0, 1000)]);
    let ack = |window| Header {
        sequence: 5001,
        acknowledgement: syn.sequence.wrapping_add(1001),
        flags: Flags::ACK,
        window,
        options: Options::default(),
        ..answer
    };
    pair.inject(CLIENT, &ack(499), b"");
    assert_eq!(pair.data(CLIENT).len(), 1);
    pair.inject(CLIENT, &ack(500), b"");
    assert_eq!(pair.data(CLIENT)[1..], [(1, 1000, 500)]);
}

/// The segments of a sender whose peer reads 100 bytes of a window of 20,000 every 20 ms: (ms, offset, length) of each,
/// except for zero-window probes.
fn trickle(sender: &Config) -> Vec<(u64, u64, u64)> {
    let mut pair = Pair::of(sender, &fixed(20_000), 1, None);
    pair.ends[SERVER].reads = false;
    pair.write(CLIENT, 100_000, false);
    for step in 0..2000 {
        pair.run(200 + step * 20);
        let mut buffer = [0; 100];
        if let Ok(read) = pair.ends[SERVER].connection.read(at(200 + step * 20), &mut buffer) {
            pair.ends[SERVER].received += read.bytes;
        }
    }
    assert!(pair.ends[SERVER].received >= 99_000, "{}", pair.ends[SERVER].received);
    let mut segments = pair.data(CLIENT);
    segments.retain(|(_, _, length)| *length > 1);
    segments
}

/// RFC 9293 section 3.8.6.2: a slow reader does not cause small segments.
#[test]
fn no_silly_windows() {
    // The override timeout is the retransmission timeout, 200 ms, which expires before the window opens by the next
    // step.
    let segments = trickle(&Config { min_rto: ms(100), ..unpaced() });
    // The rest of a window is sent after the override timeout (section 3.8.6.2.1), so not all segments are full.
    let small = segments.iter().filter(|(_, _, length)| *length < 500).count();
    assert!(segments.len() < 100 && small <= 1, "{segments:?}");
}

/// RFC 9293 section 3.8.6.2.1: the rest of a window, however small, is sent after the override timeout and not before.
/// If the timeout is longer than a step of the window takes, full segments are sent meanwhile, and the rest may be a
/// few bytes.
#[test]
fn the_rest_of_a_window_is_sent_after_the_override_timeout() {
    let default = unpaced();
    assert_eq!(default.min_rto, ms(200));
    for (sender, min_rto) in [(Config { min_rto: ms(100), ..unpaced() }, 100), (default, 200)] {
        let segments = trickle(&sender);
        assert!(segments.len() < 100, "{segments:?}");
        let mut rests = 0;
        for two in segments.windows(2) {
            let [(before, _, _), (now, offset, length)] = two else { unreachable!() };
            if *length < 1448 && offset + length < 100_000 {
                rests += 1;
                // From the last transmission to its acknowledgement, 100 ms or 40 more if that is delayed; plus SRTT +
                // min_rto.
                let waited = now - before;
                assert!(
                    (200 + min_rto..=280 + min_rto).contains(&waited),
                    "{waited} ms for {offset}: {segments:?}"
                );
            }
        }
        assert!(rests > 20, "{rests}");
    }
}

/// RFC 9293 section 3.8.6: unread data has a limit, however coarse the unit of the scaled window: an edge between two
/// units is rounded up, but not again with each segment (RFC 7323 section 2.4).
#[test]
fn the_unit_of_the_window_does_not_outgrow_the_buffer() {
    for (most, bytes) in [(1 << 30, 1448), (16_000_000, 100)] {
        let server = Config { max_receive_buffer: Size::from_bytes(most), ..unpaced() };
        let mut pair = Pair::of(&unpaced(), &server, 1, None);
        pair.ends[SERVER].reads = false;
        for step in 0..2000 {
            pair.run(200 + step * 50);
            pair.ends[CLIENT].connection.write(Data::Virtual(bytes)).unwrap();
        }
        pair.run(200_000);
        let unit = 1 << pair.sent[1].header().options.window_scale.unwrap();
        let taken = pair.ends[CLIENT].connection.acked_bytes();
        // The buffer of 64 kB, plus one unit or one segment.
        let limit = 64_000 + u64::max(unit, 1448);
        assert!((50_000..=limit).contains(&taken), "{taken} bytes wait, in units of {unit}");
        pair.ends[SERVER].reads = true;
        pair.ends[SERVER].read_all(at(200_000));
        pair.run(400_000);
        assert_eq!(pair.ends[SERVER].received, 2000 * bytes);
    }
}

/// The window grows with the bytes read per round trip, up to its limit; a fixed one limits the sender.
#[test]
fn the_window_is_tuned() {
    let time = |server: &Config| {
        let mut pair = Pair::of(&unpaced(), server, 1, None);
        pair.write(CLIENT, 4_000_000, false);
        pair.run(60_000);
        assert_eq!(pair.ends[SERVER].received, 4_000_000);
        let window = pair.ends[SERVER].connection.stats().receive_window;
        (pair.data(CLIENT).last().unwrap().0, window)
    };
    // Slow start alone: 10 segments, doubling each round trip, 2763 in all: nine round trips.
    let (tuned, window) = time(&unpaced());
    assert!(tuned <= 1100 && window > 1_000_000, "{tuned} ms, window {window}");
    // 65,535 bytes per round trip: 62.
    let (held, window) = time(&fixed(65_535));
    assert!((6000..7500).contains(&held) && window == 65_535, "{held} ms, window {window}");
}

/// RFC 9293 section 3.7.4.
#[test]
fn nagle_holds_small_segments_back() {
    let sizes = |nagle: bool| {
        let mut pair = Pair::new(&Config { nagle, ..unpaced() }, 1);
        pair.ends[SERVER].checks = false;
        pair.run(150);
        for time in [200, 210, 220] {
            pair.ends[CLIENT].connection.write(Data::Bytes(&[0; 100])).unwrap();
            pair.run(time);
        }
        pair.run(1000);
        pair.data(CLIENT).iter().map(|(_, _, length)| *length).collect::<Vec<_>>()
    };
    assert_eq!(sizes(false), [100, 100, 100]);
    assert_eq!(sizes(true), [100, 200]);
}

/// Data beyond the send buffer is refused, and accepted when there is room again.
#[test]
fn the_send_buffer_has_a_limit() {
    let config = Config { send_buffer: Size::from_bytes(10_000), ..unpaced() };
    let mut pair = Pair::new(&config, 1);
    pair.write(CLIENT, 300_000, true);
    pair.run(10_000);
    assert_eq!(pair.ends[SERVER].received, 300_000);
    assert!(pair.ends[CLIENT].events.contains(&tcp::Event::Writable));
}
