//! The sending side of streams: scheduling, filling packets, acknowledgements and losses.

use super::lists::List;
use super::recv::RecvHalf;
use super::send::{SendHalf, WaitingFor};
use super::spares::SpareBuffers;
use super::{Counts, Notice, Streams, direction_index};
use crate::assemble::Payload;
use crate::event::Event;
use crate::schedule::{PathView, StreamKey};
use crate::sent::SentFrame;
use trace::Wait;
use units::Time;
use wire::StreamId;

/// The number of slots whose memory is kept when no stream is open.
const KEPT_SLOTS: usize = 1024;

impl Streams {
    pub(super) fn schedule(&mut self, now: Time, id: StreamId) {
        let connection = self.credit.available();
        let Some(key) = self.key(id) else { return };
        let Some(half) = self.send_half_at(key.slot) else { return };
        if half.scheduled {
            return;
        }
        if half.is_ready(connection) {
            half.scheduled = true;
            if self.marks.is_some() {
                self.report_head(key);
            }
            self.scheduler.on_ready(key, now);
        } else if half.is_blocked() {
            self.note_stream_blocked(id);
        } else if half.has_unsent() && self.enlist(id, List::Starved) {
            self.note_connection_blocked();
        }
    }

    /// Records that the application has written up to `end`.
    #[cold]
    pub(super) fn note_written(&mut self, now: Time, id: StreamId, end: u64) {
        if let (Some(key), Some(marks)) = (self.key(id), &mut self.marks) {
            marks.note_written(key.slot, end, now);
        }
    }

    /// Reports to the scheduler which data the stream sends next, if that has changed. Returns whether it has.
    #[cold]
    fn report_head(&mut self, key: StreamKey) -> bool {
        let Some(offset) = self.send_half_at(key.slot).map(|half| half.next_offset()) else { return false };
        let changed = self.marks.as_mut().and_then(|marks| marks.change_of_head(key.slot, offset));
        if let Some(head) = changed {
            self.scheduler.on_head(key, head);
        }
        changed.is_some()
    }

    /// Removes a stream from the scheduler that has nothing to send or is blocked, and records what it waits for.
    #[cold]
    fn set_idle(&mut self, now: Time, key: StreamKey) {
        if let Some(half) = self.send_half_at(key.slot) {
            (half.scheduled, half.lost_reported) = (false, false);
        }
        self.scheduler.on_idle(key);
        self.schedule(now, key.id);
    }

    pub(super) fn note_stream_blocked(&mut self, id: StreamId) {
        let half = self.send_half(id).expect("a stream that is blocked is one that this endpoint sends on");
        if half.note_blocked() {
            self.enlist(id, List::Blocked);
            self.queue_notice(Notice::StreamDataBlocked(id));
        }
    }

    /// Whether new data waits for connection or stream credit.
    #[inline]
    pub(crate) fn wait_for_credit(&mut self) -> bool {
        !self.starved.is_empty() && self.credit.available() == 0
            || !self.blocked.is_empty() && self.is_any_blocked()
    }

    /// What keeps new data from being sent although window and pacer admit it.
    pub(crate) fn wait(&mut self) -> Wait {
        if !self.starved.is_empty() && self.credit.available() == 0 {
            Wait::ConnectionCredit
        } else if self.is_any_blocked() {
            Wait::StreamCredit
        } else if self.counts.iter().any(Counts::blocks) {
            Wait::StreamCount
        } else if self.queue.as_ref().is_some_and(|queue| queue.is_awaited()) {
            Wait::SendQueue
        } else {
            Wait::Application
        }
    }

    fn is_any_blocked(&mut self) -> bool {
        while let Some(&id) = self.blocked.front() {
            match self.send_half(id) {
                Some(half) if half.is_blocked() => return true,
                Some(half) => half.lists.leave(List::Blocked),
                None => {}
            }
            self.blocked.pop_front();
        }
        false
    }

    pub(super) fn note_connection_blocked(&mut self) {
        if self.credit.note_blocked() {
            self.queue_notice(Notice::DataBlocked);
        }
    }

    /// Whether there is anything to send.
    #[inline]
    pub(crate) fn has_pending(&mut self, view: &PathView) -> bool {
        !self.notices.is_empty() && self.has_notices() || self.scheduler.next(view).is_some()
    }

    /// Fills the payload: control frames first, then data that the scheduler selects.
    #[inline]
    pub(crate) fn fill(&mut self, payload: &mut Payload<'_>, view: &PathView) {
        if !self.notices.is_empty() {
            self.fill_notices(payload);
        }
        while payload.room() > 0 {
            let Some(key) = self.scheduler.next(view) else { break };
            if !self.fill_stream(key, payload, view) {
                break;
            }
        }
    }

    /// Adds one STREAM frame, or corrects the scheduler's state of the stream; returns `false` when no more fits.
    #[inline]
    fn fill_stream(&mut self, key: StreamKey, payload: &mut Payload<'_>, view: &PathView) -> bool {
        let (id, connection) = (key.id, self.credit.available());
        if self.marks.is_some() && self.report_head(key) {
            return true;
        }
        let half = self.slots.get_mut(key.slot as usize).and_then(|stream| stream.as_mut()?.send.as_mut());
        let Some(half) = half.filter(|half| half.is_ready(connection)) else {
            self.set_idle(view.now, key);
            return true;
        };
        if half.lost_reported && !half.has_lost() {
            // The loss was spurious.
            half.lost_reported = false;
            self.scheduler.on_repaired(key);
            return true;
        }
        let room = payload.stream_room(id, half.next_offset());
        if room.data == 0 {
            return false;
        }
        let piece =
            half.take(room.data, connection).expect("a stream that is ready has a piece for any room");
        payload.stream(id, &piece, room, |range, out| half.copy(range, out));
        let length = u64::from(piece.length);
        let ready = half.is_ready(connection - piece.fresh);
        let wants_room = half.awaited == WaitingFor::Room && half.unsent() <= super::room::LOW;
        let reset_is_due = half.delivers_part() && piece.fresh > 0 && half.unsent() == 0;
        let repaired = ready && half.lost_reported && !half.has_lost();
        half.lost_reported &= !repaired;
        self.credit.spend(piece.fresh);
        if piece.fresh > 0 && piece.fresh == connection && !self.starved.is_empty() {
            self.note_connection_blocked();
        }
        self.stats.sent_bytes += piece.fresh;
        self.stats.retransmitted_bytes += length - piece.fresh;
        self.scheduler.on_sent(key, length);
        if !ready {
            self.set_idle(view.now, key);
        } else if repaired {
            self.scheduler.on_repaired(key);
        }
        if wants_room {
            self.offer(id);
        }
        if reset_is_due {
            self.queue_notice(Notice::ResetStream(id));
        }
        true
    }

    /// Whether a frame in flight carries anything that the peer has not acknowledged.
    pub(crate) fn is_unacked(&mut self, frame: SentFrame) -> bool {
        match frame {
            SentFrame::Stream { id, offset, length, fin } => {
                let half = self.send_half(id);
                half.is_some_and(|half| half.missing(offset..offset + u64::from(length), fin).is_some())
            }
            SentFrame::Notice { notice, value } => self.notice_is_unacked(notice, value),
            _ => unreachable!("streams are asked only for their own frames: {frame:?}"),
        }
    }

    /// Puts as much of the unacknowledged part of a frame into a probe as fits; returns the rest.
    pub(crate) fn repeat(&mut self, frame: SentFrame, payload: &mut Payload<'_>) -> Option<SentFrame> {
        let (id, offset, length, fin) = match frame {
            SentFrame::Stream { id, offset, length, fin } => (id, offset, length, fin),
            SentFrame::Notice { notice, value } => {
                let done = !self.notice_is_unacked(notice, value) || self.repeat_notice(notice, payload);
                return (!done).then_some(frame);
            }
            _ => unreachable!("streams repeat only their own frames: {frame:?}"),
        };
        let end = offset + u64::from(length);
        let half = self.send_half(id)?;
        let mut piece = half.missing(offset..end, fin)?;
        let room = payload.stream_room(id, piece.offset);
        if room.data == 0 {
            return Some(frame);
        }
        if piece.length > room.data {
            (piece.length, piece.fin) = (room.data, false);
        }
        payload.stream(id, &piece, room, |range, out| half.copy(range, out));
        self.stats.retransmitted_bytes += u64::from(piece.length);
        let done = piece.offset + u64::from(piece.length);
        let rest =
            SentFrame::Stream { id, offset: done, length: (end - done) as u32, fin: fin && !piece.fin };
        self.is_unacked(rest).then_some(rest)
    }

    #[inline]
    pub(crate) fn on_acked(&mut self, frame: SentFrame) {
        match frame {
            SentFrame::Stream { id, offset, length, fin } => {
                let limit = self.send_buffer;
                let slot = self.index.get(id);
                let half = slot.and_then(|slot| self.slots[slot as usize].as_mut()?.send.as_mut());
                let Some(half) = half else { return };
                let buffered = half.buffered();
                let outstanding = if half.delivers_part() { half.outstanding() } else { 0 };
                let acked = half.on_acked(offset..offset + u64::from(length), fin);
                let (dropped, wants_room) = (buffered - half.buffered(), half.awaited == WaitingFor::Room);
                if let (Some(marks), Some(slot)) = (&mut self.marks, slot) {
                    marks.release(slot, half.acked_to());
                }
                self.stats.acked_bytes += acked.fresh;
                let (is_reset, delivers_part) = (half.reset_code().is_some(), half.delivers_part());
                // What a reset drops was released at the reset.
                let released = match is_reset {
                    false => acked.fresh,
                    true if delivers_part => outstanding - half.outstanding(),
                    true => 0,
                };
                if half.awaited == WaitingFor::Buffer && half.buffered() < limit && half.is_writable() {
                    half.awaited = WaitingFor::Nothing;
                    self.events.push_back(Event::Writable(id));
                }
                if acked.delivered {
                    self.events.push_back(Event::Delivered(id));
                }
                if acked.delivered || delivers_part {
                    self.close_if_over(id);
                }
                if self.queue.is_some() {
                    self.release(released);
                }
                if dropped > 0 {
                    self.note_dropped(dropped);
                    if wants_room {
                        self.offer(id);
                    }
                }
            }
            SentFrame::Notice { notice, value } => self.on_notice_acked(notice, value),
            _ => unreachable!("streams hear only of their own frames: {frame:?}"),
        }
    }

    /// Removes acknowledged or dropped bytes from the send queue, and resumes blocked applications if enough room is
    /// free.
    #[cold]
    pub(super) fn release(&mut self, length: u64) {
        let Some(queue) = &mut self.queue else { return };
        queue.note_released(length);
        while let Some(id) = self.queue.as_mut().and_then(|queue| queue.next_to_resume()) {
            if self.send_half(id).is_some_and(|half| half.is_writable()) {
                self.events.push_back(Event::Writable(id));
            }
        }
    }

    pub(crate) fn on_lost(&mut self, now: Time, frame: SentFrame) {
        match frame {
            SentFrame::Stream { id, offset, length, fin } => {
                if let Some(half) = self.send_half(id) {
                    half.on_lost(offset..offset + u64::from(length), fin);
                    self.schedule(now, id);
                    self.report_lost(id);
                }
            }
            SentFrame::Notice { notice, value } => self.on_notice_lost(notice, value),
            _ => unreachable!("streams hear only of their own frames: {frame:?}"),
        }
    }

    /// Reports to the scheduler that the stream has lost data, if it has.
    fn report_lost(&mut self, id: StreamId) {
        let Some(key) = self.key(id) else { return };
        let Some(half) = self.send_half_at(key.slot) else { return };
        if half.has_lost() && half.scheduled {
            let reported = std::mem::replace(&mut half.lost_reported, true);
            if self.marks.is_some() {
                self.report_head(key);
            }
            if !reported {
                self.scheduler.on_lost(key);
            }
        }
    }

    /// Removes a stream whose halves are both finished, and permits the peer to open another one in its place.
    pub(super) fn close_if_over(&mut self, id: StreamId) {
        let Some(slot) = self.index.get(id) else { return };
        let stream = self.slots[slot as usize].as_mut().expect("a slot in the index has its stream");
        // RFC 9000 section 4.2: the credit for bytes that will never be read is granted again.
        let unread = stream.recv.as_mut().map_or(0, RecvHalf::drop_unread);
        if unread > 0 && self.grant.consume(unread) {
            self.notices.push_back(Notice::MaxData);
        }
        let sending = stream.send.as_ref().is_some_and(|half| !half.is_over());
        let receiving = stream.recv.as_ref().is_some_and(|half| !half.is_over());
        if sending || receiving {
            return;
        }
        let sent = stream.send.as_ref().map_or(0, SendHalf::sent_to);
        self.stats.abandoned_bytes += u128::from(stream.send.as_ref().map_or(0, SendHalf::unsent));
        let received = stream.recv.as_ref().map_or(0, RecvHalf::highest);
        let key = StreamKey { id, slot };
        if stream.send.as_ref().is_some_and(|half| half.scheduled) {
            self.scheduler.on_idle(key);
        }
        self.scheduler.on_closed(key);
        if let Some(marks) = &mut self.marks {
            marks.forget(slot);
        }
        self.gaps -= u32::from(stream.recv.as_ref().is_some_and(|half| half.counts_as_gap));
        self.index.remove(id);
        self.slots[slot as usize] = None;
        self.free.push(slot);
        if self.open_count() == 0 {
            self.spares = SpareBuffers::default();
            if self.slots.len() > KEPT_SLOTS {
                (self.slots, self.free) = (Vec::new(), Vec::new());
            }
        }
        self.events.push_back(Event::Closed { stream: id, sent, received });
        if id.initiator() != self.side {
            let counts = &mut self.counts[direction_index(id.direction())];
            counts.peer_closed += 1;
            let left = counts.peer_may_open.checked_sub(counts.peer_closed);
            let left = left.expect("the peer opened its streams within the limit");
            // RFC 9000-4.6-5: "MUST NOT wait to receive this signal": granted after streams are closed.
            if left <= counts.window / 2 {
                self.queue_notice(Notice::MaxStreams(id.direction()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::schedule::{Priority, SCHEDULERS, build};
    use crate::sent::Contents;
    use crate::stream::Data;
    use units::parameter::{Arguments, Value};
    use units::{Duration, Time};
    use wire::{Direction, Side, TransportParameters};

    const VIEW: PathView = PathView { now: Time::ZERO, window: 12_000, smoothed_rtt: Duration::ZERO };

    /// A number of client streams with this scheduler and this connection credit.
    fn streams(name: &str, retransmissions: &str, count: usize, credit: u64) -> (Streams, Vec<StreamId>) {
        let row = SCHEDULERS.iter().find(|row| row.name == name).unwrap();
        let word = Value::Text(retransmissions.to_owned());
        let arguments = Arguments::filled(row.parameters, &[("retransmissions", word)], &[]).unwrap();
        let mut streams = Streams::new(Side::Client, &Config::default(), build(name, &arguments).unwrap());
        let peer = TransportParameters {
            initial_max_data: credit,
            initial_max_stream_data_bidi_remote: 1 << 20,
            initial_max_streams_bidi: 1000,
            ..TransportParameters::default()
        };
        streams.set_peer_parameters(Time::ZERO, &peer);
        let ids = (0..count).map(|_| streams.open(Direction::Bidirectional).unwrap()).collect();
        (streams, ids)
    }

    /// The STREAM frames of one packet of 1200 bytes: stream, offset, length, FIN.
    fn packet(streams: &mut Streams) -> Vec<(StreamId, u64, u32, bool)> {
        let (mut buffer, mut contents) = (Vec::new(), Contents::default());
        streams.fill(&mut Payload::new(&mut buffer, &mut contents, 1200, true), &VIEW);
        let stream = |frame: &SentFrame| match *frame {
            SentFrame::Stream { id, offset, length, fin } => Some((id, offset, length, fin)),
            _ => None,
        };
        contents.frames().iter().filter_map(stream).collect()
    }

    fn lose(streams: &mut Streams, frames: &[(StreamId, u64, u32, bool)]) {
        for &(id, offset, length, fin) in frames {
            streams.on_lost(Time::ZERO, SentFrame::Stream { id, offset, length, fin });
        }
    }

    /// Lost data, including a FIN, is sent at the stream's turn, or before the new data of all streams.
    #[test]
    fn lost_data_is_sent_by_rank_or_first() {
        for (option, again_at) in [("rank", 2), ("first", 0)] {
            let (mut streams, ids) = streams("abs", option, 2, 1 << 20);
            let [low, high] = ids[..] else { panic!("two streams") };
            streams.write(Time::ZERO, low, Data::Virtual(500)).unwrap();
            streams.finish(Time::ZERO, low).unwrap();
            let sent = packet(&mut streams);
            assert_eq!(sent, [(low, 0, 500, true)]);
            let urgent = Priority { urgency: 0, ..Priority::default() };
            streams.set_priority(high, urgent).unwrap();
            streams.write(Time::ZERO, high, Data::Virtual(2300)).unwrap();
            lose(&mut streams, &sent);
            let packets = [packet(&mut streams), packet(&mut streams), packet(&mut streams)].concat();
            let of_low: Vec<_> = packets.iter().filter(|frame| frame.0 == low).collect();
            assert_eq!(of_low.iter().map(|frame| frame.2).sum::<u32>(), 500, "{option}");
            assert!(of_low.last().unwrap().3, "{option}: the FIN too");
            assert_eq!(
                packets.iter().position(|frame| frame.0 == low),
                Some(again_at),
                "{option}: {packets:?}"
            );
        }
    }

    /// After a spurious loss nothing is sent again, and new data of the stream is not preferred.
    #[test]
    fn a_spurious_loss_puts_nothing_first() {
        let (mut streams, ids) = streams("abs", "first", 2, 1 << 20);
        let [low, high] = ids[..] else { panic!("two streams") };
        streams.write(Time::ZERO, low, Data::Virtual(3000)).unwrap();
        let sent = packet(&mut streams);
        streams.set_priority(high, Priority { urgency: 0, ..Priority::default() }).unwrap();
        streams.write(Time::ZERO, high, Data::Virtual(10_000)).unwrap();
        lose(&mut streams, &sent);
        let (id, offset, length, fin) = sent[0];
        streams.on_acked(SentFrame::Stream { id, offset, length, fin });
        assert_eq!(packet(&mut streams)[0].0, high);
    }

    /// Every scheduler sends all new data of a stream, in order, whatever it sends in between.
    #[test]
    fn new_data_of_a_stream_is_sent_in_order() {
        for (row, option) in SCHEDULERS.iter().flat_map(|row| [(row, "rank"), (row, "first")]) {
            let (mut streams, ids) = streams(row.name, option, 5, 1 << 20);
            for (number, id) in ids.iter().enumerate() {
                let priority = Priority { urgency: number as u8, weight: 5, ..Priority::default() };
                streams.set_priority(*id, priority).unwrap();
                streams.write(Time::ZERO, *id, Data::Virtual(5000 + number as u64)).unwrap();
                streams.finish(Time::ZERO, *id).unwrap();
            }
            let mut reached = [0; 5];
            for number in 0..100 {
                let sent = packet(&mut streams);
                for (id, offset, length, _) in &sent {
                    let reached = &mut reached[id.index() as usize];
                    assert!(offset <= reached, "{} {option}: {id:?} at {offset}", row.name);
                    *reached = (*reached).max(offset + u64::from(*length));
                }
                if number % 3 == 0 {
                    lose(&mut streams, &sent);
                }
            }
            assert_eq!(reached, [5000, 5001, 5002, 5003, 5004], "{} {option}", row.name);
            assert!(!streams.has_pending(&VIEW), "{} {option}", row.name);
        }
    }

    /// RFC 9000 section 4.1: without connection credit only lost data is sent. New credit resumes all streams by
    /// rank, with `fifo` in the order of writes.
    #[test]
    fn blocked_streams_resume() {
        for row in SCHEDULERS {
            let (mut streams, ids) = streams(row.name, "rank", 3, 1000);
            for id in &ids {
                streams.write(Time::ZERO, *id, Data::Virtual(1000)).unwrap();
            }
            let sent = packet(&mut streams);
            assert_eq!(sent.iter().map(|frame| frame.2).sum::<u32>(), 1000, "{}", row.name);
            assert_eq!(packet(&mut streams), [], "{}", row.name);
            lose(&mut streams, &sent);
            assert_eq!(packet(&mut streams), sent, "{}", row.name);
            streams.on_max_data(Time::ZERO, 10_000);
            let rest: Vec<_> = (0..3).flat_map(|_| packet(&mut streams)).collect();
            assert_eq!(rest.iter().map(|frame| frame.2).sum::<u32>(), 2000, "{}", row.name);
            if row.name == "fifo" {
                let mut order: Vec<_> = rest.iter().map(|frame| frame.0).collect();
                order.dedup();
                assert_eq!(order, ids[1..], "fifo");
            }
        }
    }

    /// Each write has its own place in the order: an earlier write of another stream is sent first.
    #[test]
    fn fifo_goes_from_write_to_write() {
        let (mut streams, ids) = streams("fifo", "rank", 2, 1 << 20);
        for (stream, length) in [(0, 1100), (1, 1100), (0, 1100), (1, 50)] {
            streams.write(Time::ZERO, ids[stream], Data::Virtual(length)).unwrap();
        }
        let packets: Vec<_> = (0..3).flat_map(|_| packet(&mut streams)).collect();
        let mut order: Vec<_> = packets.iter().map(|frame| frame.0.index()).collect();
        order.dedup();
        // The rest of a packet is filled with more data of the same stream.
        assert_eq!(order, [0, 1, 0], "{packets:?}");
    }
}
