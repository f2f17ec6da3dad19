//! Any sequence of events before any scheduler, and the laws that hold whatever happens: it gives a ready stream as long as
//! there is one, the same one until something changes, and the same from the same bytes. For fuzzing and tests.

use super::{Head, PathView, Priority, RETRANSMISSIONS, SCHEDULERS, Scheduler, StreamKey};
use std::collections::VecDeque;
use units::parameter::{Arguments, Value};
use units::{Duration, Time};
use wire::StreamId;

/// Drives a scheduler by these bytes: the first chooses the row and whether lost data goes first, each two of the others
/// are an event. Gives all answers, folded into one number.
///
/// # Panics
/// If the scheduler breaks a law.
pub fn schedulers(data: &[u8]) -> u64 {
    let Some((&row, events)) = data.split_first() else { return 0 };
    let count = SCHEDULERS.len();
    let mut sender = Sender::new(usize::from(row) % count, usize::from(row) / count % 2 == 1);
    let mut heard = 0u64;
    for event in events.chunks_exact(2) {
        heard = heard.wrapping_mul(31).wrapping_add(sender.step(event[0], event[1]));
    }
    heard
}

/// A piece of a stream: so many bytes, and when they were written.
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
    lost_told: bool,
    told: Option<Head>,
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
            lost_told: false,
            told: None,
        }
    }
    fn next(&self) -> Option<&Piece> {
        self.lost.front().or_else(|| self.unsent.front().filter(|_| !self.blocked))
    }
}

/// What one turn sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The slot of the stream.
    pub slot: u32,
    /// So many bytes.
    pub bytes: u64,
    /// When they were written, and as which write.
    pub head: Head,
    /// Whether they had been lost.
    pub lost: bool,
}

/// Streams without a network: what a connection tells its scheduler, in the order in which it tells it.
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
    /// With the scheduler of this row and its defaults, but for what goes `first`.
    pub fn new(row: usize, first: bool) -> Sender {
        let row = &SCHEDULERS[row];
        let word = Value::Text(if first { "first" } else { "rank" }.to_owned());
        // Every row of the table is found by its name, and has all its defaults.
        let arguments =
            Arguments::filled(row.parameters, &[(RETRANSMISSIONS.name, word)], &[]).unwrap_or_default();
        Sender::with(super::build(row.name, &arguments).unwrap_or_else(|| (row.build)(&arguments)), first)
    }

    /// With this scheduler, which sends what was lost `first` or not.
    pub fn with(scheduler: Box<dyn Scheduler>, first: bool) -> Sender {
        let view = PathView { now: Time::ZERO, window: 12_000, smoothed_rtt: Duration::from_millis(100) };
        let heads = scheduler.wants_heads();
        Sender { scheduler, first, heads, streams: Vec::new(), opened: 0, writes: 0, view }
    }

    /// So much time passes.
    pub fn pass(&mut self, span: Duration) {
        self.view.now += span;
    }
    /// The path has this window now, at an RTT of 100 ms.
    pub fn set_window(&mut self, bytes: u64) {
        self.view.window = bytes;
    }
    /// Now.
    pub fn now(&self) -> Time {
        self.view.now
    }

    /// A new stream; gives its slot.
    pub fn open(&mut self) -> u32 {
        self.opened += 1;
        self.streams.push(Stream::new(self.opened * 4));
        (self.streams.len() - 1) as u32
    }

    fn key(&self, slot: u32) -> StreamKey {
        StreamKey { id: self.streams[slot as usize].id, slot }
    }

    /// The application writes.
    pub fn write(&mut self, slot: u32, bytes: u64) {
        self.writes += 1;
        let head = Head { written: self.view.now, order: self.writes };
        self.streams[slot as usize].unsent.push_back(Piece { bytes, head });
        self.schedule(slot);
    }

    /// The application says what a stream is.
    pub fn set_priority(&mut self, slot: u32, priority: Priority) {
        let key = self.key(slot);
        self.scheduler.on_priority(key, priority);
    }

    /// There is credit for new data of a stream, or none.
    pub fn set_blocked(&mut self, slot: u32, blocked: bool) {
        self.streams[slot as usize].blocked = blocked;
        self.schedule(slot);
    }

    /// What was sent last is lost.
    pub fn lose(&mut self, slot: u32) {
        let stream = &mut self.streams[slot as usize];
        let Some(piece) = stream.sent.pop_back() else { return };
        stream.lost.push_front(piece);
        self.schedule(slot);
        let key = self.key(slot);
        let told = std::mem::replace(&mut self.streams[slot as usize].lost_told, true);
        self.tell_head(slot);
        if !told {
            self.scheduler.on_lost(key);
        }
    }

    /// What was lost had arrived after all.
    pub fn find(&mut self, slot: u32) {
        self.streams[slot as usize].lost.clear();
    }

    /// The stream is over; another one takes its slot.
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
            self.tell_head(slot);
            self.streams[slot as usize].ready = true;
            let key = self.key(slot);
            self.scheduler.on_ready(key, self.view.now);
        }
    }

    fn tell_head(&mut self, slot: u32) -> bool {
        let stream = &mut self.streams[slot as usize];
        let Some(head) = stream.next().map(|piece| piece.head).filter(|_| self.heads) else { return false };
        let new = stream.told.replace(head) != Some(head);
        if new {
            let key = self.key(slot);
            self.scheduler.on_head(key, head);
        }
        new
    }

    fn set_idle(&mut self, slot: u32) {
        let stream = &mut self.streams[slot as usize];
        (stream.ready, stream.lost_told) = (false, false);
        let key = self.key(slot);
        self.scheduler.on_idle(key);
    }

    /// Sends as much as fits into `room` of the stream whose turn it is; `None` if none has anything to send.
    ///
    /// # Panics
    /// If the scheduler breaks a law.
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
        if self.tell_head(slot) {
            return None;
        }
        let stream = &mut self.streams[slot as usize];
        if stream.next().is_none() {
            self.set_idle(slot);
            return None;
        }
        if stream.lost_told && stream.lost.is_empty() {
            stream.lost_told = false;
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
        } else if stream.lost_told && stream.lost.is_empty() {
            stream.lost_told = false;
            self.scheduler.on_repaired(key);
        }
        let waits = |stream: &Stream| !stream.lost.is_empty();
        assert!(lost || !self.first || !self.streams.iter().any(waits), "lost data goes first");
        Some(Turn { slot, bytes: sent.bytes, head: sent.head, lost })
    }

    /// One event: `what` chooses it, `detail` the stream and more.
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
