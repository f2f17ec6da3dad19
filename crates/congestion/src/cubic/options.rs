//! The options of CUBIC.

use crate::basis::{MarkOptions, WindowOptions};
use crate::slow_start::SlowStartOptions;
use crate::window_pacing::PacingOptions;
use units::parameter::{Choice, Options};

/// The options of CUBIC.
#[derive(Debug, Clone, Options)]
pub(super) struct CubicOptions {
    /// how fast the window grows away from the plateau, in packets per cubed second: C (RFC 9438 section 5.1)
    #[option(default = 0.4, within = 0.001..=100.0)]
    pub(super) c: f64,
    /// factor of the window after a loss: beta_cubic (RFC 9438 section 4.6)
    #[option(default = 0.7, within = 0.1..=0.95)]
    pub(super) beta: f64,
    #[options]
    pub(super) marks: MarkOptions,
    /// fast convergence: leave room for others when the window was smaller than at the previous loss (RFC 9438
    /// section 4.7)
    #[option(default = true)]
    pub(super) fast_convergence: bool,
    /// never slower than Reno would be (RFC 9438 section 4.3)
    #[option(default = true)]
    pub(super) reno_friendly: bool,
    /// growth of the window of reno_friendly once it has reached the window before the loss: a packet per round
    /// trip (RFC 9438 section 4.3), or still alpha_cubic (RFC 8312 section 4.2, Linux)
    #[option(default = "rfc9438")]
    pub(super) reno_growth: RenoGrowth,
    /// undo a reduction when all the packets that led to it turn out to have arrived (RFC 9438 section 4.9)
    #[option(default = true)]
    pub(super) spurious_undo: bool,
    #[options]
    pub(super) window: WindowOptions,
    #[options]
    pub(super) pacing: PacingOptions,
    #[options(slow_start = "hystart++")]
    pub(super) slow_start: SlowStartOptions,
}

/// The growth of Reno's window once it has reached the window before the loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
pub(super) enum RenoGrowth {
    Rfc9438,
    /// alpha_cubic, however large the window is.
    Rfc8312,
}
