//! Received segments (RFC 9293 section 3.10.7.4).

use super::{Arrival, Connection, Persist};
use crate::data::Payload;
use crate::event::{CloseReason, Event};
use crate::recovery::Acknowledgement;
use crate::state::State;
use units::{Duration, Time};
use wire::tcp::{Flags, Header, SackBlocks};
use wire::{Ecn, Side};

/// RFC 5961 section 7: the maximum number of challenge ACKs within [`CHALLENGE_SPAN`].
const CHALLENGES: u32 = 10;
const CHALLENGE_SPAN: Duration = Duration::from_secs(5);

impl Connection {
    /// Processes a segment.
    // In the loop of a host, which has it inline whoever else calls it: 1 % of a transfer.
    #[inline(always)]
    pub fn receive(&mut self, now: Time, arrival: Arrival<'_>) {
        self.now = now;
        let size = arrival.bytes.len() as u64 + arrival.hole.map_or(0, |hole| u64::from(hole.length));
        let read = if arrival.damage.is_some() { None } else { Header::decode(arrival.bytes).ok() };
        let foreign = self.ends.remote.is_some_and(|remote| remote != arrival.remote);
        let Some((header, length)) = read.filter(|_| !foreign) else {
            self.stats.segments_dropped += 1;
            return;
        };
        self.stats.segments_received += 1;
        self.stats.bytes_received += size;
        let payload = Payload::new(arrival.bytes, length, arrival.hole);
        match self.state {
            State::Closed => self.on_closed(arrival.remote, &header, payload.len()),
            State::Listen => self.on_listen(now, arrival.remote, &header, payload),
            State::SynSent => self.on_syn_sent(now, arrival.remote, &header, payload.len()),
            _ => self.on_segment(now, &header, payload, arrival.ecn),
        }
        self.trace_received(now, &header, payload.len(), size);
    }

    fn on_segment(&mut self, now: Time, header: &Header, payload: Payload<'_>, field: Ecn) {
        let flags = header.flags;
        let length = payload.len() + u64::from(flags.has(Flags::FIN));
        let start = self.numbers.theirs.number(header.sequence, self.rcv_nxt());
        let repeated = self.state == State::SynReceived && start == Some(0) && flags.has(Flags::SYN);
        if repeated && !flags.has(Flags::RST) {
            return self.on_repeated_syn(now, header);
        }
        let acceptable = start.filter(|start| self.is_acceptable(*start, length));
        let stamped = self.opening.negotiated.timestamps && !flags.has(Flags::RST);
        if stamped && header.options.timestamps.is_none() {
            // RFC 7323 section 3.2: a segment without timestamps is "silently" dropped.
            self.stats.segments_dropped += 1;
            return;
        }
        // RFC 7323 section 5.3, R1: an old duplicate, unless it is a reset.
        let outdated = stamped
            && header.options.timestamps.is_some_and(|it| self.timestamps.recent.is_outdated(now, it));
        let (Some(start), false) = (acceptable, outdated) else {
            return self.on_unacceptable(now, header, start, payload.len());
        };
        // RFC 7323 section 5.2: the timestamps of a reset "MUST NOT be used to update connection state".
        if let Some(timestamps) = header.options.timestamps.filter(|_| stamped) {
            self.timestamps.recent.update(now, timestamps, start, self.numbers.last_ack_sent);
        }
        if flags.has(Flags::RST) {
            return self.on_reset(now, start);
        }
        if flags.has(Flags::SYN) {
            // RFC 9293 section 3.10.7.4, fourth; RFC 5961 section 4.2: otherwise a challenge ACK, whatever the sequence
            // number.
            return if self.may_listen_again() { self.listen_again(now) } else { self.challenge(now) };
        }
        if !flags.has(Flags::ACK) {
            self.stats.segments_dropped += 1;
            return;
        }
        self.stats.ce_segments_received += u64::from(field == Ecn::Ce);
        if !self.take_ack(now, header, start, payload.len()) {
            return;
        }
        if payload.len() > 0 {
            // RFC 3168 section 6.1.3: only data segments report CE.
            self.ecn.on_segment(flags, field);
            self.take_data(now, start, payload, header);
        }
        if flags.has(Flags::FIN) && self.state != State::Closed {
            self.take_fin(now, start + payload.len());
        }
    }

    /// RFC 9293 section 3.10.7.4, first: whether a segment lies in the window.
    fn is_acceptable(&self, start: u64, length: u64) -> bool {
        let next = self.rcv_nxt();
        let edge = self.window.edge().max(next);
        let inside = |number: u64| next <= number && number < edge;
        if edge == next || length == 0 {
            // With a zero window, the acknowledgement in a data segment is processed although the data is not.
            return start == next || inside(start) || length == 0 && start == edge;
        }
        inside(start) || inside(start + length - 1)
    }

    /// RFC 9293 section 3.10.7.4, first: an unacceptable segment is acknowledged and dropped, unless it is a reset.
    fn on_unacceptable(&mut self, now: Time, header: &Header, start: Option<u64>, length: u64) {
        self.stats.segments_dropped += 1;
        if header.flags.has(Flags::RST) {
            return;
        }
        if length == 0 && !header.flags.has(Flags::FIN) {
            // Two ends that disagree must not exchange acknowledgements forever.
            return self.challenge(now);
        }
        if let Some(start) = start.filter(|start| *start < self.incoming.next()) {
            // RFC 2883 section 4: report the duplicate.
            self.incoming.note_duplicate(start.max(1), (start + length).min(self.incoming.next()));
        }
        self.acks.at_once();
        if self.state == State::TimeWait && header.flags.has(Flags::FIN) {
            // Section 3.10.7.4, eighth: the acknowledgement of the peer's FIN was lost.
            self.timers.time_wait_until = Some(now + self.config.time_wait);
        }
    }

    /// The peer repeats its SYN, so the SYN-ACK is repeated too.
    fn on_repeated_syn(&mut self, now: Time, header: &Header) {
        if !header.flags.has(Flags::ACK) {
            self.opening.syn.due = true;
        } else if self.numbers.ours.number(header.acknowledgement, 1) == Some(1) {
            // The SYN-ACK of a simultaneous open acknowledges this side's SYN.
            let rtt = self.opening.syn.on_answered(now);
            self.peer.updated_by = (0, 1);
            self.establish(now, rtt);
            self.acks.at_once();
        }
    }

    /// RFC 5961 section 3.2: a reset is accepted only if its number is exactly the next expected one.
    fn on_reset(&mut self, now: Time, start: u64) {
        if start != self.rcv_nxt() {
            self.challenge(now);
        } else if self.may_listen_again() {
            self.listen_again(now);
        } else if self.state == State::SynReceived && self.ends.side == Side::Client {
            // Section 3.10.7.4, second: a simultaneous open was refused.
            self.abort(now, CloseReason::Refused);
        } else if self.only_ends_are_left() {
            self.abort(now, CloseReason::Finished);
        } else {
            self.abort(now, CloseReason::PeerReset);
        }
    }

    /// RFC 9293 section 3.10.7.4, second: whether a reset is not an error for the user, "enter the CLOSED state, delete
    /// the TCB, and return": in TIME-WAIT, and in CLOSING and LAST-ACK if everything but the FIN is acknowledged.
    fn only_ends_are_left(&self) -> bool {
        match self.state {
            State::TimeWait => true,
            State::Closing | State::LastAck => self.recovery.una > self.outgoing.end(),
            _ => false,
        }
    }

    /// Sends a challenge ACK, subject to the rate limit (RFC 5961 section 7).
    pub(super) fn challenge(&mut self, now: Time) {
        if now.since(self.answers.challenges.since) >= CHALLENGE_SPAN || self.answers.challenges.count == 0 {
            self.answers.challenges.since = now;
            self.answers.challenges.count = 0;
        }
        if self.answers.challenges.count < CHALLENGES {
            self.answers.challenges.count += 1;
            self.stats.challenge_acks_sent += 1;
            self.acks.at_once();
        }
    }

    /// RFC 9293 section 3.10.7.4, fifth. Returns `false` if the segment is to be dropped.
    fn take_ack(&mut self, now: Time, header: &Header, start: u64, length: u64) -> bool {
        let (una, nxt) = (self.recovery.una, self.recovery.nxt);
        let number = self.numbers.ours.number(header.acknowledgement, una);
        let opening = self.state == State::SynReceived;
        if opening && !number.is_some_and(|acked| (1..=nxt).contains(&acked)) {
            let remote = self.ends.remote.expect("a SYN that was received has its sender");
            self.on_closed(remote, header, length);
            return false;
        }
        let Some(mut acked) = number else {
            self.challenge(now);
            return false;
        };
        if opening {
            let rtt = self.opening.syn.on_answered(now);
            self.peer.updated_by = (start, 0);
            self.establish(now, rtt);
        }
        if self.timers.persist.sent && acked == nxt + 1 {
            // The window probe was accepted.
            self.recovery.skip_to(acked);
            self.stats.sent_bytes += 1;
            self.on_una(now, acked);
        }
        // RFC 5961 section 5.2: the acknowledgement is outside the acceptable range.
        if acked > self.recovery.nxt || acked + self.peer.largest < una {
            self.challenge(now);
            return false;
        }
        // RFC 9293 section 3.10.7.4: the advertised window counts from SND.UNA. Counting the window of an older
        // acknowledgement from there would give more than the peer has granted. Nor is an old acknowledgement a
        // duplicate (RFC 5681 section 2).
        let current = acked >= una;
        acked = acked.max(una);
        self.timers.persist.unanswered = 0;
        let window_changed = current && self.update_window(header, start, acked);
        if current && self.peer.edge <= acked {
            // RFC 9293 section 3.8.6: if the window has shrunk below the data in flight, retransmissions probe it, and
            // the connection stays open as long as the peer answers (section 3.8.6.1).
            self.recovery.rto.answered();
        }
        let duplicate = current
            && acked == una
            && length == 0
            && !header.flags.has(Flags::FIN)
            && !window_changed
            && !self.recovery.board.is_empty();
        self.acknowledge(now, header, acked, duplicate);
        true
    }

    /// RFC 9293 section 3.10.7.4: takes the window of the newest segment.
    fn update_window(&mut self, header: &Header, start: u64, acked: u64) -> bool {
        let (by_start, by_ack) = self.peer.updated_by;
        if start < by_start || start == by_start && acked < by_ack {
            return false;
        }
        let window = u64::from(header.window) << self.peer.shift;
        let edge = acked + window;
        let changed = edge != self.peer.edge;
        self.peer.updated_by = (start, acked);
        self.peer.edge = edge;
        self.peer.largest = self.peer.largest.max(window);
        if window > 0 {
            self.timers.persist = Persist { sent: self.timers.persist.sent, ..Persist::default() };
        }
        changed
    }

    pub(super) fn acknowledge(&mut self, now: Time, header: &Header, acked: u64, duplicate: bool) {
        let advanced = acked > self.recovery.una;
        let has_blocks = self.opening.negotiated.sack && !header.options.sack.as_slice().is_empty();
        if !(advanced || has_blocks || duplicate || header.flags.has(Flags::ECE)) {
            return;
        }
        let mut blocks = [(0, 0); SackBlocks::MAX];
        let (count, dsack) =
            if has_blocks { self.read_blocks(header, acked, &mut blocks) } else { (0, None) };
        self.stats.dsacks_received += u64::from(dsack.is_some());
        let marked = self.ecn.on_ack(header.flags, acked, self.recovery.nxt);
        self.stats.ecn_reductions += u64::from(marked);
        let echo = header
            .options
            .timestamps
            .filter(|_| self.opening.negotiated.timestamps)
            .map(|timestamps| timestamps.echo);
        let blocks = &blocks[..count];
        let ack = Acknowledgement { una: acked, blocks, dsack, echo, duplicate, marked };
        let outcome = self.recovery.on_ack(now, &ack);
        self.sample_rtt(outcome.rtt);
        self.stats.segments_spuriously_lost += outcome.spurious;
        self.after_losses(now);
        if advanced {
            self.on_una(now, acked);
        }
        if self.recovery.learns() {
            self.recovery.learn(now, false, &mut self.log);
        }
        self.trace_metrics(now);
    }

    /// Reports declared losses to the trace and, with ECN, the reduced window to the peer.
    pub(super) fn after_losses(&mut self, now: Time) {
        self.trace_losses(now);
        if std::mem::take(&mut self.recovery.reduced) {
            self.ecn.on_reduced();
        }
    }

    /// Converts the SACK blocks to numbers. A first block below the acknowledged number, or within the second block, is
    /// a DSACK (RFC 2883 section 4). Invalid blocks are ignored.
    fn read_blocks(
        &self,
        header: &Header,
        acked: u64,
        blocks: &mut [(u64, u64); SackBlocks::MAX],
    ) -> (usize, Option<(u64, u64)>) {
        let nxt = self.recovery.nxt;
        let number = |wire: u32| self.numbers.ours.number(wire, acked);
        let read = |&(left, right): &(u32, u32)| {
            number(left).zip(number(right)).filter(|(left, right)| left < right && *right <= nxt)
        };
        let reported = header.options.sack.as_slice();
        let mut dsack = None;
        let mut count = 0;
        for (at, block) in reported.iter().enumerate() {
            let Some((left, right)) = read(block) else { continue };
            let around = reported.get(1).and_then(read).is_some_and(|(l, r)| l <= left && right <= r);
            if at == 0 && (right <= acked || around) {
                dsack = Some((left, right));
            } else if left >= acked {
                blocks[count] = (left, right);
                count += 1;
            }
        }
        // RACK processes segments "in ascending order of Segment.end_seq" (RFC 8985 section 6.2, step 3), while the
        // newest block comes first.
        blocks[..count].sort_unstable();
        (count, dsack)
    }

    /// SND.UNA has advanced.
    fn on_una(&mut self, now: Time, acked: u64) {
        debug_assert!(acked <= self.recovery.nxt, "the peer acknowledges only what was sent");
        let all = self.outgoing.end() + 1;
        self.outgoing.release_to(acked.min(all) - 1);
        let place = acked.min(all) - 1;
        self.stats.acked_bytes = self.tls.as_mut().map_or(place, |tls| tls.on_acknowledged(place));
        self.report_writable();
        if self.writing.fin_sent && acked == all + 1 {
            let state = self.state.after_fin_acked();
            if state != self.state {
                self.events.push_back(Event::Delivered);
            }
            self.set_state(now, state);
            if state == State::Closed {
                self.finish(now, CloseReason::Finished);
            }
        }
    }

    /// RFC 9293 section 3.10.7.4, seventh: segment text.
    fn take_data(&mut self, now: Time, start: u64, payload: Payload<'_>, header: &Header) {
        if !matches!(self.state, State::Established | State::FinWait1 | State::FinWait2) {
            return self.acks.at_once();
        }
        if self.ending.closed {
            // RFC 9293 section 3.6.1: no application is left to read the data.
            return self.reset_peer(now);
        }
        let limit = self.window.edge().min(self.reading.peer_fin.unwrap_or(u64::MAX));
        let taken = self.incoming.insert(start, payload, limit);
        self.trace_gap(now);
        if taken.out_of_order || taken.duplicate || !taken.advanced {
            // RFC 5681 section 4.2: acknowledge immediately data that is out of order or fills a gap.
            self.acks.at_once();
        } else {
            self.acks.on_data(now, payload.len());
        }
        if taken.advanced {
            // The echo in an in-order segment gives the RTT at the receiver.
            if let Some(timestamps) =
                header.options.timestamps.filter(|t| self.opening.negotiated.timestamps && t.echo != 0)
                && let Some(sample) = self.timestamps.clock.since(now, timestamps.echo)
            {
                self.window.on_rtt(sample);
            }
            if self.tls.is_some() && !self.take_records(now) {
                return;
            }
            self.report_readable();
            self.after_fin(now);
        }
    }

    /// Passes in-order data to TLS. Returns `false` if it was invalid and the connection is over.
    pub(super) fn take_records(&mut self, now: Time) -> bool {
        let tls = self.tls.as_mut().expect("records are taken from a connection with TLS");
        let (was_open, outgoing) = (tls.is_open(), &mut self.outgoing);
        let mut result = Ok(());
        self.incoming.read(u64::MAX, |run| {
            if result.is_ok() {
                result = tls.take(run, outgoing);
            }
        });
        if tls.is_open() && !was_open {
            self.events.push_back(Event::Connected);
        }
        if result.is_err() {
            self.finish(now, CloseReason::Tls);
            self.reset_peer(now);
        }
        result.is_ok()
    }

    /// RFC 9293 section 3.10.7.4, eighth: the peer's data ends at this number.
    fn take_fin(&mut self, now: Time, number: u64) {
        let inside = number <= self.window.edge().max(self.incoming.next());
        if self.reading.peer_fin.is_none() && number >= self.incoming.highest() && inside {
            self.reading.peer_fin = Some(number);
            self.after_fin(now);
        }
        self.acks.at_once();
    }

    /// Advances the state once all data of the peer has arrived.
    fn after_fin(&mut self, now: Time) {
        if self.peer_is_done() {
            let state = self.state.after_fin_received();
            self.report_readable();
            self.set_state(now, state);
            self.acks.at_once();
        }
    }
}
