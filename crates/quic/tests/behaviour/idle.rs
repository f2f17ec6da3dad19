//! Idle timeout and keep-alive (RFC 9000 section 10.1).

use crate::pair::{Pair, at, config, delay, losing, ms, null, span};
use units::{Duration, Time};

/// The time at which each endpoint gave the connection up.
fn ends(pair: &mut Pair, limit: u64) -> [Option<Time>; 2] {
    let mut found = [None, None];
    let end = pair.now + ms(limit);
    pair.drain();
    while pair.next_at().is_some_and(|next| next <= end) {
        pair.step();
        if pair.client_is_gone() {
            found[0].get_or_insert(pair.now);
        }
        if pair.server_is_gone() {
            found[1].get_or_insert(pair.now);
        }
    }
    found
}

/// The time at which a datagram last reached each endpoint, over a link of 10 ms without loss.
fn last_arrivals(pair: &Pair) -> [Time; 2] {
    last_arrivals_after(pair, ms(10))
}

/// The same over a link of this delay.
fn last_arrivals_after(pair: &Pair, delay: Duration) -> [Time; 2] {
    [false, true].map(|to_server| {
        pair.wire.iter().filter(|seen| seen.to_server == to_server).map(|seen| seen.at + delay).max().unwrap()
    })
}

#[test]
fn silence_ends_a_connection_at_the_exact_time() {
    let mut pair = Pair::established();
    let last = last_arrivals(&pair);
    let found = ends(&mut pair, 100_000);
    assert_eq!(found, last.map(|last| Some(last + ms(30_000))));
    let ended = |events: &[quic::Event]| events == [quic::Event::Ended];
    assert!(ended(&pair.client_events) && ended(&pair.server_events));
}

#[test]
fn the_smaller_timeout_counts_for_both() {
    for (client, server, effective) in [(5_000, 60_000, 5_000), (60_000, 5_000, 5_000), (0, 7_000, 7_000)] {
        let options =
            [config(&[("max_idle_timeout", span(client))]), config(&[("max_idle_timeout", span(server))])];
        let [client, server] = options;
        let mut pair = Pair::new(null(), client, server, delay(10));
        pair.establish();
        let last = last_arrivals(&pair);
        assert_eq!(ends(&mut pair, 100_000), last.map(|last| Some(last + ms(effective))));
    }
}

#[test]
fn without_timeouts_a_connection_remains() {
    let never = config(&[("max_idle_timeout", span(0))]);
    let mut pair = Pair::new(null(), never.clone(), never, delay(10));
    pair.establish();
    assert_eq!(ends(&mut pair, 10_000_000), [None, None]);
    assert_eq!(pair.next_at(), None, "nothing is left to wait for");
}

#[test]
fn only_the_first_packet_after_one_received_restarts_the_timer() {
    let mut pair = Pair::established();
    pair.run_for(ms(10_000));
    pair.cut();
    let first = pair.now;
    let stream = pair.upload(10);
    pair.run_for(ms(10_000));
    pair.upload_more(stream, 10);
    let found = ends(&mut pair, 100_000);
    assert_eq!(found[0], Some(first + ms(30_000)));
}

/// RFC 9000-10.1-1.
#[test]
fn a_short_timeout_is_at_least_three_probe_timeouts() {
    let short = config(&[("max_idle_timeout", span(50))]);
    let mut pair = Pair::new(null(), short.clone(), short, delay(100));
    let done = pair.run_until(ms(10_000), |pair| pair.client().is_established());
    assert!(done);
    // Everything in flight arrives, followed by silence.
    pair.run_for(ms(300));
    let (heard, silent) = (pair.client().stats().datagrams_received, pair.now);
    pair.link = losing(0, |_, _| true);
    let rtt = pair.client().rtt();
    let pto = rtt.smoothed() + (rtt.variance() * 4).max(ms(1)) + ms(25);
    assert!(pto > ms(225), "{pto}");
    let last = last_arrivals_after(&pair, ms(100))[0];
    assert!(last <= silent);
    pair.run_to(last + pto * 3 - ms(1));
    assert!(!pair.client_is_gone() && pair.client().stats().datagrams_received == heard);
    pair.run_to(last + pto * 3);
    assert!(pair.client_is_gone());
}

#[test]
fn keep_alive_keeps_a_connection() {
    let client = config(&[("keep_alive", span(10_000))]);
    let mut pair = Pair::new(null(), client, config(&[]), delay(10));
    pair.establish();
    let mark = pair.mark();
    pair.run_for(ms(300_000));
    assert!(!pair.client_is_gone() && !pair.server_is_gone());
    let pings = pair.frames_from(mark, true).iter().filter(|frame| frame.name() == "PING").count();
    assert!((29..=30).contains(&pings), "{pings}");
}

#[test]
fn keep_alive_does_not_outlive_the_peer() {
    let client = config(&[("keep_alive", span(10_000))]);
    let mut pair = Pair::new(null(), client, config(&[]), delay(10));
    pair.establish();
    pair.link = losing(10, |_, _| true);
    let found = ends(&mut pair, 200_000);
    assert!(found[0].is_some() && found[1].is_some());
}

#[test]
fn a_handshake_without_answer_is_given_up() {
    let mut pair = Pair::new(null(), config(&[]), config(&[]), losing(10, |_, _| true));
    pair.run_to(at(29_999));
    assert!(pair.client().close_reason().is_none());
    pair.run_until(ms(10), |pair| pair.client.is_empty());
    assert!(pair.client.is_empty());
    assert_eq!(pair.now, at(30_000));
}
