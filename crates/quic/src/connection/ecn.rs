//! ECN of a connection (RFC 9000 section 13.4): which datagrams are marked, and what the peer's counts say.

use super::Connection;
use crate::path::EcnReport;
use crate::sent::{SentKind, SentPacket};
use crate::space::SpaceKind;
use trace::event::EcnState;
use units::Time;
use wire::{Ack, Ecn};

/// The marked packets that an ACK frame newly acknowledges.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marks {
    /// The first packet of the path in use.
    since: u64,
    own: u64,
    others: bool,
}

impl Marks {
    pub(super) fn new(since: u64) -> Marks {
        Marks { since, own: 0, others: false }
    }
    /// Takes one packet in.
    #[inline]
    pub(super) fn add(&mut self, number: u64, packet: &SentPacket) {
        if packet.kind == SentKind::Ect {
            if number >= self.since {
                self.own += 1;
            } else {
                self.others = true;
            }
        }
    }
}

impl Connection {
    /// Where ECN is on the path in use; `None` while the option `ecn` is off.
    pub fn ecn_state(&self) -> Option<EcnState> {
        self.path.ecn.state()
    }

    /// The ECN field of the next datagram.
    #[inline]
    pub(super) fn mark(&mut self, now: Time) -> Ecn {
        if !self.path.ecn.is_enabled() {
            return Ecn::NotEct;
        }
        let (before, timeout) = (self.path.ecn.state(), self.probe_timeout());
        let ecn = self.path.ecn.mark(now, timeout);
        self.note_ecn_state(now, before);
        ecn
    }

    /// An ACK frame raised the largest acknowledged. Gives the packets that have come with CE since the one before.
    pub(super) fn on_ecn_counts(&mut self, now: Time, kind: SpaceKind, ack: &Ack<'_>, marks: Marks) -> u64 {
        let Some(space) = self.space_mut(kind) else { return 0 };
        let before = space.ecn_counts;
        let counts = ack.ecn();
        space.ecn_counts = counts.unwrap_or(before);
        let report =
            EcnReport { counts, before, acked: marks.own, sent: space.sent.ect, mixed: marks.others };
        let (state, timeout) = (self.path.ecn.state(), self.probe_timeout());
        let congested = self.path.ecn.on_ack(now, timeout, &report);
        self.stats.ce_packets_reported += congested;
        self.note_ecn_state(now, state);
        congested
    }

    /// Packets were declared lost.
    pub(super) fn note_marked_losses(&mut self, now: Time) {
        let (since, state) = (self.path.since, self.path.ecn.state());
        for _ in self.losses.iter().filter(|loss| loss.kind == SentKind::Ect && loss.number >= since) {
            self.path.ecn.on_lost();
        }
        self.note_ecn_state(now, state);
    }

    #[inline]
    fn note_ecn_state(&mut self, now: Time, before: Option<EcnState>) {
        let state = self.path.ecn.state();
        if state != before
            && let Some(state) = state
        {
            self.stats.ecn_failures += u64::from(state == EcnState::Failed);
            self.trace_ecn_state(now, state);
        }
    }
}
