//! The streams of a connection: their halves, their limits, and the credit of the whole (RFC 9000 sections 2 to 4).

mod buffer;
mod flow;
mod recv;
mod send;
mod table;

pub use recv::Read;
pub(crate) use recv::RecvHalf;
pub use buffer::Data;

use crate::assemble::Payload;
use crate::config::Config;
use crate::error::{StreamError, TransportError};
use crate::event::Event;
use crate::schedule::{PathView, Scheduler};
use crate::sent::SentFrame;
use flow::{Credit, Grant};

use send::SendHalf;
use std::collections::VecDeque;
use table::Table;
use units::Time;
use wire::{Code, Direction, Frame, Side, StreamId, TransportParameters};

/// Both halves of one stream; a half that does not exist on this side is `None`.
#[derive(Debug)]
struct Stream {
    send: Option<SendHalf>,
    recv: Option<RecvHalf>,
}

/// How many streams of one direction.
#[derive(Debug, Default)]
struct Counts {
    /// Opened by this side.
    opened: u64,
    /// How many this side may open (MAX_STREAMS of the peer).
    may_open: u64,
    /// The limit for which STREAMS_BLOCKED was last sent.
    blocked_at: Option<u64>,
    /// Opened by the peer.
    peer_opened: u64,
    /// How many the peer may open (MAX_STREAMS told to it).
    peer_may_open: u64,
    /// Streams of the peer that are over.
    peer_closed: u64,
    /// How many the peer may have open at a time.
    window: u64,
    update_pending: bool,
}

/// What became of streamed bytes, for the books.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamStats {
    /// Application bytes sent for the first time.
    pub sent_bytes: u64,
    /// Application bytes sent again.
    pub retransmitted_bytes: u64,
    /// Application bytes acknowledged. (Those of a STREAM frame that is acknowledged twice count once.)
    pub acked_bytes: u64,
    /// Application bytes received for the first time, as counted for flow control.
    pub received_bytes: u64,
    /// Application bytes read.
    pub read_bytes: u64,
}

/// All streams of a connection.
pub(crate) struct Streams {
    side: Side,
    slots: Vec<Option<Stream>>,
    free: Vec<u32>,
    /// By the two low bits of the stream id.
    tables: [Table; 4],
    /// By direction.
    counts: [Counts; 2],
    credit: Credit,
    grant: Grant,
    /// Credits for new streams' sending halves: bidirectional of ours, bidirectional of the peer, unidirectional.
    send_credits: [u64; 3],
    /// Windows of new streams' receiving halves: the same order.
    recv_windows: [u64; 3],
    send_buffer: u64,
    scheduler: Box<dyn Scheduler>,
    /// Streams whose new data waits for credit of the connection.
    starved: Vec<StreamId>,
    control: VecDeque<SentFrame>,
    events: VecDeque<Event>,
    pub(crate) stats: StreamStats,
}

fn direction_index(direction: Direction) -> usize {
    match direction {
        Direction::Bidirectional => 0,
        Direction::Unidirectional => 1,
    }
}

impl Streams {
    pub(crate) fn new(side: Side, config: &Config, scheduler: Box<dyn Scheduler>) -> Streams {
        let counts = |window| Counts { peer_may_open: window, window, ..Counts::default() };
        Streams {
            side,
            slots: Vec::new(),
            free: Vec::new(),
            tables: Default::default(),
            counts: [counts(config.initial_max_streams_bidi), counts(config.initial_max_streams_uni)],
            credit: Credit::default(),
            grant: Grant::new(config.initial_max_data.as_bytes()),
            send_credits: [0; 3],
            recv_windows: [
                config.initial_max_stream_data_bidi_local.as_bytes(),
                config.initial_max_stream_data_bidi_remote.as_bytes(),
                config.initial_max_stream_data_uni.as_bytes(),
            ],
            send_buffer: config.send_buffer.as_bytes(),
            scheduler,
            starved: Vec::new(),
            control: VecDeque::new(),
            events: VecDeque::new(),
            stats: StreamStats::default(),
        }
    }

    /// The peer's transport parameters have come.
    pub(crate) fn set_peer_parameters(&mut self, peer: &TransportParameters) {
        self.credit.raise(peer.initial_max_data);
        // What the peer calls remote is what this side opens.
        self.send_credits = [
            peer.initial_max_stream_data_bidi_remote,
            peer.initial_max_stream_data_bidi_local,
            peer.initial_max_stream_data_uni,
        ];
        self.counts[0].may_open = peer.initial_max_streams_bidi;
        self.counts[1].may_open = peer.initial_max_streams_uni;
        for direction in [Direction::Bidirectional, Direction::Unidirectional] {
            if self.counts[direction_index(direction)].may_open > 0 {
                self.events.push_back(Event::StreamsAvailable(direction));
            }
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
                self.slots[slot as usize] = Some(stream);
                slot
            }
            None => {
                self.slots.push(Some(stream));
                (self.slots.len() - 1) as u32
            }
        };
        self.tables[(id.value() & 3) as usize].insert(id.index(), slot);
    }

    #[inline]
    fn get(&mut self, id: StreamId) -> Option<&mut Stream> {
        let slot = self.tables[(id.value() & 3) as usize].get(id.index())?;
        self.slots[slot as usize].as_mut()
    }
    fn send_half(&mut self, id: StreamId) -> Option<&mut SendHalf> {
        self.get(id)?.send.as_mut()
    }
    fn recv_half(&mut self, id: StreamId) -> Option<&mut RecvHalf> {
        self.get(id)?.recv.as_mut()
    }

    /// The number of streams that are not over.
    pub(crate) fn open_count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    // ---- the application's side ----

    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
    pub(crate) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    pub(crate) fn open(&mut self, direction: Direction) -> Result<StreamId, StreamError> {
        let counts = &mut self.counts[direction_index(direction)];
        if counts.opened >= counts.may_open {
            if counts.blocked_at != Some(counts.may_open) {
                counts.blocked_at = Some(counts.may_open);
                let bidirectional = direction == Direction::Bidirectional;
                self.control.push_back(SentFrame::StreamsBlocked { bidirectional });
            }
            return Err(StreamError::LimitReached);
        }
        let id = StreamId::new(self.side, direction, counts.opened);
        counts.opened += 1;
        self.insert(id);
        Ok(id)
    }

    fn sending(&mut self, id: StreamId) -> Result<&mut SendHalf, StreamError> {
        let sends = id.sends(self.side);
        let stream = self.get(id).ok_or(StreamError::Unknown)?;
        debug_assert_eq!(sends, stream.send.is_some());
        stream.send.as_mut().ok_or(StreamError::WrongDirection)
    }

    pub(crate) fn write(&mut self, now: Time, id: StreamId, data: Data<'_>) -> Result<u64, StreamError> {
        let limit = self.send_buffer;
        let half = self.sending(id)?;
        if let Some(code) = half.stopped() {
            return Err(StreamError::Stopped(code));
        }
        if !half.is_writable() {
            return Err(StreamError::Finished);
        }
        let taken = match data {
            Data::Virtual(_) => data,
            Data::Bytes(bytes) => {
                let room = limit.saturating_sub(half.buffered()).min(bytes.len() as u64) as usize;
                if room < bytes.len() {
                    half.wants_write = true;
                }
                if room == 0 && !bytes.is_empty() {
                    return Err(StreamError::Blocked);
                }
                Data::Bytes(&bytes[..room])
            }
        };
        half.write(taken);
        self.schedule(now, id);
        Ok(taken.len())
    }

    pub(crate) fn finish(&mut self, now: Time, id: StreamId) -> Result<(), StreamError> {
        let half = self.sending(id)?;
        if !half.is_writable() {
            return Err(half.stopped().map_or(StreamError::Finished, StreamError::Stopped));
        }
        half.finish();
        self.schedule(now, id);
        Ok(())
    }

    pub(crate) fn reset(&mut self, id: StreamId, code: u64) -> Result<(), StreamError> {
        let half = self.sending(id)?;
        if half.reset_code().is_none() {
            half.reset(code);
            self.control.push_back(SentFrame::ResetStream { id });
        }
        Ok(())
    }

    pub(crate) fn stop(&mut self, id: StreamId, code: u64) -> Result<(), StreamError> {
        let stream = self.get(id).ok_or(StreamError::Unknown)?;
        let half = stream.recv.as_mut().ok_or(StreamError::WrongDirection)?;
        if half.stop(code) {
            self.control.push_back(SentFrame::StopSending { id });
        }
        self.close_if_over(id);
        Ok(())
    }

    /// Reads into `out`, or, without it, takes all there is unseen.
    #[inline]
    pub(crate) fn read(&mut self, id: StreamId, out: Option<&mut [u8]>) -> Result<Read, StreamError> {
        let slot = self.tables[(id.value() & 3) as usize].get(id.index()).ok_or(StreamError::Unknown)?;
        let stream = self.slots[slot as usize].as_mut().ok_or(StreamError::Unknown)?;
        let half = stream.recv.as_mut().ok_or(StreamError::WrongDirection)?;
        if let Some(code) = half.reset_code() {
            half.note_reset_seen();
            self.close_if_over(id);
            return Err(StreamError::Reset(code));
        }
        half.told = false;
        let read = match out {
            Some(out) => half.read(out),
            None => half.discard(),
        };
        self.stats.read_bytes += read.bytes;
        if !half.update_pending && half.wants_update() {
            half.update_pending = true;
            self.control.push_back(SentFrame::MaxStreamData { id });
        }
        if self.grant.consume(read.bytes) {
            self.control.push_back(SentFrame::MaxData);
        }
        if read.finished {
            self.close_if_over(id);
        }
        Ok(read)
    }

    // ---- the scheduler ----

    fn schedule(&mut self, now: Time, id: StreamId) {
        let connection = self.credit.available();
        let Some(half) = self.send_half(id) else { return };
        if half.scheduled {
            return;
        }
        if half.is_ready(connection) {
            half.scheduled = true;
            self.scheduler.on_ready(id, now);
        } else if half.is_blocked() {
            self.note_stream_blocked(id);
        } else if half.has_unsent() && !self.starved.contains(&id) {
            self.starved.push(id);
            self.note_connection_blocked();
        }
    }

    fn note_stream_blocked(&mut self, id: StreamId) {
        let Some(half) = self.send_half(id) else { return };
        if half.blocked_at != Some(half.credit) {
            half.blocked_at = Some(half.credit);
            self.control.push_back(SentFrame::StreamDataBlocked { id });
        }
    }
    fn note_connection_blocked(&mut self) {
        if self.credit.note_blocked() {
            self.control.push_back(SentFrame::DataBlocked);
        }
    }

    /// Whether anything waits to be sent.
    #[inline]
    pub(crate) fn has_pending(&mut self, view: &PathView) -> bool {
        !self.control.is_empty() || self.scheduler.next(view).is_some()
    }

    /// Fills the payload: first control frames, then what the scheduler gives.
    #[inline]
    pub(crate) fn fill(&mut self, payload: &mut Payload<'_>, view: &PathView) {
        if !self.control.is_empty() {
            self.fill_control(payload);
        }
        while payload.room() > 0 {
            let Some(id) = self.scheduler.next(view) else { break };
            if !self.fill_stream(id, payload, view) {
                break;
            }
        }
    }

    /// Puts one STREAM frame in; `false` when no more fits.
    #[inline]
    fn fill_stream(&mut self, id: StreamId, payload: &mut Payload<'_>, view: &PathView) -> bool {
        let connection = self.credit.available();
        let slot = self.tables[(id.value() & 3) as usize].get(id.index());
        let half = slot.and_then(|slot| self.slots[slot as usize].as_mut()?.send.as_mut());
        let Some(half) = half else {
            self.scheduler.on_idle(id);
            return true;
        };
        if !half.is_ready(connection) {
            half.scheduled = false;
            self.scheduler.on_idle(id);
            self.schedule(view.now, id);
            return true;
        }
        let room = payload.stream_room(id, half.next_offset());
        if room == 0 {
            return false;
        }
        let Some(piece) = half.take(room, connection) else { return true };
        payload.stream(id, &piece, |range, out| half.copy(range, out));
        let length = u64::from(piece.length);
        let ready = half.is_ready(connection - piece.fresh);
        if !ready {
            half.scheduled = false;
        }
        self.credit.spend(piece.fresh);
        self.stats.sent_bytes += piece.fresh;
        self.stats.retransmitted_bytes += length - piece.fresh;
        self.scheduler.on_sent(id, length);
        if !ready {
            self.scheduler.on_idle(id);
            self.schedule(view.now, id);
        }
        true
    }

    fn fill_control(&mut self, payload: &mut Payload<'_>) {
        while let Some(&pending) = self.control.front() {
            if let Some(frame) = self.control_frame(pending) {
                if frame.encoded_size() > payload.room() {
                    break;
                }
                payload.frame(&frame, pending);
                self.note_control_sent(pending);
            }
            self.control.pop_front();
        }
    }

    /// The frame with the values of this moment; `None` if it is not needed any more.
    fn control_frame(&mut self, pending: SentFrame) -> Option<Frame<'static>> {
        Some(match pending {
            SentFrame::MaxData => Frame::MaxData { maximum: self.grant.next_limit() },
            SentFrame::MaxStreamData { id } => {
                let half = self.recv_half(id)?;
                if half.has_all() || half.is_stopped() || half.reset_code().is_some() {
                    return None;
                }
                Frame::MaxStreamData { id, maximum: half.next_limit() }
            }
            SentFrame::MaxStreams { bidirectional } => {
                let direction = if bidirectional { Direction::Bidirectional } else { Direction::Unidirectional };
                let counts = &self.counts[direction_index(direction)];
                let maximum = (counts.peer_closed + counts.window).max(counts.peer_may_open);
                Frame::MaxStreams { direction, maximum: maximum.min(StreamId::MAX_COUNT) }
            }
            SentFrame::ResetStream { id } => {
                let half = self.send_half(id)?;
                let (code, final_size) = half.pending_reset()?;
                Frame::ResetStream { id, code, final_size }
            }
            SentFrame::StopSending { id } => {
                let half = self.recv_half(id)?;
                if half.has_all() || half.reset_code().is_some() {
                    return None;
                }
                Frame::StopSending { id, code: half.stop_code()? }
            }
            SentFrame::DataBlocked => Frame::DataBlocked { limit: self.credit.blocked_limit()? },
            SentFrame::StreamDataBlocked { id } => {
                let half = self.send_half(id)?;
                let limit = half.blocked_at.filter(|limit| *limit == half.credit && half.is_blocked())?;
                Frame::StreamDataBlocked { id, limit }
            }
            SentFrame::StreamsBlocked { bidirectional } => {
                let direction = if bidirectional { Direction::Bidirectional } else { Direction::Unidirectional };
                let counts = &self.counts[direction_index(direction)];
                let limit = counts.blocked_at.filter(|limit| *limit == counts.may_open)?;
                Frame::StreamsBlocked { direction, limit }
            }
            _ => return None,
        })
    }

    fn note_control_sent(&mut self, sent: SentFrame) {
        match sent {
            SentFrame::MaxData => self.grant.raise(),
            SentFrame::MaxStreamData { id } => {
                if let Some(half) = self.recv_half(id) {
                    half.raise_limit();
                    half.update_pending = false;
                }
            }
            SentFrame::MaxStreams { bidirectional } => {
                let counts = &mut self.counts[usize::from(!bidirectional)];
                counts.peer_may_open =
                    (counts.peer_closed + counts.window).max(counts.peer_may_open).min(StreamId::MAX_COUNT);
                counts.update_pending = false;
            }
            SentFrame::ResetStream { id } => {
                if let Some(half) = self.send_half(id) {
                    half.note_reset_sent();
                }
            }
            _ => {}
        }
    }

    // ---- what the peer acknowledges and what is lost ----

    #[inline]
    pub(crate) fn on_acked(&mut self, frame: SentFrame) {
        match frame {
            SentFrame::Stream { id, offset, length, fin } => {
                let limit = self.send_buffer;
                let slot = self.tables[(id.value() & 3) as usize].get(id.index());
                let half = slot.and_then(|slot| self.slots[slot as usize].as_mut()?.send.as_mut());
                let Some(half) = half else { return };
                let acked = half.on_acked(offset..offset + u64::from(length), fin);
                self.stats.acked_bytes += acked.fresh;
                if half.wants_write && half.buffered() < limit && half.is_writable() {
                    half.wants_write = false;
                    self.events.push_back(Event::Writable(id));
                }
                if acked.delivered {
                    self.events.push_back(Event::Delivered(id));
                    self.close_if_over(id);
                }
            }
            SentFrame::ResetStream { id } => {
                if let Some(half) = self.send_half(id) {
                    half.on_reset_acked();
                    self.close_if_over(id);
                }
            }
            _ => {}
        }
    }

    pub(crate) fn on_lost(&mut self, now: Time, frame: SentFrame) {
        match frame {
            SentFrame::Stream { id, offset, length, fin } => {
                if let Some(half) = self.send_half(id) {
                    half.on_lost(offset..offset + u64::from(length), fin);
                    self.schedule(now, id);
                }
            }
            SentFrame::ResetStream { id } => {
                if self.send_half(id).is_some_and(SendHalf::on_reset_lost) {
                    self.control.push_back(frame);
                }
            }
            // RFC 9000 section 13.3: the newest value is sent again, if it still matters.
            SentFrame::MaxStreamData { id } => {
                if self.recv_half(id).is_some_and(|half| !std::mem::replace(&mut half.update_pending, true)) {
                    self.control.push_back(frame);
                }
            }
            SentFrame::MaxData => {
                if self.grant.ask() {
                    self.control.push_back(frame);
                }
            }
            SentFrame::MaxStreams { bidirectional } => {
                let counts = &mut self.counts[usize::from(!bidirectional)];
                if !std::mem::replace(&mut counts.update_pending, true) {
                    self.control.push_back(frame);
                }
            }
            SentFrame::StopSending { .. }
            | SentFrame::DataBlocked
            | SentFrame::StreamDataBlocked { .. }
            | SentFrame::StreamsBlocked { .. } => self.control.push_back(frame),
            _ => {}
        }
    }

    /// Frees a stream of which both halves are over, and lets the peer open another in its place.
    fn close_if_over(&mut self, id: StreamId) {
        let table = &mut self.tables[(id.value() & 3) as usize];
        let Some(slot) = table.get(id.index()) else { return };
        let Some(stream) = &self.slots[slot as usize] else { return };
        let sending = stream.send.as_ref().is_some_and(|half| !half.is_over());
        let receiving = stream.recv.as_ref().is_some_and(|half| !half.is_over());
        if sending || receiving {
            return;
        }
        let unread = stream.recv.as_ref().map_or(0, RecvHalf::unread);
        let sent = stream.send.as_ref().map_or(0, SendHalf::sent_to);
        let received = stream.recv.as_ref().map_or(0, RecvHalf::highest);
        if stream.send.as_ref().is_some_and(|half| half.scheduled) {
            self.scheduler.on_idle(id);
        }
        table.remove(id.index());
        self.slots[slot as usize] = None;
        self.free.push(slot);
        self.events.push_back(Event::Closed { stream: id, sent, received });
        // 4.2: bytes that nobody will read give their credit back.
        if self.grant.consume(unread) {
            self.control.push_back(SentFrame::MaxData);
        }
        if id.initiator() != self.side {
            let bidirectional = id.direction() == Direction::Bidirectional;
            let counts = &mut self.counts[direction_index(id.direction())];
            counts.peer_closed += 1;
            let left = counts.peer_may_open - counts.peer_closed.min(counts.peer_may_open);
            if left <= counts.window / 2 && !counts.update_pending {
                counts.update_pending = true;
                self.control.push_back(SentFrame::MaxStreams { bidirectional });
            }
        }
    }

    // ---- frames of the peer ----

    /// The stream of a frame of the peer: opened now if it is the peer's and new (and with it all below it, RFC 9000
    /// section 2.1); `None` if it is over.
    #[inline]
    fn resolve(&mut self, id: StreamId) -> Result<Option<&mut Stream>, TransportError> {
        match self.tables[(id.value() & 3) as usize].get(id.index()) {
            Some(slot) => Ok(self.slots[slot as usize].as_mut()),
            None => {
                self.open_for_peer(id)?;
                Ok(self.get(id))
            }
        }
    }

    fn open_for_peer(&mut self, id: StreamId) -> Result<(), TransportError> {
        let counts = &mut self.counts[direction_index(id.direction())];
        if id.initiator() == self.side {
            // 19.8 and others: a stream of ours that we did not open.
            if id.index() >= counts.opened {
                return Err(TransportError::new(Code::STREAM_STATE_ERROR, "frame for a stream that was not opened"));
            }
            return Ok(());
        }
        // 4.6: the limit is on the index.
        if id.index() >= counts.peer_may_open {
            return Err(TransportError::new(Code::STREAM_LIMIT_ERROR, "stream beyond MAX_STREAMS"));
        }
        while self.counts[direction_index(id.direction())].peer_opened <= id.index() {
            let counts = &mut self.counts[direction_index(id.direction())];
            let opened = StreamId::new(self.side.peer(), id.direction(), counts.peer_opened);
            counts.peer_opened += 1;
            self.insert(opened);
            self.events.push_back(Event::Opened(opened));
        }
        Ok(())
    }

    fn check_receives(&self, id: StreamId) -> Result<(), TransportError> {
        match id.receives(self.side) {
            true => Ok(()),
            false => Err(TransportError::new(Code::STREAM_STATE_ERROR, "frame for a stream that only we send on")),
        }
    }
    fn check_sends(&self, id: StreamId) -> Result<(), TransportError> {
        match id.sends(self.side) {
            true => Ok(()),
            false => Err(TransportError::new(Code::STREAM_STATE_ERROR, "frame for a stream that only we receive on")),
        }
    }

    /// STREAM (19.8).
    #[inline]
    pub(crate) fn on_stream(
        &mut self,
        id: StreamId,
        offset: u64,
        data: wire::Data<'_>,
        fin: bool,
    ) -> Result<(), TransportError> {
        self.check_receives(id)?;
        let Some(half) = self.resolve(id)?.and_then(|stream| stream.recv.as_mut()) else { return Ok(()) };
        let fresh = half.on_data(offset, data, fin)?;
        let tell = !half.told && half.is_readable() && !half.is_stopped();
        half.told |= tell;
        let over = half.is_stopped() && half.has_all();
        self.stats.received_bytes += fresh;
        self.grant.receive(fresh)?;
        if tell {
            self.events.push_back(Event::Readable(id));
        }
        if over {
            self.close_if_over(id);
        }
        Ok(())
    }

    /// RESET_STREAM (19.4).
    pub(crate) fn on_reset(&mut self, id: StreamId, code: u64, final_size: u64) -> Result<(), TransportError> {
        self.check_receives(id)?;
        let Some(half) = self.resolve(id)?.and_then(|stream| stream.recv.as_mut()) else { return Ok(()) };
        let known = half.reset_code().is_some();
        let fresh = half.on_reset(code, final_size)?;
        let stopped = half.is_stopped();
        let tell = !known && half.reset_code().is_some() && !stopped;
        self.grant.receive(fresh)?;
        if tell {
            self.events.push_back(Event::Reset { stream: id, code });
        }
        if stopped {
            self.close_if_over(id);
        }
        Ok(())
    }

    /// STOP_SENDING (19.5).
    pub(crate) fn on_stop_sending(&mut self, id: StreamId, code: u64) -> Result<(), TransportError> {
        self.check_sends(id)?;
        let Some(half) = self.resolve(id)?.and_then(|stream| stream.send.as_mut()) else { return Ok(()) };
        let was_reset = half.reset_code().is_some();
        if half.on_stop_sending(code) {
            if !was_reset {
                self.control.push_back(SentFrame::ResetStream { id });
            }
            self.events.push_back(Event::Stopped { stream: id, code });
        }
        Ok(())
    }

    /// MAX_DATA (19.9).
    pub(crate) fn on_max_data(&mut self, now: Time, maximum: u64) {
        if self.credit.raise(maximum) {
            for id in std::mem::take(&mut self.starved) {
                self.schedule(now, id);
            }
        }
    }

    /// MAX_STREAM_DATA (19.10).
    pub(crate) fn on_max_stream_data(&mut self, now: Time, id: StreamId, maximum: u64) -> Result<(), TransportError> {
        self.check_sends(id)?;
        if let Some(half) = self.resolve(id)?.and_then(|stream| stream.send.as_mut())
            && maximum > half.credit
        {
            half.credit = maximum;
            self.schedule(now, id);
        }
        Ok(())
    }

    /// MAX_STREAMS (19.11).
    pub(crate) fn on_max_streams(&mut self, direction: Direction, maximum: u64) {
        let counts = &mut self.counts[direction_index(direction)];
        if maximum > counts.may_open {
            counts.may_open = maximum;
            self.events.push_back(Event::StreamsAvailable(direction));
        }
    }

    /// STREAM_DATA_BLOCKED (19.13): nothing to do but to check that it may come.
    pub(crate) fn on_stream_data_blocked(&mut self, id: StreamId) -> Result<(), TransportError> {
        self.check_receives(id)?;
        self.resolve(id).map(|_| ())
    }
}
