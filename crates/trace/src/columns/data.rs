//! The buffers of a column.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A bitmap in Arrow's layout, lowest bit of each byte first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bitmap {
    bytes: Vec<u8>,
    length: usize,
    unset: usize,
}

impl Bitmap {
    /// The number of bits.
    pub fn len(&self) -> usize {
        self.length
    }
    /// Whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
    /// The number of zero bits: the number of nulls, if this is a validity bitmap.
    pub fn unset(&self) -> usize {
        self.unset
    }
    /// The buffer: `len().div_ceil(8)` bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
    /// A bit; `false` beyond the end.
    pub fn get(&self, at: usize) -> bool {
        at < self.length && self.bytes[at / 8] & (1 << (at % 8)) != 0
    }
    /// Appends a bit.
    pub fn push(&mut self, bit: bool) {
        if self.length.is_multiple_of(8) {
            self.bytes.push(0);
        }
        self.length += 1;
        if bit {
            self.bytes[(self.length - 1) / 8] |= 1 << ((self.length - 1) % 8);
        } else {
            self.unset += 1;
        }
    }
    /// Sets an existing bit to 1.
    pub(super) fn set(&mut self, at: usize) {
        if at < self.length && !self.get(at) {
            self.bytes[at / 8] |= 1 << (at % 8);
            self.unset -= 1;
        }
    }
    /// Removes the bits from `at` on, a multiple of eight, and returns them.
    fn split_off(&mut self, at: usize) -> Bitmap {
        let bytes = self.bytes.split_off(at / 8);
        let length = std::mem::replace(&mut self.length, at) - at;
        let set: u32 = bytes.iter().map(|byte| byte.count_ones()).sum();
        let unset = length - set as usize;
        self.unset -= unset;
        Bitmap { bytes, length, unset }
    }
    fn clear(&mut self) {
        self.bytes.clear();
        (self.length, self.unset) = (0, 0);
    }
    fn pick(&self, rows: &[u32]) -> Bitmap {
        let mut picked = Bitmap::default();
        rows.iter().for_each(|row| picked.push(self.get(*row as usize)));
        picked
    }
}

/// A dictionary of distinct words in the layout of Arrow's `utf8`: the concatenated bytes and `len() + 1` offsets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Words {
    /// Shared by all columns with the same words, until one of them adds a word. `None` without words.
    list: Option<Arc<WordList>>,
    last: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct WordList {
    offsets: Vec<i32>,
    bytes: Vec<u8>,
    /// The codes of the words, if there are more than [`FEW`].
    codes: BTreeMap<Box<str>, u32>,
}

impl Default for WordList {
    fn default() -> WordList {
        WordList { offsets: vec![0], bytes: Vec::new(), codes: BTreeMap::new() }
    }
}

/// The number of words up to which comparing all of them is as fast as a lookup, and needs no memory.
const FEW: usize = 16;

/// The replacement for new words when the dictionary is full.
const TOO_MANY: &str = "(too many different texts)";
/// Keeps the offsets far below 2^31, whatever the trace contains.
const MAX_BYTES: usize = 1 << 30;

impl Words {
    /// The dictionary of these words, which must be distinct. The first has code 0.
    pub(super) fn of<'a>(words: impl IntoIterator<Item = &'a str>) -> Words {
        let mut list = Words::default();
        words.into_iter().for_each(|word| {
            list.code(word);
        });
        list
    }
    /// The number of words, below 2^31, so that codes can be read as `i32`.
    pub fn len(&self) -> usize {
        self.list.as_ref().map_or(0, |list| list.len())
    }
    /// Whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The offsets of the words in [`Words::bytes`], and the end.
    pub fn offsets(&self) -> &[i32] {
        self.list.as_ref().map_or(&[0], |list| &list.offsets)
    }
    /// The concatenated words.
    pub fn bytes(&self) -> &[u8] {
        self.list.as_ref().map_or(&[], |list| &list.bytes)
    }
    /// The word with a code.
    pub fn get(&self, code: u32) -> Option<&str> {
        self.list.as_ref()?.get(code)
    }
    /// The code of a word, which is added if it is new.
    pub fn code(&mut self, word: &str) -> u32 {
        // Most words in a trace repeat the previous one, which needs no lookup.
        let list = self.list.get_or_insert_default();
        if list.get_bytes(self.last) == Some(word.as_bytes()) {
            return self.last;
        }
        self.last = match list.known(word) {
            Some(code) => code,
            None if word != TOO_MANY && list.bytes.len() + word.len() > MAX_BYTES => self.code(TOO_MANY),
            None => Arc::make_mut(list).add(word),
        };
        self.last
    }
}

impl WordList {
    fn len(&self) -> usize {
        self.offsets.len() - 1
    }
    fn get(&self, code: u32) -> Option<&str> {
        std::str::from_utf8(self.get_bytes(code)?).ok()
    }
    /// Adds a new word.
    fn add(&mut self, word: &str) -> u32 {
        let code = self.len() as u32;
        self.bytes.extend_from_slice(word.as_bytes());
        self.offsets.push(self.bytes.len() as i32);
        self.index(code);
        code
    }
    fn known(&self, word: &str) -> Option<u32> {
        if self.len() > FEW {
            return self.codes.get(word).copied();
        }
        (0..self.len() as u32).find(|code| self.get_bytes(*code) == Some(word.as_bytes()))
    }
    /// Enters a new word into the index, and with the first one too many all others.
    fn index(&mut self, code: u32) {
        let from = match self.len() {
            few if few <= FEW => return,
            few if few == FEW + 1 => 0,
            _ => code,
        };
        for code in from..=code {
            if let Some(word) = self.get(code).map(Box::from) {
                self.codes.insert(word, code);
            }
        }
    }
    fn get_bytes(&self, code: u32) -> Option<&[u8]> {
        let at = code as usize;
        self.bytes.get(*self.offsets.get(at)? as usize..*self.offsets.get(at + 1)? as usize)
    }
}

/// Text as codes into a dictionary: Arrow's dictionary encoding.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    /// One code per row, below `words.len()` and below 2^31: readable as `i32`, the index type supported by every
    /// reader of Arrow.
    pub codes: Vec<u32>,
    /// The dictionary.
    pub words: Words,
}

/// The values of a column, one per row. The values of null rows are arbitrary.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// Real numbers.
    F64(Vec<f64>),
    /// Counts and bytes.
    U64(Vec<u64>),
    /// Small counts.
    U32(Vec<u32>),
    /// Signed integers.
    I64(Vec<i64>),
    /// Booleans.
    Bool(Bitmap),
    /// Text.
    Text(Text),
}

impl Data {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Data::F64(values) => values.len(),
            Data::U64(values) => values.len(),
            Data::U32(values) => values.len(),
            Data::I64(values) => values.len(),
            Data::Bool(bits) => bits.len(),
            Data::Text(text) => text.codes.len(),
        }
    }
    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Removes the rows from `at` on, a multiple of eight, and returns them.
    fn split_off(&mut self, at: usize) -> Data {
        match self {
            Data::F64(values) => Data::F64(values.split_off(at)),
            Data::U64(values) => Data::U64(values.split_off(at)),
            Data::U32(values) => Data::U32(values.split_off(at)),
            Data::I64(values) => Data::I64(values.split_off(at)),
            Data::Bool(bits) => Data::Bool(bits.split_off(at)),
            Data::Text(text) => {
                Data::Text(Text { codes: text.codes.split_off(at), words: text.words.clone() })
            }
        }
    }
    /// Appends values of the same type, with codes of the same words.
    fn extend(&mut self, more: &Data) {
        match (self, more) {
            (Data::F64(values), Data::F64(more)) => values.extend_from_slice(more),
            (Data::U64(values), Data::U64(more)) => values.extend_from_slice(more),
            (Data::U32(values), Data::U32(more)) => values.extend_from_slice(more),
            (Data::I64(values), Data::I64(more)) => values.extend_from_slice(more),
            (Data::Bool(bits), Data::Bool(more)) => (0..more.len()).for_each(|at| bits.push(more.get(at))),
            (Data::Text(text), Data::Text(more)) => text.codes.extend_from_slice(&more.codes),
            _ => debug_assert!(false, "values of two types"),
        }
    }
    /// Removes all rows, but keeps their memory.
    fn clear(&mut self) {
        match self {
            Data::F64(values) => values.clear(),
            Data::U64(values) => values.clear(),
            Data::U32(values) => values.clear(),
            Data::I64(values) => values.clear(),
            Data::Bool(bits) => bits.clear(),
            Data::Text(text) => text.codes.clear(),
        }
    }
    /// Makes room for more rows.
    pub(super) fn reserve(&mut self, rows: usize) {
        match self {
            Data::F64(values) => values.reserve(rows),
            Data::U64(values) => values.reserve(rows),
            Data::U32(values) => values.reserve(rows),
            Data::I64(values) => values.reserve(rows),
            Data::Text(text) => text.codes.reserve(rows),
            Data::Bool(_) => {}
        }
    }
}

/// A column with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name, which ends with the unit.
    pub name: &'static str,
    /// The values.
    pub data: Data,
    /// For a nullable column: 1 for rows that are not null.
    pub validity: Option<Bitmap>,
}

impl Column {
    /// Whether a row is null.
    pub fn is_null(&self, row: usize) -> bool {
        self.validity.as_ref().is_some_and(|validity| !validity.get(row))
    }
    /// The text of a row; `None` for null and for columns of another type.
    pub fn text(&self, row: usize) -> Option<&str> {
        match &self.data {
            Data::Text(text) if !self.is_null(row) => text.words.get(*text.codes.get(row)?),
            _ => None,
        }
    }
    /// The number in a row; `None` for null and for text. Integers above 2^53 are rounded.
    pub fn number(&self, row: usize) -> Option<f64> {
        if self.is_null(row) {
            return None;
        }
        match &self.data {
            Data::F64(values) => values.get(row).copied(),
            Data::U64(values) => values.get(row).map(|value| *value as f64),
            Data::U32(values) => values.get(row).map(|value| f64::from(*value)),
            Data::I64(values) => values.get(row).map(|value| *value as f64),
            Data::Bool(bits) => (row < bits.len()).then(|| f64::from(u8::from(bits.get(row)))),
            Data::Text(_) => None,
        }
    }
    /// Removes the rows from `at` on, a multiple of eight, and returns them.
    pub(super) fn split_off(&mut self, at: usize) -> Column {
        let validity = self.validity.as_mut().map(|validity| validity.split_off(at));
        Column { name: self.name, data: self.data.split_off(at), validity }
    }
    /// Appends the values of another part of the same column.
    pub(super) fn extend(&mut self, more: &Column) {
        self.data.extend(&more.data);
        if let (Some(validity), Some(more)) = (&mut self.validity, &more.validity) {
            (0..more.len()).for_each(|at| validity.push(more.get(at)));
        }
    }
    /// The column with its words and no rows.
    pub(super) fn without_rows(&self) -> Column {
        let data = match &self.data {
            Data::F64(_) => Data::F64(Vec::new()),
            Data::U64(_) => Data::U64(Vec::new()),
            Data::U32(_) => Data::U32(Vec::new()),
            Data::I64(_) => Data::I64(Vec::new()),
            Data::Bool(_) => Data::Bool(Bitmap::default()),
            Data::Text(text) => Data::Text(Text { codes: Vec::new(), words: text.words.clone() }),
        };
        Column { name: self.name, data, validity: self.validity.as_ref().map(|_| Bitmap::default()) }
    }
    /// Removes all rows, but keeps their memory.
    pub(super) fn clear(&mut self) {
        self.data.clear();
        self.validity.iter_mut().for_each(Bitmap::clear);
    }
    /// Keeps these rows, in this order.
    pub(super) fn pick(&mut self, rows: &[u32]) {
        match &mut self.data {
            Data::F64(values) => pick(values, rows),
            Data::U64(values) => pick(values, rows),
            Data::U32(values) => pick(values, rows),
            Data::I64(values) => pick(values, rows),
            Data::Bool(bits) => *bits = bits.pick(rows),
            Data::Text(text) => pick(&mut text.codes, rows),
        }
        if let Some(validity) = &mut self.validity {
            *validity = validity.pick(rows);
        }
    }
}

fn pick<T: Copy>(values: &mut Vec<T>, rows: &[u32]) {
    *values = rows.iter().map(|row| values[*row as usize]).collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_laid_out_as_arrow_has_them() {
        let mut words = Words::default();
        let codes: Vec<u32> = ["b", "", "äh", "b", "äh", ""].iter().map(|word| words.code(word)).collect();
        assert_eq!(codes, [0, 1, 2, 0, 2, 1]);
        assert_eq!((words.offsets(), words.bytes()), (&[0, 1, 1, 4][..], "bäh".as_bytes()));
        assert_eq!((words.get(1), words.get(2), words.get(3)), (Some(""), Some("äh"), None));
    }

    #[test]
    fn many_words_keep_their_codes() {
        let names: Vec<String> = (0..3 * FEW).map(|number| format!("word {number}")).collect();
        let mut words = Words::default();
        assert_eq!((words.len(), words.offsets(), words.get(0)), (0, &[0][..], None));
        for _ in 0..2 {
            let codes: Vec<u32> = names.iter().rev().map(|name| words.code(name)).collect();
            assert_eq!(codes, (0..names.len() as u32).collect::<Vec<_>>());
        }
        assert_eq!((words.len(), words.get(1)), (names.len(), Some("word 46")));
    }

    #[test]
    fn picking_rows_keeps_nulls_and_text() {
        let mut validity = Bitmap::default();
        [true, false, true].iter().for_each(|bit| validity.push(*bit));
        let text = Text { codes: vec![0, 1, 2], words: Words::of(["x", "y", "z"]) };
        let mut column = Column { name: "c", data: Data::Text(text), validity: Some(validity) };
        column.pick(&[2, 1]);
        assert_eq!((column.text(0), column.text(1), column.is_null(1)), (Some("z"), None, true));
    }

    proptest! {
        #[test]
        fn a_bitmap_is_its_bits(bits in prop::collection::vec(any::<bool>(), 0..70), set in 0usize..70) {
            let mut bitmap = Bitmap::default();
            bits.iter().for_each(|bit| bitmap.push(*bit));
            prop_assert_eq!(bitmap.as_bytes().len(), bits.len().div_ceil(8));
            prop_assert_eq!(bitmap.unset(), bits.iter().filter(|bit| !**bit).count());
            bitmap.set(set);
            for (at, bit) in bits.iter().enumerate() {
                prop_assert_eq!(bitmap.get(at), *bit || at == set);
                prop_assert_eq!(bitmap.as_bytes()[at / 8] >> (at % 8) & 1 == 1, *bit || at == set);
            }
            prop_assert_eq!(bitmap.unset(), (0..bits.len()).filter(|at| !bitmap.get(*at)).count());
        }
    }
}
