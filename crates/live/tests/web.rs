//! `Server` and `fetch` over loopback.
#![cfg(target_os = "linux")]

use live::{
    Connections, FetchOptions, FetchReport, Limits, LiveError, Recording, ServeOptions, ServeStats, Server,
    Settings, Url, fetch,
};
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use tls::{Identity, Trust};
use units::Duration;

const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The folder of a test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("quiclab-live-{}-{name}", std::process::id()));
        fs::create_dir_all(path.join("site")).unwrap();
        Folder(path)
    }
    fn site(&self) -> PathBuf {
        self.0.join("site")
    }
    fn out(&self) -> PathBuf {
        self.0.join("out")
    }
    /// Writes a file to be served.
    fn put(&self, name: &str, length: usize) -> Vec<u8> {
        let bytes: Vec<u8> = (0..length).map(|at| (at * 31 + at / 251) as u8).collect();
        fs::write(self.site().join(name), &bytes).unwrap();
        bytes
    }
    /// The number of files that the client has left.
    fn left(&self) -> usize {
        fs::read_dir(self.out()).unwrap().count()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn identity() -> Identity {
    Identity::self_signed(&NAMES.map(str::to_owned), live::Clock::start().date_of_zero()).unwrap()
}

fn settings(sets: &[&str]) -> Settings {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Settings::read(&sets).unwrap()
}

fn serving(root: &Path, identity: Identity, sets: &[&str]) -> ServeOptions {
    ServeOptions {
        root: root.to_owned(),
        listen: vec!["127.0.0.1:0".parse().unwrap(), "[::1]:0".parse().unwrap()],
        preferred: None,
        identity,
        settings: settings(sets),
        protocols: vec!["hq-interop".to_owned()],
        hidden: false,
        limits: Limits::of(100),
        known_paths: None,
        recording: Recording::default(),
    }
}

/// A server in a thread of its own.
struct Running {
    addresses: Vec<SocketAddr>,
    fingerprint: [u8; 32],
    stop: Arc<AtomicBool>,
    thread: JoinHandle<ServeStats>,
    complaints: Arc<Mutex<Vec<String>>>,
}

impl Running {
    fn new(options: ServeOptions) -> Running {
        let fingerprint = options.identity.fingerprint();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let heard = complaints.clone();
        let (told, addresses) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut server = Server::bind(&options).unwrap();
            told.send(server.addresses()).unwrap();
            while !stopped.load(Ordering::Relaxed) {
                server.run_for(Duration::from_millis(20)).unwrap();
                heard.lock().unwrap().extend(server.take_complaint().map(|error| error.to_string()));
            }
            server.shut_down(Duration::from_secs(2)).unwrap()
        });
        Running { addresses: addresses.recv().unwrap(), fingerprint, stop, thread, complaints }
    }
    fn url(&self, at: usize, path: &str) -> Url {
        Url::parse(&format!("https://{}/{path}", self.addresses[at])).unwrap()
    }
    fn end(self) -> ServeStats {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

fn fetching(urls: Vec<Url>, out: PathBuf, trust: Trust) -> FetchOptions {
    FetchOptions {
        urls,
        out,
        trust,
        settings: settings(&[]),
        protocols: vec!["hq-interop".to_owned()],
        ipv6: None,
        concurrency: 100,
        urgencies: Vec::new(),
        incremental: false,
        connections: Connections::One,
        migrate_after: None,
        timeout: None,
        early_data: false,
        connect_timeout: Duration::from_secs(10),
        stall_timeout: Duration::from_secs(30),
        max_size: None,
        recording: Recording::default(),
    }
}

fn done(options: &FetchOptions) -> FetchReport {
    let report = fetch(options, &mut |_| true).unwrap();
    assert!(report.is_complete(), "{report:?}");
    report
}

/// RFC 9114 over real sockets: the same files arrive, over the protocol that both prefer.
#[test]
fn files_come_whole_over_http3() {
    let folder = Folder::new("http3");
    let mut expected = vec![("large".to_owned(), folder.put("large", 1_000_000))];
    for number in 0..100 {
        let name = format!("small-{number}");
        expected.push((name.clone(), folder.put(&name, number)));
    }
    let protocols = vec!["h3".to_owned(), "hq-interop".to_owned()];
    let serving = serving(&folder.site(), identity(), &[]);
    let server = Running::new(ServeOptions { protocols: protocols.clone(), ..serving });
    let urls = expected.iter().map(|(name, _)| server.url(0, name)).collect();
    let out = folder.0.join("out");
    let fetching = fetching(urls, out.clone(), Trust::Pin(server.fingerprint));
    let report = done(&FetchOptions { protocols, ..fetching });
    assert_eq!((report.connections.len(), report.connections[0].protocol.as_str()), (1, "h3"));
    for (name, bytes) in &expected {
        assert!(fs::read(out.join(name)).unwrap() == *bytes, "{name}");
    }
    server.end();
}

/// RFC 9218 section 10: more urgent files come first, even if they were requested last. Without urgencies,
/// files come in the order of their requests.
#[test]
fn urgent_files_come_first_over_http3() {
    let folder = Folder::new("urgent");
    let names = ["first", "second", "third"];
    for name in names {
        folder.put(name, 3_000_000);
    }
    let protocols = vec!["h3".to_owned()];
    let serving = serving(&folder.site(), identity(), &[]);
    let server = Running::new(ServeOptions { protocols: protocols.clone(), ..serving });
    for (round, (urgencies, expected)) in
        [(vec![6, 1, 0], ["third", "second", "first"]), (vec![], names)].into_iter().enumerate()
    {
        let urls = names.map(|name| server.url(0, name)).to_vec();
        let out = folder.0.join(format!("out-{round}"));
        let fetching = fetching(urls, out, Trust::Pin(server.fingerprint));
        let report = done(&FetchOptions { protocols: protocols.clone(), urgencies, ..fetching });
        let mut came: Vec<_> = report.urls.iter().map(|url| (url.fetched.finished_at, &url.url)).collect();
        came.sort();
        for ((_, url), expected) in came.into_iter().zip(expected) {
            assert!(url.ends_with(expected), "{url} where {expected} should be");
        }
    }
    server.end();
}

/// RFC 9218 section 4.2: incremental files arrive side by side.
#[test]
fn incremental_files_come_in_turns_over_http3() {
    let folder = Folder::new("incremental");
    let names = ["first", "second"];
    for name in names {
        folder.put(name, 3_000_000);
    }
    let protocols = vec!["h3".to_owned()];
    let serving = serving(&folder.site(), identity(), &[]);
    let server = Running::new(ServeOptions { protocols: protocols.clone(), ..serving });
    for incremental in [false, true] {
        let urls = names.map(|name| server.url(0, name)).to_vec();
        let out = folder.0.join(format!("out-{incremental}"));
        let fetching = fetching(urls, out, Trust::Pin(server.fingerprint));
        let report = done(&FetchOptions { protocols: protocols.clone(), incremental, ..fetching });
        let [first, second] = [0, 1].map(|at| &report.urls[at].fetched);
        let side_by_side = second.first_at < first.finished_at;
        assert_eq!(side_by_side, incremental, "{first:?} {second:?}");
    }
    server.end();
}

#[test]
fn files_come_whole_over_ipv4_and_ipv6() {
    let folder = Folder::new("whole");
    let mut expected = vec![("large".to_owned(), folder.put("large", 5_000_000))];
    for number in 0..200 {
        let name = format!("small-{number}");
        expected.push((name.clone(), folder.put(&name, number)));
    }
    let server = Running::new(serving(&folder.site(), identity(), &[]));
    for at in 0..2 {
        let urls = expected.iter().map(|(name, _)| server.url(at, name)).collect();
        let out = folder.0.join(format!("out-{at}"));
        let report = done(&fetching(urls, out.clone(), Trust::Pin(server.fingerprint)));
        assert_eq!((report.connections.len(), report.connections[0].protocol.as_str()), (1, "hq-interop"));
        for (name, bytes) in &expected {
            assert!(fs::read(out.join(name)).unwrap() == *bytes, "{name}");
        }
        assert_eq!(fs::read_dir(&out).unwrap().count(), expected.len(), "nothing else is left");
    }
    let stats = server.end();
    assert_eq!((stats.connections, stats.endpoint.refused), (2, 0));
    assert!(stats.sent.0 > 2 * 5_000_000 / 1472);
}

#[test]
fn an_untrusted_server_gets_no_request() {
    let folder = Folder::new("trust");
    let bytes = folder.put("file", 1000);
    let shown = identity();
    let (pem, shown_key) = (shown.to_pem(), shown.key_fingerprint());
    let server = Running::new(serving(&folder.site(), shown, &[]));
    let urls = vec![server.url(0, "file")];
    for (is_pin, wrong) in
        [(true, Trust::Pin([7; 32])), (false, Trust::from_pem(identity().to_pem().as_bytes()).unwrap())]
    {
        let failed = fetch(&fetching(urls.clone(), folder.out(), wrong), &mut |_| true);
        let error = failed.unwrap_err().to_string();
        assert!(
            error.contains("no connection") && error.contains(&server.addresses[0].to_string()),
            "{error}"
        );
        // What would be right, in the forms in which pins are given.
        let hexadecimal = |hash: [u8; 32]| hash.map(|byte| format!("{byte:02x}")).concat();
        let pins = [hexadecimal(server.fingerprint), tls::base64(&shown_key)];
        let mismatch = error.contains("pin mismatch") && pins.iter().all(|pin| error.contains(pin));
        assert_eq!(mismatch, is_pin, "{error}");
        assert_eq!(folder.left(), 0);
    }
    for right in [Trust::Anyone, Trust::Pin(server.fingerprint), Trust::from_pem(pem.as_bytes()).unwrap()] {
        done(&fetching(urls.clone(), folder.out(), right));
        assert!(fs::read(folder.out().join("file")).unwrap() == bytes);
        fs::remove_file(folder.out().join("file")).unwrap();
    }
    server.end();
}

#[test]
fn a_missing_file_is_reported_and_leaves_nothing() {
    let folder = Folder::new("missing");
    folder.put("file", 1000);
    fs::write(folder.0.join("secret"), "x").unwrap();
    std::os::unix::fs::symlink(folder.0.join("secret"), folder.site().join("link")).unwrap();
    let server = Running::new(serving(&folder.site(), identity(), &[]));
    let urls = vec![server.url(0, "none"), server.url(0, "file"), server.url(0, "link")];
    let report = fetch(&fetching(urls, folder.out(), Trust::Anyone), &mut |_| true).unwrap();
    assert!(!report.is_complete());
    let there: Vec<bool> = report.urls.iter().map(|url| url.file.is_some()).collect();
    assert_eq!(there, [false, true, false]);
    assert_eq!(folder.left(), 1);
    server.end();
}

#[test]
fn two_urls_for_one_file_are_refused_before_the_fetch() {
    let folder = Folder::new("same");
    let urls = ["https://a.example/x", "https://b.example/y/x"].map(|url| Url::parse(url).unwrap());
    let error = fetch(&fetching(urls.into(), folder.out(), Trust::Anyone), &mut |_| true).unwrap_err();
    assert!(matches!(error, LiveError::SameFile(..)), "{error}");
}

#[test]
fn a_port_without_a_listener_is_reported_at_once() {
    let folder = Folder::new("nobody");
    let free = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = Url::parse(&format!("https://{free}/")).unwrap();
    let error = fetch(&fetching(vec![url], folder.out(), Trust::Anyone), &mut |_| true).unwrap_err();
    assert!(error.to_string().contains("nothing listens there"), "{error}");
}

#[test]
fn an_address_in_use_and_a_missing_folder_are_reported() {
    let folder = Folder::new("in-use");
    let taken = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let options = ServeOptions { listen: vec![address], ..serving(&folder.site(), identity(), &[]) };
    assert!(matches!(Server::bind(&options), Err(LiveError::Bind(at, _)) if at == address));
    let options = serving(&folder.0.join("none"), identity(), &[]);
    assert!(matches!(Server::bind(&options), Err(LiveError::File(..))));
}

#[test]
fn each_file_can_have_a_connection_of_its_own() {
    let folder = Folder::new("each");
    let names = ["one", "two", "three"];
    names.iter().for_each(|name| drop(folder.put(name, 10_000)));
    let server = Running::new(serving(&folder.site(), identity(), &["tls.tickets=2"]));
    let urls = names.iter().map(|name| server.url(0, name)).collect();
    let options = fetching(urls, folder.out(), Trust::Pin(server.fingerprint));
    let report = done(&FetchOptions { connections: Connections::Each, ..options });
    let resumed: Vec<bool> = report.connections.iter().map(|connection| connection.resumed).collect();
    assert_eq!(resumed, [false; 3]);
    assert_eq!(server.end().connections, 3);
}

/// Half a second per megabyte.
const SLOW: &str = r#"transport.controller={ type = "fixed", window = "100 kB", rate = "16 Mbit/s" }"#;

/// The client's qlog of a fetch of this size.
fn slow_fetch(name: &str, size: usize, moves: impl FnOnce(&mut ServeOptions, &mut FetchOptions)) -> String {
    let folder = Folder::new(name);
    drop(folder.put("file", size));
    let qlog = folder.0.join("qlog");
    let mut serving = serving(&folder.site(), identity(), &[SLOW]);
    let mut fetching = fetching(Vec::new(), folder.out(), Trust::Anyone);
    moves(&mut serving, &mut fetching);
    fetching.recording.qlog = Some(qlog.clone());
    let server = Running::new(serving);
    assert_eq!(server.addresses.len(), 2);
    fetching.urls = vec![server.url(0, "file")];
    done(&fetching);
    server.end();
    fs::read_to_string(qlog.join("client-1.sqlog")).unwrap()
}

#[test]
fn a_client_moves_to_another_port_or_to_the_preferred_address() {
    let stays = slow_fetch("stays", 1_000_000, |_, _| {});
    // A challenge that is lost, or overtaken by later packets, is repeated after a second.
    let moves = slow_fetch("moves", 5_000_000, |_, fetching| {
        fetching.migrate_after = Some(Duration::from_millis(50));
    });
    let follows = slow_fetch("follows", 5_000_000, |serving, _| {
        serving.preferred = Some("127.0.0.1:0".parse().unwrap());
    });
    let has_moved = |log: &str| log.contains("migration_complete");
    assert_eq!([&stays, &moves, &follows].map(|log| has_moved(log)), [false, true, true]);
}

#[test]
fn a_fetch_ends_at_its_timeout() {
    let folder = Folder::new("over");
    drop(folder.put("file", 10_000_000));
    let server = Running::new(serving(&folder.site(), identity(), &[SLOW]));
    let mut options = fetching(vec![server.url(0, "file")], folder.out(), Trust::Pin(server.fingerprint));
    options.timeout = Some(Duration::from_millis(200));
    let report = fetch(&options, &mut |_| true).unwrap();
    assert!(!report.is_complete() && !report.interrupted, "{report:?}");
    let problem = report.urls[0].problem.clone().unwrap_or_default();
    assert!(problem.contains("not finished within 200 ms"), "{problem}");
    server.end();
}

#[test]
fn a_second_connection_resumes_the_session_with_early_data() {
    let folder = Folder::new("again");
    let names = ["one", "two", "three"];
    names.iter().for_each(|name| drop(folder.put(name, 10_000)));
    let sets = ["tls.tickets=2", "tls.early_data=true"];
    let server = Running::new(serving(&folder.site(), identity(), &sets));
    let urls = names.iter().map(|name| server.url(0, name)).collect();
    let options = fetching(urls, folder.out(), Trust::Pin(server.fingerprint));
    let report = done(&FetchOptions { connections: Connections::Resumed, early_data: true, ..options });
    let resumed: Vec<bool> = report.connections.iter().map(|connection| connection.resumed).collect();
    assert_eq!(resumed, [false, true]);
    assert!(report.urls[1].fetched.early, "asked before the handshake was complete");
    server.end();
}

#[test]
fn a_server_that_is_full_asks_for_addresses_and_refuses() {
    let folder = Folder::new("full");
    folder.put("file", 100);
    let server = Running::new(serving(&folder.site(), identity(), &["transport.retry=always"]));
    done(&fetching(vec![server.url(0, "file")], folder.out(), Trust::Anyone));
    let stats = server.end();
    assert_eq!((stats.endpoint.retries_sent, stats.connections), (1, 1));
    let limits = Limits { places: quic::Places { clients: 0, ..quic::Places::of(1) }, ..Limits::of(1) };
    let options = ServeOptions { limits, ..serving(&folder.site(), identity(), &[]) };
    let server = Running::new(options);
    let failed = fetch(&fetching(vec![server.url(0, "file")], folder.out(), Trust::Anyone), &mut |_| true);
    let error = failed.unwrap_err().to_string();
    assert!(error.contains("CONNECTION_REFUSED"), "{error}");
    assert!(server.end().endpoint.refused >= 1);
}

#[test]
fn the_progress_callback_can_stop_a_fetch_and_nothing_is_left() {
    let folder = Folder::new("stop");
    folder.put("file", 50_000_000);
    let server = Running::new(serving(&folder.site(), identity(), &[]));
    let options = fetching(vec![server.url(0, "file")], folder.out(), Trust::Anyone);
    let report = fetch(&options, &mut |progress| progress.bytes == 0).unwrap();
    assert!(report.interrupted && !report.is_complete());
    assert_eq!(folder.left(), 0);
    server.end();
}

#[test]
fn a_server_that_ends_leaves_whole_files_or_none() {
    let folder = Folder::new("ends");
    folder.put("file", 50_000_000);
    let server = Running::new(serving(&folder.site(), identity(), &[]));
    let options = fetching(vec![server.url(0, "file")], folder.out(), Trust::Anyone);
    let stop = server.stop.clone();
    let mut watch = |progress: &live::FetchProgress| {
        stop.store(progress.bytes > 0, Ordering::Relaxed);
        true
    };
    // The fetch was either completed within the grace period or aborted.
    let report = fetch(&options, &mut watch).unwrap();
    assert_eq!(folder.left(), usize::from(report.is_complete()));
    server.end();
}

#[test]
fn secrets_and_qlog_are_written() {
    let folder = Folder::new("records");
    folder.put("file", 100);
    let mut options = serving(&folder.site(), identity(), &[]);
    options.recording = Recording { key_log: None, qlog: Some(folder.0.join("qlog")) };
    let server = Running::new(options);
    let mut options = fetching(vec![server.url(0, "file")], folder.out(), Trust::Anyone);
    options.recording = Recording { key_log: Some(folder.0.join("keys")), qlog: Some(folder.0.join("qlog")) };
    // A file that others can read is made private.
    fs::write(folder.0.join("keys"), "").unwrap();
    fs::set_permissions(folder.0.join("keys"), fs::Permissions::from_mode(0o644)).unwrap();
    done(&options);
    let mode = |name: &str| fs::metadata(folder.0.join(name)).unwrap().permissions().mode() & 0o777;
    options.recording.key_log = Some(folder.0.join("new"));
    done(&options);
    assert_eq!((mode("keys"), mode("new")), (0o600, 0o600));
    server.end();
    let keys = fs::read_to_string(folder.0.join("keys")).unwrap();
    assert!(keys.contains("CLIENT_TRAFFIC_SECRET_0 "));
    assert!(keys.lines().all(|line| line.split(' ').count() == 3));
    assert_eq!(fs::read_dir(folder.0.join("qlog")).unwrap().count(), 3);
    for name in ["client-1.sqlog", "server-1.sqlog", "server-2.sqlog"] {
        let text = fs::read_to_string(folder.0.join("qlog").join(name)).unwrap();
        assert!(text.contains("packet_sent") && text.ends_with('\n'), "{name}");
    }
}

/// A full disk and a missing folder: the server reports the error once, counts it, and continues.
#[test]
fn an_unwritable_record_does_not_stop_the_server() {
    let folder = Folder::new("unrecorded");
    let bytes = folder.put("file", 200_000);
    let qlog = folder.0.join("qlog");
    fs::create_dir_all(&qlog).unwrap();
    symlink("/dev/full", qlog.join("server-1.sqlog")).unwrap();
    let mut options = serving(&folder.site(), identity(), &[]);
    options.recording = Recording { key_log: Some("/dev/full".into()), qlog: Some(qlog.clone()) };
    let server = Running::new(options);
    for round in 0..3 {
        if round == 1 {
            fs::remove_dir_all(&qlog).unwrap();
        }
        done(&fetching(vec![server.url(0, "file")], folder.out(), Trust::Anyone));
        assert!(fs::read(folder.out().join("file")).unwrap() == bytes);
    }
    let complaints = server.complaints.clone();
    assert_eq!(server.end().unrecorded, 3);
    let complaints = complaints.lock().unwrap();
    assert!(complaints.len() == 1 && complaints[0].contains("No space left"), "{complaints:?}");
}
