//! The processing of an acknowledgement: delivered segments, the RTT, and the input to the controller.

use super::{Duplicates, Phase, Recovery};
use crate::scoreboard::{Fate, Segment};
use crate::tlp::{ProbeAck, Verdict};
use congestion::{Acked, Signal};
use units::{Duration, Time};

/// The contents of an acknowledgement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Acknowledgement<'a> {
    /// The acknowledgement number.
    pub(crate) una: u64,
    /// The SACK blocks beyond `una`, without a DSACK.
    pub(crate) blocks: &'a [(u64, u64)],
    /// The reported duplicate (RFC 2883).
    pub(crate) dsack: Option<(u64, u64)>,
    /// The echoed timestamp.
    pub(crate) echo: Option<u32>,
    /// Whether it is a duplicate acknowledgement as defined in RFC 5681 section 2.
    pub(crate) duplicate: bool,
    /// Whether it reports congestion that has not been answered yet (RFC 3168 section 6.1.2).
    pub(crate) marked: bool,
}

/// The results of an acknowledgement.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outcome {
    /// The RTT sample, if one could be taken.
    pub(crate) rtt: Option<Duration>,
    /// Segments that were declared lost but arrived.
    pub(crate) spurious: u64,
}

/// The segments newly acknowledged by one acknowledgement.
#[derive(Debug, Default)]
struct NewlyAcked {
    acked: Acked,
    /// The send time of the newest segment that was sent only once.
    clean_sent_at: Option<Time>,
    /// Some segment was sent more than once.
    retransmitted: bool,
}

impl NewlyAcked {
    #[inline]
    fn add(&mut self, segment: &Segment, echo_is_older: bool) {
        self.acked.count(segment.len());
        self.acked.saw(segment.sent_at);
        if segment.was_retransmitted() {
            self.retransmitted = true;
        } else {
            self.clean_sent_at = self.clean_sent_at.max(Some(segment.sent_at));
        }
        // A declared loss was spurious if the segment arrived before it was retransmitted, or if the timestamp shows that an
        // earlier transmission arrived (RFC 3522). A probe of the tail declares nothing.
        if segment.fate == Fate::Lost || segment.repair && echo_is_older {
            self.acked.count_spurious(segment.len(), segment.sent_at);
        }
    }
}

impl Recovery {
    /// Processes an acknowledgement.
    pub(crate) fn on_ack(&mut self, now: Time, ack: &Acknowledgement<'_>) -> Outcome {
        self.regulator.begin_ack(self.in_flight());
        let mut newly = self.apply_segments(now, ack);
        let advanced = ack.una > self.una;
        self.una = self.una.max(ack.una);
        let sample = self.sample_rtt(now, &newly, ack.echo.filter(|_| advanced));
        newly.acked.rtt_sample = sample;
        self.rack.on_una(self.una);
        let widened = self.update_probe(now, ack);
        if let Phase::Recovery(point) | Phase::Loss(point) = self.phase
            && self.una >= point
        {
            self.phase = Phase::Open;
            self.retransmit_now = false;
            self.duplicates = Duplicates { recover: point, ..Duplicates::default() };
            if !widened {
                self.rack.on_recovered();
            }
            self.regulator.end_reduction();
        }
        let arrived_before = self.duplicates.arrived_bytes;
        let lost = self.detect(now, ack, advanced, newly.acked.bytes());
        self.restart_timers(now, advanced);
        if ack.marked {
            newly.acked.marked = 1;
            let (newest_sent_at, bytes_in_flight) = (newly.acked.newest_sent_at(), self.in_flight());
            // RFC 3168 section 6.1.2: the response is that to a loss. An L4S controller responds to the share of marked
            // packets, which this feedback does not contain (RFC 9331 section 4.2).
            let signal = if self.regulator.controller().is_l4s() {
                Signal::Lost { now, bytes: 0, newest_sent_at, bytes_in_flight, packets: &[] }
            } else {
                Signal::Marked { now, packets: 1, newest_sent_at }
            };
            self.regulator.signal(now, &signal);
        }
        self.regulator.end_ack(now, &newly.acked, self.in_flight(), &self.rtt);
        if matches!(self.phase, Phase::Recovery(_)) {
            // RFC 9937 section 5: without SACK a duplicate counts as one delivered segment; the cumulative
            // acknowledgement that follows must not count it again.
            let delivered =
                (newly.acked.bytes() + self.duplicates.arrived_bytes).saturating_sub(arrived_before);
            self.regulator.reduce(delivered, self.in_flight(), advanced && !lost);
        }
        Outcome { rtt: sample, spurious: newly.acked.spurious() }
    }

    /// Removes or marks the acknowledged segments.
    fn apply_segments(&mut self, now: Time, ack: &Acknowledgement<'_>) -> NewlyAcked {
        let mut newly = NewlyAcked::default();
        let Recovery { board, rack, regulator, rtt, clock, features, una, .. } = self;
        rack.begin_ack();
        // The echo belongs to the segment that advanced the left edge (RFC 7323 section 4.3), not to others.
        let una = *una;
        let mut delivered = |segment: &Segment| {
            let echo = ack.echo.filter(|_| segment.start <= una && ack.una > una);
            let echo_is_older = echo.is_some_and(|echo| clock.is_older(echo, segment.sent_at));
            newly.add(segment, echo_is_older);
            regulator.on_delivered(now, segment.len(), segment.sent_at, &segment.rate);
            rack.on_delivered(now, segment, echo_is_older, rtt.min());
        };
        // Selectively acknowledged segments were delivered earlier.
        board.acknowledge(ack.una, |segment| {
            if segment.fate != Fate::Sacked {
                delivered(segment);
            }
        });
        if features.sack && !ack.blocks.is_empty() {
            board.sack(ack.blocks, &mut delivered);
        }
        newly
    }

    /// RFC 6298 section 3 (Karn): takes the sample from segments sent once, and only if no retransmitted segment was
    /// acknowledged with them, since these may have waited behind a gap. Otherwise from the echo of the segment that
    /// advanced SND.UNA (RFC 7323 section 4.1).
    fn sample_rtt(&mut self, now: Time, newly: &NewlyAcked, echo: Option<u32>) -> Option<Duration> {
        let sample = match newly.clean_sent_at {
            Some(sent_at) if !newly.retransmitted => now.since(sent_at),
            _ if newly.acked.bytes() > 0 => self.clock.since(now, echo?)?,
            _ => return None,
        };
        self.rtt.update(sample, Duration::ZERO);
        self.rto.recovered();
        self.tlp.on_rtt();
        Some(sample)
    }

    /// Updates the tail loss probe and the reordering state. Returns whether RACK's reordering window grew.
    fn update_probe(&mut self, now: Time, ack: &Acknowledgement<'_>) -> bool {
        let was_outstanding = self.tlp.is_outstanding();
        let dsack_end = ack.dsack.map(|(_, end)| end);
        let bare_duplicate = ack.duplicate && ack.blocks.is_empty() && ack.dsack.is_none();
        let verdict = self.tlp.on_ack(ProbeAck { una: self.una, dsack_end, bare_duplicate });
        if verdict == Verdict::Repaired
            && let Some((bytes, sent_at, state)) = self.probe.last.take()
        {
            // RFC 8985 section 7.4.2: the response to a loss repaired by the probe is that to any other loss.
            self.regulator.on_lost(bytes, sent_at, &state);
            self.regulator.end_losses(now, self.in_flight());
            self.reduced = true;
        }
        // The duplicate of a probe is not evidence of reordering.
        let ended_it = was_outstanding && !self.tlp.is_outstanding();
        ack.dsack.is_some() && !ended_it && self.rack.on_dsack(self.nxt)
    }
}
