//! PRIORITY_UPDATE frames (RFC 9218 section 7.2) at a server on a real socket: the client here is made by hand, frame by
//! frame.
#![cfg(target_os = "linux")]

use http::frame;
use http::qpack::{self, Field};
use live::{Clock, Recording, ServeOptions, Server, Settings};
use quic::{Config, Connection, Datagram, Endpoint, EndpointOptions, Event, Handle, Opening};
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use tls::{Context, Identity, Trust};
use units::parameter::Value;
use units::{Duration, Size, Time};
use wire::{Direction, Ecn, Side, StreamId};

/// What the server may send before the client reads anything.
const CREDIT: u64 = 100_000;
/// The length of each file.
const LENGTH: usize = 500_000;

/// A folder with two files, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("quiclab-priority-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        for file in ["first", "second"] {
            std::fs::write(path.join(file), vec![7; LENGTH]).unwrap();
        }
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server in a thread of its own.
struct Running {
    address: SocketAddr,
    fingerprint: [u8; 32],
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn new(root: &Path) -> Running {
        let identity =
            Identity::self_signed(&["127.0.0.1".to_owned()], Clock::start().date_of_zero()).unwrap();
        let options = ServeOptions {
            root: root.to_owned(),
            listen: vec!["127.0.0.1:0".parse().unwrap()],
            identity,
            settings: Settings::read(&[]).unwrap(),
            protocols: vec!["h3".to_owned()],
            max_connections: 10,
            max_half_open: 10,
            recording: Recording::default(),
        };
        let fingerprint = options.identity.fingerprint();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let (told, addresses) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut server = Server::bind(&options).unwrap();
            told.send(server.addresses()[0]).unwrap();
            while !stopped.load(Ordering::Relaxed) {
                server.run_for(Duration::from_millis(20)).unwrap();
            }
        });
        Running { address: addresses.recv().unwrap(), fingerprint, stop, thread: Some(thread) }
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

/// A client that says what it is told to say.
struct Client {
    clock: Clock,
    socket: UdpSocket,
    local: SocketAddr,
    endpoint: Endpoint,
    handle: Handle,
    events: Vec<Event>,
}

impl Client {
    /// Connects, and opens its control stream.
    fn new(server: &Running) -> Client {
        let clock = Clock::start();
        let trust = Trust::Pin(server.fingerprint);
        let tls = Context::real(&tls::Options::default(), &[b"h3"], &trust, None, clock.date_of_zero());
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(std::time::Duration::from_millis(2))).unwrap();
        let local = socket.local_addr().unwrap();
        let config = Config::with(&[("initial_max_data", Value::Size(Size::from_bytes(CREDIT)))]).unwrap();
        let options = EndpointOptions::new(local, tls.unwrap());
        let mut endpoint = Endpoint::new(options, random::Stream::new(1, "client"));
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

    fn with<T>(&mut self, act: impl FnOnce(&mut Connection, Time) -> T) -> T {
        let now = self.clock.now();
        act(self.endpoint.get_mut(self.handle).expect("the connection is gone"), now)
    }

    fn send(&mut self, stream: StreamId, bytes: &[u8]) {
        let taken = self.with(|connection, now| connection.write(now, stream, quic::Data::Bytes(bytes)));
        assert_eq!(taken, Ok(bytes.len() as u64));
    }

    /// Lets datagrams come and go until `done`.
    fn go_on(&mut self, mut done: impl FnMut(&mut Client) -> bool) {
        let mut bytes = vec![0; 65_536];
        for _ in 0..5_000 {
            let now = self.clock.now();
            self.endpoint.wake(now);
            let _ = self.endpoint.next_active();
            while let Some(event) = self.endpoint.get_mut(self.handle).and_then(Connection::poll_event) {
                self.events.push(event);
            }
            if done(self) {
                return;
            }
            let mut out = Vec::new();
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

    /// Until the peer has acknowledged all that was written.
    fn settle(&mut self, written: u64) {
        self.go_on(|client| client.with(|connection, _| connection.stream_stats().acked_bytes >= written));
    }

    fn ask(&mut self, path: &str) -> StreamId {
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

    fn update(&mut self, stream: StreamId, value: &str) {
        let (mut payload, mut bytes) = (Vec::new(), Vec::new());
        wire::varint::encode(&mut payload, stream.value());
        payload.extend_from_slice(value.as_bytes());
        frame::encode(&mut bytes, frame::PRIORITY_UPDATE_REQUEST, &payload);
        self.send(CONTROL, &bytes);
    }

    /// Which of the streams came to its end first, and how much of the other was there by then.
    fn first_of(&mut self, streams: [StreamId; 2]) -> (StreamId, u64) {
        let (mut came, mut first) = ([0; 2], None);
        self.go_on(|client| {
            for (came, stream) in came.iter_mut().zip(streams) {
                let read = client.with(|connection, _| connection.discard(stream));
                let Ok(read) = read else { continue };
                *came += read.bytes;
                if read.finished {
                    first.get_or_insert(stream);
                }
            }
            first.is_some()
        });
        let first = first.unwrap();
        (first, came[usize::from(first == streams[0])])
    }
}

const CONTROL: StreamId = StreamId::new(Side::Client, Direction::Unidirectional, 0);
/// What the control stream begins with.
const PREFACE: u64 = 3;

/// RFC 9218 section 10: of responses of one urgency that are not incremental the one that was asked for first comes first;
/// section 7.2: a PRIORITY_UPDATE that comes when they are on their way changes that, and so does one that comes before there
/// is a request.
#[test]
fn the_order_follows_the_update() {
    let folder = Folder::new("order");
    let server = Running::new(&folder.0);
    let second = StreamId::new(Side::Client, Direction::Bidirectional, 1);
    for (early, late) in [(None, None), (None, Some("u=0")), (Some("u=0"), None), (Some("u=0"), Some("u=5"))]
    {
        let mut client = Client::new(&server);
        if let Some(value) = early {
            client.update(second, value);
            client.settle(PREFACE + 1);
        }
        let streams = ["/first", "/second"].map(|path| client.ask(path));
        assert_eq!(streams[1], second);
        // All of the credit is used: more comes when something is read.
        client
            .go_on(|client| client.with(|connection, _| connection.stream_stats().received_bytes >= CREDIT));
        if let Some(value) = late {
            let written = client.with(|connection, _| connection.stream_stats().sent_bytes);
            client.update(second, value);
            client.settle(written + 1);
        }
        let (first, other) = client.first_of(streams);
        let urgent = late.or(early) == Some("u=0");
        assert_eq!(first == second, urgent, "{early:?}, then {late:?}");
        assert!(other < 2 * CREDIT, "{other} bytes of the other came before");
        client.with(|connection, now| connection.close(now, 0x100, "done"));
    }
}

/// RFC 9218 section 7.2: a stream beyond the limit on streams is an error of type H3_ID_ERROR.
#[test]
fn an_update_for_a_stream_that_cannot_be_is_refused() {
    let folder = Folder::new("limit");
    let server = Running::new(&folder.0);
    let mut client = Client::new(&server);
    client.update(StreamId::new(Side::Client, Direction::Bidirectional, 1 << 20), "u=0");
    client.go_on(|client| client.events.contains(&Event::Ended));
    let code = client.with(|connection, _| connection.close_reason().map(quic::CloseReason::code));
    assert_eq!(code, Some((true, http::Code::ID_ERROR.0)));
}
