//! The end of connections (RFC 9293 section 3.6).

use crate::loss::unpaced;
use crate::pair::{CLIENT, Fate, Pair, SERVER, at, ms};
use tcp::{CloseReason, Config, Data, Event, State, StreamError};
use wire::tcp::{Flags, Header, Options, Timestamps};

/// RFC 9293 figure 12: the client ends first and stays in TIME-WAIT for 2 MSL.
#[test]
fn the_end_that_closes_first_stays_a_while() {
    let mut pair = Pair::new(&Config::default(), 1);
    pair.write(CLIENT, 1000, true);
    pair.run(1000);
    assert_eq!(pair.states(), [State::FinWait2, State::CloseWait]);
    assert!(pair.ends[SERVER].finished && pair.ends[CLIENT].events.contains(&Event::Delivered));
    // The other direction continues (section 3.6, half-closed).
    pair.write(SERVER, 100_000, false);
    pair.run(5000);
    assert_eq!(pair.ends[CLIENT].received, 100_000);
    assert_eq!(pair.states(), [State::TimeWait, State::Closed]);
    assert!(pair.ends.iter().all(|end| end.events.last() == Some(&Event::Ended)));
    pair.run(70_000);
    assert_eq!(pair.states(), [State::Closed, State::Closed]);
}

/// RFC 9293 figure 13.
#[test]
fn both_close_at_once() {
    let mut pair = Pair::new(&Config::default(), 1);
    pair.run(1000);
    pair.write(CLIENT, 0, true);
    pair.write(SERVER, 0, true);
    pair.run(1060);
    assert_eq!(pair.states(), [State::Closing; 2]);
    pair.run(1500);
    assert_eq!(pair.states(), [State::TimeWait; 2]);
}

/// RFC 9293 section 3.10.7.4, eighth: a retransmitted FIN is acknowledged again and restarts TIME-WAIT.
#[test]
fn a_lost_acknowledgement_of_the_fin() {
    let mut pair = Pair::new(&Config::default(), 1);
    pair.run(1000);
    pair.write(CLIENT, 0, true);
    pair.run(1200);
    let mut lost = false;
    pair.fate(move |sent| {
        let this = sent.from == CLIENT && !lost;
        lost |= this;
        if this { Fate::Lost } else { Fate::Delivered }
    });
    pair.write(SERVER, 0, true);
    pair.run(1300);
    assert_eq!(pair.states(), [State::TimeWait, State::LastAck]);
    pair.run(3000);
    assert_eq!(pair.states(), [State::TimeWait, State::Closed]);
    let fins = pair.sent.iter().filter(|sent| sent.from == SERVER && sent.has(Flags::FIN));
    let came: Vec<_> = fins.map(|fin| fin.sent_at + pair.delay).collect();
    assert!(came.len() == 2 && came[1] > came[0] + ms(100), "{came:?}");
    let over = came[1] + Config::default().time_wait;
    pair.run_to(over - ms(1));
    assert_eq!(pair.states()[CLIENT], State::TimeWait);
    pair.run_to(over);
    assert_eq!(pair.states()[CLIENT], State::Closed);
}

/// RFC 9293 section 3.10.7.4, eighth: nothing else prolongs TIME-WAIT.
#[test]
fn old_data_does_not_keep_an_end_in_time_wait() {
    let mut pair = Pair::new(&Config { timestamps: false, ..Config::default() }, 1);
    pair.write(CLIENT, 1000, true);
    pair.run(1000);
    pair.write(SERVER, 3000, true);
    pair.run(5000);
    assert_eq!(pair.states(), [State::TimeWait, State::Closed]);
    let old = pair.sent.iter().find(|sent| sent.from == SERVER && sent.payload() > 0).unwrap().clone();
    assert!(!old.has(Flags::FIN));
    // Otherwise the acknowledgement would be answered with a reset (RFC 1337).
    pair.fate(|_| Fate::Lost);
    pair.run(40_000);
    pair.arrive(CLIENT, old.ecn, &old.bytes, old.hole);
    pair.run(70_000);
    assert_eq!(pair.states(), [State::Closed, State::Closed]);
}

/// RFC 9293 section 3.10.7.4: TIME-WAIT answers a late duplicate with an acknowledgement (first), to which a closed end
/// responds with a reset (section 3.10.7.1). This ends TIME-WAIT without an error for the user (second): nothing was
/// lost.
#[test]
fn a_reset_in_time_wait_is_not_an_error() {
    for timestamps in [true, false] {
        let mut pair = Pair::new(&Config { timestamps, ..Config::default() }, 1);
        pair.write(CLIENT, 1000, true);
        pair.run(1000);
        pair.write(SERVER, 3000, true);
        // Data arrives once more when all is over, before the application has read the end.
        pair.ends[CLIENT].reads = false;
        pair.run(5000);
        assert_eq!(pair.states(), [State::TimeWait, State::Closed]);
        let old = pair.sent.iter().find(|sent| sent.from == SERVER && sent.payload() > 0).unwrap().clone();
        pair.arrive(CLIENT, old.ecn, &old.bytes, old.hole);
        pair.run(5060);
        let answer = pair.sent.last().unwrap();
        assert!(answer.from == SERVER && answer.has(Flags::RST), "{:?}", answer.header());
        // RFC 7323 section 5.2: the reset echoes the timestamp of the segment, and has no value of its own.
        let drew = pair.sent.iter().rfind(|sent| sent.from == CLIENT).unwrap().header();
        let echoed = drew.options.timestamps.map(|told| Timestamps { value: 0, echo: told.value });
        assert_eq!((answer.header().options.timestamps, echoed.is_some()), (echoed, timestamps));
        assert!(!pair.sent.iter().any(|sent| sent.from == CLIENT && sent.has(Flags::RST)));
        pair.run(5200);
        assert_eq!(pair.states(), [State::Closed; 2]);
        assert_eq!(pair.ends[CLIENT].connection.close_reason(), Some(&CloseReason::Finished));
        // Received data can still be read.
        pair.ends[CLIENT].read_all(at(5200));
        assert_eq!((pair.ends[CLIENT].received, pair.ends[CLIENT].finished), (3000, true));
    }
}

/// RFC 9293 section 3.10.7.4, second: the same in CLOSING and LAST-ACK if only the FIN is unacknowledged, but not if
/// data is.
#[test]
fn a_reset_after_all_data_is_not_an_error() {
    for (bytes, reason) in [(0, CloseReason::Finished), (500, CloseReason::PeerReset)] {
        let mut pair = Pair::new(&Config::default(), 1);
        pair.write(SERVER, 10, true);
        pair.run(1000);
        // The client's last segments are lost, and a reset arrives.
        pair.fate(|sent| if sent.from == CLIENT { Fate::Lost } else { Fate::Delivered });
        pair.write(CLIENT, bytes, true);
        pair.run(1100);
        assert_eq!(pair.states()[CLIENT], State::LastAck);
        let last = pair.sent.iter().rfind(|sent| sent.from == SERVER).unwrap().header();
        let sequence = pair.sent.iter().rfind(|sent| sent.from == CLIENT).unwrap().header().acknowledgement;
        pair.inject(
            CLIENT,
            &Header { sequence, flags: Flags::RST, options: Options::default(), ..last },
            b"",
        );
        assert_eq!(pair.states()[CLIENT], State::Closed);
        assert_eq!(pair.ends[CLIENT].connection.close_reason(), Some(&reason));
    }
}

/// RFC 9293 section 3.10.5, RFC 2525 section 2.17: an end whose application has closed answers data with a reset.
#[test]
fn data_for_a_closed_application_is_reset() {
    let mut pair = Pair::new(&Config::default(), 1);
    pair.write(CLIENT, 10, true);
    pair.write(SERVER, 10_000_000, false);
    pair.run(400);
    let now = at(400);
    pair.ends[CLIENT].connection.close(now, 7, "enough");
    pair.run(2000);
    assert_eq!(pair.states(), [State::Closed; 2]);
    let reason = CloseReason::Application { code: 7, reason: "enough".to_owned() };
    assert_eq!(pair.ends[CLIENT].connection.close_reason(), Some(&reason));
    assert_eq!(pair.ends[SERVER].connection.close_reason(), Some(&CloseReason::PeerReset));
    let reset = pair.sent.iter().find(|sent| sent.from == CLIENT && sent.has(Flags::RST)).unwrap().header();
    // RFC 7323 section 5.2: "a Timestamps option SHOULD be included".
    assert!(reset.options.timestamps.is_some_and(|told| told.value != 0 && told.echo != 0));
    assert_eq!(pair.ends[SERVER].connection.write(Data::Virtual(1)), Err(StreamError::Reset(0)));
}

/// Closing before the own data is finished resets the connection.
#[test]
fn closing_in_the_middle_is_a_reset() {
    let mut pair = Pair::new(&Config::default(), 1);
    pair.write(CLIENT, 10_000_000, false);
    pair.ends[CLIENT].finishes = false;
    pair.run(400);
    pair.ends[CLIENT].connection.close(at(400), 0, "stopped");
    pair.run(1000);
    assert_eq!(pair.states(), [State::Closed; 2]);
    assert!(pair.ends[SERVER].events.contains(&Event::Ended));
}

/// RFC 9293 section 3.8.3: R2, when the peer has vanished.
#[test]
fn a_silent_peer_is_given_up() {
    let mut pair = Pair::new(&Config { retries: 4, ..Config::default() }, 1);
    pair.run(1000);
    pair.fate(|_| Fate::Lost);
    pair.write(CLIENT, 5000, false);
    pair.run(100_000);
    assert_eq!(pair.ends[CLIENT].connection.close_reason(), Some(&CloseReason::TimedOut));
    assert_eq!(pair.ends[CLIENT].connection.stats().timeouts, 5);
    assert_eq!(pair.states()[CLIENT], State::Closed);
}

/// RFC 9293 section 3.8.3: R2 counts "the number of transmissions of the same segment": timeouts of successive segments
/// do not add up, even if none gives an RTT sample (RFC 6298 section 3: Karn).
#[test]
fn a_connection_stays_open_while_the_peer_answers() {
    let config = Config { retries: 3, timestamps: false, tlp: false, ..unpaced() };
    let mut pair = Pair::new(&config, 1);
    let mut last = None;
    pair.fate(move |sent| {
        if sent.from != CLIENT || sent.payload() == 0 {
            return Fate::Delivered;
        }
        // Each segment arrives at its second transmission.
        let number = Some(sent.header().sequence);
        if std::mem::replace(&mut last, number) == number { Fate::Delivered } else { Fate::Lost }
    });
    for segment in 1..=6 {
        pair.run(segment * 100_000);
        pair.ends[CLIENT].connection.write(Data::Virtual(1000)).unwrap();
    }
    pair.run(700_000);
    let client = &pair.ends[CLIENT].connection;
    assert_eq!((client.stats().timeouts, client.close_reason()), (6, None));
    assert_eq!(pair.ends[SERVER].received, 6000);
}
