//! What an acknowledgement comes to: what was delivered, the RTT, and what the controller hears.

use super::{Duplicates, Phase, Recovery};
use crate::scoreboard::{Fate, Segment};
use crate::tlp::{Answer, Verdict};
use congestion::{Acked, Signal};
use units::{Duration, Time};

/// What an acknowledgement says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Acknowledgement<'a> {
    /// The number that it acknowledges up to.
    pub(crate) una: u64,
    /// Blocks beyond that, without one that tells of a duplicate.
    pub(crate) blocks: &'a [(u64, u64)],
    /// The duplicate that it tells of (RFC 2883).
    pub(crate) dsack: Option<(u64, u64)>,
    /// The timestamp that it echoes.
    pub(crate) echo: Option<u32>,
    /// Whether it is a duplicate as RFC 5681 section 2 has it.
    pub(crate) duplicate: bool,
    /// Whether it tells of congestion that is not answered yet (RFC 3168 section 6.1.2).
    pub(crate) marked: bool,
}

/// What an acknowledgement came to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outcome {
    /// The RTT sample, if one could be taken.
    pub(crate) rtt: Option<Duration>,
    /// Segments that had been declared lost and were not.
    pub(crate) spurious: u64,
}

/// Segments acknowledged by one acknowledgement, taken together.
#[derive(Debug, Default)]
struct Newly {
    acked: Acked,
    /// When the newest of those that were sent once was sent.
    clean_sent_at: Option<Time>,
    /// One of them was sent more than once.
    retransmitted: bool,
}

impl Newly {
    #[inline]
    fn add(&mut self, segment: &Segment, echo_is_older: bool) {
        self.acked.count(segment.len());
        self.acked.saw(segment.sent_at);
        if segment.was_retransmitted() {
            self.retransmitted = true;
        } else {
            self.clean_sent_at = self.clean_sent_at.max(Some(segment.sent_at));
        }
        // What was declared lost and not sent again came all the same; what was sent again is known by its timestamp to
        // have come the first time (RFC 3522).
        if segment.fate == Fate::Lost || segment.was_retransmitted() && echo_is_older {
            self.acked.count_spurious(segment.len(), segment.sent_at);
        }
    }
}

impl Recovery {
    /// Takes an acknowledgement in.
    pub(crate) fn on_ack(&mut self, now: Time, ack: &Acknowledgement<'_>) -> Outcome {
        self.regulator.begin_ack(self.in_flight());
        let mut newly = self.take_in(now, ack);
        let advanced = ack.una > self.una;
        self.una = self.una.max(ack.una);
        let sample = self.sample_rtt(now, &newly, ack.echo.filter(|_| advanced));
        newly.acked.rtt_sample = sample;
        self.rack.on_una(self.una);
        let widened = self.judge_probe(now, ack);
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
        let told = self.duplicates.arrived_bytes;
        let lost = self.detect(now, ack, advanced, newly.acked.bytes());
        self.restart_timers(now, advanced);
        if ack.marked {
            newly.acked.marked = 1;
            let (newest_sent_at, bytes_in_flight) = (newly.acked.newest_sent_at(), self.in_flight());
            // RFC 3168 section 6.1.2: as a loss. A controller for L4S would go by the share of packets that were marked, of which
            // this feedback does not tell (RFC 9331 section 4.2).
            let signal = if self.regulator.controller().is_l4s() {
                Signal::Lost { now, bytes: 0, newest_sent_at, bytes_in_flight, packets: &[] }
            } else {
                Signal::Marked { now, packets: 1, newest_sent_at }
            };
            self.regulator.signal(now, &signal);
        }
        self.regulator.end_ack(now, &newly.acked, self.in_flight(), &self.rtt);
        if matches!(self.phase, Phase::Recovery(_)) {
            // RFC 9937 section 5: without SACK a duplicate counts as one segment, which the cumulative acknowledgement behind it
            // does not count again.
            let delivered = (newly.acked.bytes() + self.duplicates.arrived_bytes).saturating_sub(told);
            self.regulator.reduce(delivered, self.in_flight(), advanced && !lost);
        }
        Outcome { rtt: sample, spurious: newly.acked.spurious() }
    }

    /// Takes out and marks what is acknowledged.
    fn take_in(&mut self, now: Time, ack: &Acknowledgement<'_>) -> Newly {
        let mut newly = Newly::default();
        let Recovery { board, rack, regulator, rtt, clock, parts, una, .. } = self;
        rack.begin_ack();
        // The echo is that of the segment that moved the left edge (RFC 7323 section 4.3): of others it says nothing.
        let una = *una;
        let mut delivered = |segment: &Segment| {
            let echo = ack.echo.filter(|_| segment.start <= una && ack.una > una);
            let echo_is_older = echo.is_some_and(|echo| clock.is_older(echo, segment.sent_at));
            newly.add(segment, echo_is_older);
            regulator.on_delivered(now, segment.len(), segment.sent_at, &segment.rate);
            rack.on_delivered(now, segment, echo_is_older, rtt.min());
        };
        // What is selectively acknowledged was delivered then.
        board.acknowledge(ack.una, |segment| {
            if segment.fate != Fate::Sacked {
                delivered(segment);
            }
        });
        if parts.sack && !ack.blocks.is_empty() {
            board.sack(ack.blocks, &mut delivered);
        }
        newly
    }

    /// RFC 6298 section 3 (Karn): from what was sent once, and only if nothing else was acknowledged with it: what had
    /// waited behind a gap tells of the gap. Else from the echo of what moved SND.UNA (RFC 7323 section 4.1).
    fn sample_rtt(&mut self, now: Time, newly: &Newly, echo: Option<u32>) -> Option<Duration> {
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

    /// Takes in what it says of a probe and of reordering. Returns whether RACK's reordering window grew.
    fn judge_probe(&mut self, now: Time, ack: &Acknowledgement<'_>) -> bool {
        let was_underway = self.tlp.is_underway();
        let dsack_end = ack.dsack.map(|(_, end)| end);
        let bare_duplicate = ack.duplicate && ack.blocks.is_empty() && ack.dsack.is_none();
        let verdict = self.tlp.on_ack(Answer { una: self.una, dsack_end, bare_duplicate });
        if verdict == Verdict::Repaired
            && let Some((bytes, sent_at, state)) = self.probed.take()
        {
            // RFC 8985 section 7.4.2: a loss that was repaired unnoticed is answered as any other.
            self.regulator.on_lost(bytes, sent_at, &state);
            self.regulator.end_losses(now, self.in_flight());
            self.reduced = true;
        }
        // The duplicate of a probe tells nothing of reordering.
        let ended_it = was_underway && !self.tlp.is_underway();
        ack.dsack.is_some() && !ended_it && self.rack.on_dsack(self.nxt)
    }
}
