//! The pacing rate of window-based controllers: a gain times the window per smoothed RTT (RFC 9002 section 7.7).

use units::parameter::{Arguments, Default, Kind, Parameter};
use units::{Duration, Rate, Size};

/// The options, with the controller's default gain after slow start.
pub(crate) const fn parameters(gain: &'static str) -> [Parameter; 3] {
    [
        Parameter {
            name: "pacing",
            kind: Kind::Flag,
            default: Default::Is("true"),
            about: "spread packets over the round trip (RFC 9002 section 7.7)",
        },
        Parameter {
            name: "pacing_gain_slow_start",
            kind: Kind::Number(1.0, 100.0),
            default: Default::Is("2.0"),
            about: "pacing rate in slow start, in windows per smoothed RTT",
        },
        Parameter {
            name: "pacing_gain",
            kind: Kind::Number(1.0, 100.0),
            default: Default::Is(gain),
            about: "pacing rate afterwards, in windows per smoothed RTT (RFC 9002 section 7.7: N = 1.25)",
        },
    ]
}

/// Gains in slow start and afterwards, in thousandths; `None` for no pacing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WindowPacing(Option<(u64, u64)>);

impl WindowPacing {
    /// Creates the state from the options.
    pub(crate) fn new(arguments: &Arguments) -> WindowPacing {
        let gain = |name| (arguments.number(name) * 1000.0).round() as u64;
        WindowPacing(arguments.flag("pacing").then(|| (gain("pacing_gain_slow_start"), gain("pacing_gain"))))
    }
    /// No pacing.
    pub(crate) const fn off() -> WindowPacing {
        WindowPacing(None)
    }
    /// Whether packets are paced.
    pub(crate) fn is_on(self) -> bool {
        self.0.is_some()
    }
    /// The rate for this window in bytes; never zero.
    #[inline]
    pub(crate) fn rate(self, window: u64, smoothed_rtt: Duration, slow_start: bool) -> Option<Rate> {
        let (start, later) = self.0?;
        let gain = if slow_start { start } else { later };
        let base = Rate::of(Size::from_bytes(window), smoothed_rtt).as_bits_per_sec();
        let bits = (u128::from(base) * u128::from(gain) / 1000).min(u64::MAX.into()) as u64;
        Some(Rate::from_bits_per_sec(bits.max(1)))
    }
}
