//! Packets and bytes, counted together.

/// Packets and their bytes on the wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
}

impl Count {
    /// The count of one packet of `size` bytes.
    pub fn of(size: u32) -> Count {
        Count { packets: 1, bytes: size.into() }
    }
    /// Counts one packet of `size` bytes.
    #[inline]
    pub fn add(&mut self, size: u32) {
        self.packets += 1;
        self.bytes += u64::from(size);
    }
    /// Subtracts one counted packet of `size` bytes.
    #[inline]
    pub fn remove(&mut self, size: u32) {
        debug_assert!(self.packets > 0 && self.bytes >= size.into(), "what leaves has been counted");
        self.packets -= 1;
        self.bytes -= u64::from(size);
    }
    /// Raises packets and bytes to those of another count, where these are larger.
    #[inline]
    pub fn raise_to(&mut self, other: Count) {
        if other.packets > self.packets {
            self.packets = other.packets;
        }
        if other.bytes > self.bytes {
            self.bytes = other.bytes;
        }
    }
}

impl std::ops::Add for Count {
    type Output = Count;
    fn add(self, other: Count) -> Count {
        Count { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}
