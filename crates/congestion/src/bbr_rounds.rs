//! Round trips as both BBRs count them, and the stretches of a connection whose samples do not count.

/// Round trips by packets: one ends when a packet is acknowledged that was sent after the last ended (draft-ietf-ccwg-bbr-06
/// section 5.5.1).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rounds {
    pub count: u64,
    pub start: bool,
    next_delivered: u64,
}

impl Rounds {
    /// The round begins anew with the next packet.
    #[inline]
    pub(crate) fn begin(&mut self, delivered: u64) {
        self.next_delivered = delivered;
    }
    /// An acknowledgement, whose newest packet had been sent when so much was delivered.
    #[inline]
    pub(crate) fn update(&mut self, prior_delivered: u64, delivered: u64) {
        self.start = prior_delivered >= self.next_delivered;
        if self.start {
            self.begin(delivered);
            self.count += 1;
        }
    }
}

/// From when to when the controller itself held the sender back, in bytes delivered: the packets sent meanwhile are
/// marked as those that the application limits are (`MarkConnectionAppLimited()` in ProbeRTT).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HeldBack(Option<(u64, u64)>);

impl HeldBack {
    #[inline]
    pub(crate) fn mark(&mut self, delivered: u64, in_flight: u64) {
        let from = match self.0 {
            Some((from, until)) if delivered <= until => from,
            _ => delivered,
        };
        self.0 = Some((from, delivered + in_flight));
    }
    /// Whether a packet was held back that was sent when so much was delivered.
    #[inline]
    pub(crate) fn covers(&self, prior_delivered: u64) -> bool {
        self.0.is_some_and(|(from, until)| (from..=until).contains(&prior_delivered))
    }
}
