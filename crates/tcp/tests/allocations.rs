//! The memory cost of connections: no allocation per segment once warm, and a small footprint at rest.

use random::Generator;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use tcp::{Arrival, Config, Connection, ConnectionInputs, Data, Event, TlsSizes};
use trace::Interest;
use units::{Duration, Time};
use wire::{Ecn, Hole};

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    /// Allocations, and bytes in use.
    static COUNTS: Cell<(u64, i64)> = const { Cell::new((0, 0)) };
}

fn note(calls: u64, bytes: i64) {
    // Nothing is counted after the end of the thread.
    let _ = COUNTS.try_with(|counts| counts.set((counts.get().0 + calls, counts.get().1 + bytes)));
}
fn allocations() -> u64 {
    COUNTS.with(|counts| counts.get().0)
}
fn bytes_in_use() -> i64 {
    COUNTS.with(|counts| counts.get().1)
}

// SAFETY: every call is passed to the system's allocator unchanged.
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

const DELAY: Duration = Duration::from_millis(10);

/// A segment on the link: when it arrives, its bytes, its hole.
type Underway = (Time, Vec<u8>, Option<Hole>);

/// Two ends and a link that reuses its buffers. The client downloads endlessly and discards the data.
struct Wire {
    now: Time,
    ends: [Connection; 2],
    underway: [VecDeque<Underway>; 2],
    pool: Vec<Vec<u8>>,
    segments: u64,
    /// One data segment in this many is lost; 0: none.
    lose_each: u64,
}

fn address(end: usize) -> SocketAddr {
    ([10, 0, 0, 1 + end as u8], 4433).into()
}

impl Wire {
    fn new(config: Config, lose_each: u64) -> Wire {
        let config = Arc::new(config);
        let setup = |end: usize| ConnectionInputs {
            local: address(end),
            config: Arc::clone(&config),
            random: Generator::new(1, ["client", "server"][end]),
            interest: Interest::NONE,
            tls: TlsSizes {
                server_name: "server.example".to_owned(),
                certificate_chain: 3000,
                alpn: b"",
                hybrid: false,
            },
            cookie_key: 1,
            known_paths: tcp::DatedPaths::default(),
            initial_sequence: None,
        };
        let client = Connection::connect(Time::ZERO, setup(0), address(1)).unwrap();
        let server = Connection::listen(setup(1)).unwrap();
        let underway = [VecDeque::new(), VecDeque::new()];
        Wire { now: Time::ZERO, ends: [client, server], underway, pool: Vec::new(), segments: 0, lose_each }
    }

    fn attend(&mut self, end: usize) {
        while let Some(event) = self.ends[end].poll_event() {
            match event {
                Event::Connected if end == 1 => {
                    self.ends[1].write(Data::Virtual(1 << 50)).unwrap();
                }
                Event::Readable => {
                    self.ends[end].skip(self.now, u64::MAX).unwrap();
                }
                _ => {}
            }
        }
        loop {
            let mut bytes = self.pool.pop().unwrap_or_else(|| Vec::with_capacity(2048));
            let Some(transmit) = self.ends[end].transmit(self.now, &mut bytes) else {
                self.pool.push(bytes);
                return;
            };
            self.segments += u64::from(transmit.carries_data);
            if self.lose_each > 0 && transmit.carries_data && self.segments.is_multiple_of(self.lose_each) {
                bytes.clear();
                self.pool.push(bytes);
            } else {
                self.underway[end].push_back((self.now + DELAY, bytes, transmit.hole));
            }
        }
    }

    fn run(&mut self, segments: u64) {
        let until = self.segments + segments;
        (0..2).for_each(|end| self.attend(end));
        while self.segments < until {
            let arrivals = self.underway.iter().filter_map(|line| line.front().map(|first| first.0));
            let timers = self.ends.iter().filter_map(Connection::wake_at);
            self.now = self.now.max(arrivals.chain(timers).min().unwrap());
            for end in 0..2 {
                while self.underway[1 - end].front().is_some_and(|first| first.0 <= self.now) {
                    let (_, mut bytes, hole) = self.underway[1 - end].pop_front().unwrap();
                    let arrival = Arrival {
                        remote: address(1 - end),
                        ecn: Ecn::NotEct,
                        bytes: &bytes,
                        hole,
                        damage: None,
                    };
                    self.ends[end].receive(self.now, arrival);
                    bytes.clear();
                    self.pool.push(bytes);
                    self.attend(end);
                }
                if self.ends[end].wake_at().is_some_and(|at| at <= self.now) {
                    self.ends[end].wake(self.now);
                    self.attend(end);
                }
            }
        }
    }
}

#[test]
fn nothing_is_allocated_per_segment_once_warm() {
    let small = units::Size::from_bytes(1_000_000);
    let config = Config { max_receive_buffer: small, ..Config::default() };
    for lose_each in [0, 50] {
        let mut wire = Wire::new(config.clone(), lose_each);
        wire.run(50_000);
        let before = allocations();
        wire.run(50_000);
        let made = allocations() - before;
        // With losses a list may still grow to a new maximum.
        assert!(made <= if lose_each == 0 { 0 } else { 50 }, "{made} allocations, one of {lose_each} lost");
    }
}

/// A thousand flows on one link must not need more than 64 KiB each.
#[test]
fn a_pair_at_rest_is_small() {
    let before = bytes_in_use();
    let mut pairs = Vec::new();
    for _ in 0..100 {
        let mut wire = Wire::new(Config::default(), 0);
        (0..2).for_each(|end| wire.attend(end));
        wire.run(10);
        wire.pool = Vec::new();
        wire.underway = [VecDeque::new(), VecDeque::new()];
        pairs.push(wire);
    }
    let each = (bytes_in_use() - before) / 100;
    assert!(each < 32 * 1024, "{each} bytes");
}
