//! Segments that arrive (RFC 9293 section 3.10.7.4).

use super::{Arrival, Connection, Persist};
use crate::data::Payload;
use crate::event::{CloseReason, Event};
use crate::recovery::Acknowledgement;
use crate::state::State;
use units::{Duration, Time};
use wire::tcp::{Flags, Header, SackBlocks};
use wire::{Ecn, Side};

/// RFC 5961 section 7: no more than so many challenge ACKs within so much time.
const CHALLENGES: u32 = 10;
const CHALLENGE_SPAN: Duration = Duration::from_secs(5);

impl Connection {
    /// Takes a segment.
    pub fn receive(&mut self, now: Time, arrival: Arrival<'_>) {
        self.now = now;
        let size = arrival.bytes.len() as u64 + arrival.hole.map_or(0, |hole| u64::from(hole.length));
        let read = if arrival.damage.is_some() { None } else { Header::decode(arrival.bytes).ok() };
        let foreign = self.remote.is_some_and(|remote| remote != arrival.remote);
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
        let start = self.theirs.number(header.sequence, self.rcv_nxt());
        let repeated = self.state == State::SynReceived && start == Some(0) && flags.has(Flags::SYN);
        if repeated && !flags.has(Flags::RST) {
            return self.on_repeated_syn(now, header);
        }
        let acceptable = start.filter(|start| self.is_acceptable(*start, length));
        let stamped = self.agreed.timestamps && !flags.has(Flags::RST);
        if stamped && header.options.timestamps.is_none() {
            // RFC 7323 section 3.2: "silently drop".
            self.stats.segments_dropped += 1;
            return;
        }
        // RFC 7323 section 5.3, R1: an old duplicate, unless it is a reset.
        let outdated =
            stamped && header.options.timestamps.is_some_and(|it| self.recent.is_outdated(now, it));
        let (Some(start), false) = (acceptable, outdated) else {
            return self.on_unacceptable(now, header, start, payload.len());
        };
        // RFC 7323 section 5.2: those of a reset "MUST NOT be used to update connection state".
        if let Some(timestamps) = header.options.timestamps.filter(|_| stamped) {
            self.recent.update(now, timestamps, start, self.last_ack_sent);
        }
        if flags.has(Flags::RST) {
            return self.on_reset(now, start);
        }
        if flags.has(Flags::SYN) {
            // RFC 9293 section 3.10.7.4, fourth; RFC 5961 section 4.2: else a challenge ACK, wherever it lies.
            return if self.may_listen_again() { self.listen_again(now) } else { self.challenge(now) };
        }
        if !flags.has(Flags::ACK) {
            self.stats.segments_dropped += 1;
            return;
        }
        self.stats.ce_segments_received += u64::from(field == Ecn::Ce);
        if !self.take_ack(now, header, (start, payload.len())) {
            return;
        }
        if payload.len() > 0 {
            // RFC 3168 section 6.1.3: CE counts on what carries data.
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
            // With no window left an acknowledgement in a segment with data still counts; its data does not.
            return start == next || inside(start) || length == 0 && start == edge;
        }
        inside(start) || inside(start + length - 1)
    }

    /// RFC 9293 section 3.10.7.4, first: it is acknowledged and dropped, unless it is a reset.
    fn on_unacceptable(&mut self, now: Time, header: &Header, start: Option<u64>, length: u64) {
        self.stats.segments_dropped += 1;
        if header.flags.has(Flags::RST) {
            return;
        }
        if length == 0 && !header.flags.has(Flags::FIN) {
            // Two ends that do not agree must not answer each other for ever.
            return self.challenge(now);
        }
        if let Some(start) = start.filter(|start| *start < self.incoming.next()) {
            // RFC 2883 section 4: it is told what came twice.
            self.incoming.note_duplicate(start.max(1), (start + length).min(self.incoming.next()));
        }
        self.acks.at_once();
        if self.state == State::TimeWait && header.flags.has(Flags::FIN) {
            // Section 3.10.7.4, eighth: the peer has not heard that its FIN came.
            self.time_wait_until = Some(now + self.config.time_wait);
        }
    }

    /// The SYN comes again: so does the answer.
    fn on_repeated_syn(&mut self, now: Time, header: &Header) {
        if !header.flags.has(Flags::ACK) {
            self.syn.due = true;
        } else if self.ours.number(header.acknowledgement, 1) == Some(1) {
            // The SYN-ACK of a simultaneous open acknowledges this side's SYN.
            let rtt = self.syn.on_answered(now);
            self.peer.told_by = (0, 1);
            self.establish(now, rtt);
            self.acks.at_once();
        }
    }

    /// RFC 5961 section 3.2: a reset counts only at the very number that is expected.
    fn on_reset(&mut self, now: Time, start: u64) {
        if start != self.rcv_nxt() {
            self.challenge(now);
        } else if self.may_listen_again() {
            self.listen_again(now);
        } else if self.state == State::SynReceived && self.side == Side::Client {
            // Section 3.10.7.4, second: a simultaneous open is refused.
            self.abort(now, CloseReason::Refused);
        } else if self.only_ends_are_left() {
            self.abort(now, CloseReason::Finished);
        } else {
            self.abort(now, CloseReason::PeerReset);
        }
    }

    /// RFC 9293 section 3.10.7.4, second: whether a reset is no error to the user, "enter the CLOSED state, delete the TCB, and
    /// return": in TIME-WAIT, and in CLOSING and LAST-ACK where the peer has acknowledged all but the FIN.
    fn only_ends_are_left(&self) -> bool {
        match self.state {
            State::TimeWait => true,
            State::Closing | State::LastAck => self.recovery.una > self.outgoing.end(),
            _ => false,
        }
    }

    /// Answers with an acknowledgement, not too often (RFC 5961 section 7).
    pub(super) fn challenge(&mut self, now: Time) {
        if now.since(self.challenges.since) >= CHALLENGE_SPAN || self.challenges.count == 0 {
            self.challenges.since = now;
            self.challenges.count = 0;
        }
        if self.challenges.count < CHALLENGES {
            self.challenges.count += 1;
            self.stats.challenge_acks_sent += 1;
            self.acks.at_once();
        }
    }

    /// RFC 9293 section 3.10.7.4, fifth; `false`: the segment is to be dropped.
    fn take_ack(&mut self, now: Time, header: &Header, (start, length): (u64, u64)) -> bool {
        let (una, nxt) = (self.recovery.una, self.recovery.nxt);
        let number = self.ours.number(header.acknowledgement, una);
        let opening = self.state == State::SynReceived;
        if opening && !number.is_some_and(|acked| (1..=nxt).contains(&acked)) {
            let Some(remote) = self.remote else { return false };
            self.on_closed(remote, header, length);
            return false;
        }
        let Some(mut acked) = number else {
            self.challenge(now);
            return false;
        };
        if opening {
            let rtt = self.syn.on_answered(now);
            self.peer.told_by = (start, 0);
            self.establish(now, rtt);
        }
        if self.persist.sent && acked == nxt + 1 {
            // The byte that probed the window was taken.
            self.recovery.skip_to(acked);
            self.stats.sent_bytes += 1;
            self.on_una(now, acked);
        }
        // RFC 5961 section 5.2.
        if acked > self.recovery.nxt || acked + self.peer.largest < una {
            self.challenge(now);
            return false;
        }
        // RFC 9293 section 3.10.7.4: what an acknowledgement says of the window counts from SND.UNA on; of an older one it
        // would be taken for more than was given. Nor is that one a duplicate (RFC 5681 section 2).
        let current = acked >= una;
        acked = acked.max(una);
        self.persist.unanswered = 0;
        let window_changed = current && self.update_window(header, start, acked);
        if current && self.peer.edge <= acked {
            // RFC 9293 section 3.8.6: a window that was taken back below what is underway is probed by what goes again, and the
            // connection stays open for as long as the peer answers (section 3.8.6.1).
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

    /// RFC 9293 section 3.10.7.4: the window as the newest segment tells it.
    fn update_window(&mut self, header: &Header, start: u64, acked: u64) -> bool {
        let (by_start, by_ack) = self.peer.told_by;
        if start < by_start || start == by_start && acked < by_ack {
            return false;
        }
        let window = u64::from(header.window) << self.peer.shift;
        let edge = acked + window;
        let changed = edge != self.peer.edge;
        self.peer.told_by = (start, acked);
        self.peer.edge = edge;
        self.peer.largest = self.peer.largest.max(window);
        if window > 0 {
            self.persist = Persist { sent: self.persist.sent, ..Persist::default() };
        }
        changed
    }

    pub(super) fn acknowledge(&mut self, now: Time, header: &Header, acked: u64, duplicate: bool) {
        let advanced = acked > self.recovery.una;
        let has_blocks = self.agreed.sack && !header.options.sack.as_slice().is_empty();
        if !(advanced || has_blocks || duplicate || header.flags.has(Flags::ECE)) {
            return;
        }
        let mut blocks = [(0, 0); SackBlocks::MOST];
        let (count, dsack) =
            if has_blocks { self.read_blocks(header, acked, &mut blocks) } else { (0, None) };
        self.stats.dsacks_received += u64::from(dsack.is_some());
        let marked = self.ecn.on_ack(header.flags, acked, self.recovery.nxt);
        self.stats.ecn_reductions += u64::from(marked);
        let echo =
            header.options.timestamps.filter(|_| self.agreed.timestamps).map(|timestamps| timestamps.echo);
        let blocks = &blocks[..count];
        let ack = Acknowledgement { una: acked, blocks, dsack, echo, duplicate, marked };
        let outcome = self.recovery.on_ack(now, &ack);
        self.sample_rtt(outcome.rtt);
        self.stats.segments_spuriously_lost += outcome.spurious;
        self.after_losses(now);
        if advanced {
            self.on_una(now, acked);
        }
        self.trace_metrics(now);
    }

    /// What was declared lost is told: to those who listen, and, with ECN, to the peer.
    pub(super) fn after_losses(&mut self, now: Time) {
        self.trace_losses(now);
        if std::mem::take(&mut self.recovery.reduced) {
            self.ecn.on_reduced();
        }
    }

    /// The blocks as numbers: those beyond what is acknowledged, and the first one if it tells of a duplicate (RFC 2883
    /// section 4): it lies below, or within the second. Nonsense is left out.
    fn read_blocks(
        &self,
        header: &Header,
        acked: u64,
        blocks: &mut [(u64, u64); SackBlocks::MOST],
    ) -> (usize, Option<(u64, u64)>) {
        let nxt = self.recovery.nxt;
        let number = |wire: u32| self.ours.number(wire, acked);
        let read = |&(left, right): &(u32, u32)| {
            number(left).zip(number(right)).filter(|(left, right)| left < right && *right <= nxt)
        };
        let told = header.options.sack.as_slice();
        let mut dsack = None;
        let mut count = 0;
        for (at, block) in told.iter().enumerate() {
            let Some((left, right)) = read(block) else { continue };
            let around = told.get(1).and_then(read).is_some_and(|(l, r)| l <= left && right <= r);
            if at == 0 && (right <= acked || around) {
                dsack = Some((left, right));
            } else if left >= acked {
                blocks[count] = (left, right);
                count += 1;
            }
        }
        // RACK looks at segments "in ascending order of Segment.end_seq" (RFC 8985 section 6.2, step 3); the newest block is first.
        blocks[..count].sort_unstable();
        (count, dsack)
    }

    /// SND.UNA has moved on.
    fn on_una(&mut self, now: Time, acked: u64) {
        let all = self.outgoing.end() + 1;
        self.outgoing.release_to(acked.min(all) - 1);
        let place = acked.min(all) - 1;
        self.stats.acked_bytes = self.tls.as_mut().map_or(place, |tls| tls.on_acknowledged(place));
        self.tell_writable();
        if self.fin_sent && acked == all + 1 {
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

    /// RFC 9293 section 3.10.7.4, seventh.
    fn take_data(&mut self, now: Time, start: u64, payload: Payload<'_>, header: &Header) {
        if !matches!(self.state, State::Established | State::FinWait1 | State::FinWait2) {
            return self.acks.at_once();
        }
        if self.closed {
            // RFC 9293 section 3.6.1: nobody is there any more to read it.
            return self.reset_peer(now);
        }
        let limit = self.window.edge().min(self.peer_fin.unwrap_or(u64::MAX));
        let taken = self.incoming.insert(start, payload, limit);
        if taken.out_of_order || taken.duplicate || !taken.advanced {
            // RFC 5681 section 4.2: out of order, or the filling of a gap: at once.
            self.acks.at_once();
        } else {
            self.acks.on_data(now, payload.len());
        }
        if taken.advanced {
            // The echo of a segment that comes in order is the RTT as the receiver sees it.
            if let Some(timestamps) =
                header.options.timestamps.filter(|t| self.agreed.timestamps && t.echo != 0)
                && let Some(sample) = self.clock.since(now, timestamps.echo)
            {
                self.window.on_rtt(sample);
            }
            if self.tls.is_some() && !self.take_records(now) {
                return;
            }
            self.tell_readable();
            self.after_fin(now);
        }
    }

    /// What is in order goes through TLS; `false`: it was none, and the connection is over.
    pub(super) fn take_records(&mut self, now: Time) -> bool {
        let Some(tls) = &mut self.tls else { return true };
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

    /// RFC 9293 section 3.10.7.4, eighth: the peer has no more to send behind this number.
    fn take_fin(&mut self, now: Time, number: u64) {
        let inside = number <= self.window.edge().max(self.incoming.next());
        if self.peer_fin.is_none() && number >= self.incoming.highest() && inside {
            self.peer_fin = Some(number);
            self.after_fin(now);
        }
        self.acks.at_once();
    }

    /// All of the peer's data may have come.
    fn after_fin(&mut self, now: Time) {
        if self.peer_is_done() {
            let state = self.state.after_fin_received();
            self.tell_readable();
            self.set_state(now, state);
            self.acks.at_once();
        }
    }
}
