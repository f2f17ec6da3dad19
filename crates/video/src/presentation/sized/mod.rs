//! Files of the sizes of segments.

mod column;

use super::file::{self, TextError, quoted};
use super::{MAX_REPRESENTATIONS, MAX_SEGMENT_BYTES, MAX_SEGMENTS, MAX_SIZES};
pub(super) use column::Column;
use column::{Clock, Role, is_numbered, is_size, role};
use units::Duration;
use units::table::Reader;

/// What such a file says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sized {
    /// At least one, with at least one size each.
    pub(super) columns: Vec<Column>,
    pub(super) clocks: Vec<Clock>,
    /// The lines of comments that say how long segments last, and what they say.
    pub(super) stated: Vec<(usize, Duration)>,
}

/// A column that must count the segments.
struct Key {
    place: usize,
    /// The number in its first line: 0 or 1.
    first: u64,
}

impl Key {
    /// Checks the line of a segment, counted from 0.
    fn check<'a>(&mut self, reader: &mut Reader<'a>, cells: &[&'a str], segment: u64) -> Result<(), String> {
        let (column, cell) = (reader.column(self.place), cells[self.place]);
        let number = reader.whole(cell);
        if segment == 0 {
            self.first = number.filter(|number| *number < 2).ok_or_else(|| not_a_size(&column))?;
        }
        let expected = self.first + segment;
        match number == Some(expected) {
            true => Ok(()),
            false => Err(format!(
                "{column}, is {}; expected {expected}, the number of the next segment, or no such column",
                quoted(cell)
            )),
        }
    }
}

/// Reads a file: at least one column, and at least one segment.
///
/// A scenario that states the number of representations names them as it likes, if that is the number of the columns.
///
/// # Errors
/// The first invalid line, with a description.
pub(super) fn parse(text: &str, representations: Option<usize>) -> Result<Sized, TextError> {
    let mut reader = file::csv(text)?;
    let header = reader.first().number;
    let in_header = |problem| TextError::line(header, problem);
    let Roles { mut columns, mut clocks, mut keys } =
        roles(&mut reader, representations).map_err(in_header)?;
    reader.keep(columns.iter().map(|column| column.place).chain(clocks.iter().map(|clock| clock.place)));
    let most = MAX_SEGMENTS.min(MAX_SIZES / columns.len());
    let (mut segments, mut cells) = (0, Vec::new());
    while let Some(line) = reader.next(&mut cells) {
        let wrong = |problem: String| TextError::line(line.number, problem);
        if segments == most {
            return Err(wrong(format!("more than {most} segments")));
        }
        if let Some(problem) = reader.miscounted(cells.len()) {
            return Err(wrong(problem));
        }
        for key in &mut keys {
            key.check(&mut reader, &cells, segments as u64).map_err(wrong)?;
        }
        for column in &mut columns {
            let bytes = size(column, &mut reader, cells[column.place]).map_err(wrong)?;
            column.sizes.push(bytes);
        }
        for clock in &mut clocks {
            let cell = cells[clock.place];
            let Some((time, _)) = reader.scaled(cell, clock.power) else {
                let why = reader.fault(cell).unwrap_or_else(|| format!("{} is too large", quoted(cell)));
                return Err(wrong(format!("{}: {why}; expected a time", clock.name)));
            };
            clock.times.push((line.number, Duration::from_nanos(time)));
        }
        segments += 1;
    }
    if segments == 0 {
        return Err(TextError::whole("no segment; expected a line for each below the names of the columns"));
    }
    check_not_turned(&columns).map_err(in_header)?;
    let stated =
        reader.durations_in_comments(&["segment", "segments", "chunk", "chunks", "fragments", "gop"]);
    Ok(Sized { columns, clocks, stated })
}

fn not_a_size(column: &str) -> String {
    format!(
        "{column}, is neither a name of a representation, like 240p, 300_kbps, low or size_1, nor does it count the segments \
         from 0 or 1; expected no such column (leave it out), or the option bitrates with a value for each column"
    )
}

/// Checks that numbered columns are not those of segments, with a line for each representation: each line much larger than
/// the one before, and fewer lines than columns.
fn check_not_turned(columns: &[Column]) -> Result<(), String> {
    const RUNG: f64 = 1.2;
    let lines = columns[0].sizes.len();
    let sum = |line: usize| columns.iter().map(|column| column.sizes[line] as f64).sum::<f64>();
    let is_turned = lines > 1
        && lines < columns.len()
        && columns.iter().all(|column| is_numbered(&column.name))
        && (1..lines).all(|line| sum(line) >= RUNG * sum(line - 1));
    match is_turned {
        true => Err("the lines are those of representations, and the columns those of segments, by their sizes; expected a line for \
                     each segment, with a column for each representation"
            .to_owned()),
        false => Ok(()),
    }
}

/// The columns of a file.
struct Roles {
    columns: Vec<Column>,
    clocks: Vec<Clock>,
    keys: Vec<Key>,
}

/// The columns of a file by their names.
fn roles(reader: &mut Reader<'_>, representations: Option<usize>) -> Result<Roles, String> {
    reader.settle(&[], &[])?;
    // A file without names would lose its first segment.
    if reader.names().is_empty() {
        let first = reader.first().quoted();
        return Err(format!(
            "found {first}; expected the names of representations, each with a letter in it"
        ));
    }
    let (mut columns, mut clocks, mut keys): (Vec<Column>, Vec<Clock>, Vec<Key>) = Default::default();
    let found = reader.names().iter().enumerate().map(|(place, name)| role(name, place));
    let mut found = found.collect::<Result<Vec<Role>, String>>()?;
    let of_sizes = found.iter().filter(|role| !matches!(role, Role::Clock(_))).count();
    if representations == Some(of_sizes) {
        for (place, (role, name)) in found.iter_mut().zip(reader.names()).enumerate() {
            if *role == Role::Key {
                *role = Role::Column(column::of_sizes(name, place)?);
            }
        }
    }
    for (place, role) in found.into_iter().enumerate() {
        match role {
            Role::Key => keys.push(Key { place, first: 0 }),
            Role::Clock(clock) => clocks.push(clock),
            Role::Column(column) => {
                if columns.len() == MAX_REPRESENTATIONS {
                    return Err(format!("more than {MAX_REPRESENTATIONS} columns"));
                }
                if columns.iter().any(|known| known.name == column.name) {
                    return Err(format!("{} twice", reader.column(place)));
                }
                columns.push(column);
            }
        }
    }
    if columns.is_empty() {
        let other = keys.iter().map(|key| key.place).find(|place| *place > 0);
        return Err(other
            .map_or("no column of a representation; expected one at least".to_owned(), |place| {
                not_a_size(&reader.column(place))
            }));
    }
    if let Some(whole) = columns.iter().find(|column| is_size(&column.name)).filter(|_| columns.len() > 1) {
        return Err(format!(
            "{} does not say of which representation its sizes are; expected a name like 240p, low or size_1, or no such column",
            reader.column(whole.place)
        ));
    }
    let is_bare = |column: &Column| !column.has_unit;
    if let Some((line, unit)) = reader.size_unit_in_comment().filter(|_| columns.iter().any(is_bare)) {
        return Err(format!(
            "the comment in line {line} has {}; expected the unit behind the name of each column, like \"low (kB)\"",
            quoted(unit)
        ));
    }
    Ok(Roles { columns, clocks, keys })
}

/// The bytes in a cell of a column.
fn size<'a>(column: &Column, reader: &mut Reader<'a>, cell: &'a str) -> Result<u64, String> {
    let bytes = match column.unit {
        1 => file::bytes(reader, cell),
        unit => reader
            .real(cell)
            .map(|value| (value * unit as f64).round())
            .and_then(|bytes| (1.0..=MAX_SEGMENT_BYTES as f64).contains(&bytes).then_some(bytes as u64)),
    };
    bytes.ok_or_else(|| {
        let fault = if column.unit == 1 { reader.whole_fault(cell) } else { reader.fault(cell) };
        let why = fault.map_or(String::new(), |fault| format!(": {fault}"));
        let (name, value) = (reader.column(column.place), quoted(cell));
        format!("{name}, is {value}{why}; expected the bytes of a segment, as 86250")
    })
}

#[cfg(test)]
mod tests;
