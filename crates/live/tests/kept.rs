//! What a server takes to be kept for its clients: what they have not acknowledged, and nothing else.
#![cfg(target_os = "linux")]

mod hand;

use hand::{Client, Credit, Folder, Running, serving};
use live::Limits;
use units::{Duration, Size};

/// The credit of a client that pauses: less than the file has.
const SOME: u64 = 2_000_000;
/// What the server may keep for all.
const MEMORY: u64 = 8_000_000;

/// A server that keeps so much, and clients that acknowledge all that comes and read none of it, as a player does that pauses.
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

/// What is acknowledged is not kept, though nothing happens on the connection any more.
#[test]
fn what_clients_have_acknowledged_is_not_counted() {
    let (_folder, server, _clients) = paused("counted", 1);
    assert_eq!(server.stats().kept.0, 0);
}

/// Others get the memory of clients that have acknowledged what they have.
#[test]
fn what_clients_have_acknowledged_is_there_for_others() {
    let (_folder, server, _clients) = paused("others", 3);
    // One that acknowledges nothing may have half of what is shared. It asks for so much that it waits for memory.
    let mut silent = Client::new(&server, Credit { connection: 1 << 40, stream: 1 << 40 });
    for _ in 0..100 {
        silent.ask("/large");
    }
    silent.speak();
    std::thread::sleep(std::time::Duration::from_millis(200));
    let kept = server.stats().kept.0;
    assert!((MEMORY / 5..MEMORY / 2).contains(&kept), "{kept} bytes");
}

/// With less a response would stand still, and nobody be told why.
#[test]
fn a_server_without_memory_is_not_opened() {
    let folder = Folder::new("none");
    for (memory, of_each) in [(0, 1 << 20), (100 * 4096 - 1, 1 << 20), (1 << 30, 0)] {
        let (memory, memory_of_connection) = (Size::from_bytes(memory), Size::from_bytes(of_each));
        let limits = Limits { memory, memory_of_connection, ..Limits::of(100) };
        let error = live::Server::bind(&live::ServeOptions { limits, ..serving(&folder.0, 100) }).err();
        assert!(error.is_some_and(|error| error.to_string().contains("expected at least 4")), "{memory}");
    }
}
