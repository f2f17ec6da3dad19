//! A server with few handles, each of which it needs only briefly.
#![cfg(target_os = "linux")]

mod hand;

use hand::{Client, Credit, Folder, Running, serving};
use live::{Limits, Recording, ServeOptions};
use quic::Event;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::os::fd::AsRawFd;
use std::sync::Mutex;
use units::Duration;

/// Handles belong to the process, so the tests run one at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// The number of handles of this process.
fn handles() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// While this exists, the process gets no new handle.
struct NoMore(Rlimit);

impl NoMore {
    fn new() -> NoMore {
        let limit = getrlimit(Resource::Nofile);
        // The limit applies to the numbers of handles: all below the first free one are in use.
        let free = std::fs::File::open("/dev/null").unwrap().as_raw_fd() as u64;
        setrlimit(Resource::Nofile, Rlimit { current: Some(free), maximum: limit.maximum }).unwrap();
        assert!(std::fs::File::open("/dev/null").is_err());
        NoMore(limit)
    }
}

impl Drop for NoMore {
    fn drop(&mut self) {
        setrlimit(Resource::Nofile, self.0).unwrap();
    }
}

/// Recording clients does not take a handle for each, and records that could not be written for lack of a
/// handle are written later.
#[test]
fn records_need_no_handle_for_each_client() {
    let _alone = ALONE.lock();
    let folder = Folder::new("recorded");
    let records = Folder::new("records");
    folder.put("large", 300_000);
    let recording = Recording { qlog: Some(records.0.clone()), ..Recording::default() };
    let limits = Limits {
        places: quic::Places { clients_of_source: 100, ..quic::Places::of(100) },
        ..Limits::of(100)
    };
    let server = Running::new(ServeOptions { recording, limits, ..serving(&folder.0, 100) });
    let before = handles();
    let idle = || Client::new(&server, Credit { connection: 1 << 20, stream: 10_000 });
    let mut clients: Vec<Client> = (0..20).map(|_| idle()).collect();
    let busy = &mut clients[0];
    let stream = busy.ask("/large");
    busy.go_on(|client| client.with(|connection, _| connection.stream_stats().received_bytes) >= 10_000);
    // One socket per client, the file, and a record that is being written.
    assert!(handles() <= before + 22, "{} handles for 20 clients", handles() - before);
    let no_more = NoMore::new();
    clients[0].go_on(|client| {
        client.with(|connection, _| connection.discard(stream)).is_ok_and(|read| read.finished)
    });
    drop(no_more);
    for client in &mut clients {
        client.with(|connection, now| connection.close(now, 0x100, ""));
        client.speak();
    }
    std::thread::sleep(std::time::Duration::from_millis(1000));
    assert_eq!(server.end().unrecorded, 0);
    let files: Vec<_> = std::fs::read_dir(&records.0).unwrap().map(|entry| entry.unwrap().path()).collect();
    let mut lengths = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.lines().all(|line| line.starts_with("\u{1e}{") && line.ends_with('}')), "{file:?}");
        assert!(text.contains("connection_closed"), "{file:?}");
        lengths.push(text.len());
    }
    // The writer hands over 32 kB at a time.
    assert!(files.len() == 20 && lengths.iter().any(|length| *length > 100_000), "{lengths:?}");
}

/// A response whose file cannot be reopened for lack of a handle continues as soon as there is one.
#[test]
fn a_file_that_cannot_be_reopened_now_is_reopened_later() {
    const SOME: u64 = 50_000;
    const LENGTH: usize = 100_000;
    let _alone = ALONE.lock();
    let folder = Folder::new("reopened");
    folder.put("large", LENGTH);
    folder.put("small", 100);
    let limits = Limits { files: 1, ..Limits::of(100) };
    let server = Running::new(ServeOptions { limits, ..serving(&folder.0, 100) });
    let credit = Credit { connection: 1 << 20, stream: SOME };
    let (mut slow, mut other) = (Client::new(&server, credit), Client::new(&server, credit));
    let stream = slow.ask("/large");
    slow.go_on(|client| client.with(|connection, _| connection.stream_stats().received_bytes) >= SOME);
    // The large file is closed for this one, which is closed in turn.
    let small = other.ask("/small");
    other.go_on(|client| {
        client.with(|connection, _| connection.discard(small)).is_ok_and(|read| read.finished)
    });
    assert_eq!(server.stats().open_files, 0);
    let no_more = NoMore::new();
    slow.with(|connection, _| connection.discard(stream)).unwrap();
    slow.linger(Duration::from_millis(300));
    assert!(!slow.events.iter().any(|event| matches!(event, Event::Reset { .. })), "{:?}", slow.events);
    drop(no_more);
    slow.go_on(|client| {
        client.with(|connection, _| connection.stream_stats().received_bytes) > LENGTH as u64
    });
}
