//! ECN validation of a path (RFC 9000 section 13.4.2 and appendix A.4).

use trace::event::EcnState;
use units::{Duration, Time};
use wire::{Ecn, EcnCounts};

/// The number of packets that are marked for testing (RFC 9000 section 13.4.2: ten).
const TESTING_PACKETS: u64 = 10;
/// The maximum number of probe timeouts for testing (RFC 9000 section 13.4.2: three).
const TESTING_TIMEOUTS: u64 = 3;

/// The codepoint with which a sender marks its packets (RFC 3168 section 5, RFC 9331 section 4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Classic ECN: the sender reacts to CE as to a loss, or nearly so.
    Ect0,
    /// L4S: the sender reacts to the fraction of CE marks.
    Ect1,
}

/// The state of ECN on one path.
#[derive(Debug, Clone, Default)]
pub(crate) struct EcnPath {
    /// `None`: this endpoint sends no marks.
    state: Option<EcnState>,
    /// Whether the marks are ECT(1) instead of ECT(0).
    l4s: bool,
    /// The time at which the first packet was marked.
    testing_since: Option<Time>,
    /// The time at which testing ended.
    tested_at: Time,
    /// Marked packets on this path: sent, acknowledged, and declared lost.
    marked: u64,
    acked: u64,
    lost: u64,
    /// The growth of the peer's count of that mark by packets of this path only.
    passed: u64,
}

/// The ECN feedback of one ACK frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Report {
    /// The counts of the frame; `None` if it has none.
    pub(crate) counts: Option<EcnCounts>,
    /// The highest counts so far in the same packet number space.
    pub(crate) before: EcnCounts,
    /// Newly acknowledged packets that were sent on this path with a mark.
    pub(crate) acked: u64,
    /// All packets sent in this space with a mark.
    pub(crate) sent: u64,
    /// Whether it also newly acknowledges marked packets of another path.
    pub(crate) mixed: bool,
}

impl Report {
    /// Whether the counts are consistent with the packets sent (RFC 9000 section 13.4.2.1). `l4s`: with ECT(1)
    /// instead of ECT(0).
    fn is_plausible(&self, l4s: bool) -> bool {
        let Some(now) = self.counts else {
            // Without counts, no marked packet may have been acknowledged: otherwise the peer or the path ignores the
            // marks.
            return self.acked == 0;
        };
        let before = self.before;
        // A frame that raises the largest acknowledged is newer than all before, so its counts cannot be lower.
        let shrank = now.ect0 < before.ect0 || now.ect1 < before.ect1 || now.ce < before.ce;
        let (mark, old) = (sent_mark(&now, l4s), sent_mark(&before, l4s));
        let grown = mark.saturating_add(now.ce).saturating_sub(old.saturating_add(before.ce));
        // This endpoint uses only one of the two marks.
        let foreign = !self.mixed && (sent_mark(&now, !l4s) > sent_mark(&before, !l4s) || mark > self.sent);
        !shrank && grown >= self.acked && !foreign
    }
}

/// The count of ECT(1) or of ECT(0).
const fn sent_mark(counts: &EcnCounts, l4s: bool) -> u64 {
    if l4s { counts.ect1 } else { counts.ect0 }
}

impl EcnPath {
    /// An untested path with this mark; `None`: this endpoint sends no marks.
    pub(crate) fn new(mark: Option<Mark>) -> EcnPath {
        let state = mark.map(|_| EcnState::Testing);
        EcnPath { state, l4s: mark == Some(Mark::Ect1), ..EcnPath::default() }
    }
    /// The initial state of another path with the same mark.
    pub(crate) fn for_new_path(&self) -> EcnPath {
        EcnPath { state: self.state.map(|_| EcnState::Testing), l4s: self.l4s, ..EcnPath::default() }
    }
    /// The state of validation; `None` if this endpoint sends no marks.
    pub(crate) fn state(&self) -> Option<EcnState> {
        self.state
    }
    /// Whether this endpoint sends marks and evaluates the feedback.
    #[inline]
    pub(crate) fn is_enabled(&self) -> bool {
        self.state.is_some()
    }

    /// The ECN field of a datagram sent now. `timeout` is the probe timeout of the path.
    pub(crate) fn mark(&mut self, now: Time, timeout: Duration) -> Ecn {
        if self.state == Some(EcnState::Testing) {
            let since = *self.testing_since.get_or_insert(now);
            if self.marked >= TESTING_PACKETS || now.since(since) >= timeout * TESTING_TIMEOUTS {
                self.tested_at = now;
                let known = if self.passed > 0 { EcnState::Capable } else { EcnState::Unknown };
                self.state = Some(known);
            }
        }
        match self.state {
            // RFC 9331 section 4.1: ECT(1) is only for senders that react to CE as section 4.3 requires.
            Some(EcnState::Testing | EcnState::Capable) if self.l4s => Ecn::Ect1,
            Some(EcnState::Testing | EcnState::Capable) => Ecn::Ect0,
            // RFC 9000-13.4.2.2-1, 9000-13.4.2.2-2: "If validation fails, then the endpoint MUST disable ECN."
            _ => Ecn::NotEct,
        }
    }
    /// Notes that a packet was sent with a mark.
    #[inline]
    pub(crate) fn on_marked(&mut self) {
        self.marked += 1;
    }
    /// Notes that a marked packet was declared lost.
    pub(crate) fn on_lost(&mut self) {
        self.lost += 1;
        if self.acked == 0 && self.lost >= self.marked && self.state == Some(EcnState::Unknown) {
            // RFC 9000 section 13.4.2: something on the path may drop marked packets.
            self.state = Some(EcnState::Failed);
        }
    }
    /// Evaluates an ACK frame that raises the largest acknowledged. Returns the number of packets newly reported with
    /// CE, which is a congestion signal.
    pub(crate) fn on_ack(&mut self, now: Time, timeout: Duration, report: &Report) -> u64 {
        if self.state == Some(EcnState::Failed) {
            return 0;
        }
        self.acked += report.acked;
        if !report.is_plausible(self.l4s) {
            self.state = Some(EcnState::Failed);
            return 0;
        }
        let Some(counts) = report.counts else { return 0 };
        let congested = counts.ce - report.before.ce;
        if !report.mixed {
            self.passed += sent_mark(&counts, self.l4s) - sent_mark(&report.before, self.l4s);
        }
        if self.state == Some(EcnState::Unknown) && self.acked > 0 {
            if self.passed > 0 {
                self.state = Some(EcnState::Capable);
            } else if self.acked + self.lost >= self.marked
                || now.since(self.tested_at) > timeout * TESTING_TIMEOUTS
            {
                // RFC 9000 appendix A.4: every packet was marked with CE, which congestion does not do.
                self.state = Some(EcnState::Failed);
                return 0;
            }
        }
        congested
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_millis(100);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }
    fn counts(ect0: u64, ect1: u64, ce: u64) -> EcnCounts {
        EcnCounts { ect0, ect1, ce }
    }
    /// A report about `acked` packets of ten.
    fn report(before: EcnCounts, now: EcnCounts, acked: u64) -> Report {
        Report { counts: Some(now), before, acked, sent: 10, mixed: false }
    }
    /// A path on which ten marked packets were sent and the eleventh is not marked.
    fn tested() -> EcnPath {
        let mut path = EcnPath::new(Some(Mark::Ect0));
        for n in 0..10 {
            assert_eq!(path.mark(at(n), TIMEOUT), Ecn::Ect0);
            path.on_marked();
        }
        assert_eq!(path.mark(at(10), TIMEOUT), Ecn::NotEct);
        assert_eq!(path.state(), Some(EcnState::Unknown));
        path
    }

    /// RFC 9000 appendix A.4.
    #[test]
    fn ten_packets_are_marked_and_no_more_until_one_is_acknowledged() {
        let mut path = tested();
        assert_eq!(path.on_ack(at(20), TIMEOUT, &report(counts(0, 0, 0), counts(3, 0, 1), 4)), 1);
        assert_eq!(path.state(), Some(EcnState::Capable));
        assert_eq!(path.mark(at(20), TIMEOUT), Ecn::Ect0);
    }

    #[test]
    fn a_path_that_works_during_testing_is_capable() {
        let mut path = EcnPath::new(Some(Mark::Ect0));
        for n in 0..10 {
            path.mark(at(n), TIMEOUT);
            path.on_marked();
        }
        path.on_ack(at(10), TIMEOUT, &report(counts(0, 0, 0), counts(2, 0, 0), 2));
        assert_eq!(path.state(), Some(EcnState::Testing));
        assert_eq!(path.mark(at(11), TIMEOUT), Ecn::Ect0);
        assert_eq!(path.state(), Some(EcnState::Capable));
    }

    #[test]
    fn testing_ends_after_three_probe_timeouts_too() {
        let mut path = EcnPath::new(Some(Mark::Ect0));
        assert_eq!(path.mark(at(5), TIMEOUT), Ecn::Ect0);
        assert_eq!(path.mark(at(304), TIMEOUT), Ecn::Ect0);
        assert_eq!(path.mark(at(305), TIMEOUT), Ecn::NotEct);
        let mut off = EcnPath::new(None);
        assert_eq!((off.mark(at(0), TIMEOUT), off.is_enabled()), (Ecn::NotEct, false));
    }

    /// RFC 9000-13.4.2.2-1, 9000-13.4.2.2-2: at the first report, and later.
    #[test]
    fn impossible_reports_fail_validation_permanently() {
        let zero = counts(0, 0, 0);
        let bad = [
            // The path clears the marks, or the peer ignores them.
            Report { counts: None, ..report(zero, zero, 1) },
            // Some of them.
            report(zero, counts(3, 0, 0), 4),
            // ECT(0) becomes ECT(1).
            report(zero, counts(0, 4, 0), 4),
            report(zero, counts(4, 1, 0), 4),
            // More than were sent.
            report(zero, counts(11, 0, 0), 4),
            // They shrink.
            report(counts(4, 0, 1), counts(9, 0, 0), 4),
            report(counts(4, 0, 0), counts(3, 0, 9), 4),
            report(counts(4, 1, 0), counts(9, 0, 0), 4),
        ];
        for bad in bad {
            let mut path = tested();
            assert_eq!(path.on_ack(at(20), TIMEOUT, &bad), 0, "{bad:?}");
            assert_eq!(path.state(), Some(EcnState::Failed), "{bad:?}");
            let mut later = tested();
            later.on_ack(at(20), TIMEOUT, &report(zero, counts(1, 0, 0), 1));
            assert_eq!(later.state(), Some(EcnState::Capable));
            later.on_ack(at(20), TIMEOUT, &bad);
            assert_eq!(later.mark(at(90), TIMEOUT), Ecn::NotEct, "{bad:?}");
            later.on_ack(at(20), TIMEOUT, &report(zero, counts(4, 0, 0), 4));
            assert_eq!(later.mark(at(90), TIMEOUT), Ecn::NotEct, "for good");
        }
    }

    /// Appendix A.4.
    #[test]
    fn a_path_that_marks_everything_with_ce_fails() {
        let mut path = tested();
        assert_eq!(path.on_ack(at(20), TIMEOUT, &report(counts(0, 0, 0), counts(0, 0, 6), 6)), 6);
        assert_eq!(path.state(), Some(EcnState::Unknown), "four may still come without");
        assert_eq!(path.on_ack(at(20), TIMEOUT, &report(counts(0, 0, 6), counts(0, 0, 10), 4)), 0);
        assert_eq!(path.state(), Some(EcnState::Failed));
        // The same if some packets are never acknowledged.
        let mut path = tested();
        path.on_ack(at(30), TIMEOUT, &report(counts(0, 0, 0), counts(0, 0, 6), 6));
        path.on_ack(at(310), TIMEOUT, &report(counts(0, 0, 6), counts(0, 0, 6), 0));
        assert_eq!(path.state(), Some(EcnState::Unknown));
        path.on_ack(at(311), TIMEOUT, &report(counts(0, 0, 6), counts(0, 0, 6), 0));
        assert_eq!(path.state(), Some(EcnState::Failed));
    }

    /// RFC 9000 section 13.4.2.
    #[test]
    fn a_path_that_loses_all_marked_packets_fails() {
        let mut path = tested();
        (0..9).for_each(|_| path.on_lost());
        assert_eq!(path.state(), Some(EcnState::Unknown));
        path.on_lost();
        assert_eq!(path.state(), Some(EcnState::Failed));
    }

    /// RFC 9000 section 13.4.2.1: changes to the packets of another path do not count against this one.
    #[test]
    fn packets_of_another_path_do_not_fail_it() {
        let mut path = tested();
        let report = Report { mixed: true, ..report(counts(0, 0, 0), counts(2, 3, 0), 2) };
        path.on_ack(at(20), TIMEOUT, &report);
        assert_eq!(path.state(), Some(EcnState::Unknown), "nor do they show that this one works");
    }

    /// RFC 9000 section 13.4.2.1, for a sender of ECT(1): the same rules with the two marks exchanged.
    #[test]
    fn the_rules_also_apply_to_ect1() {
        let zero = counts(0, 0, 0);
        let tested = || {
            let mut path = EcnPath::new(Some(Mark::Ect1));
            for n in 0..10 {
                assert_eq!(path.mark(at(n), TIMEOUT), Ecn::Ect1);
                path.on_marked();
            }
            assert_eq!(path.mark(at(10), TIMEOUT), Ecn::NotEct);
            path
        };
        let mut path = tested();
        assert_eq!(path.on_ack(at(20), TIMEOUT, &report(zero, counts(0, 3, 1), 4)), 1);
        assert_eq!((path.state(), path.mark(at(20), TIMEOUT)), (Some(EcnState::Capable), Ecn::Ect1));
        assert_eq!(path.for_new_path().mark(at(20), TIMEOUT), Ecn::Ect1);
        for bad in [
            Report { counts: None, ..report(zero, zero, 1) },
            // All or one of the marks become ECT(0).
            report(zero, counts(4, 0, 0), 4),
            report(zero, counts(1, 4, 0), 4),
            // More than were sent, fewer than were acknowledged, and fewer than before.
            report(zero, counts(0, 11, 0), 4),
            report(zero, counts(0, 3, 0), 4),
            report(counts(0, 4, 1), counts(0, 9, 0), 4),
        ] {
            let mut path = tested();
            assert_eq!(path.on_ack(at(20), TIMEOUT, &bad), 0, "{bad:?}");
            assert_eq!((path.state(), path.mark(at(30), TIMEOUT)), (Some(EcnState::Failed), Ecn::NotEct));
        }
    }
}
