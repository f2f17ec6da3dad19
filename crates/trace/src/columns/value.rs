//! The values of rows, and the columns that they make: what the macro of `schema.rs` builds tables from.

use super::data::{Bitmap, Column, Data, Text, Words};

/// What a table of a run has in its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSchema {
    /// The name.
    pub name: &'static str,
    /// What a row is.
    pub about: &'static str,
    /// The columns, in their order.
    pub columns: &'static [ColumnSchema],
}

/// What a column has in its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnSchema {
    /// The name, which ends with the unit.
    pub name: &'static str,
    /// What its values mean.
    pub about: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// Whether a value may be null.
    pub is_optional: bool,
}

/// The kinds of values in columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A number.
    Number,
    /// True or false.
    Flag,
    /// A text.
    Text,
}

/// A value of a row.
pub(super) trait Value: Copy {
    const KIND: Kind;
    const IS_OPTIONAL: bool = false;
    fn data() -> Data;
    fn column(name: &'static str) -> Column {
        let validity = Self::IS_OPTIONAL.then(Bitmap::default);
        Column { name, data: Self::data(), validity }
    }
    /// Appends values to a column of [`Value::column`].
    fn extend(column: &mut Column, values: impl Iterator<Item = Self> + Clone);
}

/// A value that may be null.
pub(super) trait Nullable: Value {
    /// What a row without a value has.
    const NULL: Self;
}

/// Text by its code in a dictionary that is added at the end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Code(pub(super) u32);

/// One of a fixed list of words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word<W>(pub(super) W);

/// A type whose values are words, in the order of their codes.
pub(super) trait Dictionary: Copy {
    /// The words, which all runs share.
    fn words() -> &'static Words;
    fn code(self) -> u32;
}

macro_rules! numbers {
    ($($number:ty, $data:ident, $null:expr;)+) => {
        $(
            impl Value for $number {
                const KIND: Kind = Kind::Number;
                fn data() -> Data {
                    Data::$data(Vec::new())
                }
                #[inline]
                fn extend(column: &mut Column, values: impl Iterator<Item = Self> + Clone) {
                    let Data::$data(column) = &mut column.data else { other_type(column.name) };
                    column.extend(values);
                }
            }
            impl Nullable for $number {
                const NULL: $number = $null;
            }
        )+
    };
}
numbers! {
    f64, F64, f64::NAN;
    u64, U64, 0;
    u32, U32, 0;
}

impl Value for bool {
    const KIND: Kind = Kind::Flag;
    fn data() -> Data {
        Data::Bool(Bitmap::default())
    }
    fn extend(column: &mut Column, values: impl Iterator<Item = Self> + Clone) {
        let Data::Bool(bits) = &mut column.data else { other_type(column.name) };
        values.for_each(|value| bits.push(value));
    }
}
impl Nullable for bool {
    const NULL: bool = false;
}

impl<V: Nullable> Value for Option<V> {
    const KIND: Kind = V::KIND;
    const IS_OPTIONAL: bool = true;
    fn data() -> Data {
        V::data()
    }
    #[inline]
    fn extend(column: &mut Column, values: impl Iterator<Item = Self> + Clone) {
        V::extend(column, values.clone().map(|value| value.unwrap_or(V::NULL)));
        let Some(validity) = &mut column.validity else { other_type(column.name) };
        values.for_each(|value| validity.push(value.is_some()));
    }
}

impl Value for Code {
    const KIND: Kind = Kind::Text;
    fn data() -> Data {
        Data::Text(Text::default())
    }
    #[inline]
    fn extend(column: &mut Column, values: impl Iterator<Item = Self> + Clone) {
        text(column).codes.extend(values.map(|value| value.0));
    }
}

impl<W: Dictionary> Value for Word<W> {
    const KIND: Kind = Kind::Text;
    fn data() -> Data {
        Data::Text(Text { codes: Vec::new(), words: W::words().clone() })
    }
    #[inline]
    fn extend(column: &mut Column, values: impl Iterator<Item = Self> + Clone) {
        text(column).codes.extend(values.map(|value| value.0.code()));
    }
}

impl Value for &str {
    const KIND: Kind = Kind::Text;
    fn data() -> Data {
        Data::Text(Text::default())
    }
    #[inline]
    fn extend(column: &mut Column, values: impl Iterator<Item = Self> + Clone) {
        let Text { codes, words } = text(column);
        codes.extend(values.map(|value| words.code(value)));
    }
}

fn text(column: &mut Column) -> &mut Text {
    let Data::Text(text) = &mut column.data else { other_type(column.name) };
    text
}

#[cold]
fn other_type(column: &'static str) -> ! {
    unreachable!("column {column} has the type of its schema")
}
