//! No congestion control, for runs limited by something else.

use crate::{AckSample, Allowance, Controller, Sent, Signal};
use units::parameter::Row;

/// A window that nothing can fill: no sum of sizes comes near it.
const UNLIMITED: u64 = 1 << 62;

pub(crate) const ROW: Row<crate::Build> = Row {
    name: "none",
    about: "no congestion control and no pacing: flow control or the application limits the sender",
    parameters: &[],
    build: &|_, _| Box::new(Unlimited),
};

/// A sender that is never limited.
#[derive(Debug)]
struct Unlimited;

impl Controller for Unlimited {
    fn on_sent(&mut self, _sent: &Sent) {}
    fn on_ack(&mut self, _ack: &AckSample<'_>) {}
    fn on_signal(&mut self, _signal: &Signal<'_>) {}
    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::new(UNLIMITED, None)
    }
    fn state(&self) -> &'static str {
        "unlimited"
    }
}
