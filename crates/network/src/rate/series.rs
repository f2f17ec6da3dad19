//! Rates over time out of a file: CSV with a time and a rate in each line.

use super::Server;
use super::changes::Changes;
use super::columns::{Column, Kind as TableKind};
use super::error::{RateError, SeriesError};
use super::offset::Begin;
use super::table::Table;
use units::parameter::{File, Options, Row};
use units::{Duration, Rate, Time};

/// The options of a table of rates.
#[derive(Debug, Clone, Options)]
struct SeriesOptions {
    /// CSV of times and rates, with the header time_ms,rate_mbps: each rate holds until the next line
    #[option(example = "time_ms,rate_mbps\n0,20\n5,0\n9,7\n")]
    file: File,
    /// whether it starts again at its end; otherwise its last rate stays
    #[option(default = true)]
    circle: bool,
    #[options]
    begin: Begin,
}

/// Times and rates; without names seconds and Mbit/s, as in the traces of Pensieve.
pub(crate) const TABLE: TableKind = TableKind { columns: &[Column::Rate], unnamed: ["time_s", "rate_mbps"] };

pub(crate) const ROW: Row<super::Build> = Row {
    name: "series",
    about: "rates over time from a file, repeated without end; a packet in transmission during a change continues at the new rate",
    parameters: SeriesOptions::PARAMETERS,
    build: &|arguments, stream| {
        let SeriesOptions { file, circle, begin } = SeriesOptions::of(arguments);
        let fail = |error| RateError::Series { path: file.path.clone(), error };
        let series = Series::parse(&file.text).map_err(fail)?;
        let circle = circle.then(|| series.duration());
        // After the last rate above zero nothing is sent, unless it starts again.
        let lasts = if circle.is_some() { series.duration() } else { series.alive() };
        let from = begin.offset(lasts, stream)?;
        Changes::from(series.steps(), circle, from).map(Server::Changes).map_err(RateError::Changes)
    },
};

/// Rates over time. Each holds until the next one; the last one as long as the one before it, and one alone for a second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    steps: Vec<(Time, Rate)>,
}

impl Series {
    /// Reads such a file.
    ///
    /// # Errors
    /// If it is not a table of times and rates, if the last line holds for too long, or if no rate is above zero.
    pub fn parse(text: &str) -> Result<Series, SeriesError> {
        let table = Table::parse(text, TABLE)?;
        let fail = |line: usize, problem: String| Err(SeriesError { line, problem });
        let rates = table.columns.iter().flat_map(|(_, rates)| rates);
        let rates = rates.map(|rate| Rate::from_bits_per_sec(*rate as u64));
        let steps: Vec<(Time, Rate)> = table.times.into_iter().zip(rates).collect();
        // The last rate holds as long as the one before it, and that must end before time does.
        if let [.., (before, _), (last, _)] = steps.as_slice()
            && last.as_nanos().checked_add(last.since(*before).as_nanos()).is_none()
        {
            return fail(table.last_line, format!("the last line, at {last}, holds for too long"));
        }
        if steps.iter().all(|(_, rate)| *rate == Rate::ZERO) {
            return fail(table.last_line, "all rates are zero: nothing is ever sent".to_owned());
        }
        Ok(Series { steps })
    }

    /// From when on which rate holds.
    pub fn steps(&self) -> &[(Time, Rate)] {
        &self.steps
    }

    /// Until when the last rate above zero holds.
    pub fn alive(&self) -> Duration {
        match self.steps.iter().rposition(|(_, rate)| *rate != Rate::ZERO) {
            Some(last) if last + 1 < self.steps.len() => self.steps[last + 1].0.since(Time::ZERO),
            _ => self.duration(),
        }
    }

    /// Until when the last rate holds.
    pub fn duration(&self) -> Duration {
        match self.steps.as_slice() {
            [.., (before, _), (last, _)] => last.since(Time::ZERO) + last.since(*before),
            _ => Duration::from_secs(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::Generator;
    use units::Size;
    use units::parameter::{Arguments, Component, File, Value};

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// A millisecond of 12 Mbit/s and one of nothing.
    fn build(circle: bool, offset: &'static str, seed: u64) -> crate::rate::Server {
        let file = File { path: "a.csv".to_owned(), text: "time_ms,rate_mbps\n0,12\n1,0\n".into() };
        let offset = Component { room: "offsets", name: offset, arguments: Arguments::default() };
        let arguments = vec![
            ("file", Value::File(file)),
            ("circle", Value::Flag(circle)),
            ("offset", Value::Component(offset)),
        ];
        (ROW.build)(&Arguments(arguments), Generator::new(seed, "test")).unwrap()
    }

    #[test]
    fn rates_hold_until_the_next_line_and_begin_anew() {
        let series = Series::parse("time_ms,rate_mbps\n0,12\n1,0\n2.5,0.5\r\n").unwrap();
        assert_eq!(series.steps()[2], (Time::from_nanos(2_500_000), Rate::from_bits_per_sec(500_000)));
        assert_eq!(series.duration(), Duration::from_millis(4), "the last as long as the one before it");
        assert_eq!(Series::parse("time_s,rate_mbps\n0,1\n").unwrap().duration(), Duration::from_secs(1));
        let mut circle = build(true, "none", 1);
        assert_eq!(circle.period(), Some(Duration::from_millis(2)));
        assert_eq!((circle.serve(at(0), 1500), circle.ready(at(1))), (at(1), at(2)));
        assert_eq!(circle.capacity(at(0), at(100)), Some(Size::from_bytes(50 * 1500)));
        assert_eq!(build(false, "none", 1).ready(at(1)), Time::NEVER);
    }

    /// Where the list does not start again and ends with zeros, a random offset lies before them.
    #[test]
    fn a_random_offset_leaves_something_to_send() {
        let series = Series::parse("time_ms,rate_mbps\n0,12\n1,0\n2,6\n3,0\n9,0\n").unwrap();
        assert_eq!(
            (series.alive(), series.duration()),
            (Duration::from_millis(3), Duration::from_millis(15))
        );
        for seed in 0..50 {
            let server = build(false, "random", seed);
            assert!(server.capacity(at(0), at(1)) > Some(Size::ZERO), "{seed}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let error = |text: &str| Series::parse(text).unwrap_err().to_string();
        let mahimahi = error("3\n7\n");
        assert!(
            mahimahi.ends_with(
                "one of rate_mbps, rate_kbps, rate_bps, rate_gbps; Mahimahi is for type = \"trace\""
            ),
            "{mahimahi}"
        );
        assert!(error("").starts_with("1: found \"\", expected names of columns: one of time_ms"));
        assert!(error("time_ms,delay_ms\n0,1\n").starts_with("1: found \"time_ms,delay_ms\", expected"));
        assert_eq!(error("time_ms,rate_mbps\n"), "2: there is no line after the header");
        assert_eq!(
            error("time_ms,rate_mbps\n0,5\n2,5\n1,6\n"),
            "4: 1 ms comes after 2 ms; times must not decrease"
        );
        assert_eq!(error("time_ms,rate_mbps\n0,0\n1,0\n"), "3: all rates are zero: nothing is ever sent");
        assert!(
            error("time_s,rate_mbps\n0,3\n18446744073.709551615,1\n").starts_with("3: the last line, at ")
        );
        // Half of all time, twice.
        assert!(Series::parse("time_s,rate_mbps\n0,3\n9223372036,1\n").is_ok());
        for line in
            ["1", "1,", ",1", "a,1", "1,a", "-1,1", "1,-1", "1,1,1", "1e30,1", "1,1 Mbit/s", "1.2.3,1"]
        {
            let text = format!("time_ms,rate_mbps\n0,1\n{line}\n9,1");
            assert!(error(&text).starts_with("3: found "), "{line}");
        }
    }
}
