//! CUBIC (RFC 9438); bare section numbers are those of the RFC.

mod curve;
mod options;
mod reduction;
#[cfg(test)]
mod tests;

use crate::basis::Basis;
use crate::slow_start::SlowStart;
use crate::{AckSample, Allowance, Controller, MAX_WINDOW, Sent, Setup, Signal};
use curve::{Curve, Step};
use options::CubicOptions;
use reduction::Undo;
use units::Time;
use units::parameter::{Arguments, Options, Row};

pub(crate) const ROW: Row<crate::Build> = Row {
    name: "cubic",
    about: "CUBIC: the window follows a cubic function of the time since the last loss, at least as fast as Reno (RFC 9438)",
    parameters: CubicOptions::PARAMETERS,
    build: &|arguments, setup| Box::new(Cubic::new(arguments, setup)),
};

/// The state of one CUBIC sender.
#[derive(Debug)]
pub struct Cubic {
    basis: Basis,
    options: CubicOptions,
    slow_start: SlowStart,
    curve: Curve,
    undo: Option<Undo>,
    /// When the window became underused: that time is not part of an epoch (section 4.2).
    unused_since: Option<Time>,
    allowance: Allowance,
}

impl Cubic {
    /// Creates a sender in slow start.
    pub fn new(arguments: &Arguments, setup: Setup) -> Cubic {
        let options = CubicOptions::of(arguments);
        let basis = Basis::new(&options.window, &options.pacing, setup);
        let mut sender = Cubic {
            slow_start: SlowStart::new(&options.slow_start, basis.is_paced()),
            curve: Curve::new(basis.initial() as f64),
            options,
            basis,
            undo: None,
            unused_since: None,
            allowance: Allowance::new(0, None),
        };
        sender.allow();
        sender
    }

    fn allow(&mut self) {
        let window = self.curve.cwnd.round() as u64;
        self.allowance = self.basis.allow(window, self.curve.in_slow_start());
    }
}

impl Controller for Cubic {
    fn on_sent(&mut self, _sent: &Sent) {}

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        if !self.basis.on_ack(ack) {
            // RFC 9002 section 7.8: no growth while the window is underused.
            let covered = self.basis.recovery.covers(ack.newest_sent_at);
            if !covered && self.curve.epoch.is_some() {
                self.unused_since.get_or_insert(ack.now);
            }
            self.allow();
            return;
        }
        let mut acked = ack.acked_bytes;
        if self.curve.in_slow_start() {
            let growth = self.slow_start.on_ack(ack, self.basis.datagram());
            let room = self.curve.ssthresh - self.curve.cwnd;
            let grown = (growth.bytes as f64).min(room);
            self.curve.cwnd = (self.curve.cwnd + grown).min(MAX_WINDOW as f64);
            acked = (growth.bytes as f64 - grown) as u64;
            if growth.done {
                self.slow_start.stop();
                self.curve.ssthresh = self.curve.cwnd;
                // Section 4.10: there was no loss, so W_max is unknown.
                (self.curve.w_max, self.curve.cwnd_prior) = (None, self.curve.cwnd);
            }
        }
        if !self.curve.in_slow_start() {
            let (now, smoothed_rtt, datagram) = (ack.now, self.basis.smoothed_rtt, self.basis.datagram());
            let step = Step { now, acked, smoothed_rtt, datagram };
            self.curve.grow(step, self.unused_since.take(), &self.options);
        }
        self.allow();
    }

    fn on_signal(&mut self, signal: &Signal<'_>) {
        match *signal {
            Signal::Lost { now, newest_sent_at, packets, .. } => {
                self.on_lost(now, newest_sent_at, packets.len() as u64);
            }
            Signal::Marked { now, newest_sent_at, .. } => self.on_marked(now, newest_sent_at),
            Signal::PersistentCongestion => self.collapse(),
            Signal::Spurious { newest_sent_at, packets, .. } => self.on_spurious(newest_sent_at, packets),
            Signal::DatagramSize { bytes } => {
                let least = self.basis.resize(0, bytes);
                self.curve.cwnd = self.curve.cwnd.max(least as f64);
            }
            Signal::PathChanged => {
                // RFC 9000 section 9.4: as at the start.
                self.collapse();
                self.curve = Curve::new(self.basis.restart() as f64);
                self.slow_start.restart(self.basis.delivered);
            }
            Signal::Resume { adjustment, .. } => {
                // What the curve knows of the capacity is from before the jump, or from the overshoot.
                let curve = Curve { ssthresh: self.curve.ssthresh, ..Curve::new(self.curve.cwnd) };
                self.curve = Curve { cwnd_prior: self.curve.cwnd, ..curve };
                self.basis.resume_unrounded(adjustment, &mut self.curve.cwnd, &mut self.curve.ssthresh);
            }
        }
        self.allow();
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        self.allowance
    }

    fn ssthresh(&self) -> Option<u64> {
        self.curve.ssthresh.is_finite().then_some(self.curve.ssthresh.round() as u64)
    }

    fn state(&self) -> &'static str {
        if self.basis.recovery.is_active() {
            "recovery"
        } else if self.curve.in_slow_start() {
            self.slow_start.state()
        } else {
            "congestion_avoidance"
        }
    }

    fn gauges(&self, record: &mut dyn FnMut(&'static str, f64)) {
        if let Some(epoch) = &self.curve.epoch {
            record("cubic_epoch_s", epoch.start.as_secs_f64());
            record("cubic_k_s", epoch.k);
            record("cubic_w_max_bytes", epoch.w_max);
            record("cubic_w_est_bytes", epoch.w_est);
        }
    }
}
