//! Virtual time for quinn-proto, which uses [`Instant`].

use std::sync::OnceLock;
use std::time::{Duration, Instant};
use units::Time;

/// The zero of virtual time. The standard library only provides an [`Instant`] by reading the clock, once in a
/// process. Nothing depends on its value, since only differences count.
#[expect(clippy::disallowed_methods, reason = "quinn-proto's type of time has no other constructor")]
fn zero() -> Instant {
    static ZERO: OnceLock<Instant> = OnceLock::new();
    *ZERO.get_or_init(Instant::now)
}

/// The instant for a virtual time.
pub(crate) fn instant(time: Time) -> Instant {
    zero() + Duration::from_nanos(time.as_nanos())
}

/// The virtual time of an instant.
pub(crate) fn time(instant: Instant) -> Time {
    let nanos = instant.saturating_duration_since(zero()).as_nanos();
    u64::try_from(nanos).map_or(Time::NEVER, Time::from_nanos)
}
