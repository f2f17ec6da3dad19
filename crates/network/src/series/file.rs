//! The values of a series, and their form as CSV.

use crate::rate::{Column, SeriesError, Table, TableKind};
use std::fmt::Write;
use units::{Duration, Rate, Time};

/// Rate, delay and loss over time. The columns that it has are as long as the list of times. A line holds until the next
/// one; the last one as long as the one before it, and one alone for a second.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    times: Vec<Time>,
    rates: Option<Vec<Rate>>,
    delays: Option<Vec<Duration>>,
    losses: Option<Vec<f64>>,
}

/// The columns in their order in a file that is written.
const COLUMNS: [(&str, Column); 3] =
    [("rate_mbps", Column::Rate), ("delay_ms", Column::Delay), ("loss", Column::Loss)];

/// Times, and one or more of the others; without names seconds and Mbit/s.
pub(crate) const TABLE: TableKind =
    TableKind { columns: &[Column::Rate, Column::Delay, Column::Loss], unnamed: ["time_s", "rate_mbps"] };

impl Series {
    /// Reads such a file.
    ///
    /// # Errors
    /// If it is not a table of times and of rates, delays or losses, if the last line holds for too long, or if there are
    /// rates and all are zero.
    pub fn parse(text: &str) -> Result<Series, SeriesError> {
        let table = Table::parse(text, TABLE)?;
        let fail = |problem: String| Err(SeriesError { line: table.last_line, problem });
        let mut series = Series { times: table.times, ..Series::default() };
        for (column, values) in table.columns {
            match column {
                Column::Rate => {
                    let rate = |value: f64| Rate::from_bits_per_sec(value as u64);
                    series.rates = Some(values.into_iter().map(rate).collect());
                }
                Column::Delay => {
                    let delay = |value: f64| Duration::from_nanos(value as u64);
                    series.delays = Some(values.into_iter().map(delay).collect());
                }
                Column::Loss => series.losses = Some(values),
            }
        }
        // The last line holds as long as the one before it, and that must end before time does.
        if let [.., before, last] = series.times[..]
            && last.as_nanos().checked_add(last.since(before).as_nanos()).is_none()
        {
            return fail(format!("the last line, at {last}, holds for too long"));
        }
        if series.rates.as_ref().is_some_and(|rates| rates.iter().all(|rate| *rate == Rate::ZERO)) {
            return fail("all rates are zero: nothing is ever sent".to_owned());
        }
        Ok(series)
    }

    /// What was skipped, joined and rounded in such a file; nothing if it is malformed.
    pub fn notes(text: &str) -> Vec<String> {
        Table::parse(text, TABLE).map(|table| table.notes()).unwrap_or_default()
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
        for (name, column) in COLUMNS {
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
        for header in ["time_ms", "time_ms,", "time_ms,rate", "note,loss", "0,3,2"] {
            assert!(
                error(&format!("{header}\n0,1\n"))
                    .starts_with(&format!("1: found {header:?}, expected names of columns: one of time_ms"))
            );
        }
        assert_eq!(error("time_ms,loss\n"), "2: there is no line after the header");
        assert_eq!(
            error("time_ms,loss\n0,0\n2,0\n1,1\n"),
            "4: 1 ms comes after 2 ms; times must not decrease"
        );
        let marked = Series::parse("\u{feff}time_ms,rate_mbps\n0,20\n5,0\n").unwrap();
        assert_eq!(Ok(marked), Series::parse("time_ms,rate_mbps\n0,20\n5,0\n"));
        assert_eq!(error("time_ms,rate_mbps\n0,0\n1,0\n"), "3: all rates are zero: nothing is ever sent");
        assert_eq!(
            error("time_ms,loss,delay_ms\n0,0,1\n1,1.5,1\n"),
            "3: found \"1,1.5,1\": \"1.5\" is above 1; expected a time in ms, a loss from 0 to 1, a delay in ms"
        );
        for line in [
            "1",
            "1,",
            "1,1",
            "1,1,1,1",
            "-1,1,1",
            "1,-1,1",
            "1,1,-1",
            "1,1e3,1",
            "1,nan,1",
            "1,1,3600001",
            "1,1,3.7e6",
        ] {
            let text = format!("time_ms,loss,delay_ms\n0,1,1\n{line}\n9,1,1\n");
            assert!(error(&text).starts_with("3: found "), "{line}");
        }
        assert!(error("time_s,loss\n0,1\n18446744073.709551615,1\n").starts_with("3: the last line, at "));
    }
}
