//! What a server keeps for clients that ask for much and take nothing. Each kind of client has a process of its own: its memory is
//! measured.
#![cfg(target_os = "linux")]

mod hand;

use hand::{Client, Credit, Folder, Running, serving};
use live::Limits;
use std::process::Command;
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

/// The most bytes of a response that are no content: its head.
const HEAD: u64 = 200;
/// The variable of the environment that names the clients of a process.
const KIND: &str = "QUICLAB_HOSTILE";

/// What clients give credit for.
struct Kind {
    name: &'static str,
    credit: Credit,
    /// The most that is kept for one of them. `None`: what the limits say, and more than half of that.
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
        // What one stream may have ahead of the connection's credit, beside it.
        kept: Some(14_000 + 16_384 + REQUESTS as u64 * HEAD),
    },
    Kind { name: "much", credit: MUCH, kept: None },
];

const MUCH: Credit = Credit { connection: 1 << 40, stream: 1 << 40 };

/// Resident memory of this process in bytes: proc_pid_status(5) tells kB of 1024 bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
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
        connections_of_source: 100,
        half_open: 100,
        half_open_of_source: 100,
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
    // Each client has a handle of its own, and lives in this process.
    assert!(handles() <= handles_before + CLIENTS + FILES, "{} handles", handles());
    // Beside what is kept of files: a connection at each end, with its requests.
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
