//! The tail loss probe: what is sent when acknowledgements fail to come, long before the retransmission timeout
//! (RFC 8985 section 7).

use units::{Duration, Time};

/// The timeout of a probe before the first RTT sample (RFC 8985 section 7.2).
const WITHOUT_RTT: Duration = Duration::from_secs(1);

/// What an acknowledgement says of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// There is no probe, or it is not over.
    Open,
    /// It is over and no loss was repaired.
    Harmless,
    /// It repaired a loss, which nobody has noticed (RFC 8985 section 7.4).
    Repaired,
}

/// What is said of a probe by the acknowledgement that ends it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    /// The number that it acknowledges up to.
    pub(crate) una: u64,
    /// The end of the duplicate that it tells of.
    pub(crate) dsack_end: Option<u64>,
    /// Whether it is a duplicate without any block.
    pub(crate) bare_duplicate: bool,
}

/// The state of the probe, under the names of RFC 8985 section 7.1.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tlp {
    /// TLP.end_seq and TLP.is_retrans.
    probe: Option<(u64, bool)>,
    /// No RTT was measured since the last probe was sent.
    without_rtt: bool,
}

impl Tlp {
    /// Whether a probe waits for its answer: there is one at a time.
    pub(crate) fn is_underway(&self) -> bool {
        self.probe.is_some()
    }
    /// A probe was sent when all up to this number had been sent.
    pub(crate) fn on_sent(&mut self, snd_nxt: u64, retransmission: bool) {
        self.probe = Some((snd_nxt, retransmission));
        self.without_rtt = true;
    }
    /// An RTT sample was taken.
    #[inline]
    pub(crate) fn on_rtt(&mut self) {
        self.without_rtt = false;
    }
    /// Section 7.3: whether one may be sent, for a connection that has an RTT sample: none is in flight, and there was a sample
    /// since the last, so that probes do not keep samples from being taken.
    pub(crate) fn may_be_sent(&self) -> bool {
        self.probe.is_none() && !self.without_rtt
    }
    /// There is nothing to be learned from it any more: a timeout, or a recovery.
    pub(crate) fn forget(&mut self) {
        self.probe = None;
    }

    /// TLP_calc_PTO (section 7.2): when to probe, given the smoothed RTT if there was a sample, whether one segment alone
    /// is in flight, how long the peer may keep an acknowledgement back, and when the retransmission timer goes off.
    pub(crate) fn timeout(
        now: Time,
        smoothed: Option<Duration>,
        alone: bool,
        max_ack_delay: Duration,
        rto_at: Option<Time>,
    ) -> Time {
        let after = match smoothed {
            Some(smoothed) => smoothed * 2 + if alone { max_ack_delay } else { Duration::ZERO },
            None => WITHOUT_RTT,
        };
        let at = now + after;
        rto_at.map_or(at, |rto_at| at.min(rto_at))
    }

    /// TLP_process_ack (section 7.4.2).
    #[inline]
    pub(crate) fn on_ack(&mut self, answer: Answer) -> Verdict {
        let Some((end, retransmission)) = self.probe else { return Verdict::Open };
        if answer.una < end {
            return Verdict::Open;
        }
        let verdict = if !retransmission || answer.dsack_end == Some(end) {
            Verdict::Harmless
        } else if answer.una > end {
            Verdict::Repaired
        } else if answer.bare_duplicate {
            Verdict::Harmless
        } else {
            // The probe or the segment it repeats: the next acknowledgement tells.
            return Verdict::Open;
        };
        self.probe = None;
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }
    const MS_200: Duration = Duration::from_millis(200);

    /// RFC 8985 section 7.2.
    #[test]
    fn the_timeout_of_a_probe() {
        let rtt = Some(Duration::from_millis(50));
        assert_eq!(Tlp::timeout(at(10), rtt, false, MS_200, None), at(110));
        assert_eq!(Tlp::timeout(at(10), rtt, true, MS_200, None), at(310));
        assert_eq!(Tlp::timeout(at(10), rtt, true, MS_200, Some(at(260))), at(260));
        assert_eq!(Tlp::timeout(at(10), None, false, MS_200, None), at(1010));
    }

    /// RFC 8985 section 7.4.2.
    #[test]
    fn what_an_answer_means() {
        let answer = |una| Answer { una, dsack_end: None, bare_duplicate: false };
        let probed = |retransmission| {
            let mut tlp = Tlp::default();
            tlp.on_sent(1000, retransmission);
            tlp
        };
        assert_eq!(probed(false).on_ack(answer(1000)), Verdict::Harmless);
        assert_eq!(probed(false).on_ack(answer(900)), Verdict::Open);
        let mut tlp = probed(true);
        assert_eq!(tlp.on_ack(answer(1000)), Verdict::Open);
        assert!(tlp.is_underway());
        assert_eq!(tlp.on_ack(Answer { dsack_end: Some(1000), ..answer(1000) }), Verdict::Harmless);
        assert!(!tlp.is_underway());
        assert_eq!(probed(true).on_ack(Answer { bare_duplicate: true, ..answer(1000) }), Verdict::Harmless);
        let mut tlp = probed(true);
        assert_eq!(tlp.on_ack(answer(1000)), Verdict::Open);
        assert_eq!(tlp.on_ack(answer(1100)), Verdict::Repaired);
        assert_eq!(tlp.on_ack(answer(1200)), Verdict::Open);
    }
}
