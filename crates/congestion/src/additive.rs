//! Additive increase: one packet per acknowledged window (RFC 5681 section 3.1, RFC 9002 section 7.3.3).

use units::parameter::Choice;

/// How the growth of a sender is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
pub(crate) enum Increase {
    /// By a window's bytes (RFC 5681 section 3.1): nothing is lost to rounding.
    Exact,
    /// Packet by packet, as in the pseudocode of RFC 9002 B.5.
    Approximate,
}

/// The growth of one sender in congestion avoidance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Additive {
    increase: Increase,
    /// Acknowledged bytes that have not grown the window yet.
    credit: u64,
}

impl Additive {
    pub(crate) fn new(increase: Increase) -> Additive {
        Additive { increase, credit: 0 }
    }
    /// Begins another window's count: what was acknowledged before a reduction does not count after it.
    pub(crate) fn restart(&mut self) {
        self.credit = 0;
    }
    /// Returns the window that follows `window` when `acked` bytes are acknowledged.
    #[inline]
    pub(crate) fn grow(&mut self, mut window: u64, acked: u64, datagram: u64) -> u64 {
        debug_assert!(window > 0, "a window that grows by its share is not empty");
        if self.increase == Increase::Approximate {
            return approximate(window, acked, datagram);
        }
        self.credit += acked;
        while self.credit >= window {
            self.credit -= window;
            window += datagram;
        }
        window
    }
}

/// B.5: each acknowledged packet adds its share of a datagram, relative to the window at that moment.
fn approximate(mut window: u64, mut acked: u64, datagram: u64) -> u64 {
    while acked > 0 {
        let packet = acked.min(datagram);
        debug_assert!(window >= datagram, "a window has room for a packet");
        window += datagram * packet / window;
        acked -= packet;
    }
    window
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 5681 section 3.1: one packet per window, even if one acknowledgement covers several windows: 6000 bytes
    /// are a window of 2000 and one of 3000, and 1000 bytes carry over.
    #[test]
    fn one_acknowledgement_may_cover_several_windows() {
        let mut increase = Additive::new(Increase::Exact);
        assert_eq!(increase.grow(2000, 6000, 1000), 4000);
        assert_eq!(increase.grow(4000, 2999, 1000), 4000);
        assert_eq!(increase.grow(4000, 1, 1000), 5000);
    }
}
