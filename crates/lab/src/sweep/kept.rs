//! The tables of runs that a sweep keeps whole, as bytes in its folder and as rows of many runs.

use super::bytes::{count, put_count, put_text, take, text};
use super::columns::{Column, Table};
use trace::columns::{self, Bitmap, Data, Text};

/// A table of a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kept {
    /// Its name: `object`.
    pub(crate) name: String,
    rows: usize,
    columns: Vec<Column>,
}

impl Kept {
    pub(super) fn of(table: columns::Table) -> Kept {
        let rows = table.rows();
        let column = |column: columns::Column| Column {
            name: column.name.to_owned(),
            data: column.data,
            validity: column.validity,
        };
        Kept { name: table.name.to_owned(), rows, columns: table.columns.into_iter().map(column).collect() }
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let same = |column: &Column| column.data.len() == self.rows;
        assert!(self.columns.iter().all(same), "the columns of table {} are of one length", self.name);
        put_text(out, &self.name);
        put_count(out, self.rows);
        put_count(out, self.columns.len());
        for column in &self.columns {
            put_text(out, &column.name);
            out.push(u8::from(column.validity.is_some()));
            if let Some(validity) = &column.validity {
                out.extend_from_slice(validity.as_bytes());
            }
            put_data(out, &column.data);
        }
    }

    /// Reads a table; `None` if the bytes are invalid.
    pub(super) fn take(input: &mut &[u8]) -> Option<Kept> {
        let (name, rows, columns) = (text(input)?, count(input)?, count(input)?);
        let column = |_| {
            let name = text(input)?;
            let validity = match take(input, 1)? {
                [0] => None,
                [1] => Some(bits(input, rows)?),
                _ => return None,
            };
            Some(Column { name, validity, data: data(input, rows)? })
        };
        Some(Kept { name, rows, columns: (0..columns).map(column).collect::<Option<_>>()? })
    }
}

fn put_data(out: &mut Vec<u8>, data: &Data) {
    match data {
        Data::F64(values) => put(out, 0, values.iter().map(|value| value.to_le_bytes())),
        Data::U64(values) => put(out, 1, values.iter().map(|value| value.to_le_bytes())),
        Data::I64(values) => put(out, 2, values.iter().map(|value| value.to_le_bytes())),
        Data::U32(values) => put(out, 3, values.iter().map(|value| value.to_le_bytes())),
        Data::Bool(bits) => {
            out.push(4);
            out.extend_from_slice(bits.as_bytes());
        }
        Data::Text(text) => {
            put(out, 5, text.codes.iter().map(|code| code.to_le_bytes()));
            put_count(out, text.words.len());
            let word = |code| text.words.get(code).expect("words are numbered up to their count");
            (0..text.words.len() as u32).for_each(|code| put_text(out, word(code)));
        }
    }
}

fn put<const N: usize>(out: &mut Vec<u8>, tag: u8, values: impl Iterator<Item = [u8; N]>) {
    out.push(tag);
    values.for_each(|value| out.extend_from_slice(&value));
}

fn data(input: &mut &[u8], rows: usize) -> Option<Data> {
    Some(match take(input, 1)? {
        [0] => Data::F64(values(input, rows, f64::from_le_bytes)?),
        [1] => Data::U64(values(input, rows, u64::from_le_bytes)?),
        [2] => Data::I64(values(input, rows, i64::from_le_bytes)?),
        [3] => Data::U32(values(input, rows, u32::from_le_bytes)?),
        [4] => Data::Bool(bits(input, rows)?),
        [5] => {
            let (codes, length) = (values(input, rows, u32::from_le_bytes)?, count(input)?);
            let mut found = Text { codes, ..Text::default() };
            for place in 0..length {
                // Words are distinct.
                if found.words.code(&text(input)?) as usize != place {
                    return None;
                }
            }
            // Null values have a code, too.
            found.codes.iter().all(|code| (*code as usize) < length.max(1)).then_some(Data::Text(found))?
        }
        _ => return None,
    })
}

fn values<const N: usize, T>(input: &mut &[u8], rows: usize, of: impl Fn([u8; N]) -> T) -> Option<Vec<T>> {
    let bytes = take(input, rows.checked_mul(N)?)?;
    let value = |bytes: &[u8]| of(bytes.try_into().expect("a chunk has the size of a value"));
    Some(bytes.chunks_exact(N).map(value).collect())
}

fn bits(input: &mut &[u8], rows: usize) -> Option<Bitmap> {
    let bytes = take(input, rows.div_ceil(8))?;
    let mut bits = Bitmap::default();
    (0..rows).for_each(|row| bits.push(bytes[row / 8] & (1 << (row % 8)) != 0));
    Some(bits)
}

/// Rows of one table of many runs, with the number of the run in front.
pub(super) struct Piece {
    run: Vec<i64>,
    columns: Vec<Column>,
}

impl Piece {
    /// An empty piece with the columns of a run's table.
    pub(super) fn like(table: Option<&Kept>) -> Piece {
        let empty = |column: &Column| Column {
            name: column.name.clone(),
            validity: column.validity.as_ref().map(|_| Bitmap::default()),
            data: match column.data {
                Data::F64(_) => Data::F64(Vec::new()),
                Data::U64(_) => Data::U64(Vec::new()),
                Data::U32(_) => Data::U32(Vec::new()),
                Data::I64(_) => Data::I64(Vec::new()),
                Data::Bool(_) => Data::Bool(Bitmap::default()),
                Data::Text(_) => Data::Text(Text::default()),
            },
        };
        let columns = table.map_or(Vec::new(), |table| table.columns.iter().map(empty).collect());
        Piece { run: Vec::new(), columns }
    }

    pub(super) fn rows(&self) -> usize {
        self.run.len()
    }

    /// Adds the rows of a run; `None` if its table has other columns.
    pub(super) fn add(&mut self, run: u32, table: &Kept) -> Option<()> {
        if self.columns.len() != table.columns.len() {
            return None;
        }
        self.run.extend(std::iter::repeat_n(i64::from(run), table.rows));
        for (all, more) in self.columns.iter_mut().zip(&table.columns) {
            if all.name != more.name {
                return None;
            }
            match (&mut all.validity, &more.validity) {
                (None, None) => {}
                (Some(all), Some(more)) => (0..table.rows).for_each(|row| all.push(more.get(row))),
                _ => return None,
            }
            match (&mut all.data, &more.data) {
                (Data::F64(all), Data::F64(more)) => all.extend_from_slice(more),
                (Data::U64(all), Data::U64(more)) => all.extend_from_slice(more),
                (Data::U32(all), Data::U32(more)) => all.extend_from_slice(more),
                (Data::I64(all), Data::I64(more)) => all.extend_from_slice(more),
                (Data::Bool(all), Data::Bool(more)) => {
                    (0..table.rows).for_each(|row| all.push(more.get(row)))
                }
                (Data::Text(all), Data::Text(more)) => {
                    for code in &more.codes {
                        // A null value has a code that may have no word.
                        let code = all.words.code(more.words.get(*code).unwrap_or_default());
                        all.codes.push(code);
                    }
                }
                _ => return None,
            }
        }
        Some(())
    }

    pub(super) fn into_table(self) -> Table {
        let run = Column { name: "run".to_owned(), data: Data::I64(self.run), validity: None };
        Table { columns: std::iter::once(run).chain(self.columns).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, data: Data, validity: Option<&[bool]>) -> Column {
        let validity = validity.map(|set| {
            let mut bits = Bitmap::default();
            set.iter().for_each(|bit| bits.push(*bit));
            bits
        });
        Column { name: name.to_owned(), data, validity }
    }

    fn words(of: &[&str]) -> Data {
        let mut text = Text::default();
        for word in of {
            let code = text.words.code(word);
            text.codes.push(code);
        }
        Data::Text(text)
    }

    fn table(names: &[&str]) -> Kept {
        let rows = names.len();
        let mut flags = Bitmap::default();
        (0..rows).for_each(|row| flags.push(row % 3 == 0));
        let nulls: Vec<bool> = (0..rows).map(|row| row % 2 == 0).collect();
        let columns = vec![
            column("name", words(names), None),
            column("time_s", Data::F64((0..rows).map(|row| row as f64 / 3.0).collect()), Some(&nulls)),
            column("bytes", Data::U64((0..rows as u64).map(|row| u64::MAX - row).collect()), None),
            column("small", Data::U32((0..rows as u32).collect()), None),
            column("whole", Data::I64((0..rows as i64).map(|row| -row).collect()), None),
            column("missed", Data::Bool(flags), Some(&nulls)),
        ];
        Kept { name: "object".to_owned(), rows, columns }
    }

    #[test]
    fn tables_survive_writing_and_reading() {
        for names in [&[][..], &["a"], &["a", "b", "a", "", "c", "b", "a", "b", "c"]] {
            let (kept, mut bytes) = (table(names), Vec::new());
            kept.put(&mut bytes);
            let mut input = bytes.as_slice();
            assert_eq!((Kept::take(&mut input), input.len()), (Some(kept), 0));
            for cut in 0..bytes.len() {
                assert_eq!(Kept::take(&mut &bytes[..cut]), None);
            }
        }
    }

    #[test]
    fn rows_of_runs_are_joined() {
        let (first, second) = (table(&["a", "b"]), table(&["c", "b", "b"]));
        let mut piece = Piece::like(Some(&second));
        assert_eq!((piece.add(1, &first), piece.add(7, &second), piece.rows()), (Some(()), Some(()), 5));
        let all = piece.into_table();
        assert_eq!(all.columns[0].data, Data::I64(vec![1, 1, 7, 7, 7]));
        assert_eq!(all.columns[1].data, words(&["a", "b", "c", "b", "b"]));
        assert_eq!(all.columns[3].data, Data::U64([0, 1, 0, 1, 2].map(|row| u64::MAX - row).to_vec()));
        let valid = all.columns[2].validity.as_ref().unwrap();
        assert_eq!([0, 1, 2, 3, 4].map(|row| valid.get(row)), [true, false, true, false, true]);
        let mut other = table(&["a"]);
        other.columns.swap(0, 1);
        assert_eq!(Piece::like(Some(&first)).add(1, &other), None);
        assert_eq!(Piece::like(None).into_table().rows(), 0);
    }
}
