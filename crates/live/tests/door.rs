//! Clients that hold a place of a file server without using it. Attacks on its door are tests of `quic`.
#![cfg(target_os = "linux")]

mod hand;

use hand::{Client, Credit, Folder, Running, serving};
use live::Limits;
use quic::{Event, Places};
use units::Duration;

const CREDIT: Credit = Credit { connection: 1 << 20, stream: 1000 };

/// A client without a request is closed, whatever else it sends; one whose request waits for credit is not.
#[test]
fn a_client_that_only_sends_pings_is_closed() {
    let folder = Folder::new("unused");
    folder.put("large", 100_000);
    let limits = Limits { unused: Duration::from_secs(1), ..Limits::of(100) };
    let server = Running::new(live::ServeOptions { limits, ..serving(&folder.0, 100) });
    let mut pinging = Client::new(&server, CREDIT);
    let began = pinging.clock.now();
    let mut asking = Client::new(&server, CREDIT);
    asking.ask("/large");
    asking.linger(Duration::from_millis(100));
    let mut next = pinging.clock.now();
    // Whatever elicits an acknowledgement is as good as a PING: bytes on the control stream.
    pinging.go_on(|client| {
        if client.events.contains(&Event::Ended) {
            return true;
        }
        if client.clock.now() >= next {
            client.send(hand::CONTROL, &[0x21, 0]);
            next = client.clock.now() + Duration::from_millis(50);
        }
        false
    });
    let waited = pinging.clock.now().since(began);
    assert!((Duration::from_millis(900)..Duration::from_secs(10)).contains(&waited), "{waited}");
    asking.linger(Duration::from_millis(100));
    assert!(!asking.events.contains(&Event::Ended));
}

/// A server for three clients lets a fourth one in while three hold their places without a request.
#[test]
fn a_small_server_is_not_closed_by_idle_clients() {
    let folder = Folder::new("small-door");
    folder.put("small", 500);
    let server = Running::new(serving(&folder.0, 3));
    let mut idle: Vec<Client> = (0..3).map(|_| Client::new(&server, CREDIT)).collect();
    // The ends of their handshakes, which the server waits for.
    idle.iter_mut().for_each(|client| client.linger(Duration::from_millis(50)));
    for _ in 0..5 {
        let mut good = Client::new(&server, CREDIT);
        let stream = good.ask("/small");
        good.go_on(|client| {
            client.events.iter().any(|event| matches!(event, Event::Readable(id) if *id == stream))
        });
        // Its acknowledgement of the response: from then on it has no request in progress.
        good.linger(Duration::from_millis(50));
        idle.push(good);
    }
    let stats = server.end();
    assert_eq!((stats.connections, stats.endpoint.refused), (8, 0));
    assert_eq!(stats.endpoint.clients_gave_way, 5);
    assert_eq!(Limits::of(3).places, Places::of(3));
}
