//! A constant window and rate.

use crate::{AckSample, Allowance, Controller, Sent, Setup, Signal};
use units::parameter::{Arguments, Component, Options, Row};
use units::{Rate, Size};

/// The default window, which nothing can fill.
const UNLIMITED: u64 = 1 << 62;

/// The options of a sender with a fixed window and rate.
#[derive(Debug, Clone, Options)]
struct FixedOptions {
    /// bytes that may be in flight, at least one packet; unlimited by default
    window: Option<Size>,
    /// rate at which packets are released; not paced by default
    rate: Option<Rate>,
}

pub(crate) const ROW: Row<crate::Build> = Row {
    name: "fixed",
    about: "a fixed window and pacing rate, whatever is lost or marked: to measure everything else",
    parameters: FixedOptions::PARAMETERS,
    build: &|arguments, setup| Box::new(Fixed::new(arguments, setup)),
};

/// The window of a controller that always has the same one; `None` for all others.
pub fn fixed_window(controller: &Component) -> Option<Size> {
    if controller.name == ROW.name { FixedOptions::of(&controller.arguments).window } else { None }
}

/// A sender that ignores all events.
#[derive(Debug)]
pub struct Fixed {
    allowance: Allowance,
    /// The requested window.
    window: u64,
}

impl Fixed {
    /// Creates a sender with the window and the rate of the options.
    pub fn new(arguments: &Arguments, setup: Setup) -> Fixed {
        let FixedOptions { window, rate } = FixedOptions::of(arguments);
        let window = window.map_or(UNLIMITED, Size::as_bytes);
        Fixed { allowance: Allowance::new(window.max(setup.max_datagram_size), rate), window }
    }
}

impl Controller for Fixed {
    fn on_sent(&mut self, _sent: &Sent) {}
    fn on_ack(&mut self, _ack: &AckSample<'_>) {}
    fn on_signal(&mut self, signal: &Signal<'_>) {
        if let Signal::DatagramSize { bytes } = *signal {
            // A window below one packet would block the sender for ever.
            self.allowance.window = self.window.max(bytes);
        }
    }
    #[inline]
    fn allowance(&self) -> Allowance {
        self.allowance
    }
    fn state(&self) -> &'static str {
        "fixed"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Ack, SETUP, arguments, at, lose, mark};
    use units::parameter::Value;

    #[test]
    fn nothing_moves_it() {
        let rate = Rate::from_bits_per_sec(5_000_000);
        let given = [("window", Value::Size(Size::from_bytes(64_000))), ("rate", Value::Rate(rate))];
        let mut s = Fixed::new(&arguments(ROW.parameters, &given), SETUP);
        let expected = Allowance::new(64_000, Some(rate));
        assert_eq!(s.allowance(), expected);
        Ack::new(at(100), 50_000).tell(&mut s);
        lose(&mut s, at(200), at(150), 5);
        mark(&mut s, at(300), at(250));
        s.on_signal(&Signal::PersistentCongestion);
        s.on_signal(&Signal::PathChanged);
        assert_eq!(s.allowance(), expected);
    }

    #[test]
    fn it_holds_one_packet_at_least_and_is_unlimited_by_default() {
        let given = [("window", Value::Size(Size::from_bytes(10)))];
        let mut s = Fixed::new(&arguments(ROW.parameters, &given), SETUP);
        assert_eq!(s.allowance(), Allowance::new(1000, None));
        s.on_signal(&Signal::DatagramSize { bytes: 1400 });
        assert_eq!(s.allowance().window, 1400);
        let s = Fixed::new(&arguments(ROW.parameters, &[]), SETUP);
        assert_eq!(s.allowance(), Allowance::new(UNLIMITED, None));
    }
}
