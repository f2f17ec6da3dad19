//! Explicit congestion notification: negotiation, echo and response (RFC 3168 section 6.1).

use wire::Ecn;
use wire::tcp::Flags;

/// The ECN state of one end.
#[derive(Debug, Clone, Default)]
pub(crate) struct EcnState {
    /// Whether both ends support ECN.
    pub(crate) negotiated: bool,
    /// A packet arrived with CE, and the sender has not confirmed the echo yet (6.1.3).
    echo: bool,
    /// The next new segment reports the reduced window with CWR (6.1.2).
    reduced: bool,
    /// No ECN-Echo reduces the window again until an acknowledgement exceeds this number, and so covers the segment
    /// with CWR (6.1.2).
    answered_to: u64,
}

impl EcnState {
    /// 6.1.1: the flags of an ECN-setup SYN.
    pub(crate) const SYN: Flags = Flags(Flags::ECE.0 | Flags::CWR.0);

    /// 6.1.1: whether a SYN is an ECN-setup SYN.
    pub(crate) fn is_setup_syn(flags: Flags) -> bool {
        flags.has(EcnState::SYN)
    }
    /// 6.1.1: whether a SYN-ACK is an ECN-setup SYN-ACK.
    pub(crate) fn is_setup_syn_ack(flags: Flags) -> bool {
        flags.has(Flags::ECE) && !flags.has(Flags::CWR)
    }

    /// 6.1.3: a data segment arrived. CWR ends the echo of earlier marks.
    #[inline]
    pub(crate) fn on_segment(&mut self, flags: Flags, field: Ecn) {
        if self.negotiated {
            self.echo &= !flags.has(Flags::CWR);
            self.echo |= field == Ecn::Ce;
        }
    }

    /// 6.1.2: an acknowledgement up to `una` with these flags arrived. Returns whether to reduce the window, at most
    /// once per window of data.
    #[inline]
    pub(crate) fn on_ack(&mut self, flags: Flags, una: u64, nxt: u64) -> bool {
        let marked = self.negotiated && flags.has(Flags::ECE) && una > self.answered_to;
        if marked {
            self.answered_to = nxt;
            self.reduced = true;
        }
        marked
    }

    /// 6.1.2: the window was reduced "for any reason"; the peer is notified with CWR as after an echo.
    pub(crate) fn on_reduced(&mut self) {
        self.reduced = self.negotiated;
    }

    /// The ECN flags and the ECN field of a sent segment; `fresh` if it carries new data. Retransmissions (6.1.5) and
    /// pure acknowledgements (6.1.4) are not ECN-capable.
    #[inline]
    pub(crate) fn on_sent(&mut self, fresh: bool) -> (Flags, Ecn) {
        if !self.negotiated {
            return (Flags::none(), Ecn::NotEct);
        }
        let flags = Flags::none().with_if(self.echo, Flags::ECE);
        if !fresh {
            return (flags, Ecn::NotEct);
        }
        let reduced = std::mem::take(&mut self.reduced);
        (flags.with_if(reduced, Flags::CWR), Ecn::Ect0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3168 sections 6.1.2 and 6.1.3: the echo continues until CWR and reduces the window once per window of data.
    #[test]
    fn an_echo_is_answered_once() {
        let mut receiver = EcnState { negotiated: true, ..EcnState::default() };
        let mut sender = receiver.clone();
        assert_eq!(sender.on_sent(true), (Flags::none(), Ecn::Ect0));
        receiver.on_segment(Flags::ACK, Ecn::Ce);
        receiver.on_segment(Flags::ACK, Ecn::Ect0);
        for _ in 0..3 {
            assert_eq!(receiver.on_sent(false), (Flags::ECE, Ecn::NotEct));
        }
        assert!(sender.on_ack(Flags::ECE, 100, 1000));
        assert!(!sender.on_ack(Flags::ECE, 900, 1500));
        assert_eq!(sender.on_sent(false), (Flags::none(), Ecn::NotEct), "a retransmission");
        assert_eq!(sender.on_sent(true), (Flags::CWR, Ecn::Ect0));
        assert_eq!(sender.on_sent(true), (Flags::none(), Ecn::Ect0));
        receiver.on_segment(Flags::CWR, Ecn::Ce);
        assert_eq!(receiver.on_sent(false).0, Flags::ECE, "marked again");
        receiver.on_segment(Flags::CWR, Ecn::Ect0);
        assert_eq!(receiver.on_sent(false).0, Flags::none());
        assert!(!sender.on_ack(Flags::ECE, 1000, 2000));
        assert!(sender.on_ack(Flags::ECE, 1001, 2000));
    }

    #[test]
    fn without_negotiation_ecn_is_off() {
        let mut ecn = EcnState::default();
        ecn.on_segment(Flags::none(), Ecn::Ce);
        assert!(!ecn.on_ack(Flags::ECE, 1, 2));
        assert_eq!(ecn.on_sent(true), (Flags::none(), Ecn::NotEct));
        assert!(EcnState::is_setup_syn_ack(Flags::SYN.with(Flags::ECE)));
        assert!(!EcnState::is_setup_syn_ack(Flags::SYN.with(EcnState::SYN)));
    }
}
