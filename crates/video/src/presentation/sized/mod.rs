//! Files of the sizes of segments.

mod column;

use super::file::{self, TextError, quoted};
use super::{MAX_REPRESENTATIONS, MAX_SEGMENT_BYTES, MAX_SEGMENTS, MAX_SIZES};
pub(super) use column::Column;
use column::{Clock, REPRESENTATIONS, Role, SIZES, role};
use units::Duration;
use units::table::{Reader, plain};

/// What such a file says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sized {
    /// At least one, with at least one size each.
    pub(super) columns: Vec<Column>,
    pub(super) clocks: Vec<Clock>,
    /// A note about the other columns.
    pub(super) skipped: Option<String>,
}

/// Reads a file: at least one column, and at least one segment.
///
/// # Errors
/// The first invalid line, with a description.
pub(super) fn parse(text: &str) -> Result<Sized, TextError> {
    let mut reader = file::csv(text)?;
    let header = reader.first().number;
    let in_header = |problem| TextError::line(header, problem);
    let (mut columns, mut clocks) = roles(&mut reader).map_err(in_header)?;
    if columns.len() + clocks.len() > 1 {
        leave_out_others(&mut columns, &reader);
    }
    check_names(&columns, &reader).map_err(in_header)?;
    let kept: Vec<usize> =
        columns.iter().map(|column| column.place).chain(clocks.iter().map(|clock| clock.place)).collect();
    let skipped = reader.skipped_at((0..reader.names().len()).filter(|place| !kept.contains(place)));
    reader.keep(kept.into_iter());
    let most = MAX_SEGMENTS.min(MAX_SIZES / columns.len());
    let (mut segments, mut cells) = (0, Vec::new());
    while let Some(line) = reader.next(&mut cells) {
        let wrong = |problem: String| TextError::line(line.number, problem);
        if segments == most {
            return Err(wrong(format!("more than {most} segments")));
        }
        if let Some(problem) = reader.miscounted(cells.len(), reader.count()) {
            return Err(wrong(problem));
        }
        for column in &mut columns {
            let bytes = size(column, &mut reader, cells[column.place]).map_err(wrong)?;
            column.sizes.push(bytes);
        }
        for clock in &mut clocks {
            let cell = cells[clock.place];
            let Some((time, _)) = reader.scaled(cell, clock.power) else {
                let why = reader.fault(cell).unwrap_or_else(|| format!("{} is too large", quoted(cell)));
                return Err(wrong(format!("{}: {why}; expected a time", quoted(&clock.name))));
            };
            clock.times.push((line.number, Duration::from_nanos(time)));
        }
        segments += 1;
    }
    if segments == 0 {
        return Err(TextError::whole("no segment; expected a line for each below the names of the columns"));
    }
    check_alike(&columns).map_err(in_header)?;
    Ok(Sized { columns, clocks, skipped })
}

/// Checks that no column is taken for a representation beside others whose names say that they are, and that there is a
/// column for each representation.
fn check_names(columns: &[Column], reader: &Reader<'_>) -> Result<(), String> {
    let other = columns.iter().find(|column| !column.is_named);
    if let Some(other) = other.filter(|_| columns.iter().any(|column| column.is_named)) {
        return Err(not_a_size(&other.name));
    }
    let [column] = columns else { return Ok(()) };
    let words = |name: &str| plain(name).split('_').map(str::to_owned).collect::<Vec<_>>();
    let is_size_alone = words(&column.name).iter().all(|word| {
        SIZES.contains(&word.as_str()) || ["segment", "chunk", "length", "in"].contains(&word.as_str())
    });
    let is_representation =
        |name: &&&str| words(name).iter().any(|word| REPRESENTATIONS.contains(&word.as_str()));
    match reader.names().iter().find(is_representation).filter(|_| is_size_alone) {
        Some(name) => Err(format!(
            "column {} and one column of sizes: a line for each segment of each representation; expected a line for each segment, \
             with a column for each representation, like low,high",
            quoted(name)
        )),
        None => Ok(()),
    }
}

/// Neighbours of a ladder have at most this ratio, many times that of any real one.
const MOST_RATIO: f64 = 16.0;

/// Checks that columns whose names tell nothing have sizes that are like each other.
fn check_alike(columns: &[Column]) -> Result<(), String> {
    if columns.iter().all(|column| column.is_named) {
        return Ok(());
    }
    let sum = |column: &Column| column.sizes.iter().sum::<u64>() as f64;
    let mut sorted: Vec<&Column> = columns.iter().collect();
    sorted.sort_by(|one, other| sum(one).total_cmp(&sum(other)));
    match sorted.windows(2).find(|pair| sum(pair[1]) > MOST_RATIO * sum(pair[0])) {
        Some(pair) => Err(not_a_size(&pair[0].name)),
        None => Ok(()),
    }
}

fn not_a_size(name: &str) -> String {
    format!(
        "nothing tells that column {} has sizes of segments, and it is not like the others; expected names of representations, \
         like \"240p\", \"low\" or \"size_1\", or no such column",
        quoted(name)
    )
}

/// The columns of a file by their names.
fn roles(reader: &mut Reader<'_>) -> Result<(Vec<Column>, Vec<Clock>), String> {
    reader.settle(&[], &[])?;
    // A file without names would lose its first segment.
    if reader.names().is_empty() {
        let first = reader.first().quoted();
        return Err(format!(
            "found {first}; expected the names of representations, each with a letter in it"
        ));
    }
    let (mut columns, mut clocks): (Vec<Column>, Vec<Clock>) = (Vec::new(), Vec::new());
    for (place, name) in reader.names().iter().enumerate() {
        match role(name, place)? {
            Role::Skipped => {}
            Role::Clock(clock) => clocks.push(clock),
            Role::Column(column) => {
                if columns.len() == MAX_REPRESENTATIONS {
                    return Err(format!("more than {MAX_REPRESENTATIONS} columns"));
                }
                if columns.iter().any(|known| known.name == column.name) {
                    return Err(format!("column {} twice", quoted(&column.name)));
                }
                columns.push(column);
            }
        }
    }
    if columns.is_empty() {
        return Err("no column of a representation; expected one at least".to_owned());
    }
    let is_bare = |column: &Column| !column.has_unit;
    if let Some((line, unit)) = reader.size_unit_in_comment().filter(|_| columns.iter().any(is_bare)) {
        return Err(format!(
            "the comment in line {line} has {}; expected the unit behind the name of each column, like \"low (kB)\"",
            quoted(unit)
        ));
    }
    Ok((columns, clocks))
}

/// Leaves out columns that cannot be sizes, whatever their names: whole numbers that rise by one from line to line, and
/// words.
fn leave_out_others(columns: &mut Vec<Column>, reader: &Reader<'_>) {
    let mut reader = reader.clone();
    let (mut lines, mut cells) = (0u64, Vec::new());
    // The first number of each column that has only risen by one, and whether it only has words.
    let mut states: Vec<(Option<u64>, bool)> = vec![(None, true); columns.len()];
    while reader.next(&mut cells).is_some() {
        for (column, (first, are_words)) in columns.iter().zip(&mut states) {
            let cell = cells.get(column.place).copied().unwrap_or("");
            let number =
                reader.scaled(cell, 0).filter(|(_, is_rounded)| !is_rounded).map(|(number, _)| number);
            *first =
                if lines == 0 { number } else { first.filter(|first| number == first.checked_add(lines)) };
            let is_missing =
                ["na", "n/a", "nan", "null", "none", "inf"].contains(&cell.to_lowercase().as_str());
            *are_words &= cell.starts_with(char::is_alphabetic) && !is_missing;
        }
        lines += 1;
    }
    let is_other = |(first, are_words): (Option<u64>, bool)| {
        let counts = first.is_some_and(|first| lines > 2 || (lines > 1 && first < 2));
        lines > 0 && (counts || are_words)
    };
    if states.iter().all(|state| is_other(*state)) {
        return;
    }
    let mut states = states.into_iter();
    columns.retain(|_| !states.next().is_some_and(is_other));
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
        let (name, value) = (quoted(&column.name), quoted(cell));
        format!("{name} is {value}{why}; expected the bytes of a segment, as 86250")
    })
}

#[cfg(test)]
mod tests;
