//! The states of a connection (RFC 9293 section 3.3.2).

/// The state of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum State {
    /// No connection.
    #[default]
    Closed,
    /// Waits for a SYN.
    Listen,
    /// Has sent a SYN.
    SynSent,
    /// Has sent and received a SYN.
    SynReceived,
    /// Open: data flows.
    Established,
    /// This side has sent its FIN.
    FinWait1,
    /// This side's FIN was acknowledged.
    FinWait2,
    /// The peer has sent its FIN.
    CloseWait,
    /// Both sides have sent their FIN; this side's is not acknowledged.
    Closing,
    /// The peer has sent its FIN first; this side's is not acknowledged.
    LastAck,
    /// Waits to acknowledge retransmissions of the peer's FIN.
    TimeWait,
}

impl State {
    /// The name in the RFC.
    pub const fn name(self) -> &'static str {
        match self {
            State::Closed => "closed",
            State::Listen => "listen",
            State::SynSent => "syn_sent",
            State::SynReceived => "syn_received",
            State::Established => "established",
            State::FinWait1 => "fin_wait_1",
            State::FinWait2 => "fin_wait_2",
            State::CloseWait => "close_wait",
            State::Closing => "closing",
            State::LastAck => "last_ack",
            State::TimeWait => "time_wait",
        }
    }
    /// Whether both sides have each other's sequence numbers.
    pub const fn is_synchronized(self) -> bool {
        !matches!(self, State::Closed | State::Listen | State::SynSent | State::SynReceived)
    }
    /// The state after this side's FIN was sent.
    pub(crate) const fn after_fin_sent(self) -> State {
        match self {
            State::SynReceived | State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            other => other,
        }
    }
    /// The state after this side's FIN was acknowledged.
    pub(crate) const fn after_fin_acked(self) -> State {
        match self {
            State::FinWait1 => State::FinWait2,
            State::Closing => State::TimeWait,
            State::LastAck => State::Closed,
            other => other,
        }
    }
    /// The state after the peer's FIN was received.
    pub(crate) const fn after_fin_received(self) -> State {
        match self {
            State::SynReceived | State::Established => State::CloseWait,
            State::FinWait1 => State::Closing,
            State::FinWait2 => State::TimeWait,
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9293 figure 5: all paths from an open connection to a closed one.
    #[test]
    fn closing_in_every_order() {
        let (sent, acked, received) =
            (State::after_fin_sent, State::after_fin_acked, State::after_fin_received);
        let open = State::Established;
        assert_eq!(received(acked(sent(open))), State::TimeWait);
        assert_eq!(acked(received(sent(open))), State::TimeWait);
        assert_eq!(acked(sent(received(open))), State::Closed);
        assert_eq!(received(State::TimeWait), State::TimeWait);
        assert_eq!(sent(State::SynReceived), State::FinWait1);
        assert!(State::TimeWait.is_synchronized() && !State::SynReceived.is_synchronized());
    }
}
