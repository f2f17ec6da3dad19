//! Signals of acknowledgements and losses for the path in use: ECN (RFC 9000 section 13.4) and the datagram size
//! (section 14).

use super::{EcnFeedback, Path, PathOutput, Paths};
use crate::recovery::{Loss, NewlyAcked};
use crate::sent::{SentKind, SentPacket};
use crate::space::Space;
use trace::event::EcnState;
use units::Time;
use wire::{Ack, Ecn};

/// The packets that one ACK frame newly acknowledges.
#[derive(Debug, Default)]
pub(crate) struct AckBatch {
    pub(crate) newly: NewlyAcked,
    /// The number of packets that were declared lost before.
    pub(crate) spurious: u64,
    /// Whether any packet was sent on another path.
    pub(crate) foreign: bool,
    /// The number of packets sent on this path with an ECN mark.
    marked: u64,
    /// Whether any packet was sent on another path with a mark.
    marked_on_other_path: bool,
    /// The state of MTU discovery before the frame.
    search_state: Option<(u16, bool)>,
}

impl AckBatch {
    /// Counts a packet that had been declared lost.
    #[cold]
    fn count_spurious(&mut self) {
        self.spurious += 1;
    }
    /// Notes a packet that was sent on another path.
    #[cold]
    fn note_foreign(&mut self) {
        self.foreign = true;
    }
}

impl Path {
    /// Processes a newly acknowledged packet.
    #[inline]
    pub(crate) fn on_packet_acked(
        &mut self,
        now: Time,
        number: u64,
        packet: &SentPacket,
        was_lost: bool,
        batch: &mut AckBatch,
    ) {
        let since = self.route.since;
        if packet.kind == SentKind::Ect {
            if number >= since {
                batch.marked += 1;
            } else {
                batch.marked_on_other_path = true;
            }
        }
        // RFC 9000-9.4-1: "Packets sent on the old path MUST NOT contribute".
        if packet.epoch != self.recovery.epoch {
            batch.note_foreign();
            return;
        }
        if was_lost {
            batch.count_spurious();
        }
        if let Some(search) = &mut self.route.mtu
            && number >= since
        {
            search.on_acked(now, number, packet.size, packet.sent_at);
        }
        batch.newly.add(&mut self.recovery, now, number, packet, was_lost);
    }
}

impl Paths {
    /// Starts processing an ACK frame.
    #[inline]
    pub(crate) fn begin_ack(&mut self) -> AckBatch {
        self.current.recovery.begin_ack();
        AckBatch { search_state: self.current.route.search_state(), ..AckBatch::default() }
    }
    /// Finishes processing an ACK frame. `raised`: it raised the largest acknowledged. Returns the number of packets
    /// newly reported with CE.
    #[inline]
    pub(crate) fn end_ack(
        &mut self,
        now: Time,
        space: &mut Space,
        ack: &Ack<'_>,
        raised: bool,
        batch: &AckBatch,
    ) -> u64 {
        self.stats.packets_spuriously_lost += batch.spurious;
        self.on_search_progress(now, batch.search_state);
        // RFC 9000-13.4.2.1-1: not "as a result of processing an ACK frame that does not increase the largest
        // acknowledged packet number".
        if raised && self.current.route.ecn.is_enabled() {
            self.on_ecn_counts(now, space, ack, batch)
        } else {
            0
        }
    }
    /// Processes packets declared lost.
    pub(crate) fn on_losses(&mut self, now: Time, losses: &[Loss]) {
        self.stats.packets_lost += losses.len() as u64;
        let (since, state) = (self.current.route.since, self.current.route.ecn.state());
        let of_path = losses.iter().filter(|loss| loss.number >= since);
        for _ in of_path.clone().filter(|loss| loss.kind == SentKind::Ect) {
            self.current.route.ecn.on_lost();
        }
        self.note_ecn_state(state);
        let before = self.current.route.search_state();
        let Some(search) = &mut self.current.route.mtu else { return };
        for loss in of_path {
            self.stats.mtu_probes_lost += u64::from(loss.kind == SentKind::MtuProbe);
            self.stats.mtu_black_holes +=
                u64::from(search.on_lost(now, loss.number, loss.size, loss.sent_at));
        }
        self.on_search_progress(now, before);
    }
    /// Counts a probe timeout.
    pub(crate) fn on_probe_timeout(&mut self, now: Time) {
        self.stats.probe_timeouts += 1;
        self.current.recovery.pto_count += 1;
        let before = self.current.route.search_state();
        if let Some(search) = &mut self.current.route.mtu {
            self.stats.mtu_black_holes += u64::from(search.on_silence(self.current.recovery.pto_count));
            self.on_search_progress(now, before);
        }
    }

    // ---- ECN ----

    /// The ECN field of the next datagram.
    #[inline]
    pub(crate) fn mark(&mut self, now: Time) -> Ecn {
        if !self.current.route.ecn.is_enabled() {
            return Ecn::NotEct;
        }
        let (before, timeout) = (self.current.route.ecn.state(), self.current.probe_timeout());
        let ecn = self.current.route.ecn.mark(now, timeout);
        self.note_ecn_state(before);
        ecn
    }
    /// Notes that a packet was sent with a mark.
    #[inline]
    pub(crate) fn on_marked(&mut self) {
        self.current.route.ecn.on_marked();
        self.stats.ect_packets_sent += 1;
    }

    /// Evaluates the ECN counts of an ACK frame that raised the largest acknowledged.
    fn on_ecn_counts(&mut self, now: Time, space: &mut Space, ack: &Ack<'_>, batch: &AckBatch) -> u64 {
        let before = space.ecn_counts;
        let counts = ack.ecn();
        space.ecn_counts = counts.unwrap_or(before);
        let (acked, sent, mixed) = (batch.marked, space.sent.ect, batch.marked_on_other_path);
        let report = EcnFeedback { counts, before, acked, sent, mixed };
        let (state, timeout) = (self.current.route.ecn.state(), self.current.probe_timeout());
        let congested = self.current.route.ecn.on_ack(now, timeout, &report);
        self.stats.ce_packets_reported += congested;
        self.note_ecn_state(state);
        congested
    }

    #[inline]
    fn note_ecn_state(&mut self, before: Option<EcnState>) {
        let state = self.current.route.ecn.state();
        if state != before
            && let Some(state) = state
        {
            self.stats.ecn_failures += u64::from(state == EcnState::Failed);
            self.outputs.push(PathOutput::Ecn(state));
        }
    }

    // ---- the size of datagrams ----

    /// The size of the pending probe, if there is one and it fits into an empty window. `probing`: probes of a probe
    /// timeout are still pending.
    fn mtu_probe_due(&self, probing: bool) -> Option<usize> {
        let Path { route, recovery, .. } = &self.current;
        let size = usize::from(route.mtu.as_ref()?.due()?);
        let calm = self.confirmed
            && route.is_fully_validated()
            && route.validation.is_none()
            && recovery.pto_count == 0
            && !probing;
        (calm && size as u64 <= recovery.window()).then_some(size)
    }
    /// The size of the probe to send now, if window and pacer permit it.
    #[cold]
    pub(crate) fn mtu_probe(&mut self, now: Time, probing: bool) -> Option<usize> {
        let size = self.mtu_probe_due(probing)?;
        (self.current.recovery.admits(size as u64) && self.current.is_paced(now)).then_some(size)
    }
    /// Notes that the due probe was sent with this packet number.
    pub(crate) fn on_mtu_probe_sent(&mut self, number: u64, size: usize) {
        if let Some(search) = &mut self.current.route.mtu {
            search.on_probe_sent(number);
        }
        self.stats.mtu_probes_sent += 1;
        self.current.route.on_sent(size as u64);
    }
    /// Whether a probe is pending.
    #[inline]
    pub(crate) fn probes_size(&self) -> bool {
        self.current.route.mtu.as_ref().is_some_and(|search| search.due().is_some())
    }
    /// The free window required for sending: for a datagram of `limit` bytes, or for a larger pending probe. A probe
    /// uses the window like other packets (RFC 9000 section 14.4), and a busy sender would otherwise never leave room
    /// for it.
    #[inline]
    pub(crate) fn room_wanted(&self, limit: usize, probing: bool) -> u64 {
        if self.current.route.mtu.is_none() {
            return limit as u64;
        }
        self.mtu_probe_due(probing).unwrap_or(0).max(limit) as u64
    }

    /// Reports a change of the MTU search since `before`.
    #[inline]
    fn on_search_progress(&mut self, now: Time, before: Option<(u16, bool)>) {
        let search_state = self.current.route.search_state();
        if search_state != before
            && let (Some((old, _)), Some((new, done))) = (before, search_state)
        {
            if new != old {
                self.current.recovery.set_datagram_size(now, u64::from(new));
            }
            self.outputs.push(PathOutput::Mtu { old, new, done });
        }
    }
}
