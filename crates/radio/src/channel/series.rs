//! SINR over time from a file.

use std::fmt;
use units::Time;
use units::table::{Reader, is_in_db, plain, quoted};

/// The largest number of points of a series.
pub const MAX_POINTS: usize = 1_000_000;

/// The nanoseconds before which all points are.
const LATEST: u64 = 1_000_000_000_000_000_000;

/// What holds between two points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Between {
    /// The value of the earlier point.
    #[default]
    Held,
    /// A straight line in dB.
    Linear,
}

/// Points in time with their SINR. Before the first point holds the first value, after the last the last.
#[derive(Debug, Clone)]
pub struct Series {
    points: Vec<(Time, f64)>,
    between: Between,
    /// The number of points that are not later than the last call.
    passed: usize,
}

/// Why points are not a series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeriesError {
    /// No points, or more than [`MAX_POINTS`].
    Count(usize),
    /// The line or point, from 1, that is not a time in seconds and a finite number of dB, or one for each site.
    Malformed(usize),
    /// The line or point, from 1, whose time is not after the one before.
    Order(usize),
    /// The line, from 1, and what is wrong with the names of its columns, or with a cell.
    Line(usize, String),
}

impl fmt::Display for SeriesError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SeriesError::Count(count) => {
                write!(out, "a series of SINR has {count} points: 1 to {MAX_POINTS} are allowed")
            }
            SeriesError::Malformed(line) => {
                write!(
                    out,
                    "line {line} of a series of SINR: expected seconds and -300 to 300 dB, like \"0.5 12.3\", with one value for all \
                     sites, or one for each; or names of columns, like time_s,sinr_db"
                )
            }
            SeriesError::Order(line) => {
                write!(out, "line {line} of a series of SINR is not after the line before it")
            }
            SeriesError::Line(line, problem) => write!(out, "line {line} of a series of SINR: {problem}"),
        }
    }
}

impl std::error::Error for SeriesError {}

impl Series {
    /// A series of points with increasing times and finite values in dB.
    pub fn new(points: Vec<(Time, f64)>, between: Between) -> Result<Series, SeriesError> {
        if points.is_empty() || points.len() > MAX_POINTS {
            return Err(SeriesError::Count(points.len()));
        }
        if let Some(bad) = points.iter().position(|(_, db)| !db.is_finite()) {
            return Err(SeriesError::Malformed(bad + 1));
        }
        if let Some(bad) = points.windows(2).position(|pair| pair[0].0 >= pair[1].0) {
            return Err(SeriesError::Order(bad + 2));
        }
        Ok(Series { points, between, passed: 0 })
    }

    /// Reads a table of times and dB: of the series of `site`, counted from 0, where each line has a value for each of
    /// `sites`; a line with one value has it for all. Without names the first column is of seconds and the others of dB;
    /// with names they are a time in a unit (`time_s`, `time_ms`, `time_us`, `time_ns`), and those with SINR, SNR or CINR in
    /// their names, or one that is named `db`, in their order.
    pub fn parse(text: &str, between: Between, site: usize, sites: usize) -> Result<Series, SeriesError> {
        let mut reader = Reader::new(text);
        let first = reader.first();
        // Times without names are in seconds, whatever the number of the other columns.
        let is_bare = !reader.has_header();
        settle(&mut reader).map_err(|problem| SeriesError::Line(first.number, problem))?;
        let (time, power, others) = columns(&reader).ok_or_else(|| match is_bare && reader.names().is_empty() {
            true => SeriesError::Malformed(first.number),
            false => {
                let expected = "expected one of time_s, time_ms, time_us, time_ns, and SINR, SNR or CINR in dB, one for all sites, or \
                                one for each with its number, like sinr_1, sinr_2";
                let found = match is_bare {
                    true => reader.names().iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "),
                    false => first.quoted(),
                };
                SeriesError::Line(first.number, format!("found {found}, {expected}"))
            }
        })?;
        reader.keep(others.iter().flatten().copied().chain([time]));
        let mut points: Vec<(Time, f64)> = Vec::new();
        let mut cells = Vec::new();
        while let Some(line) = reader.next(&mut cells) {
            let malformed = || SeriesError::Malformed(line.number);
            if let Some(fault) = reader.miscounted(cells.len()).filter(|_| !is_bare) {
                return Err(SeriesError::Line(line.number, fault));
            }
            let cell = cells.get(time).copied().ok_or_else(malformed)?;
            let at = reader.scaled(cell, power).map(|(at, _)| at).filter(|at| *at < LATEST);
            let late = "is 10^9 s or more; expected times from the start of the run, not since 1970";
            let at = at.ok_or_else(|| wrong(&mut reader, line.number, cell, late))?;
            let values: Vec<&str> = match &others {
                Some(places) => places.iter().filter_map(|place| cells.get(*place).copied()).collect(),
                None => cells[1..].to_vec(),
            };
            let mut decibels = Vec::with_capacity(values.len());
            for cell in &values {
                let db = reader.real(cell).filter(|db| (-300.0..=300.0).contains(db));
                // Here a number may be below zero.
                decibels.push(db.ok_or_else(|| {
                    let out = "is out of range; expected -300 to 300 dB";
                    wrong(&mut reader, line.number, cell.strip_prefix('-').unwrap_or(cell), out)
                })?);
            }
            let own = match decibels[..] {
                [one] => one,
                _ if decibels.len() == sites => decibels[site],
                _ => {
                    let values = decibels.len();
                    return Err(SeriesError::Line(
                        line.number,
                        format!(
                            "{values} values of SINR; expected one for all sites, or one for each of {sites}"
                        ),
                    ));
                }
            };
            let point = (Time::from_nanos(at), own);
            if points.last().is_some_and(|last| last.0 >= point.0) {
                return Err(SeriesError::Order(line.number));
            }
            if points.len() == MAX_POINTS {
                return Err(SeriesError::Count(MAX_POINTS + 1));
            }
            points.push(point);
        }
        Series::new(points, between)
    }

    /// Which columns of such a file are skipped, and what is assumed of those without names or units.
    pub fn notes(text: &str) -> Vec<String> {
        let mut reader = Reader::new(text);
        if settle(&mut reader).is_err() {
            return Vec::new();
        }
        if let Some(assumed) = reader.assumed("seconds and dB") {
            return vec![assumed];
        }
        let Some((time, _, Some(mut kept))) = columns(&reader) else { return Vec::new() };
        let mut names = kept.iter().map(|place| reader.names()[*place]);
        let bare = names.find(|name| !name.to_lowercase().contains("db"));
        let bare = bare.map(|name| format!("column {} states no unit: read as dB", quoted(name)));
        kept.push(time);
        let skipped = reader.skipped_at((0..reader.names().len()).filter(|place| !kept.contains(place)));
        skipped.into_iter().chain(bare).collect()
    }

    /// The SINR in dB at `now`. Calls in the order of time cost no search.
    pub fn at(&mut self, now: Time) -> f64 {
        if self.passed > 0 && self.points[self.passed - 1].0 > now {
            self.passed = self.points.partition_point(|point| point.0 <= now);
        }
        while self.points.get(self.passed).is_some_and(|point| point.0 <= now) {
            self.passed += 1;
        }
        let Some(earlier) = self.passed.checked_sub(1).map(|index| self.points[index]) else {
            return self.points[0].1;
        };
        match (self.between, self.points.get(self.passed)) {
            (Between::Linear, Some(later)) => {
                let share =
                    now.since(earlier.0).as_nanos() as f64 / later.0.since(earlier.0).as_nanos() as f64;
                earlier.1 + share * (later.1 - earlier.1)
            }
            _ => earlier.1,
        }
    }
}

/// What is wrong with a cell; `out` if it is a number.
fn wrong<'a>(reader: &mut Reader<'a>, line: usize, cell: &'a str, out: &str) -> SeriesError {
    let problem = match reader.fault(cell) {
        Some(why) => format!("{why}; expected a time and -300 to 300 dB"),
        None => format!("{} {out}", quoted(cell)),
    };
    SeriesError::Line(line, problem)
}

/// The names of the column of times, and the powers of ten that make nanoseconds of them.
const TIMES: [(&str, u32); 4] = [("time_s", 9), ("time_ms", 6), ("time_us", 3), ("time_ns", 0)];

/// Words for SINR in the names of columns.
const QUANTITIES: [&str; 5] = ["sinr", "snr", "cinr", "sssinr", "rssnr"];

/// Names the columns of numbers alone by their comments.
fn settle(reader: &mut Reader<'_>) -> Result<(), String> {
    let known = TIMES.iter().map(|(name, _)| *name).chain(["sinr_db", "sinr", "db"]).collect::<Vec<_>>();
    reader.settle(&known, &["time_s", "sinr_db"])
}

/// The place of the time, the power of ten that makes nanoseconds of it, and the places of the values; without names they
/// are all others. `None` if the names do not say that.
fn columns(reader: &Reader<'_>) -> Option<(usize, u32, Option<Vec<usize>>)> {
    if reader.assumed("").is_some() {
        return Some((0, 9, None));
    }
    let times = reader.columns(&TIMES.map(|(name, _)| name)).ok()?;
    let mut found = times.iter().zip(TIMES).filter_map(|(place, (_, power))| Some(((*place)?, power)));
    let (time, power) = match (found.next(), found.next()) {
        (Some(found), None) => found,
        (None, _) if reader.names().is_empty() => return Some((0, 9, None)),
        _ => return None,
    };
    let places = |is_value: &dyn Fn(&str) -> bool| -> Vec<usize> {
        (0..reader.names().len()).filter(|place| is_value(reader.names()[*place])).collect()
    };
    let mut values = places(&|name| is_in_db(name, &QUANTITIES));
    // Those of several sites differ by a number alone.
    let pattern =
        |place: &usize| plain(reader.names()[*place]).replace(|sign: char| sign.is_ascii_digit(), "");
    let are_sites = values.windows(2).all(|pair| pattern(&pair[0]) == pattern(&pair[1]));
    if !are_sites {
        return None;
    }
    if values.is_empty() {
        // The only column in dB has no other name than that.
        values = places(&|name| plain(name) == "db");
    }
    (!values.is_empty()).then_some((time, power, Some(values)))
}
