//! Loss detection: by time, by later segments, by duplicate acknowledgements, by timeout.

use super::{Acknowledgement, Duplicates, Phase, Recovery, Timeout};
use crate::rack::{DUP_THRESHOLD, PathState};
use crate::scoreboard::Fate;
use congestion::Signal;
use trace::event::LossTrigger;
use units::Time;

/// A segment declared lost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loss {
    /// Its first sequence number.
    pub(crate) start: u64,
    pub(crate) trigger: LossTrigger,
}

impl Recovery {
    pub(super) fn path_state(&self) -> PathState {
        PathState {
            min_rtt: self.rtt.min(),
            smoothed_rtt: self.rtt.smoothed(),
            in_recovery: self.in_recovery(),
        }
    }

    /// Detects losses after an acknowledgement. Returns whether there are any.
    pub(super) fn detect(
        &mut self,
        now: Time,
        ack: &Acknowledgement<'_>,
        advanced: bool,
        newly_bytes: u64,
    ) -> bool {
        self.numbers.clear();
        let mut trigger = LossTrigger::TimeThreshold;
        if !self.features.sack {
            trigger = LossTrigger::PacketThreshold;
            self.count_duplicates(ack, advanced, newly_bytes);
        } else if self.features.rack {
            let path = self.path_state();
            self.reorder_at = self.rack.detect(now, &mut self.board, path, &mut self.numbers);
            if self.reorder_at.is_some() {
                // RFC 8985 section 8: "SHOULD cancel any other pending timers"; RACK's own timer precedes them.
                self.probe.at = None;
            }
        } else {
            trigger = LossTrigger::PacketThreshold;
            self.board.below_threshold(DUP_THRESHOLD, &mut self.numbers);
            for number in &self.numbers {
                self.board.lose(*number);
            }
        }
        self.declare(now, trigger, newly_bytes);
        !self.numbers.is_empty()
    }

    /// Loss detection without SACK: the third duplicate declares the first segment lost (RFC 5681 section 3.2), and so
    /// does each partial acknowledgement in the recovery that follows (RFC 6582 section 3.2).
    pub(super) fn count_duplicates(&mut self, ack: &Acknowledgement<'_>, advanced: bool, newly_bytes: u64) {
        let mut lose = false;
        if advanced {
            lose = matches!(self.phase, Phase::Recovery(_));
            self.duplicates.count = 0;
            self.duplicates.arrived_bytes = match self.phase {
                Phase::Recovery(_) => self.duplicates.arrived_bytes.saturating_sub(newly_bytes),
                _ => 0,
            };
        } else if ack.duplicate && !self.board.is_empty() {
            self.duplicates.count += 1;
            let counts = self.features.limited_transmit || self.duplicates.count >= DUP_THRESHOLD;
            if counts && matches!(self.phase, Phase::Open | Phase::Recovery(_)) {
                // RFC 3042 section 2; RFC 5681 section 3.2, step 4: a segment has left the network.
                let most = self.board.in_flight().saturating_sub(self.mss);
                self.duplicates.arrived_bytes = (self.duplicates.arrived_bytes + self.mss).min(most);
            }
            // RFC 6582 section 3.2, step 2: duplicates caused by unnecessary retransmissions do not indicate a loss.
            let meant = self.una > self.duplicates.recover;
            lose = self.duplicates.count == DUP_THRESHOLD && self.phase == Phase::Open && meant;
        }
        let first = self.board.front_number();
        if lose && self.board.lose(first) {
            self.numbers.push(first);
        }
        self.limit_arrived();
    }

    /// Duplicates cannot report more bytes than are in flight. An attacker may send any number of them, and what is in flight
    /// shrinks when segments are acknowledged or declared lost.
    fn limit_arrived(&mut self) {
        self.duplicates.arrived_bytes = self.duplicates.arrived_bytes.min(self.board.in_flight());
    }

    /// Reports the segments in `numbers`, which were just declared lost. The same acknowledgement newly acknowledged
    /// `newly_bytes`.
    pub(super) fn declare(&mut self, now: Time, trigger: LossTrigger, newly_bytes: u64) {
        if self.numbers.is_empty() {
            return;
        }
        let mut news = false;
        for number in &self.numbers {
            let segment =
                self.board.get(*number).expect("a segment that was just declared lost is on the board");
            debug_assert!(segment.fate == Fate::Lost, "what is reported as lost was declared lost");
            news |= self.timeout.is_none_or(|timeout| timeout.is_new_event(segment));
            self.regulator.on_lost(segment.len(), segment.sent_at, &segment.rate);
            self.losses.push(Loss { start: segment.start, trigger });
        }
        let begins = self.phase == Phase::Open;
        if begins {
            self.phase = Phase::Recovery(self.nxt);
            self.retransmit_now = true;
            self.reduced = true;
        }
        self.tlp.forget();
        self.probe.at = None;
        self.probe.due = false;
        let before = self.regulator.target();
        if news {
            self.regulator.end_losses(now, self.in_flight());
        } else {
            self.regulator.keep_losses_back();
        }
        // RFC 9937 section 6: an episode begins with the recovery, and with each further reduction by the controller.
        let answered = self.regulator.target() < before;
        if self.features.prr && matches!(self.phase, Phase::Recovery(_)) && (begins || answered) {
            // RecoverFS (section 6.1) excludes data acknowledged before this acknowledgement.
            let outstanding = (self.nxt - self.una + newly_bytes).saturating_sub(self.board.sacked());
            self.regulator.begin_reduction(self.mss, outstanding, self.features.sack, self.in_flight());
        }
    }

    /// Handles the timers that have expired. Returns whether the retransmission timer did.
    pub(crate) fn wake(&mut self, now: Time) -> bool {
        if self.reorder_at.is_some_and(|at| at <= now) {
            self.numbers.clear();
            let (path, flight) = (self.path_state(), self.in_flight());
            self.reorder_at = self.rack.detect(now, &mut self.board, path, &mut self.numbers);
            self.regulator.reduce_by_timer(flight, self.in_flight());
            self.declare(now, LossTrigger::TimeThreshold, 0);
        }
        if self.probe.at.is_some_and(|at| at <= now) {
            self.probe.at = None;
            if !self.board.is_empty() {
                // RFC 8985 section 7.3: the retransmission timer is restarted whether or not a probe is sent.
                self.probe.due = self.rtt.is_sampled() && self.tlp.may_be_sent();
                self.rto.restart(now, &self.rtt);
            }
        }
        let due = self.rto.at.is_some_and(|at| at <= now);
        if due {
            self.on_timeout(now);
        }
        due
    }

    /// RFC 6298 section 5, RFC 5681 section 3.1, RFC 8985 section 6.3.
    pub(super) fn on_timeout(&mut self, now: Time) {
        if self.board.is_empty() {
            return self.rto.stop();
        }
        self.timeouts += 1;
        let front = self.board.front().expect("a timeout is that of a segment in flight").start;
        if let Some(known) = &mut self.timeout {
            known.again = known.front == front;
        }
        self.rto.back_off(now, &self.rtt);
        if self.board.front().is_some_and(|front| front.fate == Fate::Sacked) {
            // RFC 2018 section 8: the receiver has reneged.
            self.board.forget_sacks();
        }
        self.numbers.clear();
        if self.features.rack && self.features.sack {
            let path = self.path_state();
            self.rack.on_timeout(now, &mut self.board, path, &mut self.numbers);
        } else {
            self.numbers.extend(self.board.flying());
            for number in &self.numbers {
                self.board.lose(*number);
            }
        }
        self.reorder_at = None;
        self.duplicates = Duplicates::default();
        self.declare(now, LossTrigger::Probe, 0);
        self.regulator.end_reduction();
        self.timeout = Some(Timeout { at: now, front, again: false });
        self.phase = Phase::Loss(self.nxt);
        self.retransmit_now = true;
        self.reduced = true;
        (self.probe.at, self.probe.due) = (None, false);
        self.tlp.forget();
        // RFC 5681 section 3.1: the window falls to its minimum, and slow start begins.
        self.regulator.signal(now, &Signal::PersistentCongestion);
    }

    /// Retransmits everything in flight without congestion response: the data of a SYN was not accepted.
    pub(crate) fn resend_all(&mut self) {
        self.numbers.clear();
        self.numbers.extend(self.board.flying());
        for number in &self.numbers {
            self.board.lose(*number);
        }
        self.limit_arrived();
        self.retransmit_now = true;
    }
}
