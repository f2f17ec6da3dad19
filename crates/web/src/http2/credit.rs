//! The flow-control credit granted to the peer (RFC 9113 section 6.9).

/// A flow-control window of this side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Credit {
    left: i64,
    /// Bytes read since the last grant.
    read: u32,
    window: u32,
}

impl Credit {
    pub(super) fn new(window: u32) -> Credit {
        Credit { left: window.into(), read: 0, window }
    }
    /// Consumes credit for a received frame. Returns `false` if the peer has exceeded the window.
    pub(super) fn spend(&mut self, length: u32) -> bool {
        self.left -= i64::from(length);
        self.left >= 0
    }
    /// Records that data was read. Returns the credit to grant, once it is half of the window.
    pub(super) fn read(&mut self, length: u32) -> Option<u32> {
        self.read += length;
        if self.read == 0 || self.read < self.window / 2 {
            return None;
        }
        self.left += i64::from(self.read);
        Some(std::mem::take(&mut self.read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9113 sections 6.9 and 6.9.1: credit is granted by half of the window, never as zero, and not a byte beyond
    /// it is accepted.
    #[test]
    fn credit_is_granted_by_half_of_the_window() {
        let mut credit = Credit::new(100);
        assert!(credit.spend(49) && credit.read(49).is_none());
        assert!(credit.spend(1));
        assert_eq!(credit.read(1), Some(50));
        assert!(credit.spend(100) && !credit.spend(1));
        assert_eq!(Credit::new(1).read(0), None, "an increment of 0 is an error");
    }
}
