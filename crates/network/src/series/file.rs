//! The values of a series, and their form as CSV.

use crate::rate::{MAX_LINES, SeriesError, without_mark};
use std::fmt::Write;
use units::{Duration, Rate, Time};

/// The maximum delay in a series.
pub const LONGEST_DELAY: Duration = Duration::from_secs(3600);

/// Rate, delay and loss over time. The columns that it has are as long as the list of times. A line holds until the next
/// one; the last one as long as the one before it, and one alone for a second.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    times: Vec<Time>,
    rates: Option<Vec<Rate>>,
    delays: Option<Vec<Duration>>,
    losses: Option<Vec<f64>>,
}

/// A column of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Rate,
    Delay,
    Loss,
}

/// The columns by their names in the header.
const COLUMNS: [(&str, Column, &str); 3] = [
    ("rate_mbps", Column::Rate, "a rate in Mbit/s"),
    ("delay_ms", Column::Delay, "a delay in ms, at most 3600000"),
    ("loss", Column::Loss, "a loss from 0 to 1"),
];

impl Series {
    /// Reads such a file. Empty lines at the end are allowed.
    ///
    /// # Errors
    /// If the header is not one, a cell is not such a value, times do not rise from zero on, there is no line or more than
    /// [`MAX_LINES`], or there are rates and all are zero.
    pub fn parse(text: &str) -> Result<Series, SeriesError> {
        let fail = |line: usize, problem: String| Err(SeriesError { line, problem });
        let lines = without_mark(text).trim_end().lines().map(|line| line.trim_end_matches('\r'));
        let mut lines = (1..).zip(lines);
        let header = lines.next().map_or("", |(_, line)| line);
        let Some((unit, columns)) = header_of(header) else {
            let expected =
                "\"time_ms\" or \"time_s\", then one or more of rate_mbps, delay_ms, loss, with commas";
            return fail(1, format!("found {:?}, expected {expected}", beginning(header)));
        };
        let mut series = Series::with(&columns);
        for (number, line) in lines {
            let Some(time) = series.push(line, unit, &columns) else {
                let values: Vec<&str> = columns.iter().map(|column| expected(*column)).collect();
                let expected = format!("a time in {unit}, {}", values.join(", "));
                return fail(number, format!("found {:?}, expected {expected}", beginning(line)));
            };
            match series.times.last() {
                None if time != Time::ZERO => {
                    return fail(number, format!("the first time is {time}, expected 0"));
                }
                Some(before) if time <= *before => {
                    let problem = format!("{time} does not come after {before}; times must rise");
                    return fail(number, problem);
                }
                _ if series.times.len() >= MAX_LINES => {
                    return fail(number, format!("more than {MAX_LINES} lines"));
                }
                _ => series.times.push(time),
            }
        }
        match series.times.as_slice() {
            [] => return fail(2, "there is no line after the header".to_owned()),
            // The last line holds as long as the one before it, and that must end before time does.
            [.., before, last] if last.as_nanos().checked_add(last.since(*before).as_nanos()).is_none() => {
                let problem = format!("the last line, at {last}, holds for too long");
                return fail(series.times.len() + 1, problem);
            }
            _ => {}
        }
        if series.rates.as_ref().is_some_and(|rates| rates.iter().all(|rate| *rate == Rate::ZERO)) {
            return fail(2, "all rates are zero: nothing is ever sent".to_owned());
        }
        Ok(series)
    }

    /// An empty series with these columns.
    fn with(columns: &[Column]) -> Series {
        let has = |column| columns.contains(&column);
        Series {
            times: Vec::new(),
            rates: has(Column::Rate).then(Vec::new),
            delays: has(Column::Delay).then(Vec::new),
            losses: has(Column::Loss).then(Vec::new),
        }
    }

    /// Reads the values of a line, and returns its time.
    fn push(&mut self, line: &str, unit: &str, columns: &[Column]) -> Option<Time> {
        let mut cells = line.split(',');
        let time: Duration = quantity(cells.next()?, unit)?;
        for column in columns {
            let cell = cells.next()?;
            match (column, &mut self.rates, &mut self.delays, &mut self.losses) {
                (Column::Rate, Some(rates), ..) => rates.push(quantity(cell, "Mbit/s")?),
                (Column::Delay, _, Some(delays), _) => {
                    let delay: Duration = quantity(cell, "ms")?;
                    delays.push(Some(delay).filter(|delay| *delay <= LONGEST_DELAY)?);
                }
                (Column::Loss, .., Some(losses)) => {
                    let loss: f64 = plain(cell)?.parse().ok()?;
                    losses.push(Some(loss).filter(|loss| *loss <= 1.0)?);
                }
                _ => return None,
            }
        }
        cells.next().is_none().then_some(Time::ZERO + time)
    }

    /// A series of all columns in equal steps: the rate in Mbit/s, the delay in milliseconds, the loss. Rates are rounded to
    /// kbit/s, delays to microseconds and losses to four decimals, so that a file has the same.
    pub(super) fn of_steps(step: Duration, values: impl Iterator<Item = (f64, f64, f64)>) -> Series {
        let mut series = Series::with(&[Column::Rate, Column::Delay, Column::Loss]);
        for (number, (rate, delay, loss)) in (0..).zip(values) {
            series.times.push(Time::ZERO + step * number);
            if let Some(rates) = &mut series.rates {
                rates.push(Rate::from_bits_per_sec((rate * 1e3).round() as u64 * 1000));
            }
            if let Some(delays) = &mut series.delays {
                delays.push(Duration::from_micros((delay * 1e3).round() as u64));
            }
            if let Some(losses) = &mut series.losses {
                losses.push((loss * 1e4).round() / 1e4);
            }
        }
        series
    }

    /// From when on each line holds.
    pub fn times(&self) -> &[Time] {
        &self.times
    }
    /// The rates, if it has them.
    pub fn rates(&self) -> Option<&[Rate]> {
        self.rates.as_deref()
    }
    /// The delays of one way, if it has them.
    pub fn delays(&self) -> Option<&[Duration]> {
        self.delays.as_deref()
    }
    /// The probabilities of loss, if it has them.
    pub fn losses(&self) -> Option<&[f64]> {
        self.losses.as_deref()
    }

    /// Until when the last line holds.
    pub fn duration(&self) -> Duration {
        match self.times.as_slice() {
            [.., before, last] => last.since(Time::ZERO) + last.since(*before),
            _ => Duration::from_secs(1),
        }
    }

    /// Until when the last rate above zero holds; without rates, the last line.
    pub fn alive(&self) -> Duration {
        let last = self.rates.as_ref().and_then(|rates| rates.iter().rposition(|rate| *rate != Rate::ZERO));
        let end = last.and_then(|last| self.times.get(last + 1));
        end.map_or(self.duration(), |end| end.since(Time::ZERO))
    }

    /// Its text as a file.
    pub fn to_csv(&self) -> String {
        let mut out = "time_ms".to_owned();
        for (name, column, _) in COLUMNS {
            let has = match column {
                Column::Rate => self.rates.is_some(),
                Column::Delay => self.delays.is_some(),
                Column::Loss => self.losses.is_some(),
            };
            if has {
                let _ = write!(out, ",{name}");
            }
        }
        out.push('\n');
        for (line, time) in self.times.iter().enumerate() {
            out.push_str(&decimal(time.as_nanos(), 1_000_000));
            if let Some(rates) = &self.rates {
                let _ = write!(out, ",{}", decimal(rates[line].as_bits_per_sec(), 1_000_000));
            }
            if let Some(delays) = &self.delays {
                let _ = write!(out, ",{}", decimal(delays[line].as_nanos(), 1_000_000));
            }
            if let Some(losses) = &self.losses {
                let _ = write!(out, ",{}", losses[line]);
            }
            out.push('\n');
        }
        out
    }
}

/// The unit of time and the columns of a header.
fn header_of(header: &str) -> Option<(&'static str, Vec<Column>)> {
    let mut names = header.split(',');
    let time = names.next();
    let unit = ["s", "ms"].into_iter().find(|unit| time == Some(&format!("time_{unit}")))?;
    let mut columns = Vec::new();
    for name in names {
        let (_, column, _) = COLUMNS.iter().find(|(known, ..)| *known == name)?;
        if columns.contains(column) {
            return None;
        }
        columns.push(*column);
    }
    (!columns.is_empty()).then_some((unit, columns))
}

fn expected(column: Column) -> &'static str {
    COLUMNS.iter().find(|(_, known, _)| *known == column).map_or("", |(.., expected)| expected)
}

/// The beginning of a line, for errors.
fn beginning(line: &str) -> String {
    line.chars().take(40).collect()
}

/// A number without sign and exponent.
fn plain(cell: &str) -> Option<&str> {
    cell.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.').then_some(cell)
}

fn quantity<T: std::str::FromStr>(cell: &str, unit: &str) -> Option<T> {
    format!("{} {unit}", plain(cell)?).parse().ok()
}

/// A number of parts of a unit as a decimal of the unit; `scale` is a power of ten.
fn decimal(value: u64, scale: u64) -> String {
    let (whole, rest) = (value / scale, value % scale);
    let digits = format!("{rest:0width$}", width = scale.ilog10() as usize);
    match digits.trim_end_matches('0') {
        "" => whole.to_string(),
        digits => format!("{whole}.{digits}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_in_any_order_and_the_text_is_written_as_it_is_read() {
        let text = "time_ms,rate_mbps,delay_ms,loss\n0,12,20.5,0\n1.5,0,20.5,0.25\n10,0.5,7,1\n";
        let series = Series::parse(text).unwrap();
        assert_eq!(series.to_csv(), text);
        assert_eq!(
            series.duration(),
            Duration::from_micros(18_500),
            "the last line as long as the one before"
        );
        assert_eq!(series.delays().unwrap()[0], Duration::from_micros(20_500));
        let turned = Series::parse(
            "time_s,loss,delay_ms,rate_mbps\n0,0,20.5,12\n0.0015,0.25,20.5,0\n0.01,1,7,0.5\r\n\n",
        );
        assert_eq!(turned.unwrap(), series);
        let delay = Series::parse("time_s,delay_ms\n0,3\n").unwrap();
        assert_eq!(
            (delay.rates(), delay.duration(), delay.alive()),
            (None, Duration::from_secs(1), Duration::from_secs(1))
        );
        let silent = Series::parse("time_s,rate_mbps\n0,3\n1,0\n5,0\n").unwrap();
        assert_eq!((silent.alive(), silent.duration()), (Duration::from_secs(1), Duration::from_secs(9)));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let error = |text: &str| Series::parse(text).unwrap_err().to_string();
        for header in
            ["", "time_ms", "time_ms,", "time_ms,rate", "rate_mbps,time_ms", "time_ms,loss,loss", "0,1"]
        {
            assert!(
                error(&format!("{header}\n0,1\n"))
                    .starts_with(&format!("1: found {header:?}, expected \"time_ms\""))
            );
        }
        assert_eq!(error("time_ms,loss\n"), "2: there is no line after the header");
        assert_eq!(error("time_ms,loss\n1,0\n"), "2: the first time is 1 ms, expected 0");
        assert_eq!(
            error("time_ms,loss\n0,0\n2,0\n2,1\n"),
            "4: 2 ms does not come after 2 ms; times must rise"
        );
        let marked = Series::parse("\u{feff}time_ms,rate_mbps\n0,20\n5,0\n").unwrap();
        assert_eq!(Ok(marked), Series::parse("time_ms,rate_mbps\n0,20\n5,0\n"));
        assert_eq!(error("time_ms,rate_mbps\n0,0\n1,0\n"), "2: all rates are zero: nothing is ever sent");
        assert_eq!(
            error("time_ms,loss,delay_ms\n0,0,1\n1,1.5,1\n"),
            "3: found \"1,1.5,1\", expected a time in ms, a loss from 0 to 1, a delay in ms, at most 3600000"
        );
        for line in [
            "",
            "1",
            "1,",
            "1,1",
            "1,1,",
            "1,1,1,1",
            "-1,1,1",
            "1,-1,1",
            "1,1,-1",
            "1,1e3,1",
            "1,nan,1",
            "1,1,3600001",
        ] {
            let text = format!("time_ms,loss,delay_ms\n0,1,1\n{line}\n9,1,1\n");
            assert!(error(&text).starts_with("3: found "), "{line}");
        }
        assert!(error("time_s,loss\n0,1\n18446744073.709551615,1\n").starts_with("3: the last line, at "));
    }
}
