//! Acknowledged and lost packets (RFC 9002 sections 5 to 7, appendix A).

use super::Connection;
use crate::assemble::Payload;
use crate::control::Control;
use crate::datagrams::Datagrams;
use crate::error::TransportError;
use crate::handshake::CryptoStream;
use crate::ids::RemoteIds;
use crate::path::{AckBatch, Paths};
use crate::probing::Probing;
use crate::sent::SentFrame;
use crate::space::{BySpace, Space, SpaceKind};
use crate::stream::Streams;
use units::{Duration, Time};
use wire::{Ack, Code};

/// The maximum number of times that a server repeats its handshake flight because the client repeats its first
/// message.
const MAX_FLIGHTS_REPEATED: u8 = 2;
/// A repeated message that arrives within this fraction of the RTT after the flight was sent is ignored: a sender may
/// send two probes at once at a timeout (RFC 9002 section 6.2.4), and the flight answers both.
const SECOND_PROBE_RTT_FRACTION: u64 = 8;

/// The parts of a connection that sent frames belong to.
struct FrameOwners<'a> {
    streams: &'a mut Streams,
    datagrams: Option<&'a mut Datagrams>,
    control: &'a mut Control,
    remote_ids: &'a mut RemoteIds,
    /// The CRYPTO stream of the space.
    crypto: &'a mut CryptoStream,
}

impl FrameOwners<'_> {
    fn datagrams(&mut self) -> &mut Datagrams {
        self.datagrams.as_deref_mut().expect("a connection that has sent a datagram keeps its queues")
    }
    #[inline]
    fn acked(&mut self, frame: SentFrame) {
        match frame {
            SentFrame::Stream { .. } | SentFrame::Notice { .. } => self.streams.on_acked(frame),
            SentFrame::Crypto { offset, length } => self.crypto.on_acked(offset, u64::from(length)),
            SentFrame::Datagram { number } => self.datagrams().on_acked(number),
            control => {
                self.control.on_done(control);
                if let SentFrame::RetireConnectionId { sequence } = control {
                    self.remote_ids.on_retire_acked(sequence);
                }
            }
        }
    }
    fn lost(&mut self, now: Time, frame: SentFrame) {
        match frame {
            SentFrame::Crypto { offset, length } => self.crypto.on_lost(offset, u64::from(length)),
            SentFrame::Stream { .. } | SentFrame::Notice { .. } => self.streams.on_lost(now, frame),
            SentFrame::Datagram { number } => self.datagrams().on_lost(number),
            // RFC 9000-13.3-2: "The HANDSHAKE_DONE frame MUST be retransmitted until it is acknowledged."
            control => self.control.on_lost(control),
        }
    }
    /// Whether a frame in flight carries anything that the peer has not acknowledged.
    fn is_unacked(&mut self, frame: SentFrame) -> bool {
        match frame {
            SentFrame::Crypto { offset, length } => self.crypto.is_unacked(offset, length),
            SentFrame::Stream { .. } | SentFrame::Notice { .. } => self.streams.is_unacked(frame),
            SentFrame::Datagram { .. } => false,
            control => self.control.is_open(control),
        }
    }
}

/// Borrows one space that is not discarded, the path in use, and the owners of frames from a connection separately.
macro_rules! split {
    ($connection:expr, $kind:expr) => {{
        let Paths { current, ids, .. } = &mut $connection.paths;
        let space =
            $connection.spaces.get_mut($kind).expect("a discarded space acknowledges and loses nothing");
        let crypto =
            $connection.crypto.streams.get_mut($kind).expect("a space keeps its CRYPTO stream to its end");
        let owners = FrameOwners {
            streams: &mut $connection.streams,
            datagrams: $connection.datagrams.as_deref_mut(),
            control: &mut $connection.control,
            remote_ids: ids,
            crypto,
        };
        (space, current, owners)
    }};
}

/// The space whose ACK frame is being handled.
fn space_of_ack(spaces: &mut BySpace<Space>, kind: SpaceKind) -> &mut Space {
    spaces.get_mut(kind).expect("an acknowledgement discards no space")
}

impl Connection {
    /// Handles ACK (RFC 9000 section 19.3).
    pub(super) fn on_ack(&mut self, now: Time, kind: SpaceKind, ack: &Ack<'_>) -> Result<(), TransportError> {
        if kind == SpaceKind::Data
            && self.variety.as_ref().is_some_and(|variety| variety.is_optimistic_ack(ack))
        {
            // RFC 9000 sections 13.1 and 21.4.
            return Err(TransportError::new(Code::PROTOCOL_VIOLATION, "ACK for a skipped packet number"));
        }
        // An earlier frame of the packet may have completed the handshake, and discarded the space.
        let Some(space) = self.spaces.get(kind) else { return Ok(()) };
        if ack.largest() >= space.sent.next_number() {
            // RFC 9000 section 13.1.
            return Err(TransportError::new(Code::PROTOCOL_VIOLATION, "ACK for a packet that was not sent"));
        }
        if kind == SpaceKind::Data {
            self.check_acked_keys(now, ack.largest())?;
        }
        let mut batch = self.paths.begin_ack();
        let congested = self.take_acked(now, kind, ack, &mut batch);
        self.apply_path_outputs(now);
        if !batch.newly.any {
            if batch.foreign {
                self.detect_losses(now, kind);
            }
            return Ok(());
        }
        let path = &mut self.paths.current;
        let delay = if kind == SpaceKind::Data { path.ack_delay(ack) } else { Duration::ZERO };
        if let Some(sample) = path.recovery.sample_rtt(now, ack.largest(), &mut batch.newly, delay) {
            self.paths.stats.rtt.add(sample);
        }
        if congested > 0 && batch.newly.is_largest(ack.largest()) {
            path.recovery.on_marked(now, congested, &mut batch.newly);
        }
        self.detect_losses(now, kind);
        let recovery = &mut self.paths.current.recovery;
        recovery.finish_ack(now, &batch.newly);
        // RFC 9002 section 6.2.1: a client does not reset the backoff while the server may not have validated its
        // address.
        if recovery.pto_count > 0 && self.peer_completed_validation(self.is_handshake_acked()) {
            self.paths.current.recovery.pto_count = 0;
            space_of_ack(&mut self.spaces, kind).probing.forget_rest();
        }
        let space = space_of_ack(&mut self.spaces, kind);
        if space.sent.ack_eliciting() == 0 {
            space.probing.left = 0;
        }
        self.learn(now, false);
        self.trace_metrics(now);
        Ok(())
    }

    /// Removes the packets that an ACK frame newly acknowledges. Returns the number of packets newly reported with
    /// CE.
    #[inline]
    fn take_acked(&mut self, now: Time, kind: SpaceKind, ack: &Ack<'_>, batch: &mut AckBatch) -> u64 {
        let (space, path, mut owners) = split!(self, kind);
        let Space { heard, sent, received, .. } = &mut *space;
        let oldest = sent.first_number();
        heard.news(ack, oldest, |range| {
            let mut next = oldest.max(*range.start());
            loop {
                let number = sent.candidate(next);
                if number > *range.end() {
                    break;
                }
                next = number + 1;
                let Some((packet, was_lost)) = sent.acknowledge(number, |frame| owners.acked(frame)) else {
                    continue;
                };
                if let Some(largest) = packet.acked() {
                    received.on_ack_acked(largest);
                }
                path.on_packet_acked(now, number, packet, was_lost, batch);
            }
        });
        let raised = space.largest_acked.is_none_or(|known| ack.largest() > known);
        if raised {
            space.largest_acked = Some(ack.largest());
        }
        self.paths.end_ack(now, space, ack, raised, batch)
    }

    /// Detects the lost packets of a space.
    #[inline]
    pub(super) fn detect_losses(&mut self, now: Time, kind: SpaceKind) {
        self.losses.clear();
        let (space, path, mut owners) = split!(self, kind);
        let max_ack_delay = path.max_ack_delay();
        path.recovery.detect_losses(now, space, max_ack_delay, &mut self.losses, |frame| {
            owners.lost(now, frame);
        });
        // A spurious loss is only of interest if its acknowledgement arrives within a few round trips.
        let horizon = now - path.recovery.rtt.pto() * 3;
        space.sent.trim(horizon);
        if !self.losses.is_empty() {
            self.paths.on_losses(now, &self.losses);
            self.apply_path_outputs(now);
            self.trace_losses(now, kind);
        }
    }

    /// The number of packets and streams that [`Connection::check`] looks at.
    pub(crate) fn books(&self) -> usize {
        self.spaces.data.sent.kept() + self.streams.slots()
    }
    /// Stops if what is in flight, by spaces, contradicts what is counted by paths, or what is to be sent again.
    pub(super) fn check_flight(&self) {
        for (space, crypto) in self.spaces.all().zip(self.crypto.streams.all()) {
            space.check();
            crypto.check();
        }
        self.paths.check(self.spaces.all());
        self.control.check();
    }

    /// Discards a handshake space and its keys (RFC 9001 section 4.9).
    pub(super) fn discard_space(&mut self, now: Time, kind: SpaceKind) {
        if let Some(mut space) = self.spaces.discard(kind) {
            self.crypto.streams.discard(kind);
            self.paths.current.recovery.discard(now, &mut space);
            self.discard_keys(now, kind);
        }
    }
    /// Whether the peer has acknowledged a Handshake packet, or the Handshake space is discarded.
    pub(super) fn is_handshake_acked(&self) -> bool {
        self.spaces.get(SpaceKind::Handshake).is_none_or(|space| space.largest_acked.is_some())
    }

    /// Sends everything again, with new recovery state but continuing packet numbers (RFC 9002 section 6.3).
    pub(super) fn restart(&mut self, now: Time) {
        // The time since the first Initial packet replaces the default initial RTT. After probes nothing tells which
        // packet was answered, and the default stays, as far as the times since the first and the last allow.
        let default = self.paths.initial_rtt();
        let rtt = self.spaces.get(SpaceKind::Initial).and_then(|space| {
            let (first, last) = (now.since(space.sent.oldest()?.sent_at), now.since(space.last_eliciting_at));
            debug_assert!(
                last <= first,
                "the last packet that asks for an answer is not older than the first"
            );
            Some(default.max(last).min(first))
        });
        for kind in [SpaceKind::Initial, SpaceKind::Data] {
            // RFC 9000-17.2.5.3-1, 9000-17.2.5.3-2, 9000-17.2.3-1: "New packet numbers MUST be used for any new
            // packets", with the same bytes.
            self.lose_all(now, kind);
        }
        self.paths.restart(now, rtt);
    }

    /// Marks everything in flight in a space for retransmission, without signalling congestion.
    #[cold]
    pub(super) fn lose_all(&mut self, now: Time, kind: SpaceKind) {
        let (space, path, mut owners) = split!(self, kind);
        let newest = space.sent.next_number();
        let frames: Vec<SentFrame> =
            space.sent.outstanding_to(newest).flat_map(|(_, packet)| space.sent.frames_of(packet)).collect();
        for frame in frames {
            owners.lost(now, frame);
        }
        path.recovery.discard(now, space);
        (space.loss_time, space.probing, space.ping) = (None, Probing::default(), false);
    }

    /// Fills a probe with data in flight if no new data waits (RFC 9002 section 6.2.4): the rest of one packet, then
    /// the next packet. The original frames remain in flight, because nothing shows that they are lost.
    #[cold]
    pub(super) fn repeat_in_flight(&mut self, kind: SpaceKind, payload: &mut Payload<'_>) {
        if !self.repeat_rest(kind, payload) {
            return;
        }
        let (space, _, mut owners) = split!(self, kind);
        space.probing.begin_packet(&space.sent, |frame| owners.is_unacked(frame));
        self.repeat_rest(kind, payload);
    }

    /// Repeats as much of the current packet as fits; returns whether nothing of it is left.
    fn repeat_rest(&mut self, kind: SpaceKind, payload: &mut Payload<'_>) -> bool {
        while let Some(frame) = self.spaces.get(kind).and_then(|space| space.probing.frame()) {
            let rest = match frame {
                SentFrame::Crypto { offset, length } => {
                    self.crypto.streams.get(kind).and_then(|crypto| crypto.repeat(offset, length, payload))
                }
                SentFrame::Stream { .. } | SentFrame::Notice { .. } => self.streams.repeat(frame, payload),
                // RFC 9221 section 5.2: datagrams are not retransmitted.
                SentFrame::Datagram { .. } => None,
                frame if !self.control.is_open(frame) => None,
                frame => (!self.put_control(frame, payload)).then_some(frame),
            };
            let space = self.spaces.get_mut(kind).expect("the space of the frame that was repeated is there");
            space.probing.leave(rest);
            if rest.is_some_and(|rest| rest == frame || payload.room() == 0) {
                return false;
            }
        }
        true
    }

    /// Repeats the handshake flight in flight, as far as the anti-amplification limit allows: the client has repeated
    /// its first message, so it has not received all of the answer.
    ///
    /// RFC 9002 section 6.2.3: "for a limited number of times per connection". The second probe of an answered
    /// timeout and further CRYPTO frames of the same packet do not count.
    #[cold]
    pub(super) fn repeat_flight(&mut self, now: Time) {
        let pause = self.paths.current.recovery.rtt.smoothed() / SECOND_PROBE_RTT_FRACTION;
        let initial = self.spaces.get(SpaceKind::Initial);
        let initial = initial.expect("a CRYPTO frame of an Initial packet arrived while the space was there");
        let is_second_probe = initial.sent.ack_eliciting() > 0 && now < initial.last_eliciting_at + pause;
        if is_second_probe
            || self.crypto.has_pending(SpaceKind::Initial)
            || self.flights_repeated >= MAX_FLIGHTS_REPEATED
        {
            return;
        }
        self.flights_repeated += 1;
        for kind in [SpaceKind::Initial, SpaceKind::Handshake] {
            let space = self.spaces.get(kind);
            let space =
                space.expect("the spaces of the handshake end in their order, and Initial is not over");
            let crypto =
                self.crypto.streams.get_mut(kind).expect("a space keeps its CRYPTO stream to its end");
            let in_flight =
                space.sent.outstanding_from(0).flat_map(|(_, packet)| space.sent.frames_of(packet));
            for frame in in_flight {
                if let SentFrame::Crypto { offset, length } = frame {
                    crypto.on_lost(offset, u64::from(length));
                }
            }
        }
    }

    /// Queues the contents of all 0-RTT packets in flight, which will not be accepted, for packets with new numbers
    /// (RFC 9000 section 17.2.5.3; RFC 9002 section 6.4).
    pub(super) fn resend_early_data(&mut self, now: Time) {
        let (space, path, mut owners) = split!(self, SpaceKind::Data);
        let newest = space.sent.next_number();
        let in_flight = space.sent.outstanding_to(newest);
        let frames: Vec<SentFrame> = in_flight.flat_map(|(_, packet)| space.sent.frames_of(packet)).collect();
        for frame in frames {
            owners.lost(now, frame);
        }
        path.recovery.bytes_in_flight -= space.sent.discard_all();
        (space.loss_time, space.probing) = (None, Probing::default());
    }
}
