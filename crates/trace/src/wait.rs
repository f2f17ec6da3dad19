//! What a sender waits for.

use units::Duration;

/// What keeps a sender from sending more. At each moment that is one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wait {
    /// The handshake is not complete: there are no keys for data yet, or no permission to send it.
    Handshake,
    /// The server may not send more to an address that it has not validated (RFC 9000 section 8.1).
    Validation,
    /// The congestion window, in slow start.
    SlowStart,
    /// The congestion window, neither in slow start nor in recovery.
    Window,
    /// The congestion window, while the controller recovers from a loss.
    Recovery,
    /// An acknowledgement that does not come: since a probe timeout or a retransmission timeout nothing was acknowledged.
    Timeout,
    /// The pacer.
    Pacer,
    /// Flow control of the stream; over TCP the window of the receiver.
    StreamCredit,
    /// Flow control of the connection.
    ConnectionCredit,
    /// The limit on the number of streams.
    StreamCount,
    /// The send queue: everything in it is in flight, and the application has more to write.
    SendQueue,
    /// The delivery: everything that the application has written is in flight.
    Delivery,
    /// The application: all that it has written has been acknowledged.
    Application,
}

impl Wait {
    /// All, in the order of their discriminants.
    pub const ALL: [Wait; 13] = [
        Wait::Handshake,
        Wait::Validation,
        Wait::SlowStart,
        Wait::Window,
        Wait::Recovery,
        Wait::Timeout,
        Wait::Pacer,
        Wait::StreamCredit,
        Wait::ConnectionCredit,
        Wait::StreamCount,
        Wait::SendQueue,
        Wait::Delivery,
        Wait::Application,
    ];
    /// The word in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Wait::Handshake => "handshake",
            Wait::Validation => "validation",
            Wait::SlowStart => "slow_start",
            Wait::Window => "window",
            Wait::Recovery => "recovery",
            Wait::Timeout => "timeout",
            Wait::Pacer => "pacer",
            Wait::StreamCredit => "stream_credit",
            Wait::ConnectionCredit => "connection_credit",
            Wait::StreamCount => "stream_count",
            Wait::SendQueue => "send_queue",
            Wait::Delivery => "delivery",
            Wait::Application => "application",
        }
    }
    /// The meaning of a full window. `timeouts` have expired since the last acknowledgement; `state` is the controller's.
    pub fn window(timeouts: u32, state: &str) -> Wait {
        match state {
            _ if timeouts > 0 => Wait::Timeout,
            // BBR's start-up and HyStart++'s conservative slow start look for the rate as slow start does.
            "slow_start" | "conservative_slow_start" | "startup" => Wait::SlowStart,
            "recovery" => Wait::Recovery,
            _ => Wait::Window,
        }
    }
    /// The meaning of a pacer that holds packets back while a full window would mean `self`: in slow start the pacer only
    /// spreads the packets that the window permits.
    pub fn paced(self) -> Wait {
        match self {
            Wait::SlowStart => Wait::SlowStart,
            _ => Wait::Pacer,
        }
    }
    /// The wait of a sender that has sent everything: `in_flight` bytes of it are not acknowledged yet.
    pub fn after_all(in_flight: u64, timeouts: u32) -> Wait {
        match (in_flight, timeouts) {
            (0, _) => Wait::Application,
            (_, 0) => Wait::Delivery,
            _ => Wait::Timeout,
        }
    }
}

/// What a sender waits for from now on, and for how long it has waited for each so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waited {
    /// From now on.
    pub wait: Wait,
    /// So far, by [`Wait::ALL`].
    pub spans: [Duration; Wait::ALL.len()],
    /// The time so far in which received data waited for data before it on its stream.
    pub gap: Duration,
    /// Whether received data waits so from now on.
    pub in_gap: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_the_discriminants() {
        for (at, wait) in Wait::ALL.into_iter().enumerate() {
            assert_eq!(wait as usize, at);
        }
    }
}
