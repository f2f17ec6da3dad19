//! The header of a message: sixteen bytes at its start, which count towards its length. If a message is sent as several
//! datagrams, each begins with the header, which counts once.

use units::Time;

/// The size of the header, and so of the shortest message.
pub(crate) const HEADER: usize = 16;

/// The header of a message, in network byte order: its length and its number in 32 bits each, and the time of writing
/// in 64 bits, in nanoseconds of the writer's clock. A length of zero marks the end of the messages; `number` is then
/// their total number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub length: u32,
    pub number: u32,
    pub written: Time,
}

impl Header {
    pub(crate) fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..4].copy_from_slice(&self.length.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.number.to_be_bytes());
        bytes[8..].copy_from_slice(&self.written.as_nanos().to_be_bytes());
        bytes
    }

    /// Decodes a header; `None` if the length is impossible.
    pub(crate) fn parse(bytes: [u8; HEADER]) -> Option<Header> {
        let [l0, l1, l2, l3, n0, n1, n2, n3, written @ ..] = bytes;
        let length = u32::from_be_bytes([l0, l1, l2, l3]);
        (length == 0 || length as usize >= HEADER).then_some(Header {
            length,
            number: u32::from_be_bytes([n0, n1, n2, n3]),
            written: Time::from_nanos(u64::from_be_bytes(written)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_sixteen_bytes() {
        let header = Header { length: 242, number: 7, written: Time::from_nanos(0x0102_0304_0506_0708) };
        let bytes = [0, 0, 0, 242, 0, 0, 0, 7, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(header.to_bytes(), bytes);
        assert_eq!(Header::parse(bytes), Some(header));
        let end = Header { length: 0, ..header };
        assert_eq!(Header::parse(end.to_bytes()), Some(end));
        for length in [1, 15] {
            assert_eq!(Header::parse(Header { length, ..header }.to_bytes()), None);
        }
    }
}
