//! Two connections joined by a relay, as a proxy joins them (RFC 3135 section 2.4).

use crate::pair::{CLIENT, Pair, SERVER, at, ms};
use tcp::{CloseReason, Config, Event, State};
use units::Size;

/// The connection of a client with a proxy, and that of the proxy with a server.
struct Relay {
    near: Pair,
    far: Pair,
}

impl Relay {
    fn new(ends: &Config, proxy: &Config) -> Relay {
        let mut relay = Relay { near: Pair::of(ends, proxy, 1, None), far: Pair::of(proxy, ends, 2, None) };
        relay.near.ends[SERVER].reads = false;
        relay.far.ends[CLIENT].reads = false;
        relay
    }

    /// Runs to this time; every millisecond the proxy relays what has arrived.
    fn run(&mut self, until: u64) {
        while self.near.now < at(until) {
            let now = self.near.now + ms(1);
            self.near.run_to(now);
            self.far.run_to(now);
            let (near, far) = (&mut self.near.ends[SERVER], &mut self.far.ends[CLIENT]);
            let (near, far) = (&mut near.connection, &mut far.connection);
            let up = near.relay(now, far);
            let down = far.relay(now, near);
            if up.is_ok_and(|read| read.finished) {
                let _ = far.finish_writing();
            }
            if down.is_ok_and(|read| read.finished) {
                let _ = near.finish_writing();
            }
        }
    }
}

/// The ends have TLS between them, of which the proxy knows nothing: its exchange takes a round trip over both
/// connections, and what is real and what is virtual arrives as it was written.
#[test]
fn tls_passes_a_relay() {
    for tls in [false, true] {
        let ends =
            Config { tls: if tls { tcp::Layer::Tls13 } else { tcp::Layer::None }, ..Config::default() };
        let mut relay = Relay::new(&ends, &Config::default());
        relay.near.write(CLIENT, 300_000, true);
        relay.far.write(SERVER, 400_000, false);
        relay.run(10_000);
        let (client, server) = (&relay.near.ends[CLIENT], &relay.far.ends[SERVER]);
        assert_eq!((client.received, client.finished), (400_000, true), "TLS {tls}");
        assert_eq!((server.received, server.finished), (300_000, true), "TLS {tls}");
        assert!(server.events.contains(&Event::Connected));
    }
}

/// The server reads nothing: its window, the proxy's send buffer, the proxy's window and nothing else fill up.
#[test]
fn a_relay_takes_no_more_than_its_buffers() {
    let small = |bytes: u64| Config {
        receive_buffer: Size::from_bytes(bytes),
        max_receive_buffer: Size::from_bytes(bytes),
        send_buffer: Size::from_bytes(bytes),
        ..Config::default()
    };
    for real in [false, true] {
        let mut relay = Relay::new(&small(20_000), &small(30_000));
        relay.far.ends[SERVER].reads = false;
        relay.near.write(CLIENT, 500_000, real);
        relay.run(5000);
        let held = relay.far.ends[CLIENT].connection.unacknowledged_bytes();
        let waiting = relay.near.ends[SERVER].connection.readable_bytes();
        // Segments are not cut to fit the last bytes of a window.
        assert!(held == 30_000 && (28_000..=30_000).contains(&waiting), "{held} {waiting}");
        let acked = relay.near.ends[CLIENT].connection.acked_bytes();
        let arrived = relay.far.ends[SERVER].connection.readable_bytes();
        assert!((18_000..=20_000).contains(&arrived), "{arrived}");
        assert_eq!(acked, arrived + held + waiting);
    }
}

/// RFC 9293 section 3.10.5: ABORT, in a connection that is being opened and in an open one.
#[test]
fn an_abort_resets_the_peer_if_it_knows_of_the_connection() {
    let mut pair = Pair::new(&Config::default(), 1);
    pair.ends[CLIENT].connection.reset(at(0));
    pair.run(1000);
    assert_eq!((pair.states(), pair.sent.len()), ([State::Closed, State::Listen], 0));
    let mut pair = Pair::new(&Config::default(), 1);
    pair.run(1000);
    pair.ends[CLIENT].connection.reset(at(1000));
    pair.run(2000);
    assert_eq!(pair.states(), [State::Closed; 2]);
    assert_eq!(pair.ends[SERVER].connection.close_reason(), Some(&CloseReason::PeerReset));
}
