//! The encoder of TCP headers.

use super::options::{Options, kind};
use super::{HEADER_SIZE, Header, MAX_OPTIONS};

const NOP: u8 = kind::NO_OPERATION;

impl Options {
    /// The size in a header, rounded up to a multiple of four; at most [`MAX_OPTIONS`] bytes fit.
    pub fn size(&self) -> usize {
        let mut out = Scratch::new();
        self.write(&mut out);
        out.length.next_multiple_of(4)
    }

    /// Writes the options in the order and with the padding of most stacks.
    #[inline]
    fn write(&self, out: &mut Scratch) {
        if let Some(mss) = self.mss {
            out.put(&[kind::MSS, 4]);
            out.put(&mss.to_be_bytes());
        }
        if let Some(timestamps) = self.timestamps {
            // SACK-Permitted replaces the two No-Operations of RFC 7323 appendix A.
            out.put(if self.sack_permitted { &[kind::SACK_PERMITTED, 2] } else { &[NOP, NOP] });
            out.put(&[kind::TIMESTAMPS, 10]);
            out.put(&timestamps.value.to_be_bytes());
            out.put(&timestamps.echo.to_be_bytes());
        } else if self.sack_permitted {
            out.put(&[NOP, NOP, kind::SACK_PERMITTED, 2]);
        }
        if let Some(shift) = self.window_scale {
            out.put(&[NOP, kind::WINDOW_SCALE, 3, shift]);
        }
        if let Some(cookie) = &self.fast_open {
            let bytes = cookie.as_bytes();
            out.put(&[kind::FAST_OPEN, 2 + bytes.len() as u8]);
            out.put(bytes);
        }
        let blocks = self.sack.as_slice();
        if !blocks.is_empty() {
            out.put(&[NOP, NOP, kind::SACK, 2 + 8 * blocks.len() as u8]);
            for (left, right) in blocks {
                out.put(&left.to_be_bytes());
                out.put(&right.to_be_bytes());
            }
        }
    }
}

/// A buffer for options. Bytes that do not fit are counted but not stored.
struct Scratch {
    bytes: [u8; MAX_OPTIONS],
    length: usize,
}

impl Scratch {
    fn new() -> Scratch {
        Scratch { bytes: [0; MAX_OPTIONS], length: 0 }
    }
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        if let Some(place) = self.bytes.get_mut(self.length..self.length + bytes.len()) {
            place.copy_from_slice(bytes);
        }
        self.length += bytes.len();
    }
}

impl Header {
    /// Appends the header with its options and a checksum of 0. Returns its length. Options beyond [`MAX_OPTIONS`]
    /// bytes are cut off: the caller checks [`Options::size`].
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) -> usize {
        let mut options = Scratch::new();
        self.options.write(&mut options);
        let size = options.length.next_multiple_of(4).min(MAX_OPTIONS);
        let length = HEADER_SIZE + size;
        let mut header = [0; HEADER_SIZE];
        header[0..2].copy_from_slice(&self.source.to_be_bytes());
        header[2..4].copy_from_slice(&self.destination.to_be_bytes());
        header[4..8].copy_from_slice(&self.sequence.to_be_bytes());
        header[8..12].copy_from_slice(&self.acknowledgement.to_be_bytes());
        let offset_and_flags = (length as u16 / 4) << 12 | self.flags.0 & 0x1ff;
        header[12..14].copy_from_slice(&offset_and_flags.to_be_bytes());
        header[14..16].copy_from_slice(&self.window.to_be_bytes());
        header[18..20].copy_from_slice(&self.urgent.to_be_bytes());
        out.extend_from_slice(&header);
        // The rest is 0: the end of the options.
        out.extend_from_slice(&options.bytes[..size]);
        length
    }
}
