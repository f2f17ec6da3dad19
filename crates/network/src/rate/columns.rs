//! The columns of tables of values over time: their names, their units, and the values in a line.

use units::Duration;
use units::table::{Reader, is_other_unit, plain};

/// The maximum delay of a line.
pub const LONGEST_DELAY: Duration = Duration::from_secs(3600);

/// What a column has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    /// In bit/s.
    Rate,
    /// In nanoseconds.
    Delay,
    /// A probability.
    Loss,
}

impl Column {
    /// Words for it in names that have no unit, or one that is not read.
    fn words(self) -> &'static [&'static str] {
        match self {
            Column::Rate => &["rate", "throughput", "bandwidth", "bitrate"],
            Column::Delay => &["delay"],
            Column::Loss => &["loss"],
        }
    }

    /// The names that it has in files.
    fn names(self) -> impl Iterator<Item = &'static str> {
        COLUMNS.iter().filter(move |(column, _)| *column == self).map(|(_, (name, ..))| *name)
    }
}

/// A unit of a column: its name in a file, the unit for errors, and the power of ten that makes nanoseconds, bit/s or a
/// probability of its values.
type Unit = (&'static str, &'static str, i32);

/// The units of time.
const TIMES: [Unit; 4] =
    [("time_ms", "ms", 6), ("time_s", "s", 9), ("time_us", "us", 3), ("time_ns", "ns", 0)];

/// The other columns.
const COLUMNS: [(Column, Unit); 10] = [
    (Column::Rate, ("rate_mbps", "Mbit/s", 6)),
    (Column::Rate, ("rate_kbps", "kbit/s", 3)),
    (Column::Rate, ("rate_bps", "bit/s", 0)),
    (Column::Rate, ("rate_gbps", "Gbit/s", 9)),
    (Column::Delay, ("delay_ms", "ms", 6)),
    (Column::Delay, ("delay_s", "s", 9)),
    (Column::Delay, ("delay_us", "us", 3)),
    (Column::Delay, ("delay_ns", "ns", 0)),
    (Column::Loss, ("loss", "", 0)),
    (Column::Loss, ("loss_percent", "%", -2)),
];

/// What a kind of files has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    /// Its columns beside the time, of which at least one must be there. Others are skipped.
    pub(crate) columns: &'static [Column],
    /// The names of the columns of a file without names.
    pub(crate) unnamed: [&'static str; 2],
}

/// What the columns of a file mean.
#[derive(Debug)]
pub(super) struct Form {
    time: (usize, Unit),
    /// By their order in the file: the place, the meaning, and the unit.
    pub(super) columns: Vec<(usize, Column, Unit)>,
}

/// The time and the values of a line, and whether one of them was rounded.
pub(super) struct Values {
    pub(super) time: Duration,
    pub(super) values: Vec<f64>,
    pub(super) is_rounded: bool,
}

/// The names of the columns of a kind.
pub(super) fn names(kind: Kind) -> impl Iterator<Item = &'static str> {
    let others = COLUMNS.iter().filter(move |(column, _)| kind.columns.contains(column));
    TIMES.iter().map(|(name, ..)| *name).chain(others.map(|(_, (name, ..))| *name))
}

impl Form {
    /// The form of a file by its first line, or by its comments.
    pub(super) fn of(reader: &mut Reader<'_>, kind: Kind) -> Result<Form, String> {
        reader.settle(&names(kind).collect::<Vec<_>>(), &kind.unnamed)?;
        if let Some(form) = Form::named(reader, kind)? {
            reader.keep(form.columns.iter().map(|(place, ..)| *place).chain([form.time.0]));
            return Ok(form);
        }
        let times = TIMES.map(|(name, ..)| name).join(", ");
        if let Some(place) = untimed(reader) {
            let name = reader.column(place);
            return Err(format!("{name}, has no unit, or one that is not read; expected one of {times}"));
        }
        let known: Vec<&str> = kind.columns.iter().flat_map(|column| column.names()).collect();
        let only = if kind.columns.len() == 1 { "one of " } else { "one or more of " };
        // One number alone: a Mahimahi trace in the place of CSV.
        let is_trace = reader.count() == 1 && !reader.has_header() && kind.columns.contains(&Column::Rate);
        Err(format!(
            "found {}, expected names of columns: one of {times}, and {only}{}{}",
            match reader.names() {
                names if reader.has_header() || names.is_empty() => reader.first().quoted(),
                // Those of a comment.
                names => names.iter().map(|name| units::table::quoted(name)).collect::<Vec<_>>().join(", "),
            },
            known.join(", "),
            if is_trace { "; Mahimahi is for type = \"trace\"" } else { "" }
        ))
    }

    /// The form by the names of the columns; `None` if there is no time, or no value.
    fn named(reader: &Reader<'_>, kind: Kind) -> Result<Option<Form>, String> {
        let places = reader.columns(&TIMES.map(|(name, ..)| name))?;
        let mut times = places.into_iter().zip(TIMES).filter_map(|(place, unit)| Some((place?, unit)));
        let Some(time) = times.next() else { return Ok(None) };
        let both = |one: usize, other: usize, what: &str| {
            let (one, other) = (reader.column(one.min(other)), reader.column(one.max(other)));
            format!("{one}, and {other}, both have {what}; expected one: leave the other out")
        };
        if let Some((other, _)) = times.next() {
            return Err(both(time.0, other, "times"));
        }
        let mut columns: Vec<(usize, Column, Unit)> = Vec::new();
        let known: Vec<(Column, Unit)> =
            COLUMNS.into_iter().filter(|(column, _)| kind.columns.contains(column)).collect();
        let places = reader.columns(&known.iter().map(|(_, (name, ..))| *name).collect::<Vec<_>>())?;
        for (place, (column, unit)) in places.into_iter().zip(known) {
            let Some(place) = place else { continue };
            if let Some((before, ..)) = columns.iter().find(|(_, known, _)| *known == column) {
                return Err(both(*before, place, plural(column)));
            }
            columns.push((place, column, unit));
        }
        columns.sort_unstable_by_key(|(place, ..)| *place);
        if columns.is_empty() {
            return Ok(None);
        }
        // A column in another unit would be skipped, and what it says be missing.
        for column in
            kind.columns.iter().filter(|column| columns.iter().all(|(_, known, _)| known != *column))
        {
            let is_word = |name: &str, word: &str| is_other_unit(name, word) || plain(name) == word;
            let is_it = |name: &&str| column.words().iter().any(|word| is_word(name, word));
            if let Some(place) = reader.names().iter().position(is_it) {
                let (name, known) = (reader.column(place), column.names().collect::<Vec<_>>().join(", "));
                return Err(format!("{name}, has no unit, or one that is not read; expected one of {known}"));
            }
        }
        Ok(Some(Form { time, columns }))
    }

    /// The values of a line.
    ///
    /// # Errors
    /// What is wrong with the first cell that has none.
    pub(super) fn values<'a>(&self, reader: &mut Reader<'a>, cells: &[&'a str]) -> Result<Values, String> {
        if let Some(fault) = reader.miscounted(cells.len()) {
            return Err(fault);
        }
        let (place, (_, unit, power)) = self.time;
        let (time, mut is_rounded) = whole(reader, cells[place], power)
            .ok_or_else(|| fault(reader, cells[place], u64::MAX / 10u64.pow(power.unsigned_abs()), unit))?;
        let mut values = Vec::with_capacity(self.columns.len());
        for (place, column, (_, unit, power)) in &self.columns {
            let (cell, scale) = (cells[*place], 10f64.powi(*power));
            let limit = match column {
                Column::Loss => {
                    let loss = reader.real(cell).map(|loss| if *power < 0 { loss / 100.0 } else { loss });
                    let loss = loss.filter(|loss| (0.0..=1.0).contains(loss));
                    values.push(
                        loss.ok_or_else(|| fault(reader, cell, if *power < 0 { 100 } else { 1 }, unit))?,
                    );
                    continue;
                }
                Column::Delay => LONGEST_DELAY.as_nanos(),
                Column::Rate => u64::MAX,
            };
            let (value, changed) = whole(reader, cell, *power)
                .filter(|(value, _)| *value <= limit)
                .ok_or_else(|| fault(reader, cell, (limit as f64 / scale) as u64, unit))?;
            is_rounded |= changed;
            values.push(value as f64);
        }
        Ok(Values { time: Duration::from_nanos(time), values, is_rounded })
    }

    /// Why the values of a line are hardly in the units of their columns: times since 1970 in another unit, a rate that no link
    /// has.
    pub(super) fn absurd(&self, values: &Values) -> Option<String> {
        const MOST_RATE: f64 = 1e12;
        let (_, unit, power) = self.time.1;
        let time = values.time.as_nanos() / 10u64.pow(power.unsigned_abs());
        if unit == "ms" && (1_000_000_000..100_000_000_000).contains(&time) {
            return Some(format!("{time} ms are more likely seconds since 1970"));
        }
        let mut rates =
            self.columns.iter().zip(&values.values).filter(|((_, column, _), _)| *column == Column::Rate);
        let (_, rate) = rates.find(|(_, rate)| **rate > MOST_RATE)?;
        Some(format!("{} Mbit/s are more than any link has", rate / 1e6))
    }

    /// What a line should be.
    pub(super) fn expected(&self) -> String {
        let words = |(_, column, (_, unit, _)): &(usize, Column, Unit)| match column {
            Column::Rate => format!("a rate in {unit}"),
            Column::Delay => format!("a delay in {unit}"),
            Column::Loss if *unit == "%" => "a loss from 0 to 100 %".to_owned(),
            Column::Loss => "a loss from 0 to 1".to_owned(),
        };
        let values: Vec<String> = self.columns.iter().map(words).collect();
        format!("a time in {}, {}", self.time.1.1, values.join(", "))
    }
}

/// The column that is named as times, in a unit that is not read or in none, where no column has times.
fn untimed(reader: &Reader<'_>) -> Option<usize> {
    const WORDS: [&str; 4] = ["time", "timestamp", "elapsed", "t"];
    let is_time = |name: &&str| WORDS.iter().any(|word| plain(name) == *word || is_other_unit(name, word));
    let read = reader.columns(&TIMES.map(|(name, ..)| name)).ok()?;
    reader.names().iter().position(is_time).filter(|_| read.iter().all(Option::is_none))
}

fn whole<'a>(reader: &mut Reader<'a>, cell: &'a str, power: i32) -> Option<(u64, bool)> {
    reader.scaled(cell, power.unsigned_abs())
}

/// What is wrong with a cell that is not a number from 0 to `most`.
fn fault<'a>(reader: &mut Reader<'a>, cell: &'a str, most: u64, unit: &str) -> String {
    reader.fault(cell).unwrap_or_else(|| {
        let blank = if unit.is_empty() { "" } else { " " };
        format!("{} is above {most}{blank}{unit}", units::table::quoted(cell))
    })
}

fn plural(column: Column) -> &'static str {
    match column {
        Column::Rate => "rates",
        Column::Delay => "delays",
        Column::Loss => "losses",
    }
}
