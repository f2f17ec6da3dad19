//! The streams of a connection: their halves, their limits, and connection flow control (RFC 9000 sections 2 to 4).

mod buffer;
mod flow;
mod incoming;
mod lists;
mod marks;
mod notices;
mod number;
mod outgoing;
mod queue;
mod recv;
mod reset;
mod rewind;
mod room;
mod send;
mod spares;
mod table;

pub(crate) use recv::RecvHalf;
pub(crate) use transport::{Data, Read};

use crate::config::Config;
use crate::delivery::Delivery;
use crate::error::StreamError;
use crate::event::Event;
use crate::schedule::{Priority, Scheduler, StreamKey};
use crate::sent::Notice;
pub(crate) use flow::Window;
use flow::{Credit, Grant};
use marks::WriteTimes;
use queue::SendQueue;
use room::Allowance;
use send::{SendHalf, WaitingFor};
use spares::SpareBuffers;
use std::collections::VecDeque;
use table::Index;
use units::Time;
use units::cache::ask_for;
use wire::{Direction, Side, StreamId};

/// Both halves of one stream; a half that does not exist at this endpoint is `None`.
#[derive(Debug)]
struct Stream {
    send: Option<SendHalf>,
    recv: Option<RecvHalf>,
}

/// The way in which bytes are read.
#[derive(Debug)]
pub(crate) enum Reading<'a> {
    /// Copies them.
    Into(&'a mut [u8]),
    /// Discards at most this many.
    Skip(u64),
    /// Discards all, including future ones.
    Discard,
}

/// What a sending half holds, in bytes.
struct Held {
    written: u64,
    outstanding: u64,
    buffered: u64,
    waiting: u64,
}

impl Held {
    fn of(half: &SendHalf) -> Held {
        Held {
            written: half.written(),
            outstanding: half.outstanding(),
            buffered: half.buffered(),
            waiting: half.waiting(),
        }
    }
}

/// The numbers of streams of one direction.
#[derive(Debug, Default)]
struct Counts {
    /// Streams opened by this endpoint.
    opened: u64,
    /// The number of streams that this endpoint may open (the peer's MAX_STREAMS).
    may_open: u64,
    /// The limit for which STREAMS_BLOCKED was last sent.
    blocked_at: Option<u64>,
    blocked: Delivery,
    /// Streams opened by the peer.
    peer_opened: u64,
    /// The number of streams that the peer may open (MAX_STREAMS sent).
    peer_may_open: u64,
    /// Closed streams of the peer.
    peer_closed: u64,
    /// The number of streams that the peer may have open at a time.
    window: u64,
    /// The state of MAX_STREAMS.
    update: Delivery,
}

/// The counters of stream data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamStats {
    /// Application bytes written.
    pub written_bytes: u128,
    /// Application bytes written that are never sent, since their streams were reset.
    pub abandoned_bytes: u128,
    /// Application bytes sent for the first time.
    pub sent_bytes: u64,
    /// Application bytes retransmitted.
    pub retransmitted_bytes: u64,
    /// Application bytes acknowledged. (Bytes acknowledged twice count once.)
    pub acked_bytes: u64,
    /// Application bytes received for the first time, as counted for flow control.
    pub received_bytes: u64,
    /// Those of them on unidirectional streams.
    pub received_unidirectional: u64,
    /// Application bytes read.
    pub read_bytes: u64,
}

/// All streams of a connection.
pub(crate) struct Streams {
    side: Side,
    slots: Vec<Option<Stream>>,
    free: Vec<u32>,
    index: Index,
    /// By direction.
    counts: [Counts; 2],
    credit: Credit,
    grant: Grant,
    /// Initial credits of sending halves: bidirectional streams of this endpoint, bidirectional streams of the peer,
    /// unidirectional streams.
    send_credits: [u64; 3],
    /// Windows of receiving halves, in the same order.
    recv_windows: [Window; 3],
    spares: SpareBuffers,
    send_buffer: u64,
    queue: Option<Box<SendQueue>>,
    /// The limit on the data that all streams keep, if the host has set one.
    allowance: Option<Box<Allowance>>,
    /// Whether the peer understands RESET_STREAM_AT.
    takes_parts: bool,
    scheduler: Box<dyn Scheduler>,
    /// The write times, if the scheduler needs them.
    marks: Option<Box<WriteTimes>>,
    /// Streams whose new data waits for connection credit.
    starved: VecDeque<StreamId>,
    /// Streams whose new data was blocked by stream credit, each once; some may have new credit by now.
    blocked: VecDeque<StreamId>,
    /// Streams that wait for the allowance.
    awaiting_allowance: VecDeque<StreamId>,
    /// The queued notices, each once.
    notices: VecDeque<Notice>,
    events: VecDeque<Event>,
    /// Whether gaps are counted, for a trace.
    counts_gaps: bool,
    /// The number of streams of which received data waits for data before it, if that is counted.
    pub(crate) gaps: u32,
    pub(crate) stats: StreamStats,
}

impl Counts {
    /// Whether the application has asked for a stream that the limit does not admit.
    fn blocks(&self) -> bool {
        self.opened >= self.may_open && self.blocked_at == Some(self.may_open)
    }
}

fn direction_index(direction: Direction) -> usize {
    match direction {
        Direction::Bidirectional => 0,
        Direction::Unidirectional => 1,
    }
}

impl Streams {
    /// Prefetches the scheduler and the first stream.
    #[inline]
    pub(crate) fn prefetch(&self) {
        ask_for(&*self.scheduler);
        self.slots.first().into_iter().for_each(ask_for);
    }

    /// Counts gaps or not; by default not.
    pub(crate) fn counting_gaps(mut self, counts_gaps: bool) -> Streams {
        self.counts_gaps = counts_gaps;
        self
    }

    pub(crate) fn new(side: Side, config: &Config, scheduler: Box<dyn Scheduler>) -> Streams {
        let window = |size| Window::new(size, config.credit_threshold);
        let counts = |window| Counts { peer_may_open: window, window, ..Counts::default() };
        Streams {
            side,
            slots: Vec::new(),
            free: Vec::new(),
            index: Index::default(),
            counts: [counts(config.initial_max_streams_bidi), counts(config.initial_max_streams_uni)],
            credit: Credit::default(),
            grant: Grant::new(window(config.initial_max_data)),
            send_credits: [0; 3],
            recv_windows: [
                window(config.initial_max_stream_data_bidi_local),
                window(config.initial_max_stream_data_bidi_remote),
                window(config.initial_max_stream_data_uni),
            ],
            spares: SpareBuffers::default(),
            send_buffer: config.send_buffer.as_bytes(),
            queue: SendQueue::new(config),
            allowance: None,
            takes_parts: false,
            marks: WriteTimes::wanted(&*scheduler),
            scheduler,
            starved: VecDeque::new(),
            blocked: VecDeque::new(),
            awaiting_allowance: VecDeque::new(),
            notices: VecDeque::new(),
            events: VecDeque::new(),
            counts_gaps: false,
            gaps: 0,
            stats: StreamStats::default(),
        }
    }

    fn kind(&self, id: StreamId) -> usize {
        match (id.direction(), id.initiator() == self.side) {
            (Direction::Bidirectional, true) => 0,
            (Direction::Bidirectional, false) => 1,
            (Direction::Unidirectional, _) => 2,
        }
    }

    fn insert(&mut self, id: StreamId) {
        let kind = self.kind(id);
        let stream = Stream {
            send: id.sends(self.side).then(|| SendHalf::new(self.send_credits[kind])),
            recv: id.receives(self.side).then(|| RecvHalf::new(self.recv_windows[kind])),
        };
        let slot = match self.free.pop() {
            Some(slot) => {
                let place = &mut self.slots[slot as usize];
                assert!(place.is_none(), "a free slot has no stream");
                *place = Some(stream);
                slot
            }
            None => {
                if self.slots.len() == self.slots.capacity() {
                    // Doubling a long list would waste as much memory as it uses. Many connections have one stream.
                    self.slots.reserve_exact((self.slots.len() / 8).max(self.slots.len().clamp(1, 4)));
                }
                self.slots.push(Some(stream));
                (self.slots.len() - 1) as u32
            }
        };
        self.index.insert(id, slot);
    }

    #[inline]
    fn get(&mut self, id: StreamId) -> Option<&mut Stream> {
        let slot = self.index.get(id)?;
        self.slots[slot as usize].as_mut()
    }
    /// The scheduler's key of a stream; `None` if it is closed.
    #[inline]
    fn key(&mut self, id: StreamId) -> Option<StreamKey> {
        let slot = self.index.get(id)?;
        Some(StreamKey { id, slot })
    }
    /// The sending half of the stream in a slot.
    #[inline]
    fn send_half_at(&mut self, slot: u32) -> Option<&mut SendHalf> {
        self.slots.get_mut(slot as usize)?.as_mut()?.send.as_mut()
    }
    fn send_half(&mut self, id: StreamId) -> Option<&mut SendHalf> {
        self.get(id)?.send.as_mut()
    }
    fn recv_half(&mut self, id: StreamId) -> Option<&mut RecvHalf> {
        self.get(id)?.recv.as_mut()
    }

    /// The number of open streams and of free slots.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }
    /// The number of open streams.
    pub(crate) fn open_count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// The number of open streams of the peer.
    pub(crate) fn peer_open(&self, direction: Direction) -> u64 {
        let counts = &self.counts[direction_index(direction)];
        let open = counts.peer_opened.checked_sub(counts.peer_closed);
        open.expect("the peer's streams are opened before they are closed")
    }
    /// The number of streams that the peer may open over the life of the connection.
    pub(crate) fn peer_limit(&self, direction: Direction) -> u64 {
        self.counts[direction_index(direction)].peer_may_open
    }

    /// What came of the bytes of all streams.
    pub(crate) fn books(&self) -> transport::StreamBooks {
        let open = || self.slots.iter().flatten();
        let (received, consumed) = self.grant.books();
        transport::StreamBooks {
            written: self.stats.written_bytes,
            sent: self.stats.sent_bytes,
            unsent: open()
                .filter_map(|stream| stream.send.as_ref())
                .map(|half| u128::from(half.unsent()))
                .sum(),
            abandoned: self.stats.abandoned_bytes,
            acked: self.stats.acked_bytes,
            received,
            consumed,
            unread: open().filter_map(|stream| stream.recv.as_ref()).map(RecvHalf::unread).sum(),
        }
    }

    /// Stops if the books of the connection do not agree with those of its streams.
    pub(crate) fn check(&self) {
        let open = || self.slots.iter().flatten();
        assert_eq!(open().count(), self.open_count(), "a slot without a stream is free");
        assert_eq!(open().count(), self.index.len(), "the index has the open streams");
        let sending = || open().filter_map(|stream| stream.send.as_ref());
        let receiving = || open().filter_map(|stream| stream.recv.as_ref());
        sending().for_each(SendHalf::check);
        receiving().for_each(RecvHalf::check);
        self.credit.check(sending().map(SendHalf::waiting).sum());
        self.grant.check();
        let books = self.books();
        let came_of_it = u128::from(books.sent) + books.unsent + books.abandoned;
        assert_eq!(books.written, came_of_it, "what was written was sent, or waits, or was given up");
        assert_eq!(books.received, books.consumed + books.unread, "what was received was read, or waits");
        let gaps = receiving().filter(|half| half.counts_as_gap).count();
        assert_eq!(gaps, self.gaps as usize, "the streams with a gap are counted");
        if let Some(allowance) = &self.allowance {
            allowance.check(sending().map(SendHalf::buffered).sum());
        }
        for counts in &self.counts {
            assert!(counts.opened <= counts.may_open, "no more streams are opened than the peer permits");
            assert!(counts.peer_closed <= counts.peer_opened, "a stream is opened before it is closed");
            assert!(counts.peer_opened <= counts.peer_may_open, "the peer opens no more streams than it may");
        }
    }

    // ---- calls of the application ----

    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
    pub(crate) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    pub(crate) fn open(&mut self, direction: Direction) -> Result<StreamId, StreamError> {
        let counts = &mut self.counts[direction_index(direction)];
        // RFC 9000-4.6-2, 9000-19.11-3: "Endpoints MUST NOT exceed the limit set by their peer."
        if counts.opened >= counts.may_open {
            if counts.blocked_at != Some(counts.may_open) {
                counts.blocked_at = Some(counts.may_open);
                counts.blocked.renew();
                self.queue_notice(Notice::StreamsBlocked(direction));
            }
            return Err(StreamError::LimitReached);
        }
        // RFC 9000-2.1-1: "MUST NOT reuse a stream ID within a connection".
        let id = StreamId::new(self.side, direction, counts.opened);
        counts.opened += 1;
        self.insert(id);
        Ok(id)
    }

    fn sending(&mut self, id: StreamId) -> Result<&mut SendHalf, StreamError> {
        let sends = id.sends(self.side);
        let stream = self.get(id).ok_or(StreamError::Unknown)?;
        debug_assert_eq!(sends, stream.send.is_some(), "a stream has the halves of its kind");
        stream.send.as_mut().ok_or(StreamError::WrongDirection)
    }

    pub(crate) fn write(&mut self, now: Time, id: StreamId, data: Data<'_>) -> Result<u64, StreamError> {
        let limit = self.send_buffer;
        let admitted = self.queue.as_ref().map_or(u64::MAX, |queue| queue.room());
        let half = self.sending(id)?;
        if let Some(code) = half.stopped() {
            return Err(StreamError::Stopped(code));
        }
        if !half.is_writable() {
            return Err(StreamError::Finished);
        }
        let offered = data.len();
        // Whether the limits leave room for less than was offered.
        let mut blocked = admitted < offered;
        let taken = match data {
            // RFC 9000 section 19.8: the largest offset is 2^62 - 1.
            Data::Virtual(length) => {
                Data::Virtual(length.min(admitted).min(wire::varint::MAX - half.written()))
            }
            Data::Bytes(bytes) => {
                let kept = limit.saturating_sub(half.buffered());
                if kept < offered && half.awaited == WaitingFor::Nothing {
                    half.awaited = WaitingFor::Buffer;
                }
                blocked |= kept < offered;
                Data::Bytes(&bytes[..kept.min(admitted).min(offered) as usize])
            }
        };
        if !taken.is_empty() || offered == 0 {
            let before = half.waiting();
            half.write(taken);
            let (end, waiting) = (half.written(), half.waiting());
            self.stats.written_bytes += u128::from(taken.len());
            self.credit.note_waiting(before, waiting);
            if self.marks.is_some() && !taken.is_empty() {
                self.note_written(now, id, end);
            }
            self.schedule(now, id);
        }
        if let (Some(allowance), Data::Bytes(bytes)) = (&mut self.allowance, taken) {
            allowance.note_kept(bytes.len() as u64);
        }
        if let Some(queue) = &mut self.queue {
            queue.note_written(id, taken.len(), admitted >= offered);
        }
        if taken.is_empty() && blocked { Err(StreamError::Blocked) } else { Ok(taken.len()) }
    }

    /// The number of bytes written to a stream; 0 if it is closed.
    pub(crate) fn written(&mut self, id: StreamId) -> u64 {
        self.send_half(id).map_or(0, |half| half.written())
    }

    /// The number of bytes written and never sent.
    pub(crate) fn unsent(&mut self, id: StreamId) -> Result<u64, StreamError> {
        Ok(self.sending(id)?.unsent())
    }

    pub(crate) fn finish(&mut self, now: Time, id: StreamId) -> Result<(), StreamError> {
        let half = self.sending(id)?;
        if !half.is_writable() {
            return Err(half.stopped().map_or(StreamError::Finished, StreamError::Stopped));
        }
        half.finish();
        if self.marks.is_some() {
            self.note_written(now, id, u64::MAX);
        }
        self.schedule(now, id);
        Ok(())
    }

    /// Resets a stream whose first `reliable` bytes are still delivered, if the peer understands that.
    pub(crate) fn reset(&mut self, id: StreamId, code: u64, reliable: u64) -> Result<(), StreamError> {
        let reliable = if self.takes_parts { reliable } else { 0 };
        let half = self.sending(id)?;
        // RFC 9000-11.2-1: "only be instigated by the application protocol", or in response to STOP_SENDING.
        let before = Held::of(half);
        // Not in state "Data Recvd", in which the peer has all data.
        if half.reset(code, reliable) {
            self.note_reset(id, &before);
        }
        Ok(())
    }

    /// Announces a reset, and releases what the stream does not hold any more.
    fn note_reset(&mut self, id: StreamId, before: &Held) {
        self.queue_notice(Notice::ResetStream(id));
        let half = self.send_half(id).expect("a stream is open while it is reset");
        let after = Held::of(half);
        self.stats.abandoned_bytes += u128::from(before.written - after.written);
        self.release(before.outstanding - after.outstanding);
        self.note_dropped(before.buffered - after.buffered);
        self.release_waiting(before.waiting - after.waiting);
    }

    pub(crate) fn stop(&mut self, id: StreamId, code: u64) -> Result<(), StreamError> {
        let stream = self.get(id).ok_or(StreamError::Unknown)?;
        let half = stream.recv.as_mut().ok_or(StreamError::WrongDirection)?;
        if half.stop(code) {
            self.queue_notice(Notice::StopSending(id));
        }
        self.close_if_over(id);
        Ok(())
    }

    pub(crate) fn set_priority(&mut self, id: StreamId, priority: Priority) -> Result<(), StreamError> {
        self.sending(id)?;
        if let Some(key) = self.key(id) {
            self.scheduler.on_priority(key, priority);
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn read(&mut self, id: StreamId, how: Reading<'_>) -> Result<Read, StreamError> {
        let slot = self.index.get(id).ok_or(StreamError::Unknown)?;
        let stream = self.slots[slot as usize].as_mut().ok_or(StreamError::Unknown)?;
        let half = stream.recv.as_mut().ok_or(StreamError::WrongDirection)?;
        if let Some(code) = half.reset_code() {
            half.note_reset_seen();
            self.close_if_over(id);
            return Err(StreamError::Reset(code));
        }
        half.is_reported = false;
        let read = match how {
            Reading::Into(out) => half.read_with(out, &mut self.spares),
            Reading::Skip(limit) => half.skip(limit, &mut self.spares),
            Reading::Discard => half.discard(),
        };
        // What is delivered before a reset has been read.
        if let Some(code) = half.reset_code() {
            self.events.push_back(Event::Reset { stream: id, code });
        }
        self.stats.read_bytes += read.bytes;
        // RFC 9000-4.2-1: not "wait for a STREAM_DATA_BLOCKED or DATA_BLOCKED frame": granted for data read.
        if half.wants_update() && half.update.ask() {
            self.notices.push_back(Notice::MaxStreamData(id));
        }
        self.give_credit(read.bytes);
        if read.finished {
            self.close_if_over(id);
        }
        Ok(read)
    }
}
