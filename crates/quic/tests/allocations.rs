//! The memory of connections: nothing is allocated per packet once warm, and an idle pair is small.

#[path = "behaviour/pair/options.rs"]
#[allow(dead_code, reason = "other tests use all of it")]
mod options;

use options::{config, contexts, count, null, size};
use quic::{Data, Datagram, Endpoint, EndpointOptions, Event, Handle};
use random::Generator;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;
use units::parameter::{Kind, Value};
use units::{Duration, Time};
use wire::{Direction, Ecn, Hole};

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    /// The number of allocations, and the bytes in use.
    static COUNTS: Cell<(u64, i64)> = const { Cell::new((0, 0)) };
}

fn note(calls: u64, bytes: i64) {
    // Nothing is counted after the end of a thread.
    let _ = COUNTS.try_with(|counts| counts.set((counts.get().0 + calls, counts.get().1 + bytes)));
}
fn allocations() -> u64 {
    COUNTS.with(|counts| counts.get().0)
}
fn bytes_in_use() -> i64 {
    COUNTS.with(|counts| counts.get().1)
}

// SAFETY: every call goes to the system's allocator unchanged.
#[allow(unsafe_code, reason = "an allocator can only be written so")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as i64);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(0, -(layout.size() as i64));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note(1, new_size as i64 - layout.size() as i64);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const CLIENT: &str = "10.0.0.1:50000";
const SERVER: &str = "10.0.0.2:443";
const DELAY: Duration = Duration::from_millis(10);

/// A datagram on the link: arrival time, bytes, hole.
type Underway = (Time, Vec<u8>, Option<Hole>);

/// Two endpoints and a link that reuses its buffers.
struct Wire {
    now: Time,
    /// The client, then the server.
    ends: [Endpoint; 2],
    in_flight: [VecDeque<Underway>; 2],
    pool: Vec<Vec<u8>>,
    handle: Handle,
    accepted: Option<Handle>,
    packets: u64,
}

impl Wire {
    fn new(tls: tls::Context, window: u64) -> Wire {
        let windows = [
            "initial_max_data",
            "initial_max_stream_data_bidi_local",
            "initial_max_stream_data_bidi_remote",
            "initial_max_stream_data_uni",
        ]
        .map(|name| (name, size(window)));
        Wire::with(tls, &windows)
    }

    /// A link with these options at both ends.
    fn with(tls: tls::Context, options: &[(&str, Value)]) -> Wire {
        let config = Arc::new(config(options));
        let end = |local: &str, accept| {
            let local_address = local.parse().unwrap();
            let options = EndpointOptions { accept, ..EndpointOptions::new(local_address, tls.clone()) };
            Endpoint::new(options, Generator::new(1, local))
        };
        let mut ends = [end(CLIENT, None), end(SERVER, Some(config.clone()))];
        let handle =
            ends[0].connect(Time::ZERO, quic::Opening::new(SERVER.parse().unwrap(), config)).unwrap();
        Wire {
            now: Time::ZERO,
            ends,
            in_flight: [VecDeque::with_capacity(1000), VecDeque::with_capacity(1000)],
            pool: (0..2000).map(|_| Vec::with_capacity(2000)).collect(),
            handle,
            accepted: None,
            packets: 0,
        }
    }

    /// Processes the next event; returns `false` if none is left.
    fn step(&mut self, on_event: &mut dyn FnMut(Time, usize, &mut quic::Connection, Event)) -> bool {
        let arrivals = self.in_flight.iter().filter_map(|queue| queue.front().map(|(at, ..)| *at));
        let wakes = self.ends.iter().filter_map(Endpoint::wake_at);
        if self.now > Time::ZERO {
            let Some(next) = arrivals.chain(wakes).min() else { return false };
            self.now = self.now.max(next);
        } else {
            self.now += Duration::from_nanos(1);
        }
        for side in [0, 1] {
            self.ends[side].wake(self.now);
            while self.in_flight[side].front().is_some_and(|(at, ..)| *at <= self.now) {
                let (_, mut bytes, hole) = self.in_flight[side].pop_front().unwrap();
                let (local, remote) = if side == 0 { (CLIENT, SERVER) } else { (SERVER, CLIENT) };
                let (local, remote) = (local.parse().unwrap(), remote.parse().unwrap());
                let datagram =
                    Datagram { local, remote, ecn: Ecn::NotEct, bytes: &mut bytes, hole, damage: None };
                self.ends[side].receive(self.now, datagram);
                bytes.clear();
                self.pool.push(bytes);
            }
            self.drain(side, on_event);
        }
        true
    }

    fn drain(&mut self, side: usize, on_event: &mut dyn FnMut(Time, usize, &mut quic::Connection, Event)) {
        loop {
            if let Some(handle) = self.ends[side].next_active() {
                if side == 1 {
                    self.accepted = Some(handle);
                }
                if let Some(connection) = self.ends[side].get_mut(handle) {
                    while let Some(event) = connection.poll_event() {
                        on_event(self.now, side, connection, event);
                    }
                }
            }
            let mut bytes = self.pool.pop().unwrap_or_default();
            let Some(transmit) = self.ends[side].transmit(self.now, &mut bytes) else {
                self.pool.push(bytes);
                return;
            };
            self.packets += 1;
            self.in_flight[1 - side].push_back((self.now + DELAY, bytes, transmit.hole));
        }
    }
}

/// The way in which the client reads a download.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ReadMode {
    Discarding,
    Reading,
}

/// Runs a download; returns the packets and the allocations after its first quarter.
fn download(tls: tls::Context, bytes: u64, taking: ReadMode) -> (u64, u64) {
    let mut wire = Wire::new(tls, 300_000);
    let mut buffer = vec![0; 65_536];
    let (mut read, mut finished) = (0, false);
    let mut warm = None;
    while !finished {
        let stepped = wire.step(&mut |now, side, connection, event| match event {
            Event::Connected if side == 0 => {
                let stream = connection.open(Direction::Bidirectional).unwrap();
                connection.finish(now, stream).unwrap();
            }
            Event::Opened(stream) if side == 1 => {
                connection.write(now, stream, Data::Virtual(bytes)).unwrap();
                connection.finish(now, stream).unwrap();
            }
            Event::Readable(stream) if side == 0 => loop {
                let got = match taking {
                    ReadMode::Discarding => connection.discard(stream).unwrap(),
                    ReadMode::Reading => connection.read(stream, &mut buffer).unwrap(),
                };
                read += got.bytes;
                finished |= got.finished;
                if got.bytes == 0 || got.finished {
                    break;
                }
            },
            _ => {}
        });
        assert!(stepped, "{read} bytes read");
        if read > bytes / 4 && warm.is_none() {
            warm = Some((wire.packets, allocations()));
        }
    }
    let (packets, before) = warm.unwrap();
    (wire.packets - packets, allocations() - before)
}

#[test]
fn nothing_is_allocated_per_packet_once_warm() {
    for context in contexts() {
        for taking in [ReadMode::Discarding, ReadMode::Reading] {
            let (packets, allocations) = download(context.clone(), 20_000_000, taking);
            println!("{:?}, {taking:?}: {packets} packets, {allocations} allocations", context.protection());
            assert!(packets > 10_000);
            // The end of the stream and its slots may cost a few.
            assert!(allocations < 10, "{:?}, {taking:?}: {allocations} allocations", context.protection());
        }
    }
}

/// Runs until the handshake is confirmed and everything is acknowledged, so that the next event is far away.
fn rest(wire: &mut Wire, on_event: &mut dyn FnMut(Time, usize, &mut quic::Connection, Event)) {
    let far = Duration::from_secs(1);
    let is_near = |wire: &Wire| {
        let next = wire.ends.iter().filter_map(Endpoint::wake_at).min();
        next.is_some_and(|next| next < wire.now + far) || wire.in_flight.iter().any(|queue| !queue.is_empty())
    };
    while wire.accepted.is_none() || is_near(wire) {
        assert!(wire.step(on_event));
    }
}

#[test]
fn an_idle_pair_is_small() {
    let mut wire = Wire::new(null(), 1_000_000);
    rest(&mut wire, &mut |_, _, _, _| {});
    let handles = [wire.handle, wire.accepted.unwrap()];
    assert!(
        (0..2).all(|side| wire.ends[side].get(handles[side]).is_some_and(quic::Connection::is_established))
    );
    // Two endpoints with one connection each are left.
    wire.pool = Vec::new();
    wire.in_flight = [VecDeque::new(), VecDeque::new()];
    let with_both = bytes_in_use();
    drop(wire);
    let pair = with_both - bytes_in_use();
    println!(
        "Connection itself: {} bytes; a pair at rest with its endpoints: {pair} bytes",
        size_of::<quic::Connection>()
    );
    assert!(pair < 32 * 1024, "{pair} bytes");
}

/// Many open streams with some traffic: an idle stream costs little memory, whatever the scheduler, and closed
/// streams free it.
#[test]
fn a_hundred_thousand_idle_streams() {
    const STREAMS: u64 = 100_000;
    for row in quic::schedule::SCHEDULERS {
        let scheduler = Kind::Component("schedulers").read(row.name, &quic::Config::rooms()).unwrap();
        let options = [
            ("initial_max_streams_bidi", count(STREAMS)),
            ("max_idle_timeout", Value::Duration(Duration::ZERO)),
            ("scheduler", scheduler),
        ];
        let mut wire = Wire::with(null(), &options);
        rest(&mut wire, &mut |_, _, _, _| {});
        let before = bytes_in_use();
        let (mut ids, mut answered) = (Vec::new(), 0);
        let (now, client) = (wire.now, wire.handle);
        let connection = wire.ends[0].get_mut(client).unwrap();
        for _ in 0..STREAMS {
            let stream = connection.open(Direction::Bidirectional).unwrap();
            connection.write(now, stream, Data::Bytes(b"a question")).unwrap();
            ids.push(stream);
        }
        let own = ids.capacity() * size_of::<wire::StreamId>();
        wire.drain(0, &mut |_, _, _, _| {});
        let mut buffer = [0; 100];
        rest(&mut wire, &mut |now, side, connection, event| {
            if let Event::Readable(stream) = event {
                let bytes = connection.read(stream, &mut buffer).unwrap().bytes;
                if side == 1 {
                    let answer = Data::Bytes(&buffer[..bytes as usize]);
                    assert_eq!(connection.write(now, stream, answer).unwrap(), bytes);
                } else {
                    answered += bytes;
                }
            }
        });
        assert_eq!(answered, 10 * STREAMS, "{}", row.name);
        let streams = bytes_in_use() - before - own as i64;
        // Two endpoints.
        let each = streams / (2 * STREAMS as i64);
        println!("{}: {each} bytes for an idle stream", row.name);
        assert!(each < 512, "{}: {each} bytes", row.name);

        let now = wire.now;
        let connection = wire.ends[0].get_mut(client).unwrap();
        for stream in ids {
            connection.finish(now, stream).unwrap();
        }
        wire.drain(0, &mut |_, _, _, _| {});
        let mut closed = 0;
        rest(&mut wire, &mut |now, side, connection, event| match event {
            Event::Readable(stream) => {
                assert!(connection.read(stream, &mut buffer).unwrap().finished);
                if side == 1 {
                    connection.finish(now, stream).unwrap();
                }
            }
            Event::Closed { .. } => closed += 1,
            _ => {}
        });
        assert_eq!(closed, 2 * STREAMS, "{}", row.name);
        let left = (bytes_in_use() - before) / (2 * STREAMS as i64);
        println!("{}: {left} bytes when they are over", row.name);
        assert!(left < 150, "{}: {left} bytes are left", row.name);
    }
}
