//! The applications at both ends: many streams, some aborted midway, every byte known.

use crate::allocator::inside;
use crate::applications::{Applications, End};
use quic::{Connection, Data, Event, Handle, StreamError};
use random::Generator;
use std::collections::BTreeMap;
use std::fmt::Write;
use units::Time;
use wire::{Direction, StreamId};

/// The longest stream.
const LONGEST: u64 = 60_000;

/// The sending half of a stream.
#[derive(Debug)]
struct Sending {
    length: u64,
    written: u64,
    /// It is reset after this many bytes are written.
    reset_at: Option<u64>,
    over: bool,
}

/// The receiving half of a stream.
#[derive(Debug, Default)]
struct Receiving {
    offset: u64,
    finished: bool,
    /// It was reset by the peer or stopped here.
    given_up: bool,
    /// It is stopped after this many bytes are read.
    stop_at: Option<u64>,
}

#[derive(Debug, Default)]
struct State {
    planned: bool,
    still_to_open: u64,
    sending: BTreeMap<StreamId, Sending>,
    receiving: BTreeMap<StreamId, Receiving>,
}

/// The applications of all connections.
pub(crate) struct Exchange {
    random: Generator,
    ends: BTreeMap<End, State>,
    /// Whether the received data must equal the sent data.
    pub strict: bool,
}

/// The byte at this offset of a stream; the first half is virtual.
fn byte(stream: StreamId, from_client: bool, length: u64, offset: u64) -> u8 {
    let plain = wire::pattern::byte(offset);
    let mark = (stream.value() as u8).wrapping_mul(31).wrapping_add(if from_client { 7 } else { 77 });
    if offset < length / 2 { plain } else { plain ^ mark }
}

/// The length of a stream is a function of its id and its sender, so that both ends know it.
fn length_of(stream: StreamId, from_client: bool) -> u64 {
    let seed = stream.value() * 2 + u64::from(from_client);
    Generator::new(seed, "length").below(LONGEST)
}

impl Exchange {
    pub(crate) fn new(random: Generator) -> Exchange {
        Exchange { random, ends: BTreeMap::new(), strict: true }
    }

    /// Handles the events of one end.
    fn on_events(&mut self, now: Time, end: End, connection: &mut Connection, events: &[Event]) {
        for event in events {
            match *event {
                Event::EarlyDataReady | Event::Connected => {
                    // Streams opened by the peer may have been reported before.
                    let planned = 1 + self.random.below(12);
                    let state = self.ends.entry(end).or_default();
                    if !std::mem::replace(&mut state.planned, true) {
                        state.still_to_open = planned;
                    }
                    self.open(now, end, connection);
                    self.send_datagrams(connection);
                }
                // No stream exists any more.
                Event::EarlyDataRejected { resent: false } => drop(self.ends.remove(&end)),
                Event::DatagramReadable => self.read_datagrams(connection),
                Event::StreamsAvailable(_) => {
                    self.open(now, end, connection);
                    self.send_datagrams(connection);
                }
                Event::Opened(stream) => {
                    self.begin_receiving(end, stream);
                    if stream.direction() == Direction::Bidirectional {
                        self.begin_sending(now, end, stream, connection);
                    }
                }
                Event::Readable(stream) => self.read(end, stream, connection),
                Event::Writable(stream) => self.write(now, end, stream, connection),
                Event::Stopped { stream, .. } => {
                    if let Some(half) = self.sending(end, stream) {
                        half.over = true;
                    }
                }
                Event::Reset { stream, .. } => {
                    self.read(end, stream, connection);
                }
                _ => {}
            }
        }
    }

    fn sending(&mut self, end: End, stream: StreamId) -> Option<&mut Sending> {
        self.ends.get_mut(&end)?.sending.get_mut(&stream)
    }

    fn open(&mut self, now: Time, end: End, connection: &mut Connection) {
        while self.ends.get(&end).is_some_and(|state| state.still_to_open > 0) {
            let first = [Direction::Bidirectional, Direction::Unidirectional];
            let pick = self.random.below(2) as usize;
            let order = [first[pick], first[1 - pick]];
            let opened = order.into_iter().find_map(|direction| inside(|| connection.open(direction)).ok());
            let Some(stream) = opened else { return };
            if let Some(state) = self.ends.get_mut(&end) {
                state.still_to_open -= 1;
            }
            self.begin_sending(now, end, stream, connection);
            if stream.direction() == Direction::Bidirectional {
                self.begin_receiving(end, stream);
            }
        }
    }

    /// Sends some datagrams, if the peer accepts them; each starts with its length.
    fn send_datagrams(&mut self, connection: &mut Connection) {
        for _ in 0..self.random.below(4) {
            let Some(longest) = connection.max_datagram_size().filter(|longest| *longest > 0) else { return };
            let length = 1 + self.random.below(longest as u64) as usize;
            let bytes = vec![length as u8; length];
            let _ = inside(|| connection.send_datagram(Data::Bytes(&bytes)));
        }
    }

    fn read_datagrams(&mut self, connection: &mut Connection) {
        let mut bytes = Vec::with_capacity(70_000);
        while let Some(length) = inside(|| connection.read_datagram(&mut bytes)) {
            assert_eq!(length, bytes.len() as u64);
            assert!(!self.strict || bytes.iter().all(|byte| *byte == length as u8), "a datagram is altered");
            bytes.clear();
        }
    }

    fn begin_receiving(&mut self, end: End, stream: StreamId) {
        let stop_at = self.random.chance(0.1).then(|| self.random.below(LONGEST));
        let state = self.ends.entry(end).or_default();
        state.receiving.entry(stream).or_insert(Receiving { stop_at, ..Receiving::default() });
    }

    fn begin_sending(&mut self, now: Time, end: End, stream: StreamId, connection: &mut Connection) {
        let length = length_of(stream, end.is_client());
        let reset_at = self.random.chance(0.1).then(|| self.random.below(LONGEST));
        let half = Sending { length, written: 0, reset_at, over: false };
        self.ends.entry(end).or_default().sending.entry(stream).or_insert(half);
        self.write(now, end, stream, connection);
    }

    fn write(&mut self, now: Time, end: End, stream: StreamId, connection: &mut Connection) {
        let Some(half) = self.ends.get_mut(&end).and_then(|state| state.sending.get_mut(&stream)) else {
            return;
        };
        let virtual_end = half.length / 2;
        while !half.over {
            let result = if half.reset_at.is_some_and(|at| half.written >= at) {
                half.over = true;
                // Nothing, a half or all of it is delivered nevertheless.
                let reliable = half.written * (stream.index() % 3) / 2;
                inside(|| connection.reset_at(stream, 3, reliable)).map(|()| 0)
            } else if half.written >= half.length {
                half.over = true;
                inside(|| connection.finish(now, stream)).map(|()| 0)
            } else if half.written < virtual_end {
                let left = virtual_end - half.written;
                inside(|| connection.write(now, stream, Data::Virtual(left)))
            } else {
                let end_of_piece = half.length.min(half.written + 4000);
                let bytes: Vec<u8> = (half.written..end_of_piece)
                    .map(|at| byte(stream, end.is_client(), half.length, at))
                    .collect();
                inside(|| connection.write(now, stream, Data::Bytes(&bytes)))
            };
            match result {
                Ok(taken) => half.written += taken,
                Err(StreamError::Blocked) => return,
                // The peer has stopped it, or the connection is closed.
                Err(_) => half.over = true,
            }
        }
    }

    fn read(&mut self, end: End, stream: StreamId, connection: &mut Connection) {
        let mut room = vec![0; 1 + self.random.below(20_000) as usize];
        let length = length_of(stream, !end.is_client());
        let strict = self.strict;
        let Some(half) = self.ends.get_mut(&end).and_then(|state| state.receiving.get_mut(&stream)) else {
            return;
        };
        loop {
            match inside(|| connection.read(stream, &mut room)) {
                Ok(read) => {
                    for found in &room[..read.bytes as usize] {
                        let expected = byte(stream, !end.is_client(), length, half.offset);
                        assert!(!strict || *found == expected, "{stream:?} of {end:?} at {}", half.offset);
                        half.offset += 1;
                    }
                    if read.finished {
                        assert!(!strict || half.offset == length, "{stream:?} of {end:?} ends early");
                        half.finished = true;
                        return;
                    }
                    if half.stop_at.is_some_and(|at| half.offset >= at) {
                        half.given_up = true;
                        let _ = inside(|| connection.stop(stream, 5));
                        return;
                    }
                    if read.bytes == 0 {
                        return;
                    }
                }
                Err(StreamError::Reset(_)) => {
                    half.given_up = true;
                    return;
                }
                Err(_) => return,
            }
        }
    }
}

impl Applications for Exchange {
    fn attend(&mut self, now: Time, end: End, _handle: Handle, connection: &mut Connection) {
        loop {
            let mut events = Vec::with_capacity(1000);
            while let Some(event) = inside(|| connection.poll_event()) {
                events.push(event);
            }
            if events.is_empty() {
                return;
            }
            self.on_events(now, end, connection, &events);
        }
    }

    fn is_done(&self, client: usize, accepted: usize) -> bool {
        let (Some(ours), Some(theirs)) =
            (self.ends.get(&End::Client(client)), self.ends.get(&End::Server(accepted)))
        else {
            return false;
        };
        if !ours.planned || !theirs.planned {
            return false;
        }
        let all = |sender: &State, receiver: &State| {
            sender.still_to_open == 0
                && sender.sending.iter().all(|(stream, half)| {
                    let received = receiver.receiving.get(stream);
                    half.over && received.is_some_and(|half| half.finished || half.given_up)
                })
        };
        all(ours, theirs) && all(theirs, ours)
    }

    fn is_strict(&self) -> bool {
        self.strict
    }

    fn describe(&self, client: usize, accepted: Option<usize>) -> String {
        let mut text = String::new();
        let ends = [Some(End::Client(client)), accepted.map(End::Server)];
        for (end, state) in self.ends.iter().filter(|(end, _)| ends.contains(&Some(**end))) {
            let _ = writeln!(text, "{end:?}: {} streams still to open", state.still_to_open);
            for (stream, half) in state.sending.iter().filter(|(_, half)| !half.over) {
                let _ = writeln!(text, "  {stream:?} {half:?}");
            }
            for (stream, half) in state.receiving.iter().filter(|(_, half)| !half.finished && !half.given_up)
            {
                let _ = writeln!(text, "  {stream:?} {half:?}");
            }
        }
        text
    }
}
