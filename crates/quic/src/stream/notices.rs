//! The control frames of streams, called notices: limits, blocked limits, resets and stops. Each is queued, in
//! flight, or acknowledged (RFC 9000 section 13.3).

use super::{Streams, direction_index};
use crate::assemble::Payload;
use crate::delivery::Delivery;
use crate::sent::{Notice, SentFrame};
use wire::{Frame, StreamId};

/// The value of a notice that was never sent.
pub(super) const NEVER_SENT: u64 = u64::MAX;

impl Streams {
    /// The state of a notice and the last value sent; `None` for a closed stream.
    fn delivery(&mut self, notice: Notice) -> Option<(&mut Delivery, u64)> {
        Some(match notice {
            Notice::MaxData => self.grant.delivery(),
            Notice::MaxStreamData(id) => {
                let half = self.recv_half(id)?;
                (&mut half.update, half.limit)
            }
            Notice::MaxStreams(direction) => {
                let counts = &mut self.counts[direction_index(direction)];
                (&mut counts.update, counts.peer_may_open)
            }
            Notice::DataBlocked => self.credit.delivery(),
            Notice::StreamDataBlocked(id) => self.send_half(id)?.blocked_delivery(),
            Notice::StreamsBlocked(direction) => {
                let counts = &mut self.counts[direction_index(direction)];
                (&mut counts.blocked, counts.blocked_at.unwrap_or(NEVER_SENT))
            }
            Notice::ResetStream(id) => self.send_half(id)?.reset_delivery(),
            Notice::StopSending(id) => (&mut self.recv_half(id)?.stop_delivery, 0),
        })
    }

    /// Counts bytes that were read or dropped, and queues MAX_DATA if enough credit is to be granted.
    #[inline]
    pub(super) fn give_credit(&mut self, bytes: u64) {
        if self.grant.consume(bytes) {
            self.notices.push_back(Notice::MaxData);
        }
    }
    /// Queues a notice.
    pub(super) fn queue_notice(&mut self, notice: Notice) {
        if self.delivery(notice).is_some_and(|(delivery, _)| delivery.ask()) {
            self.notices.push_back(notice);
        }
    }

    /// Whether a notice is to be sent. Removes notices from the front that are not needed any more.
    pub(super) fn has_notices(&mut self) -> bool {
        while let Some(&notice) = self.notices.front() {
            if self.notice_frame(notice).is_some() {
                return true;
            }
            self.pop_notice();
        }
        false
    }

    fn pop_notice(&mut self) {
        if let Some(notice) = self.notices.pop_front()
            && let Some((delivery, _)) = self.delivery(notice)
        {
            delivery.dequeue();
        }
    }

    /// Removes all queued notices.
    pub(super) fn drop_notices(&mut self) {
        while !self.notices.is_empty() {
            self.pop_notice();
        }
    }

    pub(super) fn fill_notices(&mut self, payload: &mut Payload<'_>) {
        while let Some(&notice) = self.notices.front() {
            if let Some((frame, value)) = self.notice_frame(notice) {
                if frame.encoded_size() > payload.room() {
                    break;
                }
                self.put_notice(notice, &frame, value, payload);
            }
            self.pop_notice();
        }
    }

    fn put_notice(&mut self, notice: Notice, frame: &Frame<'_>, value: u64, payload: &mut Payload<'_>) {
        payload.frame(frame, SentFrame::Notice { notice, value });
        let state = self.delivery(notice);
        let (delivery, last_sent) = state.expect("a notice that has a frame belongs to an open stream");
        if value != last_sent {
            delivery.renew();
        }
        delivery.add();
        match notice {
            Notice::MaxData => self.grant.raise(),
            Notice::MaxStreamData(id) => {
                let half = self.recv_half(id);
                half.expect("credit is granted on a stream that this endpoint receives on").raise_limit();
            }
            Notice::MaxStreams(direction) => {
                self.counts[direction_index(direction)].peer_may_open = value;
            }
            _ => {}
        }
    }

    /// The frame with its current value, and that value; `None` if the peer has acknowledged it, or it is not needed
    /// any more.
    fn notice_frame(&mut self, notice: Notice) -> Option<(Frame<'static>, u64)> {
        let (frame, value) = match notice {
            Notice::MaxData => {
                let maximum = self.grant.next_limit();
                (Frame::MaxData { maximum }, maximum)
            }
            Notice::MaxStreamData(id) => {
                let half = self.recv_half(id)?;
                // RFC 9000 section 13.3: not in states "Size Known" and "Reset Recvd", and without effect after
                // STOP_SENDING.
                if half.has_final_size() || half.is_stopped() {
                    return None;
                }
                let maximum = half.next_limit();
                (Frame::MaxStreamData { id, maximum }, maximum)
            }
            Notice::MaxStreams(direction) => {
                let counts = &self.counts[direction_index(direction)];
                let maximum = (counts.peer_closed + counts.window).max(counts.peer_may_open);
                let maximum = maximum.min(StreamId::MAX_COUNT);
                (Frame::MaxStreams { direction, maximum }, maximum)
            }
            Notice::ResetStream(id) => {
                // RFC 9000-3.3-1: not "from a terminal state", which an acknowledged RESET_STREAM leads to.
                let (code, final_size, reliable_size) = self.send_half(id)?.pending_reset()?;
                match reliable_size {
                    0 => (Frame::ResetStream { id, code, final_size }, 0),
                    _ => (Frame::ResetStreamAt { id, code, final_size, reliable_size }, reliable_size),
                }
            }
            Notice::StopSending(id) => {
                let half = self.recv_half(id)?;
                if half.has_all() || half.reset_code().is_some() {
                    return None;
                }
                (Frame::StopSending { id, code: half.stop_code()? }, 0)
            }
            Notice::DataBlocked => {
                let limit = self.credit.blocked_limit()?;
                (Frame::DataBlocked { limit }, limit)
            }
            Notice::StreamDataBlocked(id) => {
                let limit = self.send_half(id)?.blocked_limit()?;
                (Frame::StreamDataBlocked { id, limit }, limit)
            }
            Notice::StreamsBlocked(direction) => {
                let counts = &self.counts[direction_index(direction)];
                let limit = counts.blocked_at.filter(|limit| *limit == counts.may_open)?;
                (Frame::StreamsBlocked { direction, limit }, limit)
            }
        };
        // RFC 9000 section 13.3: "sending ceases when a packet containing that information is acknowledged".
        let (delivery, last_sent) = self.delivery(notice)?;
        (value != last_sent || !delivery.is_done()).then_some((frame, value))
    }

    /// Notes that a frame with this value was acknowledged.
    #[cold]
    pub(super) fn on_notice_acked(&mut self, notice: Notice, value: u64) {
        if let Some((delivery, last_sent)) = self.delivery(notice)
            && last_sent == value
        {
            delivery.finish();
        }
        if let Notice::ResetStream(id) = notice {
            self.close_if_over(id);
        }
    }

    /// Notes that a frame with this value was lost. RFC 9000 section 13.3: only the newest value is sent again, while
    /// it is needed.
    #[cold]
    pub(super) fn on_notice_lost(&mut self, notice: Notice, value: u64) {
        let lost =
            self.delivery(notice).is_some_and(|(delivery, last_sent)| last_sent == value && delivery.lose());
        if lost && self.notice_frame(notice).is_some() {
            self.queue_notice(notice);
        }
    }

    /// Whether a frame with this value is still unacknowledged and needed, and not queued again anyway.
    pub(super) fn notice_is_unacked(&mut self, notice: Notice, value: u64) -> bool {
        self.delivery(notice).is_some_and(|(delivery, last_sent)| last_sent == value && !delivery.is_queued())
            && self.notice_frame(notice).is_some()
    }

    /// Repeats a notice in a probe; returns `false` if it does not fit.
    pub(super) fn repeat_notice(&mut self, notice: Notice, payload: &mut Payload<'_>) -> bool {
        let Some((frame, value)) = self.notice_frame(notice) else { return true };
        let fits = frame.encoded_size() <= payload.room();
        if fits {
            self.put_notice(notice, &frame, value, payload);
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::Payload;
    use crate::config::Config;
    use crate::sent::Contents;
    use crate::stream::Data;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use units::Time;
    use wire::{Direction, Side, TransportParameters};

    /// The streams of a client whose server has granted these limits.
    fn streams(initial_max_data: u64, initial_max_stream_data_uni: u64) -> Streams {
        let config = Config::default();
        let scheduler = crate::schedule::build("rr", &config.scheduler.arguments).unwrap();
        let mut streams = Streams::new(Side::Client, &config, scheduler);
        let allowed = TransportParameters {
            initial_max_data,
            initial_max_stream_data_uni,
            initial_max_streams_uni: 3,
            ..TransportParameters::default()
        };
        streams.set_peer_parameters(Time::ZERO, &allowed);
        streams
    }

    /// Streams with a notice of each kind: blocked everywhere, reset, stopped, and read.
    fn talkative() -> Streams {
        let mut streams = streams(30, 20);
        let ids: Vec<_> = (0..3).map(|_| streams.open(Direction::Unidirectional).unwrap()).collect();
        streams.open(Direction::Unidirectional).unwrap_err();
        streams.write(Time::ZERO, ids[0], Data::Virtual(100)).unwrap();
        streams.write(Time::ZERO, ids[1], Data::Virtual(100)).unwrap();
        streams.reset(ids[2], 7, 0).unwrap();
        let theirs = |index| StreamId::new(Side::Server, Direction::Unidirectional, index);
        for (index, length) in [(0, 100), (1, 9_000_000)] {
            streams.on_stream(theirs(index), 0, wire::Data::Virtual { length }, false).unwrap();
        }
        streams.stop(theirs(0), 9).unwrap();
        streams.read(theirs(1), crate::stream::Reading::Discard).unwrap();
        streams
    }

    fn with_payload(each: impl FnOnce(&mut Payload<'_>)) -> Vec<(Notice, u64)> {
        let (mut buffer, mut contents) = (Vec::new(), Contents::default());
        each(&mut Payload::new(&mut buffer, &mut contents, 1000, true));
        let notices = contents.frames().into_iter().filter_map(|frame| match frame {
            SentFrame::Notice { notice, value } => Some((notice, value)),
            _ => None,
        });
        notices.collect()
    }

    /// Sends a packet with all queued notices.
    fn packet(streams: &mut Streams) -> Vec<(Notice, u64)> {
        let view = crate::schedule::PathView {
            now: Time::ZERO,
            window: 1 << 20,
            smoothed_rtt: units::Duration::ZERO,
        };
        with_payload(|payload| streams.fill(payload, &view))
    }

    proptest! {
        /// For any order of losses, probes and acknowledgements, including late acknowledgements of lost packets: no
        /// packet contains a notice twice, and an acknowledged one is not sent again. The queue contains each notice
        /// at most once. An unacknowledged notice without a copy in flight is sent again.
        #[test]
        fn every_notice_is_sent_until_it_is_acknowledged_and_not_twice_at_a_time(
            steps in prop::collection::vec((0u8..4, 0usize..64), 1..100),
        ) {
            let mut streams = talkative();
            let mut packets: Vec<Vec<(Notice, u64)>> = vec![packet(&mut streams), packet(&mut streams)];
            let mut lost = BTreeSet::new();
            let mut heard: Vec<(Notice, u64)> = Vec::new();
            // No event changes a value or makes a notice unnecessary.
            let said: Vec<(Notice, u64)> = packets.concat();
            prop_assert!(said.len() >= 7, "{:?}", packets);
            for (step, which) in steps {
                let which = which % packets.len();
                match step {
                    0 => {
                        let said = packet(&mut streams);
                        for (at, notice) in said.iter().enumerate() {
                            prop_assert!(!said[..at].contains(notice), "{:?}", said);
                            prop_assert!(!heard.contains(notice), "{:?} was heard", notice);
                        }
                        packets.push(said);
                    }
                    1 => {
                        let again: Vec<_> = packets[which].clone();
                        let again = with_payload(|payload| for (notice, value) in again {
                            if streams.notice_is_unacked(notice, value) {
                                assert!(streams.repeat_notice(notice, payload));
                            }
                        });
                        prop_assert!(again.iter().all(|notice| !heard.contains(notice)), "{:?}", again);
                        packets.push(again);
                    }
                    2 if lost.insert(which) => {
                        for (notice, value) in packets[which].clone() {
                            streams.on_lost(Time::ZERO, SentFrame::Notice { notice, value });
                        }
                    }
                    2 => {}
                    _ => {
                        lost.insert(which);
                        for (notice, value) in std::mem::take(&mut packets[which]) {
                            streams.on_acked(SentFrame::Notice { notice, value });
                            heard.push((notice, value));
                        }
                    }
                }
                for (at, notice) in streams.notices.iter().enumerate() {
                    prop_assert!(!streams.notices.iter().take(at).any(|other| other == notice));
                }
                for notice in said.iter().filter(|notice| !heard.contains(notice)) {
                    let mut flying = packets.iter().enumerate().filter(|(at, _)| !lost.contains(at));
                    let in_flight = flying.any(|(_, packet)| packet.contains(notice));
                    let waits = streams.notices.contains(&notice.0);
                    prop_assert!(in_flight != waits, "{:?} is in flight or waits", notice);
                }
            }
        }
    }

    /// RFC 9000-3.3-1, and section 13.3: a lost reset is queued again, but not needed once all data is acknowledged.
    #[test]
    fn a_lost_reset_is_sent_again_unless_all_data_is_acknowledged() {
        for overtaken in [false, true] {
            let mut streams = streams(1000, 1000);
            let id = streams.open(Direction::Unidirectional).unwrap();
            streams.write(Time::ZERO, id, Data::Virtual(100)).unwrap();
            streams.finish(Time::ZERO, id).unwrap();
            assert_eq!(packet(&mut streams), []);
            streams.reset(id, 5, 0).unwrap();
            let reset = (Notice::ResetStream(id), 0);
            assert_eq!(packet(&mut streams), [reset]);
            assert_eq!(packet(&mut streams), []);
            streams.on_lost(Time::ZERO, SentFrame::Notice { notice: reset.0, value: reset.1 });
            assert!(streams.has_notices());
            if overtaken {
                streams.on_acked(SentFrame::Stream { id, offset: 0, length: 100, fin: true });
            }
            assert_eq!(packet(&mut streams), if overtaken { vec![] } else { vec![reset] });
        }
    }

    /// RFC 9000 section 13.3: "An updated value is sent ... if the packet containing the most recently sent MAX_DATA
    /// frame is declared lost".
    #[test]
    fn only_the_newest_limit_is_sent_again() {
        let mut streams = talkative();
        while !packet(&mut streams).is_empty() {}
        let id = StreamId::new(Side::Server, Direction::Unidirectional, 1);
        let mut limits = Vec::new();
        for end in [18_000_000, 30_000_000] {
            streams.on_stream(id, 9_000_000, wire::Data::Virtual { length: end - 9_000_000 }, false).unwrap();
            streams.read(id, crate::stream::Reading::Discard).unwrap();
            limits.push(packet(&mut streams));
        }
        let [old, new] = &limits[..] else { panic!() };
        assert!(!old.is_empty() && old.len() == new.len(), "{limits:?}");
        let lose = |streams: &mut Streams, all: &[(Notice, u64)]| {
            for (notice, value) in all.iter().copied() {
                streams.on_lost(Time::ZERO, SentFrame::Notice { notice, value });
            }
        };
        lose(&mut streams, old);
        assert_eq!(packet(&mut streams), []);
        lose(&mut streams, new);
        assert_eq!(packet(&mut streams), *new);
        lose(&mut streams, new);
        new.iter().for_each(|&(notice, value)| streams.on_acked(SentFrame::Notice { notice, value }));
        assert!(!streams.has_notices(), "the first copy was only late");
    }
}
