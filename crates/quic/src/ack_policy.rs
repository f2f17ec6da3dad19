//! When to acknowledge (RFC 9000 section 13.2).

use crate::config::{AckOptions, AckRequest};
use units::Duration;

/// The properties of a received packet that the policy uses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Received {
    /// Whether it arrived out of order, below the largest or after a gap, by at least the policy's threshold.
    pub(crate) out_of_order: bool,
    /// Whether it carried the CE mark.
    pub(crate) congestion_experienced: bool,
    /// The number of ack-eliciting packets that wait for an acknowledgement, including this one.
    pub(crate) waiting: u64,
}

/// When to send an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// At once.
    Now,
    /// After this delay at the latest, or earlier with another packet.
    Within(Duration),
}

/// Decides when each ack-eliciting 1-RTT packet is acknowledged: every `ratio`th packet, immediately on reordering
/// and congestion marks, and within `max_delay` (RFC 9000 sections 13.2.1 and 13.2.2).
#[derive(Debug, Clone)]
pub(crate) struct AckPolicy {
    ratio: u64,
    max_delay: Duration,
    reordering_threshold: u64,
    /// Whether the peer has requested fewer acknowledgements than one for every second packet; then only the first of
    /// several marked packets is acknowledged immediately.
    ignores_repeated_marks: bool,
    /// Whether the previous packet was marked.
    was_marked: bool,
}

impl AckPolicy {
    /// The policy with these options.
    pub(crate) fn new(options: &AckOptions) -> AckPolicy {
        AckPolicy {
            ratio: options.ratio,
            max_delay: options.max_delay,
            reordering_threshold: 1,
            ignores_repeated_marks: false,
            was_marked: false,
        }
    }

    /// Decides when to acknowledge an ack-eliciting packet that has arrived.
    #[inline]
    pub(crate) fn on_received(&mut self, received: &Received) -> When {
        // draft-ietf-quic-ack-frequency section 6.3.
        let marked = received.congestion_experienced;
        let news = marked && !(self.ignores_repeated_marks && self.was_marked);
        self.was_marked = marked;
        if received.out_of_order || news || received.waiting >= self.ratio {
            When::Now
        } else {
            When::Within(self.max_delay)
        }
    }
    /// Applies a request from the peer.
    pub(crate) fn on_request(&mut self, request: &AckRequest) {
        self.ratio = request.ratio;
        self.max_delay = request.max_delay;
        self.reordering_threshold = request.reordering_threshold;
        self.ignores_repeated_marks = request.ratio > 2;
    }
    /// How far a packet may be out of order before [`Received::out_of_order`] is set; 0: any distance.
    #[inline]
    pub(crate) fn reordering_threshold(&self) -> u64 {
        self.reordering_threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_packet_and_every_reordered_one() {
        let mut policy =
            AckPolicy::new(&AckOptions { ratio: 2, max_delay: Duration::from_millis(25), bundling: false });
        let packet = Received { out_of_order: false, congestion_experienced: false, waiting: 1 };
        assert_eq!(policy.on_received(&packet), When::Within(Duration::from_millis(25)));
        assert_eq!(policy.on_received(&Received { waiting: 2, ..packet }), When::Now);
        assert_eq!(policy.on_received(&Received { out_of_order: true, ..packet }), When::Now);
        assert_eq!(policy.on_received(&Received { congestion_experienced: true, ..packet }), When::Now);
    }

    /// draft-ietf-quic-ack-frequency section 6.3: of consecutive marked packets only the first is acknowledged
    /// immediately, if the peer requested fewer acknowledgements than one for every second packet.
    #[test]
    fn of_consecutive_marks_only_the_first_is_acknowledged_at_once_if_few_acknowledgements_are_requested() {
        let options = AckOptions { ratio: 2, max_delay: Duration::from_millis(25), bundling: false };
        for (ratio, second) in [(2, When::Now), (10, When::Within(Duration::from_millis(25)))] {
            let mut policy = AckPolicy::new(&options);
            let max_delay = options.max_delay;
            policy.on_request(&AckRequest { ratio, max_delay, reordering_threshold: 1 });
            let marked = Received { out_of_order: false, congestion_experienced: true, waiting: 1 };
            assert_eq!(policy.on_received(&marked), When::Now);
            assert_eq!(policy.on_received(&marked), second, "{ratio}");
            policy.on_received(&Received { congestion_experienced: false, ..marked });
            assert_eq!(policy.on_received(&marked), When::Now);
        }
    }
}
