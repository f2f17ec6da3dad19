//! The three-way handshake: lost SYNs, simultaneous opens, resets, forged segments.

use crate::loss::unpaced;
use crate::pair::{CLIENT, Fate, Pair, SERVER, address, at, ms, setup};
use tcp::{CloseReason, Config, Connection, Event, FastOpen, State};
use units::Time;
use wire::tcp::{Flags, Header, Options, Timestamps};

fn flags(pair: &Pair) -> Vec<String> {
    pair.sent.iter().map(|sent| format!("{} {}", ["C", "S"][sent.from], sent.header().flags)).collect()
}

/// RFC 9293 section 3.5, figure 6.
#[test]
fn three_segments_open_a_connection() {
    let mut pair = Pair::new(&Config::default(), 1);
    pair.run(1000);
    assert_eq!(flags(&pair), ["C SYN", "S SYN,ACK", "C ACK"]);
    assert_eq!(pair.states(), [State::Established; 2]);
    assert!(pair.ends.iter().all(|end| end.events == [Event::Connected]));
    let options = pair.sent[0].header().options;
    assert_eq!((options.mss, options.sack_permitted, options.window_scale), (Some(1460), true, Some(8)));
    assert_eq!(pair.ends[CLIENT].connection.stats().rtt.mean(), Some(ms(100)));
}

/// RFC 6298: one second, then two. RFC 5681 section 3.1: the window then begins with one segment, or with the
/// controller's minimum.
#[test]
fn a_lost_syn_is_retransmitted() {
    let mut pair = Pair::new(&Config::default(), 1);
    let mut lost = 0;
    pair.fate(move |sent| {
        lost += u32::from(sent.has(Flags::SYN));
        if lost <= 2 && sent.has(Flags::SYN) { Fate::Lost } else { Fate::Delivered }
    });
    pair.write(CLIENT, 10_000, false);
    pair.run(3150);
    let syns: Vec<_> = pair.sent.iter().filter(|s| s.from == CLIENT && s.has(Flags::SYN)).collect();
    assert_eq!(syns.iter().map(|s| s.sent_at).collect::<Vec<_>>(), [at(0), at(1000), at(3000)]);
    assert_eq!(pair.data(CLIENT), [(3100, 0, 1448), (3100, 1448, 1448)]);
    assert_eq!(pair.ends[CLIENT].connection.stats().syn_retransmissions, 2);
}

/// RFC 9293 section 3.8.3: R2 of a SYN.
#[test]
fn a_connection_to_nowhere_times_out() {
    let mut pair = Pair::new(&Config { syn_retries: 3, ..Config::default() }, 1);
    pair.fate(|_| Fate::Lost);
    pair.run(100_000);
    assert_eq!(pair.sent.len(), 4);
    assert_eq!(pair.ends[CLIENT].connection.close_reason(), Some(&CloseReason::TimedOut));
    assert_eq!(pair.ends[CLIENT].events, [Event::Ended]);
}

/// RFC 9293 section 3.5, figure 7.
#[test]
fn both_open_at_once() {
    let open =
        |end| Connection::connect(Time::ZERO, setup(end, &Config::default(), 1), address(1 - end)).unwrap();
    let mut pair = Pair::with([open(CLIENT), open(SERVER)]);
    pair.write(CLIENT, 20_000, true);
    pair.write(SERVER, 30_000, false);
    pair.run(2000);
    assert_eq!(flags(&pair)[..4], ["C SYN", "S SYN", "S SYN,ACK", "C SYN,ACK"]);
    assert_eq!((pair.ends[CLIENT].received, pair.ends[SERVER].received), (30_000, 20_000));
    assert!(pair.ends.iter().all(|end| end.finished));
}

/// RFC 9293 section 3.10.7.1, 3.10.7.3: nobody listens.
#[test]
fn a_connection_is_refused() {
    let mut pair = Pair::new(&Config::default(), 1);
    pair.ends[SERVER].connection.close(Time::ZERO, 0, "not open");
    pair.run(1000);
    assert_eq!(flags(&pair), ["C SYN", "S RST,ACK"]);
    assert_eq!(pair.ends[CLIENT].connection.close_reason(), Some(&CloseReason::Refused));
}

/// RFC 9293 section 3.10.7.2, third: an acknowledgement in LISTEN is answered with a reset and changes nothing.
#[test]
fn a_listener_resets_segments_other_than_syns() {
    let mut pair = Pair::new(&Config::default(), 1);
    let stray = Header { flags: Flags::ACK, acknowledgement: 77, ..Header::default() };
    pair.inject(SERVER, &stray, b"");
    let answer = pair.sent[0].header();
    assert_eq!((answer.flags, answer.sequence), (Flags::RST, 77));
    pair.run(1000);
    assert_eq!(pair.states(), [State::Established; 2]);
}

/// RFC 9293 section 3.10.7.3, first and second: a reset is accepted only if it acknowledges the SYN.
#[test]
fn a_blind_reset_does_not_stop_a_syn() {
    let mut pair = Pair::new(&Config::default(), 1);
    pair.run(1);
    for header in [
        Header { flags: Flags::RST, ..Header::default() },
        Header { flags: Flags::RST.with(Flags::ACK), acknowledgement: 99, ..Header::default() },
    ] {
        pair.inject(CLIENT, &header, b"");
        assert_eq!(pair.states()[CLIENT], State::SynSent);
    }
    pair.run(1000);
    assert_eq!(pair.states(), [State::Established; 2]);
}

fn open() -> (Pair, Header) {
    let mut pair = Pair::new(&Config::default(), 1);
    pair.run(1000);
    // The server's next sequence number.
    let syn_ack = pair.sent[1].header();
    let header = Header {
        source: 4433,
        destination: 34_433,
        sequence: syn_ack.sequence.wrapping_add(1),
        acknowledgement: pair.sent[0].header().sequence.wrapping_add(1),
        flags: Flags::ACK,
        window: 100,
        options: Options {
            timestamps: syn_ack.options.timestamps.map(|t| Timestamps { value: t.value + 900, echo: t.echo }),
            ..Options::default()
        },
        ..Header::default()
    };
    (pair, header)
}

/// RFC 5961 section 3.2: a reset elsewhere in the window is answered with a challenge ACK; one with the exact number
/// ends the connection; one outside of the window is dropped.
#[test]
fn resets_are_challenged() {
    let (mut pair, header) = open();
    let reset = Header { flags: Flags::RST, ..header };
    let before = pair.sent.len();
    pair.inject(CLIENT, &Header { sequence: header.sequence.wrapping_add(1), ..reset }, b"");
    assert_eq!((pair.sent.len(), pair.states()[CLIENT]), (before + 1, State::Established));
    assert_eq!(pair.ends[CLIENT].connection.stats().challenge_acks_sent, 1);
    pair.inject(CLIENT, &Header { sequence: header.sequence.wrapping_sub(1), ..reset }, b"");
    assert_eq!((pair.sent.len(), pair.states()[CLIENT]), (before + 1, State::Established));
    pair.inject(CLIENT, &reset, b"");
    assert_eq!(pair.states()[CLIENT], State::Closed);
    assert_eq!(pair.ends[CLIENT].connection.close_reason(), Some(&CloseReason::PeerReset));
}

/// RFC 5961 sections 4.2, 5.2 and 7: a SYN, and an acknowledgement of unsent data, get challenge ACKs, at most ten
/// within five seconds.
#[test]
fn challenges_have_a_limit() {
    let (mut pair, header) = open();
    let before = pair.sent.len();
    pair.inject(CLIENT, &Header { flags: Flags::SYN, ..header }, b"");
    for ahead in 0..30 {
        let acknowledgement = header.acknowledgement.wrapping_add(1 + ahead);
        pair.inject(CLIENT, &Header { acknowledgement, ..header }, b"");
    }
    assert_eq!(pair.sent.len(), before + 10);
    assert_eq!(pair.states()[CLIENT], State::Established);
    pair.run(7000);
    pair.inject(CLIENT, &Header { flags: Flags::SYN, ..header }, b"");
    assert_eq!(pair.sent.len(), before + 11);
}

/// RFC 7323 section 5.3: an old duplicate is acknowledged and dropped; a segment without timestamps is silently dropped
/// (section 3.2).
#[test]
fn old_duplicates_are_dropped() {
    let (mut pair, header) = open();
    let stamped = |value: u32| {
        let timestamps =
            header.options.timestamps.map(|t| Timestamps { value: t.value.wrapping_add(value), ..t });
        Header { options: Options { timestamps, ..Options::default() }, ..header }
    };
    pair.ends[CLIENT].checks = false;
    pair.inject(CLIENT, &stamped(5), b"abc");
    assert_eq!(pair.ends[CLIENT].received, 3);
    let next = |header: Header| Header { sequence: header.sequence.wrapping_add(3), ..header };
    pair.inject(CLIENT, &next(stamped(4)), b"old");
    assert_eq!(pair.ends[CLIENT].received, 3);
    let before = pair.sent.len();
    pair.inject(CLIENT, &Header { options: Options::default(), ..next(header) }, b"bad");
    assert_eq!((pair.ends[CLIENT].received, pair.sent.len()), (3, before));
    pair.inject(CLIENT, &next(stamped(6)), b"new");
    assert_eq!(pair.ends[CLIENT].received, 6);
    assert_eq!(pair.ends[CLIENT].connection.stats().segments_dropped, 2);
}

/// RFC 9293 section 3.7.1: without the option a segment has 536 bytes.
#[test]
fn a_peer_without_options_is_served() {
    let mut pair = Pair::new(&Config::default(), 1);
    let syn =
        Header { source: 34_433, destination: 4433, flags: Flags::SYN, window: 4000, ..Header::default() };
    pair.inject(SERVER, &syn, b"");
    let answer = pair.sent[0].header();
    assert_eq!(answer.options, Options { mss: Some(1460), ..Options::default() });
    pair.write(SERVER, 3000, false);
    let ack =
        Header { flags: Flags::ACK, sequence: 1, acknowledgement: answer.sequence.wrapping_add(1), ..syn };
    pair.inject(SERVER, &ack, b"");
    assert_eq!(
        pair.data(SERVER).iter().map(|sent| sent.2).collect::<Vec<_>>(),
        [536, 536, 536, 536, 536, 320]
    );
}

fn fast_open(client: FastOpen, server: FastOpen) -> Pair {
    let [client, server] = [client, server].map(|fast_open| Config { fast_open, ..Config::default() });
    Pair::of(&client, &server, 1, None)
}

/// RFC 7413 section 3: data is sent with the SYN, and the response arrives after one round trip.
#[test]
fn fast_open_saves_a_round_trip() {
    let mut pair = fast_open(FastOpen::Cached, FastOpen::Cached);
    pair.write(CLIENT, 500, true);
    pair.write(SERVER, 3000, false);
    pair.run(99);
    assert_eq!((pair.ends[SERVER].received, pair.sent[0].payload()), (500, 500));
    pair.run(110);
    assert_eq!(pair.ends[CLIENT].received, 3000);
    pair.run(1000);
    assert!(pair.ends.iter().all(|end| end.finished && end.connection.stats().fast_open_bytes == 500));
    assert!(pair.ends.iter().all(|end| end.connection.stats().retransmitted_bytes == 0));
}

/// RFC 7413 section 4.1.2: a client that requests a cookie gets one, and sends its data after the handshake.
#[test]
fn a_cookie_is_asked_for_and_given() {
    let mut pair = fast_open(FastOpen::Request, FastOpen::Request);
    pair.write(CLIENT, 500, true);
    pair.run(1000);
    let option = |at: usize| pair.sent[at].header().options.fast_open.map(|cookie| cookie.as_bytes().len());
    assert_eq!((option(0), option(1)), (Some(0), Some(8)));
    assert_eq!(pair.ends[SERVER].received, 500);
    assert_eq!(pair.ends[SERVER].connection.stats().fast_open_bytes, 0);
}

/// RFC 7413 section 4.2.2: a server that does not accept the cookie acknowledges only the SYN, and the data is sent
/// again at once; section 4.1.3: a retransmitted SYN has no data.
#[test]
fn rejected_syn_data_is_sent_again() {
    let mut pair = fast_open(FastOpen::Cached, FastOpen::Off);
    pair.write(CLIENT, 500, true);
    pair.run(1000);
    assert_eq!(pair.data(CLIENT), [(0, 0, 500), (100, 0, 500)]);
    assert_eq!((pair.ends[SERVER].received, pair.ends[SERVER].finished), (500, true));
    let mut pair = fast_open(FastOpen::Cached, FastOpen::Cached);
    pair.write(CLIENT, 500, true);
    let mut first = true;
    pair.fate(move |_| if std::mem::take(&mut first) { Fate::Lost } else { Fate::Delivered });
    pair.run(3000);
    assert_eq!(pair.data(CLIENT), [(0, 0, 500), (1100, 0, 500)]);
    assert!(pair.sent[1].header().options.fast_open.is_none());
    assert_eq!(pair.ends[SERVER].received, 500);
}

/// RFC 9293 section 3.10.7.4, second and fourth: a reset or another SYN before the handshake is complete returns a
/// passive open to LISTEN, ready for the next SYN.
#[test]
fn a_listener_listens_again() {
    let syn =
        Header { source: 34_433, destination: 4433, flags: Flags::SYN, window: 4000, ..Header::default() };
    for another_syn in [false, true] {
        let mut pair = Pair::new(&Config::default(), 1);
        pair.fate(
            |sent| if sent.from == SERVER && sent.sent_at == at(0) { Fate::Lost } else { Fate::Delivered },
        );
        pair.write(CLIENT, 5000, false);
        let stray = Header { sequence: 5000, ..syn };
        pair.inject(SERVER, &stray, b"");
        assert_eq!(pair.states()[SERVER], State::SynReceived);
        let flags = if another_syn { Flags::SYN } else { Flags::RST };
        pair.inject(SERVER, &Header { sequence: 5001, flags, ..stray }, b"");
        assert_eq!(pair.states()[SERVER], State::Listen);
        assert!(pair.ends[SERVER].events.is_empty());
        pair.run(3000);
        let server = &pair.ends[SERVER];
        assert_eq!((server.received, server.finished), (5000, true));
        assert_eq!((server.connection.stats().listened_again, server.connection.close_reason()), (1, None));
        let answers: Vec<u32> = pair
            .sent
            .iter()
            .filter(|sent| sent.from == SERVER && sent.has(Flags::SYN))
            .map(|sent| sent.header().sequence)
            .collect();
        assert!(answers.len() == 2 && answers[0] != answers[1], "RFC 9293 section 3.4.1: {answers:?}");
    }
}

/// RFC 9293 section 3.10.7.4, second: an active open does not return to LISTEN.
#[test]
fn a_simultaneous_open_can_be_refused() {
    let mut pair = Pair::new(&Config::default(), 1);
    let syn =
        Header { source: 4433, destination: 34_433, flags: Flags::SYN, window: 4000, ..Header::default() };
    pair.inject(CLIENT, &syn, b"");
    assert_eq!(pair.states()[CLIENT], State::SynReceived);
    pair.inject(CLIENT, &Header { sequence: 1, flags: Flags::RST, ..syn }, b"");
    assert_eq!(pair.states()[CLIENT], State::Closed);
    assert_eq!(pair.ends[CLIENT].connection.close_reason(), Some(&CloseReason::Refused));
}

/// RFC 6928 section 2: one lost SYN does not change the initial window; RFC 6298 section 5.7: but it makes the first
/// timeout three seconds.
#[test]
fn a_single_lost_syn() {
    let mut pair = Pair::new(&Config { tlp: false, ..unpaced() }, 1);
    let (mut syns, mut data) = (0, 0);
    pair.fate(move |sent| {
        syns += u32::from(sent.has(Flags::SYN));
        data += u32::from(sent.payload() > 0);
        let lost = sent.has(Flags::SYN) && syns == 1 || sent.payload() > 0 && data <= 10;
        if lost { Fate::Lost } else { Fate::Delivered }
    });
    pair.write(CLIENT, 100_000, false);
    pair.run(5000);
    let data = pair.data(CLIENT);
    assert!(data[..10].iter().all(|sent| sent.0 == 1100), "{data:?}");
    assert_eq!((data[10].0, data[10].1), (4100, 0));
}

/// RFC 9293 section 3.10.7.4, fifth, and 3.5.2: before the handshake is complete, an unacceptable acknowledgement is
/// answered with a reset; section 3.10.7.4, second: a reset outside of the window is not answered.
#[test]
fn a_wrong_acknowledgement_in_the_handshake_is_reset() {
    let syn =
        Header { source: 34_433, destination: 4433, flags: Flags::SYN, window: 4000, ..Header::default() };
    let mut pair = Pair::new(&Config::default(), 1);
    pair.inject(SERVER, &syn, b"");
    let initial = pair.sent[0].header().sequence;
    for off in [0_u32, 2, 1000, 1 << 30, u32::MAX, u32::MAX - 1000, 1 << 31, 3 << 30] {
        let acknowledgement = initial.wrapping_add(off);
        let before = pair.sent.len();
        pair.inject(SERVER, &Header { flags: Flags::ACK, sequence: 1, acknowledgement, ..syn }, b"");
        let answers: Vec<Header> = pair.sent[before..].iter().map(|sent| sent.header()).collect();
        assert_eq!(answers.len(), 1, "{off}");
        assert_eq!((answers[0].flags, answers[0].sequence), (Flags::RST, acknowledgement), "{off}");
        assert_eq!(pair.states()[SERVER], State::SynReceived);
    }
    let before = pair.sent.len();
    pair.inject(SERVER, &Header { flags: Flags::SYN.with(Flags::RST), ..syn }, b"");
    assert_eq!((pair.sent.len(), pair.states()[SERVER]), (before, State::SynReceived));
    pair.inject(
        SERVER,
        &Header { flags: Flags::ACK, sequence: 1, acknowledgement: initial.wrapping_add(1), ..syn },
        b"",
    );
    assert_eq!(pair.states()[SERVER], State::Established);
}

/// RFC 6298 section 3: in a simultaneous open the SYN and the SYN-ACK have the same number, so its acknowledgement
/// gives no RTT sample; section 5.7: here too a SYN that timed out makes the first timeout three seconds.
#[test]
fn a_simultaneous_open_gives_no_sample() {
    let config = Config { tlp: false, ..unpaced() };
    let open = |end| Connection::connect(Time::ZERO, setup(end, &config, 1), address(1 - end)).unwrap();
    for lost in [0, 1] {
        let mut pair = Pair::with([open(CLIENT), open(SERVER)]);
        let mut syns = [0; 2];
        pair.fate(move |sent| {
            syns[sent.from] += u32::from(sent.has(Flags::SYN));
            if sent.has(Flags::SYN) && syns[sent.from] <= lost || sent.payload() > 0 {
                Fate::Lost
            } else {
                Fate::Delivered
            }
        });
        let opened = 100 + 1000 * u64::from(lost);
        pair.run(opened + 10);
        assert_eq!(pair.states(), [State::Established; 2]);
        assert_eq!(pair.ends[CLIENT].connection.stats().rtt.mean(), None);
        pair.write(CLIENT, 1000, false);
        pair.run(opened + 10_000);
        let sent: Vec<u64> = pair.data(CLIENT).iter().map(|sent| sent.0 - opened).collect();
        let timeout = if lost == 0 { 1010 } else { 3010 };
        assert_eq!(sent[..2], [10, timeout], "{sent:?}");
    }
}
