//! What a server keeps for clients that request much and read nothing. Each kind of client has its own process,
//! since the memory of the process is measured.
#![cfg(target_os = "linux")]

mod hand;

use hand::{Client, Credit, Folder, Running, serving};
use live::Limits;
use std::process::Command;
use units::{Duration, Size};

/// The number of requests of each client.
const REQUESTS: usize = 100;
/// The length of the requested file.
const LENGTH: usize = 8 << 20;
/// The number of clients: a server with a handle for each request could not have so many.
const CLIENTS: usize = 20;
/// The limits on file contents that the server keeps, for all clients together and for each.
const MEMORY: u64 = 10_000_000;
const MEMORY_OF_EACH: u64 = 1_000_000;
/// The number of files that it may have open.
const FILES: usize = 32;

/// The number of bytes that a client with unlimited credit receives before it stops.
const SOME: u64 = 200_000;

/// The maximum number of bytes of a response besides its content: its head.
const HEAD: u64 = 200;
/// The environment variable with the kind of the clients in a process.
const KIND: &str = "QUICLAB_HOSTILE";

/// A kind of client, by the credit that it gives.
struct Kind {
    name: &'static str,
    credit: Credit,
    /// The maximum number of bytes kept for one client. `None`: bounded by the server's limits only, and more
    /// than half of them is used.
    kept: Option<u64>,
}

const KINDS: &[Kind] = &[
    Kind {
        name: "little for each stream",
        credit: Credit { connection: 14_000, stream: 100 },
        kept: Some(14_000 + REQUESTS as u64 * HEAD),
    },
    Kind {
        name: "little for all streams",
        credit: Credit { connection: 14_000, stream: 1 << 40 },
        // In addition, one stream may be 16,384 bytes ahead of the connection's credit.
        kept: Some(14_000 + 16_384 + REQUESTS as u64 * HEAD),
    },
    Kind { name: "much", credit: MUCH, kept: None },
];

const MUCH: Credit = Credit { connection: 1 << 40, stream: 1 << 40 };

/// The resident memory of this process in bytes: in proc_pid_status(5), a kB has 1024 bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// The number of handles of this process.
fn handles() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Requests the file many times, receives some of it or as much as arrives, and is then silent.
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

/// A client that reads nothing costs a server as much memory as it gives credit, or, with much credit, as much
/// as the server's limits permit; and the server has no more files open. Other clients still get their files.
#[test]
fn what_nobody_reads_is_not_kept() {
    if let Ok(name) = std::env::var(KIND) {
        return serve_these(KINDS.iter().find(|kind| kind.name == name).unwrap());
    }
    for kind in KINDS {
        let mut again = Command::new(std::env::current_exe().unwrap());
        let done = again
            .args(["what_nobody_reads_is_not_kept", "--nocapture"])
            .env(KIND, kind.name)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&done.stdout);
        told.lines().filter(|line| line.starts_with(kind.name)).for_each(|line| println!("{line}"));
        assert!(done.status.success(), "{told}{}", String::from_utf8_lossy(&done.stderr));
    }
}

fn serve_these(kind: &Kind) {
    let folder = Folder::new("hostile");
    folder.put("large", LENGTH);
    folder.put("small", 1000);
    let limits = Limits {
        places: quic::Places { clients_of_source: 100, ..quic::Places::of(100) },
        memory: Size::from_bytes(MEMORY),
        memory_of_connection: Size::from_bytes(MEMORY_OF_EACH),
        files: FILES,
        ..Limits::of(100)
    };
    let server = Running::new(live::ServeOptions { limits, ..serving(&folder.0, 100) });
    let (before, handles_before) = (resident(), handles());
    let mut clients = Vec::new();
    for number in 1..=CLIENTS {
        clients.push(ask(&server, kind.credit));
        if number == 1 || number == CLIENTS {
            let grown = resident().saturating_sub(before);
            println!("{}: {number} clients: {:.1} MB", kind.name, grown as f64 / 1e6);
        }
    }
    let grown = resident().saturating_sub(before);
    // Each client is in this process and has a handle of its own.
    assert!(handles() <= handles_before + CLIENTS + FILES, "{} handles", handles());
    // Besides the kept file contents, each client has a connection at each end, with its requests.
    let kept = kind.kept.map_or(MEMORY, |kept| CLIENTS as u64 * kept);
    assert!(grown < kept + CLIENTS as u64 * 1_000_000, "{grown} bytes");
    let mut honest = Client::new(&server, MUCH);
    let stream = honest.ask("/small");
    let mut whole = false;
    honest.go_on(|client| {
        whole |= client.with(|connection, _| connection.discard(stream)).is_ok_and(|read| read.finished);
        whole
    });
    drop(clients);
    let stats = server.end();
    println!("{}: kept at most {:.3} MB", kind.name, stats.kept.1 as f64 / 1e6);
    assert!(stats.kept.1 <= kept && stats.open_files <= FILES, "{stats:?}");
    assert!(kind.kept.is_some() || stats.kept.1 > MEMORY / 2, "{stats:?}");
    assert_eq!(stats.endpoint.refused, 0);
}
