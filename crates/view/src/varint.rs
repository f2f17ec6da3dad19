//! Integers of variable length: zigzag, seven bits in each byte, the lowest first, the highest bit in all but the last.

/// Appends an integer.
pub(crate) fn push(out: &mut Vec<u8>, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)).cast_unsigned();
    while rest > 0x7f {
        out.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Takes an integer off the front of bytes that `push` wrote; 0 behind their end.
pub(crate) fn take(bytes: &mut &[u8]) -> i64 {
    let (mut value, mut shift) = (0u64, 0);
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 || shift > 63 {
            break;
        }
    }
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_pushed_is_taken(values in prop::collection::vec(any::<i64>(), 0..20)) {
            let mut bytes = Vec::new();
            values.iter().for_each(|&value| push(&mut bytes, value));
            let mut rest = bytes.as_slice();
            let found: Vec<i64> = values.iter().map(|_| take(&mut rest)).collect();
            prop_assert_eq!(found, values);
            prop_assert!(rest.is_empty());
        }
    }
}
