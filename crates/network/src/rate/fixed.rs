//! One rate for ever.

use super::{RateError, Server};
use units::parameter::{Options, Row};
use units::{Duration, Rate, Time};

/// The options of a constant rate.
#[derive(Debug, Clone, Options)]
struct FixedOptions {
    /// bits per second on the wire, IP header included; above zero
    rate: Rate,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "fixed",
    about: "a constant rate",
    parameters: FixedOptions::PARAMETERS,
    build: &|arguments, _| match FixedOptions::of(arguments).rate {
        Rate::ZERO => Err(RateError::Zero),
        rate => Ok(Server::Fixed(Fixed::new(rate))),
    },
};

/// A server at one rate. A transmission ends in the first whole nanosecond at which its last bit has gone; what was
/// left over of that nanosecond belongs to the next packet if it waits already, so that back-to-back packets keep the
/// rate exactly, however fast.
#[derive(Debug, Clone)]
pub struct Fixed {
    rate: u64,
    /// Sent ahead: bits times 10^9 that fit between the last packet's true end and `free_at`. Below `rate`.
    ahead: u64,
    free_at: Time,
    /// The last size that was computed with quotient and remainder: most packets are of one size.
    known: (u32, u64, u64),
}

impl Fixed {
    /// A server at this rate; zero counts as 1 bit/s.
    pub fn new(rate: Rate) -> Fixed {
        let rate = rate.as_bits_per_sec().max(1);
        Fixed { rate, ahead: 0, free_at: Time::ZERO, known: (0, 0, 0) }
    }
    /// Its rate.
    pub fn rate(&self) -> Rate {
        Rate::from_bits_per_sec(self.rate)
    }

    #[inline]
    pub(super) fn serve(&mut self, start: Time, size: u32) -> Time {
        if self.known.0 != size {
            let bits = u128::from(size) * 8_000_000_000;
            let rate = u128::from(self.rate);
            // At 1 bit/s the largest packet takes 34 years: the quotient fits.
            self.known = (size, (bits / rate) as u64, (bits % rate) as u64);
        }
        if start > self.free_at {
            self.ahead = 0;
        }
        let (_, mut ns, rest) = self.known;
        if self.ahead >= rest {
            self.ahead -= rest;
        } else {
            self.ahead += self.rate - rest;
            ns += 1;
        }
        debug_assert!(self.ahead < self.rate, "less than a nanosecond is sent ahead");
        self.free_at = start + Duration::from_nanos(ns);
        self.free_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_to_back_packets_keep_the_rate_exactly() {
        // 1252 B at 100 Gbit/s take 100.16 ns.
        let mut server = Fixed::new(Rate::from_bits_per_sec(100_000_000_000));
        let ends: Vec<u64> = (0..7)
            .scan(Time::ZERO, |at, _| {
                *at = server.serve(*at, 1252);
                Some(at.as_nanos())
            })
            .collect();
        assert_eq!(ends, [101, 201, 301, 401, 501, 601, 702], "the next whole nanosecond of n x 100.16");
        let mut server = Fixed::new(Rate::from_bits_per_sec(100_000_000_000));
        let end = (0..1_000_000).fold(Time::ZERO, |at, _| server.serve(at, 1252));
        assert_eq!(end, Time::from_nanos(100_160_000));
    }

    #[test]
    fn sizes_may_alternate_at_an_odd_rate() {
        // 7 x (1500 + 40) B at 3 bit/s.
        let mut server = Fixed::new(Rate::from_bits_per_sec(3));
        let end = (0..14).fold(Time::ZERO, |at, n| server.serve(at, if n % 2 == 0 { 1500 } else { 40 }));
        assert_eq!(end.as_nanos(), (7u64 * 1540 * 8_000_000_000).div_ceil(3));
    }

    #[test]
    fn a_pause_starts_afresh() {
        let mut server = Fixed::new("12 Mbit/s".parse().unwrap());
        assert_eq!(server.serve(Time::ZERO, 1500), Time::from_nanos(1_000_000));
        assert_eq!(server.serve(Time::from_nanos(5_000_000), 750), Time::from_nanos(5_500_000));
    }

    #[test]
    fn the_ends_of_the_range() {
        let mut slow = Fixed::new(Rate::from_bits_per_sec(1));
        assert_eq!(slow.serve(Time::ZERO, 65_535), Time::from_nanos(65_535 * 8_000_000_000));
        let mut fast = Fixed::new(Rate::from_bits_per_sec(u64::MAX));
        assert_eq!(fast.serve(Time::ZERO, 1500), Time::from_nanos(1));
        assert_eq!(
            fast.serve(Time::from_nanos(1), 1500),
            Time::from_nanos(1),
            "it fits into the same nanosecond"
        );
    }
}
