//! Back pressure to the source of an application's data: how much of it is worth reading now.
//!
//! Written data is kept until it is acknowledged, so data for a peer that grants no credit is kept for as long as
//! that peer likes. An application whose data is stored elsewhere, for example in a file, therefore calls
//! [`Streams::room`] first.

use super::Streams;
use super::lists::List;
use super::send::WaitingFor;
use crate::error::StreamError;
use crate::event::Event;
use wire::StreamId;

/// The number of bytes that any stream may have ready to send, even if others keep much data: enough for some
/// packets, so that a scheduled stream has data.
const AHEAD: u64 = 16_384;
/// There is room again when no more than this is left unsent.
pub(super) const LOW: u64 = AHEAD / 2;
/// The minimum size of room that is reported, unless the limit itself is smaller.
const PIECE: u64 = 4096;

/// The limit on the data that all streams of a connection keep.
#[derive(Debug)]
pub(super) struct Allowance {
    /// The number of real bytes that they keep.
    kept: u64,
    limit: u64,
}

/// The rest of a limit; 0 if it is less than a piece.
fn left(limit: u64, kept: u64) -> u64 {
    let left = limit.saturating_sub(kept);
    if left < PIECE.min(limit) { 0 } else { left }
}

impl Allowance {
    /// The allowance for a stream with little or nothing to send.
    fn left(&self) -> u64 {
        left(self.limit, self.kept)
    }
    /// The allowance for a stream that has data to send. Half of the limit is reserved for streams that have none, so
    /// that urgent data does not wait for earlier data.
    fn left_for_more(&self) -> u64 {
        left(self.limit / 2, self.kept)
    }
    /// Stops unless the streams keep this many bytes.
    pub(super) fn check(&self, kept: u64) {
        assert_eq!(self.kept, kept, "what all streams keep is the sum of what each keeps");
    }
    pub(super) fn note_kept(&mut self, bytes: u64) {
        self.kept += bytes;
    }
}

impl Streams {
    /// See [`crate::Connection::set_send_allowance`].
    pub(crate) fn set_allowance(&mut self, limit: u64) {
        match &mut self.allowance {
            Some(allowance) => allowance.limit = limit,
            None => {
                let halves = self.slots.iter().flatten().filter_map(|stream| stream.send.as_ref());
                let kept = halves.map(|half| half.buffered()).sum();
                self.allowance = Some(Box::new(Allowance { kept, limit }));
            }
        }
        self.offer_allowance();
    }
    /// The real bytes that all streams keep, if there is an allowance.
    pub(crate) fn kept(&self) -> u64 {
        self.allowance.as_ref().map_or(0, |allowance| allowance.kept)
    }
    /// Whether a stream waits for the allowance.
    pub(crate) fn wait_for_allowance(&mut self) -> bool {
        while let Some(&id) = self.awaiting_allowance.front() {
            match self.send_half(id) {
                Some(half) if half.awaited == WaitingFor::Room => return true,
                Some(half) => half.lists.leave(List::AwaitingAllowance),
                None => {}
            }
            self.awaiting_allowance.pop_front();
        }
        false
    }
    /// Subtracts bytes that streams do not keep any more.
    #[inline]
    pub(super) fn note_dropped(&mut self, bytes: u64) {
        let Some(allowance) = &mut self.allowance else { return };
        let kept = allowance.kept.checked_sub(bytes);
        allowance.kept = kept.expect("what a stream drops was kept before");
        if !self.awaiting_allowance.is_empty() {
            self.offer_allowance();
        }
    }

    /// Forgets all streams.
    pub(super) fn forget_kept(&mut self) {
        self.awaiting_allowance.clear();
        if let Some(allowance) = &mut self.allowance {
            allowance.kept = 0;
        }
    }

    /// See [`crate::Connection::room`].
    pub(crate) fn room(&mut self, id: StreamId) -> Result<u64, StreamError> {
        let room = self.room_now(id)?;
        if room == 0 {
            self.wait_for_room(id);
        }
        Ok(room)
    }

    fn room_now(&mut self, id: StreamId) -> Result<u64, StreamError> {
        let (credit, credit_for_more) = (self.credit.left(), self.credit.left_for_more());
        let credit_for_none = self.credit.left_for_none(AHEAD);
        let admitted = self.queue.as_ref().map_or(u64::MAX, |queue| queue.room());
        let allowance = self.allowance.as_ref();
        let (allowed, more) =
            allowance.map_or((u64::MAX, u64::MAX), |known| (known.left(), known.left_for_more()));
        let limit = self.send_buffer;
        let half = self.sending(id)?;
        if let Some(code) = half.stopped() {
            return Err(StreamError::Stopped(code));
        }
        if !half.is_writable() {
            return Err(StreamError::Finished);
        }
        let unsent = half.unsent();
        let credit = if unsent == 0 { credit_for_none } else { credit };
        // RFC 9000 section 4.1: data beyond the credits would wait for the peer.
        let some = if unsent > LOW { 0 } else { (AHEAD - unsent).min(credit).min(allowed) };
        let own = half.credit.saturating_sub(half.written());
        let kept = left(limit, half.buffered());
        Ok(some.max(more.min(credit_for_more)).min(own).min(kept).min(admitted))
    }

    /// Requests [`Event::Writable`] when there is room. Whatever ends a lack of room calls [`Streams::offer`].
    fn wait_for_room(&mut self, id: StreamId) {
        let (credit, left) = (self.credit.available(), self.credit.left());
        let half = self.send_half(id).expect("only a stream that this endpoint sends on waits for room");
        half.awaited = WaitingFor::Room;
        if half.is_blocked() {
            // RFC 9000 section 4.1: "SHOULD send a STREAM_DATA_BLOCKED or DATA_BLOCKED frame".
            self.note_stream_blocked(id);
        }
        if left == 0 && self.enlist(id, List::Starved) && credit == 0 {
            self.note_connection_blocked();
        }
        if let Some(queue) = self.queue.as_mut().filter(|queue| queue.room() == 0) {
            queue.note_written(id, 0, false);
        }
        if self.allowance.as_ref().is_some_and(|allowance| allowance.left() == 0) {
            self.enlist(id, List::AwaitingAllowance);
        }
    }

    /// Releases the connection credit for the waiting bytes of an aborted stream.
    pub(super) fn release_waiting(&mut self, bytes: u64) {
        self.credit.note_waiting(bytes, 0);
        if bytes > 0 && self.credit.available() > 0 {
            self.offer_credit();
        }
    }

    /// Offers released connection credit to streams that wait for room.
    #[cold]
    fn offer_credit(&mut self) {
        for _ in 0..self.starved.len() {
            let Some(id) = self.starved.pop_front() else { break };
            if let Some(half) = self.send_half(id) {
                half.lists.leave(List::Starved);
                self.offer(id);
            }
        }
    }

    /// Reports room on a stream to the application, if it waits for room and there is some. Returns whether it did.
    #[cold]
    pub(super) fn offer(&mut self, id: StreamId) -> bool {
        let waits = self.send_half(id).is_some_and(|half| half.awaited == WaitingFor::Room);
        let there_is = waits && self.room(id).is_ok_and(|room| room > 0);
        if let Some(half) = self.send_half(id).filter(|_| there_is) {
            half.awaited = WaitingFor::Nothing;
            self.events.push_back(Event::Writable(id));
        }
        there_is
    }

    /// Offers room to streams that wait for the allowance, one after the other, until it is used up.
    #[cold]
    fn offer_allowance(&mut self) {
        let Some(allowance) = &self.allowance else { return };
        let mut left = allowance.left();
        for _ in 0..self.awaiting_allowance.len() {
            if left == 0 {
                break;
            }
            let Some(id) = self.awaiting_allowance.pop_front() else { break };
            if let Some(half) = self.send_half(id) {
                half.lists.leave(List::AwaitingAllowance);
            }
            // Streams that are closed or do not wait any more use nothing of it.
            if self.offer(id) {
                left = left.saturating_sub(AHEAD);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::Payload;
    use crate::config::Config;
    use crate::schedule::{PathView, Priority, build};
    use crate::sent::{Contents, SentFrame};
    use crate::stream::{Data, Notice};
    use units::parameter::Arguments;
    use units::{Duration, Time};
    use wire::{Direction, Side, TransportParameters};

    const VIEW: PathView = PathView { now: Time::ZERO, window: 12_000, smoothed_rtt: Duration::ZERO };

    /// A number of client streams with these credits of the connection and of each stream.
    fn streams(count: usize, connection: u64, stream: u64) -> (Streams, Vec<StreamId>) {
        streams_under("rr", count, connection, stream)
    }

    /// The same with this scheduler.
    fn streams_under(name: &str, count: usize, connection: u64, stream: u64) -> (Streams, Vec<StreamId>) {
        let row = crate::schedule::SCHEDULERS.iter().find(|row| row.name == name).unwrap();
        let arguments = Arguments::filled(row.parameters, &[], &[]).unwrap();
        let mut streams = Streams::new(Side::Client, &Config::default(), build(name, &arguments).unwrap());
        let peer = TransportParameters {
            initial_max_data: connection,
            initial_max_stream_data_bidi_remote: stream,
            initial_max_streams_bidi: 1000,
            ..TransportParameters::default()
        };
        streams.set_peer_parameters(Time::ZERO, &peer);
        let ids = (0..count).map(|_| streams.open(Direction::Bidirectional).unwrap()).collect();
        streams.events.clear();
        (streams, ids)
    }

    /// The frames of one packet of 1200 bytes.
    fn packet(streams: &mut Streams) -> Vec<SentFrame> {
        let (mut buffer, mut contents) = (Vec::new(), Contents::default());
        streams.fill(&mut Payload::new(&mut buffer, &mut contents, 1200, true), &VIEW);
        contents.frames()
    }

    /// Writes as much as there is room for; returns the number of bytes.
    fn pump(streams: &mut Streams, id: StreamId) -> u64 {
        let mut written = 0;
        while let Ok(room @ 1..) = streams.room(id) {
            assert_eq!(streams.write(Time::ZERO, id, Data::Bytes(&vec![1; room as usize])), Ok(room));
            written += room;
        }
        written
    }

    fn told(streams: &mut Streams) -> Vec<StreamId> {
        let events = std::iter::from_fn(|| streams.poll_event());
        events.filter_map(|event| if let Event::Writable(id) = event { Some(id) } else { None }).collect()
    }

    /// RFC 9000 section 4.1: without credit, the application is not asked for data and a BLOCKED frame is sent; new
    /// credit is reported to the application.
    #[test]
    fn there_is_room_for_stream_credit() {
        let (mut streams, ids) = streams(1, 1 << 20, 100);
        assert_eq!((pump(&mut streams, ids[0]), streams.room(ids[0])), (100, Ok(0)));
        let frames = [packet(&mut streams), packet(&mut streams)].concat();
        let blocked = SentFrame::Notice { notice: Notice::StreamDataBlocked(ids[0]), value: 100 };
        assert!(frames.contains(&blocked), "{frames:?}");
        assert_eq!(told(&mut streams), []);
        streams.on_max_stream_data(Time::ZERO, ids[0], 150).unwrap();
        assert_eq!((told(&mut streams), pump(&mut streams, ids[0])), (vec![ids[0]], 50));
    }

    #[test]
    fn there_is_room_for_connection_credit() {
        let (mut streams, ids) = streams(2, 1000, 1 << 20);
        assert_eq!((pump(&mut streams, ids[0]), pump(&mut streams, ids[1])), (1000, 1000));
        let frames = [packet(&mut streams), packet(&mut streams)].concat();
        let blocked = SentFrame::Notice { notice: Notice::DataBlocked, value: 1000 };
        assert!(frames.contains(&blocked), "{frames:?}");
        assert_eq!(told(&mut streams), []);
        streams.on_max_data(Time::ZERO, 5000);
        while !packet(&mut streams).is_empty() {}
        let told = told(&mut streams);
        assert!(ids.iter().all(|id| told.contains(id)), "{told:?}");
        assert_eq!((pump(&mut streams, ids[1]), pump(&mut streams, ids[0])), (3000, 3000));
    }

    /// RFC 9000 section 4.1: however many streams there are, the waiting data does not exceed the connection's credit
    /// by more than the advance of one stream; credit of aborted streams is released to others.
    #[test]
    fn streams_share_the_credit_of_the_connection() {
        let (mut streams, ids) = streams(100, 14_000, 1 << 40);
        let written: u64 = ids.iter().map(|id| pump(&mut streams, *id)).sum();
        assert_eq!(written, 14_000 + AHEAD);
        assert_eq!(told(&mut streams), []);
        streams.reset(ids[0], 0, 0).unwrap();
        let asked: Vec<u64> = told(&mut streams).into_iter().map(|id| pump(&mut streams, id)).collect();
        assert!(asked.len() > 90 && asked.iter().sum::<u64>() == 14_000, "{asked:?}");
        streams.on_stop_sending(ids[1], 0).unwrap();
        let asked: Vec<u64> = told(&mut streams).into_iter().map(|id| pump(&mut streams, id)).collect();
        assert!(asked.len() > 90 && asked.iter().sum::<u64>() == 14_000, "{asked:?}");
        // All of it is sent, followed by DATA_BLOCKED.
        let frames: Vec<SentFrame> = (0..20).flat_map(|_| packet(&mut streams)).collect();
        let blocked = SentFrame::Notice { notice: Notice::DataBlocked, value: 14_000 };
        assert!(streams.stats.sent_bytes == 14_000 && frames.contains(&blocked), "{frames:?}");
    }

    /// Data blocked by stream credit uses no connection credit.
    #[test]
    fn a_blocked_stream_leaves_the_credit_to_others() {
        let (mut streams, ids) = streams(2, 1000, 600);
        assert_eq!(streams.write(Time::ZERO, ids[0], Data::Bytes(&[1; 5000])), Ok(5000));
        assert_eq!(pump(&mut streams, ids[1]), 600);
        streams.on_max_stream_data(Time::ZERO, ids[0], 900).unwrap();
        streams.on_max_data(Time::ZERO, 1500);
        assert_eq!((pump(&mut streams, ids[1]), streams.room(ids[0])), (0, Ok(0)));
        while !packet(&mut streams).is_empty() {}
        assert_eq!(streams.stats.sent_bytes, 1500);
    }

    /// If connection credit is scarce, most of it is left for a stream that starts later.
    #[test]
    fn credit_is_reserved_for_streams_without_data() {
        let (mut streams, ids) = streams_under("abs", 2, 800_000, 1 << 40);
        assert_eq!(pump(&mut streams, ids[0]), 100_000);
        assert_eq!(pump(&mut streams, ids[1]), AHEAD);
        // While it sends, it gets all the remaining credit, and the other stream none.
        let mut sent = AHEAD;
        streams.set_priority(ids[1], Priority { urgency: 0, ..Priority::default() }).unwrap();
        while !packet(&mut streams).is_empty() {
            if told(&mut streams).contains(&ids[1]) {
                sent += pump(&mut streams, ids[1]);
            }
        }
        assert_eq!(sent, 700_000 + AHEAD);
    }

    /// With unlimited credit one stream gets half of the allowance, and others room for some packets; when half of
    /// these are sent, there is room for more.
    #[test]
    fn there_is_always_room_for_some_packets() {
        let (mut streams, ids) = streams(3, 1 << 40, 1 << 40);
        streams.set_allowance(1_000_000);
        assert_eq!(pump(&mut streams, ids[0]), 500_000);
        assert_eq!((pump(&mut streams, ids[1]), pump(&mut streams, ids[2])), (AHEAD, AHEAD));
        let mut packets = 0;
        while told(&mut streams).is_empty() {
            packet(&mut streams);
            packets += 1;
        }
        // Two streams have sent half of theirs, and the first as much.
        assert!((3 * LOW / 1200..4 * LOW / 1200).contains(&packets), "{packets}");
        assert!((LOW..LOW + 1200).contains(&pump(&mut streams, ids[1])));
    }

    /// The data that all streams keep, sent or not, remains below the allowance, and acknowledgements make room for
    /// waiting streams.
    #[test]
    fn kept_data_is_bounded_for_all_streams_together() {
        let (mut streams, ids) = streams(10, 1 << 40, 1 << 40);
        streams.set_allowance(50_000);
        let mut sent = Vec::new();
        for _ in 0..100 {
            for id in &ids {
                pump(&mut streams, *id);
            }
            sent.extend(packet(&mut streams));
            assert!(streams.kept() <= 50_000 && streams.kept() + PIECE > 50_000, "{}", streams.kept());
        }
        told(&mut streams);
        assert!(streams.wait_for_allowance());
        sent.iter().for_each(|frame| streams.on_acked(*frame));
        assert!(!told(&mut streams).is_empty());
        let kept: u64 = ids.iter().map(|id| streams.send_half(*id).unwrap().buffered()).sum();
        assert_eq!(streams.kept(), kept);
        // Data of a reset stream is not kept; a larger allowance is reported.
        streams.reset(ids[0], 0, 0).unwrap();
        let kept: u64 = ids.iter().map(|id| streams.send_half(*id).unwrap().buffered()).sum();
        assert_eq!(streams.kept(), kept);
        for id in &ids[1..] {
            pump(&mut streams, *id);
        }
        told(&mut streams);
        assert!(streams.wait_for_allowance());
        streams.set_allowance(1_000_000);
        assert!(!told(&mut streams).is_empty() && !streams.wait_for_allowance());
    }

    /// However small the allowance is, a waiting stream can use it.
    #[test]
    fn a_small_allowance_is_used() {
        let (mut streams, ids) = streams(1, 1 << 40, 1 << 40);
        streams.set_allowance(100);
        for _ in 0..3 {
            assert_eq!(pump(&mut streams, ids[0]), 100);
            let sent = packet(&mut streams);
            sent.iter().for_each(|frame| streams.on_acked(*frame));
            assert_eq!((told(&mut streams), streams.kept()), (vec![ids[0]], 0));
        }
    }

    /// Aborted streams in the list use nothing of the allowance, so that those after them get it.
    #[test]
    fn aborted_streams_leave_room_to_others() {
        for allowance in [64_000, 256_000, 4_000_000] {
            let (mut streams, ids) = streams(300, 1 << 40, 1 << 40);
            streams.set_allowance(allowance);
            let (first, others) = ids.split_first().unwrap();
            let (live, others) = others.split_last().unwrap();
            while pump(&mut streams, *first) > 0 {}
            let mut sent = Vec::new();
            loop {
                let some = packet(&mut streams);
                if some.is_empty() {
                    // The part reserved for streams that have nothing to send.
                    if others.iter().map(|id| pump(&mut streams, *id)).sum::<u64>() == 0 {
                        break;
                    }
                }
                sent.extend(some);
            }
            assert_eq!(streams.room(*live), Ok(0));
            told(&mut streams);
            for id in others {
                streams.reset(*id, 0, 0).unwrap();
            }
            loop {
                let some = packet(&mut streams);
                if some.is_empty() {
                    break;
                }
                sent.extend(some);
            }
            sent.iter().for_each(|frame| streams.on_acked(*frame));
            assert!(told(&mut streams).contains(live), "{allowance}");
        }
    }

    /// An unlimited number of waiting and then aborted streams uses bounded memory (RFC 9000 section 21.7).
    #[test]
    fn the_lists_of_waiting_streams_are_bounded() {
        for (connection, stream, allowance) in
            [(1 << 40, 1 << 40, 8_000), (0, 1 << 40, 1 << 30), (1 << 40, 0, 1 << 30)]
        {
            let (mut streams, ids) = streams(1, 1 << 40, 1 << 40);
            let peer = TransportParameters {
                initial_max_data: connection,
                initial_max_stream_data_uni: stream,
                initial_max_streams_uni: 1000,
                ..TransportParameters::default()
            };
            streams.forget(build("rr", &Arguments::default()).unwrap());
            streams.set_peer_parameters(Time::ZERO, &peer);
            streams.set_allowance(allowance);
            assert!(streams.open_count() == 0 && streams.kept() == 0 && !ids.is_empty());
            let first = streams.open(Direction::Unidirectional).unwrap();
            while pump(&mut streams, first) > 0 {}
            for _ in 1..1000 {
                let id = streams.open(Direction::Unidirectional).unwrap();
                pump(&mut streams, id);
                assert_eq!(streams.room(id), Ok(0));
                streams.reset(id, 0, 0).unwrap();
                for frame in packet(&mut streams) {
                    if matches!(frame, SentFrame::Notice { .. }) {
                        streams.on_acked(frame);
                    }
                }
                let longest =
                    streams.awaiting_allowance.len().max(streams.starved.len()).max(streams.blocked.len());
                assert!(longest < 40 && streams.open_count() < 10, "{longest} {}", streams.open_count());
            }
        }
    }

    /// RFC 9000 section 7.4.1: the limits of the new handshake replace the remembered ones.
    #[test]
    fn new_limits_of_a_handshake_give_room_to_waiting_streams() {
        let (mut streams, ids) = streams(1, 100, 100);
        assert_eq!((pump(&mut streams, ids[0]), streams.room(ids[0])), (100, Ok(0)));
        told(&mut streams);
        let peer = TransportParameters {
            initial_max_data: 10_000,
            initial_max_stream_data_bidi_remote: 10_000,
            initial_max_streams_bidi: 1000,
            ..TransportParameters::default()
        };
        streams.set_peer_parameters(Time::ZERO, &peer);
        assert_eq!(told(&mut streams), [ids[0]]);
    }
}
