//! The Internet checksum (RFC 1071).

use std::net::IpAddr;

/// The ones' complement sum so far, not yet folded, in the byte order of the machine: the sum of swapped words is the swapped
/// sum (RFC 1071 section 2).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum(u64);

impl Sum {
    /// Adds bytes as 16-bit words; an odd last byte is the high byte of its word.
    pub(super) fn add(mut self, bytes: &[u8]) -> Sum {
        // 32-bit words give the same sum after folding, in half the steps (RFC 1071 section 2).
        let (words, rest) = bytes.as_chunks::<4>();
        self.0 += words.iter().map(|word| u64::from(u32::from_ne_bytes(*word))).sum::<u64>();
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        self.0 += u64::from(u32::from_ne_bytes(last));
        self
    }

    /// The complement of the folded sum: the value of the checksum field, or 0 if the data includes a correct checksum.
    pub(super) fn finish(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !u16::from_be(sum as u16)
    }
}

/// The sum over the pseudo-header, and over the header and payload of UDP or TCP in `parts` (RFC 768; RFC 9293 section
/// 3.1; RFC 8200 section 8.1).
pub(super) fn transport(protocol: u8, source: IpAddr, destination: IpAddr, parts: &[&[u8]]) -> Sum {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let sum = [source, destination].iter().fold(Sum::default(), |sum, address| match address {
        IpAddr::V4(v4) => sum.add(&v4.octets()),
        IpAddr::V6(v6) => sum.add(&v6.octets()),
    });
    let sum = sum.add(&(length as u32).to_be_bytes()).add(&u32::from(protocol).to_be_bytes());
    // Each part except the last has an even length, so words do not shift.
    parts.iter().fold(sum, |sum, part| sum.add(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071_section_3() {
        let sum = Sum::default().add(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.finish(), !0xddf2);
        assert_eq!(Sum::default().add(&[0x12, 0x34, 0x56]).finish(), !(0x1234 + 0x5600));
        let long: Vec<u8> = (0..1399_u32).map(|at| (at * 31) as u8).collect();
        let words =
            long.chunks(2).map(|word| u32::from(word[0]) << 8 | word.get(1).map_or(0, |low| u32::from(*low)));
        let sum: u32 = words.sum();
        let folded = (sum & 0xffff) + (sum >> 16);
        assert_eq!(Sum::default().add(&long).finish(), !(((folded & 0xffff) + (folded >> 16)) as u16));
    }
}
