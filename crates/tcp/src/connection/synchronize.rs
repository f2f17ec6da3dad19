//! The three-way handshake and its failures (RFC 9293 sections 3.5, 3.10.7.1 to 3.10.7.3).

use super::{Connection, PeerWindow, Reset};
use crate::config::FastOpen;
use crate::data::Payload;
use crate::ecn::EcnState;
use crate::event::{CloseReason, Event};
use crate::fast_open::{self, FastOpenState};
use crate::handshake::{Negotiated, Syn};
use crate::sequence::Numbering;
use crate::state::State;
use crate::timestamps::Recent;
use crate::window::Window;
use std::net::SocketAddr;
use units::{Duration, Time};
use wire::Side;
use wire::tcp::{Cookie, Flags, Header, Timestamps};

impl Connection {
    /// RFC 9293 section 3.10.7.1: in the CLOSED state every segment except a reset is answered with a reset.
    pub(super) fn on_closed(&mut self, remote: SocketAddr, header: &Header, length: u64) {
        if header.flags.has(Flags::RST) {
            return;
        }
        // RFC 7323 section 5.2: the reset echoes the timestamp.
        let timestamps =
            header.options.timestamps.map(|received| Timestamps { value: 0, echo: received.value });
        self.answers.reset = Some(if header.flags.has(Flags::ACK) {
            Reset { remote, sequence: header.acknowledgement, acknowledgement: None, timestamps }
        } else {
            let flags = u32::from(header.flags.has(Flags::SYN)) + u32::from(header.flags.has(Flags::FIN));
            let next = header.sequence.wrapping_add(length as u32).wrapping_add(flags);
            Reset { remote, sequence: 0, acknowledgement: Some(next), timestamps }
        });
    }

    /// RFC 9293 section 3.10.7.2: the LISTEN state.
    pub(super) fn on_listen(&mut self, now: Time, remote: SocketAddr, header: &Header, payload: Payload<'_>) {
        let (flags, length) = (header.flags, payload.len());
        if flags.has(Flags::RST) {
            return;
        }
        if flags.has(Flags::ACK) {
            return self.on_closed(remote, header, length);
        }
        if !flags.has(Flags::SYN) || flags.has(Flags::FIN) {
            return;
        }
        let first = self.ends.remote.is_none() && self.stats.listened_again == 0;
        self.ends.remote = Some(remote);
        if first {
            self.trace_start(now);
        }
        self.take_syn(now, header);
        self.ecn.negotiated = self.config.ecn && EcnState::is_setup_syn(flags);
        self.set_state(now, State::SynReceived);
        self.opening.syn.due = true;
        self.check_cookie(now, remote, header, payload);
    }

    /// RFC 9293 section 3.10.7.4, second and fourth: whether a reset or another SYN returns a passive open to LISTEN.
    /// Not if Fast Open has already shown the connection to the application (RFC 7413 section 4.2.2).
    pub(super) fn may_listen_again(&self) -> bool {
        self.state == State::SynReceived && self.ends.side == Side::Server && !self.opening.fast_open.early
    }

    /// Returns to LISTEN and forgets the peer.
    pub(super) fn listen_again(&mut self, now: Time) {
        let (size, most) = (self.config.receive_buffer.as_bytes(), self.config.max_receive_buffer.as_bytes());
        self.stats.listened_again += 1;
        self.ends.remote = None;
        // RFC 9293 section 3.4.1: the next initial sequence number differs; its clock ticks every 4 microseconds.
        self.numbers.ours = self.numbers.ours.moved((now.as_nanos() / 4000) as u32 | 1);
        self.numbers.theirs = Numbering::default();
        self.opening.negotiated = Negotiated::unknown(&self.config);
        self.opening.syn = Syn::default();
        self.opening.fast_open = FastOpenState::default();
        self.timestamps.recent = Recent::default();
        self.numbers.last_ack_sent = 0;
        self.window = Window::of(size, most, self.config.mss);
        self.peer = PeerWindow::default();
        self.ecn = EcnState::default();
        self.acks.on_sent();
        self.set_state(now, State::Listen);
    }

    /// Sets the Fast Open option of a client's SYN. With a cookie the application may write at once (RFC 7413 section
    /// 4.2.1).
    pub(super) fn offer_fast_open(&mut self) {
        match self.config.fast_open {
            FastOpen::Off => {}
            FastOpen::Request => self.opening.fast_open.option = Some(Cookie::REQUEST),
            FastOpen::Cached => {
                self.opening.fast_open.option =
                    Some(fast_open::cookie(self.opening.cookie_key, self.ends.local.ip()));
                self.opening.fast_open.early = true;
                self.on_open();
            }
        }
    }

    /// Checks the cookie at a server. A valid cookie accepts the data of the SYN and allows responses before the
    /// handshake is complete; otherwise the client gets a cookie for next time (RFC 7413 section 4.2.2).
    fn check_cookie(&mut self, now: Time, remote: SocketAddr, header: &Header, payload: Payload<'_>) {
        let Some(shown) = header.options.fast_open.filter(|_| self.config.fast_open != FastOpen::Off) else {
            return;
        };
        let right = fast_open::cookie(self.opening.cookie_key, remote.ip());
        if shown != right {
            self.opening.fast_open.option = Some(right);
            return;
        }
        self.opening.fast_open.early = true;
        self.recovery.on_established(now, &self.config, &self.opening.negotiated, false);
        self.window.advertise(1, 0, true);
        self.on_open();
        self.incoming.insert(1, payload, self.window.edge());
        self.stats.fast_open_bytes = self.incoming.next() - 1;
        if self.tls.is_none() || self.take_records(now) {
            self.report_readable();
        }
    }

    /// Takes the numbers and options of the peer's SYN.
    pub(super) fn take_syn(&mut self, now: Time, header: &Header) {
        self.numbers.theirs = Numbering::new(header.sequence);
        let remote = self.ends.remote.expect("a SYN that was received has its sender");
        self.opening.negotiated = Negotiated::with(&self.config, &header.options, remote);
        let shift = self.window.wanted_shift();
        self.window
            .agree(self.opening.negotiated.peer_shift.map(|_| shift), u64::from(self.opening.negotiated.mss));
        if let Some(timestamps) = header.options.timestamps {
            self.timestamps.recent.update(now, timestamps, 0, 0);
        }
        // RFC 7323 section 2.2: the window field of a SYN is not scaled.
        self.peer.edge = 1 + u64::from(header.window);
        self.peer.largest = u64::from(header.window);
        self.peer.shift = self.opening.negotiated.peer_shift.unwrap_or(0);
    }

    /// RFC 9293 section 3.10.7.3: the SYN-SENT state.
    pub(super) fn on_syn_sent(&mut self, now: Time, remote: SocketAddr, header: &Header, length: u64) {
        let flags = header.flags;
        let acked = flags.has(Flags::ACK).then(|| self.numbers.ours.number(header.acknowledgement, 1));
        // First: the acknowledgement is of something never sent.
        let acceptable =
            acked.is_none_or(|number| number.is_some_and(|n| (1..=self.recovery.nxt).contains(&n)));
        if !acceptable {
            return self.on_closed(remote, header, length);
        }
        // Second: a reset is accepted only if it acknowledges the SYN.
        if flags.has(Flags::RST) {
            if acked.is_some() {
                self.abort(now, CloseReason::Refused);
            }
            return;
        }
        if !flags.has(Flags::SYN) {
            return;
        }
        self.take_syn(now, header);
        if let Some(Some(number)) = acked {
            self.ecn.negotiated = self.config.ecn && EcnState::is_setup_syn_ack(flags);
            let rtt = self.opening.syn.on_answered(now);
            self.peer.updated_by = (0, number);
            self.establish(now, rtt);
            self.acks.at_once();
            self.after_early_data(now, header, number);
        } else {
            // Simultaneous open (section 3.5, figure 7).
            self.ecn.negotiated = false;
            self.set_state(now, State::SynReceived);
            if self.opening.syn.attempts > 1 {
                self.recovery.rto.fall_back();
            }
            self.opening.syn.cross();
        }
    }

    /// Both SYNs are acknowledged.
    pub(super) fn establish(&mut self, now: Time, rtt: Option<Duration>) {
        // RFC 6928 section 2: a single SYN retransmission may be spurious and does not reduce the initial window.
        let lost = self.opening.syn.attempts > 2;
        if self.opening.syn.attempts > 1 && rtt.is_none() {
            self.recovery.rto.fall_back();
        }
        let answered_early = self.opening.fast_open.early && self.ends.side == Side::Server;
        if let Some(sample) = rtt {
            self.recovery.rtt.update(sample, Duration::ZERO);
            self.window.on_rtt(sample);
        }
        self.sample_rtt(rtt);
        self.recovery.una = self.recovery.una.max(1);
        if !answered_early {
            self.recovery.on_established(now, &self.config, &self.opening.negotiated, lost);
        }
        // RFC 9959 section 3.2: the initial window of a path that loses the SYN says enough.
        if let Some(remote) = self.ends.remote.filter(|_| !lost) {
            let known = self.opening.known_paths.clone();
            self.recovery.begin_learning(now, &self.config, remote.ip(), known, &mut self.log);
        }
        self.set_state(now, State::Established);
        self.trace_metrics(now);
        self.stats.receive_window = self.window.size();
        if !self.opening.fast_open.early {
            self.on_open();
        }
    }

    /// At a client whose SYN carried data: the data was acknowledged with the SYN, or is sent again at once (RFC 7413
    /// section 4.2.2).
    fn after_early_data(&mut self, now: Time, header: &Header, acked: u64) {
        if self.recovery.board.is_empty() {
            return;
        }
        self.recovery.resume(now);
        if acked > 1 {
            self.stats.fast_open_bytes = acked - 1;
            self.acknowledge(now, header, acked, false);
        } else {
            self.recovery.resend_all();
        }
    }

    /// The handshake is complete: data can flow, or TLS begins.
    pub(super) fn on_open(&mut self) {
        match &mut self.tls {
            Some(tls) => tls.start(&mut self.outgoing),
            None => self.events.push_back(Event::Connected),
        }
    }
}
