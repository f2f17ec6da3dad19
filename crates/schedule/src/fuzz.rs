//! Feeds arbitrary events to a scheduler and checks the laws that always hold: it returns a ready stream as long as
//! there is one, the same one until something changes, and the same ones for the same bytes. For fuzzing and tests.

use super::{Head, PathView, Priority, RETRANSMISSIONS, SCHEDULERS, Scheduler, StreamKey};
use std::collections::VecDeque;
use units::parameter::{Arguments, Value};
use units::{Duration, Time};
use wire::StreamId;

/// Drives a scheduler with these bytes: the first selects the row and whether lost data goes first; each further pair
/// is an event. Returns a hash of all results.
///
/// # Panics
/// If the scheduler violates a law.
pub fn schedulers(data: &[u8]) -> u64 {
    let Some((&row, events)) = data.split_first() else { return 0 };
    let count = SCHEDULERS.len();
    let mut sender = Sender::new(usize::from(row) % count, usize::from(row) / count % 2 == 1);
    let mut digest = 0u64;
    for event in events.chunks_exact(2) {
        digest = digest.wrapping_mul(31).wrapping_add(sender.step(event[0], event[1]));
    }
    digest
}

/// A piece of a stream: a number of bytes, and when they were written.
#[derive(Debug, Clone, Copy)]
struct Piece {
    bytes: u64,
    head: Head,
}

#[derive(Debug)]
struct Stream {
    id: StreamId,
    unsent: VecDeque<Piece>,
    sent: VecDeque<Piece>,
    lost: VecDeque<Piece>,
    blocked: bool,
    ready: bool,
    loss_reported: bool,
    reported: Option<Head>,
}

impl Stream {
    fn new(id: u64) -> Stream {
        Stream {
            id: StreamId::from_value(id),
            unsent: VecDeque::new(),
            sent: VecDeque::new(),
            lost: VecDeque::new(),
            blocked: false,
            ready: false,
            loss_reported: false,
            reported: None,
        }
    }
    fn next(&self) -> Option<&Piece> {
        self.lost.front().or_else(|| self.unsent.front().filter(|_| !self.blocked))
    }
}

/// The result of one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The slot of the stream.
    pub slot: u32,
    /// The number of bytes.
    pub bytes: u64,
    /// When they were written, and by which write.
    pub head: Head,
    /// Whether they are retransmissions.
    pub lost: bool,
}

/// Streams without a network. It makes the same calls to a scheduler as a connection, in the same order.
pub struct Sender {
    scheduler: Box<dyn Scheduler>,
    first: bool,
    heads: bool,
    streams: Vec<Stream>,
    opened: u64,
    writes: u64,
    view: PathView,
}

impl Sender {
    /// Creates a sender with the scheduler of this row, with defaults except for `first`.
    pub fn new(row: usize, first: bool) -> Sender {
        let row = &SCHEDULERS[row];
        let word = Value::Text(if first { "first" } else { "rank" }.to_owned());
        // Every row of the table is found by its name, and all its options have defaults.
        let arguments =
            Arguments::filled(row.parameters, &[(RETRANSMISSIONS.name, word)], &[]).unwrap_or_default();
        Sender::with(super::build(row.name, &arguments).unwrap_or_else(|| (row.build)(&arguments)), first)
    }

    /// Creates a sender with this scheduler, which sends lost data `first` or not.
    pub fn with(scheduler: Box<dyn Scheduler>, first: bool) -> Sender {
        let view = PathView { now: Time::ZERO, window: 12_000, smoothed_rtt: Duration::from_millis(100) };
        let heads = scheduler.wants_heads();
        Sender { scheduler, first, heads, streams: Vec::new(), opened: 0, writes: 0, view }
    }

    /// Advances the time.
    pub fn pass(&mut self, span: Duration) {
        self.view.now += span;
    }
    /// Sets the window of the path, whose RTT is 100 ms.
    pub fn set_window(&mut self, bytes: u64) {
        self.view.window = bytes;
    }
    /// The current time.
    pub fn now(&self) -> Time {
        self.view.now
    }

    /// Opens a stream and returns its slot.
    pub fn open(&mut self) -> u32 {
        self.opened += 1;
        self.streams.push(Stream::new(self.opened * 4));
        (self.streams.len() - 1) as u32
    }

    fn key(&self, slot: u32) -> StreamKey {
        StreamKey { id: self.streams[slot as usize].id, slot }
    }

    /// Writes to a stream.
    pub fn write(&mut self, slot: u32, bytes: u64) {
        self.writes += 1;
        let head = Head { written: self.view.now, order: self.writes };
        self.streams[slot as usize].unsent.push_back(Piece { bytes, head });
        self.schedule(slot);
    }

    /// Sets the priority of a stream.
    pub fn set_priority(&mut self, slot: u32, priority: Priority) {
        let key = self.key(slot);
        self.scheduler.on_priority(key, priority);
    }

    /// Blocks the new data of a stream by flow control, or unblocks it.
    pub fn set_blocked(&mut self, slot: u32, blocked: bool) {
        self.streams[slot as usize].blocked = blocked;
        self.schedule(slot);
    }

    /// Declares the last sent piece lost.
    pub fn lose(&mut self, slot: u32) {
        let stream = &mut self.streams[slot as usize];
        let Some(piece) = stream.sent.pop_back() else { return };
        stream.lost.push_front(piece);
        self.schedule(slot);
        let key = self.key(slot);
        let reported = std::mem::replace(&mut self.streams[slot as usize].loss_reported, true);
        self.report_head(slot);
        if !reported {
            self.scheduler.on_lost(key);
        }
    }

    /// Reports that all lost data has arrived after all.
    pub fn find(&mut self, slot: u32) {
        self.streams[slot as usize].lost.clear();
    }

    /// Closes the stream; a new one takes its slot.
    pub fn close(&mut self, slot: u32) {
        let key = self.key(slot);
        if self.streams[slot as usize].ready {
            self.scheduler.on_idle(key);
        }
        self.scheduler.on_closed(key);
        self.opened += 1;
        self.streams[slot as usize] = Stream::new(self.opened * 4);
    }

    fn schedule(&mut self, slot: u32) {
        let stream = &self.streams[slot as usize];
        if !stream.ready && stream.next().is_some() {
            self.report_head(slot);
            self.streams[slot as usize].ready = true;
            let key = self.key(slot);
            self.scheduler.on_ready(key, self.view.now);
        }
    }

    fn report_head(&mut self, slot: u32) -> bool {
        let stream = &mut self.streams[slot as usize];
        let Some(head) = stream.next().map(|piece| piece.head).filter(|_| self.heads) else { return false };
        let new = stream.reported.replace(head) != Some(head);
        if new {
            let key = self.key(slot);
            self.scheduler.on_head(key, head);
        }
        new
    }

    fn set_idle(&mut self, slot: u32) {
        let stream = &mut self.streams[slot as usize];
        (stream.ready, stream.loss_reported) = (false, false);
        let key = self.key(slot);
        self.scheduler.on_idle(key);
    }

    /// Sends as much of the next stream as fits into `room`. Returns `None` if no stream has anything to send.
    ///
    /// # Panics
    /// If the scheduler violates a law.
    pub fn turn(&mut self, room: u64) -> Option<Turn> {
        loop {
            let Some(key) = self.scheduler.next(&self.view) else {
                let left = self.streams.iter().position(|stream| stream.next().is_some());
                assert_eq!(left, None, "work-conserving");
                return None;
            };
            assert_eq!(self.scheduler.next(&self.view), Some(key), "the same until something changes");
            assert!(self.streams[key.slot as usize].ready && self.key(key.slot) == key, "only ready streams");
            if let Some(turn) = self.serve(key, room) {
                return Some(turn);
            }
        }
    }

    fn serve(&mut self, key: StreamKey, room: u64) -> Option<Turn> {
        let slot = key.slot;
        if self.report_head(slot) {
            return None;
        }
        let stream = &mut self.streams[slot as usize];
        if stream.next().is_none() {
            self.set_idle(slot);
            return None;
        }
        if stream.loss_reported && stream.lost.is_empty() {
            stream.loss_reported = false;
            self.scheduler.on_repaired(key);
            return None;
        }
        let lost = !stream.lost.is_empty();
        let pieces = if lost { &mut stream.lost } else { &mut stream.unsent };
        let piece = pieces.front_mut()?;
        let sent = Piece { bytes: piece.bytes.min(room), head: piece.head };
        piece.bytes -= sent.bytes;
        if piece.bytes == 0 {
            pieces.pop_front();
        }
        stream.sent.push_back(sent);
        if stream.sent.len() > 16 {
            stream.sent.pop_front();
        }
        self.scheduler.on_sent(key, sent.bytes);
        let stream = &mut self.streams[slot as usize];
        if stream.next().is_none() {
            self.set_idle(slot);
        } else if stream.loss_reported && stream.lost.is_empty() {
            stream.loss_reported = false;
            self.scheduler.on_repaired(key);
        }
        let waits = |stream: &Stream| !stream.lost.is_empty();
        assert!(lost || !self.first || !self.streams.iter().any(waits), "lost data goes first");
        Some(Turn { slot, bytes: sent.bytes, head: sent.head, lost })
    }

    /// Executes one event: `what` selects it, `detail` the stream and other parameters.
    fn step(&mut self, what: u8, detail: u8) -> u64 {
        if self.streams.is_empty() {
            self.open();
        }
        let slot = u32::from(detail) % self.streams.len() as u32;
        let number = u64::from(detail);
        match what % 16 {
            0 if self.streams.len() < 40 => {
                self.open();
            }
            0..=2 => self.write(slot, 100 + number * 50),
            3 => self.set_blocked(slot, what & 16 == 0),
            4 => self.lose(slot),
            5 => self.find(slot),
            6 => self.close(slot),
            7 | 8 => {
                let span = Duration::from_millis(number);
                let priority = Priority {
                    urgency: what >> 4,
                    incremental: detail & 1 == 1,
                    weight: u16::from(what >> 4) * u16::from(detail),
                    deadline: (detail & 2 == 2).then_some(self.view.now + span),
                    latency: (detail & 4 == 4).then_some(span),
                };
                self.set_priority(slot, priority);
            }
            9 => self.pass(Duration::from_millis(number)),
            10 => self.set_window(number * number * 100),
            _ => return self.turn(1200).map_or(1, |turn| u64::from(turn.slot) << 8 | turn.bytes << 16 | 3),
        }
        2
    }
}
