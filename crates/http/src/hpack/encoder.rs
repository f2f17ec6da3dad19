//! Encodes field blocks (RFC 7541 section 6).

use super::DEFAULT_TABLE;
use super::table::{Found, Table};
use crate::integer;
use crate::qpack::Field;

/// Fields whose values rarely repeat. Indexing them would only evict useful entries (section 7.1.3 leaves it to the
/// encoder).
const NEVER_AGAIN: [&[u8]; 2] = [b":path", b"content-length"];

/// The sending side of a connection's field compression.
#[derive(Debug)]
pub struct Encoder {
    table: Table,
    /// The smallest and the latest capacity since the last block (section 4.2).
    resized: Option<(u64, u64)>,
}

impl Default for Encoder {
    fn default() -> Encoder {
        Encoder { table: Table::new(DEFAULT_TABLE), resized: None }
    }
}

impl Encoder {
    /// Applies the peer's SETTINGS_HEADER_TABLE_SIZE, limited to the default size.
    pub fn set_limit(&mut self, limit: u64) {
        let capacity = limit.min(DEFAULT_TABLE);
        if capacity != self.table.capacity() {
            let least = self.resized.map_or(capacity, |(least, _)| least.min(capacity));
            self.resized = Some((least, capacity));
            self.table.set_capacity(capacity);
        }
    }

    /// Appends a block with these fields.
    pub fn encode<'a>(&mut self, out: &mut Vec<u8>, fields: impl IntoIterator<Item = &'a Field>) {
        // Section 4.2: a size change is signalled at the beginning of the next block, the smallest size first.
        if let Some((least, last)) = self.resized.take() {
            if least < last {
                integer::write(out, 0b0010_0000, 5, least);
            }
            integer::write(out, 0b0010_0000, 5, last);
        }
        for field in fields {
            let indexed = !NEVER_AGAIN.contains(&&*field.name);
            // Sections 6.2.1 and 6.2.2.
            let (pattern, bits) = if indexed { (0b0100_0000, 6) } else { (0b0000_0000, 4) };
            match self.table.find(field) {
                // Section 6.1.
                Found::Field(index) => {
                    integer::write(out, 0b1000_0000, 7, index);
                    continue;
                }
                Found::Name(index) => integer::write(out, pattern, bits, index),
                Found::Nothing => {
                    out.push(pattern);
                    integer::write_string(out, 0, 7, &field.name);
                }
            }
            integer::write_string(out, 0, 7, &field.value);
            if indexed {
                self.table.insert(field.clone());
            }
        }
    }

    #[cfg(test)]
    pub(super) fn table(&self) -> &Table {
        &self.table
    }
}
