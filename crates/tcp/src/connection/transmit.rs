//! Sent segments: their order and their contents (RFC 9293 sections 3.7, 3.8).

use super::{Connection, Transmit};
use crate::handshake;
use crate::state::State;
use congestion::Limit;
use std::ops::Range;
use trace::Wait;
use units::Time;
use wire::tcp::{Flags, HEADER_SIZE, Header, MAX_OPTIONS, Options, SackBlocks, Timestamps};
use wire::{Ecn, Hole};

/// The next segment to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Nothing,
    Acknowledgement,
    /// The retransmission of a segment, by its number on the scoreboard.
    Again(u64),
    /// New data: the number of bytes, and whether the FIN follows.
    Fresh(u64, bool),
    /// A byte beyond the window.
    WindowProbe,
}

impl Connection {
    /// Writes the next segment into `out`, which must be empty. Returns `None` if there is nothing to send now; call it
    /// until then.
    #[inline]
    pub fn transmit(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Transmit> {
        if self.answers.reset.is_some() {
            return self.send_reset(now, out);
        }
        match self.state {
            State::Closed | State::Listen => None,
            State::SynReceived
                if !self.opening.syn.due && (self.opening.fast_open.early || self.acks.is_due(now)) =>
            {
                let next = if self.opening.fast_open.early { self.next(now) } else { Next::Acknowledgement };
                self.send(now, next, out)
            }
            State::SynSent | State::SynReceived => self.send_syn(now, out),
            _ => {
                let next = self.next(now);
                self.send(now, next, out)
            }
        }
    }

    fn send_reset(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Transmit> {
        let reset = self.answers.reset.take()?;
        let header = Header {
            source: self.ends.local.port(),
            destination: reset.remote.port(),
            sequence: reset.sequence,
            acknowledgement: reset.acknowledgement.unwrap_or(0),
            flags: Flags::RST.with_if(reset.acknowledgement.is_some(), Flags::ACK),
            options: Options { timestamps: reset.timestamps, ..Options::default() },
            ..Header::default()
        };
        header.encode(out);
        self.count(now, &header, out.len() as u64, 0);
        Some(Transmit { remote: reset.remote, ecn: Ecn::NotEct, hole: None, carries_data: false })
    }

    /// RFC 9293 section 3.5, figure 6.
    fn send_syn(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Transmit> {
        if !self.opening.syn.due {
            return None;
        }
        let remote = self.ends.remote.expect("a SYN is due to somebody");
        let answer = self.state == State::SynReceived;
        let timestamps =
            Timestamps { value: self.timestamps.clock.value(now), echo: self.timestamps.recent.echo() };
        let shift = self.window.wanted_shift();
        let (flags, mut options) = if answer {
            let flags = Flags::SYN.with(Flags::ACK).with_if(self.ecn.negotiated, Flags::ECE);
            (flags, self.opening.negotiated.answer(&self.config, shift, timestamps))
        } else {
            (self.opening.syn.flags(self.config.ecn), handshake::offer(&self.config, shift, timestamps))
        };
        // RFC 7413 section 4.1.3: a retransmitted SYN has neither cookie nor data.
        let first = self.opening.syn.attempts == 0;
        options.fast_open = self.opening.fast_open.option.filter(|_| answer || first);
        let next = self.rcv_nxt();
        let header = Header {
            source: self.ends.local.port(),
            destination: remote.port(),
            sequence: self.numbers.ours.wire(0),
            acknowledgement: if answer { self.numbers.theirs.wire(next) } else { 0 },
            flags,
            window: self.window.advertise(next, self.unread(), true),
            options,
            ..Header::default()
        };
        let size = header.encode(out);
        let early = if first && !answer && self.opening.fast_open.early { self.early_data(size) } else { 0 };
        let hole = if early > 0 { self.outgoing.copy(0..early, out) } else { None };
        if early > 0 {
            self.recovery.on_sent(now, 1 + early, false);
            // The SYN's timer covers the data too.
            self.recovery.stop();
            self.stats.sent_bytes += early;
        }
        self.stats.syn_retransmissions += u64::from(self.opening.syn.attempts > 0);
        self.opening.syn.on_sent(now, self.config.initial_rto, self.config.max_rto);
        self.numbers.last_ack_sent = if answer { next } else { 0 };
        let length = out.len() as u64 + hole.map_or(0, |hole| u64::from(hole.length));
        self.count(now, &header, length, early);
        Some(Transmit { remote, ecn: Ecn::NotEct, hole, carries_data: early > 0 })
    }

    /// The bytes of data that fit into a SYN with a header of this size, within one segment (RFC 7413 section 4.2.1).
    fn early_data(&mut self, header: usize) -> u64 {
        let most = u64::from(self.config.mss) + HEADER_SIZE as u64 - header as u64;
        if let Some(tls) = &mut self.tls {
            tls.frame(&mut self.outgoing, most, false);
        }
        self.outgoing.end().min(most)
    }

    /// Selects the next segment of an open connection.
    #[inline]
    fn next(&mut self, now: Time) -> Next {
        self.timers.paced_until = None;
        let acknowledge = self.acks.is_due(now);
        // SACK blocks do not fit beside data.
        if acknowledge && self.opening.negotiated.sack && self.incoming.has_gaps() {
            return Next::Acknowledgement;
        }
        match self.next_data(now) {
            Next::Nothing if self.timers.persist.due => self.next_probe(),
            Next::Nothing if acknowledge => Next::Acknowledgement,
            next => next,
        }
    }

    #[inline]
    fn next_data(&mut self, now: Time) -> Next {
        if self.state == State::TimeWait || self.state == State::FinWait2 {
            return Next::Nothing;
        }
        if let Some(tls) = &mut self.tls {
            let wanted = self.recovery.nxt + u64::from(self.opening.negotiated.mss);
            tls.frame(&mut self.outgoing, wanted, self.writing.fin_wanted);
        }
        if self.recovery.probe.due {
            // RFC 8985 section 7.3: a probe sends new data if there is any, regardless of the congestion window,
            // otherwise the last segment.
            match (self.fresh(), self.recovery.board.last_in_flight()) {
                (Some((length, fin)), _) => return Next::Fresh(length, fin),
                (None, Some(last)) => return Next::Again(last),
                // The peer has it: the probe has its answer, and what is missing below shows by the SACK.
                (None, None) => self.recovery.probe.due = false,
            }
        }
        if self.recovery.board.has_lost() {
            return match self.recovery.next_retransmission() {
                None => self.stop(now, Limit::Window),
                Some(number) => match self.recovery.paced_until(now) {
                    Some(at) => self.pause(now, at),
                    None => Next::Again(number),
                },
            };
        }
        let Some((length, fin)) = self.fresh() else { return self.note_nothing_to_send(now) };
        if !self.recovery.admits(length.max(1)) {
            if self.recovery.learns() {
                self.recovery.jump(now, Limit::Window, &mut self.log);
            }
            if !self.recovery.admits(length.max(1)) {
                return self.stop(now, Limit::Window);
            }
        }
        if self.recovery.learns() && self.recovery.paced_until(now).is_some() {
            self.recovery.jump(now, Limit::Pacer, &mut self.log);
        }
        match self.recovery.paced_until(now) {
            Some(at) => self.pause(now, at),
            None => Next::Fresh(length, fin),
        }
    }

    /// RFC 9293 section 3.8.6.2.1: when the override timeout expires, whatever the window admits is sent, at least one
    /// byte.
    fn next_probe(&mut self) -> Next {
        let nxt = self.recovery.nxt;
        let available = (self.outgoing.end() + 1).saturating_sub(nxt);
        let room = self.peer.edge.saturating_sub(nxt);
        match room.min(available).min(u64::from(self.opening.negotiated.mss)) {
            0 => Next::WindowProbe,
            length => {
                self.timers.persist.due = false;
                Next::Fresh(length, self.fin_is_next() && length == available)
            }
        }
    }

    fn stop(&mut self, now: Time, limit: Limit) -> Next {
        self.recovery.note_stop(now, limit);
        self.trace_wait(now, self.recovery.wait());
        Next::Nothing
    }
    fn pause(&mut self, now: Time, at: Time) -> Next {
        self.recovery.note_stop(now, Limit::Pacer);
        self.trace_wait(now, self.recovery.wait().paced());
        self.timers.paced_until = Some(at);
        Next::Nothing
    }
    /// The congestion window has room but nothing may be sent: either the application has written nothing, or the
    /// peer's window blocks, which limits the rate like a network (draft-ietf-ccwg-bbr-06 section 4.1.1.3.1).
    fn note_nothing_to_send(&mut self, now: Time) -> Next {
        if self.outgoing.end() + 1 > self.recovery.nxt {
            self.recovery.note_stop(now, Limit::Application);
            self.trace_wait(
                now,
                if self.recovery.backoffs() == 0 { Wait::StreamCredit } else { Wait::Timeout },
            );
        } else {
            let wait = match self.recovery.after_all() {
                Wait::Delivery if self.writing.blocked => Wait::SendQueue,
                wait => wait,
            };
            self.trace_wait(now, wait);
            self.recovery.note_dry(now);
        }
        Next::Nothing
    }

    /// The new data to send, as permitted by the peer's window and sender-side silly window avoidance: the number of
    /// bytes, and whether the FIN is sent with them (RFC 9293 section 3.8.6.2.1).
    fn fresh(&self) -> Option<(u64, bool)> {
        let nxt = self.recovery.nxt;
        let available = (self.outgoing.end() + 1).saturating_sub(nxt);
        let fin = self.fin_is_next();
        if available == 0 {
            return fin.then_some((0, true));
        }
        let mss = u64::from(self.opening.negotiated.mss);
        let room = self.peer.edge.saturating_sub(nxt);
        let length = available.min(mss).min(room);
        let last = length == available;
        // A full-sized segment, the rest of the data, or half of the largest window.
        if length < mss && !last && length < self.peer.largest / 2 || length == 0 {
            return None;
        }
        // The Nagle algorithm (section 3.7.4).
        if self.config.nagle && length < mss && !(last && fin) && !self.recovery.board.is_empty() {
            return None;
        }
        Some((length, last && fin))
    }

    /// Whether the FIN directly follows the stream's data.
    fn fin_is_next(&self) -> bool {
        let may = self.writing.fin_wanted && !self.writing.fin_sent && self.state != State::SynReceived;
        may && self.tls.as_ref().is_none_or(|tls| tls.is_closed())
    }

    /// Whether the peer's window blocks the waiting data while nothing in flight could open it.
    pub(super) fn is_held_by_peer(&self) -> bool {
        let waits = self.outgoing.end() + 1 > self.recovery.nxt;
        waits && self.recovery.board.is_empty() && self.fresh().is_none() && !self.is_over()
    }

    #[inline(always)]
    fn send(&mut self, now: Time, next: Next, out: &mut Vec<u8>) -> Option<Transmit> {
        match next {
            Next::Nothing => {
                self.watch_window(now);
                None
            }
            Next::Acknowledgement => {
                let start = self.recovery.nxt;
                self.stats.ack_only_segments_sent += 1;
                self.segment(now, start..start, Flags::none(), false, out)
            }
            Next::Again(number) => {
                let segment =
                    *self.recovery.board.get(number).expect("a segment that is sent again is on the board");
                let end = segment.end - u64::from(segment.fin);
                self.stats.retransmitted_bytes += end - segment.start;
                self.recovery.on_resent(now, number);
                let flags = Flags::none().with_if(segment.fin, Flags::FIN);
                self.segment(now, segment.start..end, flags, false, out)
            }
            Next::Fresh(length, fin) => {
                let start = self.recovery.nxt;
                self.recovery.on_sent(now, start + length + u64::from(fin), fin);
                // The byte of an earlier window probe is part of this segment.
                self.timers.persist.sent = false;
                self.stats.sent_bytes += length;
                self.report_writable();
                if fin {
                    self.writing.fin_sent = true;
                    let state = self.state.after_fin_sent();
                    self.set_state(now, state);
                }
                let flags = Flags::none().with_if(fin, Flags::FIN);
                self.segment(now, start..start + length, flags, true, out)
            }
            Next::WindowProbe => {
                let start = self.recovery.nxt;
                debug_assert!(
                    self.recovery.board.is_empty(),
                    "a window is probed while nothing is in flight"
                );
                self.timers.persist.due = false;
                self.timers.persist.sent = true;
                self.stats.window_probes += 1;
                self.segment(now, start..start + 1, Flags::none(), false, out)
            }
        }
    }

    /// Writes a segment with the data from `start` to `end`.
    #[inline]
    fn segment(
        &mut self,
        now: Time,
        Range { start, end }: Range<u64>,
        flags: Flags,
        fresh: bool,
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let remote = self.ends.remote.expect("an open connection has a peer");
        let (notice, ecn) = self.ecn.on_sent(fresh && end > start);
        // RFC 9293 section 3.9.1: PSH is set when the send buffer is emptied.
        let push = end > start && end == self.outgoing.end() + 1;
        let flags = flags.with(Flags::ACK).with(notice).with_if(push, Flags::PSH);
        let next = self.rcv_nxt();
        let header = Header {
            source: self.ends.local.port(),
            destination: remote.port(),
            sequence: self.numbers.ours.wire(start),
            acknowledgement: self.numbers.theirs.wire(next),
            flags,
            window: self.window.advertise(next, self.unread(), false),
            options: self.options(now, start == end),
            ..Header::default()
        };
        debug_assert!(end <= start.max(self.outgoing.end() + 1), "a segment carries data that was written");
        header.encode(out);
        let hole = if end > start { self.outgoing.copy(start - 1..end - 1, out) } else { None };
        self.numbers.last_ack_sent = next;
        self.acks.on_sent();
        let size = out.len() as u64 + hole.map_or(0, |hole: Hole| u64::from(hole.length));
        self.stats.ect_segments_sent += u64::from(ecn != Ecn::NotEct);
        self.count(now, &header, size, end - start);
        if fresh || end > start {
            if self.recovery.learns() {
                self.recovery.note_learning_sent(now, &mut self.log);
            }
            self.trace_metrics(now);
        }
        Some(Transmit { remote, ecn, hole, carries_data: end > start })
    }

    /// The options of a segment: timestamps, and on a pure acknowledgement as many SACK blocks as fit (RFC 2018 section
    /// 3).
    fn options(&mut self, now: Time, bare: bool) -> Options {
        let timestamps =
            Timestamps { value: self.timestamps.clock.value(now), echo: self.timestamps.recent.echo() };
        let mut options = Options {
            timestamps: self.opening.negotiated.timestamps.then_some(timestamps),
            ..Options::default()
        };
        if bare && self.opening.negotiated.sack {
            let mut blocks = SackBlocks::default();
            if let Some((start, end)) = self.incoming.take_duplicate() {
                blocks.push(self.numbers.theirs.wire(start), self.numbers.theirs.wire(end));
            }
            for (start, end) in self.incoming.blocks() {
                // Include a FIN that arrived behind the last block.
                let end = end + u64::from(self.reading.peer_fin == Some(end));
                blocks.push(self.numbers.theirs.wire(start), self.numbers.theirs.wire(end));
            }
            // Each block takes 8 bytes, the option header 4.
            let used = if self.opening.negotiated.timestamps { 12 } else { 0 };
            blocks.truncate((MAX_OPTIONS - used - 4) / 8);
            options.sack = blocks;
        }
        options
    }

    #[inline]
    fn count(&mut self, now: Time, header: &Header, size: u64, payload: u64) {
        self.stats.segments_sent += 1;
        self.stats.bytes_sent += size;
        self.stats.data_segments_sent += u64::from(payload > 0);
        self.trace_sent(now, header, payload, size);
    }
}
