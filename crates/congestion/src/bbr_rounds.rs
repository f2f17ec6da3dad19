//! The round counting of both BBRs, and the periods whose samples are ignored.

/// Counts round trips by packets: one ends when a packet is acknowledged that was sent after the previous one ended
/// (draft-ietf-ccwg-bbr-06 section 5.5.1).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rounds {
    pub count: u64,
    pub start: bool,
    next_delivered: u64,
}

impl Rounds {
    /// Restarts the round with the next packet.
    #[inline]
    pub(crate) fn begin(&mut self, delivered: u64) {
        self.next_delivered = delivered;
    }
    /// Processes an acknowledgement, given the bytes that had been delivered when its newest packet was sent.
    #[inline]
    pub(crate) fn update(&mut self, prior_delivered: u64, delivered: u64) {
        debug_assert!(prior_delivered <= delivered, "a packet is sent before it is delivered");
        self.start = prior_delivered >= self.next_delivered;
        if self.start {
            self.begin(delivered);
            self.count += 1;
        }
    }
}

/// The period in which the controller itself limited the sender, in delivered bytes. Packets sent in it are treated
/// as application-limited (`MarkConnectionAppLimited()` in ProbeRTT).
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
    /// Whether a packet sent at this count of delivered bytes was held back.
    #[inline]
    pub(crate) fn covers(&self, prior_delivered: u64) -> bool {
        self.0.is_some_and(|(from, until)| (from..=until).contains(&prior_delivered))
    }
}
