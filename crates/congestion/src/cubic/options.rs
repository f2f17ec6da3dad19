//! The options of CUBIC.

use crate::basis::{MINIMUM_WINDOW, beta_ecn, betas};
use crate::options::join;
use crate::{slow_start, window_pacing};
use units::parameter::{Arguments, Default, Kind, Parameter};

const RFC_9438: &str = "rfc9438";
const RFC_8312: &str = "rfc8312";

const OWN: [Parameter; 8] = [
    Parameter {
        name: "c",
        kind: Kind::Number(0.001, 100.0),
        default: Default::Is("0.4"),
        about: "how fast the window grows away from the plateau, in packets per cubed second: C (RFC 9438 section 5.1)",
    },
    Parameter {
        name: "beta",
        kind: Kind::Number(0.1, 0.95),
        default: Default::Is("0.7"),
        about: "factor of the window after a loss: beta_cubic (RFC 9438 section 4.6)",
    },
    beta_ecn("factor of the window after a CE mark; by default that after a loss (RFC 8511: 0.85)"),
    Parameter {
        name: "fast_convergence",
        kind: Kind::Flag,
        default: Default::Is("true"),
        about: "fast convergence: leave room for others when the window was smaller than at the previous loss (RFC 9438 section 4.7)",
    },
    Parameter {
        name: "reno_friendly",
        kind: Kind::Flag,
        default: Default::Is("true"),
        about: "never slower than Reno would be (RFC 9438 section 4.3)",
    },
    Parameter {
        name: "reno_growth",
        kind: Kind::Choice(&[RFC_9438, RFC_8312]),
        default: Default::Is("\"rfc9438\""),
        about: "growth of the window of reno_friendly once it has reached the window before the loss: a packet per round trip (RFC 9438 section 4.3), or still alpha_cubic (RFC 8312 section 4.2, Linux)",
    },
    Parameter {
        name: "spurious_undo",
        kind: Kind::Flag,
        default: Default::Is("true"),
        about: "undo a reduction when all the packets that led to it turn out to have arrived (RFC 9438 section 4.9)",
    },
    MINIMUM_WINDOW,
];
pub(super) const PARAMETERS: [Parameter; 21] =
    join(&[&OWN, &window_pacing::parameters("1.25"), &slow_start::parameters("\"hystart++\"")]);

/// The options of the algorithm itself.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) c: f64,
    pub(super) beta: f64,
    pub(super) beta_ecn: f64,
    pub(super) fast_convergence: bool,
    pub(super) reno_friendly: bool,
    /// The growth of Reno's window is alpha_cubic, however large that window is.
    pub(super) constant_alpha: bool,
    pub(super) spurious_undo: bool,
}

impl Options {
    pub(super) fn of(arguments: &Arguments) -> Options {
        let (beta, beta_ecn) = betas(arguments);
        Options {
            c: arguments.number("c"),
            beta,
            beta_ecn,
            fast_convergence: arguments.flag("fast_convergence"),
            reno_friendly: arguments.flag("reno_friendly"),
            constant_alpha: arguments.text("reno_growth") == RFC_8312,
            spurious_undo: arguments.flag("spurious_undo"),
        }
    }
}
