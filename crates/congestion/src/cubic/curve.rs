//! CUBIC's window growth (RFC 9438 sections 4.2 to 4.5): a cubic function of the time since the last reduction, at
//! least as fast as Reno. Windows are in unrounded bytes, because the algorithm adds fractions of bytes.

use super::options::{CubicOptions, RenoGrowth};
use crate::MAX_WINDOW;
use units::{Duration, Time};

/// The variables of section 4.1.2, which section 4.9 restores.
#[derive(Debug, Clone, Copy)]
pub(super) struct Curve {
    pub(super) cwnd: f64,
    pub(super) ssthresh: f64,
    /// The window at the last reduction; zero before the first.
    pub(super) cwnd_prior: f64,
    /// `None` if the next congestion avoidance begins on the plateau (sections 4.8, 4.10).
    pub(super) w_max: Option<f64>,
    /// The congestion avoidance stage; `None` before it begins.
    pub(super) epoch: Option<Epoch>,
}

/// A congestion avoidance stage.
#[derive(Debug, Clone, Copy)]
pub(super) struct Epoch {
    /// `t_epoch`, shifted by the time in which the window was underused.
    pub(super) start: Time,
    pub(super) w_max: f64,
    /// Seconds.
    pub(super) k: f64,
    pub(super) w_est: f64,
}

/// An acknowledgement in congestion avoidance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) now: Time,
    /// Newly acknowledged bytes.
    pub(super) acked: u64,
    pub(super) smoothed_rtt: Duration,
    /// The size of a full packet in bytes.
    pub(super) datagram: u64,
}

impl Curve {
    /// Creates a curve in slow start with this window.
    pub(super) fn new(cwnd: f64) -> Curve {
        Curve { cwnd, ssthresh: f64::INFINITY, cwnd_prior: 0.0, w_max: None, epoch: None }
    }
    pub(super) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Section 4.2: begins the stage, with K from the current window and the one before the reduction.
    fn begin_epoch(&self, step: Step, options: &CubicOptions) -> Epoch {
        let Curve { cwnd, w_max, .. } = *self;
        let start = step.now;
        match w_max {
            Some(w_max) if w_max > cwnd => {
                let packets = (w_max - cwnd) / step.datagram as f64;
                Epoch { start, w_max, k: cube_root(packets / options.c), w_est: cwnd }
            }
            // Sections 4.8 and 4.10: after persistent congestion, or after slow start without a loss.
            _ => Epoch { start, w_max: cwnd, k: 0.0, w_est: cwnd },
        }
    }

    /// Sections 4.3 to 4.5. `unused_since`: the window has been underused since then.
    pub(super) fn grow(&mut self, step: Step, unused_since: Option<Time>, options: &CubicOptions) {
        let mut epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin_epoch(step, options),
        };
        if let Some(since) = unused_since {
            // Section 4.2: "t_current - t_epoch" leaves out the time in which the window was not updated.
            epoch.start += step.now.since(since);
        }
        let (acked, datagram) = (step.acked as f64, step.datagram as f64);
        let w_cubic = |t| epoch.w_cubic(t, options.c * datagram);
        let cwnd = self.cwnd;
        debug_assert!(cwnd > 0.0, "a window that grows by its share is not empty");
        let t = step.now.since(epoch.start).as_secs_f64();
        // Section 4.2: the curve one round trip ahead, limited to between 1 and 1.5 windows.
        let target = w_cubic(t + step.smoothed_rtt.as_secs_f64()).clamp(cwnd, 1.5 * cwnd);
        let mut grown = (cwnd + (target - cwnd) * (acked / cwnd)).min(target);
        if options.reno_friendly {
            // Section 4.3: alpha_cubic, until the window reaches its value before the reduction; in RFC 8312 without end.
            let beta = options.beta;
            let is_behind = options.reno_growth == RenoGrowth::Rfc8312 || epoch.w_est < self.cwnd_prior;
            let alpha = if is_behind { 3.0 * (1.0 - beta) / (1.0 + beta) } else { 1.0 };
            let w_est = epoch.w_est + alpha * datagram * (acked / cwnd);
            if w_cubic(t) < w_est {
                grown = grown.max(w_est);
            }
            epoch.w_est = w_est;
        }
        debug_assert!(grown >= cwnd, "an acknowledgement does not reduce the window");
        debug_assert!(epoch.k >= 0.0, "the plateau of the curve lies ahead when a stage begins");
        self.cwnd = grown.min(MAX_WINDOW as f64);
        self.epoch = Some(epoch);
    }
}

impl Epoch {
    /// W_cubic(t) in bytes (section 4.2, figure 1), with C in bytes per cubed second.
    #[inline]
    fn w_cubic(&self, t: f64, c: f64) -> f64 {
        let x = t - self.k;
        c * (x * x * x) + self.w_max
    }
}

/// The cube root of a non-negative number, by Newton's method with basic operations only, which give the same bits on
/// every machine (`f64::cbrt` is that of the C library).
fn cube_root(x: f64) -> f64 {
    debug_assert!(x.is_finite(), "the root is that of a number of packets");
    if x <= 0.0 {
        return 0.0;
    }
    // From above the root, the iteration decreases until it has converged.
    let mut root = x.max(1.0);
    loop {
        let next = (2.0 * root + x / (root * root)) / 3.0;
        if next >= root {
            return root;
        }
        root = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_roots_are_as_near_as_numbers_can_be() {
        for i in 1..2000_u32 {
            let root = f64::from(i) * 0.37;
            let found = cube_root(root * root * root);
            assert!((found - root).abs() <= root * 4.0 * f64::EPSILON, "{root}: {found}");
        }
        assert_eq!((cube_root(0.0), cube_root(-1.0), cube_root(8.0)), (0.0, 0.0, 2.0));
        assert!((cube_root(1e-9) - 1e-3).abs() < 1e-15);
    }
}
