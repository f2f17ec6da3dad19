//! Values over time from a text: rates, delays, losses.
//!
//! [`units::table`] reads the lines. Without names of columns, a file has those that its caller says, such as seconds and
//! Mbit/s in the traces of Pensieve and its successors. Times count from the first one. Lines of the same time become
//! their mean. Values that are finer than the simulator's are rounded.

use super::error::SeriesError;
use units::table::{Line, Reader};
use units::{Duration, Time};

/// The most lines that are taken.
pub const MAX_LINES: usize = 10_000_000;

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

/// The units of time by the names of the column: the power of ten that makes nanoseconds of them.
const TIMES: [(&str, &str, u32); 4] =
    [("time_ms", "ms", 6), ("time_s", "s", 9), ("time_us", "us", 3), ("time_ns", "ns", 0)];

/// The other columns by their names, with their units, and the power of ten that makes bit/s or nanoseconds of them.
const COLUMNS: [(&str, Column, &str, u32); 5] = [
    ("rate_mbps", Column::Rate, "Mbit/s", 6),
    ("rate_kbps", Column::Rate, "kbit/s", 3),
    ("rate_bps", Column::Rate, "bit/s", 0),
    ("delay_ms", Column::Delay, "ms", 6),
    ("loss", Column::Loss, "", 0),
];

/// What a kind of files has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    /// Its columns beside the time, of which at least one must be there. Others are skipped.
    pub(crate) columns: &'static [Column],
    /// The names of the columns of a file without names.
    pub(crate) unnamed: [&'static str; 2],
}

/// How many lines have something, and the first of them.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    count: usize,
    first: usize,
}

impl Tally {
    fn add(&mut self, line: usize) {
        if self.count == 0 {
            self.first = line;
        }
        self.count += 1;
    }

    fn note(self, of: usize, words: &str) -> Option<String> {
        let Tally { count, first } = self;
        (count > 0).then(|| format!("{count} of {of} lines {words}; the first is line {first}"))
    }
}

/// Times, which rise from zero on, and the values of each column.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) times: Vec<Time>,
    pub(crate) columns: Vec<(Column, Vec<f64>)>,
    /// The number of the last line.
    pub(crate) last_line: usize,
    /// The number of lines with the last time.
    same: usize,
    lines: usize,
    skipped: Option<String>,
    rounded: Tally,
    joined: Tally,
}

/// What the columns of a file mean.
#[derive(Debug)]
struct Form {
    time: usize,
    time_unit: (&'static str, u32),
    /// By their order in the file: the place, the meaning, and the unit.
    columns: Vec<(usize, Column, &'static str, u32)>,
    /// One more than the last place.
    needed: usize,
}

/// The time and the values of a line, and whether one of them was rounded.
struct Values {
    time: Duration,
    values: Vec<f64>,
    is_rounded: bool,
}

impl Table {
    /// Reads a file of this kind.
    ///
    /// # Errors
    /// The first line that is not one, with what would be right; or if there is none, or more than [`MAX_LINES`].
    pub(crate) fn parse(text: &str, kind: Kind) -> Result<Table, SeriesError> {
        let mut reader = Reader::new(text);
        let first = reader.first();
        let form = Form::of(&mut reader, kind).map_err(|problem| fail(first.number, problem))?;
        let columns = form.columns.iter().map(|(_, column, ..)| (*column, Vec::new())).collect();
        let skipped = reader.skipped(&names(kind).collect::<Vec<_>>());
        let mut table = Table { columns, last_line: first.number, skipped, ..Table::default() };
        let (mut origin, mut cells) = (None, Vec::new());
        while let Some(line) = reader.next(&mut cells) {
            let wrong =
                || fail(line.number, format!("found {}, expected {}", line.quoted(), form.expected()));
            let values = form.values(&mut reader, &cells).ok_or_else(wrong)?;
            let (time, origin) = (values.time, *origin.get_or_insert(values.time));
            if table.lines >= MAX_LINES {
                return Err(fail(line.number, format!("more than {MAX_LINES} lines")));
            }
            if time < origin {
                let problem = format!("{time} comes after {origin}; times must not decrease");
                return Err(fail(line.number, problem));
            }
            table.push(line, time - origin, &values)?;
        }
        if table.times.is_empty() {
            return Err(fail(first.number + 1, "there is no line after the header".to_owned()));
        }
        Ok(table)
    }

    /// What was skipped, joined and rounded.
    pub(crate) fn notes(&self) -> Vec<String> {
        let joined = self.joined.note(self.lines, "with the time of the line before: the mean is taken");
        let rounded = self.rounded.note(self.lines, "rounded to 1 bit/s and 1 ns");
        [self.skipped.clone(), joined, rounded].into_iter().flatten().collect()
    }

    /// Adds a line.
    fn push(&mut self, line: Line<'_>, after: Duration, values: &Values) -> Result<(), SeriesError> {
        let time = Time::ZERO + after;
        self.lines += 1;
        self.last_line = line.number;
        if values.is_rounded {
            self.rounded.add(line.number);
        }
        match self.times.last() {
            Some(before) if time < *before => {
                let problem = format!("{time} comes after {before}; times must not decrease");
                return Err(fail(line.number, problem));
            }
            Some(before) if time == *before => {
                self.same += 1;
                self.joined.add(line.number);
                let count = self.same as f64;
                for ((column, known), value) in self.columns.iter_mut().zip(&values.values) {
                    if let Some(last) = known.last_mut() {
                        let mean = *last + (value - *last) / count;
                        *last = if *column == Column::Loss { mean } else { mean.round() };
                    }
                }
            }
            _ => {
                self.same = 1;
                self.times.push(time);
                self.columns
                    .iter_mut()
                    .zip(&values.values)
                    .for_each(|((_, known), value)| known.push(*value));
            }
        }
        Ok(())
    }
}

fn fail(line: usize, problem: String) -> SeriesError {
    SeriesError { line, problem }
}

/// The names of the columns of a kind.
fn names(kind: Kind) -> impl Iterator<Item = &'static str> {
    let others = COLUMNS.iter().filter(move |(_, column, ..)| kind.columns.contains(column));
    TIMES.iter().map(|(name, ..)| *name).chain(others.map(|(name, ..)| *name))
}

impl Form {
    /// The form of a file by its first line.
    fn of(reader: &mut Reader<'_>, kind: Kind) -> Result<Form, String> {
        let is_named = |reader: &Reader<'_>| {
            reader
                .columns(&names(kind).collect::<Vec<_>>())
                .is_ok_and(|found| found.iter().any(Option::is_some))
        };
        if !reader.has_header() && reader.count() == 2 && !is_named(reader) {
            reader.name(&kind.unnamed);
        }
        if let Some(form) = Form::named(reader, kind)? {
            return Ok(form);
        }
        let known: Vec<&str> = names(kind).skip(TIMES.len()).collect();
        let only = match known.len() {
            1 => "",
            2..4 => "one of ",
            _ => "one or more of ",
        };
        // One number alone: a Mahimahi trace in the place of CSV.
        let is_trace = reader.count() == 1 && !reader.has_header() && kind.columns.contains(&Column::Rate);
        Err(format!(
            "found {}, expected names of columns: time_ms or time_s, and {only}{}{}",
            reader.first().quoted(),
            known.join(", "),
            if is_trace { "; Mahimahi is for type = \"trace\"" } else { "" }
        ))
    }

    /// The form by the names of the columns; `None` if there is no time, or no value.
    fn named(reader: &Reader<'_>, kind: Kind) -> Result<Option<Form>, String> {
        let mut times = reader
            .columns(&TIMES.map(|(name, ..)| name))?
            .into_iter()
            .zip(TIMES)
            .filter_map(|(place, (name, unit, power))| Some((place?, name, unit, power)));
        let Some((time, name, unit, power)) = times.next() else { return Ok(None) };
        if let Some((_, other, ..)) = times.next() {
            return Err(format!("two columns of times, {name} and {other}; expected one"));
        }
        let mut columns: Vec<(usize, Column, &'static str, u32)> = Vec::new();
        for (place, (name, column, unit, power)) in
            reader.columns(&COLUMNS.map(|(name, ..)| name))?.into_iter().zip(COLUMNS)
        {
            let Some(place) = place.filter(|_| kind.columns.contains(&column)) else { continue };
            if columns.iter().any(|(_, known, ..)| *known == column) {
                return Err(format!("a second column of rates, {name}; expected one"));
            }
            columns.push((place, column, unit, power));
        }
        columns.sort_unstable_by_key(|(place, ..)| *place);
        let Some((last, ..)) = columns.last() else { return Ok(None) };
        Ok(Some(Form { time, time_unit: (unit, power), needed: time.max(*last) + 1, columns }))
    }

    /// The values of a line.
    fn values<'a>(&self, reader: &mut Reader<'a>, cells: &[&'a str]) -> Option<Values> {
        if cells.len() < self.needed || cells.len() > reader.count() {
            return None;
        }
        let (time, mut is_rounded) = reader.scaled(cells[self.time], self.time_unit.1)?;
        let mut values = Vec::with_capacity(self.columns.len());
        for (place, column, _, power) in &self.columns {
            let cell = cells[*place];
            if *column == Column::Loss {
                values.push(reader.real(cell).filter(|loss| (0.0..=1.0).contains(loss))?);
                continue;
            }
            let (value, changed) = reader.scaled(cell, *power)?;
            if *column == Column::Delay && value > LONGEST_DELAY.as_nanos() {
                return None;
            }
            is_rounded |= changed;
            values.push(value as f64);
        }
        Some(Values { time: Duration::from_nanos(time), values, is_rounded })
    }

    /// What a line should be.
    fn expected(&self) -> String {
        let words = |(_, column, unit, _): &(usize, Column, &str, u32)| match column {
            Column::Rate => format!("a rate in {unit}"),
            Column::Delay => format!("a delay in {unit}, at most 3600000"),
            Column::Loss => "a loss from 0 to 1".to_owned(),
        };
        let values: Vec<String> = self.columns.iter().map(words).collect();
        format!("a time in {}, {}", self.time_unit.0, values.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Kind =
        Kind { columns: &[Column::Rate, Column::Delay, Column::Loss], unnamed: ["time_s", "rate_mbps"] };

    /// Milliseconds and values of a file.
    fn read(text: &str) -> (Vec<u64>, Vec<(Column, Vec<f64>)>) {
        let table = Table::parse(text, ALL).unwrap_or_else(|error| panic!("{text}: {error}"));
        (table.times.iter().map(|time| time.as_nanos() / 1_000_000).collect(), table.columns)
    }

    /// The same values as people, tools and spreadsheets write them.
    #[test]
    fn the_same_is_read_from_every_form() {
        let expected = (vec![0, 2_000, 5_500], vec![(Column::Rate, vec![20e6, 4_500_000.0, 0.0])]);
        for text in [
            "time_ms,rate_mbps\n0,20\n2000,4.5\n5500,0\n",
            "\u{feff}time_ms,rate_mbps\r\n0,20\r\n2000,4.5\r\n5500,0\r\n",
            "time_ms, rate_mbps \n0, 20\n 2000 ,4.5\n\n5500,0\n\n\n",
            "# what it is\ntime_s,rate_kbps\n0,20000\n# an outage\n2,4500\n5.5,0",
            "Time_s;Rate_Mbps\n0;20\n2;4,5\n5,5;0\n",
            "\"time_s\";\"rate_mbps\"\n\"0\";\"20\"\n\"2\";\"4,5\"\n\"5,5\";\"0\"\n",
            "time_s\trate_bps\n0\t20000000\n2\t4500000\n5.5\t0\n",
            "0 20\n2 4.5\n5.5 0\n",
            "0.0\t20\n2.0\t4.5\n5.5\t0.0\n",
            "0,20\n2,4.5\n5.5,0\n",
            "1.000000000000000000e+00 2.000000000000000000e+01\n3e0 4.5E0\n650e-2 0e0\n",
            "# time_ms,rate_kbps\n0,2e4\n2e3,4.5e3\n5.5e3,0\n",
            "note,rate_mbps,time_s\na,20,0\n\"b, c\",4.5,2\n,0,5.5\n",
            ",Time (s),Rate (Mbps),note\n0,0,20,x\n1,2,4.5\n2,5.5,-0.0\n",
            "time_us,rate_mbps\r0,20\r2000000,4.5\r5500000,0\r",
            "1583325061.5 20\n1583325063.5 4.5\n1583325067 0\n",
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        assert_eq!(
            read("time_ms,rate_mbps\n0,20,\n2000,4.5,,\n5500,0\n"),
            expected,
            "empty cells of a spreadsheet"
        );
    }

    #[test]
    fn lines_of_the_same_time_become_their_mean() {
        let (times, columns) =
            read("time_s,rate_mbps,delay_ms,loss\n0,3,10,0\n1,2,10,0\n1,4,20,0.5\n1,9,30,1\n2,1,5,0\n");
        assert_eq!(times, [0, 1_000, 2_000]);
        let values: Vec<&[f64]> = columns.iter().map(|(_, values)| values.as_slice()).collect();
        assert_eq!(values, [&[3e6, 5e6, 1e6], &[10e6, 20e6, 5e6], &[0.0, 0.5, 0.0]]);
    }

    #[test]
    fn the_place_of_a_mistake_is_its_line() {
        let error = |text: &str| Table::parse(text, ALL).unwrap_err().to_string();
        let expected = "expected a time in s, a rate in Mbit/s";
        assert_eq!(error("# c\n\n0 1\n\n1 x\n"), format!("5: found \"1 x\", {expected}"));
        assert_eq!(error("time_s;rate_mbps\n0;1\n1;1,5,5\n"), format!("3: found \"1;1,5,5\", {expected}"));
        assert_eq!(error("time_s;rate_mbps\n0;1,5\n1;1.000\n"), format!("3: found \"1;1.000\", {expected}"));
        assert_eq!(error("3 1\n2 1\n"), "2: 2 s comes after 3 s; times must not decrease");
        assert!(
            error("1 2 3\n")
                .starts_with("1: found \"1 2 3\", expected names of columns: time_ms or time_s, and one")
        );
        assert_eq!(
            error("time_s,rate_mbps,rate_bps\n"),
            "1: a second column of rates, rate_bps; expected one"
        );
        assert_eq!(
            error("time_s,time_ms,loss\n"),
            "1: two columns of times, time_ms and time_s; expected one"
        );
        assert_eq!(error("time_s,loss,Loss\n"), "1: column \"loss\" twice");
        assert!(error("# time_ms x\n1 2\n").starts_with("2: found \"1 2\", expected names of columns"));
        for cell in
            ["1e999", "-1", "-1e-30", "nan", "NaN", "inf", "-inf", "1e15", "", "1.5,5", "0x1", "1_0", "2 %"]
        {
            for line in [format!("1;{cell}"), format!("{cell};1")] {
                let found = error(&format!("time_s;rate_mbps\n0;1\n{line}\n"));
                assert!(found.starts_with("3: found "), "{line}: {found}");
            }
        }
    }

    /// Pensieve's own traces have 15 decimals; numpy writes 18, and an exponent.
    #[test]
    fn values_that_are_too_fine_are_rounded_and_it_is_told() {
        let table = Table::parse("0.0 4.03768755221\n0.500 3.5\n1.0000000004 2.0\n", ALL).unwrap();
        assert_eq!(table.columns[0].1, [4_037_688.0, 3_500_000.0, 2_000_000.0]);
        assert_eq!(table.times[2], Time::from_nanos(1_000_000_000));
        assert_eq!(table.notes(), ["2 of 3 lines rounded to 1 bit/s and 1 ns; the first is line 1"]);
        let kilo = Table::parse("time_ms,rate_kbps,x\n0,1.2345\n1,2\n1,3\n", ALL).unwrap();
        assert_eq!(kilo.columns[0].1, [1_235.0, 2_500.0]);
        assert_eq!(
            kilo.notes(),
            [
                "skipped a column that is not needed: \"x\"",
                "1 of 3 lines with the time of the line before: the mean is taken; the first is line 4",
                "1 of 3 lines rounded to 1 bit/s and 1 ns; the first is line 2",
            ]
        );
        assert_eq!(Table::parse("0 1\n", ALL).unwrap().notes(), [""; 0]);
    }
}
