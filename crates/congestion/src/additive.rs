//! Additive increase: one packet per acknowledged window, counted in bytes (RFC 5681 section 3.1, RFC 9002 section
//! 7.3.3).

/// The growth of one sender in congestion avoidance.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Additive {
    /// Acknowledged bytes that have not grown the window yet.
    credit: u64,
}

impl Additive {
    /// Returns the window that follows `window` when `acked` bytes are acknowledged. Nothing is lost to rounding.
    #[inline]
    pub(crate) fn grow(&mut self, mut window: u64, acked: u64, datagram: u64) -> u64 {
        debug_assert!(window > 0, "a window that grows by its share is not empty");
        self.credit += acked;
        while self.credit >= window {
            self.credit -= window;
            window += datagram;
        }
        window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 5681 section 3.1: one packet per window, even if one acknowledgement covers several windows: 6000 bytes
    /// are a window of 2000 and one of 3000, and 1000 bytes carry over.
    #[test]
    fn one_acknowledgement_may_cover_several_windows() {
        let mut increase = Additive::default();
        assert_eq!(increase.grow(2000, 6000, 1000), 4000);
        assert_eq!(increase.grow(4000, 2999, 1000), 4000);
        assert_eq!(increase.grow(4000, 1, 1000), 5000);
    }
}
