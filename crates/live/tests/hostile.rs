//! What a server keeps for clients that ask for much and take nothing. One test alone: it measures its process.
#![cfg(target_os = "linux")]

mod hand;

use hand::{Client, Credit, Folder, Running, serving};
use live::Limits;
use units::{Duration, Size};

/// What each client asks for.
const REQUESTS: usize = 100;
/// The length of the file that they ask for.
const LENGTH: usize = 8 << 20;
/// The clients: more than a server with a handle for each request could have.
const CLIENTS: usize = 20;
/// What the server may keep of files, for all of them together and for each.
const MEMORY: u64 = 10_000_000;
const MEMORY_OF_EACH: u64 = 1_000_000;
/// Files that it may have open.
const FILES: usize = 32;

/// What a client takes of it that has given credit for all.
const SOME: u64 = 200_000;

/// Resident memory of this process in bytes.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

/// The handles that this process has.
fn handles() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Asks for the file many times, takes some of it, no more than comes, and is silent then.
fn ask(server: &Running, credit: Credit) -> Client {
    let mut client = Client::new(server, credit);
    for _ in 0..REQUESTS {
        client.ask("/large");
    }
    let (clock, mut came) = (client.clock, 0);
    let mut since = clock.now();
    client.go_on(|client| {
        let now = client.with(|connection, _| connection.stream_stats().received_bytes);
        if now != came {
            (came, since) = (now, clock.now());
        }
        came > SOME || clock.now() > since + Duration::from_millis(300)
    });
    client
}

/// A client that takes nothing costs a server what it gives credit for, or, where it gives much credit and reads nothing, what the
/// limits say; and it holds no more files open. Others get theirs meanwhile.
#[test]
fn what_nobody_reads_is_not_kept() {
    let folder = Folder::new("hostile");
    folder.put("large", LENGTH);
    folder.put("small", 1000);
    let limits = Limits {
        connections_of_source: 100,
        half_open: 100,
        half_open_of_source: 100,
        memory: Size::from_bytes(MEMORY),
        memory_of_connection: Size::from_bytes(MEMORY_OF_EACH),
        files: FILES,
        ..Limits::of(100)
    };
    let tiny = Credit { connection: 14_000, stream: 100 };
    let huge = Credit { connection: 1 << 40, stream: 1 << 40 };
    for credit in [tiny, huge] {
        let server = Running::new(live::ServeOptions { limits, ..serving(&folder.0, 100) });
        let (before, handles_before) = (resident(), handles());
        let mut clients = Vec::new();
        for number in 1..=CLIENTS {
            let client = ask(&server, credit);
            clients.push(client);
            if number == 1 || number == CLIENTS {
                println!("{number} clients: {:.1} MB", (resident() - before) as f64 / 1e6);
            }
        }
        let grown = resident() - before;
        // Each client has a handle of its own, and lives in this process.
        assert!(handles() <= handles_before + CLIENTS + FILES, "{} handles", handles());
        // Beside what is kept of files: a connection at each end, with its requests.
        let most = MEMORY + CLIENTS as u64 * 1_000_000;
        assert!(grown < most, "{grown} bytes");
        let mut honest = Client::new(&server, huge);
        let stream = honest.ask("/small");
        let mut whole = false;
        honest.go_on(|client| {
            whole |= client.with(|connection, _| connection.discard(stream)).is_ok_and(|read| read.finished);
            whole
        });
        drop(clients);
        let stats = server.end();
        assert!(stats.kept.1 <= MEMORY && stats.open_files <= FILES, "{stats:?}");
        println!("kept at most {:.1} MB", stats.kept.1 as f64 / 1e6);
        // Of little credit there is little to keep; of much there would be more than there may be.
        assert_eq!(stats.kept.1 > MEMORY / 2, credit.stream == huge.stream);
        assert_eq!(stats.endpoint.refused, 0);
    }
}
