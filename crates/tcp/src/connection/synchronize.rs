//! The three-way handshake, and what goes wrong in it (RFC 9293 sections 3.5, 3.10.7.1 to 3.10.7.3).

use super::{Connection, Reset};
use crate::ecn::EcnState;
use crate::event::{CloseReason, Event};
use crate::handshake::Agreed;
use crate::sequence::Numbering;
use crate::state::State;
use std::net::SocketAddr;
use units::{Duration, Time};
use wire::tcp::{Flags, Header};

impl Connection {
    /// RFC 9293 section 3.10.7.1: there is no connection. Everything but a reset is answered with one.
    pub(super) fn on_closed(&mut self, remote: SocketAddr, header: &Header, length: u64) {
        if header.flags.has(Flags::RST) {
            return;
        }
        self.reset = Some(if header.flags.has(Flags::ACK) {
            Reset { remote, sequence: header.acknowledgement, acknowledgement: None }
        } else {
            let flags = u32::from(header.flags.has(Flags::SYN)) + u32::from(header.flags.has(Flags::FIN));
            let behind = header.sequence.wrapping_add(length as u32).wrapping_add(flags);
            Reset { remote, sequence: 0, acknowledgement: Some(behind) }
        });
    }

    /// RFC 9293 section 3.10.7.2.
    pub(super) fn on_listen(&mut self, now: Time, remote: SocketAddr, header: &Header, length: u64) {
        let flags = header.flags;
        if flags.has(Flags::RST) {
            return;
        }
        if flags.has(Flags::ACK) {
            return self.on_closed(remote, header, length);
        }
        if !flags.has(Flags::SYN) || flags.has(Flags::FIN) {
            return;
        }
        self.remote = Some(remote);
        self.trace_start(now);
        self.take_syn(now, header);
        self.ecn.agreed = self.config.ecn && EcnState::is_setup_syn(flags);
        self.set_state(now, State::SynReceived);
        self.syn.due = true;
    }

    /// The peer's SYN: its numbers and its options.
    pub(super) fn take_syn(&mut self, now: Time, header: &Header) {
        self.theirs = Numbering::new(header.sequence);
        let Some(remote) = self.remote else { return };
        self.agreed = Agreed::with(&self.config, &header.options, remote);
        let shift = self.window.wanted_shift();
        self.window.agree(self.agreed.peer_shift.map(|_| shift), u64::from(self.agreed.mss));
        if let Some(timestamps) = header.options.timestamps {
            self.recent.update(now, timestamps, 0, 0);
        }
        // RFC 7323 section 2.2: the window of a SYN is not scaled.
        self.peer.edge = 1 + u64::from(header.window);
        self.peer.largest = u64::from(header.window);
        self.peer.shift = self.agreed.peer_shift.unwrap_or(0);
    }

    /// RFC 9293 section 3.10.7.3.
    pub(super) fn on_syn_sent(&mut self, now: Time, remote: SocketAddr, header: &Header, length: u64) {
        let flags = header.flags;
        let acked = flags.has(Flags::ACK).then(|| self.ours.number(header.acknowledgement, 1));
        // First: an acknowledgement of what was not sent.
        let acceptable =
            acked.is_none_or(|number| number.is_some_and(|n| (1..=self.recovery.nxt).contains(&n)));
        if !acceptable {
            return self.on_closed(remote, header, length);
        }
        // Second: a reset counts only if it acknowledges the SYN.
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
            self.ecn.agreed = self.config.ecn && EcnState::is_setup_syn_ack(flags);
            let rtt = self.syn.on_answered(now);
            self.peer.told_by = (0, number);
            self.establish(now, rtt);
            self.acks.at_once();
        } else {
            // Both have sent a SYN: a simultaneous open (section 3.5, figure 7).
            self.ecn.agreed = false;
            self.set_state(now, State::SynReceived);
            self.syn.attempts = 0;
            self.syn.due = true;
        }
    }

    /// The peer's SYN and this side's are acknowledged.
    pub(super) fn establish(&mut self, now: Time, rtt: Option<Duration>) {
        let lost = self.syn.attempts > 1;
        if let Some(sample) = rtt {
            self.recovery.rtt.update(sample, Duration::ZERO);
            self.window.on_rtt(sample);
        }
        self.sample_rtt(rtt);
        self.recovery.una = self.recovery.una.max(1);
        self.recovery.on_established(now, &self.config, &self.agreed, lost);
        self.set_state(now, State::Established);
        self.trace_metrics(now);
        self.stats.receive_window = self.window.size();
        self.on_open();
    }

    /// Both ends know each other: data can flow, or TLS begins.
    fn on_open(&mut self) {
        match &mut self.tls {
            Some(tls) => tls.start(&mut self.outgoing),
            None => self.events.push_back(Event::Connected),
        }
    }
}
