//! A server on a real socket, and a client that tests control frame by frame.
#![allow(dead_code, unreachable_pub, reason = "not every test uses all of it")]

use http::frame;
use http::qpack::{self, Field};
use live::{Clock, Limits, Recording, ServeOptions, ServeStats, Server, Settings};
use quic::{Config, Connection, Datagram, Endpoint, EndpointOptions, Event, Handle, Opening};
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use tls::{Context, Identity, Trust};
use units::parameter::Value;
use units::{Duration, Size, Time};
use wire::{Direction, Ecn, Side, StreamId};

/// The client's control stream.
pub const CONTROL: StreamId = StreamId::new(Side::Client, Direction::Unidirectional, 0);
/// The number of bytes with which it begins.
pub const PREFACE: u64 = 3;

/// The folder of a test, removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("quiclab-hand-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
    /// Creates a file of this length in it, of equal bytes.
    pub fn put(&self, name: &str, length: usize) {
        std::fs::write(self.0.join(name), vec![7; length]).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An HTTP/3 server for this folder, with room for this number of clients.
pub fn serving(root: &Path, max_connections: usize) -> ServeOptions {
    ServeOptions {
        root: root.to_owned(),
        listen: vec!["127.0.0.1:0".parse().unwrap()],
        preferred: None,
        identity: Identity::self_signed(&["127.0.0.1".to_owned()], Clock::start().date_of_zero()).unwrap(),
        settings: Settings::of_server(&[]).unwrap(),
        protocols: vec!["h3".to_owned()],
        hidden: false,
        limits: Limits::of(max_connections),
        known_paths: None,
        recording: Recording::default(),
    }
}

/// A server in a thread of its own.
pub struct Running {
    pub address: SocketAddr,
    fingerprint: [u8; 32],
    stop: Arc<AtomicBool>,
    /// Requests its statistics, and receives them.
    stats: (Sender<()>, Receiver<ServeStats>),
    thread: Option<JoinHandle<ServeStats>>,
}

impl Running {
    pub fn new(options: ServeOptions) -> Running {
        let fingerprint = options.identity.fingerprint();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let (wanted, asked) = channel();
        let (told_stats, stats) = channel();
        let (told, addresses) = channel();
        let thread = std::thread::spawn(move || {
            let mut server = Server::bind(&options).unwrap();
            told.send(server.addresses()[0]).unwrap();
            while !stopped.load(Ordering::Relaxed) {
                server.run_for(Duration::from_millis(20)).unwrap();
                if asked.try_recv().is_ok() {
                    told_stats.send(server.stats()).unwrap();
                }
            }
            server.stats()
        });
        Running {
            address: addresses.recv().unwrap(),
            fingerprint,
            stop,
            stats: (wanted, stats),
            thread: Some(thread),
        }
    }
    /// The statistics so far.
    pub fn stats(&self) -> ServeStats {
        self.stats.0.send(()).unwrap();
        self.stats.1.recv().unwrap()
    }
    /// Stops it immediately.
    pub fn end(mut self) -> ServeStats {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// The initial credit that a client gives: for the connection, and for each stream that it opens.
#[derive(Clone, Copy)]
pub struct Credit {
    pub connection: u64,
    pub stream: u64,
}

/// A client that sends only what a test tells it to.
pub struct Client {
    pub clock: Clock,
    socket: UdpSocket,
    local: SocketAddr,
    endpoint: Endpoint,
    handle: Handle,
    pub events: Vec<Event>,
}

impl Client {
    /// Connects, and opens its control stream.
    pub fn new(server: &Running, credit: Credit) -> Client {
        let clock = Clock::start();
        let trust = Trust::Pin(server.fingerprint);
        let tls = Context::real(&tls::Options::default(), &[b"h3"], &trust, None, clock.date_of_zero());
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(std::time::Duration::from_millis(2))).unwrap();
        let local = socket.local_addr().unwrap();
        let size = |bytes| Value::Size(Size::from_bytes(bytes));
        let config = Config::with(&[
            ("initial_max_data", size(credit.connection)),
            ("initial_max_stream_data_bidi_local", size(credit.stream)),
        ])
        .unwrap();
        let options = EndpointOptions::new(local, tls.unwrap());
        let mut endpoint = Endpoint::new(options, random::Generator::new(1, "client"));
        let opening = Opening::new(server.address, Arc::new(config)).to_host("127.0.0.1");
        let handle = endpoint.connect(clock.now(), opening).unwrap();
        let mut client = Client { clock, socket, local, endpoint, handle, events: Vec::new() };
        client.go_on(|client| client.events.contains(&Event::Connected));
        let control = client.with(|connection, _| connection.open(Direction::Unidirectional)).unwrap();
        assert_eq!(control, CONTROL);
        let mut bytes = vec![0];
        frame::encode(&mut bytes, frame::SETTINGS, &[]);
        client.send(control, &bytes);
        client
    }

    pub fn with<T>(&mut self, act: impl FnOnce(&mut Connection, Time) -> T) -> T {
        let now = self.clock.now();
        act(self.endpoint.get_mut(self.handle).expect("the connection is gone"), now)
    }

    pub fn send(&mut self, stream: StreamId, bytes: &[u8]) {
        let taken = self.with(|connection, now| connection.write(now, stream, quic::Data::Bytes(bytes)));
        assert_eq!(taken, Ok(bytes.len() as u64));
    }

    /// Exchanges datagrams until `done`.
    pub fn go_on(&mut self, mut done: impl FnMut(&mut Client) -> bool) {
        let mut bytes = vec![0; 65_536];
        for _ in 0..5_000 {
            let now = self.clock.now();
            self.endpoint.wake(now);
            while let Some(event) = self.endpoint.get_mut(self.handle).and_then(Connection::poll_event) {
                self.events.push(event);
            }
            if done(self) {
                return;
            }
            let mut out = Vec::new();
            // There is only one connection: if it has nothing to send, neither has the endpoint.
            while let Some(transmit) = self.endpoint.transmit(now, &mut out) {
                self.socket.send_to(&out, transmit.remote).unwrap();
                out.clear();
            }
            let Ok((length, remote)) = self.socket.recv_from(&mut bytes) else { continue };
            let datagram = Datagram {
                local: self.local,
                remote,
                ecn: Ecn::NotEct,
                bytes: &mut bytes[..length].to_vec(),
                hole: None,
                damage: None,
            };
            self.endpoint.receive(self.clock.now(), datagram);
        }
        panic!("nothing more happens: {:?}", self.events);
    }

    /// Exchanges datagrams for this time.
    pub fn linger(&mut self, duration: Duration) {
        let end = self.clock.now() + duration;
        self.go_on(|client| client.clock.now() >= end);
    }

    /// Sends everything that is pending, and responds to nothing.
    pub fn speak(&mut self) {
        let mut turns = 0..2;
        self.go_on(|_| turns.next().is_none_or(|turn| turn == 1));
    }

    /// Waits until the peer has acknowledged this number of bytes.
    pub fn settle(&mut self, written: u64) {
        self.go_on(|client| client.with(|connection, _| connection.stream_stats().acked_bytes >= written));
    }

    pub fn ask(&mut self, path: &str) -> StreamId {
        let fields = [(":method", "GET"), (":scheme", "https"), (":authority", "h"), (":path", path)]
            .map(|(name, value)| Field::new(name, value.to_owned()));
        let (mut section, mut bytes) = (Vec::new(), Vec::new());
        qpack::encode(&mut section, &fields);
        frame::encode(&mut bytes, frame::HEADERS, &section);
        let stream = self.with(|connection, _| connection.open(Direction::Bidirectional)).unwrap();
        self.send(stream, &bytes);
        self.with(|connection, now| connection.finish(now, stream)).unwrap();
        stream
    }
}
