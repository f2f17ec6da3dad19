//! Encodes and decodes field sections (RFC 9204 section 4.5).

use super::Field;
use super::static_table::{self, Found};
use crate::integer::{self, Bad};
use std::borrow::Cow;
use wire::Reader;

/// Why a field section is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadSection {
    /// It cannot be decoded: a connection error of type QPACK_DECOMPRESSION_FAILED (RFC 9204 section 2.2).
    Undecodable(&'static str),
    /// The fields exceed the limit (RFC 9114 section 4.2.2).
    TooLarge,
}

impl From<Bad> for BadSection {
    fn from(bad: Bad) -> BadSection {
        BadSection::Undecodable(match bad {
            Bad::End => "the field section ends inside a field line",
            Bad::Integer => "an integer of a field section is too large",
            Bad::Huffman => "an invalid Huffman code in a field section",
        })
    }
}

/// Appends a field section with these fields. It refers only to the static table.
pub fn encode<'a>(out: &mut Vec<u8>, fields: impl IntoIterator<Item = &'a Field>) {
    // RFC 9204 section 4.5.1: Required Insert Count 0, Base 0.
    out.extend_from_slice(&[0, 0]);
    for Field { name, value } in fields {
        match static_table::find(name, value) {
            // Section 4.5.2: indexed field line, static.
            Found::Field(index) => integer::write(out, 0b1100_0000, 6, index),
            // Section 4.5.4: literal field line with name reference, static.
            Found::Name(index) => {
                integer::write(out, 0b0101_0000, 4, index);
                integer::write_string(out, 0, 7, value);
            }
            // Section 4.5.6: literal field line with literal name.
            Found::Nothing => {
                integer::write_string(out, 0b0010_0000, 3, name);
                integer::write_string(out, 0, 7, value);
            }
        }
    }
}

/// Reads a field section whose fields have at most `limit` bytes, as counted by [`Field::size`].
///
/// # Errors
/// See [`BadSection`].
pub fn decode(bytes: &[u8], limit: u64) -> Result<Vec<Field>, BadSection> {
    let mut reader = Reader::new(bytes);
    let next = |reader: &mut Reader<'_>| reader.u8().map_err(|_| BadSection::from(Bad::End));
    let first = next(&mut reader)?;
    let inserts = integer::read(first, 8, &mut reader)?;
    // RFC 9204 section 4.5.1.1: if the table cannot have entries, any value but 0 is an error.
    if inserts != 0 {
        return Err(BadSection::Undecodable("a field section needs dynamic entries, but there can be none"));
    }
    let first = next(&mut reader)?;
    integer::read(first, 7, &mut reader)?;
    // RFC 9204 section 4.5.1.2: Base must not be negative, and this sign makes it at most -1.
    if first & 0x80 != 0 {
        return Err(BadSection::Undecodable("the base of a field section is negative"));
    }
    let mut fields = Vec::new();
    let mut size = 0;
    while let Ok(first) = reader.u8() {
        let field = line(first, &mut reader)?;
        size += field.size();
        if size > limit {
            return Err(BadSection::TooLarge);
        }
        fields.push(field);
    }
    Ok(fields)
}

/// A field line that begins with `first`.
fn line(first: u8, reader: &mut Reader<'_>) -> Result<Field, BadSection> {
    // RFC 9204 section 2.2: a reference to a missing dynamic entry is QPACK_DECOMPRESSION_FAILED.
    let dynamic = BadSection::Undecodable("a field line refers to a dynamic entry, but there is none");
    match first {
        // Section 4.5.2: indexed; T marks the static table.
        0b1100_0000.. => {
            let (name, value) = entry(integer::read(first, 6, reader)?)?;
            Ok(Field { name: Cow::Borrowed(name.as_bytes()), value: Cow::Borrowed(value.as_bytes()) })
        }
        0b1000_0000.. => Err(dynamic),
        // Section 4.5.4: literal with name reference.
        0b0100_0000.. if first & 0b0001_0000 != 0 => {
            let (name, _) = entry(integer::read(first, 4, reader)?)?;
            Ok(Field { name: Cow::Borrowed(name.as_bytes()), value: Cow::Owned(value(reader)?) })
        }
        0b0100_0000.. => Err(dynamic),
        // Section 4.5.6: literal with literal name.
        0b0010_0000.. => {
            let name = integer::read_string(first, 3, reader)?;
            Ok(Field { name: Cow::Owned(name), value: Cow::Owned(value(reader)?) })
        }
        // Sections 4.5.3 and 4.5.5: post-base references.
        _ => Err(dynamic),
    }
}

fn entry(index: u64) -> Result<(&'static str, &'static str), BadSection> {
    // RFC 9204 section 3.1: an index beyond the static table is QPACK_DECOMPRESSION_FAILED.
    static_table::entry(index).ok_or(BadSection::Undecodable("the static table has no such entry"))
}

fn value(reader: &mut Reader<'_>) -> Result<Vec<u8>, BadSection> {
    let first = reader.u8().map_err(|_| Bad::End)?;
    Ok(integer::read_string(first, 7, reader)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bad(bytes: &[u8]) -> bool {
        matches!(decode(bytes, 1 << 20), Err(BadSection::Undecodable(_)))
    }

    /// RFC 9204 appendix B.1.
    #[test]
    fn the_example_with_a_static_name() {
        let bytes = b"\x00\x00\x51\x0b/index.html";
        assert_eq!(decode(bytes, 1000), Ok(vec![Field::new(":path", "/index.html")]));
    }

    /// RFC 9204 appendices B.2 and B.4, sections 2.2 and 4.5.1.1: sections that need a dynamic table.
    #[test]
    fn the_examples_with_a_dynamic_table_are_refused() {
        assert!(bad(&[0x03, 0x81, 0x10, 0x11]));
        assert!(bad(&[0x05, 0x00, 0x80, 0xc1, 0x81]));
        // The same lines with a Required Insert Count of 0.
        for line in [&[0x10][..], &[0x80], &[0x40, 0x01, b'a'], &[0x00, 0x01, b'a']] {
            assert!(bad(&[&[0, 0], line].concat()), "{line:?}");
        }
    }

    /// RFC 9204 section 4.5.1.2.
    #[test]
    fn a_negative_base_is_refused() {
        assert!(bad(&[0, 0x80, 0xc1]));
        assert!(bad(&[0, 0x81, 0xc1]));
        // A base above 0 is harmless.
        assert_eq!(decode(&[0, 0x05, 0xc1], 100), Ok(vec![Field::new(":path", "/")]));
    }

    /// RFC 9204 section 3.1; both ends of appendix A.
    #[test]
    fn the_static_table_has_99_entries() {
        assert_eq!(decode(&[0, 0, 0xff, 35], 100), Ok(vec![Field::new("x-frame-options", "sameorigin")]));
        assert_eq!(decode(&[0, 0, 0xc0], 100), Ok(vec![Field::new(":authority", "")]));
        assert_eq!(decode(&[0, 0, 0xd9], 100), Ok(vec![Field::new(":status", "200")]));
        assert!(bad(&[0, 0, 0xff, 36]));
        assert!(bad(&[0, 0, 0x5f, 84, 0]));
        for index in 0..99 {
            let (name, value) = static_table::entry(index).unwrap();
            assert!(
                matches!(static_table::find(name.as_bytes(), value.as_bytes()), Found::Field(at) if at == index)
            );
        }
    }

    #[test]
    fn truncated_sections_are_refused() {
        let mut whole = Vec::new();
        encode(&mut whole, &[Field::new("x-long-name", "1"), Field::new("content-length", "1234567")]);
        let first = decode(&whole, 1000).unwrap()[..1].to_vec();
        for cut in 0..whole.len() {
            match decode(&whole[..cut], 1000) {
                Ok(fields) => assert!(fields.is_empty() || fields == first, "{cut}"),
                Err(error) => assert!(matches!(error, BadSection::Undecodable(_))),
            }
        }
        assert!(bad(&[]));
        assert!(bad(&[0]));
    }

    /// RFC 9114 section 4.2.2.
    #[test]
    fn a_section_has_a_limit() {
        let mut out = Vec::new();
        encode(&mut out, &[Field::new("a", "b"), Field::new("c", "")]);
        assert!(decode(&out, 67).is_ok());
        assert_eq!(decode(&out, 66), Err(BadSection::TooLarge));
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(lines: Vec<(Vec<u8>, Vec<u8>)>) {
            let fields: Vec<Field> =
                lines.into_iter().map(|(name, value)| Field { name: name.into(), value: value.into() }).collect();
            let mut out = Vec::new();
            encode(&mut out, &fields);
            prop_assert_eq!(decode(&out, u64::MAX), Ok(fields));
        }

        #[test]
        fn no_input_panics_or_passes_the_limit(bytes: Vec<u8>, limit in 0u64..300) {
            if let Ok(fields) = decode(&[&[0, 0], &bytes[..]].concat(), limit) {
                prop_assert!(fields.iter().map(Field::size).sum::<u64>() <= limit);
            }
            let _ = decode(&bytes, limit);
        }
    }
}
