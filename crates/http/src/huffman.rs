//! The Huffman code for strings of QPACK (RFC 7541 section 5.2 and appendix B, referenced by RFC 9204 section 4.1.2).
//!
//! The code is canonical: codes ascend with the symbols within one length, and from one length to the next. So the
//! lengths alone define it.

/// The length in bits of each byte's code, and of EOS at the end.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28,
    28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11,
    10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8,
    15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5,
    6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7,
    7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23,
    23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21,
    23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25,
    26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26,
    28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];

const EOS: u16 = 256;
const SHORTEST: usize = 5;
const LONGEST: usize = 30;

/// The tables derived from the lengths.
struct Tables {
    codes: [u32; 257],
    /// The symbols in the order of their codes.
    symbols: [u16; 257],
    /// For each length, the first code that is too large for it.
    ends: [u32; LONGEST + 1],
    /// For each length, the offset from a code to its position among the symbols.
    places: [i64; LONGEST + 1],
}

static TABLES: Tables = tables();

const fn tables() -> Tables {
    let mut tables =
        Tables { codes: [0; 257], symbols: [0; 257], ends: [0; LONGEST + 1], places: [0; LONGEST + 1] };
    let (mut code, mut place, mut length) = (0, 0, 1);
    while length <= LONGEST {
        code <<= 1;
        tables.places[length] = place as i64 - code as i64;
        let mut symbol = 0;
        while symbol < 257 {
            if LENGTHS[symbol] as usize == length {
                tables.codes[symbol] = code;
                tables.symbols[place] = symbol as u16;
                code += 1;
                place += 1;
            }
            symbol += 1;
        }
        tables.ends[length] = code;
        length += 1;
    }
    tables
}

/// The encoded length of `text` in bytes.
pub(crate) fn encoded_len(text: &[u8]) -> usize {
    text.iter().map(|byte| usize::from(LENGTHS[usize::from(*byte)])).sum::<usize>().div_ceil(8)
}

/// Appends `text` encoded.
pub(crate) fn encode(out: &mut Vec<u8>, text: &[u8]) {
    let (mut bits, mut held) = (0u64, 0);
    for byte in text {
        let symbol = usize::from(*byte);
        bits = bits << LENGTHS[symbol] | u64::from(TABLES.codes[symbol]);
        held += u32::from(LENGTHS[symbol]);
        while held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    if held > 0 {
        // RFC 7541 section 5.2: the last byte is padded with the first bits of EOS, which are ones.
        out.push((bits << (8 - held)) as u8 | 0xff >> held);
    }
}

/// Why bytes are not a valid encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BadHuffman;

/// Appends the text encoded by `bytes`, which has at most 8/5 as many bytes.
///
/// # Errors
/// If the bytes contain EOS, or end with more than 7 bits of padding, or with padding that is not a prefix of EOS.
pub(crate) fn decode(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), BadHuffman> {
    let (mut code, mut length) = (0u32, 0);
    for byte in bytes {
        for shift in (0..8).rev() {
            code = code << 1 | u32::from(byte >> shift & 1);
            length += 1;
            if length < SHORTEST || code >= TABLES.ends[length] {
                // RFC 7541 section 5.2: EOS is the largest code, so no code is longer.
                continue;
            }
            let symbol = TABLES.symbols[(i64::from(code) + TABLES.places[length]) as usize];
            if symbol == EOS {
                return Err(BadHuffman);
            }
            out.push(symbol as u8);
            (code, length) = (0, 0);
        }
    }
    // RFC 7541 section 5.2: padding is shorter than a byte and all ones.
    if length > 7 || code != (1 << length) - 1 { Err(BadHuffman) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        encode(&mut out, text.as_bytes());
        out
    }
    fn decoded(bytes: &[u8]) -> Result<Vec<u8>, BadHuffman> {
        let mut out = Vec::new();
        decode(&mut out, bytes).map(|()| out)
    }

    /// RFC 7541 appendix C.4 and C.6.
    #[test]
    fn the_examples_of_rfc_7541() {
        for (text, bytes) in [
            (
                "www.example.com",
                &[0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff][..],
            ),
            ("no-cache", &[0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf]),
            ("custom-key", &[0x25, 0xa8, 0x49, 0xe9, 0x5b, 0xa9, 0x7d, 0x7f]),
            ("custom-value", &[0x25, 0xa8, 0x49, 0xe9, 0x5b, 0xb8, 0xe8, 0xb4, 0xbf]),
            ("302", &[0x64, 0x02]),
            ("private", &[0xae, 0xc3, 0x77, 0x1a, 0x4b]),
        ] {
            assert_eq!(encoded(text), bytes, "{text}");
            assert_eq!(encoded_len(text.as_bytes()), bytes.len());
            assert_eq!(decoded(bytes).unwrap(), text.as_bytes());
        }
    }

    /// RFC 7541 appendix B: both ends of the table.
    #[test]
    fn codes_match_appendix_b() {
        for (symbol, code, length) in [
            (0, 0x1ff8, 13),
            (10, 0x3fff_fffc, 30),
            (32, 0x14, 6),
            (48, 0, 5),
            (97, 3, 5),
            (122, 0x7b, 7),
            (127, 0xfff_fffc, 28),
            (255, 0x3ff_ffee, 26),
            (256, 0x3fff_ffff, 30),
        ] {
            assert_eq!((TABLES.codes[symbol], LENGTHS[symbol]), (code, length), "{symbol}");
        }
    }

    /// RFC 7541 section 5.2.
    #[test]
    fn bad_padding_and_eos_are_refused() {
        // "0" is 00000: padded with ones, with zeros, and with a whole extra byte.
        assert_eq!(decoded(&[0x07]).unwrap(), b"0");
        assert_eq!(decoded(&[0x06]), Err(BadHuffman));
        assert_eq!(decoded(&[0x07, 0xff]), Err(BadHuffman));
        assert_eq!(decoded(&[0xff]), Err(BadHuffman));
        assert_eq!(decoded(&[0xff, 0xff, 0xff, 0xff]), Err(BadHuffman));
        assert_eq!(decoded(&[]).unwrap(), b"");
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(text: Vec<u8>) {
            let mut out = Vec::new();
            encode(&mut out, &text);
            prop_assert_eq!(out.len(), encoded_len(&text));
            prop_assert_eq!(decoded(&out), Ok(text));
        }

        /// Every text has exactly one encoding.
        #[test]
        fn what_is_decoded_encodes_to_the_same(bytes: Vec<u8>) {
            if let Ok(text) = decoded(&bytes) {
                let mut out = Vec::new();
                encode(&mut out, &text);
                prop_assert_eq!(out, bytes);
            }
        }
    }
}
