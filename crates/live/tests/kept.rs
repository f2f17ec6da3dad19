//! What a server counts as kept for its clients: data that they have not acknowledged, and nothing else.
#![cfg(target_os = "linux")]

mod hand;

use hand::{Client, Credit, Folder, Running, serving};
use live::Limits;
use units::{Duration, Size};

/// The credit of a paused client: less than the length of the file.
const SOME: u64 = 2_000_000;
/// The maximum that the server may keep for all clients.
const MEMORY: u64 = 8_000_000;

/// A server with this limit, and clients that acknowledge everything and read nothing, like a paused player.
fn paused(name: &str, clients: usize) -> (Folder, Running, Vec<Client>) {
    let folder = Folder::new(name);
    folder.put("large", 8_000_000);
    let limits = Limits {
        memory: Size::from_bytes(MEMORY),
        memory_of_connection: Size::from_bytes(MEMORY / 2),
        ..serving(&folder.0, 100).limits
    };
    let server = Running::new(live::ServeOptions { limits, ..serving(&folder.0, 100) });
    let pause = |_| {
        let mut client = Client::new(&server, Credit { connection: 1 << 30, stream: SOME });
        client.ask("/large");
        client.go_on(|client| client.with(|connection, _| connection.stream_stats().received_bytes >= SOME));
        client.linger(Duration::from_millis(200));
        client
    };
    let clients = (0..clients).map(pause).collect();
    (folder, server, clients)
}

/// Acknowledged data is not kept, even if nothing happens on the connection any more.
#[test]
fn acknowledged_data_is_not_counted() {
    let (_folder, server, _clients) = paused("counted", 1);
    assert_eq!(server.stats().kept.0, 0);
}

/// The memory of clients that have acknowledged their data is available to others.
#[test]
fn memory_of_acknowledged_data_is_available_to_others() {
    let (_folder, server, _clients) = paused("others", 3);
    // A client that acknowledges nothing may have half of the shared memory. It requests so much that it waits
    // for memory.
    let mut silent = Client::new(&server, Credit { connection: 1 << 40, stream: 1 << 40 });
    for _ in 0..100 {
        silent.ask("/large");
    }
    silent.speak();
    std::thread::sleep(std::time::Duration::from_millis(200));
    let kept = server.stats().kept.0;
    assert!((MEMORY / 5..MEMORY / 2).contains(&kept), "{kept} bytes");
}

/// With less memory, a response would stall without any explanation.
#[test]
fn a_server_without_enough_memory_does_not_start() {
    let folder = Folder::new("none");
    for (memory, of_each) in [(0, 1 << 20), (100 * 4096 - 1, 1 << 20), (1 << 30, 0)] {
        let (memory, memory_of_connection) = (Size::from_bytes(memory), Size::from_bytes(of_each));
        let limits = Limits { memory, memory_of_connection, ..Limits::of(100) };
        let error = live::Server::bind(&live::ServeOptions { limits, ..serving(&folder.0, 100) }).err();
        assert!(error.is_some_and(|error| error.to_string().contains("expected at least 4")), "{memory}");
    }
}
