//! Decodes field blocks (RFC 7541 sections 3 and 6).

use super::DEFAULT_TABLE;
use super::table::Table;
use crate::integer::{self, Bad};
use crate::qpack::Field;
use std::borrow::Cow;
use wire::Reader;

/// Why a field block is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadBlock {
    /// It cannot be decoded: a connection error of type COMPRESSION_ERROR (RFC 9113 section 4.3).
    Undecodable(&'static str),
    /// The fields exceed the limit. The block was decoded anyway, so that later blocks can be (RFC 9113 section
    /// 10.5.1).
    TooLarge,
}

impl From<Bad> for BadBlock {
    fn from(bad: Bad) -> BadBlock {
        BadBlock::Undecodable(match bad {
            Bad::End => "the field block ends inside a field line",
            Bad::Integer => "an integer of a field block is too large",
            Bad::Huffman => "an invalid Huffman code in a field block",
        })
    }
}

/// The receiving side of a connection's field compression, with a dynamic table of at most [`DEFAULT_TABLE`] bytes.
#[derive(Debug)]
pub struct Decoder {
    table: Table,
}

impl Default for Decoder {
    fn default() -> Decoder {
        Decoder { table: Table::new(DEFAULT_TABLE) }
    }
}

/// Sections 2.3.3 and 6.1: index 0 and indices beyond the dynamic table are errors.
const NO_ENTRY: BadBlock = BadBlock::Undecodable("neither table has an entry at that index");

impl Decoder {
    /// Decodes a block whose fields have at most `limit` bytes, as counted by [`Field::size`].
    ///
    /// # Errors
    /// See [`BadBlock`].
    pub fn decode(&mut self, bytes: &[u8], limit: u64) -> Result<Vec<Field>, BadBlock> {
        let mut reader = Reader::new(bytes);
        let (mut fields, mut size) = (Vec::new(), 0);
        let mut begun = false;
        while let Ok(first) = reader.u8() {
            // Section 6.3: the capacity of the table.
            if first >> 5 == 0b001 {
                let capacity = integer::read(first, 5, &mut reader)?;
                // Section 4.2: only at the beginning of a block, and not above the announced limit.
                if begun || capacity > DEFAULT_TABLE {
                    return Err(BadBlock::Undecodable(
                        "a dynamic table size update that is misplaced or too large",
                    ));
                }
                self.table.set_capacity(capacity);
                continue;
            }
            begun = true;
            // Section 6.1: an indexed field. Fields above the limit are not copied, because one input byte can stand
            // for 4 kB.
            if first & 0x80 != 0 {
                let index = integer::read(first, 7, &mut reader)?;
                size += self.table.size_at(index).ok_or(NO_ENTRY)?;
                if size <= limit {
                    fields.push(self.entry(index)?);
                }
                continue;
            }
            let field = self.literal(first, &mut reader)?;
            size += field.size();
            if size <= limit {
                fields.push(field);
            }
        }
        if size > limit { Err(BadBlock::TooLarge) } else { Ok(fields) }
    }

    /// A literal field line that begins with `first`.
    fn literal(&mut self, first: u8, reader: &mut Reader<'_>) -> Result<Field, BadBlock> {
        // Section 6.2.1: a literal that is added to the table; sections 6.2.2 and 6.2.3: one that is not.
        let (inserted, bits) = if first & 0x40 != 0 { (true, 6) } else { (false, 4) };
        let name = match integer::read(first, bits, reader)? {
            0 => Cow::Owned(string(reader)?),
            index => self.entry(index)?.name,
        };
        let field = Field { name, value: Cow::Owned(string(reader)?) };
        if inserted {
            self.table.insert(field.clone());
        }
        Ok(field)
    }

    fn entry(&self, index: u64) -> Result<Field, BadBlock> {
        self.table.get(index).ok_or(NO_ENTRY)
    }

    #[cfg(test)]
    pub(super) fn table(&self) -> &Table {
        &self.table
    }
}

fn string(reader: &mut Reader<'_>) -> Result<Vec<u8>, BadBlock> {
    let first = reader.u8().map_err(|_| Bad::End)?;
    Ok(integer::read_string(first, 7, reader)?)
}
