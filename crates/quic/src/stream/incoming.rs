//! The effect of received frames on streams (RFC 9000 section 19).

use super::lists::List;
use super::{Held, Notice, Stream, Streams, direction_index};
use crate::error::TransportError;
use crate::event::Event;
use units::Time;
use wire::{Code, Direction, StreamId};

impl Streams {
    /// The stream of a received frame, opened now if it is a new stream of the peer (with all lower ones, RFC 9000
    /// section 2.1); `None` if it is closed.
    #[inline]
    fn resolve(&mut self, id: StreamId) -> Result<Option<&mut Stream>, TransportError> {
        let slot = self.resolve_slot(id)?;
        Ok(slot.and_then(|slot| self.slots[slot as usize].as_mut()))
    }

    /// The slot of that stream.
    #[inline]
    fn resolve_slot(&mut self, id: StreamId) -> Result<Option<u32>, TransportError> {
        match self.index.get(id) {
            Some(slot) => Ok(Some(slot)),
            None => {
                self.open_for_peer(id)?;
                Ok(self.index.get(id))
            }
        }
    }

    fn open_for_peer(&mut self, id: StreamId) -> Result<(), TransportError> {
        let counts = &mut self.counts[direction_index(id.direction())];
        if id.initiator() == self.side {
            // RFC 9000-19.5-1, 9000-19.8-1, 9000-19.10-1: "a locally initiated stream that has not yet been
            // created".
            if id.index() >= counts.opened {
                return Err(TransportError::new(
                    Code::STREAM_STATE_ERROR,
                    "frame for a stream that was not opened",
                ));
            }
            return Ok(());
        }
        // RFC 9000-4.6-3, 9000-19.11-4: "a stream ID exceeding the limit it has sent".
        if id.index() >= counts.peer_may_open {
            return Err(TransportError::new(Code::STREAM_LIMIT_ERROR, "stream beyond MAX_STREAMS"));
        }
        // RFC 9000-3.2-1: "all streams of the same type with lower-numbered stream IDs MUST be created".
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
        // RFC 9000-19.4-1, 9000-19.8-1, 9000-19.13-1: STREAM_STATE_ERROR "for a send-only stream".
        match id.receives(self.side) {
            true => Ok(()),
            false => Err(TransportError::new(Code::STREAM_STATE_ERROR, "frame for a send-only stream")),
        }
    }
    fn check_sends(&self, id: StreamId) -> Result<(), TransportError> {
        // RFC 9000-19.5-2, 9000-19.10-2: STREAM_STATE_ERROR "for a receive-only stream".
        match id.sends(self.side) {
            true => Ok(()),
            false => Err(TransportError::new(Code::STREAM_STATE_ERROR, "frame for a receive-only stream")),
        }
    }

    /// Handles STREAM (RFC 9000 section 19.8).
    #[inline]
    pub(crate) fn on_stream(
        &mut self,
        id: StreamId,
        offset: u64,
        data: wire::Data<'_>,
        fin: bool,
    ) -> Result<(), TransportError> {
        self.check_receives(id)?;
        let Some(slot) = self.resolve_slot(id)? else { return Ok(()) };
        let stream = self.slots[slot as usize].as_mut().expect("a slot in the index has its stream");
        let half = stream.recv.as_mut().expect("a stream that this endpoint receives on has that half");
        let fresh = half.on_data_with(offset, data, fin, &mut self.spares)?;
        // Data after a reset is not reported, because it cannot be read (RFC 9000 section 3.2).
        let open = !half.is_stopped() && half.reset_code().is_none();
        let report = open && !half.is_reported && half.is_readable();
        half.is_reported |= report;
        let stopped = half.is_stopped();
        if self.counts_gaps && half.has_gap() != half.counts_as_gap {
            half.counts_as_gap = !half.counts_as_gap;
            self.gaps = if half.counts_as_gap { self.gaps + 1 } else { self.gaps - 1 };
        }
        self.stats.received_bytes += fresh;
        if id.direction() == Direction::Unidirectional {
            self.stats.received_unidirectional += fresh;
        }
        self.grant.receive(fresh)?;
        if report {
            self.events.push_back(Event::Readable(id));
        }
        if stopped {
            self.close_if_over(id);
        }
        Ok(())
    }

    /// Handles RESET_STREAM (RFC 9000 section 19.4), whose reliable size is 0, or RESET_STREAM_AT.
    pub(crate) fn on_reset(
        &mut self,
        id: StreamId,
        code: u64,
        final_size: u64,
        reliable: u64,
    ) -> Result<(), TransportError> {
        self.check_receives(id)?;
        let Some(stream) = self.resolve(id)? else { return Ok(()) };
        let half = stream.recv.as_mut().expect("a stream that this endpoint receives on has that half");
        let known = half.reset_code().is_some();
        // RFC 9000-4.4-1: "MUST maintain flow control state for the stream in the unterminated direction".
        let fresh = half.on_reset(code, final_size, reliable)?;
        // Nobody waits for what is missing now.
        let gap = std::mem::take(&mut half.counts_as_gap);
        let stopped = half.is_stopped();
        let report = !known && half.reset_code().is_some() && !stopped;
        self.gaps -= u32::from(gap);
        self.grant.receive(fresh)?;
        if report {
            self.events.push_back(Event::Reset { stream: id, code });
        }
        if stopped {
            self.close_if_over(id);
        }
        Ok(())
    }

    /// Handles STOP_SENDING (RFC 9000 section 19.5).
    pub(crate) fn on_stop_sending(&mut self, id: StreamId, code: u64) -> Result<(), TransportError> {
        self.check_sends(id)?;
        let Some(stream) = self.resolve(id)? else { return Ok(()) };
        let half = stream.send.as_mut().expect("a stream that this endpoint sends on has that half");
        let (was_cut_off, before) = (half.is_cut_off(), Held::of(half));
        // RFC 9000-3.5-1: "MUST send a RESET_STREAM frame".
        let reported = half.on_stop_sending(code);
        if half.is_cut_off() && !was_cut_off {
            self.note_reset(id, &before);
        }
        if reported {
            self.events.push_back(Event::Stopped { stream: id, code });
        }
        Ok(())
    }

    /// Handles MAX_DATA (RFC 9000 section 19.9).
    pub(crate) fn on_max_data(&mut self, now: Time, maximum: u64) {
        if self.credit.raise(maximum) {
            // Each stream once: those that still lack credit return to the end of the queue.
            for _ in 0..self.starved.len() {
                // A list that streams return to is tidied up, and may end early.
                let Some(id) = self.starved.pop_front() else { break };
                if let Some(half) = self.send_half(id) {
                    half.lists.leave(List::Starved);
                }
                self.schedule(now, id);
                self.offer(id);
            }
        }
    }

    /// Handles MAX_STREAM_DATA (RFC 9000 section 19.10).
    pub(crate) fn on_max_stream_data(
        &mut self,
        now: Time,
        id: StreamId,
        maximum: u64,
    ) -> Result<(), TransportError> {
        self.check_sends(id)?;
        if let Some(half) = self.resolve(id)?.and_then(|stream| stream.send.as_mut())
            // RFC 9000-4.1-3: frames "that do not increase flow control limits".
            && maximum > half.credit
        {
            let before = half.waiting();
            half.credit = maximum;
            let waiting = half.waiting();
            self.credit.note_waiting(before, waiting);
            self.schedule(now, id);
            self.offer(id);
        }
        Ok(())
    }

    /// Handles MAX_STREAMS (RFC 9000 section 19.11).
    pub(crate) fn on_max_streams(&mut self, direction: Direction, maximum: u64) {
        let counts = &mut self.counts[direction_index(direction)];
        // RFC 9000-4.6-4, 9000-19.11-2: "MAX_STREAMS frames that do not increase the stream limit MUST be
        // ignored."
        if maximum > counts.may_open {
            counts.may_open = maximum;
            self.events.push_back(Event::StreamsAvailable(direction));
        }
    }

    /// Handles STREAM_DATA_BLOCKED (RFC 9000 section 19.13): grants credit for data read since the last update, even
    /// below the threshold.
    pub(crate) fn on_stream_data_blocked(&mut self, id: StreamId) -> Result<(), TransportError> {
        self.check_receives(id)?;
        self.resolve(id)?;
        if self.recv_half(id).is_some_and(|half| half.has_more_to_give()) {
            self.queue_notice(Notice::MaxStreamData(id));
        }
        Ok(())
    }

    /// Handles DATA_BLOCKED (RFC 9000 section 19.12) like STREAM_DATA_BLOCKED, for the connection.
    pub(crate) fn on_data_blocked(&mut self) {
        if self.grant.has_more_to_give() {
            self.queue_notice(Notice::MaxData);
        }
    }
}
