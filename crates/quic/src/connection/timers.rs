//! The timers of a connection: loss detection and probes, delayed acknowledgements, pacing, idle timeout.

use super::{Connection, Progress};
use crate::error::{CloseReason, TransportError};
use crate::loss;
use crate::path::Path;
use crate::space::SpaceKind;
use units::{Duration, Time};
use wire::Code;

/// The maximum number of unacknowledged packets; the connection fails beyond it.
const MAX_UNACKNOWLEDGED: usize = 1 << 20;

impl Connection {
    /// The latest time at which [`Connection::wake`] must be called.
    #[inline]
    pub fn wake_at(&self) -> Option<Time> {
        if self.is_over() {
            return self.closing.until();
        }
        let time = |deadline: Option<Time>| deadline.unwrap_or(Time::NEVER);
        // Computed once for both: the compiler does not see that it is the same.
        let timeout = self.paths.current.probe_timeout();
        let at = time(self.loss_timer_with(timeout).map(|(at, _)| at))
            .min(time(self.ack_deadline()))
            .min(time(self.paths.current.paced_until))
            .min(time(self.paths.deadline()))
            .min(time(self.idle.deadline(timeout)))
            .min(time(self.keep_alive_deadline()))
            .min(time(self.zero_rtt.as_ref().and_then(|early| early.discard_at)));
        (at != Time::NEVER).then_some(at)
    }

    /// Handles the timers that have expired at `now`.
    pub fn wake(&mut self, now: Time) {
        self.now = now;
        if self.is_over() {
            if self.closing.until().is_some_and(|until| until <= now) {
                self.closing.finish();
                self.trace_state(now, "closed");
            }
            return;
        }
        if self.idle_deadline().is_some_and(|at| at <= now) {
            // RFC 9000 section 10.1: silently, without a closing period.
            return self.end_silently(now, CloseReason::IdleTimeout);
        }
        if self.paths.deadline().is_some_and(|at| at <= now) {
            self.on_path_time(now);
            if self.is_over() {
                return;
            }
        }
        if let Some((at, kind)) = self.loss_timer().filter(|(at, _)| *at <= now) {
            debug_assert!(at <= now, "a timer that was filtered by its time has expired");
            self.on_loss_timer(now, kind);
        }
        if self.keep_alive_deadline().is_some_and(|at| at <= now) {
            self.spaces.data.ping = true;
        }
        if self.paths.current.paced_until.is_some_and(|at| at <= now) {
            self.paths.current.paced_until = None;
        }
        if self.zero_rtt.is_some() {
            self.discard_early_keys(now);
        }
    }

    #[inline]
    fn ack_deadline(&self) -> Option<Time> {
        if self.paths.current.route.is_blocked() {
            return None;
        }
        let mut deadline = self.spaces.data.received.deadline();
        for space in self.spaces.handshake() {
            if let Some(at) = space.received.deadline() {
                deadline = Some(deadline.map_or(at, |known| known.min(at)));
            }
        }
        deadline
    }

    #[inline]
    fn idle_deadline(&self) -> Option<Time> {
        self.idle.deadline(self.paths.current.probe_timeout())
    }

    #[inline]
    fn keep_alive_deadline(&self) -> Option<Time> {
        let data = &self.spaces.data;
        let at = self.idle.keep_alive_at()?;
        (self.progress == Progress::Confirmed && !data.ping && data.sent.ack_eliciting() == 0).then_some(at)
    }

    /// The loss detection timer and the space that it is for (RFC 9002 sections 6.1.2, 6.2.1 and A.8).
    #[inline]
    fn loss_timer(&self) -> Option<(Time, SpaceKind)> {
        self.loss_timer_with(self.paths.current.probe_timeout())
    }

    /// The same with the probe timeout of the path, without backoff.
    #[inline]
    fn loss_timer_with(&self, timeout: Duration) -> Option<(Time, SpaceKind)> {
        if self.progress == Progress::Confirmed {
            return self.data_loss_timer(timeout);
        }
        self.handshake_loss_timer()
    }

    #[inline]
    fn data_loss_timer(&self, timeout: Duration) -> Option<(Time, SpaceKind)> {
        if let Some(at) = self.spaces.data.loss_time {
            return Some((at, SpaceKind::Data));
        }
        if self.spaces.data.sent.ack_eliciting() == 0 || self.paths.current.route.is_blocked() {
            // RFC 9002 section 6.2.2.1: an endpoint that may not send sets no timer.
            return None;
        }
        let timeout = loss::backed_off(timeout, self.paths.current.recovery.pto_count);
        Some((self.spaces.data.last_eliciting_at + timeout, SpaceKind::Data))
    }

    fn handshake_loss_timer(&self) -> Option<(Time, SpaceKind)> {
        let losses =
            SpaceKind::ALL.into_iter().filter_map(|kind| Some((self.spaces.get(kind)?.loss_time?, kind)));
        if let Some(first) = losses.min() {
            return Some(first);
        }
        if self.paths.current.route.is_blocked() {
            // RFC 9002 section 6.2.2.1: a server that may not send more sets no timer.
            return None;
        }
        let Path { route, recovery, .. } = &self.paths.current;
        let timeout = loss::probe_timeout(&recovery.rtt, Duration::ZERO, recovery.pto_count);
        let early = [SpaceKind::Initial, SpaceKind::Handshake].into_iter();
        let sendable = early.filter(|kind| *kind != SpaceKind::Initial || route.admits_full());
        let eliciting = sendable.filter_map(|kind| {
            let space = self.spaces.get(kind)?;
            // Lost data of the handshake may wait for a window that is full of packets that the peer cannot decrypt without it.
            let waits = space.last_eliciting_at > Time::ZERO && self.crypto.has_pending(kind);
            (waits || space.sent.ack_eliciting() > 0).then_some((space.last_eliciting_at + timeout, kind))
        });
        if let Some(first) = eliciting.min() {
            return Some(first);
        }
        if self.peer_completed_validation(self.is_handshake_acked()) {
            return None;
        }
        // RFC 9002 section 6.2.2.1, RFC 9000-8.1-4: a client sends packets until its address is validated, so that
        // the server can always continue; 9000-8.1-5: with its newest keys.
        let kind = match self.crypto.level() {
            SpaceKind::Initial => SpaceKind::Initial,
            _ => SpaceKind::Handshake,
        };
        Some((recovery.probe_base + timeout, kind))
    }

    fn on_loss_timer(&mut self, now: Time, kind: SpaceKind) {
        if self.spaces.get(kind).is_some_and(|space| space.loss_time.is_some()) {
            self.detect_losses(now, kind);
            self.trace_metrics(now);
            return;
        }
        if self.spaces.get(kind).is_some_and(|space| space.sent.kept() > MAX_UNACKNOWLEDGED) {
            return self
                .fail(now, TransportError::new(Code::INTERNAL_ERROR, "too many packets are unacknowledged"));
        }
        self.paths.on_probe_timeout(now);
        self.apply_path_outputs(now);
        // RFC 9002 section 6.2.4: two probes; during the handshake also two for every other space with data in
        // flight.
        for probed in SpaceKind::ALL {
            let wanted =
                probed == kind || self.progress != Progress::Confirmed && self.has_unfinished(probed);
            if let Some(space) = self.spaces.get_mut(probed).filter(|_| wanted) {
                space.probing.left = 2;
                space.ping = true;
            }
        }
        self.trace_metrics(now);
    }

    /// Whether a space has data in flight that the peer may be able to decrypt, or data that waits because packets
    /// that the peer cannot decrypt yet fill the window.
    fn has_unfinished(&self, kind: SpaceKind) -> bool {
        let readable = kind != SpaceKind::Data || self.progress >= Progress::Complete;
        // A space without keys has nothing in flight, and nothing to send.
        let space = self.spaces.get(kind).filter(|_| readable);
        space.is_some_and(|space| space.sent.ack_eliciting() > 0 || self.crypto.has_pending(kind))
    }
}
