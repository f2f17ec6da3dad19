//! Prefixed integers and strings (RFC 7541 sections 5.1 and 5.2; RFC 9204 section 4.1 refers to them).

use crate::huffman;
use wire::Reader;

/// The largest accepted integer. RFC 9204 4.1.1: "QPACK implementations MUST be able to decode integers up to and
/// including 62 bits long."
const MAX: u64 = wire::varint::MAX;

/// Why an integer or string cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bad {
    /// The input ends too early.
    End,
    /// The integer is too large, or much longer than its value requires.
    Integer,
    /// The Huffman encoding is invalid.
    Huffman,
}

/// Appends `value` with `pattern` above the lowest `bits` bits of the first byte.
pub(crate) fn write(out: &mut Vec<u8>, pattern: u8, bits: u32, value: u64) {
    let mask = (1u64 << bits) - 1;
    if value < mask {
        out.push(pattern | value as u8);
        return;
    }
    out.push(pattern | mask as u8);
    let mut rest = value - mask;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// An incomplete integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Partial {
    value: u64,
    shift: u32,
}

impl Partial {
    /// Takes the first byte, of which `bits` bits belong to the integer; `Ok` if that completes it.
    pub(crate) fn begin(first: u8, bits: u32) -> Result<u64, Partial> {
        let mask = ((1u16 << bits) - 1) as u8;
        let value = u64::from(first & mask);
        if first & mask < mask { Ok(value) } else { Err(Partial { value, shift: 0 }) }
    }

    /// Takes the next byte; returns the integer if it is complete.
    pub(crate) fn push(&mut self, byte: u8) -> Result<Option<u64>, Bad> {
        // RFC 7541 section 5.1: an integer that is too large, or too long because of leading zeros, is an error.
        if self.shift > 56 {
            return Err(Bad::Integer);
        }
        self.value += u64::from(byte & 0x7f) << self.shift;
        self.shift += 7;
        if self.value > MAX {
            return Err(Bad::Integer);
        }
        Ok((byte & 0x80 == 0).then_some(self.value))
    }
}

/// Reads an integer that begins with `first`.
pub(crate) fn read(first: u8, bits: u32, reader: &mut Reader<'_>) -> Result<u64, Bad> {
    let mut partial = match Partial::begin(first, bits) {
        Ok(value) => return Ok(value),
        Err(partial) => partial,
    };
    loop {
        if let Some(value) = partial.push(reader.u8().map_err(|_| Bad::End)?)? {
            return Ok(value);
        }
    }
}

/// Appends a string with its length and Huffman flag: the flag is above `bits` bits of length, and `pattern` above
/// both. Uses the Huffman code if that is shorter.
pub(crate) fn write_string(out: &mut Vec<u8>, pattern: u8, bits: u32, text: &[u8]) {
    let coded = huffman::encoded_len(text);
    if coded < text.len() {
        write(out, pattern | 1 << bits, bits, coded as u64);
        huffman::encode(out, text);
    } else {
        write(out, pattern, bits, text.len() as u64);
        out.extend_from_slice(text);
    }
}

/// Reads a string that begins with `first`.
pub(crate) fn read_string(first: u8, bits: u32, reader: &mut Reader<'_>) -> Result<Vec<u8>, Bad> {
    let length = usize::try_from(read(first, bits, reader)?).map_err(|_| Bad::End)?;
    let bytes = reader.bytes(length).map_err(|_| Bad::End)?;
    if first >> bits & 1 == 0 {
        return Ok(bytes.to_vec());
    }
    let mut text = Vec::with_capacity(bytes.len() * 8 / 5);
    huffman::decode(&mut text, bytes).map_err(|_| Bad::Huffman)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(bytes: &[u8], bits: u32) -> Result<u64, Bad> {
        read(bytes[0], bits, &mut Reader::new(&bytes[1..]))
    }

    /// RFC 7541 appendix C.1.
    #[test]
    fn the_examples_of_rfc_7541() {
        for (value, bits, bytes) in [
            (10, 5, &[0b01010][..]),
            (1337, 5, &[0b11111, 0b1001_1010, 0b0000_1010]),
            (42, 8, &[0b0010_1010]),
        ] {
            let mut out = Vec::new();
            write(&mut out, 0, bits, value);
            assert_eq!(out, bytes);
            assert_eq!(decoded(bytes, bits), Ok(value));
        }
    }

    /// RFC 9204 sections 4.1.1 and 7.4: 62 bits are accepted, more are not, nor are endless zeros.
    #[test]
    fn integers_have_a_limit() {
        let mut out = Vec::new();
        write(&mut out, 0, 3, MAX);
        assert_eq!(decoded(&out, 3), Ok(MAX));
        out.clear();
        write(&mut out, 0, 3, MAX + 1);
        assert_eq!(decoded(&out, 3), Err(Bad::Integer));
        assert_eq!(decoded(&[0xff; 30], 8), Err(Bad::Integer));
        assert_eq!(decoded(&[&[0xff][..], &[0x80; 30]].concat(), 8), Err(Bad::Integer));
        assert_eq!(decoded(&[0xff, 0x80], 8), Err(Bad::End));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(value in 0..=MAX, bits in 3u32..=8, text: Vec<u8>) {
            let mut out = Vec::new();
            write(&mut out, 0, bits, value);
            prop_assert_eq!(decoded(&out, bits), Ok(value));
            out.clear();
            write_string(&mut out, 0, bits.min(7), &text);
            let mut reader = Reader::new(&out[1..]);
            prop_assert_eq!(read_string(out[0], bits.min(7), &mut reader), Ok(text));
            prop_assert!(reader.is_empty());
        }
    }
}
