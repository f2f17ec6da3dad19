//! The tail loss probe, sent when acknowledgements are missing, long before the retransmission timeout (RFC 8985
//! section 7).

use units::{Duration, Time};

/// The probe timeout before the first RTT sample (RFC 8985 section 7.2).
const WITHOUT_RTT: Duration = Duration::from_secs(1);

/// The effect of an acknowledgement on a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// There is no probe, or its result is still open.
    Open,
    /// The probe is over and has not repaired a loss.
    Harmless,
    /// The probe has repaired an otherwise undetected loss (RFC 8985 section 7.4).
    Repaired,
}

/// The parts of an acknowledgement that matter for a probe.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProbeAck {
    /// The acknowledgement number.
    pub(crate) una: u64,
    /// The end of the reported duplicate.
    pub(crate) dsack_end: Option<u64>,
    /// Whether it is a duplicate acknowledgement without any block.
    pub(crate) bare_duplicate: bool,
}

/// The state of the probe, with the names of RFC 8985 section 7.1.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tlp {
    /// TLP.end_seq and TLP.is_retrans.
    probe: Option<(u64, bool)>,
    /// There was no RTT sample since the last probe.
    without_rtt: bool,
}

impl Tlp {
    /// Whether a probe is outstanding. There is at most one.
    pub(crate) fn is_outstanding(&self) -> bool {
        self.probe.is_some()
    }
    /// A probe was sent, at this SND.NXT.
    pub(crate) fn on_sent(&mut self, snd_nxt: u64, retransmission: bool) {
        self.probe = Some((snd_nxt, retransmission));
        self.without_rtt = true;
    }
    /// An RTT sample was taken.
    #[inline]
    pub(crate) fn on_rtt(&mut self) {
        self.without_rtt = false;
    }
    /// Section 7.3: whether a probe may be sent on a connection with an RTT estimate. No probe must be outstanding, and
    /// there must have been a sample since the last one; otherwise probes could prevent samples forever.
    pub(crate) fn may_be_sent(&self) -> bool {
        self.probe.is_none() && !self.without_rtt
    }
    /// Discards the probe after a timeout or at the start of a recovery.
    pub(crate) fn forget(&mut self) {
        self.probe = None;
    }

    /// TLP_calc_PTO (section 7.2): the time of the probe, from the smoothed RTT if there was a sample, whether a single
    /// segment is in flight, the peer's maximum acknowledgement delay, and the expiry of the retransmission timer.
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
    pub(crate) fn on_ack(&mut self, ack: ProbeAck) -> Verdict {
        let Some((end, retransmission)) = self.probe else { return Verdict::Open };
        if ack.una < end {
            return Verdict::Open;
        }
        let verdict = if !retransmission || ack.dsack_end == Some(end) {
            Verdict::Harmless
        } else if ack.una > end {
            Verdict::Repaired
        } else if ack.bare_duplicate {
            Verdict::Harmless
        } else {
            // The acknowledgement may be of the probe or of the original; the next one decides.
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
    fn answers_to_probes() {
        let ack = |una| ProbeAck { una, dsack_end: None, bare_duplicate: false };
        let probed = |retransmission| {
            let mut tlp = Tlp::default();
            tlp.on_sent(1000, retransmission);
            tlp
        };
        assert_eq!(probed(false).on_ack(ack(1000)), Verdict::Harmless);
        assert_eq!(probed(false).on_ack(ack(900)), Verdict::Open);
        let mut tlp = probed(true);
        assert_eq!(tlp.on_ack(ack(1000)), Verdict::Open);
        assert!(tlp.is_outstanding());
        assert_eq!(tlp.on_ack(ProbeAck { dsack_end: Some(1000), ..ack(1000) }), Verdict::Harmless);
        assert!(!tlp.is_outstanding());
        assert_eq!(probed(true).on_ack(ProbeAck { bare_duplicate: true, ..ack(1000) }), Verdict::Harmless);
        let mut tlp = probed(true);
        assert_eq!(tlp.on_ack(ack(1000)), Verdict::Open);
        assert_eq!(tlp.on_ack(ack(1100)), Verdict::Repaired);
        assert_eq!(tlp.on_ack(ack(1200)), Verdict::Open);
    }
}
